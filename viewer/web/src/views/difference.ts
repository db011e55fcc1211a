// SPDX-License-Identifier: BSD-3-Clause
// What is chosen on the workbench, in two files at once: the same of the second, and tables of either with what the second has more.
import { sort } from 'd3-array';
import { turned, type App } from '../app';
import { filterByNames, linesOf, type Chosen } from '../chosen';
import { causeNames, cubeOf, rowsOf, sumOf, type Filter } from '../cube';
import { h, tableElement, type Table } from '../dom';
import { full, percent, signed } from '../numbers';
import type { Selected } from '../protocol';
import type { Pair } from './compare_align';
import { filterOf, structuresChosen } from './details';

/** A file with what is chosen of it. */
export interface Side {
    app: App;
    chosen: Chosen;
    filter: Filter;
}

export const sideOf = (app: App, chosen: Chosen, names = structuresChosen(app, chosen)): Side => ({ app, chosen, filter: filterOf(app, chosen, names) });

/** Both files of a pair: data structures, cores and functions belong together by name. Null: one does not tell apart what is chosen. */
export function sidesOf(app: App, chosen: Chosen, pair: Pair): Side[] | null {
    const { state, others: [source] } = app;
    const cube = pair.b.kind === 'level' ? cubeOf(source.info, pair.b.owner) : null;
    const cause = cube?.causes ? chosen.cause : -1;
    if (chosen.unknown || cause !== chosen.cause || (chosen.whole && !cube)) return null;
    const phases = Math.max(pair.a.phases, pair.b.phases);
    const own: Chosen = { ...chosen, series: { ...pair.a, phases } };
    const selection = state.structure ? linesOf(source.info.structures, state.structure, pair.b.unit) : null;
    const twin: Chosen = { ...chosen, series: { ...pair.b, phases }, cube, filter: filterByNames(cube, state), selection };
    return [sideOf(app, own), sideOf(turned(app), twin, structuresChosen(app, chosen))];
}

const inBoth = (name: string, [a, b]: number[]): (string | number)[] => [name, a, b, b - a];

/** What two tables are sorted by, by the names of their rows, what differs most first; a name that one of them lacks has nothing there. */
export function differenceTable(a: Table | null, b: Table | null): Table | null {
    if (!a || !b) return null;
    const { keys = 1, caption, headers, pick, picked } = a;
    const values = [a, b].map(({ rows, sorted }) => new Map(rows.map((row) => [JSON.stringify(row.slice(0, keys)), row[sorted!] as number])));
    const names = [...new Set(values.flatMap((each) => [...each.keys()]))];
    const rows = names.map((name) => [...JSON.parse(name).slice(0, -1), ...inBoth(JSON.parse(name).at(-1), values.map((each) => each.get(name) ?? 0))]);
    const columns = [a, b].map((table, i) => `${'AB'[i]}: ${table.headers[table.sorted!]}`);
    const sorted = sort(rows, (row) => -Math.abs(row.at(-1)));
    return { caption, headers: [...headers.slice(0, keys), ...columns, 'B − A'], rows: sorted, keys, most: 100, pick, picked };
}

/** How much is selected, and why. */
function amountsOf({ chosen: { cube, series }, filter }: Side, found: Selected | null): Map<string, number> {
    const rows = cube ? rowsOf(cube, filter) : [];
    const amounts = new Map((cube?.causes ?? []).map((each, i) => [causeNames[i], sumOf(each, rows)]));
    const [level, misses] = [series.kind === 'level', found?.second ?? (cube ? sumOf(cube.misses, rows) : NaN)];
    const own: [string, number][] = found ? [['lines', found.lines], [level ? 'accesses' : 'events', found.first]] : [];
    return new Map([...own, ...(level && !Number.isNaN(misses) ? [['misses', misses] as [string, number]] : []), ...amounts]);
}

/** How many misses the second has more, and what has most of the difference; `tables`: of data structures, fields and functions. */
export function differenceSentence(sides: Side[], [structures, , functions]: (Table | null)[]): string {
    const [a, b] = sides.map(({ chosen: { cube }, filter }) => (cube ? sumOf(cube.misses, rowsOf(cube, filter)) : NaN));
    const { state } = sides[0].app;
    if (Number.isNaN(b - a) || state.cause) return '';
    const level = [...new Set(sides.map(({ chosen: { series } }) => series.owner))].join(' and ');
    const more = signed(full);
    const causes = causeNames.map((name, i): [string, number] => {
        const [x, y] = sides.map(({ chosen: { cube }, filter }) => (cube?.causes ? sumOf(cube.causes[i], rowsOf(cube, filter)) : NaN));
        return [name, y - x];
    });
    const parts = [[state.structure ? null : structures?.rows[0], 'data structure '], [state.func ? null : functions?.rows[0], 'function '], [sort(causes, ([, each]) => -Math.abs(each))[0], '']] as const;
    const most = parts.flatMap(([row, what]) => (row && Number(row.at(-1)) !== 0 && !Number.isNaN(row.at(-1)) ? [`${what}${row[0]} ${more(Number(row.at(-1)))}`] : []));
    return `${more(b - a)} misses of ${level}${a > 0 ? ` (${b < a ? '−' : b > a ? '+' : ''}${percent(Math.abs(b - a) / a)})` : ''}${most.length ? `; most of it: ${most.join(', ')}` : ''}.`;
}

/** In place of details of one file. */
export function differenceDetails(sides: Side[], found: (Selected | null)[]): (HTMLElement | null)[] {
    const [a, b] = sides.map((side, i) => amountsOf(side, found[i]));
    const units = new Set(sides.map(({ chosen: { series } }) => series.unit)).size;
    const rows = [...a.keys()].filter((name) => b.has(name) && (name !== 'lines' || units === 1)).map((name) => inBoth(name, [a.get(name)!, b.get(name)!]));
    const { app: { state }, chosen: { cube } } = sides[0];
    const note = state.sel && !state.structure && cube?.causes ? 'Causes are of data structures as a whole. ' : 'Histogram and field have what lies in both. ';
    return [
        rows.length ? tableElement({ caption: 'Counts', headers: ['', 'A', 'B', 'B − A'], rows, format: full }) : null,
        h('p', { class: 'note' }, note, 'Who evicts, code, cores, sets, reuse and worst lines are of one file: choose A or B.'),
    ];
}
