# SPDX-License-Identifier: BSD-3-Clause


# Counts of lines over addresses: a part of the script after figure_axis.py.

def columns_of(group, names):
    """Columns of a table, which are equally long."""
    found = [group[name][:] for name in names]
    for name, column in zip(names, found):
        if len(column) != len(found[0]):
            raise Refused(f"{group.file.filename}:{group.name}: the column '{name}' has {len(column)} rows instead of {len(found[0])}; the file is damaged")
    return found


class Lines:
    """The lines of a level, with the rows of some addresses alone."""

    def __init__(self, result, level, structure):
        group = result.level(level)
        self.name = group.name.rsplit("/", 1)[-1]
        self.line = int(group.attrs["line_bytes"])
        self.address, self.phase, self.accesses, self.misses = columns_of(group, ("address", "phase", "accesses", "misses"))
        if structure:
            _, base, size = result.structure(structure)
            keep = (self.address + np.uint64(self.line) > base) & (self.address < base + size)
            self.address, self.phase = self.address[keep], self.phase[keep]
            self.accesses, self.misses = self.accesses[keep], self.misses[keep]
        self.where = f" in {structure}" if structure else ""
        self.title = f"{self.name} (lines of {self.line} bytes)"

    def __bool__(self):
        return len(self.address) > 0

    def values(self, what, phases):
        """Lines and their numbers over some phases (None: all)."""
        chosen = np.ones(len(self.phase), bool) if phases is None else np.isin(self.phase, phases)
        lines, at = np.unique(self.address[chosen], return_inverse=True)
        a, m = np.bincount(at, self.accesses[chosen]), np.bincount(at, self.misses[chosen])
        if what == "missrate":
            return lines, np.divide(100 * m, a, out=np.zeros_like(m), where=a > 0)
        return lines, {"accesses": a, "misses": m, "hits": np.maximum(a - m, 0)}[what]


def lines_of(result, names, structure):
    """Levels by name; where none is named, all that have accesses."""
    every = [Lines(result, name, structure) for name in names or result.levels()]
    found = [lines for lines in every if lines]
    if names and len(found) < len(every):
        empty = next(lines for lines in every if not lines)
        others = [lines.name for lines in (Lines(result, name, structure) for name in result.levels()) if lines]
        raise Refused(f"{result.path}: {empty.name} has no accesses{empty.where}; there are some of: {', '.join(others) or 'none'}")
    if not found:
        raise Refused(f"{result.path}: no level has accesses{f' in {structure}' if structure else ''}")
    return found


def one_of(result, options):
    """The level that is named, or the first that has accesses."""
    return lines_of(result, [options.level] if options.level else None, options.structure)[0]


def end_of_scale(clip, most, options):
    """The largest, or what all but a hundredth reach where the rest lies far above it and no scale was chosen; as viewer/web/src/panels.ts."""
    chosen = options.log or options.linear
    return clip if not chosen and most > DRAWING["scale"]["far_above"] * clip else most


def clip_of(values, what):
    """What all but a hundredth of the values above 0 reach. Rates are never cut."""
    known = np.sort(values[values > 0])
    share = DRAWING["scale"]["clip_quantile"]
    return known[min(len(known) - 1, int(share * len(known)))] if len(known) > 0 and what != "missrate" else np.inf


LABELS = {"accesses": "accesses per line", "misses": "misses per line", "hits": "hits per line", "missrate": "miss rate / %"}


def column_of(place, width, count):
    return np.clip((place / width + 1e-9).astype(int), 0, count - 1)


def columns(place, value, line, length, count):
    """Mean and most of the lines in each of `count` columns; NaN where there are none. A line that is wider than a column fills those it lies
    in, but is counted in the first."""
    width = length / count
    first = column_of(place, width, count)
    sums, lines = np.bincount(first, value, count), np.bincount(first, minlength=count)
    most = np.full(count, -np.inf)
    np.maximum.at(most, first, value)
    if line > width * 1.000001:
        last = np.minimum(count - 1, np.ceil((place + line) / width - 1e-9).astype(int) - 1)
        for further in range(1, int(np.max(last - first, initial=0)) + 1):
            reaches = first + further <= last
            np.maximum.at(most, first[reaches] + further, value[reaches])
    most[most < 0] = np.nan
    return np.divide(sums, lines, out=most.copy(), where=lines > 0), most


