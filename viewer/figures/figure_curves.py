# SPDX-License-Identifier: BSD-3-Clause


# Response curves of probes: a part of the script after figure.py.

Y_NAMES = {"cycles": "cycles per load", "misses": "misses per load"}
X_NAMES = {"bytes": "footprint", "pages": "pages", "bytes per load": "stride"}


def x_text(value, unit):
    """32 KiB where x is in bytes."""
    if unit == "pages":
        return f"{value:,.0f}"
    for size, suffix in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= size:
            return f"{value / size:.3g} {suffix}"
    return f"{value:.0f} B"


def variant_of(stored):
    """Older files call robust tests hardened."""
    return "robust" if stored == "hardened" else stored


class Curve:
    """A response curve, with what its test concluded from it."""

    def __init__(self, group, findings):
        self.test, self.variant, self.name = (str(group.attrs[each]) for each in ("test", "variant", "name"))
        self.variant = variant_of(self.variant)
        self.x, self.value = group["x"][:], group["value"][:]
        if len(self.x) != len(self.value) or not (np.isfinite(self.x).all() and np.isfinite(self.value).all()):
            raise Refused(f"{group.file.filename}: {group.name}: x and value are to be as many numbers each; the file is damaged")
        self.x_unit, self.unit = str(group["x"].attrs["units"]), str(group["value"].attrs["units"])
        self.knocked_out = group["knocked_out"][:] == 1 if "knocked_out" in group else np.zeros(len(self.x), bool)
        own = [f for f in findings if (f["test"], f["variant"]) == (self.test, self.variant) and not np.isnan(f["value"])]
        parameter = {"bytes": "capacity", "pages": "entries"}.get(self.x_unit)
        self.edges = sorted((f for f in own if f["parameter"] == parameter), key=lambda f: f["value"])
        self.plateaus = [] if self.unit != "cycles" else list(filter(None, map(self.plateau, (f for f in own if f["parameter"] == "latency"))))

    def plateau(self, finding):
        """What a load costs from one edge to the next; None where nobody knows how far it reaches."""
        levels = [edge["level"] for edge in self.edges] + ["memory"]
        if not self.edges or finding["level"] not in levels:
            return None
        at = levels.index(finding["level"])
        left = self.edges[at - 1]["value"] if at > 0 else self.x[0]
        right = min(self.x[-1], self.edges[at]["value"]) if at < len(self.edges) else self.x[-1]
        return (left, right, finding) if left < right else None


def all_curves(result):
    if "curves" not in result.file:
        raise Refused(f"{result.path}: has no response curves; they are in what 'cachetally probe -o' writes")
    table = result.file["findings"]
    columns = {name: table[name].asstr()[:] if h5py.check_string_dtype(table[name].dtype) else table[name][:]
               for name in ("test", "variant", "level", "parameter", "value", "low", "high", "truth")}
    columns["variant"] = [variant_of(each) for each in columns["variant"]]
    findings = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return [Curve(group, findings) for group in result.file["curves"].values()]


def chosen_curves(result, options, metric):
    """Those of a metric, of some tests and a variant; a refusal names what there is."""
    def names(found, of):
        return ", ".join(dict.fromkeys(of(each) for each in found)) or "none"

    every = [curve for curve in all_curves(result) if curve.x_unit in X_NAMES and len(curve.x) > 0]
    found = [curve for curve in every if curve.unit == metric]
    if not found:
        drawn = [curve for curve in every if curve.unit in ("cycles", "misses")]
        raise Refused(f"{result.path}: has no curves of {metric} over a footprint or pages; there are curves of: {names(drawn, lambda c: c.unit)}; "
                      "others are not drawn: 'cachetally show' prints them")
    for test in options.test.split(",") if options.test else []:
        if test not in [curve.test for curve in found]:
            raise Refused(f"{result.path}: there are no curves of {metric} of the test '{test}'; there are those of: {names(found, lambda c: c.test)}")
    found = [curve for curve in found if not options.test or curve.test in options.test.split(",")]
    chosen = [curve for curve in found if options.variant in ("", curve.variant)]
    if not chosen:
        raise Refused(f"{result.path}: no curve there is {options.variant}; there are: {names(found, lambda c: f'{c.test} {c.variant}')}")
    return chosen


def draw_curve(axes, curve, look, label):
    """`label`: None where an equal curve is drawn already."""
    kept, colour = ~curve.knocked_out, look["color"]
    if label:
        axes.plot(curve.x[kept], curve.value[kept], markersize=2, linewidth=0.9, label=label, **look)
    axes.plot(curve.x[~kept], curve.value[~kept], linestyle="none", marker="x", markersize=3, markeredgewidth=0.7, color=colour)
    for edge in curve.edges:
        axes.axvspan(min(edge["low"], edge["value"]), max(edge["high"], edge["value"]), color=colour, alpha=0.18, linewidth=0)
        axes.axvline(edge["value"], color=colour, linewidth=0.8, linestyle=(0, (5, 3)))
        if edge["truth"] > 0:
            axes.plot(edge["truth"], 0, marker="^", markersize=4, color="#222222", transform=axes.get_xaxis_transform(), clip_on=False, zorder=5)
    for left, right, finding in curve.plateaus:
        axes.fill_between([left, right], finding["low"], finding["high"], color=colour, alpha=0.15, linewidth=0)
        axes.hlines(finding["value"], left, right, color=colour, linewidth=0.8, linestyle=":")


