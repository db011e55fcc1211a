// SPDX-License-Identifier: BSD-3-Clause
// From addresses to places on the axis: 64-bit addresses as two halves, places as lines counted from the axis' begin.
import { bisectRight } from 'd3-array';
import type { Axis } from '../protocol';

const high = 4294967296;

/** The first number in from .. to for which something holds, or `to`; it holds for all behind it, too. */
export function firstThat(from: number, to: number, holds: (at: number) => boolean): number {
    let [first, last] = [from, to];
    while (first < last) {
        const middle = Math.floor((first + last) / 2);
        if (holds(middle)) last = middle;
        else first = middle + 1;
    }
    return first;
}

/** The lines of an axis, numbered without the holes: line i of segment s is number firstLine[s] + i, below firstLine[s + 1]. Addresses of rows
 * are given as halves, low half first, and a row. */
export class Lines {
    readonly count: number;
    readonly firstLine = [0];
    /** Where the first line of each segment begins. */
    readonly bases: bigint[];
    private readonly baseHigh: number[];
    private readonly baseLow: number[];
    /** Bytes between the begin of the first line and that of the segment. */
    private readonly lead: number[];
    private last = 0;

    constructor(
        readonly axis: Axis,
        readonly unit: number,
    ) {
        const { segments } = axis;
        this.bases = segments.map(({ base }) => base - (base % BigInt(unit)));
        this.baseHigh = this.bases.map((base) => Number(base >> 32n));
        this.baseLow = this.bases.map((base) => Number(base & 0xffffffffn));
        this.lead = segments.map(({ base }, s) => Number(base - this.bases[s]));
        segments.forEach(({ bytes }, s) => this.firstLine.push(this.firstLine[s] + Math.ceil((bytes + this.lead[s]) / unit)));
        this.count = this.firstLine[segments.length];
    }

    private linesIn = (segment: number): number => this.firstLine[segment + 1] - this.firstLine[segment];

    /** Bytes from the first line of a segment to an address; NaN where there is no such segment. */
    private behind(segment: number, halves: Uint32Array, row: number): number {
        return (halves[2 * row + 1] - this.baseHigh[segment]) * high + (halves[2 * row] - this.baseLow[segment]);
    }

    /** Number of the line with this address; -1 off the axis. */
    lineOf(halves: Uint32Array, row: number): number {
        for (let tries = 0; tries < 2; ++tries) {
            const line = Math.floor(this.behind(this.last, halves, row) / this.unit);
            if (line >= 0 && line < this.linesIn(this.last)) return this.firstLine[this.last] + line;
            if (tries === 0) this.last = this.segmentBefore(halves, row);
        }
        return -1;
    }

    /** The last segment that begins at or before the address. */
    private segmentBefore(halves: Uint32Array, row: number): number {
        return Math.max(0, firstThat(0, this.bases.length, (s) => this.behind(s, halves, row) < 0) - 1);
    }

    /** Of `span` lines from an address on those that are on the axis: the number of the first in each segment, and how many follow it. */
    runs(halves: Uint32Array, row: number, span: number): [number, number][] {
        if (span === 1) {
            const line = this.lineOf(halves, row);
            return line < 0 ? [] : [[line, 1]];
        }
        const found: [number, number][] = [];
        for (let s = this.segmentBefore(halves, row); s < this.bases.length; ++s) {
            // lines from the address to the begin of the segment; below 0 where it lies in the segment
            const before = Math.floor(-this.behind(s, halves, row) / this.unit);
            if (before >= span) break;
            const first = Math.max(0, -before);
            const last = Math.min(this.linesIn(s), span - before);
            if (first < last) found.push([this.firstLine[s] + first, last - first]);
        }
        return found;
    }

    segmentOf(line: number): number {
        return Math.max(0, bisectRight(this.firstLine, line) - 1);
    }

    /** Where a line begins on the axis, in bytes; it may lie before its segment. */
    offsetOf(line: number, segment: number): number {
        return this.axis.segments[segment].start - this.lead[segment] + (line - this.firstLine[segment]) * this.unit;
    }

    /** The stretch of the axis that lines or blocks side by side in a segment take; what of a block lies beyond the segment has no counts. */
    stretchOf(line: number, count = 1): [number, number] {
        const segment = this.segmentOf(line);
        const { start, bytes } = this.axis.segments[segment];
        const offset = this.offsetOf(line, segment);
        return [Math.max(offset, start), Math.min(offset + count * this.unit, start + bytes)];
    }

    /** Lines that overlap the stretch x0 .. x1 of the axis: first and one behind the last. */
    range(x0: number, x1: number): [number, number] {
        let [first, last] = [this.count, 0];
        this.axis.segments.forEach((segment, s) => {
            const [from, to] = [Math.max(x0, segment.start), Math.min(x1, segment.start + segment.bytes)];
            if (from >= to) return;
            const begin = segment.start - this.lead[s];
            first = Math.min(first, this.firstLine[s] + Math.floor((from - begin) / this.unit));
            last = Math.max(last, this.firstLine[s] + Math.ceil((to - begin) / this.unit));
        });
        return first < last ? [first, last] : [0, 0];
    }
}
