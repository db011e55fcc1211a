// SPDX-License-Identifier: BSD-3-Clause
// What is chosen on the workbench, in two files at once: the same of the second, and tables of either with what the second has more.
import { sort } from 'd3-array';
import type { App } from '../app';
import { chosenOf, type Chosen } from '../chosen';
import { causeNames, rowsOf, sumOf, type Filter } from '../cube';
import { h, tableElement, type Table } from '../dom';
import { full } from '../numbers';
import type { Selected } from '../protocol';
import type { Pair } from './compare_align';
import { filterOf, structuresChosen } from './details';

/** A file with what is chosen of it. */
export interface Side {
    app: App;
    chosen: Chosen;
    filter: Filter;
}

/** Both files of a pair: data structures, cores and functions belong together by name. Null: the second does not tell apart what is chosen. */
export function sidesOf(app: App, chosen: Chosen, pair: Pair): [Side, Side] | null {
    const state = { ...app.state, level: pair.b.owner, sel: '', structure: '' };
    const second: App = { source: app.others[0], others: [app.source], state, set: (change) => app.set(change), move: (x) => app.move(x) };
    const found = chosenOf(second)!;
    const names = structuresChosen(app, chosen);
    const all = found.cube?.dimensions.structure?.names ?? [];
    const structure = names && found.cube ? { structure: all.flatMap((name, i) => (names.includes(name) ? [i] : [])) } : {};
    const filter: Filter = Object.fromEntries(Object.keys(chosen.filter).map((by) => [by, found.filter[by as keyof Filter] ?? []])); // no such name: nothing
    const twin: Chosen = { ...found, phases: chosen.phases, filter: chosen.filter.structure ? { ...filter, ...structure } : filter, whole: chosen.whole };
    if (chosen.whole && (!twin.cube || twin.cause !== chosen.cause)) return null;
    return [
        { app, chosen, filter: filterOf(app, chosen) },
        { app: second, chosen: twin, filter: { ...filterOf(second, twin), ...structure } },
    ];
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
    const amounts = new Map<string, number>();
    if (found) amounts.set('lines', found.lines).set(series.kind === 'level' ? 'accesses' : 'events', found.first);
    if (found && series.kind === 'level') amounts.set('misses', found.second);
    if (!found && cube) amounts.set('misses', sumOf(cube.misses, rows));
    cube?.causes?.forEach((each, i) => amounts.set(causeNames[i], sumOf(each, rows)));
    return amounts;
}

/** In place of details of one file. */
export function differenceDetails(sides: [Side, Side], found: (Selected | null)[]): (HTMLElement | null)[] {
    const [a, b] = sides.map((side, i) => amountsOf(side, found[i]));
    const rows = [...a.keys()].filter((name) => b.has(name)).map((name) => inBoth(name, [a.get(name)!, b.get(name)!]));
    const { selection, cube } = sides[0].chosen;
    const note = selection && cube?.causes && 'Causes are of data structures as a whole. ';
    return [
        rows.length ? tableElement({ caption: 'Counts', headers: ['', 'A', 'B', 'B − A'], rows, format: full }) : null,
        h('p', { class: 'note' }, note, 'Who evicts, code, cores, sets, reuse and worst lines are of one file: choose A or B.'),
    ];
}
