# SPDX-License-Identifier: BSD-3-Clause


# Counts of lines over addresses, which the drawing core computed (figure_data.cpp): a part of the script after figure.py.


class Counts:
    """What figure_data.cpp wrote: the levels, the axis, where structures lie on it; pictures, or cells of a heat map."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.levels, self.units, self.busy = ([clean(name) for name in file.attrs[each]] for each in ("levels", "units", "busy"))
            self.line_bytes = file["line_bytes"][:]
            self.phases = int(file.attrs["phases"])
            self.across = int(file.attrs["across"])
            self.length = float(file["axis"].attrs["bytes"])
            self.stretches = list(zip(file["axis/start"][:], file["axis/bytes"][:]))
            self.marks = list(zip(*(file[f"axis/marks/{each}"][:].tolist() for each in ("place", "address", "label"))))
            self.holes = file["axis/holes"][:]
            self.places = list(zip(file["structures/from"][:], file["structures/to"][:]))
            self.pictures = [Picture(file[f"picture{i}"]) for i in range(sum(name.startswith("picture") for name in file))]
            self.shown = file["phases"][:].tolist() if "phases" in file else []
            self.cells = HeatCells(file) if "cells" in file else None

    def title(self, i):
        return f"{self.levels[i]} ({self.units[i]}s of {self.line_bytes[i]} bytes)"

    def level_text(self):
        """The level that a figure of one shows, beside the others that it could show."""
        return f"{one_among(self.levels[0], self.busy)}, {self.units[0]}s of {self.line_bytes[0]} bytes"


class Picture:
    """By column the mean and the most of its lines, NaN where there are none; of all lines how many there are, the least above 0 and the largest; the
    end of the scale, and how many lie above it."""

    def __init__(self, group):
        self.mean, self.most = group["mean"][:], group["most"][:]
        self.lines, self.above = int(group.attrs["lines"]), int(group.attrs["above"])
        self.least, self.largest, self.end = (float(group.attrs[each]) for each in ("least", "largest", "end"))


LABELS = {"accesses": "accesses per {unit}", "misses": "misses per {unit}", "hits": "hits per {unit}", "missrate": "miss rate / %",
          **{cause: f"{cause.replace('_', ' ')}\nmisses per {{unit}}" for cause in CAUSES}}


def below(axes, points):
    """Places on the axis, so far under it."""
    return offset_copy(axes.get_xaxis_transform(), axes.figure, y=-points, units="points")


def shortened(name, letters):
    """As much of a name as there is room for; nothing where that is little."""
    return name if len(name) <= letters else name[:int(letters) - 1] + "\u2026" if letters >= 4 else ""


def strip(axes, counts, structures, last=True):
    """Names of the data structures under the axis, and where it leaves out holes; under the `last` panel the addresses."""
    axes.set_xlim(0, counts.length)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    width = axes.get_position().width * axes.figure.get_size_inches()[0]
    for i, (name, (left, right)) in enumerate(zip(structures, counts.places)):
        if np.isnan(left):
            continue
        axes.plot([left, right], [0, 0], transform=below(axes, 8), clip_on=False, color=LIGHT["structures"][i % len(LIGHT["structures"])], linewidth=9,
                  solid_capstyle="butt", path_effects=[withStroke(linewidth=9.8, foreground="#8a94a3", capstyle="butt")])
        axes.text((left + right) / 2, 0, shortened(name, (right - left) / counts.length * width * 72 / 4.2), transform=below(axes, 8), ha="center",
                  va="center_baseline", fontsize=7)
    axes.vlines(counts.holes, 0, 1, transform=axes.get_xaxis_transform(), color="#8a94a3", linewidth=0.6, linestyle=(0, (2, 3)), label="holes")
    if last:
        addresses(axes, counts, 16 if any(not np.isnan(left) for left, _ in counts.places) else 4)


def addresses(axes, counts, points):
    """A line so far under the axis that breaks where address space is left out, with marks and labels, and what addresses they are, as on the page: those
    of the lines of levels are the program's."""
    looks = {"transform": below(axes, points), "clip_on": False, "color": "#8a94a3", "linewidth": 0.6}
    axes.text(0, 0, "virtual", transform=offset_copy(below(axes, points), axes.figure, x=-3, units="points"), ha="right", va="center_baseline", fontsize=6,
              color="#667080")
    for start, size in counts.stretches:
        axes.plot([start, start + size], [0, 0], solid_capstyle="butt", label="stretch", **looks)
    axes.plot([place for place, _, _ in counts.marks], [0] * len(counts.marks), **{**looks, "linestyle": "none"}, marker=3, markersize=2.5, markeredgewidth=0.6,
              label="marks")
    for _, address, label in counts.marks:
        if not np.isnan(label):
            axes.text(label, 0, f"0x{address:x}", transform=below(axes, points + 3.5), ha="center", va="top", fontsize=6, color="#667080")


def scaled_label(what, unit, log, of="", line="\n"):
    return LABELS[what].format(unit=unit) + of + (f"{line}(logarithmic)" if log else "")


