# SPDX-License-Identifier: BSD-3-Clause


# Fronts of sweeps: a part of the script after figure_sweep.py.

def on_front(error, other):
    """The cells that no other is as good as in both, and better in one, from the least error on."""
    order = np.lexsort((other, error))
    front, best = [], np.inf
    for i in order:
        if other[i] < best or (front and error[i] == error[front[-1]] and other[i] == best):
            front.append(i)
            best = other[i]
    return front


class WorstFile:
    """A file whose cells are the worst of all workloads."""

    def __init__(self, file):
        self.file = file

    def __getitem__(self, name):
        return self.file[name.replace("sweep/rows", "sweep/worst")]

    def __contains__(self, name):
        return name.replace("sweep/rows", "sweep/worst") in self.file

    def __getattr__(self, name):
        return getattr(self.file, name)


def parts_of(result):
    """Its cells, and, where it has several workloads, the worst of all."""
    if "sweep/worst" not in result.file:
        return [result]
    worst = copy.copy(result)
    worst.file, worst.is_worst = WorstFile(result.file), True
    return [result, worst]


STANDINGS = ("admitted", "front", "remains")


def standings(result, given):
    """What the sweep says of its cells (viewer/sweep_choice.hpp), or, where the tool was asked for other objectives, what it `given`
    says: a digit per cell, those of the worst behind, 0: not admitted, 1: admitted, 2: on the front, 3: and remains (none: as in the file). And what the
    front is of, as a text."""
    rows, attributes = result.file["sweep/rows"], result.file["sweep"].attrs
    said, objectives, percent = given.split(":")[:3] if given else ("", str(attributes.get("objectives", "")), 100 * float(attributes.get("tolerance", 0.05)))
    of = objectives, float(percent)
    count = len(rows["counters"])
    if said:
        levels = np.array([int(each) for each in said])
        levels = levels[-count:] if result.is_worst else levels[:count]
        return [levels >= 1 + i for i in range(3)], of
    absent = np.full(count, True), np.full(count, False), np.full(count, False)
    return [rows[name][:] == 1 if name in rows else missing for name, missing in zip(STANDINGS, absent)], of


def bounds_of(result, given):
    """Column, sign and limit of each bound on the cells (--where), which `given` has behind what standings() reads, or the file."""
    where = given.split(":")[3] if given.count(":") > 2 else str(result.file["sweep"].attrs.get("where", ""))
    found = re.findall(r"(\w+)([<>]=?)([^,]+)", where)
    return [(name, sign, float(limit) / (100 if name in FRACTIONS else 1)) for name, sign, limit in found if name in METRICS]


SIGNS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


class Points:
    """What a panel shows: places, what is told of each alone and beside others, and looks."""

    def __init__(self, path, about, of=("", 5), ordinal=0, bounds=(), counting=""):
        """`about`: program, link, machine and references that were asked for; `ordinal`: among the panels of the workload in the file;
        `counting`: settings that choose events."""
        self.bounds, self.counting = bounds, counting
        self.path, self.about, self.of, self.ordinal, self.title = path, about, of, ordinal, ""
        self.tracked = []  # files of trackers
        self.events = set()  # that monitors saw; empty: not known
        self.names, self.wholes, self.looks, self.cells = [], [], [], False
        self.error, self.other = np.array([]), np.array([])
        self.admitted, self.remains = np.array([], bool), np.array([], bool)

    def add(self, error, other, admitted, remains, names, wholes, looks):
        self.error, self.other = np.append(self.error, error), np.append(self.other, other)
        self.admitted, self.remains = np.append(self.admitted, admitted), np.append(self.remains, remains)
        self.names, self.wholes, self.looks = self.names + names, self.wholes + wholes, self.looks + looks

    @property
    def known(self):
        return ~np.isnan(self.other)

    def front(self):
        of = np.flatnonzero(self.known & self.admitted)
        return of[on_front(self.error[of], self.other[of])] if len(of) else of

    @property
    def kind(self):
        """Of what it is, but of cells."""
        return "" if not self.tracked else "trackers" if not self.cells else "with trackers of " + ", ".join(each.rsplit("/", 1)[-1] for each in self.tracked)

    def told(self):
        """Places that are named: of trackers, which are few, and of what remains."""
        tracker = np.array([is_tracker(look) for look in self.looks])
        of = np.concatenate([np.flatnonzero(self.known & each) for each in (tracker, self.remains)])
        return list(dict.fromkeys((self.error[i], self.other[i]) for i in of))

    def remain_label(self):
        objectives, percent = self.of
        return "remaining cells: front" + (f" in {', '.join(clean(objectives).split(','))}" if objectives else "") + f" within {percent:g} %"

    def at_places(self):
        """By place: the trackers and remaining cells there; where there are none, all, so that no point hides another. Long kinds are told where names
        alone, of which marks tell the kind, would be those of several that remain."""
        found = {}
        for i in sorted(np.flatnonzero(self.known), key=lambda i: not is_tracker(self.looks[i])):
            found.setdefault((self.error[i], self.other[i]), []).append(i)
        told = [self.names[i] for i in np.flatnonzero(self.known & self.remains)]
        first = {place: [i for i in own if is_tracker(self.looks[i]) or self.remains[i]] or own for place, own in found.items()}
        return {place: text_of_place([self.names[i] if told.count(self.names[i]) < 2 else self.wholes[i] for i in own]) for place, own in first.items()}


