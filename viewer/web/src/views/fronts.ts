// SPDX-License-Identifier: BSD-3-Clause
// Fronts of error and a cost: a panel per workload, link and file, with one scale, and trackers of the same beside; what is known of cells.
import { flatGroup, groups, range, rollup, sort } from 'd3-array';
import { curveStepAfter, symbolCircle, symbolCross, symbolDiamond2, symbolSquare, symbolStar, symbolTriangle } from 'd3-shape';
import { front as words, scale as rule } from '../../../drawing.json';
import { baseName, titleOf, type App, type View } from '../app';
import { drawAcross, drawLabels, drawNote, drawUp, endsWidth, extentOf, upIn, valueScale, type ValueScale } from '../chart';
import type { Source } from '../client';
import { fill, h, inWords, select, tableBy, tableElement, type Column, type Table } from '../dom';
import { figureOf, type Hit } from '../figure';
import { full, percent, percentTick } from '../numbers';
import { distinctColours, shortened, textWidth, theme, type Box, type Painter, type Point } from '../paint';
import { rowsIn, type FileInfo, type TableRow } from '../protocol';
import { snippet } from '../python';
import { once } from '../remembered';
import { around, axisTitle, counters, having, metricColumn, plainMetric, type Cell, type Metric, type Picture } from './cells';

/** Of "error<5,slowdown<=1", as files keep it; limits as columns have them: errors and slowdowns as fractions. */
const boundsOf = (where: string) =>
    [...where.matchAll(/(\w+)(<=?|>=?)([^,]+)/g)].map(([, name, sign, text]) => {
        const limit = Number(text) / (name === 'error' || name === 'slowdown' ? 100 : 1);
        const holds = (value: number) => !(sign.startsWith('<') ? value > limit : value < limit) && (sign.length > 1 || value !== limit);
        return { column: name === 'bytes' ? 'bytes_per_event' : name, limit, holds };
    });

const errorMetric: Metric = { ...plainMetric('error', 'Error', 'linear'), text: percent, tick: percentTick, published: 'published_error' };

/** What files have of their cells (docs/cost.md, docs/intrusion.md), those that not every file has last; slowdown: NaN where it is not known. */
export const known: Metric[] = [
    { ...plainMetric('swapouts', 'Swap-outs', 'log'), published: 'published_swapouts' },
    errorMetric,
    { ...plainMetric('bytes', 'Bytes per event', 'log', 'bytes_per_event'), text: (value) => value.toPrecision(3) },
    plainMetric('bits', 'Bits', 'log'),
    plainMetric('comparators', 'Comparators', 'log'),
    plainMetric('area', 'Area', 'log'),
    plainMetric('energy', 'Energy per event', 'log'),
    { ...plainMetric('slowdown', 'Slowdown', 'auto'), text: percent, tick: percentTick },
];

/** Those of which all cells, or all tables, have a column. */
export const metricsOf = (rows: { numbers: object }[]): Metric[] => known.filter(({ column }) => rows.every(({ numbers }) => column in numbers));

/** What the sweep is asked for; by default as the tool has it (viewer/sweep_choice.hpp). */
export const objectivesOf = (info: FileInfo): string[] =>
    (info.sweep!.objectives || `error${cellsOf(info).every(({ numbers }) => Number.isFinite(numbers.slowdown)) ? ',slowdown' : ''},bytes,bits`).split(',');

/** What errors may be weighed against, as `figure front` does it by default first: the first objective that all files know, also of trackers. */
export function oversOf(sources: Source[]): Metric[] {
    const tables = sources.flatMap(({ info: { sweep, trackers } }) => [sweep, trackers].flatMap((each) => (each ? [each.rows] : [])));
    const first = sources.find(({ info }) => info.sweep);
    const wanted = first ? objectivesOf(first.info) : [];
    const some = known.filter(({ id, column }) => id !== 'error' && tables.some(({ numbers }) => column in numbers));
    return sort(some, ({ id, column }) => (tables.every(({ numbers }) => column in numbers) ? wanted.indexOf(id) + 1 || 98 : 99));
}

/** Those of the file, and at last the worst of all workloads. */
export const cellsOf = once((info: FileInfo): Cell[] =>
    [...rowsIn(info.sweep!.rows), ...rowsIn(info.sweep!.worst)].map((row) => ({ ...row, id: `${row.texts.granularity},${row.numbers.counters}`, row: `G = ${row.texts.granularity}` })),
);

