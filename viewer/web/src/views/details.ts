// SPDX-License-Identifier: BSD-3-Clause
// Details of what is selected, beside the field, and tables under it, worst first; of two files with what the second has more.
import { groups, max, pairs, range, rollup, rollups, sort, sum } from 'd3-array';
import { chosenOf, filterByNames, linesOf, phasesName, phasesTitle, structuresIn, turned, type App, type Chosen } from '../app';
import { describe, describeLine } from '../axis';
import { causeNames, cubeOf, evictionsOf, rowsOf, sharingRows, sumOf, sumsBy, unitWord, type Dimension, type Filter, type Rows, type StructureSums } from '../cube';
import { columnsBy, h, tableBy, tableElement, type Column, type Table } from '../dom';
import { cacheOf, type Cache } from '../machine';
import { abridged, brief, bytes, full, percent, signed } from '../numbers';
import { theme } from '../paint';
import type { Selected } from '../protocol';
import type { Pair } from './compare';

const rowsAtMost = 5;

/** The filter by structures that a selection of addresses stands for, and phases. */
export function filterOf(app: App, chosen: Chosen, names = structuresChosen(app, chosen)): Filter {
    const { cube, phases } = chosen;
    const filter: Filter = { ...chosen.filter };
    if (phases) filter.phase = phases;
    if (cube && names && !filter.structure) filter.structure = cube.dimensions.structure!.names.flatMap((name, i) => (names.includes(name) ? [i] : []));
    return filter;
}

/** The structures that are selected, or that addresses lie in, by name; null: all. */
export function structuresChosen(app: App, { selection }: Chosen): string[] | null {
    if (app.state.structure) return [app.state.structure];
    return selection && [...new Set(structuresIn(app.source.info.structures, selection).map((each) => each.name))];
}

/** What is known of structures alone, where addresses are selected. */
export const asAWhole = (names: string[]): string => names.length === 0 ? 'the selected lines' : `${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''} as a whole`;

export function selectionTitle(app: App, { selection }: Chosen): string {
    const { structures } = app.source.info;
    const where = app.state.structure || (selection ? `${describe(structures, selection[0][0])} to ${describe(structures, selection.at(-1)![1] - 1n)}` : 'All addresses');
    return `${where}, ${timeTitle(app)}`;
}

/** Phases that are shown, and that are subtracted. */
const timeTitle = (app: App): string => [phasesTitle(app), ...[chosenOf(app)?.minus ?? []].flatMap((minus) => (minus.length ? phasesName(app, minus) : []))].join(' minus ');

const block = (title: string, ...children: (Node | string | null | false)[]): HTMLElement => h('section', { class: 'detail', 'aria-label': title }, h('h3', {}, title), ...children);

type Part = { name: string; count: number; colour?: string; go?: () => void };

const mostFirst = (parts: Part[]): Part[] => sort(parts, ({ count }) => -count);

/** Bars of parts of a whole, in the colours that they have elsewhere; null where fewer than `least` have any of it. `table`: that has all. */
function bars(title: string, what: string, parts: Part[], least = 1, table = title): HTMLElement | null {
    const rows = parts.filter(({ count }) => count > 0);
    if (rows.length < least) return null;
    const [most, all] = [max(rows, ({ count }) => count)!, sum(rows, ({ count }) => count)];
    const row = ({ name, count, colour = 'var(--count)', go }: Part) => {
        const called = go ? h('button', { type: 'button', class: 'link', onclick: go }, abridged(name, 64)) : h('span', {}, abridged(name, 64));
        const bar = h('i', { style: `width:${(100 * count) / most}%;background:${colour}` });
        return h('li', { title: `${name}: ${full(count)} ${what}` }, called, h('span', { class: 'number' }, `${brief(count)} · ${percent(count / all)}`), bar);
    };
    const more = rows.length > rowsAtMost && h('li', { class: 'note' }, `and ${rows.length - rowsAtMost} more: see the table “${table}”`);
    return block(title, h('ul', { class: 'bars' }, ...rows.slice(0, rowsAtMost).map(row), more));
}

