// SPDX-License-Identifier: BSD-3-Clause
// Cells of sweeps, of whatever workloads, links and settings, and what is known of them.
import { percent, percentTick } from '../numbers';
import type { FileInfo } from '../protocol';
import { plainMetric } from './cells';
import type { Cell, Metric } from './cells_draw';
import { worstOf } from './standing';

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

/** Each with its workload, link and settings, which older files have none of; at last the worst of all workloads. */
export function cellsOf(info: FileInfo): Cell[] {
    let cells = made.get(info);
    if (!cells) {
        const { rows, link } = info.sweep!;
        const alone = { workload: [info.input, ...info.settings].join(' '), link, settings: '' };
        const own = rows.map(({ texts, numbers }): Cell => ({ texts: { ...alone, ...texts }, numbers, id: `${texts.granularity},${numbers.counters}`, row: `G = ${texts.granularity}` }));
        made.set(info, (cells = [...own, ...worstOf(own, info.sweep!)]));
    }
    return cells;
}
