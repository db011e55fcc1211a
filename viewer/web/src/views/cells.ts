// SPDX-License-Identifier: BSD-3-Clause
// Cells of sweeps and intrusion experiments as a matrix and as lines over the counters; of two files how much more the second has.
import { groups, sort } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { baseName, titleOf, type App, type State, type View } from '../app';
import { dotRadii, drawAcross, drawCurves, drawEnds, drawNote, drawUp, endsHeight, endsWidth, extentOf, upIn, valueScale, type ValueScale, type Wanted } from '../chart';
import { fill, h, inWords, segmented, select, tableBy, type Table } from '../dom';
import { figureOf, type Hit } from '../figure';
import { brief, full, percent, signed } from '../numbers';
import { distinctColours, theme, type Painter, type Point } from '../paint';
import type { TableRow } from '../protocol';
import { front as words } from '../../../drawing.json';
import { drawMatrix, matrixHeight, type Matrix } from './matrix';

export interface Cell extends TableRow {
    /** As the URL has it. */
    id: string;
    /** Its row of the matrix and its line. */
    row: string;
}

export interface Metric {
    id: string;
    /** Column of the file's rows. */
    column: string;
    title: string;
    value: (cell: Cell) => number;
    text: (value: number) => string;
    /** On axes, where numbers are round. */
    tick: (value: number) => string;
    scale: Wanted;
    /** Column of what was published of it. */
    published?: string;
}

/** Of tables: percentages and percentage points say so in the name. */
export function metricColumn({ title, text, value }: Metric, name = title.toLowerCase(), of = value): [string, (cell: Cell) => number] {
    const unit = / (%|points)$/.exec(text(0.02))?.[0] ?? '';
    return [name + unit, (cell) => (unit ? 100 : 1) * of(cell)];
}

/** A metric of a column as it is. */
export const plainMetric = (id: string, title: string, scale: Metric['scale'], column = id): Metric => ({ id, column, title, scale, value: ({ numbers }) => numbers[column], text: full, tick: brief });

export interface Picture {
    cells: Cell[];
    metric: Metric;
    /** What the error is weighed against. */
    over: Metric;
    chosen: Cell | null;
    /** The same of another file, for one scale. */
    beside: Cell[];
}

const names = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.row))];
export const counters = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.numbers.counters))].sort((a, b) => a - b);
/** Cells of which a metric is known. */
export const having = (cells: Cell[], metric: Metric) => cells.filter((cell) => Number.isFinite(metric.value(cell)));

/** What was published of a cell, where that is no misprint; NaN: nothing. */
const publishedOf = ({ numbers }: Cell, { published }: Metric): number =>
    published && numbers.published === 1 && numbers.published_misprint !== 1 ? numbers[published] : NaN;

/** What was published of a cell, and ours in its parts. */
function publishedText(metric: Metric, cell: Cell, width: number): string {
    const { numbers } = cell;
    if (!metric.published || numbers.published !== 1) return '';
    if (metric.id === 'error') return percent(numbers[metric.published]);
    const ratio = numbers.published_misprint === 1 ? 'misprint' : `× ${(metric.value(cell) / numbers[metric.published]).toFixed(2)}`;
    return width > 110 ? `${numbers[metric.published].toLocaleString('en')}  ${ratio}` : ratio;
}

const matrixOf = ({ cells, metric, chosen, beside }: Picture): Matrix<Cell> => {
    const [rows, columns] = [names(cells), counters(cells)];
    return {
        ...{ facet: null, blank: 'not known', chosen, text: metric.text, brief: metric.tick, scale: metric.scale, beside: beside.map(metric.value) },
        down: { name: 'granularity', values: rows },
        across: { name: 'counters', values: columns.map(String) },
        cells: cells.map((cell) => ({ at: [0, rows.indexOf(cell.row), columns.indexOf(cell.numbers.counters)], value: metric.value(cell), cell })),
        under: (cell, width) => publishedText(metric, cell, width),
    };
};

/** What an axis is of, and how its values are spread; shortly, as it stands upright. */
export const axisTitle = (title: string, { spread }: ValueScale): string => (spread === 'symmetric logarithmic' ? `${title}, ${spread}` : title);
export const around = ([x, y]: Point, cell: Cell): Hit<Cell> => ({ x: x - 8, y: y - 8, width: 16, height: 16, cell });

