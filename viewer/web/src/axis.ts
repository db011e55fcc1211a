// SPDX-License-Identifier: BSD-3-Clause
// The axis of addresses: stretches that have counts side by side, with small gaps for the holes between them.
// The rule is docs/viewer.md's ("The axis of addresses"); figures for print have the same (viewer/figures/figure_axis.py).
import { cumsum, sum } from 'd3-array';
import { axis as rule } from '../../drawing.json';
import type { Axis, Extents, Structure } from './protocol';

const page = rule.page_bytes;

/** The first page, the first byte in it that may have counts, the last page, the last byte in it. */
export type PageRun = [number, number, number, number];

/** Sorts runs, and joins those that share pages or lie side by side. */
export function joined(runs: PageRun[]): PageRun[] {
    runs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const found: PageRun[] = [];
    let last: PageRun | undefined;
    for (const run of runs) {
        if (!last || run[0] > last[2] + 1) found.push((last = run));
        else if (run[2] > last[2] || (run[2] === last[2] && run[3] > last[3])) [, , last[2], last[3]] = run;
    }
    return found;
}

/** Collects runs in bounded memory, as long as what they join to is bounded. */
export class PageRuns {
    private runs: PageRun[] = [];
    private most = 1 << 20;

    /** Bytes from an address on, in halves of 32 bits. */
    add(high: number, low: number, bytes: number): void {
        const first = (high * 4294967296) / page + Math.floor(low / page);
        const end = (low % page) + bytes - 1;
        const run: PageRun = [first, low % page, first + Math.floor(end / page), end % page];
        const last = this.runs.at(-1); // neighbours share pages
        if (last?.[2] === run[0] && run[2] === run[0] && run[1] >= last[1] && last[0] === last[2]) {
            if (run[3] > last[3]) last[3] = run[3];
            return;
        }
        this.runs.push(run);
        if (this.runs.length < this.most) return;
        this.runs = joined(this.runs);
        this.most = Math.max(this.most, 2 * this.runs.length);
    }

    /** Pages of 4 KiB with counts: the first page, and its first byte that may have some; the last page, and its last such byte. */
    all() {
        this.runs = joined(this.runs);
        return {
            page: Float64Array.from(this.runs, ([number]) => number),
            first: Uint16Array.from(this.runs, ([, first]) => first),
            lastPage: Float64Array.from(this.runs, ([, , number]) => number),
            last: Uint16Array.from(this.runs, ([, , , last]) => last),
        };
    }
}

/** Those of several series or files. */
export function united(list: Extents[]): PageRun[] {
    return joined(
        list.flatMap((each) =>
            Array.from(each.page, (number, i): PageRun => [number, each.first[i], each.lastPage[i], each.last[i]]),
        ),
    );
}

/** Stretches of runs with holes of at most `hole` pages between them. */
function stretches(runs: PageRun[], hole: number): [number, number][] {
    const found: [number, number][] = [];
    runs.forEach(([number], i) => {
        const last = found.at(-1);
        if (last && number - runs[last[1]][2] <= hole) last[1] = i;
        else found.push([i, i]);
    });
    return found;
}

/** `unit`: stretches begin and end at multiples of it. */
export function axisOf(list: Extents[], unit: number): Axis {
    const runs = united(list);
    const pages = runs.reduce((sum, [first, , last]) => sum + last - first + 1, 0);
    let hole = Math.max(rule.least_hole_pages, Math.floor(pages / rule.pages_per_hole_page));
    let found = stretches(runs, hole);
    while (found.length > rule.most_stretches) {
        hole *= rule.hole_growth;
        found = stretches(runs, hole);
    }
    const sizes = found.map(([from, to]): [bigint, number] => {
        const begin = BigInt(runs[from][0]) * BigInt(page) + BigInt(runs[from][1]);
        const end = BigInt(runs[to][2]) * BigInt(page) + BigInt(runs[to][3]) + 1n;
        const base = begin - (begin % BigInt(unit));
        const stop = end % BigInt(unit) === 0n ? end : end + BigInt(unit) - (end % BigInt(unit));
        return [base, Number(stop - base)];
    });
    const { starts, bytes } = sideBySide(sizes.map(([, size]) => size));
    return { segments: sizes.map(([base, size], i) => ({ base, bytes: size, start: starts[i] })), bytes };
}

