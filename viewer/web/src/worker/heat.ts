// SPDX-License-Identifier: BSD-3-Clause
// Cells of heat maps: means per line and phase, at every zoom.
//
// A cell covers a stretch of the axis and some phases. Its lines are those that have counts in any phase; a line that lies in it in part
// counts by that part, in what it adds and in what it weighs. So lines of equal counts have one colour, however cells and lines lie.
// Rates are misses over accesses, shared out in the same way.
import type { Axis, Heat, Quantity } from '../protocol';
import { phaseEdges } from '../field_layout';
import { Lines } from './addresses';
import { cut, valueOf } from './buckets';
import { fewRows } from './counts';
import type { Rows, Series, Token } from './series';

/** Numbers of lines, by bits; few where lines lie far apart. */
class LineSet {
    private readonly chunks = new Map<number, Uint32Array>();
    private last = -1;
    private chunk: Uint32Array = new Uint32Array(0);

    /** True where it was not there yet. */
    add(line: number): boolean {
        const number = Math.floor(line / 1024);
        if (number !== this.last) {
            this.last = number;
            const found = this.chunks.get(number);
            this.chunk = found ?? new Uint32Array(32);
            if (!found) this.chunks.set(number, this.chunk);
        }
        const at = line - number * 1024;
        const bit = 1 << (at & 31);
        if (this.chunk[at >> 5] & bit) return false;
        this.chunk[at >> 5] |= bit;
        return true;
    }
}

/** More that share a count are added together. */
const fewLines = 64;

class HeatSums {
    readonly edges: number[];
    readonly first: Float64Array;
    readonly second: Float64Array;
    /** Lines of each column. */
    readonly touched: Float64Array;
    readonly lines: Lines;
    private readonly rowOf: Uint32Array;
    private readonly seen = new LineSet();
    /** First lines of runs that were seen: blocks of reduced copies are the same in all phases. */
    private readonly runs = new Set<number>();
    private readonly reach: [number, number];
    private readonly width: number;

    constructor(
        series: Series,
        axis: Axis,
        private readonly x0: number,
        private readonly x1: number,
        readonly columns: number,
        readonly rows: number,
        unit = series.info.unit,
    ) {
        const { phases } = series.info;
        this.edges = phaseEdges(phases, rows);
        this.rowOf = new Uint32Array(phases);
        for (let row = 0; row < rows; ++row) this.rowOf.fill(row, this.edges[row], this.edges[row + 1]);
        this.first = new Float64Array(rows * columns);
        this.second = new Float64Array(series.isLevel ? rows * columns : 0);
        this.touched = new Float64Array(columns);
        this.lines = new Lines(axis, unit);
        this.reach = this.lines.range(x0, x1);
        this.width = (x1 - x0) / columns;
    }

    /** Adds `a` and `b` to each of `count` lines side by side, or of blocks of `weight` lines with counts, as far as they are in sight. */
    private add(line: number, count: number, row: number, a: number, b: number, weight = 1): void {
        const { lines, x0, width, columns } = this;
        if (line + count <= this.reach[0] || line >= this.reach[1]) return;
        const segment = lines.segmentOf(line);
        const { start, bytes } = lines.axis.segments[segment];
        const offset = lines.offsetOf(line, segment);
        // of a block whose rest is beyond the segment: there are no counts
        const [first, end] = [Math.max(offset, start), Math.min(offset + count * lines.unit, start + bytes)];
        const [from, to] = [Math.max(first, x0), Math.min(end, this.x1)];
        if (from >= to) return;
        const fresh = count > 1 ? !this.runs.has(line) : this.seen.add(line);
        if (count > 1) this.runs.add(line);
        for (let c = Math.max(0, Math.floor((from - x0) / width)); c < columns; ++c) {
            const left = x0 + c * width;
            if (left >= to) break;
            const part = Math.min(to, left + width) - Math.max(from, left);
            if (part <= 1e-9 * lines.unit) continue; // rounding
            const share = count > 1 ? part / lines.unit : part / (end - first);
            this.first[row * columns + c] += a * share;
            if (this.second.length) this.second[row * columns + c] += b * share;
            if (fresh) this.touched[c] += share * weight;
        }
    }