def strip(axes, axis, structures):
    """Names of the data structures under the axis."""
    axes.set_xlim(0, axis.length)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    width = axes.get_position().width * axes.figure.get_size_inches()[0]

    def below(points):
        return offset_copy(axes.get_xaxis_transform(), axes.figure, y=-points, units="points")

    for i, (name, base, size) in enumerate(structures):
        where = axis.stretch(base, size)
        if where is None:
            continue
        left, right = max(0, where[0]), min(axis.length, where[1])
        axes.plot([left, right], [0, 0], transform=below(8), clip_on=False, color=LIGHT["structures"][i % len(LIGHT["structures"])], linewidth=9,
                  solid_capstyle="butt", path_effects=[withStroke(linewidth=9.8, foreground="#8a94a3", capstyle="butt")])
        if (right - left) / axis.length * width * 72 > 4.2 * len(name):
            axes.text((left + right) / 2, 0, name, transform=below(8), ha="center", va="center_baseline", fontsize=7)


def scaled_label(what, log, of="", line="\n"):
    return LABELS[what] + of + (f"{line}(logarithmic)" if log else "")


def ground_of(values):
    """Where a logarithmic scale begins, so that the least is seen."""
    least = [value[value > 0].min() for value in values if (value > 0).any()]
    return min(least) / 1.6 if least else 1


def draw_histogram(axes, axis, lines, value, what, log, ground, end):
    """`value`: lines and their numbers. `ground`: of a logarithmic scale. `end`: of a linear one; columns that reach above it are marked."""
    address, value = value
    count = 900
    ground = ground if log else 0
    if not (value > 0).any():
        axes.text(0.5, 0.5, "nothing" if len(address) == 0 else f"no {what}" if what != "missrate" else "0 everywhere", transform=axes.transAxes,
                  ha="center", va="center", color="#777777")
    if len(address) > 0:
        mean, most = columns(axis.place(address), value, lines.line, axis.length, count)
        edges = np.arange(count + 1) * axis.length / count
        for height, alpha in ((most, 0.4), (mean, 1)):
            height = np.maximum(np.nan_to_num(height), ground)
            axes.stairs(height, edges, baseline=ground, fill=True, color=LIGHT[what], alpha=alpha, linewidth=0)
        above = np.count_nonzero(value > end)
        if above and not log:
            cut = np.flatnonzero(most > end)
            axes.plot((cut + 0.5) * axis.length / count, np.full(len(cut), 1.0), "|", transform=axes.get_xaxis_transform(), clip_on=False,
                      color=LIGHT["marker"], markersize=4, label="above")
            axes.set_title(f"{number(above)} line{'' if above == 1 else 's'} up to {number(value.max())}", loc="right", pad=3, fontsize=7,
                           color=LIGHT["marker"])
    if log:
        axes.set_yscale("log")
        axes.set_ylim(bottom=ground)
        axes.yaxis.set_major_locator(LogLocator(numticks=5))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, end * 1.06 if 0 < end < np.inf else None)
        axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: number(v)))


def chosen_text(options, count):
    """What of a run's phases and addresses a figure shows."""
    phases = f"all {count} phases" if options.phases is None else f"{phases_text(options.phases)} of {count}"
    return [phases if count > 1 else "", f"in {options.structure}" if options.structure else ""]


def level_text(result, lines, options):
    """The level that a figure of one shows, beside the others that it could show."""
    others = [each.name for each in (Lines(result, name, options.structure) for name in result.levels()) if each]
    return f"{one_among(lines.name, others)}, lines of {lines.line} bytes"


