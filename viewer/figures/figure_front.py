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


def remaining(points, tolerance):
    """Of a front the few points that stand for all: as remaining() of viewer/sweep_choice.hpp."""
    points = np.array(points, float)
    slack = tolerance * (points.max(axis=0) - points.min(axis=0))
    stands_for = (points[:, None, :] <= points[None, :, :] + slack).all(axis=2)
    order = np.lexsort(points.T[::-1])
    times, chosen = np.zeros(len(points), int), []
    while (times == 0).any():
        best = max(order, key=lambda i: (stands_for[i] & (times == 0)).sum())
        chosen.append(best)
        times += stands_for[best]
    remain = []
    for i in chosen:  # what later ones made superfluous
        if (times[stands_for[i]] == 1).any():
            remain.append(i)
        else:
            times -= stands_for[i]
    return remain


class Points:
    """What a panel shows: places, what is told of each alone and beside others, and looks."""

    def __init__(self, title):
        self.title, self.names, self.wholes, self.looks = title, [], [], []
        self.error, self.other, self.admitted = np.array([]), np.array([]), np.array([], bool)

    def add(self, error, other, admitted, names, wholes, looks):
        self.error, self.other = np.append(self.error, error), np.append(self.other, other)
        self.admitted = np.append(self.admitted, admitted)
        self.names, self.wholes, self.looks = self.names + names, self.wholes + wholes, self.looks + looks

    @property
    def known(self):
        return ~np.isnan(self.other)

    def front(self):
        of = np.flatnonzero(self.known & self.admitted)
        return of[on_front(self.error[of], self.other[of])] if len(of) else of

    def at_places(self):
        """By place: what is told there, so that no point hides another. One alone is told in short, as marks tell the rest."""
        found = {}
        for i in np.flatnonzero(self.known):
            found.setdefault((self.error[i], self.other[i]), []).append(i)
        return {place: self.names[own[0]] if len(own) == 1 else
                "\n".join(self.wholes[i] for i in own[:3]) + (f"\nand {len(own) - 3} more" if len(own) > 3 else "") for place, own in found.items()}


def kind_of(eviction, settings):
    return clean(eviction + (f", {settings}" if settings else ""))


def add_cells(points, cells, metric, counts, kinds):
    several = len(kinds) > 1
    names, wholes, looks = [], [], []
    for eviction, settings, granularity, count in zip(cells.eviction, cells.settings, cells.granularity, cells.counters):
        kind = kind_of(eviction, settings)
        names.append(f"G = {clean(granularity)}")
        wholes.append(f"{names[-1]}, C = {count}" + (f", {kind}" if several else ""))
        looks.append((f"C = {count}" + (f", {kind}" if several else ""), look_of(counts.index(count), kinds.index(kind))))
    points.add(cells.values("error"), cells.values(metric), cells.admitted, names, wholes, looks)


TRACKED = {"bytes": "bytes_per_event", "bits": "bits", "area": "area"}


def add_trackers(points, result, metric):
    """What `trackers` found, beside cells."""
    rows = result.file["trackers/rows"]
    if metric not in TRACKED:
        raise Refused(f"{result.path}: trackers have no {metric}; there are: {', '.join(TRACKED)}")
    names = [clean(each) for each in rows["tracker"].asstr()[:]]
    looks = [(name, {"color": "#333333", "marker": "*P^vDX"[i % 6], "linestyle": "none", "markersize": 6}) for i, name in enumerate(names)]
    points.add(100 * rows["error"][:], rows[TRACKED[metric]][:].astype(float), np.full(len(names), True), names, names, looks)


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
                inside = frame.x0 <= box[0] and box[2] <= frame.x1 + 20 * point and frame.y0 <= box[1] and box[3] <= frame.y1
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


def look_of(i, j):
    """Of cells with counters i and policy j: rings around each other, so that none hides another at its place."""
    return {**style(i), "linestyle": "none", "markersize": 3.5 + 2 * j, **({} if j == 0 else {"markerfacecolor": "none"})}


