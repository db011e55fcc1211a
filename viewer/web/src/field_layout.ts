// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of a plot over addresses lie: panels under each other; under one panel the field, time down, and counts over time
// to its right.
import { cumsum, range, sum } from 'd3-array';

export const left = 66;
export const stripHeight = 26;

export interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
    /** Room for titles above it; default: of one line. */
    head?: number;
}

export const titleHeight = 22;
const gap = 10;

export type Layout = ReturnType<typeof layoutOf>;

/** `rows`: of the field; 0: there is none; one row alone has no time beside it. `strip`: whether there are data structures. */
export function layoutOf(width: number, count: number, rows: number, strip: boolean) {
    const right = rows < 2 ? 14 : width < 560 ? 58 : 130;
    const across = { x: left, width: Math.max(10, width - left - right) };
    const head = rows > 0 ? 44 : titleHeight;
    const tall = rows > 0 ? 84 : count <= 1 ? 250 : count === 2 ? 180 : count <= 4 ? 132 : 104;
    const panels = Array.from({ length: Math.max(1, count) }, (_, i): Box => ({ ...across, y: i * (head + tall + gap) + head, height: tall, head }));
    const under = panels.at(-1)!.y + tall + gap;
    const field: Box | null = rows > 0 ? { ...across, y: under + 2, height: rows < 2 ? 26 : Math.max(150, Math.min(420, rows * 19)) } : null;
    const bottom = field ? field.y + field.height + 2 : under;
    const addresses = bottom + (strip ? stripHeight + 2 : 0);
    return {
        panels,
        field,
        /** Counts over time. */
        time: field && rows > 1 ? { x: left + across.width + 8, y: field.y, width: right - 16, height: field.height } : null,
        /** From the first panel to the strip. */
        all: { ...across, y: panels[0].y, height: bottom - panels[0].y },
        strip: bottom,
        addresses,
        height: addresses + 28,
    };
}

export const inside = (box: Box | null, x: number, y: number): boolean =>
    box !== null && x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

/** Rows of so many phases: the first phase of each, and one behind the last. */
export const phaseEdges = (phases: number, rows: number): number[] => Array.from({ length: rows + 1 }, (_, i) => Math.floor((i * phases) / rows));

/** Where rows begin, as shares of the height: all alike, or as long as their phases took. */
export function rowEdges(phases: number[], cycles: ArrayLike<number> | null): number[] {
    const rows = phases.length - 1;
    const sizes = range(rows).map((row) => (cycles ? sum(range(phases[row], phases[row + 1]), (phase) => cycles[phase]) : 1));
    const all = sum(sizes);
    // what took no time can still be seen and hit
    const least = cycles ? Math.min(0.008, 0.4 / rows) : 0;
    const shares = sizes.map((each) => (all > 0 ? each / all : 1 / rows) + least);
    return [0, ...cumsum(shares)].map((each) => each / sum(shares));
}
