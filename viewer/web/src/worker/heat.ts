// SPDX-License-Identifier: BSD-3-Clause
// Cells of heat maps: means per line and phase, at every zoom.
//
// A cell covers a stretch of the axis and some phases. Its lines are those that have counts in any phase; a line that lies in it in part
// counts by that part, in what it adds and in what it weighs. So lines of equal counts have one colour, however cells and lines lie.
// Rates are misses over accesses, shared out in the same way.
import type { Axis, Heat, Quantity } from '../protocol';
import { phaseEdges } from '../numbers';
import { remembered } from '../remembered';
import { linesOf } from './addresses';
import { cut, fewRows, valueOf } from './counts';
import type { See, Series, Token } from './series';

/** Adds the number of a line to a set, by bits: true where it was not there yet. Little memory where lines lie far apart, too. */
function lineSet(): (line: number) => boolean {
    const chunks = new Map<number, Uint32Array>();
    let last = -1;
    let chunk: Uint32Array = new Uint32Array(0);
    return (line) => {
        const number = Math.floor(line / 1024);
        if (number !== last) chunk = remembered(chunks, (last = number), () => new Uint32Array(32));
        const at = line - number * 1024;
        const bit = 1 << (at & 31);
        const fresh = (chunk[at >> 5] & bit) === 0;
        chunk[at >> 5] |= bit;
        return fresh;
    };
}

/** More that share a count are added together. */
const fewLines = 64;

function heatSums(series: Series, axis: Axis, x0: number, x1: number, columns: number, phases: number, rows: number, unit = series.info.unit) {
    const edges = phaseEdges(phases, rows);
    const rowOf = new Uint32Array(phases);
    for (let row = 0; row < rows; ++row) rowOf.fill(row, edges[row], edges[row + 1]);
    const rowAt = (phase: number) => rowOf[Math.min(phase, phases - 1)];
    const first = new Float64Array(rows * columns);
    const second = new Float64Array(series.isLevel ? rows * columns : 0);
    /** Lines of each column. */
    const touched = new Float64Array(columns);
    const lines = linesOf(axis, unit);
    const isFresh = lineSet();
    /** First lines of runs that were seen: blocks of reduced copies are the same in all phases. */
    const runs = new Set<number>();
    const reach = lines.range(x0, x1);
    const width = (x1 - x0) / columns;

    /** Adds `a` and `b` to each of `count` lines side by side, or of blocks of `weight` lines with counts, as far as they are in sight. */
    function add(line: number, count: number, row: number, a: number, b: number, weight = 1): void {
        if (line + count <= reach[0] || line >= reach[1]) return;
        const [begin, end] = lines.stretchOf(line, count);
        const [from, to] = [Math.max(begin, x0), Math.min(end, x1)];
        if (from >= to) return;
        const fresh = count > 1 ? !runs.has(line) : isFresh(line);
        if (count > 1) runs.add(line);
        for (let c = Math.max(0, Math.floor((from - x0) / width)); c < columns; ++c) {
            const left = x0 + c * width;
            if (left >= to) break;
            const part = Math.min(to, left + width) - Math.max(from, left);
            if (part <= 1e-9 * unit) continue; // rounding
            const share = count > 1 ? part / unit : part / (end - begin);
            first[row * columns + c] += a * share;
            if (second.length) second[row * columns + c] += b * share;
            if (fresh) touched[c] += share * weight;
        }
    }

    /** Adds a row of the file. */
    const see: See = ({ address, span: spans, phase, first: as, second: bs }, i) => {
        const [span, row] = [spans[i], rowAt(phase![i])];
        const [a, b] = [as[i] / span, bs[i] / span];
        for (const [line, count] of lines.runs(address, i, span)) {
            if (count > fewLines) add(line, count, row, a, b);
            else for (let l = line; l < line + count; ++l) add(l, 1, row, a, b);
        }
    };

    /** Adds the cells of a table of phases by blocks of lines. */
    function seeGrid({ phases, address, touched, accesses, misses }: Grid): void {
        phases.forEach((phase, p) =>
            touched.forEach((weight, c) => {
                const [block, at] = [weight > 0 ? lines.lineOf(address, c) : -1, p * touched.length + c];
                if (block >= 0) add(block, 1, rowAt(phase), accesses[at], misses[at], weight);
            }),
        );
    }

    /** Sums, and what they are over: accesses for rates, else lines of all phases of the row. */
    function heat(quantity: Quantity): Heat {
        if (quantity === 'missrate') return { rows, columns, edges, sum: second, weight: first };
        const phasesIn = (row: number) => edges[row + 1] - edges[row];
        return {
            ...{ rows, columns, edges },
            sum: first.map((a, i) => valueOf(quantity, a, second[i])),
            weight: first.map((_, cell) => touched[cell % columns] * phasesIn(Math.floor(cell / columns))),
        };
    }
    return { see, seeGrid, heat };
}

type Grid = NonNullable<ReturnType<typeof gridOf>>;

/** The table `grid` of a level (docs/format.md), where its blocks are made of those of a pyramid, which knows how many lines have counts (`touched`):
 * sums by phase and block; the addresses of blocks as halves. */
function gridOf({ store, info, isLevel, pyramid }: Series, mostBytes: number) {
    const path = `${info.path}/grid`;
    if (!isLevel || !store.has(path)) return null;
    const units = Number(store.attributes(path).units);
    const level = pyramid.filter((each) => units % each.units === 0).at(-1);
    if (!level || units * info.unit > mostBytes) return null;
    const columns = store.rows(`${path}/address`);
    const address = store.halves(`${path}/address`, 0, columns);
    const touched = new Float64Array(columns);
    const [begins, blocks] = [path, level.path].map((each) => store.numbers(`${each}/address`));
    let c = 0;
    store.numbers(`${level.path}/lines`).forEach((count, i) => {
        while (c + 1 < columns && begins[c + 1] <= blocks[i]) ++c;
        touched[c] += count;
    });
    const [accesses, misses] = ['accesses', 'misses'].map((column) => store.numbers(`${path}/${column}`));
    return { bytes: units * info.unit, phases: store.words(`${path}/phase`, 0, store.rows(`${path}/phase`)), address, touched, accesses, misses };
}

/** Cells of x0 .. x1 in rows of so many phases, of which those above `most` share rows. */
export async function heatOf(series: Series, quantity: Quantity, axis: Axis, x0: number, x1: number, columns: number, phases: number, most: number, token: Token): Promise<Heat> {
    const grid = series.info.rows <= fewRows ? null : gridOf(series, (x1 - x0) / columns);
    const sums = heatSums(series, axis, x0, x1, columns, phases, Math.min(phases, most), grid?.bytes);
    if (grid) sums.seeGrid(grid);
    else await series.visit(series.ranges(null, cut(axis, x0, x1)), token, sums.see, true);
    return sums.heat(quantity);
}
