// SPDX-License-Identifier: BSD-3-Clause
// Drawings of what cells of counters and granularity cost and give: lines, and for sweeps the Pareto front; the matrix is in
// sweep_matrix.ts.
import { distinctColours, theme } from '../colours';
import { brief, percent, percentTick, ticks } from '../numbers';
import { dotRadii, drawOverlapping } from '../overlap';
import type { Painter } from '../paint';
import type { SweepCell } from '../protocol';
import { valueAxis, type ValueAxis } from '../scale';

/** What the matrix and the lines need of a cell. */
export interface Cell {
    granularity: string;
    counters: number;
    /** Its row of the matrix and its line; default: the granularity. */
    row?: string;
    published?: SweepCell['published'];
}

export interface Metric<C = SweepCell> {
    id: string;
    /** Column of the file's rows. */
    column: string;
    title: string;
    value: (cell: C) => number;
    text: (value: number) => string;
    /** On axes, where numbers are round; default: `text`. */
    tick?: (value: number) => string;
    /** `auto`: logarithmic where values lie far apart. */
    scale: 'linear' | 'log' | 'auto';
}

const metrics: Metric[] = [
    {
        id: 'swapouts',
        column: 'swapouts',
        title: 'Swap-outs',
        value: (cell) => cell.swapouts,
        text: brief,
        scale: 'log',
    },
    {
        id: 'error',
        column: 'error',
        title: 'Error',
        value: (cell) => cell.error,
        text: percent,
        tick: percentTick,
        scale: 'linear',
    },
    {
        id: 'bytes',
        column: 'bytes_per_event',
        title: 'Bytes per event',
        value: (cell) => cell.bytesPerEvent,
        text: (value) => value.toPrecision(3),
        tick: brief,
        scale: 'log',
    },
];

/** What else files may have of their cells (docs/cost.md, docs/intrusion.md); slowdown: NaN where it is not known. */
const more: Pick<Metric, 'id' | 'title' | 'text' | 'tick' | 'scale'>[] = [
    { id: 'bits', title: 'Bits', text: brief, scale: 'log' },
    { id: 'comparators', title: 'Comparators', text: brief, scale: 'log' },
    { id: 'area', title: 'Area', text: brief, scale: 'log' },
    { id: 'energy', title: 'Energy per event', text: brief, scale: 'log' },
    { id: 'slowdown', title: 'Slowdown', text: percent, tick: percentTick, scale: 'auto' },
];

/** All that the cells of a sweep tell. */
export function metricsOf(cells: SweepCell[]): Metric[] {
    const found = more.filter(({ id }) => cells.length > 0 && cells.every((cell) => id in cell.more));
    return [
        ...metrics,
        ...found.map((each): Metric => ({ ...each, column: each.id, value: (cell) => cell.more[each.id] })),
    ];
}

/** What a cell takes in hardware and by how much it slows the program, in words; empty where the file does not tell. */
export const costText = (cell: SweepCell): string =>
    more
        .filter(({ id }) => id in cell.more)
        .map(({ id, title, text }) => `${title.toLowerCase()} ${Number.isNaN(cell.more[id]) ? 'not known' : text(cell.more[id])}`)
        .join(', ');

export interface Picture<C extends Cell = SweepCell> {
    cells: C[];
    metric: Metric<C>;
    chosen: C | null;
}

/** Where a cell can be clicked. */
export interface Hit<C = SweepCell> {
    x: number;
    y: number;
    width: number;
    height: number;
    cell: C;
}

export const rowOf = (cell: Cell): string => cell.row ?? `G = ${cell.granularity}`;
export const rowsOf = (cells: Cell[]) => [...new Set(cells.map(rowOf))];
export const counters = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.counters))].sort((a, b) => a - b);

/** Pixels for the names of rows. */
export const namesWidth = (cells: Cell[], least: number): number =>
    Math.max(least, 32 + 6.8 * Math.max(0, ...rowsOf(cells).map((each) => each.length)));

interface Frame {
    left: number;
    top: number;
    width: number;
    height: number;
    x: (value: number) => number;
    y: (value: number) => number;
}

function frameOf(p: Painter, xs: [number, number], logX: boolean, y: ValueAxis, names = 84): Frame {
    const [left, top, width, height] = [66, 14, p.width - 66 - names, p.height - 60];
    const [least, most] = xs;
    const fx = (value: number) =>
        logX ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least || 1);
    return {
        left,
        top,
        width,
        height,
        x: (value) => left + fx(value) * width,
        y: (value) => top + height - y.at(value) * height,
    };
}

function drawGrid(p: Painter, frame: Frame, yTicks: number[], text: (value: number) => string, title: string): void {
    const colours = theme();
    for (const tick of yTicks) {
        const y = frame.y(tick);
        if (y < frame.top - 1 || y > frame.top + frame.height + 1) continue;
        p.line([[frame.left, y], [frame.left + frame.width, y]], tick === 0 ? colours.line : colours.grid);
        p.text(frame.left - 8, y, text(tick), { colour: colours.faint, size: 11, anchor: 'end' });
    }
    p.line([[frame.left, frame.top + frame.height], [frame.left + frame.width, frame.top + frame.height]], colours.line);
    p.text(frame.left + frame.width / 2, p.height - 10, title, { colour: colours.faint, size: 12, anchor: 'middle' });
}