def histogram(result, options):
    all_lines = lines_of(result, options.level.split(",") if options.level else None, options.structure)
    axis = Axis(np.concatenate([each.address for each in all_lines]),
                np.concatenate([np.full(len(each.address), each.line) for each in all_lines]))
    count = len(all_lines)
    figure, axes = plt.subplots(count, 1, figsize=(WIDTHS[options.columns], 0.4 + 1.05 * count), squeeze=False,
                                layout="constrained")
    for row, lines in zip(axes[:, 0], all_lines):
        value = lines.values(options.what, options.phases)
        end = end_of_scale(clip_of(value[1], options.what), max(value[1], default=0), options)
        draw_histogram(row, axis, lines, value, options.what, options.log, ground_of([value[1]]), end)
        row.set_title(lines.title, loc="left", pad=3, fontweight="bold")
        row.set_ylabel(scaled_label(options.what, options.log))
    headed(figure, result, *chosen_text(options, result.phases()))
    figure.canvas.draw()
    for row in axes[:, 0]:
        strip(row, axis, result.structures)
    return figure


def phases_text(phases):
    """"phase 4", "phases 0-2, 7"."""
    parts = []
    for phase in phases:
        if parts and parts[-1][1] == phase - 1:
            parts[-1][1] = phase
        else:
            parts.append([phase, phase])
    listed = [f"{a}" if a == b else f"{a}-{b}" for a, b in parts]
    shown = listed if len(listed) <= 8 else [*listed[:8], "..."]
    return f"phase{'s' if len(phases) > 1 else ''} {', '.join(shown)}"


def phase_title(phase, name, inches):
    """"phase 4: solve", as long as there is room for it."""
    title = f"phase {phase}: {clean(name)}" if name else f"phase {phase}"
    most = max(12, int(inches / 0.062))  # the mean width of a character
    return title if len(title) <= most else title[:most - 1].rstrip() + "\u2026"


def small_multiples(result, options):
    lines = one_of(result, options)
    axis = Axis(lines.address, lines.line)
    phases = options.phases if options.phases is not None else [p for p in range(result.phases()) if (lines.phase == p).any()]
    if len(phases) > 40:
        raise Refused(f"{len(phases)} phases are too many for one figure; choose some with --phases, or the kind 'heat'")
    across = options.columns + (len(phases) > 4)
    rows = -(-(len(phases) + 1) // across)
    names = result.phase_names()
    named = any(names[phase] for phase in phases)
    below = "\n" if named else ""  # names are longer than what is left beside the note of outliers
    figure, axes = plt.subplots(rows, across, figsize=(WIDTHS[options.columns], 0.3 + (1.0 + 0.12 * named) * rows), squeeze=False, layout="constrained")
    cells = list(axes.flat)
    values = [lines.values(options.what, [phase]) for phase in phases]
    whole = lines.values(options.what, None)
    log = options.log
    ground = ground_of([whole[1], *(value for _, value in values)])

    def end_of(value):
        return end_of_scale(clip_of(value, options.what), max(value, default=0), options)

    end = end_of(np.concatenate([value for _, value in values])) if values else 0
    for cell, phase, value in zip(cells, phases, values):
        draw_histogram(cell, axis, lines, value, options.what, log, ground, end)
        cell.set_title(phase_title(phase, names[phase], WIDTHS[options.columns] / across - 0.45) + below, loc="left", pad=3)
    total = cells[len(phases)]
    draw_histogram(total, axis, lines, whole, options.what, log, ground, end_of(whole[1]))
    total.set_title("all phases" + below, loc="left", pad=3, fontweight="bold")
    # by factors the sum of all phases has room on the scale of each
    top = max((cell.get_ylim()[1] for cell in cells[:len(phases) + log]), default=1)
    for cell in cells[:len(phases) + log]:
        cell.set_ylim(top=top)
    for cell in cells[len(phases) + 1:]:
        cell.set_visible(False)
    figure.supylabel(scaled_label(options.what, log, f" of {lines.name}", " "), fontsize=7.5)
    empty = [phase for phase in range(result.phases()) if options.phases is None and phase not in phases]
    if empty:
        figure.supxlabel(f"left out: {phases_text(empty)}, without accesses", fontsize=7, color="#777777")
    headed(figure, result, level_text(result, lines, options), *chosen_text(options, result.phases()))
    figure.canvas.draw()
    for cell in cells[:len(phases) + 1]:
        strip(cell, axis, result.structures)
    return figure