def text_of_place(texts):
    """At most three, each once."""
    times = {text: texts.count(text) for text in texts}
    lines = [text + (f" ({count} cells)" if count > 1 else "") for text, count in times.items()]
    return "\n".join(lines[:3] + ([f"and {len(lines) - 3} more"] if len(lines) > 3 else []))


def is_tracker(look):
    return not look[0].startswith("C = ")


# as the page has them
MARKS = [{"circle": "o", "square": "s", "diamond": "D", "triangle": "^", "cross": "P", "star": "*"}[each] for each in FRONT["marks"]]
SHORT, MARK = 12, 4  # letters of a kind that is told beside a point; points
MOST_COUNTS = FRONT["counts"]  # numbers of counters in a legend


def short_settings(every):
    """What settings differ in, of several keys by values alone, "4/16", and what these are of, "ways/width"; as they are where they have not all the
    same keys."""
    parts = {settings: [part.partition("=") for part in settings.split(",")] for settings in every}
    keys = {tuple(key for key, _, _ in own) for own in parts.values()}
    differing = [i for i, column in enumerate(zip(*parts.values())) if len(set(column)) > 1]
    if len(keys) != 1 or not differing:
        return {each: each for each in every}, ""
    if len(differing) == 1:
        return {settings: "".join(own[differing[0]]) for settings, own in parts.items()}, ""
    return {settings: "/".join(own[i][2] for i in differing) for settings, own in parts.items()}, "/".join(min(keys)[i] for i in differing)


