# SPDX-License-Identifier: BSD-3-Clause


# What monitors cost: a part of the script after figure.py.

COSTS = {"cycles": ("extra_cycles", "extra cycles"), "slowdown": ("extra_cycles", "slowdown / %"), "stalled": ("stall_cycles", "stalled cycles"),
         "records": ("swapouts", "records"), "lost": ("lost_records", "lost records"), "bytes": ("bytes", "bytes per event")}


def intrusion(result, options):
    """A panel for each link: a cost over the number of counters, a curve for each granularity, drain and ring."""
    if "intrusion" not in result.file:
        raise Refused(f"{result.path}: has no intrusion; it is in what 'cachetally intrusion -o' writes")
    rows = result.file["intrusion/rows"]
    column, title = COSTS[options.metric or "cycles"]
    value = rows[column][:].astype(float)
    if len(value) == 0:
        raise Refused(f"{result.path}: has no configuration whose cost is known")
    if options.metric == "slowdown":
        cycles = int(result.file["intrusion"].attrs["cycles"])
        if cycles == 0:
            raise Refused(f"{result.path}: the program takes no time without monitor, so that there is no slowdown; take another --metric")
        value *= 100 / cycles
    elif options.metric == "bytes":
        value /= np.maximum(1, rows["events"][:])
    link, granularity, drain = (rows[name].asstr()[:] for name in ("link", "granularity", "drain"))
    counters, capacity = rows["counters"][:], rows["capacity"][:]
    one_ring, one_drain = len(set(capacity)) == 1, len(set(drain)) == 1
    labels = np.array([f"G = {g}" + ("" if one_drain else f", {d}") + ("" if one_ring else f", ring {c}") for g, d, c in zip(granularity, drain, capacity)])
    links, names, counts = list(dict.fromkeys(link)), list(dict.fromkeys(labels)), sorted(set(counters.tolist()))
    figure, panels = plt.subplots(len(links), 1, figsize=(WIDTHS[options.columns], 0.3 + 2.0 * len(links)), squeeze=False, sharex=True, layout="constrained")
    scale, drawn = ValueScale(value, "auto", 100 if options.metric == "slowdown" else 1), []
    for axes, each in zip(panels[:, 0], links):
        curves = []
        for name in names:
            of = np.flatnonzero((link == each) & (labels == name))
            curves.append((name, *(column[of[np.argsort(counters[of])]] for column in (counters, value))))
        drawn.append([name for name, x, _ in distinct(curves) if len(x) > 0])
        for name, x, y in distinct(curves):
            if len(x) > 0:
                axes.plot(x, y, label=name, clip_on=False, **style(names.index(name.split("\n")[0])))
        axes.set_xscale("log", base=2)
        scale.upright(axes)
        axes.set_title(clean(each), loc="left", fontweight="bold")
        axes.set_ylabel(scale.title(title))
        axes.grid(axis="y", color="#e4e8ee", linewidth=0.5)
    panels[-1, 0].set_xlabel("counters")
    one = all(each == drawn[0] for each in drawn)  # else each panel has its own
    for axes in panels[-1:, 0] if one and options.columns == 1 else panels[:1, 0] if one else panels[:, 0]:
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.25), "ncols": 2}
        legend_beside(axes, **(below if options.columns == 1 else {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}))
    headed(figure, result)
    figure.canvas.draw()
    for axes in panels[:, 0]:
        tick_counts(axes, counts, counts, 72 / figure.dpi * 0.9 * axes.get_window_extent().width, np.log2)
    return figure
