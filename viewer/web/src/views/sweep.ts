// SPDX-License-Identifier: BSD-3-Clause
// Sweep: what counters and granularity cost and give, as a matrix, as lines, as a Pareto front, and cell by cell.
import { titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import type { Table } from '../dom';
import { full, percent, percentTick } from '../numbers';
import type { FileInfo } from '../protocol';
import { sweepPython } from '../python';
import { CellsView, linesFigure, matrixFigure, plainMetric, type Cells } from './cells';
import { drawPareto, paretoFront, paretoHeight, type Cell, type Metric, type Picture } from './cells_draw';
import { sweepDetail } from './sweep_detail';

const error: Metric = { ...plainMetric('error', 'Error', 'linear'), text: percent, tick: percentTick, published: 'published_error' };

/** What files have of their cells (docs/cost.md, docs/intrusion.md), those that not every file has last; slowdown: NaN where it is not known. */
const known: Metric[] = [
    { ...plainMetric('swapouts', 'Swap-outs', 'log'), published: 'published_swapouts' },
    error,
    { ...plainMetric('bytes', 'Bytes per event', 'log', 'bytes_per_event'), text: (value) => value.toPrecision(3) },
    plainMetric('bits', 'Bits', 'log'),
    plainMetric('comparators', 'Comparators', 'log'),
    plainMetric('area', 'Area', 'log'),
    plainMetric('energy', 'Energy per event', 'log'),
    { ...plainMetric('slowdown', 'Slowdown', 'auto'), text: percent, tick: percentTick },
];

const cellsOf = (info: FileInfo): Cell[] =>
    info.sweep!.rows.map((row) => ({ ...row, id: `${row.texts.granularity},${row.numbers.counters}`, row: `G = ${row.texts.granularity}` }));

const metricsOf = (info: FileInfo): Metric[] => known.filter(({ column }) => info.sweep!.rows.every(({ numbers }) => column in numbers));

/** What a cell takes in hardware and by how much it slows the program, in words; empty where the file does not tell. */
const costText = ({ numbers }: Cell): string =>
    known
        .slice(3)
        .filter(({ column }) => column in numbers)
        .map(({ column, title, text }) => `${title.toLowerCase()} ${Number.isNaN(numbers[column]) ? 'not known' : text(numbers[column])}`)
        .join(', ');

/** `over`: marks the cells that are on the front of error and this. */
export function sweepTable(info: FileInfo, cells = cellsOf(info), over?: Metric): Table {
    const metrics = metricsOf(info);
    const published = info.sweep!.rows.some(({ numbers }) => numbers.published === 1);
    const front = over && paretoFront(cells, over);
    const shares = (metric: Metric) => metric.text === percent;
    const name = (metric: Metric) => `${metric.title.toLowerCase()}${shares(metric) ? ' %' : ''}`;
    const papers = published ? metrics.filter((metric) => metric.published) : [];
    return {
        caption: `Sweep of ${info.sweep!.link}`,
        headers: [
            ...['eviction', 'granularity', 'counters', ...metrics.map(name)],
            ...(over ? [`on the front of error and ${over.title.toLowerCase()}`] : []),
            ...papers.map((metric) => `published ${name(metric)}`),
            ...(published ? ['remark'] : []),
        ],
        rows: cells.map((cell) => [
            ...[cell.texts.eviction, cell.texts.granularity, cell.numbers.counters],
            ...metrics.map((metric) => (shares(metric) ? 100 : 1) * metric.value(cell)),
            ...(front ? [front.includes(cell) ? 'yes' : ''] : []),
            ...papers.map((metric) => (cell.numbers.published === 1 ? (shares(metric) ? 100 : 1) * cell.numbers[metric.published!] : NaN)),
            ...(published ? [cell.numbers.published_misprint === 1 ? 'misprint' : ''] : []),
        ]),
        keys: 3,
    };
}

/** What the slowdown is, where it is shown, and of how many cells it is known. */
function slowdownNote(all: Cell[], { metric, over }: Picture): string {
    if (metric.id !== 'slowdown' && over.id !== 'slowdown') return '';
    const some = all.filter(({ numbers }) => !Number.isNaN(numbers.slowdown)).length;
    const rest = some < all.length ? `, of ${some} of ${all.length} cells: the others are not known` : '';
    return ` Slowdown: by how much the program takes longer with the monitor of a cell${rest}.`;
}

function sweepCells(source: Source): Cells {
    const { info } = source;
    const { events, link, monitor } = info.sweep!;
    const cells = cellsOf(info);
    const metrics = metricsOf(info);
    const published = cells.some(({ numbers }) => numbers.published === 1) ? '; small numbers: published (Schulz et al. 2002, Table 2), ours ÷ published' : '';
    return {
        ...{ cells, metrics },
        overs: metrics.filter(({ id }) => id !== 'error' && id !== 'swapouts'),
        choices: [{ title: 'Eviction', key: 'eviction', of: ({ texts }) => texts.eviction }],
        note: (picture) => `${full(events)} events on ${link}; ${monitor}${published}.${slowdownNote(cells, picture)} Click a cell to see what it blurs.`,
        table: (picture) => ({ ...sweepTable(info, picture.cells, picture.over), caption: `Sweep of ${titleOf(source)}, ${link}` }),
        python: ({ cells: [first] }, columns) => sweepPython(source, first.texts.eviction, columns),
    };
}

const pareto = {
    ...{ name: 'pareto', title: 'Pareto front: what no other cell beats in both', paint: drawPareto, height: paretoHeight },
    columns: ({ over }: Picture) => ['error', over.column],
};

export function sweepView(app: App): View {
    const other = app.others[0]?.info.sweep ? sweepCells(app.others[0]) : null;
    return new CellsView(app, sweepCells(app.source), other, [matrixFigure, linesFigure, pareto], sweepDetail(app, costText));
}