def scale_of(pictures, what, log):
    """What pictures have in common: up to the highest of their ends. A logarithmic scale begins at the least, so that it is seen, and a tenth of the end."""
    end = max((each.end for each in pictures if np.isfinite(each.end)), default=0)
    least = min((each.least for each in pictures if each.least > 0), default=end)
    log = log and end > 0
    return ValueScale([min(least, end / 10) if log else 0, end], "log" if log else "linear", 100 if what == "missrate" else 1, about=3)


def draw_histogram(axes, length, picture, what, unit, scale):
    """Columns that reach above the end of a linear scale are marked."""
    ground, end = scale.low, picture.end
    if picture.largest == 0:
        axes.text(0.5, 0.5, "nothing" if picture.lines == 0 else f"no {what}" + " misses" * (what in CAUSES) if what != "missrate" else "0 everywhere", transform=axes.transAxes,
                  ha="center", va="center", color="#777777")
    if picture.lines > 0:
        count = len(picture.most)
        edges = np.arange(count + 1) * length / count
        for height, alpha in ((picture.most, 0.4), (picture.mean, 1)):
            height = np.maximum(np.nan_to_num(height), ground)
            axes.stairs(height, edges, baseline=ground, fill=True, color=COLOURS[what], alpha=alpha, linewidth=0)
        if picture.above and scale.spread == "linear":
            for size, label, some in ((4, "above", picture.most > end), (9, "largest", picture.most > picture.largest / 2)):  # large marks for the largest
                cut = np.flatnonzero(some)
                axes.plot((cut + 0.5) * length / count, np.full(len(cut), 1.0), "|", transform=axes.get_xaxis_transform(), clip_on=False, color=LIGHT["marker"], markersize=size, label=label)
            axes.set_title(f"{number(picture.above)} {unit}{'' if picture.above == 1 else 's'} up to {number(picture.largest)}", loc="right", pad=3, fontsize=7,
                           color=LIGHT["marker"])
    scale.upright(axes)


def chosen_text(options, count):
    """What of a run's phases and addresses a figure shows."""
    phases = f"all {count} phases" if options.phases is None else f"{phases_text(options.phases)} of {count}"
    return [phases if count > 1 else "", f"in {options.structure}" if options.structure else ""]


def histogram(result, options):
    counts = Counts(options.data)
    count = len(counts.pictures)
    figure, axes = plt.subplots(count, 1, figsize=(WIDTHS[options.columns], 0.55 + 1.05 * count), squeeze=False,
                                layout="constrained")
    for i, (row, picture) in enumerate(zip(axes[:, 0], counts.pictures)):
        draw_histogram(row, counts.length, picture, options.what, counts.units[i], scale_of([picture], options.what, options.log))
        row.set_title(counts.title(i), loc="left", pad=3, fontweight="bold")
        row.set_ylabel(scaled_label(options.what, counts.units[i], options.log))
    headed(figure, result, *chosen_text(options, counts.phases))
    figure.canvas.draw()
    for i, row in enumerate(axes[:, 0]):
        strip(row, counts, result.structures, i + 1 == count)
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
    counts = Counts(options.data)
    phases, log = counts.shown, options.log
    across = counts.across
    rows = -(-(len(phases) + 1) // across)
    names = result.phase_names() or [""] * counts.phases
    named = any(names[phase] for phase in phases)
    below = "\n" if named else ""  # names are longer than what is left beside the note of outliers
    figure, axes = plt.subplots(rows, across, figsize=(WIDTHS[options.columns], 0.45 + (1.0 + 0.12 * named) * rows), squeeze=False, layout="constrained")
    cells = list(axes.flat)
    # by factors the sum of all phases has room on the scale of each
    alone = len(phases) + log
    scales = [scale_of(some, options.what, log) for some in (counts.pictures[:alone], counts.pictures[alone:])]
    for i, (cell, picture) in enumerate(zip(cells, counts.pictures)):
        draw_histogram(cell, counts.length, picture, options.what, counts.units[0], scales[i >= alone])
    for cell, phase in zip(cells, phases):
        cell.set_title(phase_title(phase, names[phase], WIDTHS[options.columns] / across - 0.45) + below, loc="left", pad=3)
    cells[len(phases)].set_title("all phases" + below, loc="left", pad=3, fontweight="bold")
    for cell in cells[len(phases) + 1:]:
        cell.set_visible(False)
    figure.supylabel(scaled_label(options.what, counts.units[0], log, f" of {counts.levels[0]}", " "), fontsize=7.5)
    empty = [phase for phase in range(counts.phases) if options.phases is None and phase not in phases]
    if empty:
        figure.supxlabel(f"left out: {phases_text(empty)}, without accesses", fontsize=7, color="#777777")
    headed(figure, result, counts.level_text(), *chosen_text(options, counts.phases))
    figure.canvas.draw()
    for i, cell in enumerate(cells[:len(phases) + 1]):
        strip(cell, counts, result.structures, i + across > len(phases))
    return figure
