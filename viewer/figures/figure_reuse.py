# SPDX-License-Identifier: BSD-3-Clause


# Miss-ratio curves from reuse distances: a part of the script after figure_curves.py.

REUSE_CURVES = 6  # data structures: those with most misses


def miss_ratios(distances, counts, capacities):
    """Of fully associative LRU caches of so many lines, on edges of bins: uses at that distance and above."""
    order = np.argsort(distances, kind="stable")
    behind = np.concatenate([np.cumsum(counts[order][::-1])[::-1], [0]])
    return behind[np.searchsorted(distances[order], capacities)] / counts.sum()


def levels_behind(result, link):
    """Bytes of the caches that references of a link may reach, by name: from the links and the machine file; as viewer/web/src/machine.ts."""
    links = result.file.get("links")
    ends = {} if links is None else {name: (links[name].attrs["from"], links[name].attrs["to"]) for name in links.attrs["names"] if name in links}
    behind = {ends[link][1]} if link in ends else set()
    while more := {end for begin, end in ends.values() if begin in behind} - behind:
        behind |= more
    sizes, units = {}, {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    for name, entry in re.findall(r'^ *- \{name: "?([^",}]+)"?,([^}]*)\}', result.file["machine/yaml"].asstr()[0], re.MULTILINE):
        size = re.search(r"(?:^|,) *size: (\d+) *([KMG]iB|B)?", entry)
        if size and name in behind:
            sizes[clean(name)] = int(size[1]) * units[size[2] or "B"]
    return sizes


def extend(ax, sizes):
    """To the next power of two, as larger caches gain nothing; the smallest cache is seen in any case (as viewer/web/src/views/reuse.ts)."""
    end = max([line.get_xdata()[-1] for line in ax.lines] + [min(sizes, default=0)])
    right = 2 ** np.ceil(np.log2(end))
    for line in ax.lines:
        line.set_data([*line.get_xdata(), right], [*line.get_ydata(), line.get_ydata()[-1]])
    ax.set_xlim(right=right)


def mark_levels(ax, sizes):
    """Where the capacities of caches lie, as far as the axis reaches."""
    low, high = ax.get_xlim()
    for name, size in sizes.items():
        if low <= size <= high:
            ax.vlines(size, 0, 1, transform=ax.get_xaxis_transform(), color="#8a94a3", linewidth=0.6, linestyle=":")
            ax.annotate(name, (size, 1), xycoords=ax.get_xaxis_transform(), xytext=(1.5, 0), textcoords="offset points", va="top", fontsize=6, color="#5b6573")


def reuse(result, options):
    """A panel for each link and size of lines: miss ratios over capacity, of all and of data structures."""
    if "reuse" not in result.file:
        raise Refused(f"{result.path}: has no reuse distances; they are in what 'cachetally run --reuse -o' writes")
    panels = []
    for name in result.file["reuse"].attrs["groups"]:
        group = result.file["reuse"][name]
        names, line = [clean(each) for each in group["structures"].asstr()[:]], int(group.attrs["line_bytes"])
        structure, phase, distance, count = (group["distances"][each][:] for each in ("structure", "phase", "distance", "count"))
        kept = np.isin(phase, options.phases) if options.phases else np.ones(len(phase), bool)
        if options.structure:
            if options.structure not in names:
                continue
            kept &= structure == names.index(options.structure)
        if kept.any():
            panels.append((f"{clean(group.attrs['link'])}, lines of {line} bytes", names, line, structure[kept], distance[kept], count[kept].astype(float),
                           group["curve/capacity"][:], levels_behind(result, group.attrs["link"])))
    if not panels:
        raise Refused(f"{result.path}: there are no references of these phases and data structures")
    figure, axes = plt.subplots(len(panels), 1, figsize=(WIDTHS[options.columns], 0.3 + 2.2 * len(panels)), squeeze=False, layout="constrained")
    for ax, (title, names, line, structure, distance, count, capacity, levels) in zip(axes[:, 0], panels):
        capacity = capacity[capacity > 0]
        curves = [("all", miss_ratios(distance, count, capacity))] if not options.structure else []
        own = [(names[i], count[structure == i].sum(), miss_ratios(distance[structure == i], count[structure == i], capacity)) for i in np.unique(structure)]
        own.sort(key=lambda each: -each[1] * each[2].sum())
        if len(own) > 1 or options.structure:
            curves += [(name, ratio) for name, _, ratio in own[:REUSE_CURVES]]
        for i, (name, ratio) in enumerate(curves):
            ax.plot(capacity * line, 100 * ratio, label=name, drawstyle="steps-post", **{**style(i), "marker": None})
        left = len(own) - REUSE_CURVES
        ax.set_title(title + (f"; {left} data structures with fewer misses are left out" if left > 0 else ""), loc="left", fontweight="bold")
        ax.set_xscale("log", base=2)
        ValueScale(np.concatenate([[100], *(100 * ratio for _, ratio in curves)]), wanted_of(options), 100).upright(ax)
        powers = [2**i for i in range(64) if capacity[0] * line <= 2**i <= capacity[-1] * line]
        ax.set_xticks(powers[:: -max(1, -(-len(powers) // (10 * options.columns)))] or [capacity[0] * line])
        ax.xaxis.set_major_formatter(lambda value, _: x_text(value, "bytes"))
        ax.tick_params("x", labelrotation=30)
        ax.minorticks_off()
        extend(ax, levels.values())
        mark_levels(ax, levels)
        ax.set_ylabel("misses / %")
        ax.grid(axis="y", color="#e4e8ee", linewidth=0.5)
        if len(curves) > 1 or options.structure:
            legend_beside(ax, **({"loc": "upper right", "bbox_to_anchor": (1.0, 1.0)} if options.columns == 1 else {}))
    axes[-1, 0].set_xlabel("capacity of a fully associative LRU cache")
    return headed(figure, result, options.phases and "phases " + ", ".join(map(str, options.phases)))
