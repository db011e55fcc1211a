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


def point_names(cells, error, other, known):
    """By place: the cells there, so that none hides another. One alone is told by its granularity, as marks tell the rest."""
    places = {}
    for i in np.flatnonzero(known):
        places.setdefault((error[i], other[i]), []).append(i)
    several = len(set(cells.eviction)) > 1

    def whole(i):
        return f"G = {clean(cells.granularity[i])}, C = {cells.counters[i]}" + (f", {clean(cells.eviction[i])}" if several else "")

    return {place: f"G = {clean(cells.granularity[own[0]])}" if len(own) == 1 else
            "\n".join(map(whole, own[:3])) + (f"\nand {len(own) - 3} more" if len(own) > 3 else "") for place, own in places.items()}


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


def front_legend(axes, counts, evictions):
    """Counters by colour and mark; policies, where there are several, by size."""
    handles = [Line2D([], [], label=f"C = {count}", **look_of(i, 0)) for i, count in enumerate(counts)]
    handles += [Line2D([], [], label=clean(each), **{**look_of(0, j), "color": "#555555"}) for j, each in enumerate(evictions) if len(evictions) > 1]
    legend_beside(axes, handles + [each for each in axes.lines if each.get_label() == "front"])


def front(result, options):
    """Error against what it costs: every cell, and as a staircase the front of those that no other beats in both."""
    metric = options.metric or "bytes"
    cells = Cells(result, named_eviction(result, options) or (lambda every: every))
    error, other = cells.values("error"), cells.values(metric)
    known = ~np.isnan(other)
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 2.8 if options.columns == 2 else 3.6), layout="constrained")
    evictions = list(dict.fromkeys(cells.eviction))
    counts = sorted(set(cells.counters[known].tolist()))
    for i, count in enumerate(counts):
        for j, eviction in enumerate(evictions):
            of = known & (cells.counters == count) & (cells.eviction == eviction)
            axes.plot(error[of], other[of], label=f"C = {count}" + (f", {clean(eviction)}" if len(evictions) > 1 else ""), **look_of(i, j))
    axes.margins(0.07, 0.1)  # room for names
    front_of = np.flatnonzero(known)[on_front(error[known], other[known])]
    axes.plot(error[front_of], other[front_of], drawstyle="steps-post", color="#333333", linewidth=0.8, zorder=0, label="front")
    if is_log(metric, other):
        logarithmic(axes, other[known])
    if not known.all():
        axes.set_title(f"{known.sum()} of {len(known)} cells; the others are not known", loc="left")
    axes.set(xlabel=METRICS["error"][1], ylabel=METRICS[metric][1])
    front_legend(axes, counts, evictions)
    axes.grid(color="#e4e8ee", linewidth=0.5)
    headed(figure, result, cells.link, one_among(", ".join(evictions), cells.evictions) if len(evictions) < len(cells.evictions) else ", ".join(evictions))
    names = point_names(cells, error, other, known)
    on = list(dict.fromkeys((error[i], other[i]) for i in front_of))
    place_labels(axes, [(place, names[place]) for place in on] +
                 [(place, name) for place, name in names.items() if place not in on and "\n" in name])
    return figure