export function drawLines(p: Painter, { cells: all, metric, chosen, beside }: Picture): Hit<Cell>[] {
    const colours = theme();
    const cells = having(all, metric);
    if (cells.length === 0) return drawNote(p, `${metric.title}: not known of any cell`), [];
    const columns = counters(cells);
    const dots = metric.id === 'swapouts' ? cells.filter((cell) => publishedOf(cell, metric) > 0) : [];
    const scale = valueScale(extentOf([...cells, ...beside].map(metric.value), dots.map((cell) => publishedOf(cell, metric))), metric.scale);
    const rows = names(cells);
    const box = { x: 76, y: 14, width: p.width - 76 - endsWidth(rows), height: p.height - 60 };
    const up = upIn(box, scale);
    const across = scaleLog([columns[0] / 1.1, columns.at(-1)! * 1.1], [box.x, box.x + box.width]);
    drawUp(p, box, scale, metric.tick, axisTitle(metric.title, scale));
    drawAcross(p, box, columns.map((count): [number, string] => [across(count), String(count)]), 'counters');
    const palette = distinctColours(rows.length);
    const curves = rows.map((row, i) => {
        const own = cells.filter((cell) => cell.row === row).sort((a, b) => a.numbers.counters - b.numbers.counters);
        return { own, points: own.map((cell): Point => [across(cell.numbers.counters), up(metric.value(cell))]), colour: palette[i], width: 2, dash: [] };
    });
    drawCurves(p, curves);
    const radii = dotRadii(curves.flatMap(({ points }) => points), 3.5);
    const hits: Hit<Cell>[] = [];
    for (const { own, points, colour } of curves)
        own.forEach((cell, i) => {
            const [x, y] = points[i];
            p.dot(x, y, Math.max(radii[hits.length], cell === chosen ? 6 : 0), colour, cell === chosen ? colours.ink : '');
            if (dots.includes(cell)) p.dot(x, up(publishedOf(cell, metric)), 3, colours.panel, colour);
            hits.push(around([x, y], cell));
        });
    drawEnds(p, box, curves.map(({ points, colour }, i) => ({ end: points.at(-1)!, text: rows[i], colour })));
    if (dots.length) p.text(box.x + 8, box.y + box.height - 10, '● ours   ○ published', { colour: colours.faint, size: 11 });
    return hits;
}

export interface CellFigure {
    name: string; title: string;
    paint: (p: Painter, picture: Picture) => Hit<Cell>[];
    height: (picture: Picture, width: number) => number;
    /** It stands alone, as wide as the page. */
    wide?: boolean;
    /** Default: that of the cells. */
    table?: (picture: Picture) => Table;
    /** Default: the metric of the cells. */
    python?: (picture: Picture) => string;
}

/** A choice of cells: by a column of the file, kept in the URL. */
export interface Choice {
    title: string; key: keyof State; of: (cell: Cell) => string;
    /** What has more of it is first; default: as they are. */
    rank?: (own: Cell[]) => number;
}

export interface Cells {
    cells: Cell[]; metrics: Metric[];
    /** What the error may be weighed against; empty: nothing. */
    overs: Metric[];
    choices: Choice[];
    /** What matters most, in a sentence. */
    answer?: (picture: Picture) => string;
    note: (picture: Picture) => string; table: (picture: Picture) => Table; python: (picture: Picture) => string;
}

/** What is under the pictures, of the chosen cell. */
export type CellDetail = Omit<View, 'update'> & { show: (cell: Cell | null) => void };

export const matrixFigure: CellFigure = {
    ...{ name: 'matrix', title: 'Counters by granularity' },
    paint: (p, picture) => drawMatrix(p, matrixOf(picture)),
    height: (picture, width) => matrixHeight(matrixOf(picture), width),
};
export const linesFigure: CellFigure = {
    ...{ name: 'lines', title: 'Over the number of counters', paint: drawLines },
    height: ({ cells }) => endsHeight(names(cells)),
};

/** The same numbers of another file, and by how much they are more; null where it has no such cell. */
function differences(metric: Metric, twins: Cell[], choices: Choice[]): Metric {
    const key = (cell: Cell) => [cell.id, ...choices.map(({ of }) => of(cell))].join('|');
    const found = new Map(twins.map((cell) => [key(cell), cell]));
    const value = (cell: Cell) => {
        const twin = found.get(key(cell));
        return twin ? metric.value(twin) - metric.value(cell) : NaN;
    };
    return { ...metric, title: `${metric.title}, B − A`, value, text: signed(metric.text), tick: signed(metric.tick), scale: 'auto', published: undefined };
}

export const saidOf = (metrics: Metric[], cell: Cell) => metrics.map(({ title, value, text }) => `${title.toLowerCase()} ${text(value(cell))}`).join(', ');

