// SPDX-License-Identifier: BSD-3-Clause
// What sweeps, experiments and probes write: tables that the page shows; reuse distances of /reuse (docs/reuse.md).
import { range, rollup, sort, sum } from 'd3-array';
import { parameterOf, type Measure, type Points } from '../points';
import { FileError, type Columns, type Phases } from '../protocol';
import { remembered } from '../remembered';
import { text, texts, type Store } from './h5';

const sweepNumbers = ['counters', 'swapouts', 'error', 'bytes_per_event'];

/** The columns that each needs; it may have more. */
const columns = {
    sweep: ['workload', 'link', 'settings', 'eviction', 'granularity', ...sweepNumbers, 'admitted', 'front', 'remains'],
    'intrusion/rows': ['link', 'granularity', 'drain', 'counters', 'capacity', 'extra_cycles', 'stall_cycles', 'events', 'swapouts', 'bytes', 'lost_records'],
    'trackers/rows': ['tracker', 'spec', 'bits', 'comparators', 'area', 'reports', 'lost', 'bytes_per_event', 'error', 'recall', 'worst_recall', 'precision', 'traffic_is_off'],
    findings: ['test', 'variant', 'level', 'parameter', 'word', 'unit', 'method', 'reason', 'truth_word', 'verdict', 'value', 'low', 'high', 'truth', 'truth_high'],
    summary: ['test', 'variant', 'parameter', 'right', 'wrong', 'not_identifiable'],
    worst: ['machine', 'wrong', 'not_identifiable', 'findings'],
};

const tableOf = (store: Store, path: Exclude<keyof typeof columns, 'sweep'>): Columns => store.table(path, columns[path]);

export function sweepOf(store: Store) {
    const { link, monitor, events, objectives, where, tolerance } = store.attributes('sweep');
    const cells = (path: string): Columns => {
        const table = store.table(path, columns.sweep);
        for (const column of sweepNumbers) {
            const of: Float64Array | undefined = table.numbers[column];
            const wrong = range(table.count).find((i) => !Number.isFinite(of?.[i]));
            if (wrong !== undefined) throw new FileError(`/${path}: the column '${column}' has ${of?.[wrong]}, which is no number; the file is damaged. Run the sweep again.`);
        }
        return table;
    };
    const asked = { objectives: text(objectives), where: text(where), tolerance: Number(tolerance) };
    return { link: text(link), monitor: text(monitor), events: Number(events), ...asked, rows: cells('sweep/rows'), worst: cells('sweep/worst') };
}

export function trackersOf(store: Store) {
    const { link, events, phases, copies, top } = store.attributes('trackers');
    return { link: text(link), events: Number(events), phases: Number(phases), copies: Number(copies), top: Number(top), rows: tableOf(store, 'trackers/rows') };
}

/** What monitors of each configuration cost the program (docs/intrusion.md): without monitor, and more than that by row; events and bytes are
 * by link, misses by level: "extra_bytes L1D-L2". */
export function intrusionOf(store: Store) {
    const { references, cycles } = store.attributes('intrusion');
    const [events, bytes, misses] = ['events', 'bytes', 'misses'].map((column) => store.numbers(`intrusion/without/${column}`));
    const [links, levels] = ['link', 'level'].map((column) => store.texts(`intrusion/without/${column}`));
    const rows = tableOf(store, 'intrusion/rows');
    for (const [column, names] of [['extra_events', links], ['extra_bytes', links], ['extra_misses', levels]] as const) {
        const path = `intrusion/rows/${column}`;
        const values = rows.count && names.length ? store.numbers(path) : new Float64Array();
        if (values.length !== rows.count * names.length) throw new FileError(`/${path} has ${values.length} numbers instead of ${rows.count * names.length}; the file is damaged.`);
        names.forEach((name, i) => (rows.numbers[`${column} ${name}`] = values.filter((_, at) => at % names.length === i)));
    }
    return { references: Number(references), cycles: Number(cycles), events, bytes, misses, links, levels, rows };
}

/** What probes say of levels and what is true; points of response curves, or (unit "loads") how many single loads took so many cycles; what
 * each test cost. */
