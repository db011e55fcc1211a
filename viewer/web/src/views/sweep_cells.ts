// SPDX-License-Identifier: BSD-3-Clause
// Cells of sweeps, of whatever workloads, links and settings: what is known of them, bounds, and fronts of any two of their metrics.
import { percent, percentTick } from '../numbers';
import type { FileInfo } from '../protocol';
import { remembered } from '../remembered';
import { plainMetric, type Cell, type Metric } from './cells';

export const worstOfAll = 'worst of all workloads';

export interface Bound {
    column: string;
    /** As the file has it: errors and slowdowns as fractions. */
    limit: number;
}

/** Of "error<5,slowdown<=1", as files keep it. */
export const boundsOf = (where: string): Bound[] =>
    [...where.matchAll(/(\w+)[<>]=?([^,]+)/g)].map(([, name, limit]) => ({
        column: name === 'bytes' ? 'bytes_per_event' : name,
        limit: Number(limit) / (name === 'error' || name === 'slowdown' ? 100 : 1),
    }));

const error: Metric = { ...plainMetric('error', 'Error', 'linear'), text: percent, tick: percentTick, published: 'published_error' };

/** What files have of their cells (docs/cost.md, docs/intrusion.md), those that not every file has last; slowdown: NaN where it is not known. */
export const known: Metric[] = [
    { ...plainMetric('swapouts', 'Swap-outs', 'log'), published: 'published_swapouts' },
    error,
    { ...plainMetric('bytes', 'Bytes per event', 'log', 'bytes_per_event'), text: (value) => value.toPrecision(3) },
    plainMetric('bits', 'Bits', 'log'),
    plainMetric('comparators', 'Comparators', 'log'),
    plainMetric('area', 'Area', 'log'),
    plainMetric('energy', 'Energy per event', 'log'),
    { ...plainMetric('slowdown', 'Slowdown', 'auto'), text: percent, tick: percentTick },
];

/** Those of which all rows have a column. */
export const metricsOf = (rows: Pick<Cell, 'numbers'>[]): Metric[] => known.filter(({ column }) => rows.every(({ numbers }) => column in numbers));

const made = new WeakMap<FileInfo, Cell[]>();

/** Those of the file, and at last the worst of all workloads. */
export const cellsOf = (info: FileInfo): Cell[] =>
    remembered(made, info, () =>
        [...info.sweep!.rows, ...info.sweep!.worst].map((row): Cell => ({ ...row, id: `${row.texts.granularity},${row.numbers.counters}`, row: `G = ${row.texts.granularity}` })),
    );
