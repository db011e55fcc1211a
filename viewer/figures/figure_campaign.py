# SPDX-License-Identifier: BSD-3-Clause


# Campaigns: medians by parameters: a part of the script after figure_sweep.py.

MOST_LINES = 12  # of one picture


def size_text(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:g} B"


class Parameter:
    """What points differ by: the values, numbers from the least on, and the place of each point's among them (-1: none)."""

    def __init__(self, name, dataset):
        self.name = name
        self.is_number = not h5py.check_string_dtype(dataset.dtype)
        column = dataset[:] if self.is_number else dataset.asstr()[:]
        known = ~np.isnan(column) if self.is_number else column != ""
        self.values = list(np.unique(column[known])) if self.is_number else list(dict.fromkeys(column[known]))
        places = {value: i for i, value in enumerate(self.values)}
        self.of = np.array([places[value] if there else -1 for value, there in zip(column, known)], int)

    def text(self, place):
        value = self.values[place]
        if not self.is_number:
            return clean(value)
        return size_text(value) if self.name.endswith(".size") else f"{value:g}"


class Campaign:
    def __init__(self, result):
        if "campaign" not in result.file:
            raise Refused(f"{result.path}: is no campaign")
        self.path, self.group = result.path, result.file["campaign"]
        self.parameters = [Parameter(str(name), self.group[name]) for name in self.group.attrs["parameters"]]
        self.measures = [str(name) for name in self.group.attrs["measures"]]
        self.rates = [f"miss_rate_{name[9:]}" for name in self.measures if name.startswith("accesses_") and f"misses_{name[9:]}" in self.measures]

    def parameter(self, option, name):
        for each in self.parameters:
            if each.name == name:
                return each
        raise Refused(f"{self.path}: {option}: there is no parameter '{name}'; there are: {', '.join(each.name for each in self.parameters)}")

    def is_measure(self, name):
        return name in self.measures or name in self.rates

    def values(self, option, name):
        """Fractions in percent."""
        if not self.is_measure(name):
            raise Refused(f"{self.path}: {option}: there is no measure '{name}'; there are: {', '.join(self.measures + self.rates)}")
        if name in self.rates:
            misses, accesses = (self.group[f"{what}_{name[10:]}"][:].astype(float) for what in ("misses", "accesses"))
            return 100 * np.divide(misses, accesses, out=np.full(len(misses), np.nan), where=accesses > 0)
        return self.group[name][:].astype(float) * (100 if name in FRACTIONS else 1)

    def interesting(self):
        """Those that differ; those that most points have first, numbers, and those with most values; seeds only repeat. As viewer/campaign_view.cpp."""
        differing = [each for each in self.parameters if len(each.values) > 1 and each.name != "seed"]
        return sorted(differing, key=lambda each: (2 * np.sum(each.of < 0) > len(each.of), not each.is_number, -len(each.values)))

    def default_measure(self):
        order = ["error", *self.rates, *self.measures]
        return next((name for name in order if self.is_measure(name) and not np.isnan(self.values("--value", name)).all()), self.measures[0])

    def chosen(self, where):
        """Which points "NAME=VALUE,..." is true of; of one name several values: any of them."""
        keep, wanted = np.full(len(self.group["point"]), True), {}
        for part in filter(None, where.split(",")):
            name, sign, value = (each.strip() for each in part.partition("="))
            parameter = self.parameter("--where", name)
            texts = [{parameter.text(i), str(each), f"{each:g}" if parameter.is_number else each} for i, each in enumerate(parameter.values)]
            places = [i for i, each in enumerate(texts) if value in each]
            if not places:
                some = ", ".join(parameter.text(i) for i in range(min(20, len(texts))))
                raise Refused(f"{self.path}: --where {name}{sign}{value}: no point has it; the values of {name} are: {some}")
            wanted.setdefault(name, (parameter, []))[1].extend(places)
        for parameter, places in wanted.values():
            keep &= np.isin(parameter.of, places)
        return keep


def medians(keys, values):
    """The median of the known values by key (a row of places), and how many they are; keys with -1 are left out."""
    found = {}
    for key, value in zip(map(tuple, keys), values):
        if min(key, default=0) >= 0 and not np.isnan(value):
            found.setdefault(key, []).append(value)
    return {key: (float(np.median(own)), len(own)) for key, own in found.items()}


def ticks_across(axes, parameter, at, places, scale=float):
    """The values below the axis: numbers where there is place, words aslant where they would stand over each other."""
    texts = [parameter.text(place) for place in places]
    points = 0.7 * 72 * axes.figure.get_size_inches()[0] / axes.get_gridspec().ncols
    if parameter.is_number:
        tick_counts(axes, at, texts, points, scale)
    else:
        axes.set_xticks(at, texts, **({"rotation": 30, "ha": "right"} if 4.5 * sum(map(len, texts)) > points else {}))
    axes.set_xlabel(clean(parameter.name))


def draw_lines(axes, x, lines, cells, facet):
    """A line for each value of `lines` over those of x."""
    for i, line in enumerate(sorted({key[1] for key in cells if key[2] == facet})):
        places = sorted(key[0] for key in cells if key[1:] == (line, facet))
        at = [x.values[place] if x.is_number else place for place in places]
        axes.plot(at, [cells[place, line, facet][0] for place in places], label=f"{lines.name} {lines.text(line)}" if lines else "median", clip_on=False,
                  **{**style(i), "linestyle": DASHES[i % len(DASHES)]})  # one that lies on another shows through its gaps
    places = sorted({key[0] for key in cells})
    far = x.is_number and x.values[0] > 0 and x.values[-1] >= 8 * x.values[0]
    if far:
        axes.set_xscale("log", base=2)
    ticks_across(axes, x, [x.values[place] for place in places] if x.is_number else places, places, np.log2 if far else float)
    axes.grid(axis="y", color="#e4e8ee", linewidth=0.5)


