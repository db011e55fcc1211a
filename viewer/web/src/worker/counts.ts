// SPDX-License-Identifier: BSD-3-Clause
// Counts over addresses as the views ask for them: from pyramids where these are fine enough, else from the rows; as columns of a picture, with
// sum, least and most of the lines in each.
import { bisector, quickselect, range, rollups, sum } from 'd3-array';
import { scale as rule } from '../../../drawing.json';
import { pageBytes, united } from '../axis';
import { FileError, type AddressRange, type Axis, type Buckets, type LineCount, type Phases, type Quantity, type Selected, type Stretch } from '../protocol';
import { rememberedLast } from '../remembered';
import { linesOf, type Lines } from './addresses';
import type { PyramidLevel, Rows, See, Series, Token } from './series';

/** Counts of the lines of an axis. For levels `first` are accesses. */
interface Dense {
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
function bucketsOfDense(dense: Dense, quantity: Quantity, { x0, x1, count, sight }: Stretch): Buckets {
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
function bucketsOfPyramid(series: Series, level: PyramidLevel, blocks: Lines, quantity: Quantity, { x0, x1, count }: Stretch): Buckets {
    const { store } = series;
    const column = (name: string) => store.numbers(`${level.path}/${name}`);
    const halves = store.halves(`${level.path}/address`, 0, level.rows);
    const into = emptyBuckets(x0, x1, count, blocks.unit);
    const rate = quantity === 'missrate';
    const prefix = quantity === 'count' ? '' : `${rate ? 'miss_rate' : quantity}_`;
    const [sum, min, max] = [column(quantity === 'count' ? 'sum' : rate ? 'misses' : quantity), column(`${prefix}min`), column(`${prefix}max`)];
    const weight = rate ? column('accesses') : store.dataset(`${level.path}/lines`) ? column('lines') : null;
    let [whole, weights] = [0, 0];
    for (let i = 0; i < sum.length; ++i) {
        whole += sum[i];
        const touched = weight ? weight[i] : level.units;
        weights += touched;
        const line = blocks.lineOf(halves, i);
        if (line >= 0) put(into, ...blocks.stretchOf(line), touched, sum[i], min[i], max[i]);
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
        return from < to ? [{ base: segment.base + BigInt(from), bytes: to - from, start: segment.start + from, rest: from > 0 || segment.rest }] : [];
    });
    return { segments, bytes: axis.bytes };
}

/** Up to here rows are simply read; above, pyramids and searches serve as far as they can. */
export const fewRows = 2_000_000;
const mostLines = 48_000_000;
/** Of a selection, whose lines are all looked at. */
const mostSelected = 4_000_000;
const cacheBytes = 400_000_000;

/** Adds a row to the counts of lines; a count for several lines is spread evenly. */
function addRow(dense: Dense, rows: Rows, i: number): void {
    const { lines, first, second } = dense;
    const [a, b, span] = [rows.first[i], rows.second[i], rows.span[i]];
    dense.total += a;
    dense.totalSecond += b;
    for (const [begin, count] of lines.runs(rows.address, i, span))
        for (let line = begin; line < begin + count; ++line) {
            first[line] += a / span;
            if (second) second[line] += b / span;
        }
}

/** What is counted: a series in some phases, by the lines of an axis. */
interface Query {
    series: Series;
    phases: Phases;
    axis: Axis;
    token: Token;
}

const kept = new Map<string, Dense>();

function keyOf(series: Series, phases: Phases, axis: Axis): string {
    const where = axis.segments.map((segment) => `${segment.base}+${segment.bytes}`).join();
    return `${series.info.id}|${phases === null ? '*' : phases.join()}|${where}`;
}

const sizeOf = ({ first, second }: Dense): number => first.byteLength + (second?.byteLength ?? 0);

const keep = ({ series, phases, axis }: Query, dense: Dense): Dense =>
    rememberedLast(kept, keyOf(series, phases, axis), () => dense, () => sum(kept.values(), sizeOf) > cacheBytes);

async function read(query: Query, ranges: [number, number][]): Promise<Dense> {
    const { series, axis, token } = query;
    const lines = linesOf(axis, series.info.unit);
    if (lines.count > mostLines)
        throw new FileError(`${lines.count.toLocaleString('en')} lines are too many to be drawn at once: zoom in, or choose all phases.`);
    const first = new Float64Array(lines.count);
    const second = series.isLevel ? new Float64Array(lines.count) : null;
    const dense: Dense = { lines, first, second, total: 0, totalSecond: 0 };
    await series.visit(ranges, token, (rows, i) => addRow(dense, rows, i));
    return keep(query, dense);
}

/** Counts of all lines of the axis. */
async function whole(query: Query): Promise<Dense> {
    const found = kept.get(keyOf(query.series, query.phases, query.axis));
    return found ? keep(query, found) : read(query, query.series.ranges(query.phases));
}

export async function buckets(query: Query, quantity: Quantity, stretch: Stretch): Promise<Buckets> {
    const { series, phases, axis } = query;
    const known = series.info.reduced ? undefined : kept.get(keyOf(series, phases, axis)); // a pyramid tells more than blocks
    if (known) return bucketsOfDense(known, quantity, stretch);
    const { x0, x1, count } = stretch;
    const { unit } = series.info;
    const part = cut(axis, x0, x1);
    const all = phases === null || phases.length >= series.info.phases;
    if (all && series.pyramid.length > 0 && (series.info.rows > fewRows || series.info.reduced)) {
        const fine = series.pyramid.filter((level) => level.units * unit <= (x1 - x0) / count).at(-1);
        const level = fine ?? (series.info.reduced || linesOf(part, unit).count > mostLines / 16 ? series.pyramid[0] : undefined);
        if (level) return bucketsOfPyramid(series, level, linesOf(axis, level.units * unit), quantity, stretch);
    }
    const narrow = series.info.rows > fewRows && series.findsRows(phases) && x1 - x0 < axis.bytes / 4;
    if (!narrow) return bucketsOfDense(await whole(query), quantity, stretch);
    // from the rows of the part alone, whose total is not that of all
    const dense = await read({ ...query, axis: part }, series.ranges(phases, part));
    return { ...bucketsOfDense(dense, quantity, stretch), total: NaN };
}

/** Where there are counts: in bounded memory, as long as what the ranges join to is bounded. */
export async function extents(list: Series[], token: Token): Promise<AddressRange[]> {
    let found: AddressRange[] = [];
    let most = 1 << 20;
    let [high, begin, end] = [0, 0, 0]; // the last range: rows side by side are one without large numbers
    const flush = () => {
        const base = BigInt(high) << 32n;
        if (begin < end) found.push([base + BigInt(begin), base + BigInt(end)]);
        if (found.length < most) return;
        found = united(found);
        most = Math.max(most, 2 * found.length);
    };
    const add = (halves: Uint32Array, i: number, bytes: number) => {
        const low = halves[2 * i];
        if (halves[2 * i + 1] !== high || low < begin || low >= end + pageBytes) {
            flush();
            [high, begin, end] = [halves[2 * i + 1], low, low];
        }
        end = Math.max(end, low + bytes);
    };
    for (const series of list) {
        const { unit } = series.info;
        // the coarsest whose blocks are still small beside the whole
        const level = series.pyramid.filter((each) => each.rows >= 2000).at(-1);
        if (level && series.info.rows > fewRows) {
            const halves = series.store.halves(`${level.path}/address`, 0, level.rows);
            for (let i = 0; i < level.rows; ++i) add(halves, i, level.units * unit);
            continue;
        }
        await series.visit([[0, series.info.rows]], token, (rows, i) => add(rows.address, i, unit * rows.span[i]));
    }
    flush();
    return united(found);
}

/** Sums of a series in each phase, of levels accesses and misses, else the count and 0; `stretch`: of the lines of this part of the axis. */
export async function phaseSums(series: Series, axis: Axis, stretch: [number, number] | null, token: Token) {
    const first = new Float64Array(series.info.phases);
    const second = new Float64Array(series.info.phases);
    const part = stretch && cut(axis, ...stretch);
    const lines = linesOf(part ?? { segments: [], bytes: 1 }, series.info.unit);
    // of those lines that are of the part
    const beginning = (count: number, [line, more]: [number, number]) => {
        const segment = lines.segmentOf(line);
        const { rest, start } = lines.axis.segments[segment];
        return count + more - (rest && lines.offsetOf(line, segment) < start ? 1 : 0);
    };
    const see: See = (rows, i) => {
        const share = part ? lines.runs(rows.address, i, rows.span[i]).reduce(beginning, 0) / rows.span[i] : 1;
        first[rows.phase![i]] += rows.first[i] * share;
        second[rows.phase![i]] += rows.second[i] * share;
    };
    await series.visit(series.ranges(null, part), token, see, true);
    return { first, second };
}

/** What a part of an axis holds; of reduced copies the worst lines are those that the copy kept as they were. */
export async function selected(query: Query, quantity: Quantity, most: number, sets: number, functions: string[]): Promise<Selected> {
    const { series, phases, axis: part, token } = query;
    if (linesOf(part, series.info.unit).count > mostSelected)
        return { lines: NaN, first: NaN, second: NaN, worst: [], sets: new Float64Array(), functions: [] };
    const dense = await read(query, series.ranges(phases, part));
    const { lines, first, second } = dense;
    const found: Selected = { lines: 0, first: 0, second: 0, worst: [], sets: new Float64Array(sets), functions: [] };
    const heap: LineCount[] = [];
    const value = ({ first, second }: LineCount) => valueOf(quantity, first, second);
    part.segments.forEach((segment, s) => {
        const [base, end] = [lines.bases[s], lines.firstLine[s + 1]];
        for (let line = lines.firstLine[s], i = 0; line < end; ++line, ++i) {
            const [a, b] = [first[line], second ? second[line] : 0];
            if (a <= 0 && b <= 0) continue;
            if (i === 0 && segment.rest && base < segment.base && end - line > 1) continue; // it begins before
            ++found.lines;
            found.first += a;
            found.second += b;
            if (sets > 0) ++found.sets[Number((base / BigInt(series.info.unit) + BigInt(i)) % BigInt(sets))];
            if (heap.length >= most && valueOf(quantity, a, b) <= value(heap[heap.length - 1])) continue;
            const row = { address: base + BigInt(i * series.info.unit), first: a, second: b };
            heap.splice(bisector((each: LineCount) => -value(each)).right(heap, -value(row)), 0, row);
            if (heap.length > most) heap.pop();
        }
    });
    found.worst = series.info.reduced ? keptWorst(series, quantity, phases, lines, most) : heap;
    found.functions = series.hasFunctions ? await byFunction(series, phases, lines, functions, token) : [];
    return found;
}

function keptWorst(series: Series, quantity: Quantity, phases: Phases, lines: Lines, most: number): LineCount[] {
    const top = series.topRows();
    const rows = range(top?.count ?? 0).filter((i) => (!phases || phases.includes(top!.phase![i])) && lines.lineOf(top!.address, i) >= 0);
    const sums = (some: number[]) => ({ first: sum(some, (i) => top!.first[i]), second: sum(some, (i) => top!.second[i]) });
    const found = rollups(rows, sums, (i) => (BigInt(top!.address[2 * i + 1]) << 32n) | BigInt(top!.address[2 * i]));
    const value = ({ first, second }: LineCount) => valueOf(quantity, first, second);
    return found.map(([address, each]) => ({ address, ...each })).sort((a, b) => value(b) - value(a)).slice(0, most);
}

async function byFunction(series: Series, phases: Phases, lines: Lines, names: string[], token: Token): Promise<Selected['functions']> {
    const sums = new Float64Array(names.length + 1);
    const see: See = (rows, i) => {
        if (lines.lineOf(rows.address, i) >= 0) sums[Math.min(rows.func![i], names.length)] += rows.first[i];
    };
    await series.visit(series.ranges(phases), token, see, false, true);
    const found = Array.from(sums, (count, i) => ({ name: names[i] ?? '(none)', count }));
    return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}

/** What a monitor with groups of `group` aligned lines would have given instead of the exact counts, by how much lines differ (|exact -
 * approximate|), and the error over the data structures, a fraction. */
export async function coarse(query: Query, group: number, data: AddressRange[], stretch: Stretch) {
    const dense = await whole(query);
    const { lines } = dense;
    const approximate: Dense = { ...dense, first: new Float64Array(lines.count) };
    const difference: Dense = { ...dense, first: new Float64Array(lines.count), total: NaN };
    let [wrong, all] = [0, 0];
    lines.bases.forEach((base, s) => {
        const [begin, end] = [lines.firstLine[s], lines.firstLine[s + 1]];
        const before = Number((base / BigInt(lines.unit)) % BigInt(group)); // lines of the first group that lie before the segment
        const here = data.map((each) => each.map((at) => Number(at - base)));
        for (let at = begin - before; at < end; at += group) {
            let mean = 0;
            for (let i = Math.max(begin, at); i < Math.min(end, at + group); ++i) mean += dense.first[i];
            mean /= group;
            for (let i = at; mean > 0 && i < at + group; ++i) {
                const inside = i >= begin && i < end;
                const exact = inside ? dense.first[i] : 0;
                const off = Math.abs(exact - mean);
                const place = (i - begin) * lines.unit;
                if (here.some(([from, to]) => place < to && place + lines.unit > from)) [wrong, all] = [wrong + off, all + exact];
                if (inside) [approximate.first[i], difference.first[i]] = [mean, off];
            }
        }
    });
    const [exact, coarser, blurred] = [dense, approximate, difference].map((each) => bucketsOfDense(each, 'count', stretch));
    return { exact, approximate: coarser, difference: blurred, error: all > 0 ? wrong / all : NaN };
}