/** Where stretches of so many bytes begin, and how many they take, with the gaps between them: multiples of a unit. */
export function sideBySide(sizes: number[], unit = 1): { starts: number[]; bytes: number } {
    const gap = Math.ceil(gapBetween(sizes.length, sum(sizes)) / unit) * unit;
    const ends = cumsum(sizes, (size) => Math.ceil(size / unit) * unit + gap);
    return { starts: [0, ...ends].slice(0, sizes.length), bytes: Math.max(1, (ends.at(-1) ?? gap) - gap) };
}

/** Bytes of each gap between so many stretches of `total` bytes together. */
function gapBetween(stretches: number, total: number): number {
    if (stretches < 2) return 0;
    return Math.ceil(Math.min(total * rule.gap_share, (total * rule.gaps_share) / (stretches - 1)));
}

/** The address at a place of the axis; null in gaps. */
export function addressAt(axis: Axis, x: number): bigint | null {
    for (const { base, bytes, start } of axis.segments)
        if (x >= start && x < start + bytes) return base + BigInt(Math.floor(x - start));
    return null;
}

/** The first address in a stretch of the axis; null where it lies in a gap. */
export function addressIn(axis: Axis, from: number, to: number): bigint | null {
    for (const { base, bytes, start } of axis.segments)
        if (start < to && start + bytes > from) return base + BigInt(Math.ceil(Math.max(0, from - start)));
    return null;
}

/** The addresses of a stretch of the axis, without holes: from, and one behind the last; what begins in them is drawn in it. */
export function addressesIn(axis: Axis, from: number, to: number): [bigint, bigint][] {
    return axis.segments.flatMap(({ base, bytes, start }): [bigint, bigint][] => {
        const first = Math.ceil(Math.max(0, from - start) - 1e-6);
        const end = Math.ceil(Math.min(bytes, to - start) - 1e-6);
        return first < end ? [[base + BigInt(first), base + BigInt(end)]] : [];
    });
}

/** The stretch of the axis that a structure takes; null where none of it is there. */
export function placeOfStructure(axis: Axis, structure: Structure): [number, number] | null {
    const end = structure.base + BigInt(structure.bytes);
    let from = Infinity;
    let to = -Infinity;
    for (const { base, bytes, start } of axis.segments) {
        const first = structure.base > base ? structure.base : base;
        const last = end < base + BigInt(bytes) ? end : base + BigInt(bytes);
        if (first >= last) continue;
        from = Math.min(from, start + Number(first - base));
        to = Math.max(to, start + Number(last - base));
    }
    return from < to ? [from, to] : null;
}

export const hex = (address: bigint): string => `0x${address.toString(16)}`;

/** The structure that an address lies in. */
export function structureAt(structures: Structure[], address: bigint): Structure | null {
    return structures.find(({ base, bytes }) => bytes > 0 && address >= base && address < base + BigInt(bytes)) ?? null;
}

/** "A[8] +0x40", of a two-dimensional array "A[2][3] +0x98", or the address alone. */
export function describe(structures: Structure[], address: bigint): string {
    const structure = structureAt(structures, address);
    if (!structure) return hex(address);
    const { name, base, elementBytes, rowElements } = structure;
    const offset = Number(address - base);
    const element = Math.floor(offset / elementBytes);
    const place = rowElements > 0 ? `[${Math.floor(element / rowElements)}][${element % rowElements}]` : `[${element}]`;
    return `${name}${elementBytes > 0 ? ` ${place}` : ''} +0x${offset.toString(16)}`;
}
