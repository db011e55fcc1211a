// Snippets of Python that read what a picture shows.
import { chosenPhases, quoted, type App, type Show } from './app';
import type { Source } from './client';

const head = (source: Source): string =>
    `import h5py\nimport numpy as np\n\nf = h5py.File(${quoted(source.info.name)}, "r")\n`;

function choice(app: App): string {
    const phases = chosenPhases(app);
    return phases === null
        ? 'chosen = np.ones(len(phase), bool)  # all phases'
        : `chosen = np.isin(phase, ${JSON.stringify(phases)})`;
}

/** Counts by line of what histograms show. */
export function histogramPython(app: App, show: Show): string {
    const paths = show.series.map((each) => each.path);
    const level = show.series[0].kind === 'level';
    const values: Record<string, string> = {
        accesses: 'g["accesses"][:][chosen]',
        misses: 'g["misses"][:][chosen]',
        hits: 'g["hits"][:][chosen]',
    };
    const sums =
        show.quantity === 'missrate'
            ? '    a = np.bincount(line, g["accesses"][:][chosen])\n    m = np.bincount(line, g["misses"][:][chosen])\n    value = np.divide(m, a, out=np.zeros_like(m), where=a > 0)  # miss rate by line\n'
            : `    value = np.bincount(line, ${values[show.quantity] ?? 'g["count"][:][chosen]'})  # ${show.quantity} by line\n`;
    const address = level ? '"address"' : '"virtual_address" if "virtual_address" in g else "address"';
    return `${head(app.source)}
for path in ${JSON.stringify(paths)}:
    g = f[path]
    phase = g["phase"][:]
    ${choice(app)}
    lines, line = np.unique(g[${address}][:][chosen], return_inverse=True)
${sums}    print(path, "sum", value.sum(), "lines", len(lines))
    top = np.argsort(-value)[:5]
    for a, v in zip(lines[top], value[top]):
        print("  ", hex(a), v)
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

export function sweepPython(source: Source, metric: string): string {
    return `${head(source)}
rows = f["sweep/rows"]
for eviction, granularity, counters, value in zip(rows["eviction"].asstr(), rows["granularity"].asstr(), rows["counters"], rows[${quoted(metric)}]):
    print(eviction, "G =", granularity, "C =", counters, value)
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
