# SPDX-License-Identifier: BSD-3-Clause
"""Figures for print from result files of cachetally. The other parts, in the order of figure.cpp, go on; `cachetally figure` runs them
as one script."""
import argparse
import copy
import itertools
import re
import sys
import textwrap

try:
    import h5py
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.colors import FuncNorm, ListedColormap, LogNorm, Normalize, to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator
    from matplotlib.transforms import offset_copy
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)  # asked for another Python

# DRAWING is viewer/drawing.json, which the page reads, too; its colours can be told apart with any colour vision (after Okabe and Ito)
LIGHT = DRAWING["light"]
CAUSES = ("first_use", "invalidated", "capacity", "conflict")
COUNTS = ("accesses", "misses", "hits", "missrate", *CAUSES)
COLOURS = {**LIGHT, **dict(zip(CAUSES, LIGHT["causes"]))}
CURVES = LIGHT["curves"]
MARKERS = "osD^vP*X"
DASHES = ["-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1))]
WIDTHS = {1: 3.35, 2: 7.0}  # inches: a column of two, the whole page

plt.rcParams.update({
    "font.family": "sans-serif", "font.size": 7.5, "axes.titlesize": 8, "axes.labelsize": 7.5, "legend.fontsize": 7,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "axes.linewidth": 0.6, "lines.linewidth": 1.1, "lines.markersize": 3.5,
    "axes.spines.top": False, "axes.spines.right": False, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "pdf.fonttype": 42, "svg.hashsalt": "cachetally", "svg.fonttype": "none", "text.parse_math": False,
})


class Refused(Exception):
    """What is asked for is not in the file; the message says what is."""


def number(value):
    """12345 as people read it on an axis: 12.3k."""
    sign = "−" if value < 0 else ""
    for size, suffix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:  # what is rounded to it
            return sign + f"{abs(value) / size:.3g}{suffix}"
    return sign + f"{abs(value):.3g}"


def ramp(at, name="ramp"):
    """Colours (0 .. 255) of places from 0 to 1: little is light; of the ramp "difference" from blue over neutral to orange."""
    known = np.array([to_rgb(each) for each in LIGHT[name]]) * 255
    at = np.clip(np.asarray(at, float), 0, 0.9999) * (len(known) - 1)
    below, share = at.astype(int), (at % 1)[..., None]
    return np.floor(known[below] * (1 - share) + known[below + 1] * share + 0.5).astype(np.uint8)


def distinct_colours(count):
    """As many as there are curves, each another, as distinctColours() in viewer/web/src/paint.ts has them."""
    if count <= len(CURVES):
        return CURVES[:count]
    many = np.array([to_rgb(each) for each in LIGHT["many"]]) * 255
    places = np.linspace(0, len(many) - 1, count)
    parts = [np.floor(np.interp(places, range(len(many)), part) + 0.5).astype(int) for part in many.T]
    return ["#%02x%02x%02x" % each for each in zip(*parts)]


def clean(text):
    """Names from files, on one line."""
    return "".join(each if each.isprintable() else "\ufffd" for each in str(text))


def one_among(chosen, every):
    """"fifo (of fifo, lru)", so that nobody takes it for all there is."""
    return chosen if len(every) < 2 else f"{chosen} (of {', '.join(every)})"


def style(i):
    """How curve i is drawn: after eight colours come other marks and dashes; 64 differ as points alone, 256 as curves."""
    turn = i // len(CURVES)
    return {"color": CURVES[i % len(CURVES)], "marker": MARKERS[(i + turn) % len(MARKERS)],
            "linestyle": DASHES[(turn + turn // len(MARKERS)) % len(DASHES)]}


def distinct(curves):
    """Of curves (name, x, y) that are equal and would hide each other one, with all their names."""
    found = {}
    for name, x, y in curves:
        found.setdefault((np.asarray(x, float).tobytes(), np.asarray(y, float).tobytes()), (x, y, []))[2].append(name)
    return [("\n".join(names), x, y) for x, y, names in found.values()]


def tick_counts(axes, places, counts, points, scale=float):
    """Numbers at places along an axis of so many points, but for those that would stand over the one before."""
    low, high = scale(places[0]), scale(places[-1])
    texts, free = [], -np.inf
    for place, count in zip(places, counts):
        at = (scale(place) - low) / ((high - low) or 1) * points
        half = 2.3 * len(str(count))
        texts.append(str(count) if at - half >= free else "")
        free = at + half + 2 if texts[-1] else free
    axes.set_xticks(places, texts)
    axes.minorticks_off()


def legend_beside(axes, handles=None, **more):
    """To the right of the axes, in as many columns as it needs to be no higher than the figure."""
    handles = handles or axes.get_legend_handles_labels()[0]
    rows = max(4, int((axes.figure.get_size_inches()[1] - 0.5) * 72 / 11))
    lines = sum(1 + each.get_label().count("\n") for each in handles)
    axes.legend(handles=handles, frameon=False, **{"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "ncols": -(-lines // rows), **more})


def headed(figure, result, *selected, program=""):
    """The title: what was run on what, and what of it is shown. `program`: some of what was run."""
    text = ", ".join(clean(each) for each in (result.title(program), *selected) if each)
    width = figure.get_size_inches()[0]
    figure.suptitle(textwrap.fill(text, int(width * 17)), x=0.06 / width, ha="left", fontsize=7.5, color="#333333")
    return figure


class Result:
    def __init__(self, path):
        self.path, self.is_worst = path, False
        try:
            self.file = h5py.File(path, "r")
        except OSError as error:
            raise Refused(f"{path}: cannot be read: {error}") from None
        if self.file.attrs.get("format") != "cachetally result":
            raise Refused(f"{path}: is no result of cachetally")
        tables = [self.file[path] for path in ("structures", "attribution/blocks") if path in self.file]
        self.structures = [clean(name) for table in tables for name, size in zip(table["name"].asstr()[:], table["bytes"][:]) if size > 0]

    def title(self, some=""):
        """"lu n=128 on schulz2002", as far as the file says it; `some`: of the programs."""
        program, machine = self.program()
        program = some or program
        return " ".join([program] * bool(program) + ["on", machine] * bool(machine)) + (f"; partial: {self.interrupted()}" if self.interrupted() else "")

    def program(self):
        """"lu n=128" and "schulz2002"."""
        group, machine = self.file.get("input"), self.file.get("machine")
        words = [] if group is None else [str(group.attrs["name"]), *(group["settings"].asstr()[:] if "settings" in group else [])]
        return " ".join(words), "" if machine is None else str(machine.attrs["name"])

    def interrupted(self):
        """Why the file is marked partial; nothing where it is whole."""
        attributes = self.file.attrs
        return "" if attributes.get("complete", 1) else str(attributes.get("incomplete", "") or "no reason is given")

    def phase_names(self):
        """What the program calls each phase; empty: no name (docs/format.md). None at all where the file does not tell phases apart."""
        if "phases" not in self.file:
            return []
        column = self.file["phases/name"]
        names = list(column.asstr("utf-8", "replace")[:])
        return names if "description" in column.attrs else ["" if name == f"phase {i}" else name for i, name in enumerate(names)]