/** Says that there is nothing to draw, and why. */
function drawNothing(p: Painter, title: string): void {
    p.text(p.width / 2, p.height / 2, `${title}: not known of any cell`, { colour: theme().faint, size: 13, anchor: 'middle' });
}

/** What the axis is of, and how its values are spread; shortly, as it stands upright. */
const axisTitle = (title: string, { name }: ValueAxis): string =>
    name === 'symmetric logarithmic' ? `${title}, symmetric logarithmic` : title;

/** Cells of which it is known. */
const having = <C extends Cell>(cells: C[], metric: Metric<C>): C[] =>
    cells.filter((cell) => Number.isFinite(metric.value(cell)));

export function drawLines<C extends Cell>(p: Painter, whole: Picture<C>): Hit<C>[] {
    const colours = theme();
    const picture = { ...whole, cells: having(whole.cells, whole.metric) };
    const { value, text, tick, scale, title } = picture.metric;
    if (picture.cells.length === 0) {
        drawNothing(p, title);
        return [];
    }
    const columns = counters(picture.cells);
    const values = picture.cells.flatMap((cell) => [
        value(cell),
        ...(cell.published && !cell.published.misprint && picture.metric.id === 'swapouts'
            ? [cell.published.swapouts]
            : []),
    ]);
    const ys = valueAxis(values, scale);
    const ends: [number, number] = [columns[0] / 1.1, columns[columns.length - 1] * 1.1];
    const frame = frameOf(p, ends, true, ys, namesWidth(picture.cells, 84));
    drawGrid(p, frame, ys.ticks, tick ?? text, 'counters');
    p.text(12, frame.top + frame.height / 2, axisTitle(title, ys), { colour: colours.faint, size: 12, anchor: 'middle', upright: true });
    columns.forEach((count) =>
        p.text(frame.x(count), frame.top + frame.height + 15, String(count), { colour: colours.faint, size: 11, anchor: 'middle' }),
    );
    const hits: Hit<C>[] = [];
    const names = rowsOf(picture.cells);
    const palette = distinctColours(names.length);
    const at = (cell: C): [number, number] => [frame.x(cell.counters), frame.y(value(cell))];
    const rows = names.map((name) =>
        columns
            .map((count) => picture.cells.find((each) => rowOf(each) === name && each.counters === count))
            .filter((each) => each !== undefined),
    );
    const curves = rows.map((row, i) => ({ points: row.map(at), colour: palette[i], width: 2, dash: [] }));
    drawOverlapping(p, curves);
    const radii = dotRadii(curves.flatMap(({ points }) => points), 3.5);
    rows.forEach((row, i) => {
        for (const cell of row) {
            const [x, y] = at(cell);
            const chosen = cell === picture.chosen;
            p.dot(x, y, Math.max(radii[hits.length], chosen ? 6 : 0), palette[i], chosen ? colours.ink : '');
            if (picture.metric.id === 'swapouts' && cell.published && !cell.published.misprint)
                p.dot(x, frame.y(cell.published.swapouts), 3, colours.panel, palette[i]);
            hits.push({ x: x - 8, y: y - 8, width: 16, height: 16, cell });
        }
    });
    drawLabels(p, frame, curves.map(({ points, colour }, i) => ({ end: points[points.length - 1], text: names[i], colour })));
    if (picture.metric.id === 'swapouts' && picture.cells.some((cell) => cell.published))
        p.text(frame.left + 8, frame.top + frame.height - 10, '● ours   ○ published', { colour: colours.faint, size: 11 });
    return hits;
}

const labelHeight = 14;

/** High enough for a name per row beside the lines. */
export const linesHeight = (cells: Cell[]): number => Math.max(320, 60 + labelHeight * rowsOf(cells).length);
/** The same for a name per number of counters. */
export const paretoHeight = (cells: Cell[]): number => Math.max(320, 70 + 16 * counters(cells).length);

/** Places at least a label apart, in order, as near as they can be to what is wanted: groups that touch share how far each is moved. */
export function movedApart(wanted: number[], least: number, most: number): number[] {
    const groups: { sum: number; count: number }[] = [];
    const place = ({ sum, count }: { sum: number; count: number }) => sum / count;
    wanted.forEach((each, i) => {
        groups.push({ sum: each - i * labelHeight, count: 1 });
        for (let last = groups.length - 1; last > 0 && place(groups[last - 1]) >= place(groups[last]); --last) {
            const { sum, count } = groups.pop()!;
            groups[last - 1] = { sum: groups[last - 1].sum + sum, count: groups[last - 1].count + count };
        }
    });
    const room = Math.max(least, most - (wanted.length - 1) * labelHeight);
    const places = groups.flatMap((group) => new Array<number>(group.count).fill(Math.min(room, Math.max(least, place(group)))));
    return places.map((each, i) => each + i * labelHeight);
}

