// SPDX-License-Identifier: BSD-3-Clause
// Where the field's numbers come from: lines, or, of what is known of data structures as wholes, sums spread evenly over theirs.
import { cross, groups, range, sum } from 'd3-array';
import { rangeOf, structurePlace } from './axis';
import { stretchesOf, structuresIn, type Chosen } from './app';
import type { Source } from './client';
import { answer } from './core';
import { causeNames, rowsOf, sumOf, sumsBy, type Filter, type StructureSums } from './cube';
import { emptyBuckets, type AddressRange, type Axis, type Buckets, type Column, type Heat, type SeriesInfo, type Structure } from './protocol';

export const heatColumns = 512;

/** Two columns of the cube whose quotient is shown, or one and null. */
function columnsOfCube({ cube, cause, show }: Chosen): [Column, Column | null] {
    const { accesses, misses, causes } = cube!;
    if (cause >= 0) return [causes![cause], null];
    if (show.quantity === 'missrate') return [misses, accesses];
    if (show.quantity === 'hits') return [accesses.map((each, i) => each - misses[i]), null];
    return [show.quantity === 'accesses' ? accesses : misses, null];
}

/** What a file knows of whole structures, spread over their lines: cells, and the histogram of the phases that are chosen, where rows of several
 * phases count where the first of them is; `missing`: what has no place on the axis. */
export function spreadOf(chosen: Chosen, axis: Axis, structures: Structure[], [x0, x1]: [number, number]) {
    const cube = chosen.cube!, { phases } = chosen.series;
    const edges = [...answer('edges', phases).numbers];
    const rows = edges.length - 1;
    const [values, per] = columnsOfCube(chosen);
    const [sums, weights] = [0, 1].map(() => new Float64Array(rows * heatColumns));
    const width = (x1 - x0) / heatColumns;
    let [missing, found] = [0, 0];
    const { structure: wanted, ...others } = chosen.filter;
    const filter: Filter = chosen.placeless ? others : chosen.filter;
    cube.dimensions.structure!.names.forEach((name, number) => {
        if (filter === chosen.filter && wanted && !wanted.includes(number)) return;
        const own = rowsOf(cube, { ...filter, structure: [number] });
        const [byPhase, over] = [values, per].map((each) => each && sumsBy(cube, 'phase', each, own));
        if (byPhase!.every((each) => each === 0)) return;
        const places = structures.filter((each) => each.name === name).map((each) => structurePlace(axis, each)).filter((each) => each !== null);
        const all = sum(places, ([from, to]) => to - from);
        [found, missing] = [found + sum(byPhase!), missing + (all === 0 ? sum(byPhase!) : 0)];
        for (const [from, to] of places)
            for (let c = Math.max(0, Math.floor((from - x0) / width)); c < heatColumns && x0 + c * width < to; ++c) {
                const overlap = Math.min(to, x0 + (c + 1) * width) - Math.max(from, x0 + c * width);
                if (overlap <= 0) continue;
                for (let row = 0; row < rows; ++row)
                    for (let phase = edges[row]; phase < edges[row + 1]; ++phase) {
                        sums[row * heatColumns + c] += ((byPhase![phase] ?? 0) * overlap) / all; // beside a longer run
                        weights[row * heatColumns + c] += over ? ((over[phase] ?? 0) * overlap) / all : overlap / chosen.series.unit;
                    }
            }
    });
    const counted = rowsOf(cube, chosen.phases ? { ...filter, phase: chosen.phases } : filter);
    const total = sumOf(values, counted) / (per ? sumOf(per, counted) : 1);
    const heat: Heat = { rows, columns: heatColumns, edges, sum: sums, weight: weights };
    return { heat, missing, lost: missing / found, whole: bucketsOfSpread(heat, chosen, [x0, x1], total) };
}

function bucketsOfSpread(heat: Heat, { phases, rate, series }: Chosen, [x0, x1]: [number, number], total: number): Buckets {
    const { columns, rows, edges } = heat;
    const wanted = phases && new Set(phases);
    const buckets = { ...emptyBuckets(x0, x1, columns, series.unit), total };
    for (let c = 0; c < columns; ++c) {
        for (let row = 0; row < rows; ++row) {
            if (wanted && !wanted.has(edges[row])) continue;
            buckets.sum[c] += heat.sum[row * columns + c];
            const weight = Math.abs(heat.weight[row * columns + c]);
            buckets.touched[c] = rate ? buckets.touched[c] + weight : Math.max(buckets.touched[c], weight / (edges[row + 1] - edges[row]));
        }
        if (buckets.touched[c] > 0) buckets.min[c] = buckets.max[c] = buckets.sum[c] / buckets.touched[c];
    }
    return buckets;
}