/** Misses by cause: of selected addresses by their lines, where these tell them, else of data structures as wholes; null where they are not known. */
function causesIn({ state }: App, { cube }: Chosen, rows: Rows, found: Selected | null): { byLine: boolean; counts: number[] } | null {
    const byLine = !!state.sel && !state.structure && !!found?.causes.length;
    return cube?.causes ? { byLine, counts: cube.causes.map((each, i) => (byLine ? found!.causes[i] : sumOf(each, rows))) } : null;
}

function causeBlock(app: App, counts: number[]): HTMLElement | null {
    const found = counts.map((count, i) => {
        const name = causeNames[i];
        const go = () => app.set({ cause: app.state.cause === name ? '' : name, show: 'misses' });
        return { name, count, colour: theme().causes[i], go };
    });
    return bars('Why', 'misses', found);
}

/** What evicts lines of what is selected. */
function evictorBlock(app: App, chosen: Chosen): HTMLElement | null {
    const { series, phases, filter } = chosen;
    const found = series.kind === 'level' && !filter.function && !filter.core ? evictionsOf(app.source.info, series.owner, phases, structuresChosen(app, chosen)) : [];
    return bars('Who evicts it', 'lines', mostFirst(rollups(found, (some) => sum(some, ({ count }) => count), ({ by }) => by).map(([name, count]) => ({ name, count }))), 1, 'What evicts what');
}

function codeBlock(app: App, chosen: Chosen, filter: Filter, by: Dimension, title: string): HTMLElement | null {
    const { cube } = chosen;
    if (!cube?.dimensions[by]) return null;
    const { names } = cube.dimensions[by];
    const key = { function: 'func', core: 'core' }[by as string];
    const part = (count: number, i: number): Part => ({ name: names[i], count, go: key ? () => app.set({ [key]: names[i] }) : undefined });
    const [what, values] = chosen.cause >= 0 && cube.causes ? [`${causeNames[chosen.cause]} misses`, cube.causes[chosen.cause]] : ['misses', cube.misses];
    return bars(title, what, mostFirst(Array.from(sumsBy(cube, by, values, rowsOf(cube, filter)), part)), by === 'core' ? 2 : 1);
}

/** Lines that cores take from each other, as texts and how often. */
function sharedLines(app: App, { series, selection, phases, filter }: Chosen) {
    const [{ info }, sharing] = [app.source, app.source.info.sharing!];
    const rows = sharingRows(info, series.owner, selection, phases).filter((i) => !filter.function && (!filter.core || filter.core.includes(sharing.core[i])));
    return groups(rows, (i) => sharing.address[i]).map(([address, some]) => {
        const cores = [...new Set(some.flatMap((i) => [sharing.core[i], sharing.by_core[i]]))].sort((a, b) => a - b).join(' ');
        const [wrong, right] = [sum(some, (i) => sharing.false_sharing[i]), sum(some, (i) => sharing.true_sharing[i])];
        return { line: describeLine(info.structures, BigInt(address), sharing.lineBytes), cores, count: wrong + right, part: wrong / (wrong + right) };
    });
}

const shared = 'Lines shared by cores';

const sharingTable = (app: App, chosen: Chosen): Table =>
    tableBy(`${shared}, ${timeTitle(app)}`, sharedLines(app, chosen), [
        ...columnsBy({ line: 'line', cores: 'cores', 'misses after stores of another core': 'count' }),
        ['false sharing %', ({ part }) => 100 * part],
    ], { sorted: 2, barred: 2, most: tableRowsAtMost });

