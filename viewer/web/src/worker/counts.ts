// SPDX-License-Identifier: BSD-3-Clause
// Counts over addresses: from pyramids, or tables of phases by blocks of lines, where these are fine enough, else from the rows.
import { range, sum } from 'd3-array';
import { answer, axisWords, bucketsFrom, call, cut, forget, holding, kindOf, rangeWords, viewOf } from '../core';
import { causes, FileError, fewRows, type AddressRange, type Axis, type Buckets, type Column, type Heat, type Phases, type Quantity, type Selected, type Stretch } from '../protocol';
import { rememberedLast } from '../remembered';
import type { PyramidLevel, Series, Token } from './series';

const none = new Float64Array();
const mostLines = 48_000_000;
/** Of a selection, whose lines are all looked at. */
const mostSelected = 4_000_000;
const cacheBytes = 400_000_000;
/** What is counted: a series in some phases, by the lines of an axis. */
type Query = { series: Series; phases: Phases; axis: Axis; token: Token };
const linesOf = (axis: Axis, unit: number): number => call('lines', axisWords(axis), unit);

/** Columns from a pyramid in the file, without looking at lines. */
function bucketsOfPyramid({ store, info }: Series, level: PyramidLevel, axis: Axis, quantity: Quantity, stretch: Stretch): Buckets {
    const column = (name: string) => store.numbers(`${level.path}/${name}`);
    const rate = quantity === 'missrate';
    const prefix = quantity === 'count' ? '' : `${rate ? 'miss_rate' : quantity}_`;
    const [sums, min, max] = [column(quantity === 'count' ? 'sum' : rate ? 'misses' : quantity), column(`${prefix}min`), column(`${prefix}max`)];
    const weight = rate ? column('accesses') : store.dataset(`${level.path}/lines`) ? column('lines') : new Float64Array();
    const grain = level.units * info.unit;
    const addresses = store.addresses(`${level.path}/address`);
    const { numbers } = answer('pyramid', axisWords(axis), grain, kindOf(quantity), viewOf(stretch), addresses, weight, sums, min, max, level.units);
    return bucketsFrom(numbers, stretch, grain);
}

/** Counts of lines that the core holds; the one that was asked for longest ago goes. */
const kept = new Map<string, { counts: number; bytes: number }>();

const keyOf = ({ series, phases, axis: { segments } }: Query): string =>
    [series.info.id, phases?.join() ?? '*', segments.map(({ base, bytes }) => `${base}+${bytes}`).join()].join('|');

async function read(query: Query, part: Axis | null = null): Promise<number> {
    const { series, phases, axis, token } = query;
    const lines = linesOf(axis, series.info.unit);
    if (lines > mostLines)
        throw new FileError(`${lines.toLocaleString('en')} lines are too many to be drawn at once: zoom in, or choose all phases and causes.`);
    const counts = call('counts', axisWords(axis), series.info.unit, series.isLevel);
    await series.visit(phases, part, token, [counts]).catch((error) => {
        forget(counts);
        throw error;
    });
    return keep(query, { counts, bytes: 8 * lines * (series.isLevel ? 2 : 1) });
}

function keep(query: Query, one: { counts: number; bytes: number }): number {
    const found = rememberedLast(kept, keyOf(query), () => one, () => sum(kept.values(), ({ bytes }) => bytes) > cacheBytes, ({ counts }) => forget(counts));
    if (found !== one) forget(one.counts); // another request was faster
    return found.counts;
}

/** Counts of all lines of the axis. */
const whole = async (query: Query): Promise<number> => (kept.has(keyOf(query)) ? keep(query, kept.get(keyOf(query))!) : read(query));

export async function buckets(query: Query, quantity: Quantity, stretch: Stretch): Promise<Buckets> {
    const { series, series: { info: { unit, rows, reduced } }, phases, axis } = query;
    const of = (counts: number) => bucketsFrom(answer('columns', counts, kindOf(quantity), viewOf(stretch)).numbers, stretch, unit);
    const known = reduced ? undefined : kept.get(keyOf(query)); // a pyramid tells more than blocks
    if (known) return of(known.counts);
    const { x0, x1, count } = stretch;
    const part = cut(axis, x0, x1);
    const all = !series.ofCause && (phases === null || phases.length >= series.info.phases);
    if (all && series.pyramid.length > 0 && (rows > fewRows || reduced)) {
        const fine = series.pyramid.filter((level) => level.units * unit <= (x1 - x0) / count).at(-1);
        const level = fine ?? (reduced || linesOf(part, unit) > mostLines / 16 ? series.pyramid[0] : undefined);
        if (level) return bucketsOfPyramid(series, level, axis, quantity, stretch);
    }
    const narrow = rows > fewRows && series.findsRows(phases) && x1 - x0 < axis.bytes / 4;
    if (!narrow) return of(await whole(query));
    // from the rows of the part alone, whose total is not that of all
    return { ...of(await read({ ...query, axis: part }, part)), total: NaN };
}

/** Where there are counts. */
export const extents = (list: Series[], token: Token): Promise<AddressRange[]> =>
    holding(call('extents'), async (found) => {
        for (const series of list) {
            // the coarsest whose blocks are still small beside the whole
            const level = series.pyramid.filter((each) => each.rows >= 2000).at(-1);
            if (level && series.info.rows > fewRows) series.addBlocks(level, found);
            else await series.visit(null, null, token, [found]);
        }
        const { addresses } = answer('found', found);
        return Array.from({ length: addresses.length / 2 }, (_, i): AddressRange => [addresses[2 * i], addresses[2 * i + 1] + 1n]);
    });

