// SPDX-License-Identifier: BSD-3-Clause
// Drawings of what cells of counters and granularity cost and give: a matrix, and lines.
import { scale as rule } from '../../../drawing.json';
import { drawAcross, drawCurves, drawEnds, drawNote, drawUp, dotRadii, endsHeight, endsWidth, upIn } from '../chart';
import { css, differenceColour, distinctColours, heatColour, inkOn, theme } from '../colours';
import type { Box } from '../field_layout';
import { percent } from '../numbers';
import { textWidth, type Painter, type Point } from '../paint';
import type { TableRow } from '../protocol';
import { extentOf, valueScale, type ValueScale, type Wanted } from '../scale';

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

export interface Picture {
    cells: Cell[];
    metric: Metric;
    /** What the error is weighed against. */
    over: Metric;
    chosen: Cell | null;
    /** The same of another file, for one scale. */
    beside: Cell[];
}

/** Where a cell can be clicked. */
export interface Hit extends Box {
    cell: Cell;
}

export type Paint = (p: Painter, picture: Picture) => Hit[];

const names = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.row))];
export const counters = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.numbers.counters))].sort((a, b) => a - b);
/** Cells of which a metric is known. */
export const having = (cells: Cell[], metric: Metric) => cells.filter((cell) => Number.isFinite(metric.value(cell)));

/** What was published of a cell, where that is no misprint; NaN: nothing. */
const publishedOf = ({ numbers }: Cell, { published }: Metric): number =>
    published && numbers.published === 1 && numbers.published_misprint !== 1 ? numbers[published] : NaN;

const [begin, share] = rule.matrix;
const [matrixTop, rowHeight, keyHeight] = [34, 46, 34];

export const matrixHeight = ({ cells }: Picture): number => matrixTop + names(cells).length * rowHeight + keyHeight;
export const linesHeight = ({ cells }: Picture): number => endsHeight(names(cells));

/** From what is near the ground to what stands out, over the range of the values; with values below 0 blue for these and orange for those above. */
export function colouringOf(values: number[], wanted: Wanted) {
    const extent = extentOf(values);
    const signed = extent.least < 0;
    const scale = valueScale(extent, wanted, { tight: true, symmetric: signed });
    const colour = (at: number) => (signed ? differenceColour(2 * at - 1) : heatColour(begin + share * at));
    const ends = signed ? [-extent.large, extent.large] : [extent.least, extent.most];
    return { ends, scale, colour, of: (value: number) => colour(extent.most > extent.least ? scale.at(value) : 0) };
}

/** What the colours mean, under the matrix: evenly from the least colour to the last. */
export function drawKey(p: Painter, text: (value: number) => string, { ends, scale, colour }: ReturnType<typeof colouringOf>, x: number, y: number): void {
    if (!(ends[1] > ends[0])) return;
    const style = { colour: theme().faint, size: 11 };
    const [left, right] = ends.map(text);
    const steps = 60;
    const after = scale.spread === 'linear' ? right : `${right}, ${scale.spread}`;
    const whole = textWidth(left, 11) + 6 + 2 * steps + 6 + textWidth(after, 11);
    const from = Math.max(0, Math.min(x, p.width - whole - 8));
    const x0 = from + textWidth(left, 11) + 6;
    p.text(from, y, left, style);
    for (let i = 0; i < steps; ++i) p.rect(x0 + 2 * i, y - 5, 2, 10, css(colour((i + 0.5) / steps)));
    p.text(x0 + 2 * steps + 6, y, after, style);
}

/** What was published of a cell, and ours in its parts. */
function publishedText(metric: Metric, cell: Cell, width: number): string {
    const { numbers } = cell;
    if (!metric.published || numbers.published !== 1) return '';
    if (metric.id === 'error') return percent(numbers[metric.published]);
    const ratio = numbers.published_misprint === 1 ? 'misprint' : `× ${(metric.value(cell) / numbers[metric.published]).toFixed(2)}`;
    return width > 110 ? `${numbers[metric.published].toLocaleString('en')}  ${ratio}` : ratio;
}

