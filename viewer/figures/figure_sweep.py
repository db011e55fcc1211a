# SPDX-License-Identifier: BSD-3-Clause


# Sweeps: a part of the script after figure.py.

# column, title
METRICS = {"swapouts": ("swapouts", "swap-outs"), "error": ("error", "error / %"), "bytes": ("bytes_per_event", "bytes per event"),
           "bits": ("bits", "bits"), "area": ("area", "area / transistors"), "energy": ("energy", "energy per event"),
           "slowdown": ("slowdown", "slowdown / %")}
FRACTIONS = ("error", "slowdown")
FAR = 30  # slowdowns whose largest is more than so many times the smallest are drawn on logarithmic scales


def is_log(metric, values):
    """Whether a metric is drawn on a logarithmic scale: errors never, slowdowns where they lie far apart."""
    known = values[~np.isnan(values)]
    if metric == "error" or len(known) == 0 or known.min() <= 0:
        return False
    return metric != "slowdown" or known.max() > FAR * known.min()


def logarithmic(axes, values):
    """A logarithmic y axis with numbers as elsewhere; where it has less than two powers of ten, steps of 1, 2, 5."""
    axes.set_yscale("log")
    narrow = np.nanmax(values) < 100 * np.nanmin(values)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    axes.yaxis.set_minor_formatter(NullFormatter())


def without_slowdown(result):
    """Versions that had no column for slowdowns that were asked for and not measured left them out."""
    return "run the sweep with --slowdown" + (f", to its end (it is marked partial: {result.interrupted()})" if result.interrupted() else "")


def why_unknown(result):
    return f"it is marked partial: {result.interrupted()}" if result.interrupted() else result.file["sweep"].attrs.get("slowdown_unknown", "it was not run")


def texts_of_rows(result, column):
    """A column of texts; nothing where an older file does not have it."""
    rows = result.file["sweep/rows"]
    return rows[column].asstr()[:] if column in rows else np.full(len(rows["counters"]), "", object)


def places(result):
    """Workload and link of each cell."""
    return list(zip(texts_of_rows(result, "workload"), texts_of_rows(result, "link")))


class Cells:
    """The rows of a sweep with some eviction policies."""

    def __init__(self, result, evictions, place=None):
        """`evictions`: those that are wanted, of those that there are. `place`: of one workload and link."""
        if "sweep" not in result.file:
            raise Refused(f"{result.path}: is no sweep")
        self.result, self.rows = result, result.file["sweep/rows"]
        every = self.rows["eviction"].asstr()[:]
        if len(every) == 0:
            raise Refused(f"{result.path}: has no cells")
        self.evictions = list(dict.fromkeys(every))
        self.link = str(result.file["sweep"].attrs.get("link", ""))
        self.chosen = np.isin(every, evictions(self.evictions)) & np.array([place in (None, each) for each in places(result)])
        self.eviction, self.granularity, self.counters, self.settings = (
            column[self.chosen] for column in (every, self.rows["granularity"].asstr()[:], self.rows["counters"][:], texts_of_rows(result, "settings")))
        self.admitted = self.rows["admitted"][:][self.chosen] == 1 if "admitted" in self.rows else np.full(len(self.counters), True)

    def values(self, metric):
        column = METRICS[metric][0]
        if column not in self.rows:
            how = without_slowdown(self.result) if metric == "slowdown" else "it is of an older version; run the sweep again"
            raise Refused(f"{self.result.path}: has no {column}; {how}")
        found = self.rows[column][:][self.chosen].astype(float)
        unknown = np.isnan(found)
        if metric != "slowdown" and unknown.any():  # slowdowns are unknown where a cell was not run
            raise Refused(f"{self.result.path}:/sweep/rows: the column '{column}' has nan, which is no number; the file is damaged")
        if len(found) != 0 and unknown.all():
            raise Refused(f"{self.result.path}: has no cell whose {metric} is known; {why_unknown(self.result)}")
        return found * (100.0 if metric in FRACTIONS else 1.0)


def named_eviction(result, options):
    """The policies that are named, where one is."""
    def among(every):
        if options.eviction not in every:
            raise Refused(f"{result.path}: there is no eviction '{options.eviction}'; there are: {', '.join(every)}")
        return [options.eviction]
    return among if options.eviction else None


def cell_text(metric, value):
    return number(value) if metric not in FRACTIONS else f"{value:.3g}" if metric == "slowdown" else f"{value:.2f}"


def matrix_colours(matrix, log):
    """Colours of a matrix, and their scale for a legend; as viewer/web/src/views/matrix.ts."""
    begin, share = DRAWING["scale"]["matrix"]
    low, high = np.nanmin(matrix), np.nanmax(matrix)
    norm = (LogNorm if log else Normalize)(low, high if high > low else low * 2 or 1)
    cells = np.dstack([ramp(begin + share * np.nan_to_num(np.asarray(norm(matrix)))), np.where(np.isnan(matrix), 0, 255).astype(np.uint8)])
    return cells, matplotlib.cm.ScalarMappable(norm, ListedColormap(ramp(begin + share * np.linspace(0, 1, 256)) / 255))