def draw_cells(axes, x, y, cells, facet, colours_of, metric):
    """A matrix; its colours and numbers, for write_cells()."""
    columns, rows = (sorted({key[i] for key in cells}) for i in (0, 1))
    matrix = np.full((len(rows), len(columns)), np.nan)
    for (column, row, of), (value, _) in cells.items():
        if of == facet:
            matrix[rows.index(row), columns.index(column)] = value
    colours = colours_of(matrix)
    axes.imshow(colours, aspect="auto", label="cells")
    ticks_across(axes, x, range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), [y.text(each) for each in rows])
    axes.set_ylabel(clean(y.name))
    text = (lambda value: f"{value:.3g}") if metric in FRACTIONS or metric.startswith("miss_rate_") else number
    return colours, {(i, j): text(matrix[i, j]) for i, j in zip(*np.nonzero(~np.isnan(matrix)))}, matrix.shape


def campaign(result, options):
    """Medians of a measure: over x, a line for each value of a parameter; or, where y is a parameter, as a matrix."""
    table = Campaign(result)
    named = lambda option: table.parameter(f"--{option}", getattr(options, option)) if getattr(options, option) else None
    is_lines = table.is_measure(options.y)
    if is_lines and options.value not in ("", options.y):
        raise Refused(f"{table.path}: --y {options.y}: is a measure, of which lines are drawn; leave --value out, or name a parameter")
    if options.lines and not is_lines:
        raise Refused(f"{table.path}: --lines: is for figures whose --y is a measure; there are: {', '.join(table.measures + table.rates)}")
    x, facet = named("x"), named("facet")
    other = named("lines") if is_lines else named("y")
    free = [each for each in table.interesting() + table.parameters if each not in (facet, other)]
    if not is_lines and not other:
        other = next(each for each in free if each is not x)
    x = x or next(each for each in free if each is not other)
    shown = [each for each in (x, other, facet) if each]
    if len({each.name for each in shown}) < len(shown):
        raise Refused(f"{table.path}: --x, {'--lines' if is_lines else '--y'} and --facet name one parameter twice; there are: {', '.join(each.name for each in table.parameters)}")
    metric = options.y if is_lines else options.value or table.default_measure()
    values = np.where(table.chosen(options.where), table.values("--y" if is_lines else "--value", metric), np.nan)
    places = [each.of if each else np.zeros(len(values), int) for each in (x, other, facet)]
    cells = medians(np.column_stack(places), values)
    if not cells:
        raise Refused(f"{table.path}: no point has {metric} and {', '.join(each.name for each in shown)}{f' where {options.where}' if options.where else ''}")
    lines_drawn = len({key[1] for key in cells}) if is_lines and other else 1
    if lines_drawn > MOST_LINES:
        raise Refused(f"{table.path}: --lines {other.name}: these are {lines_drawn} lines, of which {MOST_LINES} can be told apart; choose some by --where")
    everything = np.array([value for value, _ in cells.values()])
    facets = sorted({key[2] for key in cells})
    across = min(len(facets), 2 * options.columns)
    down = -(-len(facets) // across)
    figure, grid = plt.subplots(down, across, figsize=(WIDTHS[options.columns], 0.7 + 2.0 * down), squeeze=False, sharey=is_lines, layout="constrained")
    title = clean(metric.replace("_", " ")) + (" / %" if metric in FRACTIONS or metric in table.rates else "")
    wanted, whole = "linear" if metric == "error" else "auto", 100 if metric in FRACTIONS or metric in table.rates else 1
    (colours_of, bar), drawn = shades(everything, wanted, whole), []
    for axes, of in zip(grid.flat, facets):
        if is_lines:
            draw_lines(axes, x, other, cells, of)
        else:
            drawn.append((axes, *draw_cells(axes, x, other, cells, of, colours_of, metric)))
        if facet:
            axes.set_title(f"{clean(facet.name)} {facet.text(of)}", loc="left")
    for axes in list(grid.flat)[len(facets):]:
        axes.set_visible(False)
    if is_lines:
        scale = ValueScale(everything, wanted, whole)
        scale.upright(grid.flat[0])
        for axes in grid[:, 0]:
            axes.set_ylabel(scale.title(title))
        if other:
            handles = {}
            for axes in grid.flat:
                handles.update({label: handle for handle, label in zip(*axes.get_legend_handles_labels())})
            legend_beside(grid[0, -1], list(handles.values()))
    several = max(count for _, count in cells.values())
    points = [(key, i) for i, key in enumerate(zip(*places)) if min(key) >= 0 and not np.isnan(values[i])]
    hidden = [each.name for each in table.parameters if len({(key, each.of[i]) for key, i in points}) > len(cells)]
    note = f"medians over {', '.join(hidden)}, of up to {several} points" if several > 1 else ""
    headed(figure, result, title, options.where and f"where {options.where}", note)
    if not is_lines:
        for axes, colours, texts, shape in drawn:
            write_cells(figure, axes, colours, bar, texts, shape)
    return figure
