"""Figures for print from result files of cachetally: histograms over addresses, phases side by side, phases over time;
figure_sweep.py, figure_curves.py, figure_intrusion.py and figure_main.py go on. Run by `cachetally figure`, as one script."""
import argparse
import sys

try:
    import h5py
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, NullFormatter
    from matplotlib.transforms import offset_copy
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)  # asked for another Python

# tell them apart with any colour vision, and in grey (after Okabe and Ito)
COLOURS = {"accesses": "#0072b2", "misses": "#d55e00", "hits": "#00825f", "missrate": "#a8478a"}
CURVES = ["#0072b2", "#d55e00", "#00825f", "#a8478a", "#8a7300", "#4b4fc4", "#b03a2e", "#5d6878"]
MARKERS = "osD^vP*X"
WIDTHS = {1: 3.35, 2: 7.0}  # inches: a column of two, the whole page
PAGE = 4096

plt.rcParams.update({
    "font.family": "sans-serif", "font.size": 7.5, "axes.titlesize": 8, "axes.labelsize": 7.5, "legend.fontsize": 7,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "axes.linewidth": 0.6, "lines.linewidth": 1.1, "lines.markersize": 3.5,
    "axes.spines.top": False, "axes.spines.right": False, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "pdf.fonttype": 42, "svg.hashsalt": "cachetally", "svg.fonttype": "none",
})


class Refused(Exception):
    """What is asked for is not in the file; the message says what is."""