/** Sums of a series in each phase (`some`: in these alone), of levels accesses, misses and these by cause where that is known, else the count and 0;
 * `stretch`: of the lines of this part of the axis. */
export async function phaseSums({ info, visit }: Series, axis: Axis, stretch: [number, number] | null, token: Token, some: Phases = null): Promise<Column[]> {
    const part = stretch && cut(axis, ...stretch);
    const held = range(info.causes ? 1 + causes.length : 1).map(() => call('phase_sums', info.phases, part === null, axisWords(part ?? axis), info.unit));
    try {
        await visit(some, part, token, held, true);
        const sums = held.map((each) => answer('by_phase', each).numbers);
        return [sums[0].slice(0, info.phases), ...sums.map((each) => each.slice(info.phases))];
    } finally {
        held.forEach(forget);
    }
}

const linesFrom = ({ numbers, addresses }: ReturnType<typeof answer>, from = 0): Selected['worst'] =>
    range(from, numbers.length, 3).map((at) => ({ address: addresses[at], first: numbers[at + 1], second: numbers[at + 2] }));

/** What a part of an axis holds; of reduced copies the worst lines are those that the copy kept as they were. */
export async function selected(query: Query, quantity: Quantity, most: number, sets: number, functions: string[]): Promise<Selected> {
    const { series, series: { info: { unit, reduced } }, phases, axis: part, token } = query;
    if (linesOf(part, unit) > mostSelected) return { lines: NaN, first: NaN, second: NaN, worst: [], sets: none, functions: [], causes: [] };
    const found = answer('selected', await read(query, part), kindOf(quantity), most, sets);
    const [lines, first, second] = found.numbers;
    const top = reduced ? series.topRows() : null;
    const rows = top && [top.address, top.phase!, top.first, top.second[0]];
    const worst = rows ? linesFrom(answer('worst', axisWords(part), unit, ...rows, Uint32Array.from(phases ?? []), kindOf(quantity), most)) : reduced ? [] : linesFrom(found, 3 + sets);
    const [, misses, ...byCause] = series.info.causes ? (await phaseSums(series, part, [0, part.bytes], token, phases)).map((each) => sum(each)) : [];
    return { lines, first, second: series.ofCause ? misses : second, worst, sets: found.numbers.slice(3, 3 + sets), functions: series.hasFunctions ? await byFunction(query, functions) : [], causes: byCause };
}

const byFunction = ({ series, phases, axis, token }: Query, names: string[]): Promise<Selected['functions']> =>
    holding(call('function_sums', names.length, axisWords(axis), series.info.unit), async (sums) => {
        await series.visit(phases, null, token, [sums], false, true);
        const found = Array.from(answer('by_function', sums).numbers, (count, i) => ({ name: names[i] ?? '(none)', count }));
        return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
    });

/** What a monitor with groups of `group` aligned lines would have given instead of the exact counts, by how much lines differ (|exact -
 * approximate|), and the error over the data structures, a fraction. */
export async function coarse(query: Query, group: number, data: AddressRange[], stretch: Stretch) {
    const { numbers } = answer('grouped', await whole(query), group, rangeWords(data), viewOf(stretch));
    const size = 3 + 4 * stretch.count;
    const [exact, approximate, difference] = [0, 1, 2].map((i) => bucketsFrom(numbers, stretch, query.series.info.unit, 1 + i * size));
    return { exact, approximate, difference, error: numbers[0] };
}

/** The table `grid` of a level (docs/format.md), where its blocks are made of those of a pyramid, which knows how many lines have counts. */
function gridOf({ store, info, isLevel, ofCause, pyramid }: Series, mostBytes: number) {
    const path = `${info.path}/grid`;
    if (!isLevel || ofCause || !store.has(path)) return null;
    const units = Number(store.attributes(path).units);
    const level = pyramid.filter((each) => units % each.units === 0).at(-1);
    if (!level || units * info.unit > mostBytes) return null;
    const [accesses, misses] = ['accesses', 'misses'].map((column) => store.numbers(`${path}/${column}`));
    const blocks = [store.words(`${path}/phase`), store.addresses(`${path}/address`), accesses, misses];
    return { bytes: units * info.unit, columns: [...blocks, store.addresses(`${level.path}/address`), store.numbers(`${level.path}/lines`)] };
}

/** Cells of x0 .. x1 in rows of phases. */
export async function heatOf(series: Series, quantity: Quantity, axis: Axis, x0: number, x1: number, columns: number, phases: number, token: Token): Promise<Heat> {
    const grid = series.info.rows <= fewRows ? null : gridOf(series, (x1 - x0) / columns);
    return holding(call('heat', axisWords(axis), grid?.bytes ?? series.info.unit, x0, x1, columns, phases, series.isLevel), async (sums) => {
        if (grid) call('add_grid', sums, ...grid.columns);
        else await series.visit(null, cut(axis, x0, x1), token, [sums], true);
        const { numbers } = answer('cells', sums, kindOf(quantity));
        const [rows, edges] = [numbers[0], numbers.subarray(1)];
        const cells = edges.subarray(rows + 1);
        return { rows, columns, edges: [...edges.subarray(0, rows + 1)], sum: cells.subarray(0, rows * columns), weight: cells.subarray(rows * columns) };
    });
}