/** Workloads, links, what is counted there, and cells: these are compared (viewer/sweep_view.hpp). */
export const fieldsOf = (cells: Cell[]) => flatGroup(cells, ({ texts }) => texts.workload, ({ texts }) => texts.link, ({ texts }) => texts.counting ?? '');

interface Panel {
    source: Source;
    title: string[];
    cells: Cell[];
    bounds: ReturnType<typeof boundsOf>;
    /** Of trackers. */
    marks: Cell[];
}

export type Fronts = Pick<Picture, 'over' | 'chosen'> & { panels: Panel[] };
const error = ({ numbers }: Cell): number => numbers.error;
const admitted = ({ numbers }: Cell): boolean => numbers.admitted !== 0;
const pale = (cell: Cell): string => (admitted(cell) ? '' : '55');
const programOf = ({ info }: Source): string => [info.input, ...info.settings].join(' ');

export function panelsOf(sources: Source[]): Panel[] {
    const [several, unlike] = [sources.length > 1, sources.some(({ info }) => info.machine.name !== sources[0].info.machine.name)];
    const mixed = sources.some(({ info }) => info.count !== sources[0].info.count);
    const panel = (source: Source, workload: string, link: string, cells: Cell[], marks: Cell[]): Panel => ({
        ...{ source, cells, marks, bounds: boundsOf(source.info.sweep?.where ?? '') },
        title: [...(several ? [source.info.name] : []), `${workload}${unlike ? ` on ${source.info.machine.name}` : ''}`, link, ...(mixed && source.info.count ? [`first ${full(source.info.count)} references`] : [])],
    });
    const byFile = sources.map((source) =>
        fieldsOf(source.info.sweep ? cellsOf(source.info) : []).map(([workload, link, counting, own]) => panel(source, workload, [link, counting].filter(Boolean).join(', '), own, [])));
    const workload = ({ cells: [{ texts }] }: Panel) => texts.workload;
    const workloads = byFile.flat().map(workload);
    // what has one workload, and one place among its links, in several files is side by side
    const places = byFile.flatMap((own) => groups(own, workload).flatMap(([, each]) => [...each.entries()]));
    const panels = sort(places, ([, each]) => workloads.indexOf(workload(each)), ([link]) => link).map(([, each]) => each);
    for (const source of sources) {
        const { trackers, machine } = source.info;
        if (!trackers) continue;
        const marks = rowsIn(trackers.rows).map((row): Cell => ({ ...row, id: row.texts.tracker, row: row.texts.tracker }));
        const same = ({ source: { info }, cells: [cell] }: Panel) =>
            cell?.texts.workload === programOf(source) && cell.texts.link === trackers.link && info.machine.name === machine.name && info.count === source.info.count && (cell.numbers.events ?? info.sweep!.events) === trackers.events;
        const found = panels.filter(same);
        // by what is known of them
        const within = ({ numbers }: Cell, { bounds }: Panel) => bounds.every(({ column, holds }) => numbers[column] === undefined || holds(numbers[column]));
        found.forEach((each) => each.marks.push(...marks.map((mark) => ({ ...mark, numbers: Object.assign(Object.create(mark.numbers), { admitted: Number(within(mark, each)) }) }))));
        if (!found.length) panels.push(panel(source, programOf(source), trackers.link, [], marks));
    }
    return panels;
}

/** Those that no other is as good as in error and in this, and better in one, from the least error on; what is not known of a cell leaves it out. */
export function paretoFront(cells: Cell[], over: Metric): Cell[] {
    let [least, at] = [Infinity, 0];
    return sort(having(cells, over).filter((cell) => Number.isFinite(error(cell))), error, over.value).filter((cell) => {
        const value = over.value(cell);
        if (value > least || (value === least && error(cell) > at)) return false;
        [least, at] = [value, error(cell)];
        return true;
    });
}

const shownFront = ({ cells, marks }: Panel, over: Metric): Cell[] => paretoFront([...cells, ...marks].filter(admitted), over);
/** As show marks it: what remains of a front, and what else is on it. */
export const markOf = ({ numbers }: Cell): string => (numbers.remains === 1 ? '*' : numbers.front === 1 ? '.' : '');

