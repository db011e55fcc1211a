// SPDX-License-Identifier: BSD-3-Clause
// Tables under the field: data structures, of programs also fields, functions and source lines, and what evicts what; worst first.
import { range, rollup, sum } from 'd3-array';
import { phasesTitle, type App } from '../app';
import type { Chosen } from '../chosen';
import { causeNames, cubeOf, evictionsOf, rowsOf, sumsBy, type Dimension, type Filter } from '../cube';
import { tableBy, type Table } from '../dom';
import { bytes, full, percent } from '../numbers';
import { tableCard } from './tables';

const rowsAtMost = 100;

type Column = [string, (row: number) => string | number];

/** Columns are those of all levels that the file tells apart so, the chosen one first; other filters than the table's own are kept. */
function groupTable(app: App, chosen: Chosen, by: Dimension, title: string, filter: Filter, pick?: (name: string) => void): Table | null {
    const { info } = app.source;
    const { cube } = chosen;
    if (!cube?.dimensions[by]) return null;
    const { names } = cube.dimensions[by];
    const rows = rowsOf(cube, filter);
    const columns: { title: string; values: ArrayLike<number>; rate?: boolean }[] = [];
    const add = (title: string, values: Float64Array) => columns.push({ title, values: sumsBy(cube, by, values, rows) });
    add(`${cube.level} misses`, cube.misses);
    const misses = columns[0].values;
    if (!cube.accesses.some(Number.isNaN)) {
        add(`${cube.level} accesses`, cube.accesses);
        const accesses = columns[1].values;
        columns.push({ title: 'rate', rate: true, values: Array.from(misses, (each, i) => (accesses[i] > 0 ? each / accesses[i] : NaN)) });
    }
    if (cube.cycles) add('cycles lost', cube.cycles);
    cube.causes?.forEach((each, i) => add(causeNames[i], each));
    for (const name of info.attribution ? info.attribution.counts.map((each) => / misses$/.exec(each.title) && each.title.slice(0, -7)) : info.structureLevels.map((each) => each.name)) {
        const other = name && name !== cube.level ? cubeOf(info, name) : null;
        if (!other?.dimensions[by] || !other.misses.some((each) => each > 0)) continue;
        columns.push({ title: `${name} misses`, values: sumsBy(other, by, other.misses, rowsOf(other, filter)) });
    }
    const size = by === 'structure';
    const sizes = rollup(info.structures, (own) => sum(own, (each) => each.bytes), ({ name }) => name);
    const bytesOf = (i: number) => sizes.get(names[i]) || NaN;
    const found = range(names.length).filter((i) => columns.some(({ values }) => values[i] > 0) || (size && bytesOf(i) > 0 && !info.attribution));
    const first = size ? 2 : 1;
    return tableBy(`${title}, ${phasesTitle(app)}`, found, [
        [title.toLowerCase().replace(/s$/, ''), (i) => names[i]],
        ...(size ? [['size', bytesOf] as Column] : []),
        ...columns.map((each): Column => [each.title, (i) => each.values[i]]),
    ], {
        ...{ sorted: first, barred: first, most: rowsAtMost, pick },
        format: (value, column) => (size && column === 1 ? (value > 0 ? bytes(value) : '') : columns[column - first].rate ? percent(value) : full(value)),
        picked: by === 'structure' ? app.state.structure : by === 'function' ? app.state.func : undefined,
    });
}

function evictionTable(app: App, { series, phases }: Chosen): Table {
    const found = series.kind === 'level' ? evictionsOf(app.source.info, series.owner, phases) : [];
    return tableBy(
        `What evicts what in ${series.owner}, ${phasesTitle(app)}`,
        found,
        [['evicted', ({ victim }) => victim], ['by', ({ by }) => by], ['lines', ({ count }) => count]],
        { sorted: 2, barred: 2, keys: 2, most: rowsAtMost },
    );
}

export function groupTables(app: App, chosen: Chosen, filter: Filter, pick: (name: string) => void): HTMLElement[] {
    const without = (by: Dimension): Filter => Object.fromEntries(Object.entries(filter).filter(([name]) => name !== by));
    const byFunction = (name: string) => app.set({ func: app.state.func === name ? '' : name });
    const tables = [
        groupTable(app, chosen, 'structure', 'Data structures', without('structure'), pick),
        groupTable(app, chosen, 'field', 'Fields', filter),
        groupTable(app, chosen, 'function', 'Functions', without('function'), byFunction),
        groupTable(app, chosen, 'line', 'Source lines', filter),
        evictionTable(app, chosen),
    ];
    return tables.filter((each) => each !== null && each.rows.length > 0).map((each) => tableCard(app, each!));
}
