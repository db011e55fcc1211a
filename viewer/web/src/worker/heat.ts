// SPDX-License-Identifier: BSD-3-Clause
// Cells of heat maps: means per line and phase, at every zoom.
//
// A cell covers a stretch of the axis and some phases. Its lines are those that have counts in any phase; a line that lies in it in part
// counts by that part, in what it adds and in what it weighs. So lines of equal counts have one colour, however cells and lines lie.
// Rates are misses over accesses, shared out in the same way.
import type { Axis, Heat, Quantity } from '../protocol';
import { isUneven } from '../spread';
import { Lines } from './addresses';
import { cut, valueOf } from './buckets';
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

/** Rows of cells: where each begins, and one behind the last phase. */
export const phaseEdges = (phases: number, rows: number): number[] =>
    Array.from({ length: rows + 1 }, (_, i) => Math.floor((i * phases) / rows));

class HeatSums {
    readonly edges: number[];
    readonly first: Float64Array;
    readonly second: Float64Array;
    /** Lines of each column. */
    readonly touched: Float64Array;
    readonly lines: Lines;
    private readonly rowOf: Uint32Array;
    private readonly seen = new LineSet();
    private readonly reach: [number, number];
    private readonly width: number;

    constructor(
        series: Series,
        axis: Axis,
        private readonly x0: number,
        private readonly x1: number,
        readonly columns: number,
        readonly rows: number,
    ) {
        const { phases, unit } = series.info;
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

    /** Adds a count of one line; false where the line is out of sight. */
    private add(line: number, row: number, a: number, b: number): boolean {
        if (line < this.reach[0] || line >= this.reach[1]) return false;
        const { lines, x0, width, columns } = this;
        const segment = lines.segmentOf(line);
        const { start, bytes } = lines.axis.segments[segment];
        const offset = lines.offsetOf(line, segment);
        const from = Math.max(offset, start, x0);
        const to = Math.min(offset + lines.unit, start + bytes, this.x1);
        const fresh = this.seen.add(line);
        const begin = Math.max(0, Math.min(columns - 1, Math.floor((from - x0) / width)));
        for (let c = begin; c < columns; ++c) {
            const left = x0 + c * width;
            const part = Math.min(to, left + width) - Math.max(from, left);
            if (left >= to) break;
            if (part <= 1e-9 * lines.unit) continue; // rounding
            const share = part / lines.unit;
            this.first[row * columns + c] += a * share;
            if (this.second.length) this.second[row * columns + c] += b * share;
            if (fresh) this.touched[c] += share;
        }
        return true;
    }

    /** Adds rows of the file; `each` sees the counts of the lines in sight. */
    see(block: Rows, each: (a: number, b: number) => void): void {
        const { lines } = this;
        for (let i = 0; i < block.count; ++i) {
            const span = block.span ? block.span[i] : 1;
            const row = this.rowOf[Math.min(block.phase![i], this.rowOf.length - 1)];
            const a = block.first[i] / span;
            const b = block.second ? block.second[i] / span : 0;
            for (let s = 0; s < span; ++s) {
                const low = block.address[2 * i] + s * lines.unit;
                const high = block.address[2 * i + 1] + Math.floor(low / 4294967296);
                if (this.add(lines.lineOf(high, low % 4294967296), row, a, b)) each(a, b);
            }
        }
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

/** Cells of x0 .. x1; more phases than `most` share rows. */
export async function heatOf(
    series: Series,
    quantity: Quantity,
    axis: Axis,
    x0: number,
    x1: number,
    columns: number,
    most: number,
    few: boolean,
    token: Token,
): Promise<Heat> {
    const { phases } = series.info;
    const sums = new HeatSums(series, axis, x0, x1, columns, Math.min(phases, most));
    const narrow = series.sorted && phases <= 64 && x1 - x0 < axis.bytes / 4;
    const ranges = narrow
        ? cut(axis, x0, x1).segments.flatMap((segment) =>
              series.window(null, segment.base, segment.base + BigInt(segment.bytes)),
          )
        : series.ranges(null);
    const single: number[] = []; // of few rows; of many the cells tell whether they are uneven
    const rate = quantity === 'missrate';
    await series.visit(
        ranges,
        token,
        (block) => sums.see(block, (a, b) => few && !rate && single.push(valueOf(quantity, a, b))),
        true,
    );
    const sum = rate ? sums.second : sums.first.map((a, i) => valueOf(quantity, a, sums.second[i]));
    const weight = sums.weights(quantity);
    const uneven = !rate && isUneven(few ? single : sum.map((each, i) => (weight[i] > 0 ? each / weight[i] : 0)));
    return { rows: sums.rows, columns, sum, weight, edges: sums.edges, uneven };
}