def name_edges(axes, panel, colours, width):
    """Names over the axes, in two rows where they are close."""
    low, high = np.log2(axes.get_xlim())
    free, seen = [-np.inf, -np.inf], set()
    edges = [(edge, colour, curve.x_unit) for curve, colour in zip(panel, colours) for edge in curve.edges]
    for edge, colour, unit in sorted(edges, key=lambda each: each[0]["value"]):
        text = f"{edge['level']} {x_text(edge['value'], unit)}"
        at = (np.log2(edge["value"]) - low) / (high - low) * width * 72
        half = 1.75 * len(text)
        row = next((i for i, end in enumerate(free) if at - half >= end), None)
        if row is None or text in seen:
            continue
        axes.annotate(text, (edge["value"], 1), xycoords=axes.get_xaxis_transform(), xytext=(0, 2 + 7.5 * row), textcoords="offset points",
                      ha="center", va="bottom", fontsize=6, color=colour)
        free[row] = at + half + 3
        seen.add(text)


def label_of(curve, panel):
    """What tells a curve from the others of its panel."""
    name = curve.name.replace("_", " ")
    if len({each.name for each in panel}) == 1:
        return curve.variant
    return name if len({each.variant for each in panel}) == 1 else f"{name}, {curve.variant}"


def twin_key(curve):
    return curve.test, curve.variant, curve.name, curve.x_unit


def twins_beside(options, metric):
    """The curves of the file that is laid over the first, by what tells them apart."""
    if not options.beside:
        return {}
    return {twin_key(c): c for c in chosen_curves(Result(options.beside), options, metric)}


def draw_twin(axes, curve, twins, look, label):
    """The same curve of the other file, in its colour."""
    twin = twins.get(twin_key(curve))
    if twin is None:
        return
    axes.plot(twin.x, twin.value, linestyle=(0, (4, 2)), linewidth=0.9, color=look["color"], label=label)


def curve_axes(axes, panel, metric, twins):
    unit = panel[0].x_unit
    axes.set_xscale("log", base=2)
    low, high = min(c.x[0] for c in panel), max(c.x[-1] for c in panel)
    axes.set_xlim(low / 1.15, high * 1.15)
    powers = 2.0 ** np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
    axes.set_xticks(powers[::-(-len(powers) // 7) or 1], minor=False)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda v, _: x_text(v, unit))
    every = [c for curve in panel for c in (curve, twins.get(twin_key(curve))) if c]
    values = np.concatenate([c.value for c in every])
    steep = values.min() > 0 and values.max() > DRAWING["scale"]["steep"] * values.min()
    plateaus = [finding["value"] for curve in panel for *_, finding in curve.plateaus]
    ValueScale(np.append(values, plateaus), "log" if steep else "linear").upright(axes)
    axes.set(xlabel=X_NAMES[unit], ylabel=Y_NAMES[metric])
    axes.grid(axis="y", color="#e4e8ee", linewidth=0.5)


def curves(result, options):
    """A panel for each test: its curves over each other, edges and plateaus as wide as their intervals."""
    metric = options.metric or "cycles"
    twins, other = twins_beside(options, metric), options.beside.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    panels = {}
    for curve in chosen_curves(result, options, metric):
        panels.setdefault((curve.test, curve.x_unit), []).append(curve)
    across = min(options.columns, len(panels))
    rows = -(-len(panels) // across)
    figure, grid = plt.subplots(rows, across, figsize=(WIDTHS[options.columns], 0.2 + 2.1 * rows), squeeze=False, layout="constrained")
    cells = list(grid.flat)
    for axes, panel in zip(cells, panels.values()):
        colours = [style(i)["color"] for i in range(len(panel))]
        names = [label_of(curve, panel) for curve in panel]
        labels = {name.split("\n")[0]: name for name, _, _ in distinct((name, c.x[~c.knocked_out], c.value[~c.knocked_out]) for name, c in zip(names, panel))}
        for i, (curve, name) in enumerate(zip(panel, names)):
            draw_curve(axes, curve, style(i), labels.get(name))
            draw_twin(axes, curve, twins, style(i), f"{name.split(chr(10))[0]}, {other}")
        curve_axes(axes, panel, metric, twins)
        axes.set_title(panel[0].test, loc="left", pad=18 if any(c.edges for c in panel) else 4, fontweight="bold")
        if len(panel) > 2 and not twins:
            legend_beside(axes)
        else:
            axes.legend(frameon=False, loc="best")
        name_edges(axes, panel, colours, WIDTHS[options.columns] / across - 0.6)
    for axes in cells[len(panels):]:
        axes.set_visible(False)
    return headed(figure, result)