def write_cells(figure, axes, colours, scale, texts, shape):
    """Numbers in the cells, as large as these allow; where they would be too small, a scale beside the matrix."""
    figure.canvas.draw()
    box = axes.get_window_extent()
    across, down = (72 / figure.dpi * extent / count for extent, count in zip((box.width, box.height), (shape[1], shape[0])))
    lines = [line for text in texts.values() for line in text.split("\n")]
    size = min(6, across / (0.6 * max(map(len, lines), default=1)), down / (1.25 * max((1 + text.count("\n") for text in texts.values()), default=1)))
    if size < 3.5:
        bar = figure.colorbar(scale, ax=axes, pad=0.02, aspect=30)
        bar.ax.yaxis.set_major_formatter(lambda value, _: number(value))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        return
    for (i, j), text in texts.items():
        red, green, blue, _ = colours[i, j] / 255
        axes.text(j, i, text, ha="center", va="center", fontsize=size, color="black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "white")


def sweep(result, options):
    """The matrix with its numbers, and curves over the counters with published points, of one eviction policy."""
    metric = options.metric or "swapouts"
    cells = Cells(result, named_eviction(result, options) or (lambda every: every[:1]))
    if len(set(zip(places(result), texts_of_rows(result, "settings")))) > 1:
        raise Refused(f"{result.path}: has several workloads, links or settings, which one matrix cannot show; draw the kind front, or sweep one of them")
    rows, granularity, counters, value = cells.rows, cells.granularity, cells.counters, cells.values(metric)
    published, misprint = np.full(len(value), np.nan), np.zeros(len(value), bool)
    if "published" in rows and metric in ("swapouts", "error"):
        published = rows[f"published_{metric}"][:][cells.chosen] * (100.0 if metric == "error" else 1.0)
        published = np.where(rows["published"][:][cells.chosen] == 1, published, np.nan)
        # the misprints are among the swap-outs
        misprint = (rows["published_misprint"][:][cells.chosen] == 1) & (metric == "swapouts")
    any_published = not np.isnan(published).all()
    names, counts = list(dict.fromkeys(granularity)), sorted(set(counters.tolist()))
    across = options.columns == 2
    figure, axes = plt.subplots(1 if across else 2, 2 if across else 1, figsize=(WIDTHS[options.columns], 2.7 if across else 4.8), layout="constrained")
    matrix, texts = np.full((len(names), len(counts)), np.nan), {}
    for k, (g, c, v) in enumerate(zip(granularity, counters, value)):
        at = names.index(g), counts.index(c)
        matrix[at] = v
        if not np.isnan(v):
            texts[at] = cell_text(metric, v) + (f"\n({cell_text(metric, published[k])}{'*' if misprint[k] else ''})" if not np.isnan(published[k]) else "")
    log = is_log(metric, value)
    colours, scale = matrix_colours(matrix, log)
    axes[0].imshow(colours, aspect="auto")
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set(xlabel="counters", ylabel="granularity / lines")
    told = "" if not any_published else " (published; * misprint)" if misprint.any() else " (published)"
    axes[0].set_title(METRICS[metric][1] + told, loc="left")
    curves = []
    for g in names:
        of = np.flatnonzero(granularity == g)
        of = of[np.argsort(counters[of])]
        clean_of = np.where(misprint[of], np.nan, published[of])
        curves.append((f"G = {g}", counters[of], np.stack([value[of], clean_of])))
    for i, (name, x, (ours, theirs)) in enumerate(distinct(curves)):
        axes[1].plot(x, ours, label=name, **style(i))
        if any_published:
            axes[1].plot(x, theirs, markerfacecolor="white", markeredgewidth=0.8, **{**style(i), "linestyle": "none"})
    axes[1].set_xscale("log", base=2)
    if log:
        logarithmic(axes[1], value)
    axes[1].set(xlabel="counters", ylabel=METRICS[metric][1])
    legend_beside(axes[1], title="open: published" if any_published else None, title_fontsize=7)
    axes[1].grid(axis="y", color="#e4e8ee", linewidth=0.5)
    headed(figure, result, cells.link, one_among(cells.eviction[0], cells.evictions))
    write_cells(figure, axes[0], colours, scale, texts, matrix.shape)
    wide = 72 / figure.dpi * axes[0].get_window_extent().width
    tick_counts(axes[0], range(len(counts)), counts, wide * (len(counts) - 1) / len(counts))
    tick_counts(axes[1], counts, counts, wide, np.log2)
    return figure