/** Settings but those that choose events, which panels are named by. */
const settingsOf = ({ texts: { settings, counting = '' } }: Cell) => settings.split(',').filter((each) => !counting.split(',').some((other) => each.split('=')[0] === other.split('=')[0])).join();

/** What settings differ in, of several keys by values alone ("4/16"), and what these are of ("ways/width"); of unequal keys as they are. */
function shortSettings(panels: Panel[]): { keys: string; of: (cell: Cell) => string } {
    const partsOf = (settings: string) => settings.split(',').map((each) => each.split('='));
    const all = [...new Set(panels.flatMap(({ cells }) => cells.map(settingsOf)))].map(partsOf), keys = all[0]?.map(([key]) => key) ?? [];
    const alike = all.every((parts) => parts.length === keys.length && parts.every(([key], i) => key === keys[i]));
    const differing = range(keys.length).filter((i) => new Set(all.map((parts) => parts[i]?.[1])).size > 1), alone = +(differing.length > 1);
    if (!alike || !differing.length) return { keys: '', of: settingsOf };
    return { keys: alone ? differing.map((i) => keys[i]).join('/') : '', of: (cell) => differing.map((i) => partsOf(settingsOf(cell))[i].slice(alone).join('=')).join('/') };
}

const shapes = { circle: symbolCircle, square: symbolSquare, diamond: symbolDiamond2, triangle: symbolTriangle, cross: symbolCross, star: symbolStar };
const marks = words.marks as (keyof typeof shapes)[];

/** Policies and settings, which shapes tell apart: all, or of many those that remain or are on a front most often; the rest is small. */
function kindsOf({ panels, over }: Fronts) {
    const cells = panels.flatMap((panel) => panel.cells);
    const { of: short } = shortSettings(panels);
    const policies = new Set(cells.map(({ texts }) => texts.eviction)).size > 1;
    const kind = (cell: Cell) => [(policies || !settingsOf(cell)) && cell.texts.eviction, short(cell)].filter(Boolean).join(', ');
    const names = [...new Set(cells.map(kind))];
    const fronts = () => new Set(panels.flatMap((panel) => [...panel.cells.filter(({ numbers }) => numbers.remains === 1), ...shownFront(panel, over)]));
    const found = names.length > marks.length && rollup([...fronts()].filter(({ texts }) => !texts.tracker), (own) => own.length, kind);
    const named = found ? sort(names.filter((name) => found.has(name)), (name) => -found.get(name)!).slice(0, marks.length) : names;
    return { named, others: names.length - named.length, of: (cell: Cell) => named.indexOf(kind(cell)) };
}

/** Open but for the first, so that none hides another. */
function drawKind(p: Painter, kind: number, [x, y]: Point, radius: number, colour: string, edge = ''): void {
    if (kind < 0) p.dot(x, y, 2, colour, edge);
    else p.mark(shapes[marks[kind]], x, y, radius, kind ? '' : colour, kind ? edge || colour : edge);
}

const countsOf = (panels: Panel[]) => counters(panels.flatMap(({ cells }) => cells));
const [smallest, small] = [330, 270];

/** What the legend has of what is drawn: numbers of counters, of many some, with their colours; marks; what labels have. */
function legendOf({ panels, over }: Fronts, kinds: ReturnType<typeof kindsOf>): { name: string; colour?: string; kind?: number }[] {
    const [counts, { keys }] = [countsOf(panels), shortSettings(panels)];
    const [palette, step] = [distinctColours(counts.length), Math.ceil(counts.length / words.counts)];
    const named = counts.flatMap((count, i) => (i % step ? [] : [{ name: `C = ${count}`, colour: palette[i] }]));
    const drawn = (mark: (panel: Panel) => Cell[]) => having(panels.flatMap(mark), over).length > 0;
    const shaped = kinds.named.length + kinds.others > 1 ? kinds.named.map((name, kind) => ({ name, kind })) : [];
    const others = [
        kinds.others > 0 && `· ${full(kinds.others)} other settings`,
        step > 1 && `and ${counts.length - named.length} between`,
        drawn(({ cells }) => cells.filter(({ numbers }) => numbers.remains === 1)) && '○ remaining',
        drawn(({ marks }) => marks) && `◇ ${words.trackers}`,
        drawn(({ cells, marks }) => [...cells, ...marks].filter((each) => !admitted(each))) && words.pale,
        panels.some(({ bounds }) => bounds.some(({ column }) => column === 'error' || column === over.column)) && `┊ ${words.bounds}`,
        keys && `G, C, ${keys}`,
    ];
    return [...named, ...shaped, ...others.flatMap((name) => (name ? [{ name }] : []))];
}