/** How many lines of the selection lie in each set; more than there are ways cannot stay. */
function setsBlock(cache: Cache, found: Selected): HTMLElement {
    const colours = theme();
    const [width, height] = [280, 64];
    const columns = Math.min(cache.sets, width);
    const edges = range(columns + 1).map((i) => Math.floor((i * cache.sets) / columns));
    const most = pairs(edges).map(([from, to]) => max(found.sets.subarray(from, to)) ?? 0);
    const top = Math.max(cache.ways * 1.5, ...most);
    const y = (value: number) => height - (value / top) * height;
    const path = (some: (value: number) => boolean) =>
        most.map((value, c) => (some(value) ? `M${(c * width) / columns} ${height}V${y(value)}h${width / columns}V${height}z` : '')).join('');
    const [used, over] = [0, cache.ways].map((least) => found.sets.filter((each) => each > least).length);
    const text = `${full(found.lines)} ${found.lines === 1 ? 'line' : 'lines'} in ${full(used)} of ${full(cache.sets)} sets of ${cache.ways} ways; ${full(over)} ${over === 1 ? 'set has' : 'sets have'} more lines than ways.`;
    const picture = h('div', { class: 'sets', role: 'img', 'aria-label': text });
    picture.innerHTML = `<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none"><path d="${path((value) => value > 0 && value <= cache.ways)}" fill="${colours.count}"/><path d="${path((value) => value > cache.ways)}" fill="${colours.causes[3]}"/><path d="M0 ${y(cache.ways)}h${width}" stroke="${colours.ink}" stroke-dasharray="4 3" vector-effect="non-scaling-stroke"/></svg>`;
    return block('Cache sets', picture, h('p', { class: 'note' }, text));
}

function linesBlock(app: App, chosen: Chosen, found: Selected): HTMLElement | null {
    const [{ info, info: { structures } }, { series, show, cause }] = [app.source, chosen];
    const [level, of] = [series.kind === 'level', cause >= 0 && !chosen.whole ? `${causeNames[cause]} ` : ''];
    const worst = of ? found.worst.filter(({ second }) => second > 0) : found.worst;
    if (worst.length === 0) return null;
    type Row = Column<Selected['worst'][number]>;
    const shown: Row[] = show.quantity === 'hits' ? [['hits', ({ first, second }) => first - second]] : show.quantity === 'missrate' && !of ? [['miss rate / %', ({ first, second }) => (100 * second) / first]] : [];
    const counts: Row[] = level ? [...shown, [`${of}misses`, ({ second }) => second], ['accesses', ({ first }) => first]] : [['events', ({ first }) => first]];
    const table = tableBy(`${unitWord(info, series.owner) === 'page' ? 'Pages' : 'Lines'} with ${show.quantity === 'missrate' ? 'the highest' : 'most'} ${of}${show.title.toLowerCase()}`, worst, [['line', ({ address }) => abridged(describeLine(structures, address, series.unit), 72)], ...counts], {
        sorted: level && show.quantity === 'accesses' ? 2 : 1,
    });
    const note = series.reduced && h('p', { class: 'note' }, 'A reduced copy: of its lines those with the highest counts, of all phases or of one.');
    return block('Worst lines', tableElement(table), note);
}

/** What is known without looking at lines. */
export function factsOf(app: App, chosen: Chosen, found: Selected | null): (HTMLElement | null)[] {
    const filter = filterOf(app, chosen);
    const rows = chosen.cube ? rowsOf(chosen.cube, filter) : [];
    const causes = causesIn(app, chosen, rows, found);
    const part = chosen.selection && !chosen.filter.structure ? filter.structure : null;
    const names = part?.map((each) => chosen.cube!.dimensions.structure!.names[each]);
    const lines = sharedLines(app, chosen).map(({ line, cores, count, part }) => ({ name: `${part === 0 ? 'true sharing' : part === 1 ? 'false sharing' : `${percent(part)} false sharing`}, cores ${cores}: ${line}`, count }));
    return [
        names?.length ? h('p', { class: 'note' }, `${chosen.filter.core || chosen.filter.function ? 'All counts' : causes?.byLine ? 'Evictions, code and cores' : 'Causes, code and cores'} are of ${asAWhole(names)}.`) : null,
        causes && causeBlock(app, causes.counts),
        bars(shared, 'misses after stores of another core', mostFirst(lines)),
        evictorBlock(app, chosen),
        codeBlock(app, chosen, filter, 'function', 'Functions'),
        codeBlock(app, chosen, filter, 'line', 'Source lines'),
        codeBlock(app, chosen, filter, 'core', 'Cores'),
    ];
}

