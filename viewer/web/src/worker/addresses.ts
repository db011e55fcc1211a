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

export type Lines = ReturnType<typeof linesOf>;

/** The lines of an axis, numbered without the holes: line i of segment s is number firstLine[s] + i, below firstLine[s + 1]. Addresses of rows
 * are given as halves, low half first, and a row. */
export function linesOf(axis: Axis, unit: number) {
    const { segments } = axis;
    /** Where the first line of each segment begins. */
    const bases = segments.map(({ base }) => base - (base % BigInt(unit)));
    const baseHigh = bases.map((base) => Number(base >> 32n));
    const baseLow = bases.map((base) => Number(base & 0xffffffffn));
    /** Bytes between the begin of the first line and that of the segment. */
    const lead = segments.map(({ base }, s) => Number(base - bases[s]));
    const firstLine = [0];
    segments.forEach(({ bytes }, s) => firstLine.push(firstLine[s] + Math.ceil((bytes + lead[s]) / unit)));
    const count = firstLine[segments.length];
    let last = 0;

    const linesIn = (segment: number): number => firstLine[segment + 1] - firstLine[segment];

    /** Bytes from the first line of a segment to an address; NaN where there is no such segment. */
    const behind = (segment: number, halves: Uint32Array, row: number): number => (halves[2 * row + 1] - baseHigh[segment]) * high + (halves[2 * row] - baseLow[segment]);

    /** The last segment that begins at or before the address. */
    const segmentBefore = (halves: Uint32Array, row: number): number => Math.max(0, firstThat(0, bases.length, (s) => behind(s, halves, row) < 0) - 1);

    /** Number of the line with this address; -1 off the axis. */
    function lineOf(halves: Uint32Array, row: number): number {
        for (let tries = 0; tries < 2; ++tries) {
            const line = Math.floor(behind(last, halves, row) / unit);
            if (line >= 0 && line < linesIn(last)) return firstLine[last] + line;
            if (tries === 0) last = segmentBefore(halves, row);
        }
        return -1;
    }

    /** Of `span` lines from an address on those that are on the axis: the number of the first in each segment, and how many follow it. */
    function runs(halves: Uint32Array, row: number, span: number): [number, number][] {
        if (span === 1) {
            const line = lineOf(halves, row);
            return line < 0 ? [] : [[line, 1]];
        }
        const found: [number, number][] = [];
        for (let s = segmentBefore(halves, row); s < bases.length; ++s) {
            // lines from the address to the begin of the segment; below 0 where it lies in the segment
            const before = Math.floor(-behind(s, halves, row) / unit);
            if (before >= span) break;
            const first = Math.max(0, -before);
            const end = Math.min(linesIn(s), span - before);
            if (first < end) found.push([firstLine[s] + first, end - first]);
        }
        return found;
    }

    const segmentOf = (line: number): number => Math.max(0, bisectRight(firstLine, line) - 1);

    /** Where a line begins on the axis, in bytes; it may lie before its segment. */
    const offsetOf = (line: number, segment: number): number => segments[segment].start - lead[segment] + (line - firstLine[segment]) * unit;

    /** The stretch of the axis that lines or blocks side by side in a segment take; what of a block lies beyond the segment has no counts. */
    function stretchOf(line: number, count = 1): [number, number] {
        const segment = segmentOf(line);
        const { start, bytes } = segments[segment];
        const offset = offsetOf(line, segment);
        return [Math.max(offset, start), Math.min(offset + count * unit, start + bytes)];
    }

    /** Lines that overlap the stretch x0 .. x1 of the axis: first and one behind the last. */
    function range(x0: number, x1: number): [number, number] {
        let [first, end] = [count, 0];
        segments.forEach(({ start, bytes }, s) => {
            const [from, to] = [Math.max(x0, start), Math.min(x1, start + bytes)];
            if (from >= to) return;
            const begin = start - lead[s];
            first = Math.min(first, firstLine[s] + Math.floor((from - begin) / unit));
            end = Math.max(end, firstLine[s] + Math.ceil((to - begin) / unit));
        });
        return first < end ? [first, end] : [0, 0];
    }
    return { axis, unit, count, firstLine, bases, lineOf, runs, segmentOf, offsetOf, stretchOf, range };
}
