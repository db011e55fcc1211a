# SPDX-License-Identifier: BSD-3-Clause


# How fronts are laid out, named and explained: a part of the script before figure_front.py.

FRONT = DRAWING["front"]  # words and rules of the page


def file_name(panel, panels):
    """Without its folder, where no other file has this name."""
    short = panel.path.rsplit("/", 1)[-1]
    return clean(panel.path if any(other.path != panel.path and other.path.rsplit("/", 1)[-1] == short for other in panels) else short)


def groups_of(panels):
    """Panels of one workload and link; if the machines have links of other names, those at the same place among the links of their files."""
    shared = [link for link in {panel.about[1] for panel in panels} if len({panel.path for panel in panels if panel.about[1] == link}) > 1]
    groups = {}
    for panel in panels:
        workload, link, *_ = panel.about
        groups.setdefault((workload, (link, panel.counting) if link in shared else panel.ordinal), []).append(panel)
    return list(groups.values())


def name_panels(panels):
    """Titles: workload, link and what is counted; the machine, where machines differ; the file, where several have one workload, or rings of their own."""
    rings = list(dict.fromkeys(panel.remain_label() for panel in panels if (panel.remains & panel.known).any()))
    by_file = len(rings) > 1 or any(len({panel.path for panel in group}) > 1 for group in groups_of(panels))
    by_machine, by_count = [len({panel.about[i] for panel in panels}) > 1 for i in (2, 3)]
    for panel in panels:
        workload, link, machine, asked = panel.about
        texts = [workload + (f" on {machine or 'no machine that the file names'}" if by_machine else ""), link + (first_of(asked) if by_count else ""), panel.counting, panel.kind]
        panel.title = (f"{file_name(panel, panels)}: " if by_file else "") + ", ".join(clean(each) for each in texts if each)


