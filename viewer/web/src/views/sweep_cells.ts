// SPDX-License-Identifier: BSD-3-Clause
// Cells of sweeps, of whatever workloads, links and settings: what is known of them, and what they are among others by the rules of
// viewer/sweep_choice.hpp: files tell it of their own cells, but not of the worst of all workloads.
import { groups } from 'd3-array';
import { percent, percentTick } from '../numbers';
import type { FileInfo } from '../protocol';
import { remembered } from '../remembered';
import { plainMetric, type Cell, type Metric } from './cells';

type Value = (cell: Cell) => number;

export const worstOfAll = 'worst of all workloads';

const inPercent = ['error', 'slowdown'];
const columnOf = (objective: string): string => (objective === 'bytes' ? 'bytes_per_event' : objective);

export interface Bound {
    column: string;
    /** As the file has it: errors and slowdowns as fractions. */
    limit: number;
    holds: (cell: Cell) => boolean;
}

/** Of "error<5,slowdown<=1", as files keep it. */
export function boundsOf(where: string): Bound[] {
    return [...where.matchAll(/(\w+)([<>]=?)([^,]+)/g)].map(([, name, sign, number]) => {
        const [column, limit, unit] = [columnOf(name), Number(number), inPercent.includes(name) ? 100 : 1];
        const holds = ({ numbers }: Cell) => {
            const value = unit * numbers[column];
            return (sign.endsWith('=') && value === limit) || (sign.startsWith('<') ? value < limit : value > limit);
        };
        return { column, limit: limit / unit, holds };
    });
}

const ordered = (a: number[], b: number[]): number => {
    const at = a.findIndex((each, k) => each !== b[k]);
    return at < 0 ? 0 : a[at] - b[at];
};

/** Those that no other is as good as in all, and better in one, from the best in the first on; what is not known of a cell leaves it out. */
export function frontOf(cells: Cell[], of: Value[]): Cell[] {
    const known = cells.map((cell) => ({ cell, at: of.map((value) => value(cell)) })).filter(({ at }) => at.every(Number.isFinite));
    const front: typeof known = []; // what beats a point comes before it
    for (const each of known.sort((a, b) => ordered(a.at, b.at)))
        if (!front.some(({ at }) => ordered(at, each.at) !== 0 && at.every((value, k) => value <= each.at[k]))) front.push(each);
    return front.map(({ cell }) => cell);
}

/** Of a front in order, few cells that stand for all. */
function remaining(front: Cell[], of: Value[], tolerance: number): Cell[] {
    const points = front.map((cell) => of.map((value) => value(cell)));
    const slack = of.map((_, k) => tolerance * (Math.max(...points.map((at) => at[k])) - Math.min(...points.map((at) => at[k]))));
    const standsFor = points.map((a) => points.flatMap((b, j) => (a.every((value, k) => value <= b[k] + slack[k]) ? [j] : [])));
    const times = points.map(() => 0);
    const news = (i: number) => standsFor[i].filter((j) => times[j] === 0).length;
    const chosen: number[] = [];
    while (times.includes(0)) {
        const best = points.reduce((most, _, i) => (news(i) > news(most) ? i : most), 0);
        if (news(best) === 0) break;
        chosen.push(best);
        for (const j of standsFor[best]) ++times[j];
    }
    const needed = chosen.filter((i) => {
        const kept = standsFor[i].some((j) => times[j] === 1);
        if (!kept) for (const j of standsFor[i]) --times[j];
        return kept;
    });
    return needed.map((i) => front[i]);
}

/** Each monitor that all workloads have, by the worst that it gives in any of them, and what it is among the others on its link. */
function worstOf(cells: Cell[], { objectives, where, tolerance }: NonNullable<FileInfo['sweep']>): Cell[] {
    const workloads = new Set(cells.map(({ texts }) => texts.workload)).size;
    if (workloads < 2) return [];
    const monitor = ({ id, texts }: Cell) => [texts.link, texts.settings, texts.eviction, id].join('|');
    const everywhere = groups(cells, monitor).filter(([, own]) => new Set(own.map(({ texts }) => texts.workload)).size === workloads);
    const worst = everywhere.map(([, own]): Cell => {
        const most = (column: string) => Math.max(...own.map(({ numbers }) => numbers[column]));
        const numbers = Object.fromEntries(Object.keys(own[0].numbers).map((column) => [column, most(column)]));
        return { ...own[0], texts: { ...own[0].texts, workload: worstOfAll }, numbers };
    });
    const bounds = boundsOf(where);
    for (const [, link] of groups(worst, ({ texts }) => texts.link)) {
        const timed = link.every(({ numbers }) => Number.isFinite(numbers.slowdown));
        const names = objectives || `error,${timed ? 'slowdown,' : ''}bytes,bits`;
        const of = names.split(',').map((name): Value => ({ numbers }) => numbers[columnOf(name)]);
        const admitted = link.filter((cell) => bounds.every(({ holds }) => holds(cell)));
        const front = frontOf(admitted, of);
        const remain = remaining(front, of, tolerance);
        for (const cell of link)
            Object.assign(cell.numbers, { admitted: +admitted.includes(cell), front: +front.includes(cell), remains: +remain.includes(cell) });
    }
    return worst;
}

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
    remembered(made, info, () => {
        const own = info.sweep!.rows.map((row): Cell => {
            const { granularity } = row.texts;
            return { ...row, id: `${granularity},${row.numbers.counters}`, row: `G = ${granularity}` };
        });
        return [...own, ...worstOf(own, info.sweep!)];
    });
