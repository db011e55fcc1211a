// SPDX-License-Identifier: BSD-3-Clause
// Drawings of what cells of counters and granularity cost and give: a matrix, and lines.
import { drawAcross, drawCurves, drawEnds, drawNote, drawUp, dotRadii, endsHeight, endsWidth, upIn } from '../chart';
import { distinctColours, theme } from '../colours';
import type { Box } from '../field_layout';
import type { Hit } from '../figure';
import { brief, percent } from '../numbers';
import type { Painter, Point } from '../paint';
import type { TableRow } from '../protocol';
import { extentOf, valueScale, type ValueScale, type Wanted } from '../scale';
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

/** A metric of a column as it is. */
export const plainMetric = (id: string, title: string, scale: Metric['scale'], column = id): Metric => ({ id, column, title, scale, value: ({ numbers }) => numbers[column], text: brief, tick: brief });

export interface Picture {
    cells: Cell[];
    metric: Metric;
    /** What the error is weighed against. */
    over: Metric;
    chosen: Cell | null;
    /** The same of another file, for one scale. */
    beside: Cell[];
}

export type Paint = (p: Painter, picture: Picture) => Hit<Cell>[];

const names = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.row))];
export const counters = (cells: Cell[]) => [...new Set(cells.map((cell) => cell.numbers.counters))].sort((a, b) => a - b);
/** Cells of which a metric is known. */
export const having = (cells: Cell[], metric: Metric) => cells.filter((cell) => Number.isFinite(metric.value(cell)));

/** What was published of a cell, where that is no misprint; NaN: nothing. */
const publishedOf = ({ numbers }: Cell, { published }: Metric): number =>
    published && numbers.published === 1 && numbers.published_misprint !== 1 ? numbers[published] : NaN;

export const linesHeight = ({ cells }: Picture): number => endsHeight(names(cells));

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
        ...{ facet: null, blank: 'not known', chosen, text: metric.text, scale: metric.scale, beside: beside.map(metric.value) },
        down: { name: 'granularity', values: rows },
        across: { name: 'counters', values: columns.map(String) },
        cells: cells.map((cell) => ({ at: [0, rows.indexOf(cell.row), columns.indexOf(cell.numbers.counters)], value: metric.value(cell), cell })),
        under: (cell, width) => publishedText(metric, cell, width),
    };
};

export const drawCells = (p: Painter, picture: Picture): Hit<Cell>[] => drawMatrix(p, matrixOf(picture));
export const cellsHeight = (picture: Picture, width: number): number => matrixHeight(matrixOf(picture), width);

/** What an axis is of, and how its values are spread; shortly, as it stands upright. */
export const axisTitle = (title: string, { spread }: ValueScale): string => (spread === 'symmetric logarithmic' ? `${title}, ${spread}` : title);

const boxIn = (p: Painter, names: string[]): Box => ({ x: 76, y: 14, width: p.width - 76 - endsWidth(names), height: p.height - 60 });

export const around = ([x, y]: Point, cell: Cell): Hit<Cell> => ({ x: x - 8, y: y - 8, width: 16, height: 16, cell });

export function drawLines(p: Painter, { cells: all, metric, chosen, beside }: Picture): Hit<Cell>[] {
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