export function drawMatrix(p: Painter, picture: Picture): Hit[] {
    const colours = theme();
    const { metric, cells, chosen, beside } = picture;
    const [rows, columns] = [names(cells), counters(cells)];
    const left = Math.max(96, 20 + Math.max(...rows.map((row) => textWidth(row))));
    const width = (p.width - left - 8) / columns.length;
    const colouring = colouringOf([...cells, ...beside].map(metric.value), metric.scale);
    const faint = { colour: colours.faint, size: 12 };
    columns.forEach((count, c) => p.text(left + (c + 0.5) * width, 18, `C = ${count}`, { ...faint, anchor: 'middle' }));
    rows.forEach((row, r) => p.text(left - 10, matrixTop + (r + 0.5) * rowHeight, row, { ...faint, anchor: 'end' }));
    const hits = cells.map((cell): Hit => {
        const [c, r] = [columns.indexOf(cell.numbers.counters), rows.indexOf(cell.row)];
        return { x: left + c * width, y: matrixTop + r * rowHeight, width, height: rowHeight, cell };
    });
    for (const { x, y, cell } of hits) {
        const value = metric.value(cell);
        const known = Number.isFinite(value);
        const colour = known ? colouring.of(value) : null;
        p.rect(x + 1, y + 1, width - 2, rowHeight - 2, colour ? css(colour) : colours.grid);
        const style = { colour: colour ? inkOn(colour) : colours.faint, anchor: 'middle' as const };
        const paper = publishedText(metric, cell, width);
        p.text(x + width / 2, y + rowHeight / 2 - (paper ? 8 : 0), known ? metric.text(value) : 'not known', { ...style, size: 13, weight: 600 });
        if (paper) p.text(x + width / 2, y + rowHeight / 2 + 10, paper, { ...style, size: 10.5 });
        if (cell !== chosen) continue;
        // two lines, one of which stands out from any colour and from the ground
        p.frame(x + 2.5, y + 2.5, width - 5, rowHeight - 5, colours.ink, 2, '', 3);
        p.frame(x + 5.5, y + 5.5, width - 11, rowHeight - 11, colours.panel, 1, '', 3);
    }
    drawKey(p, metric.text, colouring, left, matrixTop + rows.length * rowHeight + 18);
    return hits;
}

/** What an axis is of, and how its values are spread; shortly, as it stands upright. */
export const axisTitle = (title: string, { spread }: ValueScale): string => (spread === 'symmetric logarithmic' ? `${title}, ${spread}` : title);

const boxIn = (p: Painter, names: string[]): Box => ({ x: 76, y: 14, width: p.width - 76 - endsWidth(names), height: p.height - 60 });

export const around = ([x, y]: Point, cell: Cell): Hit => ({ x: x - 8, y: y - 8, width: 16, height: 16, cell });

export function drawLines(p: Painter, { cells: all, metric, chosen, beside }: Picture): Hit[] {
    const colours = theme();
    const cells = having(all, metric);
    if (cells.length === 0) return drawNote(p, `${metric.title}: not known of any cell`), [];
    const columns = counters(cells);
    const dots = metric.id === 'swapouts' ? cells.filter((cell) => publishedOf(cell, metric) > 0) : [];
    const scale = valueScale(extentOf([...cells, ...beside].map(metric.value), dots.map((cell) => publishedOf(cell, metric))), metric.scale);
    const rows = names(cells);
    const box = boxIn(p, rows);
    const up = upIn(box, scale);
    const [least, most] = [Math.log(columns[0] / 1.1), Math.log(columns.at(-1)! * 1.1)];
    const across = (count: number) => box.x + ((Math.log(count) - least) / (most - least)) * box.width;
    drawUp(p, box, scale, metric.tick, axisTitle(metric.title, scale));
    drawAcross(p, box, columns.map((count): [number, string] => [across(count), String(count)]), 'counters');
    const palette = distinctColours(rows.length);
    const curves = rows.map((row, i) => {
        const own = cells.filter((cell) => cell.row === row).sort((a, b) => a.numbers.counters - b.numbers.counters);
        return { own, points: own.map((cell): Point => [across(cell.numbers.counters), up(metric.value(cell))]), colour: palette[i], width: 2, dash: [] };
    });
    drawCurves(p, curves);
    const radii = dotRadii(curves.flatMap(({ points }) => points), 3.5);
    const hits: Hit[] = [];
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