def number(value):
    """12345 as people read it on an axis: 12.3k."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"


class Axis:
    """Addresses side by side without the holes between them."""

    def __init__(self, address, line):
        """`line`: bytes of all lines, or of each."""
        pages = np.unique(address // PAGE)
        hole = max(4, len(pages) // 50)
        breaks = np.flatnonzero(np.diff(pages.astype(np.int64)) > hole)
        firsts = pages[np.r_[0, breaks + 1]] * PAGE
        order = np.argsort(address, kind="stable")
        begin = np.searchsorted(address[order], firsts)
        self.base = address[order][begin]
        self.end = np.maximum.reduceat((address + np.asarray(line, np.uint64))[order], begin)
        sizes = (self.end - self.base).astype(float)
        gap = 0.012 * sizes.sum() if len(sizes) > 1 else 0
        self.start = np.r_[0, np.cumsum(sizes + gap)[:-1]]
        self.length = self.start[-1] + sizes[-1]

    def place(self, address):
        segment = np.clip(np.searchsorted(self.base, address, side="right") - 1, 0, len(self.base) - 1)
        return self.start[segment] + (np.minimum(address, self.end[segment]) - self.base[segment])

    def stretch(self, base, size):
        """Where a structure lies; None where none of it is there."""
        base, end = np.uint64(base), np.uint64(base + size)
        inside = (self.base < end) & (self.end > base)
        if size == 0 or not inside.any():
            return None
        first, last = np.flatnonzero(inside)[[0, -1]]
        left = self.start[first] + max(0, int(base) - int(self.base[first]))
        return left, self.start[last] + min(int(end), int(self.end[last])) - int(self.base[last])


class Result:
    def __init__(self, path):
        self.path = path
        try:
            self.file = h5py.File(path, "r")
        except OSError as error:
            raise Refused(f"{path}: cannot be read: {error}") from None
        if self.file.attrs.get("format") != "cachetally result":
            raise Refused(f"{path}: is no result of cachetally")
        table = self.file["structures"] if "structures" in self.file else None
        self.structures = [] if table is None else [
            (name, int(base), int(size))
            for name, base, size in zip(table["name"].asstr()[:], table["base"][:], table["bytes"][:]) if size > 0]

    def levels(self):
        if "combined" not in self.file:
            if "levels" in self.file:  # of a run
                raise Refused(f"{self.path}: no histograms of levels are in the file: its links were not counted exactly (--no-errors), and its monitors "
                              "do not tell both sides of a level; run it without --no-errors, or look at what a monitor gave with cachetally view "
                              "or show --monitor NAME")
            raise Refused(f"{self.path}: no histograms of levels are in the file; the kinds sweep, curves and intrusion are for what sweep, probe and intrusion write")
        return [str(name) for name in self.file["combined"].attrs["names"]]

    def level(self, name):
        levels = self.levels()
        if name and name not in levels:
            raise Refused(f"{self.path}: there is no level '{name}'; there are: {', '.join(levels)}")
        return self.file["combined"][name or levels[0]]

    def structure(self, name):
        """NAME, or NAME:OFFSET:BYTES for a part of it."""
        name, *part = name.split(":")
        for each in self.structures:
            if each[0] == name:
                if not part:
                    return each
                try:
                    offset, size = map(int, part)
                except ValueError:
                    raise Refused(f"'{':'.join([name, *part])}' is no part of a structure; write e.g. {name}:0:4096 (offset and bytes)") from None
                if not 0 <= offset < offset + size <= each[2]:
                    raise Refused(f"{name} has {each[2]} bytes; {size} from {offset} are not all in it")
                return name, each[1] + offset, size
        raise Refused(f"{self.path}: there is no data structure '{name}'; there are: {', '.join(n for n, _, _ in self.structures)}")

    def phases(self):
        if "phases" in self.file:
            return len(self.file["phases/name"])
        return max((int(g["phase"][:].max()) + 1 for g in self.file["combined"].values() if len(g["phase"])), default=1)


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


HARDLY_SEEN = 50  # by how much a value lies below the largest; as viewer/spread.hpp


def is_uneven(values):
    """Whether more than half of the values above 0 would hardly be seen on a linear scale."""
    known = values[values > 0]
    return len(known) > 0 and 2 * np.count_nonzero(known * HARDLY_SEEN < known.max()) > len(known)


def is_logarithmic(options, *values):
    """Chosen, or because some of the values of lines are uneven; miss rates are linear unless chosen."""
    return options.log or (not options.linear and options.what != "missrate" and any(map(is_uneven, values)))


LABELS = {"accesses": "accesses per line", "misses": "misses per line", "hits": "hits per line", "missrate": "miss rate / %"}


def columns(place, value, line, length, count):
    """Mean and most of the lines in each of `count` columns; NaN where there are none."""
    width = length / count
    mean, most = np.full(count, np.nan), np.full(count, np.nan)
    first = np.clip((place / width).astype(int), 0, count - 1)
    sums, lines = np.bincount(first, value, count), np.bincount(first, minlength=count)
    peaks = np.zeros(count)
    np.maximum.at(peaks, first, value)
    mean[lines > 0], most[lines > 0] = sums[lines > 0] / lines[lines > 0], peaks[lines > 0]
    if line > width:  # lines wider than columns fill them
        reach = int(np.ceil(line / width))
        for column, height in zip(first, value):
            mean[column:column + reach] = most[column:column + reach] = height
    return mean, most


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
        axes.plot([left, right], [0, 0], transform=below(4), clip_on=False,
                  color=("#333333", "#999999")[i % 2], linewidth=2.2, solid_capstyle="butt")
        if (right - left) / axis.length * width * 72 > 4.2 * len(name):
            axes.text((left + right) / 2, 0, name, transform=below(7), ha="center", va="top", fontsize=7)


def scaled_label(what, log, of="", line="\n"):
    return LABELS[what] + of + (f"{line}(logarithmic)" if log else "")


def ground_of(values):
    """Where a logarithmic scale begins, so that the least is seen."""
    least = [value[value > 0].min() for value in values if (value > 0).any()]
    return min(least) / 1.6 if least else 1


def draw_histogram(axes, axis, lines, value, what, log, ground):
    """`value`: lines and their numbers. `ground`: of a logarithmic scale."""
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
            axes.stairs(height, edges, baseline=ground, fill=True, color=COLOURS[what], alpha=alpha, linewidth=0)
    if log:
        axes.set_yscale("log")
        axes.set_ylim(bottom=ground)
        axes.yaxis.set_major_locator(LogLocator(numticks=5))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: number(v)))


def histogram(result, options):
    all_lines = lines_of(result, options.level.split(",") if options.level else None, options.structure)
    axis = Axis(np.concatenate([each.address for each in all_lines]),
                np.concatenate([np.full(len(each.address), each.line) for each in all_lines]))
    count = len(all_lines)
    figure, axes = plt.subplots(count, 1, figsize=(WIDTHS[options.columns], 0.4 + 1.05 * count), squeeze=False,
                                layout="constrained")
    for row, lines in zip(axes[:, 0], all_lines):
        value = lines.values(options.what, options.phases)
        log = is_logarithmic(options, value[1])
        draw_histogram(row, axis, lines, value, options.what, log, ground_of([value[1]]))
        row.set_title(f"{lines.name}", loc="left", pad=3, fontweight="bold")
        row.set_ylabel(scaled_label(options.what, log))
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


def small_multiples(result, options):
    lines = one_of(result, options)
    axis = Axis(lines.address, lines.line)
    phases = options.phases if options.phases is not None else [p for p in range(result.phases()) if (lines.phase == p).any()]
    if len(phases) > 40:
        raise Refused(f"{len(phases)} phases are too many for one figure; choose some with --phases, or the kind 'heat'")
    across = options.columns + (len(phases) > 4)
    rows = -(-(len(phases) + 1) // across)
    figure, axes = plt.subplots(rows, across, figsize=(WIDTHS[options.columns], 0.3 + 1.0 * rows), squeeze=False, layout="constrained")
    cells = list(axes.flat)
    values = [lines.values(options.what, [phase]) for phase in phases]
    whole = lines.values(options.what, None)
    log = is_logarithmic(options, whole[1], *(value for _, value in values))
    ground = ground_of([whole[1], *(value for _, value in values)])
    for cell, phase, value in zip(cells, phases, values):
        draw_histogram(cell, axis, lines, value, options.what, log, ground)
        cell.set_title(f"phase {phase}", loc="left", pad=3)
    total = cells[len(phases)]
    draw_histogram(total, axis, lines, whole, options.what, log, ground)
    total.set_title("all phases", loc="left", pad=3, fontweight="bold")
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
    figure.canvas.draw()
    for cell in cells[:len(phases) + 1]:
        strip(cell, axis, result.structures)
    return figure


def heat_cells(lines, axis, what, rows, phases, count):
    """Means per line that is ever touched, by phase (rows) and column; NaN where no line is, 0 where none had any."""
    width = axis.length / count
    addresses, line = np.unique(lines.address, return_inverse=True)
    place = axis.place(addresses)
    first = np.clip((place / width).astype(int), 0, count - 1)
    row = lines.phase.astype(np.int64) * rows // phases
    a, m = (np.bincount(row * count + first[line], each, rows * count).reshape(rows, count)
            for each in (lines.accesses, lines.misses))
    touched = np.bincount(first, minlength=count)
    over = a if what == "missrate" else np.broadcast_to(touched, a.shape)
    value = {"accesses": a, "misses": m, "hits": np.maximum(a - m, 0), "missrate": 100 * m}[what]
    value = np.divide(value, over, out=np.zeros_like(value), where=over > 0)
    value[:, touched == 0] = np.nan
    if lines.line > width:  # lines wider than columns fill those that begin in them
        ends = np.ceil((place + lines.line) / width - 1e-9).astype(int)
        source = np.arange(count)
        for begin, end in zip(first, np.minimum(ends, count)):
            own = source[begin + 1:end]
            source[begin + 1:end] = np.where(touched[begin + 1:end] > 0, own, begin)
        value = value[:, source]
    return value


def heat(result, options):
    lines = one_of(result, options)
    axis = Axis(lines.address, lines.line)
    count, phases = 600, result.phases()
    rows = min(phases, 400)
    value = heat_cells(lines, axis, options.what, rows, phases, count)
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 0.7 + min(3.2, max(1.2, 0.11 * rows))), layout="constrained")
    shown = np.ma.masked_invalid(np.where(value > 0, value, np.nan))
    single = {"accesses": lines.accesses, "misses": lines.misses, "hits": np.maximum(lines.accesses - lines.misses, 0)}
    log = is_logarithmic(options, *([single[options.what]] if options.what in single else []))
    norm = LogNorm() if log else None
    image = axes.imshow(shown, aspect="auto", extent=(0, axis.length, phases - 0.5, -0.5), cmap="cividis", norm=norm, interpolation="nearest")
    axes.set_facecolor("#f0f2f5")
    axes.set_ylabel("phase")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(10, integer=True))
    bar = figure.colorbar(image, ax=axes, pad=0.01, aspect=30)
    bar.set_label(scaled_label(options.what, log, f" of {lines.name}"))
    bar.outline.set_linewidth(0.4)
    figure.canvas.draw()
    strip(axes, axis, result.structures)
    return figure
