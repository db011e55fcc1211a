// SPDX-License-Identifier: BSD-3-Clause
// Counts over addresses as the views ask for them: from pyramids where these are fine enough, else from the rows.
import { bisector, range, rollups, sum } from 'd3-array';
import type { AddressRange, Axis, Buckets, LineCount, Phases, Quantity, Selected, Stretch } from '../protocol';
import { joined, pageBytes } from '../axis';
import { Lines } from './addresses';
import { bucketsOfDense, bucketsOfPyramid, cut, valueOf, type Dense } from './buckets';
import { FileError } from './h5';
import type { Rows, Series, Token } from './series';

/** Up to here rows are simply read; above, pyramids and searches serve as far as they can. */
export const fewRows = 2_000_000;
const mostLines = 48_000_000;
/** Of a selection, whose lines are all looked at. */
const mostSelected = 4_000_000;
const cacheBytes = 400_000_000;

/** Adds rows to the counts of lines; counts for several lines are spread evenly. */
function addRows(dense: Dense, rows: Rows): void {
    const { lines, first, second } = dense;
    for (let i = 0; i < rows.count; ++i) {
        const [a, b, span] = [rows.first[i], rows.second[i], rows.span[i]];
        dense.total += a;
        dense.totalSecond += b;
        for (const [begin, count] of lines.runs(rows.address[2 * i + 1], rows.address[2 * i], span))
            for (let line = begin; line < begin + count; ++line) {
                first[line] += a / span;
                if (second) second[line] += b / span;
            }
    }
}

/** What is counted: a series in some phases, by the lines of an axis. */
export interface Query {
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

function keep(key: string, dense: Dense): void {
    const size = (each: Dense) => each.first.byteLength + (each.second?.byteLength ?? 0);
    let bytes = size(dense) + sum(kept.values(), size);
    for (const [oldest, each] of kept) {
        if (bytes <= cacheBytes) break;
        bytes -= size(each);
        kept.delete(oldest);
    }
    kept.set(key, dense);
}

async function read({ series, phases, axis, token }: Query, ranges: [number, number][]): Promise<Dense> {
    const lines = new Lines(axis, series.info.unit);
    if (lines.count > mostLines)
        throw new FileError(`${lines.count.toLocaleString('en')} lines are too many to be drawn at once: zoom in, or choose all phases.`);
    const first = new Float64Array(lines.count);
    const second = series.isLevel ? new Float64Array(lines.count) : null;
    const dense: Dense = { lines, first, second, total: 0, totalSecond: 0 };
    await series.visit(ranges, token, (rows) => addRows(dense, rows));
    keep(keyOf(series, phases, axis), dense);
    return dense;
}

/** Counts of all lines of the axis. */
async function whole(query: Query): Promise<Dense> {
    const key = keyOf(query.series, query.phases, query.axis);
    const found = kept.get(key);
    if (!found) return read(query, query.series.ranges(query.phases));
    kept.delete(key);
    kept.set(key, found);
    return found;
}

export async function buckets(query: Query, quantity: Quantity, stretch: Stretch): Promise<Buckets> {
    const { series, phases, axis } = query;
    const known = kept.get(keyOf(series, phases, axis));
    if (known) return bucketsOfDense(known, quantity, stretch);
    const { x0, x1, count } = stretch;
    const { unit } = series.info;
    const part = cut(axis, x0, x1);
    const all = phases === null || phases.length >= series.info.phases;
    if (all && series.pyramid.length > 0 && (series.info.rows > fewRows || series.info.reduced)) {
        const fine = series.pyramid.filter((level) => level.units * unit <= (x1 - x0) / count).at(-1);
        const level = fine ?? (new Lines(part, unit).count > mostLines / 16 ? series.pyramid[0] : undefined);
        if (level) return bucketsOfPyramid(series, level, new Lines(axis, level.units * unit), quantity, stretch);
    }
    const narrow = series.info.rows > fewRows && series.findsRows(phases) && x1 - x0 < axis.bytes / 4;
    if (!narrow) return bucketsOfDense(await whole(query), quantity, stretch);
    // from the rows of the part alone, whose total is not that of all
    const dense = await read({ ...query, axis: part }, series.windows(phases, part));
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
        found = joined(found);
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
        await series.visit([[0, series.info.rows]], token, (rows) => {
            for (let i = 0; i < rows.count; ++i) add(rows.address, i, unit * rows.span[i]);
        });
    }
    flush();
    return joined(found);
}

/** Rows that may lie on some part of an axis. */
function rangesOn(series: Series, phases: Phases, part: Axis): [number, number][] {
    return series.findsRows(phases) && part.segments.length <= 64 ? series.windows(phases, part) : series.ranges(phases);
}

