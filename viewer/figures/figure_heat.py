# SPDX-License-Identifier: BSD-3-Clause


# Heat maps: a part of the script after figure_lines.py.

MOST_ROWS, HEAT_COLUMNS = 400, 600
NO_ACCESS = "#d9dee6"  # a line that has nothing in a phase; where there is no line the paper stays white


def heat_cells(lines, axis, what, per_row, phases, count):
    """Means per line and phase, over the phases of a row and the lines of a column that are ever touched; a line that lies in a column in part
    counts by that part, as on the page. NaN where no line is, 0 where none had any."""
    width, rows = axis.length / count, -(-phases // per_row)
    addresses, line = np.unique(lines.address, return_inverse=True)
    begin = axis.place(addresses)
    end = begin + lines.line
    first = column_of(begin, width, count)
    row = lines.phase.astype(np.int64) // per_row
    counted = {"accesses": [lines.accesses], "misses": [lines.misses], "hits": [np.maximum(lines.accesses - lines.misses, 0)],
               "missrate": [lines.misses, lines.accesses]}[what]
    sums, touched = np.zeros((len(counted), rows * count)), np.zeros(count)
    for column in (first + k for k in range(int(np.ceil(lines.line / width)) + 1)):
        part = (np.minimum(end, (column + 1) * width) - np.maximum(begin, column * width)) / lines.line
        part[(part <= 1e-9) | (column >= count)] = 0  # rounding
        column = np.minimum(column, count - 1)
        touched += np.bincount(column, part, count)
        of = part[line] > 0
        for into, each in zip(sums, counted):
            into += np.bincount((row * count + column[line])[of], (each * part[line])[of], rows * count)
    of_row = np.minimum(per_row, phases - per_row * np.arange(rows))
    value, over = sums[0].reshape(rows, count), np.outer(of_row, touched)
    if what == "missrate":
        value, over = 100 * value, sums[1].reshape(rows, count)
    value = np.divide(value, over, out=np.zeros_like(value), where=over > 0)
    value[:, touched == 0] = np.nan
    return value


def heat_scale(value, log):
    """From 0, or where it is logarithmic from below the least, so that this differs from nothing."""
    known = value[value > 0]
    if len(known) == 0:
        return Normalize(0, 1)
    return LogNorm(ground_of([known]), known.max()) if log else Normalize(0, known.max())


def legend_of(figure, axes, image, label):
    """The scale, with the colour of what is nothing beneath it."""
    below = 12 / (72 * (figure.get_size_inches()[1] - 0.6))  # points, of a bar about so high
    bar = figure.colorbar(image, ax=axes, pad=0.01, aspect=30, extend="min", extendfrac=below, extendrect=True)
    if isinstance(image.norm, LogNorm):
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if image.norm.vmax < 100 * image.norm.vmin else (1,)))
    bar.ax.yaxis.set_major_formatter(lambda value, _: number(value))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.text(1.6, -0.7 * below, "none", transform=bar.ax.transAxes, va="center", fontsize=7)
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)


def heat(result, options):
    lines = one_of(result, options)
    axis = Axis(lines.address, lines.line)
    phases = result.phases()
    per_row = -(-phases // MOST_ROWS)
    value = heat_cells(lines, axis, options.what, per_row, phases, HEAT_COLUMNS)
    rows = len(value)
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 0.9 + min(3.2, max(1.2, 0.11 * rows))), layout="constrained")
    single = {"accesses": lines.accesses, "misses": lines.misses, "hits": np.maximum(lines.accesses - lines.misses, 0)}
    log = is_logarithmic(options, *([single[options.what]] if options.what in single else []))
    extent = {"aspect": "auto", "extent": (0, axis.length, rows * per_row - 0.5, -0.5), "interpolation": "nearest"}
    axes.imshow(np.where(value == 0, 0, np.nan), cmap=ListedColormap([NO_ACCESS]), label="nothing", **extent)
    image = axes.imshow(np.where(value > 0, value, np.nan), cmap=matplotlib.colormaps["cividis"].with_extremes(under=NO_ACCESS),
                        norm=heat_scale(value, log), label="cells", **extent)
    axes.set_ylim(phases - 0.5, -0.5)
    axes.set_ylabel("phase" if per_row == 1 else f"phase (means of {per_row})")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(10, integer=True, min_n_ticks=1))
    legend_of(figure, axes, image, scaled_label(options.what, log, "" if options.what == "missrate" else " and phase"))
    headed(figure, result, level_text(result, lines, options), *chosen_text(options, phases)[1:])
    figure.canvas.draw()
    strip(axes, axis, result.structures)
    return figure