/** Names of curves beside their ends, each with a line to its own. */
function drawLabels(p: Painter, frame: Frame, labels: { end: [number, number]; text: string; colour: string }[]): void {
    labels.sort((a, b) => a.end[1] - b.end[1]);
    const ys = movedApart(labels.map(({ end }) => end[1]), frame.top, frame.top + frame.height);
    const x = frame.left + frame.width + 18;
    labels.forEach(({ end, text, colour }, i) => {
        p.line([end, [x - 3, ys[i]]], colour, 1);
        p.text(x, ys[i], text, { colour, size: 12, weight: 600 });
    });
}

/** Cells that no other beats in error and in what it is weighed against at once. */
export function paretoFront(all: SweepCell[], over: Metric): SweepCell[] {
    const cells = having(all, over);
    const better = (a: SweepCell, b: SweepCell) =>
        a.error <= b.error && over.value(a) <= over.value(b) && (a.error < b.error || over.value(a) < over.value(b));
    return cells
        .filter((cell) => !cells.some((other) => better(other, cell)))
        .sort((a, b) => a.error - b.error || over.value(b) - over.value(a));
}

export interface Front extends Picture {
    /** What the error is weighed against. */
    over: Metric;
}

/** Names of the cells of the front, each beside its point where it lies over no other name, on a ground of its own. */
function labelFront(p: Painter, frame: Frame, front: SweepCell[], over: Metric): void {
    const colours = theme();
    const taken: [number, number, number][] = [];
    for (const cell of front) {
        const text = `G ${cell.granularity}`;
        const [x, y, width] = [frame.x(cell.error), frame.y(over.value(cell)), text.length * 6.2];
        const free = (at: number, middle: number) =>
            at >= frame.left - 4 &&
            taken.every(([left, top, wide]) => at + width < left || at > left + wide || Math.abs(middle - top) > 12);
        const places: [number, number][] = [8, -8 - width].flatMap((dx) => [-10, 11, -22, 23].map((dy): [number, number] => [x + dx, y + dy]));
        const place = places.find(([at, middle]) => free(at, middle));
        if (!place) continue;
        taken.push([place[0], place[1], width]);
        p.rect(place[0] - 1, place[1] - 6, width + 2, 12, `${colours.panel}cc`);
        p.text(place[0], place[1], text, { colour: colours.faint, size: 10.5 });
    }
}

export function drawPareto(p: Painter, whole: Front): Hit[] {
    const colours = theme();
    const { over } = whole;
    const picture = { ...whole, cells: having(whole.cells, over) };
    if (picture.cells.length === 0) {
        drawNothing(p, over.title);
        return [];
    }
    const widest = Math.max(...picture.cells.map((cell) => cell.error)) * 1.1 || 1;
    const ys = valueAxis(picture.cells.map(over.value), over.scale);
    const longest = Math.max(...counters(picture.cells).map((each) => `C = ${each}`.length));
    const frame = frameOf(p, [-widest * 0.03, widest], false, ys, Math.max(84, 32 + 7.4 * longest));
    drawGrid(p, frame, ys.ticks, over.tick ?? over.text, 'error');
    p.text(12, frame.top + frame.height / 2, axisTitle(over.title.toLowerCase(), ys), {
        colour: colours.faint,
        size: 12,
        anchor: 'middle',
        upright: true,
    });
    for (const tick of ticks(widest, 5))
        p.text(frame.x(tick), frame.top + frame.height + 15, percentTick(tick), { colour: colours.faint, size: 11, anchor: 'middle' });
    const hits: Hit[] = [];
    const all = counters(picture.cells);
    const palette = distinctColours(all.length);
    all.forEach((count, i) => {
        const colour = palette[i];
        const front = paretoFront(
            picture.cells.filter((cell) => cell.counters === count),
            over,
        );
        p.line(front.map((cell): [number, number] => [frame.x(cell.error), frame.y(over.value(cell))]), `${colour}88`, 1.5, [4, 3]);
        p.dot(frame.left + frame.width + 14, frame.top + 10 + i * 16, 4, colour, '');
        p.text(frame.left + frame.width + 24, frame.top + 10 + i * 16, `C = ${count}`, { colour, size: 12, weight: 600 });
        for (const cell of picture.cells.filter((each) => each.counters === count)) {
            const [x, y] = [frame.x(cell.error), frame.y(over.value(cell))];
            p.dot(x, y, front.includes(cell) ? 4.5 : 2.5, colour, cell === picture.chosen ? colours.ink : '');
            hits.push({ x: x - 8, y: y - 8, width: 16, height: 16, cell });
        }
    });
    const front = paretoFront(picture.cells, over);
    p.line(front.map((cell): [number, number] => [frame.x(cell.error), frame.y(over.value(cell))]), colours.ink, 1.5);
    labelFront(p, frame, front, over);
    return hits;
}