/** Sums of a series in each phase, of levels accesses and misses, else the count and 0; `stretch`: of the lines that begin in this part of the axis. */
export async function phaseSums(series: Series, axis: Axis, stretch: [number, number] | null, token: Token) {
    const first = new Float64Array(series.info.phases);
    const second = new Float64Array(series.info.phases);
    const part = stretch && cut(axis, ...stretch);
    const lines = new Lines(part ?? { segments: [], bytes: 1 }, series.info.unit);
    // of those lines that begin in the part
    const beginning = (count: number, [line, more]: [number, number]) => {
        const segment = lines.segmentOf(line);
        return count + more - (lines.offsetOf(line, segment) < lines.axis.segments[segment].start ? 1 : 0);
    };
    const see = (rows: Rows) => {
        for (let i = 0; i < rows.count; ++i) {
            const span = rows.span[i];
            const share = part ? lines.runs(rows.address[2 * i + 1], rows.address[2 * i], span).reduce(beginning, 0) / span : 1;
            if (share === 0) continue;
            first[rows.phase![i]] += rows.first[i] * share;
            second[rows.phase![i]] += rows.second[i] * share;
        }
    };
    await series.visit(part ? rangesOn(series, null, part) : series.ranges(null), token, see, true);
    return { first, second };
}

/** What a part of an axis holds; of reduced copies the worst lines are those that the copy kept as they were. */
export async function selected(query: Query, quantity: Quantity, most: number, sets: number, functions: string[]): Promise<Selected> {
    const { series, phases, axis: part, token } = query;
    if (new Lines(part, series.info.unit).count > mostSelected)
        return { lines: NaN, first: NaN, second: NaN, worst: [], sets: new Float64Array(), functions: [] };
    const dense = await read(query, rangesOn(series, phases, part));
    const { lines, first, second } = dense;
    const found: Selected = { lines: 0, first: 0, second: 0, worst: [], sets: new Float64Array(sets), functions: [] };
    const heap: LineCount[] = [];
    const value = ({ first, second }: LineCount) => valueOf(quantity, first, second);
    part.segments.forEach((segment, s) => {
        const base = segment.base - (segment.base % BigInt(series.info.unit));
        const end = lines.firstLine[s + 1];
        for (let line = lines.firstLine[s], i = 0; line < end; ++line, ++i) {
            const [a, b] = [first[line], second ? second[line] : 0];
            if (a <= 0 && b <= 0) continue;
            if (i === 0 && base < segment.base && end - line > 1) continue; // it begins before
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
    const at = (i: number): [number, number] => [top!.address[2 * i + 1], top!.address[2 * i]];
    const rows = range(top?.count ?? 0).filter((i) => (!phases || phases.includes(top!.phase![i])) && lines.lineOf(...at(i)) >= 0);
    const sums = (some: number[]) => ({ first: sum(some, (i) => top!.first[i]), second: sum(some, (i) => top!.second[i]) });
    const found = rollups(rows, sums, (i) => (BigInt(at(i)[0]) << 32n) | BigInt(at(i)[1]));
    const value = ({ first, second }: LineCount) => valueOf(quantity, first, second);
    return found.map(([address, each]) => ({ address, ...each })).sort((a, b) => value(b) - value(a)).slice(0, most);
}

async function byFunction(series: Series, phases: Phases, lines: Lines, names: string[], token: Token): Promise<Selected['functions']> {
    const sums = new Float64Array(names.length + 1);
    const see = (rows: Rows) => {
        for (let i = 0; i < rows.count; ++i)
            if (lines.lineOf(rows.address[2 * i + 1], rows.address[2 * i]) >= 0) sums[Math.min(rows.func![i], names.length)] += rows.first[i];
    };
    await series.visit(series.ranges(phases), token, see, false, true);
    const found = Array.from(sums, (count, i) => ({ name: names[i] ?? '(none)', count }));
    return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}

/** What a monitor with groups of `group` aligned lines would have given instead of the exact counts, by how much lines differ (|exact -
 * approximate|), and the error over the data structures, a fraction. */
export async function coarse(query: Query, group: number, data: AddressRange[], stretch: Stretch) {
    const { axis } = query;
    const dense = await whole(query);
    const { lines } = dense;
    const approximate: Dense = { ...dense, first: new Float64Array(lines.count) };
    const difference: Dense = { ...dense, first: new Float64Array(lines.count), total: NaN };
    let wrong = 0;
    let all = 0;
    axis.segments.forEach((segment, s) => {
        const begin = lines.firstLine[s];
        const end = lines.firstLine[s + 1];
        const phase = lines.phaseOf(s, group);
        const base = segment.base - (segment.base % BigInt(lines.unit));
        const here = data.map(([from, to]) => [Number(from - base), Number(to - base)]);
        for (let at = begin - phase; at < end; at += group) {
            let sum = 0;
            for (let i = Math.max(begin, at); i < Math.min(end, at + group); ++i) sum += dense.first[i];
            if (sum === 0) continue;
            for (let i = at; i < at + group; ++i) {
                const exact = i >= begin && i < end ? dense.first[i] : 0;
                const off = Math.abs(exact - sum / group);
                const place = (i - begin) * lines.unit;
                if (here.some(([from, to]) => place < to && place + lines.unit > from)) {
                    wrong += off;
                    all += exact;
                }
                if (i < begin || i >= end) continue;
                approximate.first[i] = sum / group;
                difference.first[i] = off;
            }
        }
    });
    return {
        exact: bucketsOfDense(dense, 'count', stretch),
        approximate: bucketsOfDense(approximate, 'count', stretch),
        difference: bucketsOfDense(difference, 'count', stretch),
        error: all > 0 ? wrong / all : NaN,
    };
}
