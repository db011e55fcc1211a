# SPDX-License-Identifier: BSD-3-Clause


# Sweeps: a part of the script after figure.py.

# column, title
METRICS = {"swapouts": ("swapouts", "swap-outs"), "error": ("error", "error / %"), "bytes": ("bytes_per_event", "bytes per event"),
           "bits": ("bits", "bits"), "comparators": ("comparators", "comparators"), "area": ("area", "area / transistors"), "energy": ("energy", "energy per event"),
           "slowdown": ("slowdown", "slowdown / %")}
FRACTIONS = ("error", "slowdown")


def wanted_scale(metric):
    return {"error": "linear", "slowdown": "auto"}.get(metric, "log")


def whole_of(metric):
    return 100 if metric in FRACTIONS else 1


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
    """Workload, link and settings of each cell; older files have one workload and link for all."""
    if "sweep" not in result.file:
        raise Refused(f"{result.path}: is no sweep")
    if len(result.file["sweep/rows/eviction"]) == 0:
        raise Refused(f"{result.path}: has no cells")
    program, link = result.program()[0], str(result.file["sweep"].attrs.get("link", ""))
    return [(workload or program, at or link, settings) for workload, at, settings in zip(*(texts_of_rows(result, each) for each in ("workload", "link", "settings")))]


def is_workload(name, wanted):
    """"lu n=64" is meant by itself, by "lu,n=64" and by "lu"."""
    words = wanted.replace(",", " ")
    return name in (wanted, words) or name.startswith(words + " ")


def chosen_places(path, every, options):
    """Those of some workloads and links (--workload, --link), each once."""
    links = options.link.split(",") if options.link else []
    for option, at, wanted, fits in (("workload", 0, options.workload, is_workload), ("link", 1, links, str.__eq__)):
        known = list(dict.fromkeys(place[at] for place in every))
        for each in wanted:
            if not any(fits(name, each) for name in known):
                raise Refused(f"{path}: --{option}: there is no {option} '{each}'; there are: {', '.join(map(clean, known))}")
    found = [place for place in dict.fromkeys(every) if not options.workload or any(is_workload(place[0], each) for each in options.workload)]
    found = [place for place in found if not links or place[1] in links]
    keys = options.settings.split(",") if options.settings else []
    for each in keys:
        known = list(dict.fromkeys(part for place in every for part in place[2].split(",") if part))
        if each not in known:
            raise Refused(f"{path}: --settings: there is no '{each}'; there are: {', '.join(map(clean, known)) or 'none'}")
    found = [place for place in found if all(each in place[2].split(",") for each in keys)]
    if not found:
        raise Refused(f"{path}: no cells are of these workloads and links together; there are: "
                      + "; ".join(f"{clean(place[0])}, {clean(place[1])}" for place in dict.fromkeys(place[:2] for place in every)))
    return found


def but_counting(settings, counting):
    """Settings but those that choose events, which panels are named by."""
    keys = {part.partition("=")[0] for part in counting.split(",")}
    return ",".join(part for part in settings.split(",") if part.partition("=")[0] not in keys)


class Cells:
    """The rows of a sweep with some eviction policies."""

    def __init__(self, result, evictions, place=None, counting=None):
        """`evictions`: those that are wanted, of those that there are. `place`: of one workload and link, and possibly settings; `counting`: which
        of the events there."""
        at = places(result)
        self.result, self.rows = result, result.file["sweep/rows"]
        every = self.rows["eviction"].asstr()[:]
        self.evictions = list(dict.fromkeys(every))
        self.link = str(result.file["sweep"].attrs.get("link", ""))
        self.chosen = np.isin(every, evictions(self.evictions)) & np.array([place is None or each[:len(place)] == place for each in at])
        if counting is not None:
            self.chosen &= texts_of_rows(result, "counting") == counting
        self.eviction, self.granularity, self.counters, settings, counted = (
            column[self.chosen] for column in (every, self.rows["granularity"].asstr()[:], self.rows["counters"][:], *(texts_of_rows(result, each) for each in ("settings", "counting"))))
        self.settings = list(map(but_counting, settings, counted))
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
        if not self.result.is_worst and len(found) != 0 and np.isnan(self.rows[column][:].astype(float)).all():
            raise Refused(f"{self.result.path}: has no cell whose {metric} is known; {why_unknown(self.result)}")
        return found * float(whole_of(metric))


def named_eviction(result, options):
    """The policies that are named, where one is."""
    def among(every):
        if options.eviction not in every:
            raise Refused(f"{result.path}: there is no eviction '{options.eviction}'; there are: {', '.join(every)}")
        return [options.eviction]
    return among if options.eviction else None


def cell_text(metric, value):
    return number(value) if metric not in FRACTIONS else f"{value:.3g}" if metric == "slowdown" else f"{value:.2f}"


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


