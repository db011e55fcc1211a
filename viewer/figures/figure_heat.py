# SPDX-License-Identifier: BSD-3-Clause


# Heat maps: a part of the script after figure_lines.py.

HEAT_COLUMNS = 600


def phase_edges(phases):
    """The first phase of each row, and one behind the last."""
    rows = min(phases, DRAWING["scale"]["most_rows"])
    return np.arange(rows + 1) * phases // rows


def heat_cells(lines, axis, what, edges, count):
    """Means per line and phase, over the phases of a row and the lines of a column that are ever touched; a line that lies in a column in part
    counts by that part. Of rates misses over accesses. NaN where there is nothing to divide by. As viewer/web/src/worker/heat.ts."""
    width, rows = axis.length / count, len(edges) - 1
    addresses, line = np.unique(lines.address, return_inverse=True)
    begin = axis.place(addresses)
    end = begin + lines.line
    first = column_of(begin, width, count)
    row = np.searchsorted(edges, lines.phase, side="right") - 1
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
    over = sums[1].reshape(rows, count) if what == "missrate" else np.outer(np.diff(edges), touched)
    return np.divide(sums[0].reshape(rows, count), over, out=np.full((rows, count), np.nan), where=over > 0)


class Shades:
    """Colours of cells, as viewer/web/src/field_draw.ts: a ramp to the end of the scale, one colour above it, one for 0."""

    def __init__(self, value, options):
        rule = DRAWING["scale"]
        known = value[value > 0]
        most = known.max(initial=0)
        self.end = end_of_scale(np.quantile(known, rule["clip_quantile"]), most, options) if len(known) > 0 else most
        least = known.min(initial=most)
        self.log = options.log and self.end > least
        self.least = least if self.log else 0
        above = value > self.end * (1 + 1e-9)  # rounding
        self.above, self.most, self.count = np.count_nonzero(above), most, rule["shades"]
        place = self.place(np.clip(np.nan_to_num(value), self.least, self.end))
        self.cells = np.zeros((*value.shape, 4), np.uint8)
        self.cells[..., :3] = ramp(np.clip(np.floor(place * self.count + 1e-9), 0, self.count - 1) / (self.count - 1))
        for colour, of in (("zero", value <= 0), ("marker", above)):
            self.cells[of, :3] = np.round(255 * np.array(to_rgb(LIGHT[colour])))
        self.cells[..., 3] = 255
        self.cells[np.isnan(value)] = 0

    def place(self, value):
        if self.log:
            return np.log(value / self.least) / np.log(self.end / self.least)
        return value / (self.end or 1)

    def scale(self):
        """The same for a legend."""
        colours = ListedColormap(ramp(np.arange(self.count) / (self.count - 1)) / 255).with_extremes(under=LIGHT["zero"], over=LIGHT["marker"])
        return matplotlib.cm.ScalarMappable((LogNorm if self.log else Normalize)(self.least, self.end or 1), colours)


def legend_of(figure, axes, shades, label, text):
    """The scale, with the colours of what is nothing beneath it and of what is cut above it. `text`: of a number."""
    part = 12 / (72 * (figure.get_size_inches()[1] - 0.6))  # points, of a bar about so high
    bar = figure.colorbar(shades.scale(), ax=axes, pad=0.01, aspect=30, extend="both" if shades.above else "min", extendfrac=part, extendrect=True)
    if shades.log:
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if shades.end < 100 * shades.least else (1,)))
    bar.ax.yaxis.set_major_formatter(lambda value, _: text(value))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.text(1.6, -0.7 * part, "none", transform=bar.ax.transAxes, va="center", fontsize=7)
    if shades.above:
        cells = f"{number(shades.above)} cell{'' if shades.above == 1 else 's'} up to {text(shades.most)}"
        bar.ax.text(0.5, 1 + 1.3 * part, cells, transform=bar.ax.transAxes, ha="center", va="bottom", fontsize=6.5, color=LIGHT["marker"])
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)


def heat(result, options):
    lines = one_of(result, options)
    axis = Axis(lines.address, lines.line)
    edges = phase_edges(result.phases())
    shades = Shades(heat_cells(lines, axis, options.what, edges, HEAT_COLUMNS), options)
    rows = len(edges) - 1
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 0.9 + min(3.2, max(1.2, 0.11 * rows))), layout="constrained")
    axes.imshow(shades.cells, aspect="auto", extent=(0, axis.length, rows - 0.5, -0.5), interpolation="nearest", label="cells")
    axes.set_ylabel("phase" if edges[-1] == rows else f"phase (rows of {np.diff(edges).min()} or {np.diff(edges).max()}, means)")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(lambda row, _: str(edges[int(row)]) if 0 <= row < rows else "")
    rate = options.what == "missrate"
    legend_of(figure, axes, shades, scaled_label(options.what, shades.log, "" if rate else " and phase"), lambda value: number(100 * value if rate else value))
    headed(figure, result, level_text(result, lines, options), *chosen_text(options, edges[-1])[1:])
    figure.canvas.draw()
    strip(axes, axis, result.structures)
    return figure
