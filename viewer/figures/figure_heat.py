# SPDX-License-Identifier: BSD-3-Clause


# Heat maps: a part of the script after figure_lines.py.

class HeatCells:
    """Colours of cells: the core says which shade of the ramp each has, and which are 0, above the end of the scale, or nothing."""

    def __init__(self, file):
        self.edges = file["edges"][:]
        self.least, self.end, self.most = (float(file.attrs[each]) for each in ("least", "end", "most"))
        self.above, self.count, self.log = int(file.attrs["above"]), int(file.attrs["shades"]), bool(file.attrs["logarithmic"])
        special = [(0, 0, 0, 0), *(np.append(np.round(255 * np.array(to_rgb(LIGHT[colour]))), 255) for colour in ("zero", "marker"))]
        shades = ramp(np.arange(self.count) / (self.count - 1))
        self.colours = np.vstack([special, np.column_stack([shades, np.full(self.count, 255)])]).astype(np.uint8)[file["cells"][:]]

    def scale(self):
        """The same for a legend."""
        colours = ListedColormap(ramp(np.arange(self.count) / (self.count - 1)) / 255).with_extremes(under=LIGHT["zero"], over=LIGHT["marker"])
        return matplotlib.cm.ScalarMappable(LogNorm(self.least, self.end) if self.log else Normalize(0, self.end or 1), colours)


def legend_of(figure, axes, shades, label, text):
    """The scale, with the colours of what is 0 beneath it and of what is cut above it. `text`: of a number."""
    part = 12 / (72 * (figure.get_size_inches()[1] - 0.75))  # points, of a bar about so high
    bar = figure.colorbar(shades.scale(), ax=axes, pad=0.01, aspect=30, extend="both" if shades.above else "min", extendfrac=part, extendrect=True)
    if shades.log:
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if shades.end < 100 * shades.least else (1,)))
    bar.ax.yaxis.set_major_formatter(lambda value, _: text(value) if value else "")
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.text(1.6, -0.7 * part, "0", transform=bar.ax.transAxes, va="center", fontsize=7)
    if shades.above:
        cells = f"{number(shades.above)} cell{'' if shades.above == 1 else 's'} up to {text(shades.most)}"
        bar.ax.text(0.5, 1 + 1.3 * part, cells, transform=bar.ax.transAxes, ha="center", va="bottom", fontsize=6.5, color=LIGHT["marker"])
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)


def heat(result, options):
    counts = Counts(options.data)
    cells, edges = counts.cells, counts.cells.edges
    rows = len(edges) - 1
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 1.05 + min(3.2, max(1.2, 0.11 * rows))), layout="constrained")
    axes.imshow(cells.colours, aspect="auto", extent=(0, counts.length, rows - 0.5, -0.5), interpolation="nearest", label="cells")
    axes.set_ylabel("phase" if edges[-1] == rows else f"phase (rows of {np.diff(edges).min()} or {np.diff(edges).max()}, means)")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(lambda row, _: str(edges[int(row)]) if 0 <= row < rows else "")
    rate = options.what == "missrate"
    legend_of(figure, axes, cells, scaled_label(options.what, counts.units[0], cells.log, "" if rate else " and phase"), lambda value: number(100 * value if rate else value))
    headed(figure, result, counts.level_text(), *chosen_text(options, counts.phases)[1:])
    figure.canvas.draw()
    strip(axes, counts, result.structures)
    return figure