class Kinds:
    """Eviction policies and settings, and what the cells of each look like: all where they are few, else those that stand on a front."""

    def __init__(self, sweeps):
        self.shortly, self.keys = short_settings({clean(settings) for cells in sweeps for settings in cells.settings})
        self.policies = len({each for cells in sweeps for each in cells.eviction}) > 1
        self.counts = sorted({int(count) for cells in sweeps for count in cells.counters})
        self.colours = distinct_colours(len(self.counts))
        self.names = list(dict.fromkeys(name for cells in sweeps for name in self.of(cells)))
        self.named, self.several = self.names, len(self.names) > 1
        self.short = max(map(len, self.names), default=0) <= SHORT

    def of(self, cells):
        return [clean(", ".join(filter(None, [eviction if self.policies or not settings else "", self.shortly[clean(settings)]])))
                for eviction, settings in zip(cells.eviction, cells.settings)]

    def choose(self, panels):
        """Of many those that remain or are on a drawn front, first what does so most often."""
        if len(self.names) <= len(MARKS):
            return
        found = [name for panel in panels for i in range(len(panel.looks)) if panel.remains[i] or i in panel.front() for name in [panel.looks[i][1]] if name]
        self.named = sorted(dict.fromkeys(found), key=lambda name: (-found.count(name), self.names.index(name)))[:len(MARKS)]

    def look(self, count, name):
        """Marks of one size, which are open but for the first kind, so that none hides another at its place."""
        if name is not None and name not in self.named:
            return {"color": "#c4c8ce", "marker": ".", "linestyle": "none", "markersize": MARK, "zorder": 1}
        i = 0 if count is None else self.counts.index(count)
        looks = {**style(i), **({} if count is None else {"color": self.colours[i]})}
        if self.several:
            j = 0 if name is None else self.named.index(name)
            looks.update(marker=MARKS[j], fillstyle="full" if j == 0 else "none", **({"color": "#555555"} if count is None else {}))
        return {**looks, "linestyle": "none", "markersize": MARK}

    def handles(self):
        step = max(1, -(-len(self.counts) // MOST_COUNTS))
        handles = [Line2D([], [], label=f"C = {count}", **self.look(count, None)) for count in self.counts[::step]]
        if step > 1:
            handles.append(Line2D([], [], label=f"and {len(self.counts) - len(handles)} between", linestyle="none"))
        if self.several:
            handles += [Line2D([], [], label=name, **self.look(None, name)) for name in self.named]
        if len(self.named) < len(self.names):
            handles.append(Line2D([], [], label=f"{len(self.names) - len(self.named)} other settings", **self.look(None, "")))
        return handles


def add_cells(points, cells, metric, kinds, standing):
    names = [f"G = {clean(granularity)}, C = {count}" for granularity, count in zip(cells.granularity, cells.counters)]
    of = kinds.of(cells)
    wholes = [name + (f", {kind}" if kinds.several else "") for name, kind in zip(names, of)]
    looks = [(f"C = {count}" + (f", {kind}" if kinds.several else ""), kind, int(count)) for count, kind in zip(cells.counters, of)]
    admitted, _, remains = (each[cells.chosen] for each in standing)
    points.cells = True
    points.add(cells.values("error"), cells.values(metric), admitted, remains, wholes if kinds.short else names, wholes, looks)


TRACKED = {"bytes": "bytes_per_event", "bits": "bits", "comparators": "comparators", "area": "area"}
# open, so that none hides another or a cell
TRACKER = {"color": "#333333", "marker": "D", "linestyle": "none", "markersize": FRONT["tracker"], "fillstyle": "none", "markeredgewidth": 0.8, "zorder": 3}


def add_trackers(points, result, metric):
    """What `trackers` found, beside cells."""
    rows = result.file["trackers/rows"]
    if metric not in TRACKED:
        raise Refused(f"{result.path}: trackers have no {metric}; there are: {', '.join(TRACKED)}")
    names = [clean(each) for each in rows["tracker"].asstr()[:]]
    looks = [(FRONT["trackers"], None, TRACKER)] * len(names)
    within = [SIGNS[sign](rows[METRICS[name][0]][:], limit) for name, sign, limit in points.bounds if METRICS[name][0] in rows]  # of what is known of them
    points.add(100 * rows["error"][:], rows[TRACKED[metric]][:].astype(float), np.all([np.full(len(names), True), *within], axis=0), np.full(len(names), False), names, names, looks)


def about_trackers(result):
    program, machine = result.program()
    return program, str(result.file["trackers"].attrs["link"]), machine, asked_of(result)


def asked_of(result):
    """References that a run was to have at most; 0: all."""
    return int(result.file["input"].attrs.get("count", 0)) if "input" in result.file else 0


def first_of(asked):
    return f", the first {asked:,} references" if asked else ""


def events_of(result, cells):
    """That the monitors of cells saw; empty: the file does not tell."""
    rows, attributes = result.file["sweep/rows"], result.file["sweep"].attrs
    if "events" in rows:
        return set(rows["events"][:][cells.chosen].tolist())
    return {int(attributes["events"])} if "events" in attributes else set()


def stand_on_fronts(panels, tracked, metric, alone):
    """Trackers on the fronts of sweeps of their workload, link and machine; where there are none, on one of their own, if that is wanted."""
    about = program, link, machine, asked = about_trackers(tracked)
    events = tracked.file["trackers"].attrs.get("events")
    own = [panel for panel in panels if panel.about == about and panel.cells and (events is None or not panel.events or int(events) in panel.events)]
    if not own and not alone:
        seen = "" if events is None else f", {int(events):,} events"
        raise Refused(f"{tracked.path}: its trackers are of {program} on {machine}, {link}{first_of(asked)}{seen}, of which no sweep here has cells")
    if not own:
        own = [Points(tracked.path, about)]
        panels += own
    for panel in own:
        if clean(tracked.path) in panel.tracked:
            continue  # given twice
        panel.tracked.append(clean(tracked.path))
        add_trackers(panel, tracked, metric)


def panels_of(results, options, metric):
    """A panel per workload, link and what is counted there of each sweep, with trackers of the same, and one per file of others."""
    sweeps = []
    for i, result in enumerate(results):
        if "trackers" in result.file:
            continue
        parts = [(part, [place[:2] for place in places(part)]) for part in parts_of(result)]
        chosen = chosen_places(result.path, [place for _, own in parts for place in own], options)
        for part, own in parts:
            counted = list(zip(own, texts_of_rows(part, "counting")))
            sweeps += [(i, part, place, Cells(part, named_eviction(part, options) or (lambda every: every), place, counting), counting)
                       for place in chosen for of, counting in dict.fromkeys(counted) if of == place]
    kinds = Kinds([cells for *_, cells, _ in sweeps])
    panels = []
    for i, result, (workload, link), cells, counting in sweeps:
        standing, of = standings(result, options.standing[i] if options.standing else "")
        ordinal = sum(panel.path == result.path and panel.about[0] == workload for panel in panels)
        bounds = bounds_of(result, options.standing[i] if options.standing else "")
        panels.append(Points(result.path, (workload, link, result.program()[1], asked_of(result)), of, ordinal, bounds, counting))
        panels[-1].events = events_of(result, cells)
        add_cells(panels[-1], cells, metric, kinds, standing)
    for result in results:
        if "trackers" in result.file:
            stand_on_fronts(panels, result, metric, alone=True)
    if options.beside:
        stand_on_fronts(panels, Result(options.beside), metric, alone=False)
    kinds.choose(panels)
    return panels, kinds


def draw_front(axes, points, kinds, metric):
    of_looks = {}
    for i, (label, kind, look) in enumerate(points.looks):
        of_looks.setdefault(label, (look if kind is None else kinds.look(look, kind), []))[1].append(i)
    for label, (look, own) in of_looks.items():
        of = points.known & np.isin(np.arange(len(points.looks)), own)
        for some, changed in ((of & points.admitted, {"label": label}), (of & ~points.admitted, {"label": "_", "alpha": 1 / 3}),
                              (of & points.remains, {"label": "_", "zorder": 2.5})):  # what remains once more, over others
            if some.any() or changed["label"] == label:
                # a line without points has its place at the figure's corner unless it is clipped, and panels would make room for it
                axes.plot(points.error[some], points.other[some], clip_on=not some.any(), **{**look, **changed})
    front = points.front()
    if len(front):
        axes.plot(points.error[front], points.other[front], drawstyle="steps-post", color="#333333", linewidth=0.8, zorder=0, label=f"front in error, {metric}")
    remain = points.remains & points.known
    if remain.any():
        axes.plot(points.error[remain], points.other[remain], linestyle="none", marker="o", markersize=9, markerfacecolor="none", markeredgecolor="#333333",
                  markeredgewidth=0.6, zorder=0, label=points.remain_label(), gid="remain", clip_on=False)


def usual_metric(results, options):
    """What the front is asked for beside the error first; of trackers, too, where these are shown."""
    sweep = next((each for each in results if "sweep" in each.file), None)
    if not sweep:
        return "bytes"
    _, (objectives, _) = standings(sweep, options.standing[results.index(sweep)] if options.standing else "")
    tracked = options.beside or any("trackers" in each.file for each in results)
    known = [name for name, (column, _) in METRICS.items() if name != "error" and (name in TRACKED or not tracked)
             and all(column in each.file["sweep/rows"] for each in results if "sweep" in each.file)]
    return next((each for each in objectives.split(",") if each in known), "bytes")


def front(result, options):
    """Error against what it costs: every cell, as a staircase those that no other beats in both, and marked and named what remains of
    the sweep's front. Several workloads, links and files side by side, with one scale."""
    results = [result] + [Result(path) for path in options.more]
    metric = options.metric or usual_metric(results, options)
    panels, kinds = panels_of(results, options, metric)
    name_panels(panels)
    slots, across = side_by_side(panels, FRONT["across"] * options.columns // 2)
    figure, grid = front_grid(slots, across, options)
    drawn = [(axes, points) for axes, points in zip(grid.flat, slots) if points]
    for axes, points in drawn:
        draw_front(axes, points, kinds, metric)
        axes.grid(color="#e4e8ee", linewidth=0.5)
        say_of_panel(axes, points, metric)
    scale_panels(grid, slots, metric)
    head_of_fronts(figure, sorted(results, key=lambda each: "sweep" not in each.file), panels, kinds, options)
    legend_of_fronts(figure, drawn, kinds)
    for axes, points in drawn:
        names, on = points.at_places(), points.told()
        place_labels(axes, [(place, names[place]) for place in on] +
                     [(place, name) for place, name in names.items() if place not in on and "\n" in name and len(panels) == 1])
    return figure


def head_of_fronts(figure, results, panels, kinds, options):
    """Of one panel what it shows, of several what all have in common."""
    keys = f"settings: {kinds.keys}" if kinds.keys else ""
    if len(panels) == 1:
        workload, link, _, asked = panels[0].about
        headed(figure, results[0], link + (f", {panels[0].counting}" if panels[0].counting else "") + first_of(asked), named_evictions(results[0], options) if "sweep" in results[0].file else "", keys, program=workload)
        return
    machines = {panel.about[2] for panel in panels}
    asked = {panel.about[3] for panel in panels}
    told = (f"on {clean(*machines)}" if len(machines) == 1 else "") + (first_of(*asked) if len(asked) == 1 else "")
    partial = [(f"{clean(each.path)} " if len(results) > 1 else "") + f"partial: {each.interrupted()}" for each in results if each.interrupted()]
    figure.suptitle("; ".join(filter(None, [told, keys, *partial])), x=0.06 / figure.get_size_inches()[0], ha="left", fontsize=7.5, color="#333333")


def named_evictions(result, options):
    """Those that are drawn, of those that there are."""
    every = list(dict.fromkeys(texts_of_rows(result, "eviction")))
    return one_among(options.eviction, every) if options.eviction else ", ".join(every)
