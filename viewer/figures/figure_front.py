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


STANDINGS = ("admitted", "front", "remains")


def standings(result, given):
    """What the sweep says of its cells (viewer/sweep_choice.hpp), or, where the tool was asked for other objectives, what it `given`
    says: a digit per cell, 0: not admitted, 1: admitted, 2: on the front, 3: and remains. And what the front is of, as a text."""
    rows, attributes = result.file["sweep/rows"], result.file["sweep"].attrs
    count = len(rows["counters"])
    if given:
        said, objectives, percent = given.split(":")
        levels = np.array([int(each) for each in said])
        return [levels >= 1 + i for i in range(3)], (objectives, float(percent))
    absent = np.full(count, True), np.full(count, False), np.full(count, False)
    found = [rows[name][:] == 1 if name in rows else missing for name, missing in zip(STANDINGS, absent)]
    return found, (str(attributes.get("objectives", "")), 100 * float(attributes.get("tolerance", 0.05)))


class Points:
    """What a panel shows: places, what is told of each alone and beside others, and looks."""

    def __init__(self, title, of=("", 5), about=None):
        """`about`: program, link and machine."""
        self.title, self.of, self.about, self.names, self.wholes, self.looks = title, of, about, [], [], []
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

    def told(self):
        """Places that are named: of what remains, and of trackers on the front."""
        tracker = np.array([not look[0].startswith("C = ") for look in self.looks])
        on = np.isin(np.arange(len(self.looks)), self.front()) & tracker | self.remains & self.known
        return list(dict.fromkeys((self.error[i], self.other[i]) for i in np.flatnonzero(on)))

    def remain_label(self):
        objectives, percent = self.of
        return "remain" + (f" ({', '.join(clean(objectives).split(','))})" if objectives else "") + f", {percent:g} %"

    def at_places(self):
        """By place: what is told there, so that no point hides another. One alone is told in short, as marks tell the rest."""
        found = {}
        for i in np.flatnonzero(self.known):
            found.setdefault((self.error[i], self.other[i]), []).append(i)
        return {place: self.names[own[0]] if len(own) == 1 else text_of_place([self.wholes[i] for i in own]) for place, own in found.items()}


def text_of_place(texts):
    """At most three, each once."""
    times = {text: texts.count(text) for text in texts}
    lines = [text + (f" ({count} cells)" if count > 1 else "") for text, count in times.items()]
    return "\n".join(lines[:3] + ([f"and {len(lines) - 3} more"] if len(lines) > 3 else []))


MOST_KINDS, SHORT, MARK = 8, 12, 4  # kinds that are all told apart; letters of one that is told beside a point; points


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
        self.names = list(dict.fromkeys(name for cells in sweeps for name in self.of(cells)))
        self.named, self.several = self.names, len(self.names) > 1
        self.short = max(map(len, self.names), default=0) <= SHORT

    def of(self, cells):
        return [clean(", ".join(filter(None, [eviction if self.policies or not settings else "", self.shortly[clean(settings)]])))
                for eviction, settings in zip(cells.eviction, cells.settings)]

    def choose(self, panels):
        """Of many those that remain or are on a drawn front, first what does so most often."""
        if len(self.names) <= MOST_KINDS:
            return
        found = [name for panel in panels for i in range(len(panel.looks)) if panel.remains[i] or i in panel.front() for name in [panel.looks[i][1]] if name]
        self.named = sorted(dict.fromkeys(found), key=lambda name: (-found.count(name), self.names.index(name)))[:2 * len(MARKERS)]

    def look(self, count, name):
        """Marks of one size, which are open but for the first kind, so that none hides another at its place."""
        if name is not None and name not in self.named:
            return {"color": "#c4c8ce", "marker": ".", "linestyle": "none", "markersize": MARK, "zorder": 1}
        looks = style(0 if count is None else self.counts.index(count))
        if len(self.counts) > len(CURVES) and self.several and count is not None:
            looks["color"] = tuple(ramp(0.25 + 0.75 * self.counts.index(count) / (len(self.counts) - 1)) / 255)
        if self.several:
            j = 0 if name is None else self.named.index(name)
            fill = "full" if j == 0 else "none" if j < len(MARKERS) else "left"
            looks.update(marker=MARKERS[j % len(MARKERS)], fillstyle=fill, **({"color": "#555555"} if count is None else {}))
        return {**looks, "linestyle": "none", "markersize": MARK}

    def handles(self):
        handles = [Line2D([], [], label=f"C = {count}", **self.look(count, None)) for count in self.counts]
        if self.several:
            handles += [Line2D([], [], label=name, **self.look(None, name)) for name in self.named]
        if len(self.named) < len(self.names):
            handles.append(Line2D([], [], label=f"{len(self.names) - len(self.named)} other settings", **self.look(None, "")))
        return handles


