// SPDX-License-Identifier: BSD-3-Clause
// Snippets of Python that read what a picture shows.
import { chosenPhases, quoted, type App, type Show } from './app';
import type { Source } from './client';
import type { Quantity, SeriesInfo } from './protocol';

const head = (source: Source): string =>
    `import h5py\nimport numpy as np\n\nf = h5py.File(${quoted(source.info.name)}, "r")\n`;

/** The addresses in sight; null: all. */
export type Sight = [bigint, bigint][] | null;

const hex = (address: bigint): string => `0x${address.toString(16)}`;

/** A function that gives what is shown of a group by line, of rows that are chosen. */
function byLine(quantity: Quantity, level: boolean, sight: Sight): string {
    const address = level ? '"address"' : '"virtual_address" if "virtual_address" in g else "address"';
    const count = (column: string) => `np.bincount(at, g[${quoted(column)}][:][rows])`;
    const ranges = (sight ?? []).map(([from, to]) => `(address >= ${hex(from)}) & (address < ${hex(to)})`);
    const value =
        quantity === 'missrate'
            ? `    a, m = ${count('accesses')}, ${count('misses')}\n    value = np.divide(m, a, out=np.zeros_like(m), where=a > 0)`
            : `    value = ${count(level ? quantity : 'count')}`;
    return `
def by_line(g, rows):
    address = g[${address}][:]
${sight ? `    rows = rows & (${ranges.map((each) => `(${each})`).join(' | ') || 'False'})  # what is in sight\n` : ''}    lines, at = np.unique(address[rows], return_inverse=True)
${value}  # ${quantity} by line
    return dict(zip(lines.tolist(), value.tolist()))
`;
}

const inPhases = (phases: number[] | null): string =>
    phases === null ? 'np.ones(len(g["phase"]), bool)' : `np.isin(g["phase"][:], ${JSON.stringify(phases)})`;

/** Counts by line of what histograms show. */
export function histogramPython(app: App, show: Show, sight: Sight): string {
    const paths = show.series.map((each) => each.path);
    return `${head(app.source)}${byLine(show.quantity, show.series[0].kind === 'level', sight)}
for path in ${JSON.stringify(paths)}:
    g = f[path]
    value = by_line(g, ${inPhases(chosenPhases(app))})
    print(path, "sum", sum(value.values()), "lines", len(value))
    for line in sorted(value, key=value.get, reverse=True)[:5]:
        print("  ", hex(line), value[line])
`;
}

const difference = `difference = {line: b.get(line, 0) - a.get(line, 0) for line in sorted(a.keys() | b.keys())}
print("sums", sum(a.values()), sum(b.values()), "difference", sum(difference.values()))
for line in sorted(difference, key=lambda line: -abs(difference[line]))[:5]:
    print("  ", hex(line), difference[line])
`;

/** Two phases and their difference, by line. */
export function phaseDifferencePython(source: Source, series: SeriesInfo, quantity: Quantity, pair: [number, number], sight: Sight): string {
    return `${head(source)}${byLine(quantity, series.kind === 'level', sight)}
g = f[${quoted(series.path)}]
a, b = (by_line(g, g["phase"][:] == phase) for phase in ${JSON.stringify(pair)})
${difference}`;
}

/** A series of two files and their difference, by line. */
export function fileDifferencePython(first: Source, second: Source, of: SeriesInfo, and: SeriesInfo, quantity: Quantity, sight: Sight): string {
    return `import h5py
import numpy as np
${byLine(quantity, of.kind === 'level', sight)}
${groupsOf(first, second, of, and)}
a, b = (by_line(g, ${inPhases(null)}) for g in groups)
${difference}`;
}

const groupsOf = (first: Source, second: Source, of: SeriesInfo, and: SeriesInfo): string =>
    `groups = [h5py.File(name, "r")[path] for name, path in ${JSON.stringify([
        [first.info.name, of.path],
        [second.info.name, and.path],
    ])}]`;

/** The same of data structures that lie elsewhere in the second file; `places`: where in both, and how many bytes. */
export function twinDifferencePython(first: Source, second: Source, of: SeriesInfo, and: SeriesInfo, quantity: Quantity, places: [bigint, bigint, number][]): string {
    const lines = (address: bigint, unit: number) => hex(address - (address % BigInt(unit)));
    const each = places.map(([a, b, size]) => `((${lines(a, of.unit)}, ${hex(a + BigInt(size))}), (${lines(b, and.unit)}, ${hex(b + BigInt(size))}))`);
    return `import h5py
import numpy as np
${byLine(quantity, of.kind === 'level', null)}
${groupsOf(first, second, of, and)}
# data structures in sight: where they begin, and end, in the first file and in the second
places = [
    ${each.join(',\n    ')},
]

def by_place(which):
    value = by_line(groups[which], ${inPhases(null).replace('g["phase"]', 'groups[which]["phase"]')})
    return {(i, line - place[which][0]): n for line, n in value.items() for i, place in enumerate(places) if place[which][0] <= line < place[which][1]}

a, b = by_place(0), by_place(1)
difference = {key: b.get(key, 0) - a.get(key, 0) for key in sorted(a.keys() | b.keys())}
print("sums", sum(a.values()), sum(b.values()), "difference", sum(difference.values()))
for i, offset in sorted(difference, key=lambda key: -abs(difference[key]))[:5]:
    print("  ", hex(places[i][0][0] + offset), difference[i, offset])
`;
}

/** Phases over lines. */
export function heatPython(source: Source, series: SeriesInfo, quantity: Quantity, sight: Sight): string {
    return `${head(source)}${byLine(quantity, series.kind === 'level', sight)}
g = f[${quoted(series.path)}]
phase = g["phase"][:]
rows = [by_line(g, phase == i) for i in range(${series.phases})]
lines = sorted(set().union(*rows))
heat = np.array([[row.get(line, 0) for line in lines] for row in rows])  # phases over lines
print(heat.shape, "sum", heat.sum())
for i, row in enumerate(heat):
    print("phase", i, row.sum())
`;
}

export function phasesPython(source: Source, path: string, quantity: string): string {
    const column = path.startsWith('combined/') ? (quantity === 'missrate' ? 'misses' : quantity) : 'count';
    return `${head(source)}
g = f[${quoted(path)}]
phase = g["phase"][:]
by_phase = np.bincount(phase, g[${quoted(column)}][:], minlength=${source.info.phases.names.length})
print(by_phase, by_phase.sum())
print("length of phases in cycles:", f["phases/cycles"][:])
`;
}

/** Columns of the cells of a policy. */
export function sweepPython(source: Source, eviction: string, columns: string[]): string {
    return `${head(source)}
rows = f["sweep/rows"]
columns = ${JSON.stringify(columns)}
chosen = np.flatnonzero(rows["eviction"].asstr()[:] == ${quoted(eviction)})
for i in chosen:
    print("G =", rows["granularity"].asstr()[i], "C =", rows["counters"][i], *(f"{name} {rows[name][i]}" for name in columns))
`;
}

export function campaignPython(source: Source): string {
    return `${head(source)}
s = f["summary"]
print(s.attrs["machines"], "machines")
names = zip(s["test"].asstr(), s["variant"].asstr(), s["parameter"].asstr())
for name, right, wrong, unknown in zip(names, s["right"], s["wrong"], s["not_identifiable"]):
    print(*name, right, "right", wrong, "wrong", unknown, "not identifiable")
print("sum", s["right"][:].sum(), s["wrong"][:].sum(), s["not_identifiable"][:].sum())
`;
}

export function intrusionPython(source: Source, column: string): string {
    return `${head(source)}
print(f["intrusion"].attrs["cycles"], "cycles without monitor")
rows = f["intrusion/rows"]
for monitor, value in zip(rows["monitor"].asstr(), rows[${quoted(column)}]):
    print(monitor, ${quoted(column.replace(/_/g, ' '))}, value)
print("sum", rows[${quoted(column)}][:].sum())
`;
}

export function curvesPython(source: Source, paths: string[]): string {
    return `${head(source)}
for path in ${JSON.stringify(paths)}:
    g = f[path]
    x, value = g["x"], g["value"]
    kept = g["knocked_out"][:] == 0 if "knocked_out" in g else np.ones(len(x), bool)
    print(path, g.attrs["x_name"], "in", x.attrs["units"], "->", value.attrs["units"], "sum", value[:].sum())
    for a, b in zip(x[:][kept], value[:][kept]):
        print("  ", a, b)
`;
}

export function topologyPython(source: Source): string {
    return `${head(source)}
for name in f["links"].attrs["names"]:
    link = f["links"][name]
    events = {kind: int(link[kind].attrs["events"]) for kind in link}
    print(name, link.attrs["from"], "->", link.attrs["to"], events)
`;
}

const onlyPhases = (app: App): string => {
    const phases = chosenPhases(app);
    return phases === null ? 'np.ones(len(g["phase"]), bool)  # all phases' : `np.isin(g["phase"], ${JSON.stringify(phases)})`;
};

/** Misses by structure and cause. */
export function causesPython(app: App, level: string): string {
    const { attribution } = app.source.info;
    const [group, names, structure, suffix] = attribution
        ? ['attribution/rows', 'attribution/objects', 'f["attribution/sites/object"][:][g["site"][:]]', `_${level}`]
        : [`causes/${level}/misses`, 'structures/name', 'g["structure"][:]', ''];
    const invalidated = attribution ? '"invalidated"' : '"taken_away" if "taken_away" in g else "invalidated"';
    return `${head(app.source)}
names = f[${quoted(names)}].asstr()[:]
g = f[${quoted(group)}]
structure = ${structure}
chosen = ${onlyPhases(app)}
for cause in ["first_use", ${invalidated}, "capacity", "conflict"]:
    misses = np.bincount(structure[chosen], g[cause + ${quoted(suffix)}][:][chosen], minlength=len(names))
    print(cause, {name: int(n) for name, n in zip(names, misses) if n}, "sum", int(misses.sum()))
`;
}

/** Lines by who evicts and who is evicted. */
export function evictionsPython(app: App, level: string): string {
    const [group, names] = app.source.info.attribution
        ? [`attribution/evictions/${level}/pairs`, 'attribution/objects']
        : [`causes/${level}/evictions`, 'structures/name'];
    return `${head(app.source)}
names = f[${quoted(names)}].asstr()[:]
g = f[${quoted(group)}]
chosen = ${onlyPhases(app)}
lines = np.zeros((len(names), len(names)), int)
np.add.at(lines, (g["by"][:][chosen], g["victim"][:][chosen]), g["count"][:][chosen])
for by, victim in zip(*np.nonzero(lines)):
    print(names[by], "evicts", names[victim], lines[by, victim])
print("sum", lines.sum())
`;
}
