// Drawings of what cells of counters and granularity cost and give: matrix, lines, and for sweeps the Pareto front.
import { css, curves, heatColour, inkOn, theme } from '../colours';
import { brief, percent, percentTick, powers, ticks } from '../numbers';
import type { Painter } from '../paint';
import type { SweepCell } from '../protocol';

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
    log: boolean;
}

const metrics: Metric[] = [
    {
        id: 'swapouts',
        column: 'swapouts',
        title: 'Swap-outs',
        value: (cell) => cell.swapouts,
        text: brief,
        log: true,
    },
    { id: 'error', column: 'error', title: 'Error', value: (cell) => cell.error, text: percent, log: false },
    {
        id: 'bytes',
        column: 'bytes_per_event',
        title: 'Bytes per event',
        value: (cell) => cell.bytesPerEvent,
        text: (value) => value.toPrecision(3),
        log: true,
    },
];

/** What else files may have of their cells (docs/cost.md, docs/intrusion.md); slowdown: NaN where it was not run. */
const more: [string, string, (value: number) => string][] = [
    ['bits', 'Bits', brief],
    ['comparators', 'Comparators', brief],
    ['area', 'Area', brief],
    ['energy', 'Energy per event', brief],
    ['slowdown', 'Slowdown', percent],
];

/** All that the cells of a sweep tell. */
export function metricsOf(cells: SweepCell[]): Metric[] {
    const found = more.filter(([id]) => cells.length > 0 && cells.every((cell) => id in cell.more));
    return [
        ...metrics,
        ...found.map(([id, title, text]): Metric => {
            return { id, column: id, title, value: (cell) => cell.more[id], text, log: id !== 'slowdown' };
        }),
    ];
}

/** What a cell takes in hardware, in words; empty where the file does not tell. */
export const costText = (cell: SweepCell): string =>
    more
        .filter(([id]) => id in cell.more)
        .map(([id, title, text]) => `${title.toLowerCase()} ${text(cell.more[id])}`)
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

const rowOf = (cell: Cell): string => cell.row ?? `G = ${cell.granularity}`;
const rowsOf = (cells: Cell[]) => [...new Set(cells.map(rowOf))];
const counters = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.counters))].sort((a, b) => a - b);

const [matrixTop, rowHeight] = [34, 46];

/** Pixels for the names of rows. */
const namesWidth = (cells: Cell[], least: number): number =>
    Math.max(least, 24 + 6.8 * Math.max(0, ...rowsOf(cells).map((each) => each.length)));

export const matrixHeight = (cells: Cell[]): number => matrixTop + rowsOf(cells).length * rowHeight + 12;

/** 0 .. 1 over the range of the metric. */
function shareOf<C extends Cell>(picture: Picture<C>): (value: number) => number {
    const { value, log } = picture.metric;
    const values = picture.cells.map(value).filter((each) => Number.isFinite(each) && (!log || each > 0));
    const [least, most] = [Math.min(...values), Math.max(...values)];
    if (!(most > least)) return () => 0;
    return log
        ? (each) => (each > 0 ? Math.log(each / least) / Math.log(most / least) : 0)
        : (each) => (each - least) / (most - least);
}

export function drawMatrix<C extends Cell>(p: Painter, picture: Picture<C>): Hit<C>[] {
    const colours = theme();
    const { value, text } = picture.metric;
    const rows = rowsOf(picture.cells);
    const columns = counters(picture.cells);
    const matrixLeft = namesWidth(picture.cells, 96);
    const width = (p.width - matrixLeft - 8) / columns.length;
    const share = shareOf(picture);
    const hits: Hit<C>[] = [];
    columns.forEach((count, c) =>
        p.text(matrixLeft + (c + 0.5) * width, 18, `C = ${count}`, {
            colour: colours.faint,
            anchor: 'middle',
            size: 12,
        }),
    );
    rows.forEach((row, r) => {
        p.text(matrixLeft - 10, matrixTop + (r + 0.5) * rowHeight, row, {
            colour: colours.faint,
            anchor: 'end',
            size: 12,
        });
        columns.forEach((count, c) => {
            const cell = picture.cells.find((each) => rowOf(each) === row && each.counters === count);
            if (!cell) return;
            const [x, y] = [matrixLeft + c * width, matrixTop + r * rowHeight];
            const known = Number.isFinite(value(cell));
            const colour = heatColour(known ? 0.08 + 0.88 * share(value(cell)) : 0);
            p.rect(x + 1, y + 1, width - 2, rowHeight - 2, css(colour));
            const ink = inkOn(colour);
            const paper = ['swapouts', 'error'].includes(picture.metric.id) ? cell.published : undefined;
            p.text(x + width / 2, y + rowHeight / 2 - (paper ? 8 : 0), text(value(cell)), {
                colour: ink,
                anchor: 'middle',
                size: 13,
                weight: 600,
            });
            if (paper)
                p.text(x + width / 2, y + rowHeight / 2 + 10, publishedText(picture.metric, cell, width), {
                    colour: ink,
                    anchor: 'middle',
                    size: 10.5,
                });
            if (cell === picture.chosen) p.frame(x + 2.5, y + 2.5, width - 5, rowHeight - 5, ink, 2, '', 3);
            hits.push({ x, y, width, height: rowHeight, cell });
        });
    });
    return hits;
}