def add_cells(points, cells, metric, kinds, standing):
    names = [f"G = {clean(granularity)}" for granularity in cells.granularity]
    of = kinds.of(cells)
    wholes = [f"{name}, C = {count}" + (f", {kind}" if kinds.several and kinds.short else "") for name, count, kind in zip(names, cells.counters, of)]
    looks = [(f"C = {count}" + (f", {kind}" if kinds.several else ""), kind, int(count)) for count, kind in zip(cells.counters, of)]
    admitted, _, remains = (each[cells.chosen] for each in standing)
    points.add(cells.values("error"), cells.values(metric), admitted, remains, names, wholes, looks)


TRACKED = {"bytes": "bytes_per_event", "bits": "bits", "area": "area"}


def add_trackers(points, result, metric):
    """What `trackers` found, beside cells."""
    rows = result.file["trackers/rows"]
    if metric not in TRACKED:
        raise Refused(f"{result.path}: trackers have no {metric}; there are: {', '.join(TRACKED)}")
    names = [clean(each) for each in rows["tracker"].asstr()[:]]
    looks = [(name, None, tracker_look(i)) for i, name in enumerate(names)]
    points.add(100 * rows["error"][:], rows[TRACKED[metric]][:].astype(float), np.full(len(names), True), np.full(len(names), False), names, names, looks)


def tracker_look(i):
    return {"color": "#333333", "marker": "*P^vDX"[i % 6], "linestyle": "none", "markersize": 6}


def place_labels(axes, labels):
    """Labels beside their points, not over each other or over points; a line leads to those that stand further off."""
    figure = axes.figure
    figure.canvas.draw()
    figure.set_layout_engine("none")
    frame = axes.get_window_extent()
    point = figure.dpi / 72
    pixels = np.concatenate([line.get_transform().transform(line.get_xydata()) for line in axes.lines if line.get_marker() != "None"])
    taken = []
    for (x, y), text in labels:
        note = axes.annotate(text, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=6, linespacing=1.0)
        size = note.get_window_extent()
        at_x, at_y = axes.transData.transform((x, y))
        best = None
        for far in (4, 12, 24, 40, 60, 90):
            for right, up in ((1, -1), (-1, -1), (1, 1), (-1, 1), (1, 0), (-1, 0)):  # below a front nothing is
                dx = right * far if right > 0 else -far - size.width / point
                dy = {1: far, 0: -size.height / point / 2, -1: -far - size.height / point}[up]
                left, bottom = at_x + dx * point, at_y + dy * point
                box = (left, bottom, left + size.width, bottom + size.height)
                inside = frame.x0 <= box[0] and box[2] <= frame.x1 and frame.y0 <= box[1] and box[3] <= frame.y1
                free = not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken)
                bare = not ((pixels[:, 0] > box[0] - 3 * point) & (pixels[:, 0] < box[2] + 3 * point)
                            & (pixels[:, 1] > box[1] - 3 * point) & (pixels[:, 1] < box[3] + 3 * point)).any()
                if inside and free and bare:
                    best = (dx, dy, box, far)
                    break
            if best:
                break
        if not best:
            note.remove()  # the mark and the legend remain
            continue
        note.set_position(best[:2])
        taken.append(best[2])
        if best[3] > 4:
            axes.annotate("", (x, y), xytext=(best[0] + (size.width / point if best[0] < 0 else 0), best[1] + size.height / point / 2),
                          textcoords="offset points", arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "#777777", "shrinkA": 1, "shrinkB": 2})