def side_by_side(panels, most):
    """Slots of rows, None: empty, and how many a row has, at most `most`. Panels of a group stand beside each other, and those that have no group
    beside those that come next to them."""
    groups = groups_of(panels)
    widest = max(map(len, groups))
    if widest == 1:  # a row for each workload, where all have as many
        of_workloads = [len(list(some)) for _, some in itertools.groupby(panels, lambda panel: panel.about[0])]
        regular = len(of_workloads) > 1 and of_workloads[1:] == of_workloads[:-1] and 1 < of_workloads[0] <= most
        return panels, of_workloads[0] if regular else min(len(panels), most)
    size = min(widest, most)
    together = [list(some) if several else [sum(some, [])] for several, some in itertools.groupby(groups, lambda group: len(group) > 1)]
    slots = [panel for some in together for group in some for panel in group + [None] * (-len(group) % size)]
    across = size * min(len(slots) // size, most // size)
    columns = [slots[i::across] for i in range(across)]
    used = [i for i, column in enumerate(columns) if any(column)]
    return [slots[at] for at in range(len(slots)) if at % across in used], len(used)


def front_grid(slots, across, options):
    """Axes with the titles of their panels, where there are several or what stands beside cells."""
    down = -(-len(slots) // across)
    titled = len([panel for panel in slots if panel]) > 1 or any(panel and panel.kind for panel in slots)
    titles = [textwrap.fill(panel.title, max(20, 88 * options.columns // (2 * across))) if panel and titled else "" for panel in slots]
    lines = max(title.count("\n") for title in titles)
    height = 2.8 if down == 1 else 0.5 + 2.1 * down
    figure, grid = plt.subplots(down, across, figsize=(WIDTHS[options.columns], height + 0.12 * lines * down), squeeze=False, sharex=True, sharey=True,
                                layout="constrained")
    for axes, title in zip(grid.flat, titles):
        axes.set_title(title, loc="left", fontsize=7)
    return figure, grid


def scale_panels(grid, slots, metric):
    """One scale, that of the page; numbers along x below panels that have none beneath."""
    panels = [panel for panel in slots if panel]
    error, other = (np.concatenate([getattr(panel, of)[panel.known] for panel in panels]) for of in ("error", "other"))
    x, y = ValueScale(error, "linear", 100), ValueScale(other, wanted_scale(metric), whole_of(metric))
    inset = DRAWING["scale"]["inset"]  # points without error keep off the axis
    grid.flat[0].set_xlim(x.low - (x.high - x.low) * inset / (1 - inset), x.high)
    across = grid.shape[1]
    for i, axes in enumerate(grid.flat):
        axes.set_visible(i < len(slots) and slots[i] is not None)
        draw_bounds(axes, slots[i].bounds if axes.get_visible() else [], metric, x, y)
        axes.xaxis.set_major_locator(FixedLocator(x.ticks))
        y.upright(axes)
        if i + across >= len(slots) or slots[i + across] is None:
            axes.set(xlabel=METRICS["error"][1])
            axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set(ylabel=y.title(METRICS[metric][1]))


LETTER, MARKED = 0.052, 0.45  # inches, of 7 points: a letter, and the mark of an entry
SMALL_LETTER = 0.045  # of 6 points


def rows_of_legend(handles, width):
    """Of entries of about one width, in as many columns as a width allows: what legend() takes."""
    for each in handles:
        each.set_label(textwrap.fill(each.get_label(), int((width - MARKED) / LETTER)))
    widest = max(len(line) for each in handles for line in each.get_label().split("\n"))
    return {"handles": handles, "ncols": max(1, min(len(handles), int(width / (MARKED + LETTER * widest))))}


def legend_below(figure, *parts):
    """Each part in as many columns as the figure's width allows, the last lowest; the figure grows by what they take."""
    width, height = figure.get_size_inches()
    taken, legends = 0, []
    for part in filter(None, reversed(parts)):
        legend = figure.legend(**rows_of_legend(part, width), frameon=False, loc="lower center", borderaxespad=0.2, columnspacing=1.2)
        legends.append((legend, taken))
        taken += legend.get_window_extent(figure.canvas.get_renderer()).height / figure.dpi + 0.04
    taken += 0.04
    figure.set_size_inches(width, height + taken)
    for legend, above in legends:
        legend.set_bbox_to_anchor((0, above / (height + taken), 1, 1))
    bottom = taken / (height + taken)
    figure.get_layout_engine().set(rect=(0, bottom, 1, 1 - bottom))


def legend_of_fronts(figure, drawn, kinds):
    """Of cells, and of what the panels draw over them, each once."""
    panels = [panel for _, panel in drawn]
    handles = kinds.handles()
    if any(is_tracker(look) for panel in panels for look in panel.looks):
        handles.append(Line2D([], [], label=FRONT["trackers"], **TRACKER))
    if any((panel.known & ~panel.admitted).any() for panel in panels):
        handles.append(Line2D([], [], label=FRONT["pale"], linestyle="none"))
    lines = [line for axes, _ in drawn for line in axes.lines]
    fixed = [next((line for line in lines if which(line)), None) for which in (lambda each: each.get_label().startswith("front in "), lambda each: each.get_gid() == "bound")]
    rings = {}
    for axes, panel in drawn:
        for line in axes.lines:
            if line.get_gid() == "remain":
                rings.setdefault(line.get_label(), (line, {}))[1][file_name(panel, panels)] = None
    for label, (line, files) in rings.items():
        if len(rings) > 1:  # files that were asked for other objectives
            line.set_label(f"{label}: {', '.join(files)}")
    legend_below(figure, handles, [line for line in fixed if line] + [line for line, _ in rings.values()])


def draw_bounds(axes, bounds, metric, x, y):
    """Limits of what is drawn, as far as they are in sight."""
    for name, _, limit in bounds:
        shown = 100 * limit if name in FRACTIONS else limit
        for of, scale, draw in (("error", x, axes.axvline), (metric, y, axes.axhline)):
            if name == of and scale.low <= shown <= scale.high:
                draw(shown, color="#777777", linestyle=DASHES[2], linewidth=0.8, zorder=0, label=FRONT["bounds"], gid="bound")


def say_of_panel(axes, points, metric):
    """What is not drawn, or all pale."""
    tracker = np.array([is_tracker(look) for look in points.looks])
    own = [(points.known[of], name) for of, name in ((~tracker, "cells"), (tracker, FRONT["trackers"]))]
    told = ", ".join(f"{(~known).sum()} of {len(known)} {name}" for known, name in own if not known.all())
    lines = [f"{METRICS[metric][1].split(' / ')[0]} not known of {told}"] * bool(told) + [FRONT["outside" if points.bounds and points.events != {0} else "unseen"]] * (not points.admitted.any())
    if lines:
        letters = int(0.8 * axes.figure.get_size_inches()[0] / axes.get_gridspec().ncols / SMALL_LETTER)
        note = axes.text(0.5, 0.97, "\n".join(textwrap.fill(line, letters) for line in lines), transform=axes.transAxes, ha="center", va="top", fontsize=6)
        note.set_in_layout(False)  # or panels would make room for it


def place_labels(axes, labels):
    """Labels beside their points by the rule of the page (placesOf() in viewer/web/src/views/fronts.ts), the first first, none over another; unlike there, where lines have
    the colours of cells, nor lines over names or lines."""
    figure, rule = axes.figure, FRONT["labels"]
    figure.canvas.draw()
    figure.set_layout_engine("none")
    frame = axes.get_window_extent()
    unit = 6 / rule["size"] * figure.dpi / 72  # a pixel of the page, where labels are of its size
    pixels = np.concatenate([line.get_transform().transform(line.get_xydata()) for line in axes.lines if line.get_marker() != "None"])
    taken, leaders = [], []

    def crosses(a, b, c, d):
        def left(p, q, r):
            return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])
        return left(a, b, c) != left(a, b, d) and left(c, d, a) != left(c, d, b)

    def enters(line, box):
        x0, y0, x1, y1 = box
        inside = any(x0 <= x <= x1 and y0 <= y <= y1 for x, y in line)
        return inside or crosses(*line, (x0, y0), (x1, y1)) or crosses(*line, (x0, y1), (x1, y0))

    for (x, y), text in labels:
        note = axes.annotate(text, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=6, linespacing=1.0, va="bottom")
        size = note.get_window_extent()
        at = axes.transData.transform((x, y))
        others = pixels[np.hypot(*(pixels - at).T) > rule["same"] * unit]

        def gaps(points, box):
            return np.hypot(*(np.maximum(0, np.maximum(low - points[:, i], points[:, i] - high)) for i, low, high in ((0, box[0], box[2]), (1, box[1], box[3]))))

        def leader(box):
            return at, (min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3]))

        def is_free(box, far):
            inside = frame.x0 <= box[0] and box[2] <= frame.x1 and frame.y0 <= box[1] and box[3] <= frame.y1
            own, clear = gaps(at[None], box)[0], rule["clear"] * unit
            if any(enters(line, box) or far and crosses(*line, *leader(box)) for line in leaders) or far and any(enters(leader(box), name) for name in taken):
                return False
            return inside and own >= (rule["line"] * unit if far else clear) and (gaps(others, box) >= (clear if far else own)).all() and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken)

        def boxes_at(far):
            lefts = [left for out in (rule["out"] if far else [rule["beside"]]) for left in (at[0] + out * unit, at[0] - out * unit - size.width)] + [at[0] - size.width / 2]
            bottoms = [at[1] - down * unit - size.height / 2 for down in rule["far" if far else "down"]]
            boxes = [(left, bottom, left + size.width, bottom + size.height) for left in lefts for bottom in bottoms]
            return sorted(boxes, key=lambda box: gaps(at[None], box)[0]) if far else boxes

        boxes = [(box, far) for far in (False, True) for box in boxes_at(far) if is_free(box, far)][:1]
        if not boxes:
            note.remove()  # the mark and the legend remain
            continue
        box, far = boxes[0]
        taken.append(box)
        note.set_position(((box[0] - at[0]) * 72 / figure.dpi, (box[1] - at[1]) * 72 / figure.dpi))
        if far:
            leaders.append(leader(box))
            axes.plot(*zip((x, y), axes.transData.inverted().transform(leaders[-1][1])), color="#333333", linewidth=0.5, zorder=2.6, label="_", gid="leader", scalex=False, scaley=False)
