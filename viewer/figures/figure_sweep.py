

# Sweeps: a part of the script after figure.py.

# column, title
METRICS = {"swapouts": ("swapouts", "swap-outs"), "error": ("error", "error / %"), "bytes": ("bytes_per_event", "bytes per event"),
           "bits": ("bits", "bits"), "area": ("area", "area / transistors"), "energy": ("energy", "energy per event"),
           "slowdown": ("slowdown", "slowdown / %")}
FRACTIONS = ("error", "slowdown")
FAR = 30  # slowdowns whose largest is more than so many times the smallest are drawn on logarithmic scales


def is_log(metric, values):
    """Whether a metric is drawn on a logarithmic scale: errors never, slowdowns where they lie far apart."""
    known = values[~np.isnan(values)]
    if metric == "error" or len(known) == 0 or known.min() <= 0:
        return False
    return metric != "slowdown" or known.max() > FAR * known.min()


def logarithmic(axes, values):
    """A logarithmic y axis with numbers as elsewhere; where it has less than two powers of ten, steps of 1, 2, 5."""
    axes.set_yscale("log")
    narrow = np.nanmax(values) < 100 * np.nanmin(values)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    axes.yaxis.set_minor_formatter(NullFormatter())


def interrupted(result):
    """Why the file is marked partial; nothing where it is whole."""
    attributes = result.file.attrs
    return "" if attributes.get("complete", 1) else f"it is marked partial: {attributes.get('incomplete', '')}"


def without_slowdown(result):
    """Versions that had no column for slowdowns that were asked for and not measured left them out."""
    return "run the sweep with --slowdown" + (f", to its end ({interrupted(result)})" if interrupted(result) else "")


def why_unknown(result):
    return interrupted(result) or result.file["sweep"].attrs.get("slowdown_unknown", "it was not run")


def sweep_rows(result, options):
    """Granularity (text), counters, and a function that gives the values of a metric, for one eviction policy."""
    if "sweep" not in result.file:
        raise Refused(f"{result.path}: is no sweep")
    rows = result.file["sweep/rows"]
    eviction = rows["eviction"].asstr()[:]
    chosen = eviction == (options.eviction or eviction[0])
    if not chosen.any():
        raise Refused(f"{result.path}: there is no eviction '{options.eviction}'; there are: {', '.join(dict.fromkeys(eviction))}")

    def values(metric):
        column = METRICS[metric][0]
        if column not in rows:
            how = without_slowdown(result) if metric == "slowdown" else "it is of an older version; run the sweep again"
            raise Refused(f"{result.path}: does not tell {column}; {how}")
        found = rows[column][:][chosen].astype(float)
        unknown = np.isnan(found)
        if metric != "slowdown" and unknown.any():  # slowdowns are unknown where a cell was not run
            raise Refused(f"{result.path}:/sweep/rows: the column '{column}' has nan, which is no number; the file is damaged")
        if len(found) != 0 and unknown.all():
            raise Refused(f"{result.path}: has no cell whose {metric} is known; {why_unknown(result)}")
        return found * (100.0 if metric in FRACTIONS else 1.0)

    return rows, chosen, rows["granularity"].asstr()[:][chosen], rows["counters"][:][chosen], values