def told_apart(panels):
    """Titles that are alike get the names of their files, and where these are alike, too, their paths."""
    for name in (lambda path: path.rsplit("/", 1)[-1], lambda path: path):
        titles = [panel.title for panel, _ in panels]
        for panel, path in panels:
            if titles.count(panel.title) > 1:
                panel.title = f"{clean(name(path))}: {panel.title.split(': ', 1)[-1]}"


def panels_of(results, options, metric):
    """A panel per workload and link of each sweep, and one per file of trackers; what is laid over all is in the options."""
    sweeps = [(i, result, place, Cells(result, named_eviction(result, options) or (lambda every: every), place))
              for i, result in enumerate(results) if "trackers" not in result.file
              for place in chosen_places(result.path, [place[:2] for place in places(result)], options)]
    kinds = Kinds([cells for *_, cells in sweeps])
    panels = []
    for i, result, (workload, link), cells in sweeps:
        standing, of = standings(result, options.standing[i] if options.standing else "")
        machine = result.program()[1]
        title = ", ".join(clean(each) for each in (workload, link) if each)
        panels.append((Points(title, of, (workload, link, machine)), result.path))
        add_cells(panels[-1][0], cells, metric, kinds, standing)
    for result in results:
        if "trackers" in result.file:
            panels.append((Points(f"{clean(result.title())}, {clean(result.file['trackers'].attrs['link'])}"), result.path))
            add_trackers(panels[-1][0], result, metric)
    told_apart(panels)
    panels = [panel for panel, _ in panels]
    if options.beside:
        tracked = Result(options.beside)
        program, machine = tracked.program()
        about = program, str(tracked.file["trackers"].attrs["link"]), machine
        for panel in (own := [panel for panel in panels if panel.about == about]):
            add_trackers(panel, tracked, metric)
        if not own:
            raise Refused(f"{options.beside}: its trackers are of {program} on {machine}, {about[1]}, of which no sweep here has cells")
    kinds.choose(panels)
    return panels, kinds


def draw_front(axes, points, kinds):
    of_looks = {}
    for i, (label, kind, look) in enumerate(points.looks):
        of_looks.setdefault(label, (look if kind is None else kinds.look(look, kind), []))[1].append(i)
    for label, (look, own) in of_looks.items():
        of = points.known & np.isin(np.arange(len(points.looks)), own)
        for admitted in (True, False):
            some = of & (points.admitted == admitted)
            if some.any() or admitted:
                axes.plot(points.error[some], points.other[some], label=label if admitted else "_", **look, **({} if admitted else {"alpha": 0.3}))
    front = points.front()
    if not points.admitted.any():
        axes.text(0.5, 0.97, "no cell is within the bounds", transform=axes.transAxes, ha="center", va="top")
    axes.plot(points.error[front], points.other[front], drawstyle="steps-post", color="#333333", linewidth=0.8, zorder=0, label="front")
    remain = points.remains & points.known
    if remain.any():
        axes.plot(points.error[remain], points.other[remain], linestyle="none", marker="o", markersize=9, markerfacecolor="none", markeredgecolor="#333333",
                  markeredgewidth=0.6, zorder=0, label=points.remain_label(), gid="remain")


def legend_below(figure, handles):
    """In as many columns as the figure's width allows; the figure grows by what they take."""
    width, height = figure.get_size_inches()
    letter, mark = 0.052, 0.45  # inches, of 7 points
    for each in handles:
        each.set_label(textwrap.fill(each.get_label(), int((width - mark) / letter)))
    widest = max(len(line) for each in handles for line in each.get_label().split("\n"))
    columns = max(1, min(len(handles), int(width / (mark + letter * widest))))
    legend = figure.legend(handles=handles, frameon=False, loc="lower center", ncols=columns, borderaxespad=0.2, columnspacing=1.2)
    taken = legend.get_window_extent(figure.canvas.get_renderer()).height / figure.dpi + 0.08
    figure.set_size_inches(width, height + taken)
    bottom = taken / (height + taken)
    figure.get_layout_engine().set(rect=(0, bottom, 1, 1 - bottom))