function publishedText<C extends Cell>(metric: Metric<C>, cell: C, width: number): string {
    const { swapouts, error, misprint } = cell.published!;
    if (metric.id === 'error') return percent(error);
    const ratio = misprint ? 'misprint' : `× ${(metric.value(cell) / swapouts).toFixed(2)}`;
    return width > 110 ? `${swapouts.toLocaleString('en')}  ${ratio}` : ratio;
}

interface Frame {
    left: number;
    top: number;
    width: number;
    height: number;
    x: (value: number) => number;
    y: (value: number) => number;
}

function frameOf(
    p: Painter,
    xs: [number, number],
    ys: [number, number],
    logX: boolean,
    logY: boolean,
    names = 84,
): Frame {
    const [left, top, width, height] = [66, 14, p.width - 66 - names, p.height - 60];
    const place = (least: number, most: number, log: boolean) => (value: number) =>
        log
            ? Math.log(Math.max(value, least) / least) / Math.log(most / least || Math.E)
            : (value - least) / (most - least || 1);
    const [fx, fy] = [place(...xs, logX), place(...ys, logY)];
    return {
        left,
        top,
        width,
        height,
        x: (value) => left + fx(value) * width,
        y: (value) => top + height - fy(value) * height,
    };
}

function drawGrid(p: Painter, frame: Frame, yTicks: number[], text: (value: number) => string, title: string): void {
    const colours = theme();
    for (const tick of yTicks) {
        const y = frame.y(tick);
        if (y < frame.top - 1 || y > frame.top + frame.height + 1) continue;
        p.line(
            [
                [frame.left, y],
                [frame.left + frame.width, y],
            ],
            colours.grid,
        );
        p.text(frame.left - 8, y, text(tick), { colour: colours.faint, size: 11, anchor: 'end' });
    }
    p.line(
        [
            [frame.left, frame.top + frame.height],
            [frame.left + frame.width, frame.top + frame.height],
        ],
        colours.line,
    );
    p.text(frame.left + frame.width / 2, p.height - 10, title, { colour: colours.faint, size: 12, anchor: 'middle' });
}

/** Ticks between the ends; where a logarithmic axis has fewer than two powers of ten, steps of 1, 2, 5. */
function logTicks(least: number, most: number): number[] {
    const found = powers(least, most);
    if (found.length >= 2) return found;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10, 20, 50].map((each) => each * power).filter((each) => each >= least && each <= most);
}

function padded(values: number[], log: boolean): [number, number] {
    const used = values.filter((each) => !log || each > 0);
    if (used.length === 0) return [0, 1];
    const [least, most] = [Math.min(...used), Math.max(...used)];
    return log ? [least / 1.3, most * 1.3] : [Math.min(0, least * 1.1), most > 0 ? most * 1.1 : 1];
}

/** Cells of which it is known. */
const having = <C extends Cell>(cells: C[], metric: Metric<C>): C[] =>
    cells.filter((cell) => Number.isFinite(metric.value(cell)));