/** `other`: of the second file. */
export function cellsView(app: App, all: Cells, other: Cells | null, shown: CellFigure[], detail: CellDetail): View {
    const controls = h('div', { class: 'row' });
    const answer = h('h2', { class: 'sentence' });
    const weighed = h('div', { class: 'row' });
    /** Of two files: what tells cells of either apart. */
    const telling = all.choices.filter(({ of }) => [all, other].some((each) => new Set(each?.cells.map(of)).size > 1));
    const differs = () => other !== null && app.state.file === 'difference';

    /** What is chosen of several things, the first where nothing is. */
    const among = <T>(list: T[], key: keyof State, name: (each: T) => string): T => list.find((each) => name(each) === app.state[key]) ?? list[0];

    /** `by`: what there is of each choice among the cells that those before it leave (of a difference: in both files), and which is chosen;
     * `cells`: what all leave; `lack`: what the second file has nothing of. */
    function picture(): Picture & { by: { choice: Choice; names: string[]; name: string }[]; lack: string } {
        let { cells } = all;
        let twins = differs() ? other!.cells : [];
        let lack = '';
        const by = all.choices.map((choice) => {
            const found = new Map(sort(groups(cells, choice.of), ([, own]) => -(choice.rank?.(own) ?? 0)));
            const told = differs() && !lack && telling.includes(choice);
            const theirs = new Set(twins.map(choice.of));
            const alike = theirs.size === found.size && [...found.keys()].every((name) => theirs.has(name));
            const common = [...found.keys()].filter((name) => !told || (theirs.has(name) && (alike || name !== words.worst)));
            const names = common.length ? common : [...found.keys()];
            const name = among(names, choice.key, String);
            cells = found.get(name)!;
            if (!common.length) lack = `Nothing is subtracted: ${app.others[0].info.name} does not have the ${choice.title.toLowerCase()} ${name}; these are cells of ${app.source.info.name}. `;
            if (told) twins = twins.filter((cell) => choice.of(cell) === name);
            return { choice, names, name };
        });
        const plain = among(all.metrics, 'metric', ({ id }) => id);
        const metric = differs() && !lack ? differences(plain, other!.cells, telling) : plain;
        const over = among(all.overs, 'over', ({ id }) => id);
        const beside = differs() || !other ? [] : other.cells.filter((cell) => by.every(({ choice, name }) => !telling.includes(choice) || choice.of(cell) === name));
        return { cells, by, lack, metric, over, beside, chosen: cells.find(({ id }) => id === app.state.cell) ?? null };
    }

    let now = picture();

    /** With the metric of the second file and the difference, where that is shown. */
    function table(): Table {
        const { cells, metric } = now;
        if (!differs() || now.lack) return all.table(now);
        return tableBy(all.table(now).caption, cells, [...inWords('granularity', 'counters'), metricColumn(metric, metric.title)], { keys: 2 });
    }

    function choose(cell: Cell): void {
        const elsewhere = now.by.filter(({ choice, name }) => choice.of(cell) !== name).map(({ choice }) => [choice.key, choice.of(cell)]);
        app.set({ ...Object.fromEntries(elsewhere), cell: cell.id, x: '' });
    }

    const figures = shown.map(({ name, title, paint, height, table: own, python }) => {
        let hits: Hit<Cell>[] = [];
        const made = figureOf({
            name: () => `${baseName(app.source)}-${name}`,
            label: () => `${title}: ${now.metric.title} of ${now.cells.length} cells of ${titleOf(app.source)}`,
            height: (width) => height(now, width),
            draw: (p) => (hits = paint(p, now)),
            table: () => own?.(now) ?? table(),
            python: () => (python ?? all.python)(now),
        });
        made.bar.append(h('h3', {}, title));
        made.picks(() => hits, () => now.chosen, (cell) => `${cell.row}, ${cell.numbers.counters} counters: ${saidOf(all.metrics, cell)}`, choose);
        return made;
    });
    if (all.overs.length > 1) figures.at(-1)!.bar.append(weighed);
    const [first, ...rest] = figures.map((each) => each.element);
    const others = rest.length > 1 && !shown.some(({ wide }) => wide) ? [h('div', { class: 'two' }, ...rest)] : rest;
    const element = h('div', { class: 'view' }, h('section', { class: 'card' }, answer, controls), first, ...others, detail.element);

    function update(): void {
        now = picture();
        const choices = now.by.filter(({ names }) => names.length > 1);
        const named = (list: Metric[], text: (title: string) => string) => list.map((each): [string, string] => [each.id, text(each.title)]);
        fill(
            controls,
            segmented('What is shown', named(all.metrics, String), now.metric.id, (metric) => app.set({ metric })),
            ...choices.map(({ choice: { title, key }, names, name }) => select(title, names.map((each) => [each, each || 'none']), name, (to) => app.set({ [key]: to }))),
            h('span', { class: 'note' }, now.lack + all.note(now)),
        );
        if (now.over) fill(weighed, select('Error against', named(all.overs, (each) => each.toLowerCase()), now.over.id, (over) => app.set({ over })));
        answer.textContent = differs() ? '' : (all.answer?.(now) ?? '');
        figures.forEach((each) => each.changed());
        detail.show(now.chosen);
    }
    return {
        ...{ element, update },
        /** Of the detail, or the metric by cell. */
        totals: () => detail.totals?.() ?? Object.fromEntries(now.cells.map((cell) => [cell.id, now.metric.value(cell)])),
    };
}