export function probeOf(store: Store) {
    const curves = store.children('curves').map((group) => {
        const path = `curves/${group}`;
        const { test, variant, name, x_name } = store.attributes(path);
        const [x, value, trials, knockedOut] = ['x', 'value', 'trials', 'knocked_out'].map((each) => (store.has(`${path}/${each}`) ? store.numbers(`${path}/${each}`) : null));
        if (!x || !value || x.length !== value.length) throw new FileError(`/${path} has no points, or not as many values; the file is damaged.`);
        const [xUnit, unit] = ['x', 'value'].map((column) => text(store.attributes(`${path}/${column}`).units));
        return { path, test: text(test), variant: text(variant), name: text(name), xName: text(x_name), xUnit, unit, x, value, trials, knockedOut };
    });
    const groups = store.children('tests').map((group) => ({ path: `tests/${group}/decisions`, attributes: store.attributes(`tests/${group}`) }));
    const tests = sort(groups, (each) => Number(each.attributes.order)).map(({ path, attributes: { test, variant, runs, references, cycles } }) => ({
        name: `${text(test)} ${text(variant)}`,
        ...{ runs: Number(runs), references: Number(references), cycles: Number(cycles) },
        decisions: store.texts(path),
    }));
    return { curves, findings: tableOf(store, 'findings'), tests };
}

/** The points of a campaign, with the miss rates of its levels. */
export function campaignOf(store: Store): Points {
    const { parameters, measures } = store.attributes('campaign');
    const columns = [parameters, measures].map((each) => texts(each));
    store.requireColumns('campaign', ['point', ...columns.flat()]);
    const column = (name: string) => `campaign/${name}`;
    const own = columns[1].map((name): Measure => ({ name, of: store.numbers(column(name)) }));
    const rates = own.flatMap(({ name, of }): Measure[] => {
        const level = name.replace(/^accesses_/, '');
        const misses = level !== name && own.find((each) => each.name === `misses_${level}`);
        return misses ? [{ name: `miss_rate_${level}`, of: Float64Array.from(of, (all, i) => (all > 0 ? misses.of[i] / all : NaN)), ratio: [misses.name, name] }] : [];
    });
    const all = columns[0].map((name) => parameterOf(name, (store.isText(column(name)) ? store.texts : store.numbers)(column(name))));
    return { group: 'campaign', numbers: store.numbers('campaign/point'), parameters: all, measures: [...own, ...rates] };
}

/** Probes on random machines (docs/probes.md): how often a test was right about a parameter, over all levels of all machines. */
export function validationOf(store: Store) {
    const root = store.attributes('/');
    return {
        machines: Number(store.attributes('summary').machines),
        seed: Number(root.seed),
        noise: text(root.noise),
        /** Tests that have no such variant, in words. */
        leftOut: text(root.left_out),
        scores: tableOf(store, 'summary'),
        worst: tableOf(store, 'worst'),
    };
}

function reuseOf(store: Store, path: string) {
    const { link, line_bytes } = store.attributes(path);
    const names = store.texts(`${path}/structures`);
    const columns = store.columns(`${path}/distances`, 'structure', 'phase', 'distance', 'count');
    if (!(Number(line_bytes) >= 1)) throw new FileError(`/${path} does not say how large its lines are; the file is damaged.`);
    if (columns.structure.some((each) => each >= names.length)) throw new FileError(`/${path}/distances has structures that /${path}/structures does not name; the file is damaged.`);
    return { path, link: text(link), lineBytes: Number(line_bytes), names, ...columns };
}

/** Sums over the groups of a file, which are read when they are first asked for. */
export function reuseIn(store: Store, groups: string[]) {
    const known = new Map<string, ReturnType<typeof reuseOf>>();
    /** How many other lines lie between two uses of a line, by group (a link with lines of a size): uses by the least distance of a bin, in lines,
     * ascending; Infinity: first uses. null: of all structures, phases. */
    return (structures: string[] | null, phases: Phases) =>
        groups.map((group) => {
            const { path, link, lineBytes, names, structure, phase, distance, count } = remembered(known, group, () => reuseOf(store, `reuse/${group}`));
            const wanted = names.map((name) => !structures || structures.includes(name));
            const inPhases = phases && new Set(phases);
            const rows = range(distance.length).filter((i) => wanted[structure[i]] && (!inPhases || inPhases.has(phase[i])));
            const bins = [...rollup(rows, (some) => sum(some, (i) => count[i]), (i) => distance[i])].sort((a, b) => a[0] - b[0]);
            // what files write for first uses: 2^64-1, as a double
            return { path, link, lineBytes, bins: bins.map(([from, uses]) => ({ distance: from === 2 ** 64 ? Infinity : from, count: uses })) };
        });
}