/** What is summed: accesses, misses, and these by cause where rows tell it. */
const columnsOf = ({ causes }: SeriesInfo): number[] => range(causes ? 2 + causeNames.length : 2);

/** Counts over time in parts that are stacked: causes of misses, where all that is chosen is known by cause; else one part. */
export async function timeOf(source: Source, chosen: Chosen, axis: Axis, stretches: [number, number][] | null, byStructure: boolean): Promise<Column[]> {
    const { cube, show, cause, rate, filter, series } = chosen;
    const phases = chosen.series.phases;
    if (cube && (chosen.whole || byStructure || !stretches) && series.kind === 'level') {
        const columns = columnsOfCube(chosen).filter((each) => each !== null);
        const byPhase = (each: Column) => sumsBy(cube, 'phase', each, rowsOf(cube, filter));
        const byCause = cause < 0 && show.quantity === 'misses' && cube.causes;
        const sums = (byCause || columns).map(byPhase);
        if (rate || byCause || !sums[0].some(Number.isNaN)) return sums;
    }
    const parts = await Promise.all((stretches ?? [null]).map((stretch, i) => source.askLatest(`time:${series.id}:${i}`, 'phaseSums', series.id, axis, stretch)));
    const [first, second, ...byCause] = columnsOf(series).map((column) => new Float64Array(phases).map((_, i) => sum(parts, (each) => each[column][i])));
    if (rate) return [second, first];
    if (show.quantity === 'misses') return byCause.length === 0 ? [second] : cause < 0 ? byCause : [byCause[cause]];
    return [show.quantity === 'hits' ? first.map((each, i) => each - second[i]) : first];
}

/** The addresses of a structure, from the line on in which it begins where no other begins before it in that line. */
function withFirstLine(structures: Structure[], { base, bytes }: Structure, unit: number): AddressRange {
    const line = base - (base % BigInt(unit));
    return [structures.some((each) => each.bytes > 0 && each.base < base && rangeOf(each)[1] > line) ? base : line, base + BigInt(bytes)];
}

/** What is counted in selected lines in the chosen phases by data structure, and of other data; a line is of the first in it. */
export async function sumsByStructure(source: Source, { series, series: { id, unit }, phases }: Chosen, axis: Axis, selection: AddressRange[]): Promise<StructureSums[]> {
    const sums = async (name: string, ranges: AddressRange[]) => {
        const parts = await Promise.all(stretchesOf(axis, ranges)!.map((stretch, i) => source.askLatest(`parts:${phases}:${name}:${i}`, 'phaseSums', id, axis, stretch)));
        return { name, byPhase: columnsOf(series).map((column) => new Float64Array(series.phases).map((_, i) => sum(parts, (each) => each[column][i]))) };
    };
    const both = ([a, b]: AddressRange, [c, d]: AddressRange): AddressRange => [a > c ? a : c, b < d ? b : d];
    const inside = groups(structuresIn(source.info.structures, selection), ({ name }) => name);
    const selected = (some: Structure[]) => cross(selection, some.map((each) => withFirstLine(source.info.structures, each, unit)), both).filter(([from, to]) => from < to);
    const [all, ...own] = await Promise.all([sums('', selection), ...inside.map(([name, some]) => sums(name, selected(some)))]);
    const rest = all.byPhase.map((column, at) => column.map((count, i) => count - sum(own, ({ byPhase }) => byPhase[at][i])));
    return [...own, { name: source.info.attribution ? '(other data)' : '(elsewhere)', byPhase: rest }].map((each) => ({ ...each, counts: each.byPhase.map((column) => sum(phases ?? column.keys(), (i) => column[i])) }));
}

export const askHeat = (source: Source, { series, show }: Chosen, axis: Axis, [x0, x1]: [number, number]): Promise<Heat> =>
    source.askLatest(`heat:${series.id}`, 'heat', series.id, show.quantity, axis, x0, x1, heatColumns, series.phases);

/** By how much the means of the second are above those of the first, where either has lines. */
export function heatDifference(a: Heat, b: Heat): Heat {
    const mean = ({ sum: sums, weight }: Heat, i: number) => (weight[i] > 0 ? sums[i] / weight[i] : 0);
    const weight = a.weight.map((each, i) => (each > 0 || b.weight[i] > 0 ? 1 : 0));
    return { ...a, weight, sum: weight.map((_, i) => mean(b, i) - mean(a, i)), signed: true };
}