class SweepPanel:
    """The cells of one workload, link and settings: a matrix, and curves over the counters with published points."""

    def __init__(self, result, options, metric, place):
        self.place = place
        self.cells = cells = Cells(result, named_eviction(result, options) or (lambda every: every[:1]), place)
        self.value, rows = cells.values(metric), cells.rows
        self.published, self.misprint = np.full(len(self.value), np.nan), np.zeros(len(self.value), bool)
        if "published" in rows and metric in ("swapouts", "error"):
            published = rows[f"published_{metric}"][:][cells.chosen] * (100.0 if metric == "error" else 1.0)
            self.published = np.where(rows["published"][:][cells.chosen] == 1, published, np.nan)
            # the misprints are among the swap-outs
            self.misprint = (rows["published_misprint"][:][cells.chosen] == 1) & (metric == "swapouts")

    def has_published(self):
        return not np.isnan(self.published).all()

    def draw_matrix(self, axes, metric, scale):
        """Colours, and what is written in the cells later."""
        matrix, texts = np.full((len(scale.names), len(scale.counts)), np.nan), {}
        for k, (g, c, v) in enumerate(zip(self.cells.granularity, self.cells.counters, self.value)):
            at = scale.names.index(g), scale.counts.index(c)
            matrix[at] = v
            if not np.isnan(v):
                theirs = self.published[k]
                texts[at] = cell_text(metric, v) + (f"\n({cell_text(metric, theirs)}{'*' if self.misprint[k] else ''})" if not np.isnan(theirs) else "")
        colours = scale.colours(matrix)
        axes.imshow(colours, aspect="auto")
        axes.set_yticks(range(len(scale.names)), scale.names)
        axes.set(xlabel="counters", ylabel="granularity / lines")
        return colours, scale.bar, texts, matrix.shape

    def draw_curves(self, axes, metric, scale):
        curves = []
        for g in dict.fromkeys(self.cells.granularity):
            of = np.flatnonzero(self.cells.granularity == g)
            of = of[np.argsort(self.cells.counters[of])]
            curves.append((f"G = {g}", self.cells.counters[of], np.stack([self.value[of], np.where(self.misprint[of], np.nan, self.published[of])])))
        for name, x, (ours, theirs) in distinct(curves):
            looks = style(scale.names.index(name.split("\n")[0].removeprefix("G = ")))
            axes.plot(x, ours, label=name, **looks)
            if self.has_published():
                axes.plot(x, theirs, markerfacecolor="white", markeredgewidth=0.8, **{**looks, "linestyle": "none"})
        axes.set_xscale("log", base=2)
        scale.values.upright(axes)
        axes.set(xlabel="counters", ylabel=scale.values.title(METRICS[metric][1]))
        legend_beside(axes, title="open: published" if self.has_published() else None, title_fontsize=7)
        axes.grid(axis="y", color="#e4e8ee", linewidth=0.5)


class SweepScale:
    """What all panels have in common: granularities, numbers of counters, scales of values and of colours."""

    def __init__(self, panels, metric):
        self.names = list(dict.fromkeys(name for panel in panels for name in panel.cells.granularity))
        self.counts = sorted({int(count) for panel in panels for count in panel.cells.counters})
        ours, theirs = (np.concatenate([getattr(panel, of) for panel in panels]) for of in ("value", "published"))
        self.values = ValueScale(np.append(ours, theirs), wanted_scale(metric), whole_of(metric))
        self.colours, self.bar = shades(ours, wanted_scale(metric), whole_of(metric))

    @staticmethod
    def unite(every):
        """One range of counters in the axes of all curves."""
        for axes in every[1:]:
            axes.sharex(every[0])
        every[0].autoscale(axis="x")


MOST_PANELS = 20


def sweep_panels(result, options, metric):
    every = chosen_places(result.path, places(result), options)
    if len(every) > MOST_PANELS:
        parts = [(f"--{name}", list(dict.fromkeys(clean(place[i]) for place in every))) for i, name in enumerate(("workload", "link", "settings"))]
        told = "; ".join(f"{option}: {', '.join(names[:3])}" + (f" or {len(names) - 3} others" if len(names) > 3 else "") for option, names in parts if len(names) > 1)
        raise Refused(f"{result.path}: {len(every)} panels of workloads, links and settings are too many for one figure; choose some ({told}), or draw the kind front")
    return [SweepPanel(result, options, metric, place) for place in every]


def sweep_grid(count, options):
    """A matrix and curves for each, side by side on a whole page, in a column of two the curves beneath."""
    across = options.columns == 2
    height = (2.7 if across else 4.8) if count == 1 else 0.4 + (1.8 if across else 3.4) * count
    figure, grid = plt.subplots(count * (1 if across else 2), 2 if across else 1, figsize=(WIDTHS[options.columns], height), squeeze=False, layout="constrained")
    return figure, grid.reshape(count, 2)


def sweep(result, options):
    """The matrix with its numbers, and curves over the counters with published points, of one eviction policy; a panel per workload, link and settings,
    with one scale."""
    metric = options.metric or "swapouts"
    panels = sweep_panels(result, options, metric)
    scale = SweepScale(panels, metric)
    figure, grid = sweep_grid(len(panels), options)
    told = METRICS[metric][1] + ("" if not any(panel.has_published() for panel in panels) else
                                 " (published; * misprint)" if any(panel.misprint.any() for panel in panels) else " (published)")
    titles = [", ".join(clean(each) for each in panel.place if each) for panel in panels] if len(panels) > 1 else [told]
    written = []
    for panel, title, (left, right) in zip(panels, titles, grid):
        written.append((left, *panel.draw_matrix(left, metric, scale)))
        left.set_title(textwrap.fill(title, 56), loc="left")
        panel.draw_curves(right, metric, scale)
    scale.unite(grid[:, 1])
    cells = panels[0].cells
    headed(figure, result, *(panels[0].place[1:] if len(panels) == 1 else [told]), one_among(cells.eviction[0], cells.evictions),
           program=", ".join(dict.fromkeys(panel.place[0] for panel in panels)))
    for each in written:
        write_cells(figure, *each)
    for left, right in grid:
        wide = 72 / figure.dpi * left.get_window_extent().width
        tick_counts(left, range(len(scale.counts)), scale.counts, wide * (len(scale.counts) - 1) / len(scale.counts))
        tick_counts(right, scale.counts, scale.counts, wide, np.log2)
    return figure
