// SPDX-License-Identifier: BSD-3-Clause
// Columns of a picture from counts of lines: sum, least and most of the lines in each.
import type { Axis, Buckets, Quantity, Stretch } from '../protocol';
import { quickselect } from 'd3-array';
import { scale as rule } from '../../../drawing.json';
import type { Lines } from './addresses';
import type { PyramidLevel, Series } from './series';

/** Counts of the lines of an axis. For levels `first` are accesses. */
export interface Dense {
    lines: Lines;
    first: Float64Array;
    second: Float64Array | null;
    /** Sums over all rows, on the axis or not. */
    total: number;
    totalSecond: number;
}

export function emptyBuckets(x0: number, x1: number, count: number, grain: number): Buckets {
    const [touched, sum, min, max] = [0, 0, Infinity, 0].map((each) => new Float64Array(count).fill(each));
    return { x0, x1, touched, sum, min, max, total: 0, grain, clip: Infinity, above: 0 };
}

/** Adds a line or block that reaches from `from` to `to` on the axis. */
function put(into: Buckets, from: number, to: number, touched: number, sum: number, min: number, max: number): void {
    const { x0, x1 } = into;
    const count = into.sum.length;
    const width = (x1 - x0) / count;
    if (to <= x0 || from >= x1) return;
    const first = Math.max(0, Math.floor((from - x0) / width + 1e-9));
    const wide = to - from > width * 1.000001;
    const last = wide ? Math.min(count - 1, Math.ceil((to - x0) / width - 1e-9) - 1) : first;
    if (first >= count) return;
    into.touched[first] += touched;
    into.sum[first] += sum;
    for (let i = first; i <= last; ++i) {
        if (min < into.min[i]) into.min[i] = min;
        if (max > into.max[i]) into.max[i] = max;
    }
}

/** The number that is shown of a line. */
export function valueOf(quantity: Quantity, first: number, second: number): number {
    if (quantity === 'misses') return second;
    if (quantity === 'hits') return Math.max(0, first - second);
    return quantity !== 'missrate' ? first : first > 0 ? second / first : 0;
}

/** The values above 0 of the lines in sight. */
function valuesInSight(dense: Dense, quantity: Quantity, [x0, x1]: [number, number]): Float64Array {
    const { lines, first, second } = dense;
    const [from, to] = lines.range(x0, x1);
    const values = first.slice(from, to).map((each, i) => valueOf(quantity, each, second ? second[from + i] : 0));
    return values.filter((each) => each > 0);
}

/** What all but a hundredth of the values reach. Rates are never cut. */
function judge(into: Buckets, values: Float64Array, quantity: Quantity): void {
    if (quantity === 'missrate' || values.length === 0) return;
    const rank = Math.min(values.length - 1, Math.floor(rule.clip_quantile * values.length));
    into.clip = quickselect(values, rank)[rank];
    into.above = values.reduce((sum, each) => sum + (each > into.clip ? 1 : 0), 0);
}

/** Columns of a stretch. For miss rates `touched` are accesses and `sum` misses, so that their ratio is the rate. */
export function bucketsOfDense(dense: Dense, quantity: Quantity, { x0, x1, count, sight }: Stretch): Buckets {
    const { lines, first, second } = dense;
    const into = emptyBuckets(x0, x1, count, lines.unit);
    into.total = valueOf(quantity, dense.total, dense.totalSecond);
    judge(into, valuesInSight(dense, quantity, sight), quantity);
    const [from, to] = lines.range(x0, x1);
    for (let line = from; line < to; ) {
        const segment = lines.segmentOf(line);
        const stop = Math.min(to, lines.firstLine[segment + 1]);
        let offset = lines.offsetOf(line, segment);
        for (; line < stop; ++line, offset += lines.unit) {
            const [a, b] = [first[line], second ? second[line] : 0];
            if (a <= 0 && b <= 0) continue;
            const value = valueOf(quantity, a, b);
            if (quantity === 'missrate') put(into, offset, offset + lines.unit, a, b, value, value);
            else put(into, offset, offset + lines.unit, 1, value, value, value);
        }
    }
    return into;
}

/** Columns from a pyramid in the file, without looking at lines. */
export function bucketsOfPyramid(series: Series, level: PyramidLevel, blocks: Lines, quantity: Quantity, { x0, x1, count }: Stretch): Buckets {
    const { store } = series;
    const column = (name: string) => store.numbers(`${level.path}/${name}`);
    const halves = store.halves(`${level.path}/address`, 0, level.rows);
    const into = emptyBuckets(x0, x1, count, blocks.unit);
    const rate = quantity === 'missrate';
    const prefix = quantity === 'count' ? '' : `${rate ? 'miss_rate' : quantity}_`;
    const [sum, min, max] = [column(quantity === 'count' ? 'sum' : rate ? 'misses' : quantity), column(`${prefix}min`), column(`${prefix}max`)];
    const weight = rate ? column('accesses') : store.dataset(`${level.path}/lines`) ? column('lines') : null;
    let whole = 0;
    let weights = 0;
    for (let i = 0; i < sum.length; ++i) {
        whole += sum[i];
        const touched = weight ? weight[i] : level.units;
        weights += touched;
        const line = blocks.lineOf(halves[2 * i + 1], halves[2 * i]);
        if (line < 0) continue;
        const segment = blocks.segmentOf(line);
        const { start, bytes } = blocks.axis.segments[segment];
        const from = Math.max(start, blocks.offsetOf(line, segment));
        const to = Math.min(start + bytes, blocks.offsetOf(line, segment) + blocks.unit);
        put(into, from, to, touched, sum[i], min[i], max[i]);
    }
    judge(into, into.max.filter((each) => each > 0), quantity);
    into.total = rate ? (weights > 0 ? whole / weights : 0) : whole;
    return into;
}

/** The part of an axis that lies in x0 .. x1, with the same offsets. */
export function cut(axis: Axis, x0: number, x1: number): Axis {
    const segments = axis.segments.flatMap((segment) => {
        const from = Math.max(0, Math.floor(x0 - segment.start));
        const to = Math.min(segment.bytes, Math.ceil(x1 - segment.start));
        return from < to ? [{ base: segment.base + BigInt(from), bytes: to - from, start: segment.start + from }] : [];
    });
    return { segments, bytes: axis.bytes };
}