/** The legend stands beside the panels, or under them where these would become too narrow; panels of several files are in columns of theirs. */
export function gridOf(fronts: Fronts, width: number) {
    const kinds = kindsOf(fronts);
    const legend = legendOf(fronts, kinds);
    const wide = endsWidth(legend.map(({ name }) => name));
    const beside = width - wide >= smallest, room = beside ? width - wide : width;
    const { panels } = fronts;
    const most = Math.max(1, Math.min(panels.length, words.across, Math.floor(room / smallest)));
    const files = new Set(panels.map(({ source }) => source)).size;
    const across = most > files ? most - (most % files) : (range(most, 1, -1).find((each) => files % each === 0) ?? most);
    const high = Math.max(small, Math.min(0.4 * (room / across), 800));
    const columns = beside ? 1 : Math.max(1, Math.floor(width / wide));
    const names = 30 + 16 * Math.ceil(legend.length / columns);
    const panelled = high * Math.ceil(panels.length / across);
    const places = legend.map((each, i) => ({ ...each, x: 14 + (beside ? room : 0) + (i % columns) * wide, y: 24 + (beside ? 0 : panelled) + 16 * Math.floor(i / columns) }));
    return { across, high, width: room / across, kinds, places, height: beside ? Math.max(panelled, names) : panelled + names };
}

/** What a cell is called beside others of its panel. */
function labelOf(cell: Cell, cells: Cell[], short: (cell: Cell) => string): string {
    const [eviction, settings] = (['eviction', 'settings'] as const).map((key) => cells.some(({ texts }) => texts[key] !== cell.texts[key]));
    return [cell.row, `C = ${cell.numbers.counters}`, ...(eviction ? [cell.texts.eviction] : []), ...(settings ? [short(cell)] : [])].join(', ');
}

/** Where the label of a point may begin in the box (figure_front_layout.py): clear of all points, and nearer to its own (or those at the same place) than to others; `far`: where a line leads to it, the nearest first. */
function placesOf([x, y]: Point, wide: number, box: Box, points: Point[], far = false): Point[] {
    const { beside, down, out, far: farther, same, clear, line } = words.labels;
    const gap = ([left, at]: Point, [a, b]: Point) => Math.hypot(Math.max(0, left - a, a - left - wide), Math.max(0, Math.abs(b - at) - 6));
    const others = points.filter(([a, b]) => Math.hypot(a - x, b - y) > same);
    const free = (place: Point, own = gap(place, [x, y])) => own >= (far ? line : clear) && others.every((each) => gap(place, each) >= (far ? clear : own));
    const places = [...(far ? out : [beside]).flatMap((apart) => [x + apart, x - apart - wide]), x - wide / 2].flatMap((left) => (far ? farther : down).map((dy): Point => [left, y + dy]));
    return sort(places, (each) => (far ? gap(each, [x, y]) : 0)).filter((each) => each[0] >= box.x && each[0] + wide <= box.x + box.width && each[1] > box.y && each[1] < box.y + box.height - 6 && free(each));
}

/** Parts of a title in a line, or in two. */
const titleLines = (parts: string[], width: number): string[] =>
    (textWidth(parts.join(', '), 12, 600) > width ? [parts.slice(0, -1).join(', '), parts.at(-1)!] : [parts.join(', ')]).map((each) => shortened(each, width, 12, 600));