export function drawLines<C extends Cell>(p: Painter, whole: Picture<C>): Hit<C>[] {
    const colours = theme();
    const picture = { ...whole, cells: having(whole.cells, whole.metric) };
    if (picture.cells.length === 0) return [];
    const { value, text, log, title } = picture.metric;
    const columns = counters(picture.cells);
    const values = picture.cells.flatMap((cell) => [
        value(cell),
        ...(cell.published && !cell.published.misprint && picture.metric.id === 'swapouts'
            ? [cell.published.swapouts]
            : []),
    ]);
    const ys = padded(values, log);
    const frame = frameOf(p, [columns[0] / 1.1, columns[columns.length - 1] * 1.1], ys, true, log, namesWidth(picture.cells, 84));
    drawGrid(p, frame, log ? logTicks(...ys) : ticks(ys[1], 5), text, 'counters');
    p.text(14, frame.top + frame.height / 2, title, {
        colour: colours.faint,
        size: 12,
        anchor: 'middle',
        upright: true,
    });
    columns.forEach((count) =>
        p.text(frame.x(count), frame.top + frame.height + 15, String(count), {
            colour: colours.faint,
            size: 11,
            anchor: 'middle',
        }),
    );
    const hits: Hit<C>[] = [];
    const labels: { y: number; text: string; colour: string }[] = [];
    rowsOf(picture.cells).forEach((name, i) => {
        const colour = curves()[i % curves().length];
        const row = columns
            .map((count) => picture.cells.find((each) => rowOf(each) === name && each.counters === count))
            .filter((each) => each !== undefined);
        const at = (cell: C): [number, number] => [frame.x(cell.counters), frame.y(value(cell))];
        p.line(row.map(at), colour, 2, i >= curves().length ? [5, 3] : []);
        for (const cell of row) {
            const [x, y] = at(cell);
            p.dot(x, y, cell === picture.chosen ? 6 : 3.5, colour, cell === picture.chosen ? colours.ink : '');
            if (picture.metric.id === 'swapouts' && cell.published && !cell.published.misprint)
                p.dot(x, frame.y(cell.published.swapouts), 3, colours.panel, colour);
            hits.push({ x: x - 8, y: y - 8, width: 16, height: 16, cell });
        }
        if (row.length) labels.push({ y: at(row[row.length - 1])[1], text: name, colour });
    });
    drawLabels(p, frame, labels);
    if (picture.metric.id === 'swapouts' && picture.cells.some((cell) => cell.published))
        p.text(frame.left + 8, frame.top + frame.height - 10, '● ours   ○ published', {
            colour: colours.faint,
            size: 11,
        });
    return hits;
}

/** Names at the ends of curves, moved apart. */
function drawLabels(p: Painter, frame: Frame, labels: { y: number; text: string; colour: string }[]): void {
    labels.sort((a, b) => a.y - b.y);
    labels.forEach((label, i) => (label.y = i === 0 ? label.y : Math.max(label.y, labels[i - 1].y + 14)));
    const over = labels.length ? labels[labels.length - 1].y - (frame.top + frame.height) : 0;
    for (const label of labels)
        p.text(frame.left + frame.width + 10, label.y - Math.max(0, over), label.text, {
            colour: label.colour,
            size: 12,
            weight: 600,
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

export function drawPareto(p: Painter, whole: Front): Hit[] {
    const colours = theme();
    const { over } = whole;
    const picture = { ...whole, cells: having(whole.cells, over) };
    if (picture.cells.length === 0) return [];
    const xs = padded(
        picture.cells.map((cell) => cell.error),
        false,
    );
    const ys = padded(picture.cells.map(over.value), over.log);
    const frame = frameOf(p, [-xs[1] * 0.03, xs[1]], ys, false, over.log);
    drawGrid(p, frame, over.log ? logTicks(...ys) : ticks(ys[1], 5), over.id === 'slowdown' ? percentTick : brief, 'error');
    p.text(14, frame.top + frame.height / 2, over.title.toLowerCase(), {
        colour: colours.faint,
        size: 12,
        anchor: 'middle',
        upright: true,
    });
    for (const tick of ticks(xs[1], 5))
        p.text(frame.x(tick), frame.top + frame.height + 15, percentTick(tick), {
            colour: colours.faint,
            size: 11,
            anchor: 'middle',
        });
    const hits: Hit[] = [];
    counters(picture.cells).forEach((count, i) => {
        const colour = curves()[i % curves().length];
        const front = paretoFront(
            picture.cells.filter((cell) => cell.counters === count),
            over,
        );
        p.line(
            front.map((cell): [number, number] => [frame.x(cell.error), frame.y(over.value(cell))]),
            `${colour}88`,
            1.5,
            [4, 3],
        );
        p.text(frame.left + frame.width + 10, frame.top + 10 + i * 16, `C = ${count}`, {
            colour,
            size: 12,
            weight: 600,
        });
        for (const cell of picture.cells.filter((each) => each.counters === count)) {
            const [x, y] = [frame.x(cell.error), frame.y(over.value(cell))];
            p.dot(x, y, front.includes(cell) ? 4.5 : 2.5, colour, cell === picture.chosen ? colours.ink : '');
            hits.push({ x: x - 8, y: y - 8, width: 16, height: 16, cell });
        }
    });
    const front = paretoFront(picture.cells, over);
    p.line(
        front.map((cell): [number, number] => [frame.x(cell.error), frame.y(over.value(cell))]),
        colours.ink,
        1.5,
    );
    let free = 0;
    for (const cell of front) {
        const x = frame.x(cell.error) + 7;
        if (x < free) continue;
        p.text(x, frame.y(over.value(cell)) - 9, `G ${cell.granularity}`, { colour: colours.faint, size: 10.5 });
        free = x + 34;
    }
    return hits;
}