/** What the lines of the selection say. */
export function lineFacts(app: App, chosen: Chosen, found: Selected | null): (HTMLElement | null)[] {
    if (!found) return [];
    const cache = cacheOf(app.source.info.machine.yaml, chosen.series.owner);
    const functions = tableBy('Events by function', found.functions, columnsBy({ function: 'name', events: 'count' }), { sorted: 1, barred: 1 });
    return [
        chosen.cause >= 0 && chosen.whole ? h('p', { class: 'note' }, 'Lines and sets are of misses of all causes.') : null,
        found.functions.length ? block('Functions', tableElement(functions)) : null,
        cache && found.sets.length && !chosen.series.reduced ? setsBlock(cache, found) : null,
        linesBlock(app, chosen, found),
    ];
}

/** How much: of the data structure that is chosen, where the file counts it, else of the lines. */
export function numbersOf(app: App, chosen: Chosen, found: Selected | null): HTMLElement[] {
    const { series: { kind, unit }, cube, whole, cause, filter } = chosen;
    const lines = found ? [found.first, found.second] : [NaN, NaN];
    const rows = cube ? rowsOf(cube, filterOf(app, chosen)) : [];
    const own = (app.state.structure || whole) && cube ? [cube.accesses, cube.misses].map((each) => sumOf(each, rows)) : lines;
    const [first, second] = own.some(Number.isNaN) ? lines : own;
    const misses = kind === 'level' && !Number.isNaN(second) ? [['misses', `${full(second)} · ${percent(second / first)}`]] : [];
    if (cause >= 0) misses.push([causeNames[cause], full(causesIn(app, chosen, rows, found)!.counts[cause])]);
    if (filter.function || filter.core) misses.push(['evictions', 'not known by code and core']);
    const parts = [...(found && !chosen.series.reduced ? [['lines', `${full(found.lines)} of ${bytes(unit)}`]] : []), ...(Number.isNaN(first) ? [] : [[kind === 'level' ? 'accesses' : 'events', full(first)]]), ...misses];
    const note = `Other data lie in these lines, too: accesses with them ${full(lines[0])}, misses ${full(lines[1])}. Field, histogram and worst lines count whole lines.`;
    const list = h('dl', { class: 'numbers' }, ...parts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
    return found && (first !== lines[0] || second !== lines[1]) ? [list, h('p', { class: 'note' }, note)] : [list];
}

const tableRowsAtMost = 100;

/** Data structures of which lines are selected, counted by these alone; a line is of the structure that it begins in. `parts`: sums in the chosen phases. */
export function selectedTable(app: App, chosen: Chosen, parts: StructureSums[], pick: (name: string) => void): Table {
    const { cause, series: { owner } } = chosen;
    const found = parts.filter(({ counts: [accesses, misses] }) => accesses + misses > 0);
    const byCause = causeNames.slice(0, parts[0].counts.length - 2).map((name, i): Column<StructureSums> => [name, ({ counts }) => counts[2 + i]]);
    const sorted = cause in byCause ? 4 + cause : 1;
    return tableBy(`Data structures, ${timeTitle(app)}, selected lines alone`, found, [
        ['data structure', ({ name }) => name],
        [`${owner} misses`, ({ counts }) => counts[1]],
        [`${owner} accesses`, ({ counts }) => counts[0]],
        ['rate', ({ counts: [accesses, misses] }) => (accesses > 0 ? misses / accesses : NaN)],
        ...byCause,
    ], { sorted, barred: sorted, most: tableRowsAtMost, pick, format: (value, column) => (column === 3 ? percent : full)(value) });
}

/** Columns are those of all levels that the file tells apart so, the chosen one first; other filters than the table's own are kept. */
function groupTable(app: App, chosen: Chosen, by: Dimension, title: string, filter: Filter, pick?: (name: string) => void): Table | null {
    const [{ info }, { cube }] = [app.source, chosen];
    if (!cube?.dimensions[by]) return null;
    const [{ names }, rows] = [cube.dimensions[by], rowsOf(cube, filter)];
    const columns: { title: string; values: ArrayLike<number>; rate?: boolean }[] = [];
    const add = (title: string, values: Float64Array) => columns.push({ title, values: sumsBy(cube, by, values, rows) });
    add(`${cube.level} misses`, cube.misses);
    if (!Number.isNaN(cube.accesses[0])) { // of none, or of all
        add(`${cube.level} accesses`, cube.accesses);
        const [misses, accesses] = columns.map(({ values }) => values);
        columns.push({ title: 'rate', rate: true, values: Array.from(misses, (each, i) => (accesses[i] > 0 ? each / accesses[i] : NaN)) });
    }
    if (cube.cycles) add('cycles lost', cube.cycles);
    cube.causes?.forEach((each, i) => add(causeNames[i], each));
    for (const name of info.attribution?.levels ?? info.structureLevels.map((each) => each.name)) {
        const other = name !== cube.level ? cubeOf(info, name) : null;
        if (!other?.dimensions[by] || !other.misses.some((each) => each > 0)) continue;
        columns.push({ title: `${name} misses`, values: sumsBy(other, by, other.misses, rowsOf(other, filter)) });
    }
    const [size, sizes] = [by === 'structure', rollup(info.structures, (own) => sum(own, (each) => each.bytes), ({ name }) => name)];
    const bytesOf = (i: number) => sizes.get(names[i]) || NaN;
    const found = range(names.length).filter((i) => columns.some(({ values }) => values[i] > 0) || (size && bytesOf(i) > 0 && !info.attribution));
    const first = size ? 2 : 1;
    const worst = first + Math.max(0, columns.findIndex((each) => each.title === causeNames[chosen.cause]));
    const whole = chosen.selection && !chosen.filter.structure ? ', of data structures as wholes' : '';
    return tableBy(`${title}, ${timeTitle(app)}${whole}`, found, [
        [title.toLowerCase().replace(/s$/, ''), (i) => names[i]],
        ...(size ? [['size', bytesOf] as Column<number>] : []),
        ...columns.map((each): Column<number> => [each.title, (i) => each.values[i]]),
    ], {
        ...{ sorted: worst, barred: worst, most: tableRowsAtMost, pick },
        format: (value, column) => (size && column === 1 ? (value > 0 ? bytes(value) : '') : columns[column - first].rate ? percent(value) : full(value)),
        picked: by === 'structure' ? app.state.structure : by === 'function' ? app.state.func : undefined,
    });
}

function evictionTable(app: App, chosen: Chosen, { structure: victims }: Filter): Table | null {
    const [{ info }, { series, phases, filter, cube }] = [app.source, chosen];
    if (series.kind !== 'level' || filter.function || filter.core || !info.causes.some(({ name }) => name === series.owner)) return null;
    const found = evictionsOf(info, series.owner, phases, victims?.map((each) => cube!.dimensions.structure!.names[each]));
    const whole = victims && !app.state.structure ? ', of data structures as wholes' : '';
    const caption = `What evicts ${app.state.structure || 'what'} in ${series.owner}, ${timeTitle(app)}${whole}`;
    return tableBy(caption, found, columnsBy({ evicted: 'victim', by: 'by', lines: 'count' }), { sorted: 2, barred: 2, keys: 2, most: tableRowsAtMost });
}

/** Of data structures, fields, functions, source lines, cores, evictions and shared lines; null: they are not known. */
export function groupTables(app: App, chosen: Chosen, filter: Filter, pick: (name: string) => void): (Table | null)[] {
    const without = (by: Dimension): Filter => Object.fromEntries(Object.entries(filter).filter(([name]) => name !== by));
    const byFunction = (name: string) => app.set({ func: app.state.func === name ? '' : name });
    return [
        groupTable(app, chosen, 'structure', 'Data structures', chosen.selection && !app.state.structure ? filter : without('structure'), pick),
        groupTable(app, chosen, 'field', 'Fields', filter),
        groupTable(app, chosen, 'function', 'Functions', without('function'), byFunction),
        groupTable(app, chosen, 'line', 'Source lines', filter),
        groupTable(app, chosen, 'core', 'Cores', without('core')),
        evictionTable(app, chosen, filter),
        sharingTable(app, chosen),
    ];
}

/** A file with what is chosen of it, and what it is called beside another. */
export type Side = { app: App; chosen: Chosen; filter: Filter; name: string };

export const sideOf = (app: App, chosen: Chosen, name = '', names = structuresChosen(app, chosen)): Side => ({ app, chosen, filter: filterOf(app, chosen, names), name });

/** The phases that are subtracted, and those that are shown; null: none are. */
export const sidesOfPhases = (app: App, chosen: Chosen): Side[] | null =>
    chosen.minus && [chosen.minus, chosen.phases].map((phases) => sideOf(app, { ...chosen, phases }, phases?.length === 1 ? `phase ${phases[0]}` : phasesName(app, phases)));

/** Both files of a pair: data structures, cores and functions belong together by name. Null: one does not tell apart what is chosen. */
export function sidesOf(app: App, chosen: Chosen, pair: Pair): Side[] | null {
    const { state, others: [source] } = app;
    const cube = pair.b.kind === 'level' ? cubeOf(source.info, pair.b.owner) : null;
    const cause = cube?.causes ? chosen.cause : -1;
    if (chosen.unknown || cause !== chosen.cause || (chosen.whole && !cube) || (!chosen.spreads && cause >= 0 && !pair.b.causes)) return null;
    const phases = Math.max(pair.a.phases, pair.b.phases);
    const own: Chosen = { ...chosen, series: { ...pair.a, phases } };
    const selection = state.structure ? linesOf(source.info.structures, state.structure, pair.b.unit) : null;
    const twin: Chosen = { ...chosen, series: { ...pair.b, phases }, cube, filter: filterByNames(cube, state), selection };
    return [sideOf(app, own, 'A'), sideOf(turned(app), twin, 'B', structuresChosen(app, chosen))];
}

const inBoth = (name: string, [a, b]: number[]): (string | number)[] => [name, a, b, b - a];

/** What two tables are sorted by, by the names of their rows, what differs most first; a name that one of them lacks has nothing there. */
export function differenceTable(a: Table | null, b: Table | null, sides: Side[]): Table | null {
    if (!a || !b) return null;
    const { keys = 1, caption, headers, pick, picked } = a;
    const values = [a, b].map(({ rows, sorted }) => new Map(rows.map((row) => [JSON.stringify(row.slice(0, keys)), row[sorted!] as number])));
    const names = [...new Set(values.flatMap((each) => [...each.keys()]))];
    const rows = names.map((name) => [...JSON.parse(name).slice(0, -1), ...inBoth(JSON.parse(name).at(-1), values.map((each) => each.get(name) ?? 0))]);
    const columns = [a, b].map((table, i) => `${sides[i].name}: ${table.headers[table.sorted!]}`);
    const sorted = sort(rows, (row) => -Math.abs(row.at(-1)));
    return { caption, headers: [...headers.slice(0, keys), ...columns, `${sides[1].name} − ${sides[0].name}`], rows: sorted, keys, most: 100, pick, picked };
}

/** How much is selected, and why. */
function amountsOf({ app, chosen, chosen: { cube, series }, filter }: Side, found: Selected | null): Map<string, number> {
    const rows = cube ? rowsOf(cube, filter) : [];
    const amounts = new Map((causesIn(app, chosen, rows, found)?.counts ?? []).map((count, i) => [causeNames[i], count]));
    const [level, misses] = [series.kind === 'level', found?.second ?? (cube ? sumOf(cube.misses, rows) : NaN)];
    const own: [string, number][] = found ? [...(series.reduced ? [] : [['lines', found.lines] as [string, number]]), [level ? 'accesses' : 'events', found.first]] : [];
    return new Map([...own, ...(level && !Number.isNaN(misses) ? [['misses', misses] as [string, number]] : []), ...amounts]);
}

/** How many misses the second has more, and what has most of the difference; `tables`: of data structures, fields and functions. */
export function differenceSentence(sides: Side[], [structures, , functions]: (Table | null)[]): string {
    const { app: { state }, chosen: { cause: only }, filter: { structure: inWholes } } = sides[0];
    const [a, b] = sides.map(({ chosen: { cube }, filter }) => (cube ? sumOf(only < 0 ? cube.misses : cube.causes![only], rowsOf(cube, filter)) : NaN));
    if (Number.isNaN(b - a)) return '';
    const level = [...new Set(sides.map(({ chosen: { series } }) => series.owner))].join(' and ');
    const more = signed(full);
    const causes = causeNames.map((name, i): [string, number] => {
        const [x, y] = sides.map(({ chosen: { cube }, filter }) => (cube?.causes ? sumOf(cube.causes[i], rowsOf(cube, filter)) : NaN));
        return [name, y - x];
    });
    const largest = max(causes, ([, each]) => Math.abs(each))!;
    const parts = [[state.structure ? null : structures?.rows[0], 'data structure '], [state.func ? null : functions?.rows.find(([name]) => !String(name).startsWith('(')), 'function '], ...sort(causes.filter(([, each]) => only < 0 && Math.abs(each) >= largest / 2), ([, each]) => -Math.abs(each)).map((each) => [each, ''])] as const;
    const most = parts.flatMap(([row, what]) => (row && Number(row.at(-1)) !== 0 && !Number.isNaN(row.at(-1)) ? [`${what}${row[0]} ${more(Number(row.at(-1)))}`] : []));
    return `${more(b - a)} ${only < 0 ? '' : `${causeNames[only]} `}misses of ${level}${a > 0 ? ` (${b < a ? '−' : b > a ? '+' : ''}${percent(Math.abs(b - a) / a)})` : ''}${most.length ? `; largest differences: ${most.join(', ')}` : ''}${inWholes && !state.structure ? ', of data structures as wholes' : ''}.`;
}

/** In place of details of one file. */
export function differenceDetails(sides: Side[], found: (Selected | null)[]): (HTMLElement | null)[] {
    const [a, b] = sides.map((side, i) => amountsOf(side, found[i]));
    const units = new Set(sides.map(({ chosen: { series } }) => series.unit)).size;
    const rows = [...a.keys()].filter((name) => b.has(name) && (name !== 'lines' || units === 1)).map((name) => [name, b.get(name)! - a.get(name)!, a.get(name)!, b.get(name)!]);
    const { app: { state }, chosen: { cube, minus } } = sides[0];
    const note = state.sel && !state.structure && cube?.causes && !found.every((each) => each?.causes.length) ? 'Causes are of data structures as a whole. ' : minus ? '' : 'Histogram and field have what lies in both. ';
    const rest = minus ? 'not subtracted: choose phases alone.' : 'of one file: choose A or B.';
    return [
        rows.length ? tableElement({ caption: 'Counts', headers: ['', `${sides[1].name} − ${sides[0].name}`, ...sides.map(({ name }) => name)], rows, format: full }) : null,
        h('p', { class: 'note' }, note, `Who evicts, code, cores, sets, reuse and worst lines are ${rest}`),
    ];
}