function drawPanel(p: Painter, panel: Panel, { over, chosen, panels }: Fronts, box: Box, xs: ValueScale, ys: ValueScale, look: (cell: Cell) => { kind: number; colour: string }): Hit<Cell>[] {
    const { ink, faint } = theme();
    const at = (x: number, y: number): Point => [box.x + (rule.inset + (1 - rule.inset) * xs.at(x)) * box.width, upIn(box, ys)(y)];
    const place = (cell: Cell) => at(error(cell), over.value(cell));
    drawUp(p, box, ys, over.tick, box.x < 100 ? axisTitle(over.title.toLowerCase(), ys) : '');
    drawAcross(p, box, xs.ticks.map((tick): [number, string] => [at(tick, 0)[0], percentTick(tick)]), 'error');
    if (panels.length > 1) titleLines(panel.title, box.width + 50).reverse().forEach((line, i) => p.text(box.x - 50, box.y - 14 - 15 * i, line, { colour: ink, size: 12, weight: 600 }));
    for (const { column, limit } of panel.bounds) {
        const [x, y] = at(limit, limit);
        if (column === 'error' && x <= box.x + box.width) p.line([[x, box.y], [x, box.y + box.height]], faint, 1.5, [2, 3]);
        if (column === over.column && y >= box.y && y < box.y + box.height) p.line([[box.x, y], [box.x + box.width, y]], faint, 1.5, [2, 3]);
    }
    const cells = sort(having(panel.cells, over), ({ numbers }) => +(numbers.remains === 1)); // these over others
    for (const cell of cells) {
        const { kind, colour } = look(cell);
        drawKind(p, kind, place(cell), cell.numbers.front === 1 ? 4.5 : 2.5, colour + pale(cell), cell === chosen ? ink : '');
        if (cell.numbers.remains === 1) p.dot(...place(cell), 7, '', ink);
    }
    const marks = having(panel.marks, over).filter((each) => Number.isFinite(error(each)));
    // between two of them nothing is known that is better than the first
    p.line(shownFront(panel, over).map(place), ink, 1.5, [], curveStepAfter);
    const named = cells.filter(({ numbers }) => numbers.remains === 1);
    const [{ of: short }, points] = [shortSettings(panels), [...cells, ...marks].map(place)];
    drawLabels(p, [...marks, ...named].map((cell) => {
        const text = shortened(marks.includes(cell) ? cell.row : labelOf(cell, panel.cells, short), box.width, 11);
        const [places, far] = [false, true].map((each) => placesOf(place(cell), textWidth(text, 11), box, points, each));
        return { text, colour: marks.includes(cell) ? ink : look(cell).colour, places, far, from: place(cell) };
    }));
    for (const mark of marks) p.mark(symbolDiamond2, ...place(mark), 5.4, '', ink + pale(mark));
    notesOf(panel, over).forEach((note, i) => drawNote(p, note, { ...box, y: box.y + 8 + 15 * i, height: 0 }));
    return cells.map((cell) => around(place(cell), cell));
}

/** What is not drawn, or all pale. */
function notesOf({ source, cells, marks, bounds }: Panel, over: Metric): string[] {
    const own: [Cell[], string][] = [[cells, 'cells'], [marks, words.trackers]];
    const told = own.map(([all, name]) => `${all.length - having(all, over).length} of ${all.length} ${name}`).filter((each) => !each.startsWith('0 '));
    return [...(told.length ? [`${over.title.toLowerCase()} not known of ${told.join(', ')}`] : []), ...([...cells, ...marks].some(admitted) ? [] : [bounds.length && cells.some(({ numbers }) => numbers.events ?? source.info.sweep!.events) ? words.outside : words.unseen])];
}

/** `own`: cells of this file can be clicked. */
export function drawFronts(p: Painter, picture: Fronts, own?: Source): Hit<Cell>[] {
    const { panels, over } = picture;
    const all = having(panels.flatMap(({ cells, marks }) => [...cells, ...marks]), over);
    if (all.length === 0) return drawNote(p, `${over.title}: not known of any cell`), [];
    const [ys, xs] = [over, { value: error, scale: 'linear' as const }].map(({ value, scale }) => valueScale(extentOf(all.map(value)), scale));
    const counts = countsOf(panels);
    const palette = distinctColours(counts.length);
    const look = (cell: Cell) => ({ kind: kinds.of(cell), colour: palette[counts.indexOf(cell.numbers.counters)] });
    const { across, width, high, kinds, places } = gridOf(picture, p.width);
    const top = panels.length > 1 ? 19 + 15 * Math.max(...panels.map(({ title }) => titleLines(title, width - 26).length)) : 14;
    const hits = panels.flatMap((panel, i) => {
        const [x, y] = [(i % across) * width, Math.floor(i / across) * high];
        const box = { x: x + 76, y: y + top, width: width - 76, height: high - top - 46 };
        return drawPanel(p, panel, picture, box, xs, ys, look).filter(() => panel.source === own);
    });
    places.forEach(({ name, colour, kind, x, y }) => {
        const [own, marked] = [colour ?? theme().faint, colour !== undefined || kind !== undefined];
        if (marked) drawKind(p, kind ?? 0, [x, y], 4, own);
        p.text(marked ? x + 10 : x - 4, y, name, { colour: own, size: 12, weight: 600 });
    });
    return hits;
}