    /** Adds rows of the file. */
    see(block: Rows): void {
        const { lines } = this;
        for (let i = 0; i < block.count; ++i) {
            const span = block.span[i];
            const row = this.rowOf[Math.min(block.phase![i], this.rowOf.length - 1)];
            const [a, b] = [block.first[i] / span, block.second[i] / span];
            for (const [line, count] of lines.runs(block.address[2 * i + 1], block.address[2 * i], span)) {
                if (count > fewLines) this.add(line, count, row, a, b);
                else for (let l = line; l < line + count; ++l) this.add(l, 1, row, a, b);
            }
        }
    }

    /** Adds the cells of a table of phases by blocks of lines. */
    seeGrid({ phases, columns, low, high, lines, first, second }: Grid): void {
        for (let p = 0; p < phases.length; ++p) {
            const row = this.rowOf[Math.min(phases[p], this.rowOf.length - 1)];
            for (let c = 0; c < columns; ++c) {
                if (lines[c] === 0) continue;
                const at = p * columns + c;
                const block = this.lines.lineOf(high[c], low[c]);
                if (block >= 0) this.add(block, 1, row, first[at], second[at], lines[c]);
            }
        }
    }

    heat(quantity: Quantity): Heat {
        const { first, second, rows, columns, edges } = this;
        const sum = quantity === 'missrate' ? second : first.map((a, i) => valueOf(quantity, a, second[i]));
        return { rows, columns, sum, weight: this.weights(quantity), edges };
    }

    /** What the sums are over: accesses for rates, else lines of all phases of the row. */
    weights(quantity: Quantity): Float64Array {
        if (quantity === 'missrate') return this.first;
        return this.first.map((_, cell) => {
            const row = Math.floor(cell / this.columns);
            return this.touched[cell % this.columns] * (this.edges[row + 1] - this.edges[row]);
        });
    }
}

/** The table `grid` of a level (docs/format.md): sums by phase and block of lines. */
interface Grid {
    /** Bytes of a block. */
    bytes: number;
    phases: Uint32Array;
    columns: number;
    /** Addresses, as halves. */
    low: Uint32Array;
    high: Uint32Array;
    /** Lines with counts, by block. */
    lines: Float64Array;
    first: Float64Array;
    second: Float64Array;
}

/** The grid, where its blocks are made of those of a pyramid, which knows how many lines have counts. */
function gridOf(series: Series, mostBytes: number): Grid | null {
    const { store, info } = series;
    const path = `${info.path}/grid`;
    if (!series.isLevel || !store.has(path)) return null;
    const units = Number(store.attributes(path).units);
    const level = series.pyramid.filter((each) => units % each.units === 0).at(-1);
    if (!level || units * info.unit > mostBytes) return null;
    const columns = store.rows(`${path}/address`);
    const halves = store.halves(`${path}/address`, 0, columns);
    const low = Uint32Array.from({ length: columns }, (_, c) => halves[2 * c]);
    const high = Uint32Array.from({ length: columns }, (_, c) => halves[2 * c + 1]);
    const lines = new Float64Array(columns);
    const blocks = store.halves(`${level.path}/address`, 0, level.rows);
    const counts = store.numbers(`${level.path}/lines`);
    const place = (h: number, l: number) => h * 4294967296 + l;
    for (let i = 0, c = 0; i < level.rows; ++i) {
        const at = place(blocks[2 * i + 1], blocks[2 * i]);
        while (c + 1 < columns && place(high[c + 1], low[c + 1]) <= at) ++c;
        lines[c] += counts[i];
    }
    const phases = store.words(`${path}/phase`, 0, store.rows(`${path}/phase`));
    return { bytes: units * info.unit, phases, columns, low, high, lines, first: store.numbers(`${path}/accesses`), second: store.numbers(`${path}/misses`) };
}

/** Cells of x0 .. x1; more phases than `most` share rows. */
export async function heatOf(series: Series, quantity: Quantity, axis: Axis, x0: number, x1: number, columns: number, most: number, token: Token): Promise<Heat> {
    const grid = series.rows <= fewRows ? null : gridOf(series, (x1 - x0) / columns);
    const sums = new HeatSums(series, axis, x0, x1, columns, Math.min(series.info.phases, most), grid?.bytes);
    if (grid) {
        sums.seeGrid(grid);
        return sums.heat(quantity);
    }
    const narrow = series.findsRows(null) && x1 - x0 < axis.bytes / 4;
    const ranges = narrow ? series.windows(null, cut(axis, x0, x1)) : series.ranges(null);
    await series.visit(ranges, token, (block) => sums.see(block), true);
    return sums.heat(quantity);
}