def panels_of(results, options, metric):
    """A panel per workload and link of each sweep, and one per file of trackers; what is laid over all is in the options."""
    sweeps = [(result, place, Cells(result, named_eviction(result, options) or (lambda every: every), place))
              for result in results if "trackers" not in result.file for place in (dict.fromkeys(places(result)) if "sweep" in result.file else [None])]
    counts = sorted({int(count) for _, _, cells in sweeps for count in cells.counters})
    kinds = list(dict.fromkeys(kind_of(*each) for _, _, cells in sweeps for each in zip(cells.eviction, cells.settings)))
    panels = []
    for result, (workload, link), cells in sweeps:
        panels.append(Points(", ".join(clean(each) for each in (workload or result.title(), link or cells.link) if each)))
        add_cells(panels[-1], cells, metric, counts, kinds)
    for result in results:
        if "trackers" in result.file:
            panels.append(Points(f"{clean(result.title())}, {clean(result.file['trackers'].attrs['link'])}"))
            add_trackers(panels[-1], result, metric)
    if options.beside:
        for panel in panels:
            add_trackers(panel, Result(options.beside), metric)
    handles = [Line2D([], [], label=f"C = {count}", **look_of(i, 0)) for i, count in enumerate(counts)]
    handles += [Line2D([], [], label=kind, **{**look_of(0, j), "color": "#555555"}) for j, kind in enumerate(kinds) if len(kinds) > 1]
    trackers = dict(look for panel in panels for look in panel.looks if not look[0].startswith("C = "))
    return panels, handles + [Line2D([], [], label=name, **look) for name, look in trackers.items()]


def draw_front(axes, points, tolerance):
    for label, look in dict((look[0], look[1]) for look in points.looks).items():
        of = points.known & np.array([each[0] == label for each in points.looks])
        for admitted in (True, False):
            some = of & (points.admitted == admitted)
            if some.any() or admitted:
                axes.plot(points.error[some], points.other[some], label=label if admitted else "_", **look, **({} if admitted else {"alpha": 0.3}))
    front = points.front()
    axes.plot(points.error[front], points.other[front], drawstyle="steps-post", color="#333333", linewidth=0.8, zorder=0, label="front")
    if len(front) == 0:
        return []
    remain = front[remaining(np.column_stack([points.error[front], points.other[front]]), tolerance)]
    axes.plot(points.error[remain], points.other[remain], linestyle="none", marker="o", markersize=9, markerfacecolor="none", markeredgecolor="#333333",
              markeredgewidth=0.6, zorder=0, label=f"remain, {100 * tolerance:g} %")
    return list(dict.fromkeys((points.error[i], points.other[i]) for i in remain))


def front(result, options):
    """Error against what it costs: every cell, as a staircase the front of those that no other beats in both, and marked and named
    what remains of it where small differences do not count. Several workloads, links and files side by side, with one scale."""
    metric = options.metric or "bytes"
    results = [result] + [Result(path) for path in options.more]
    panels, handles = panels_of(results, options, metric)
    across = min(len(panels), 2 * options.columns)
    down = -(-len(panels) // across)
    size = (WIDTHS[options.columns], (2.8 if options.columns == 2 else 3.6) if down == 1 else 0.5 + 2.1 * down)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained")
    everywhere = np.concatenate([panel.other[panel.known] for panel in panels])
    tolerance = float(result.file["sweep"].attrs.get("tolerance", 0.05)) if "sweep" in result.file else 0.05
    named = []
    for axes, points in zip(grid.flat, panels):
        on = draw_front(axes, points, tolerance)
        named.append((axes, points, on))
        if len(panels) > 1:
            axes.set_title(textwrap.fill(points.title, max(20, 80 * options.columns // (2 * across))), loc="left", fontsize=7)
        elif not points.known.all():
            axes.set_title(f"{points.known.sum()} of {len(points.known)} cells; the others are not known", loc="left")
        axes.grid(color="#e4e8ee", linewidth=0.5)
    grid.flat[0].margins(0.07, 0.1)  # room for names
    if is_log(metric, everywhere):
        for axes in grid[:, 0]:
            logarithmic(axes, everywhere)
    for axes in grid[-1]:
        axes.set(xlabel=METRICS["error"][1])
    for axes in grid[:, 0]:
        axes.set(ylabel=METRICS[metric][1])
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    lines = [each for each in grid.flat[0].lines if each.get_label() == "front" or each.get_label().startswith("remain")]
    legend_beside(grid[0, -1], handles + lines)
    if len(panels) == 1:
        told = [str(result.file["sweep"].attrs.get("link", "")), named_evictions(result, options)] if "sweep" in result.file else [str(result.file["trackers"].attrs["link"])]
        headed(figure, result, *told)
    else:
        machines = dict.fromkeys(str(each.file["machine"].attrs["name"]) for each in results if "machine" in each.file)
        figure.suptitle(f"on {clean(', '.join(machines))}", x=0.06 / size[0], ha="left", fontsize=7.5, color="#333333")
    for axes, points, on in named:
        names = points.at_places()
        place_labels(axes, [(place, names[place]) for place in on] +
                     [(place, name) for place, name in names.items() if place not in on and "\n" in name and len(panels) == 1])
    return figure


def named_evictions(result, options):
    """Those that are drawn, of those that there are."""
    every = list(dict.fromkeys(texts_of_rows(result, "eviction")))
    return one_among(options.eviction, every) if options.eviction else ", ".join(every)