def sweep(result, options):
    """The matrix with its numbers, and curves over the counters with published points."""
    options.metric = options.metric or "swapouts"
    rows, chosen, granularity, counters, values = sweep_rows(result, options)
    value = values(options.metric)
    published = misprint = None
    if "published" in rows and options.metric in ("swapouts", "error"):
        published = rows[f"published_{options.metric}"][:][chosen] * (100.0 if options.metric == "error" else 1.0)
        published = np.where(rows["published"][:][chosen] == 1, published, np.nan)
        # the misprints are among the swap-outs
        misprint = (rows["published_misprint"][:][chosen] == 1) & (options.metric == "swapouts")
    names, counts = list(dict.fromkeys(granularity)), sorted(set(counters.tolist()))
    across = options.columns == 2
    figure, axes = plt.subplots(1 if across else 2, 2 if across else 1, figsize=(WIDTHS[options.columns], 2.5 if across else 4.6), layout="constrained")
    matrix = np.full((len(names), len(counts)), np.nan)
    for g, c, v in zip(granularity, counters, value):
        matrix[names.index(g), counts.index(c)] = v
    log = is_log(options.metric, value)
    image = axes[0].imshow(matrix, aspect="auto", cmap="cividis", norm=LogNorm() if log else None)
    for i, g in enumerate(names):
        for j, c in enumerate(counts):
            if np.isnan(matrix[i, j]):
                continue
            red, green, blue, _ = image.cmap(image.norm(matrix[i, j]))
            text = number(matrix[i, j]) if options.metric not in FRACTIONS else f"{matrix[i, j]:.3g}" if options.metric == "slowdown" else f"{matrix[i, j]:.2f}"
            k = np.flatnonzero((granularity == g) & (counters == c))[0]
            if published is not None and not np.isnan(published[k]):
                paper = number(published[k]) if options.metric == "swapouts" else f"{published[k]:.2f}"
                text += f"\n({paper}{'*' if misprint[k] else ''})"
            axes[0].text(j, i, text, ha="center", va="center", fontsize=6, color="black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "white")
    axes[0].set_xticks(range(len(counts)), counts)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set(xlabel="counters", ylabel="granularity / lines")
    told = "" if published is None else " (published; * misprint)" if misprint.any() else " (published)"
    axes[0].set_title(METRICS[options.metric][1] + told, loc="left")
    for i, g in enumerate(names):
        of = granularity == g
        order = np.argsort(counters[of])
        axes[1].plot(counters[of][order], value[of][order], marker=MARKERS[i % len(MARKERS)], color=CURVES[i % len(CURVES)], label=f"G = {g}")
        if published is not None:
            clean = of & ~misprint & ~np.isnan(published)
            axes[1].plot(counters[clean], published[clean], linestyle="none", marker=MARKERS[i % len(MARKERS)], markerfacecolor="white",
                         markeredgecolor=CURVES[i % len(CURVES)], markeredgewidth=0.8)
    axes[1].set_xscale("log", base=2)
    axes[1].set_xticks(counts, counts)
    axes[1].minorticks_off()
    if log:
        logarithmic(axes[1], value)
    axes[1].set(xlabel="counters", ylabel=METRICS[options.metric][1])
    axes[1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), title="open: published" if published is not None else None, title_fontsize=7)
    axes[1].grid(axis="y", color="#e4e8ee", linewidth=0.5)
    return figure


def on_front(error, other):
    """The cells that no other is as good as in both, and better in one, from the least error on."""
    order = np.lexsort((other, error))
    front, best = [], np.inf
    for i in order:
        if other[i] < best or (front and error[i] == error[front[-1]] and other[i] == best):
            front.append(i)
            best = other[i]
    return front


def front(result, options):
    """Error against what it costs: every cell, and the front of those that no other beats in both."""
    options.metric = options.metric or "bytes"
    _, _, granularity, counters, values = sweep_rows(result, options)
    error, other = values("error"), values(options.metric)
    known = ~np.isnan(other)
    granularity, counters, error, other = granularity[known], counters[known], error[known], other[known]
    figure, axes = plt.subplots(figsize=(WIDTHS[options.columns], 2.6 if options.columns == 2 else 3.4), layout="constrained")
    for i, count in enumerate(sorted(set(counters.tolist()))):
        of = counters == count
        axes.plot(error[of], other[of], linestyle="none", marker=MARKERS[i % len(MARKERS)], color=CURVES[i % len(CURVES)], label=f"C = {count}")
    best = on_front(error, other)
    axes.plot(error[best], other[best], color="#333", linewidth=0.8, zorder=0, label="front")
    for i in best:
        axes.annotate(f"G = {granularity[i]}", (error[i], other[i]), xytext=(3, 3), textcoords="offset points", fontsize=6)
    if is_log(options.metric, other):
        logarithmic(axes, other)
    if not known.all():
        axes.set_title(f"{known.sum()} of {len(known)} cells; the others are not known", loc="left")
    axes.set(xlabel=METRICS["error"][1], ylabel=METRICS[options.metric][1])
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(color="#e4e8ee", linewidth=0.5)
    return figure
