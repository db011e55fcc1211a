// SPDX-License-Identifier: BSD-3-Clause
// Snippets of Python that read what a picture shows.
import { chosenPhases, quoted, type App } from './app';
import type { Chosen } from './chosen';
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

/** What the field shows: counts by line and by phase. */
export function fieldPython(app: App, { show, series, phases, minus }: Chosen, sight: Sight): string {
    if (minus)
        return `${head(app.source)}${byLine(show.quantity, series.kind === 'level', sight)}
g = f[${quoted(series.path)}]
a, b = by_line(g, ${inPhases(minus)}), by_line(g, ${inPhases(phases)})
${difference}`;
    return `${head(app.source)}${byLine(show.quantity, series.kind === 'level', sight)}
g = f[${quoted(series.path)}]
phase = g["phase"][:]
chosen = ${inPhases(chosenPhases(app))}
value = by_line(g, chosen)
print(${quoted(series.path)}, "sum", sum(value.values()), "lines", len(value))
for line in sorted(value, key=value.get, reverse=True)[:5]:
    print("  ", hex(line), value[line])
for i in np.unique(phase[chosen]):
    print("phase", i, sum(by_line(g, phase == i).values()))
`;
}

const difference = `difference = {line: b.get(line, 0) - a.get(line, 0) for line in sorted(a.keys() | b.keys())}
print("sums", sum(a.values()), sum(b.values()), "difference", sum(difference.values()))
for line in sorted(difference, key=lambda line: -abs(difference[line]))[:5]:
    print("  ", hex(line), difference[line])
`;

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

/** What is known of data structures as a whole: misses by cause, core or function. */
export function cubePython(app: App, { series, cause, show, filter, cube }: Chosen): string {
    const { attribution } = app.source.info;
    const level = series.owner;
    const kind = ['first_use', 'invalidated', 'capacity', 'conflict'][cause];
    const column = attribution ? (cause >= 0 ? `${kind}_${level}` : show.quantity === 'accesses' ? 'accesses' : `misses_${level}`) : (kind ?? show.quantity);
    const group = attribution ? 'attribution/rows' : cause >= 0 ? `causes/${level}/misses` : `structures/levels/${level}/phases`;
    const names = attribution ? 'attribution/objects' : 'structures/name';
    const named = (by: 'core' | 'function' | 'structure') => filter[by] && cube!.dimensions[by]!.names[filter[by][0]];
    const only = [
        filter.core ? `chosen &= g["core"][:] == ${filter.core[0]}` : '',
        filter.function ? `code = f["attribution/sites/code"][:][g["site"][:]]\nchosen &= f["attribution/code/function"].asstr()[:][code] == ${quoted(named('function')!)}` : '',
        filter.structure ? `chosen &= names[structure] == ${quoted(named('structure')!)}` : '',
    ].filter((each) => each !== '');
    return `${head(app.source)}
names = f[${quoted(names)}].asstr()[:]
g = f[${quoted(group)}]
structure = ${attribution ? 'f["attribution/sites/object"][:][g["site"][:]]' : 'g["structure"][:]'}
chosen = ${inPhases(chosenPhases(app))}
${only.join('\n')}
count = np.bincount(structure[chosen], g[${quoted(column)}][:][chosen], minlength=len(names))
for i in np.argsort(-count)[:10]:
    print(names[i], count[i])
print("sum", count.sum())
`;
}