/** All points of the panels. */
export function frontsTable({ panels, over }: Fronts): Table {
    const [fronts, [name, value]] = [panels.map((panel) => shownFront(panel, over)), metricColumn(over)];
    const points = panels.flatMap(({ title, cells, marks }, i) => [...cells, ...marks].map((cell) => ({ title, cell, tracker: marks.includes(cell), front: fronts[i].includes(cell) })));
    return tableBy(`Error and ${over.title.toLowerCase()}`, points, [
        ['part', ({ title }) => title.join(', ')],
        ['monitor', ({ cell, tracker }) => (tracker ? cell.row : [cell.texts.eviction, cell.texts.settings].filter(Boolean).join(', '))],
        ['granularity', ({ cell, tracker }) => (tracker ? '' : cell.texts.granularity)],
        ['counters', ({ cell }) => cell.numbers.counters ?? NaN],
        ['error %', ({ cell }) => 100 * error(cell)],
        [name, ({ cell }) => value(cell)],
        ['admitted', ({ cell }) => (admitted(cell) ? 'yes' : '')],
        ['mark', ({ cell }) => markOf(cell)],
        ['on the front of both', ({ front }) => (front ? 'yes' : '')],
    ], { keys: 4 });
}

type Trackers = NonNullable<FileInfo['trackers']>;

/** The worst first, those without reports last. */
export const trackersTable = ({ link, top, rows, copies }: Trackers): Table =>
    tableBy(`Trackers on ${link}`, rowsIn(rows), [
        ...inWords('tracker', 'bits'),
        ...(copies > 1 ? [['bits of all copies', ({ numbers }) => copies * numbers.bits] as Column<TableRow>] : []),
        ...inWords('comparators', 'area', 'reports', 'lost', 'bytes per event', 'error %'),
        [`recall of ${top} %`, ({ numbers }) => 100 * numbers.recall],
        ...inWords('worst recall %', 'precision %'),
        ['remark', ({ numbers }) => (numbers.traffic_is_off === 1 ? 'traffic is off by more than a tenth' : '')],
        ['settings', ({ texts }) => texts.spec],
    ], { sorted: copies > 1 ? 8 : 7 });

export function trackersView(app: App): View {
    const sources = [app.source, ...app.others];
    const [own, panels] = [sources.filter(({ info }) => info.trackers), panelsOf(sources).filter(({ marks }) => marks.length > 0)];
    const overs = oversOf(sources);
    const chosen = () => overs.find(({ id }) => id === app.state.over) ?? overs[0];
    const picture = (): Fronts => ({ panels, over: chosen(), chosen: null });
    const figure = figureOf({
        name: () => `${baseName(own[0])}-front`,
        label: () => `Error against ${chosen().title.toLowerCase()} of trackers: ${own.map(titleOf).join('; ')}`,
        height: (width) => gridOf(picture(), width).height,
        draw: (p) => void drawFronts(p, picture()),
        table: () => frontsTable(picture()),
        python: () => snippet({ FILE: own[0].info.name, COLUMNS: [chosen().column] }, 'trackers'),
    });
    const controls = h('div', { class: 'row' });
    figure.bar.append(h('h3', {}, 'Error against what it costs'), controls);
    const lonely = sources.some(({ info }) => info.sweep) ? panels.filter(({ cells }) => !cells.length).map(({ title }) => title.join(', ')) : [];
    const tables = own.map(({ info, info: { trackers } }) => {
        const { copies, events, phases } = trackers!;
        const text = `${info.name}: ${full(events)} events in ${full(phases)} phases; ${full(copies)} ${copies === 1 ? 'copy' : 'copies'} of the link.`;
        return h('section', { class: 'card' }, h('p', { class: 'note' }, text), tableElement(trackersTable(trackers!)));
    });
    const element = h('div', { class: 'view' }, lonely.length > 0 && h('p', { class: 'note' }, `Without a front of a sweep, as none that is open has cells of this workload, link and machine: ${lonely.join('; ')}.`), figure.element, ...tables);
    const update = () => {
        fill(controls, select('Error against', overs.map(({ id, title }): [string, string] => [id, title.toLowerCase()]), chosen().id, (over) => app.set({ over })));
        figure.changed();
    };
    return { element, update };
}