def legend_of_fronts(grid, panels, kinds):
    """Of cells, of trackers, and of what the panels draw over them, each once."""
    handles = kinds.handles()
    handles += [Line2D([], [], label=name, **look) for name, look in {name: look for panel in panels for name, kind, look in panel.looks if kind is None}.items()]
    fronts = [line for line in grid.flat[0].lines if line.get_label() == "front"]
    remain = {}
    for axes, panel in zip(grid.flat, panels):
        for line in axes.lines:
            if line.get_gid() == "remain":
                remain.setdefault(line.get_label(), (line, []))[1].append(panel.title)
    for label, (line, titles) in remain.items():
        if len(remain) > 1:  # panels of files that were asked for other objectives
            line.set_label(f"{label}: {'; '.join(titles)}")
    legend_below(grid.flat[0].figure, handles + fronts + [line for line, _ in remain.values()])


def scale_panels(grid, panels, metric):
    """One scale, with room round the points; numbers along x below the last panel of each column."""
    error, other = (np.concatenate([getattr(panel, of)[panel.known] for panel in panels]) for of in ("error", "other"))
    if is_log(metric, other):
        for axes in grid[:, 0]:
            logarithmic(axes, other)
    for low, high, log, share, limit in ((error.min(), error.max(), False, 0.07, "set_xlim"), (other.min(), other.max(), is_log(metric, other), 0.1, "set_ylim")):
        if low == high:
            low, high = (low / 2, 2 * high) if log else (low - 0.5, high + 0.5)
        ratio, room = (high / low) ** share if log else 1, 0 if log else share * (high - low)
        getattr(grid.flat[0], limit)(low / ratio - room, high * ratio + room)
    across = grid.shape[1]
    for i, axes in enumerate(grid.flat):
        axes.set_visible(i < len(panels))
        if i + across >= len(panels):
            axes.set(xlabel=METRICS["error"][1])
            axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set(ylabel=METRICS[metric][1])


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
    across = min(len(panels), 2 * options.columns)
    down = -(-len(panels) // across)
    size = (WIDTHS[options.columns], 2.8 if down == 1 else 0.5 + 2.1 * down)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained")
    for axes, points in zip(grid.flat, panels):
        draw_front(axes, points, kinds)
        if len(panels) > 1:
            axes.set_title(textwrap.fill(points.title, max(20, 88 * options.columns // (2 * across))), loc="left", fontsize=7)
        elif not points.known.all():
            axes.set_title(f"{points.known.sum()} of {len(points.known)} cells; the others are not known", loc="left")
        axes.grid(color="#e4e8ee", linewidth=0.5)
    scale_panels(grid, panels, metric)
    keys = f"settings: {kinds.keys}" if kinds.keys else ""
    if len(panels) == 1:
        told = [str(result.file["sweep"].attrs.get("link", "")), named_evictions(result, options)] if "sweep" in result.file else [str(result.file["trackers"].attrs["link"])]
        headed(figure, result, *told, keys)
    else:
        machines = dict.fromkeys(str(each.file["machine"].attrs["name"]) for each in results if "machine" in each.file)
        figure.suptitle("; ".join(filter(None, [f"on {clean(', '.join(machines))}", keys])), x=0.06 / size[0], ha="left", fontsize=7.5, color="#333333")
    legend_of_fronts(grid, panels, kinds)
    for axes, points in zip(grid.flat, panels):
        names, on = points.at_places(), points.told()
        place_labels(axes, [(place, names[place]) for place in on] +
                     [(place, name) for place, name in names.items() if place not in on and "\n" in name and len(panels) == 1])
    return figure


def named_evictions(result, options):
    """Those that are drawn, of those that there are."""
    every = list(dict.fromkeys(texts_of_rows(result, "eviction")))
    return one_among(options.eviction, every) if options.eviction else ", ".join(every)
