// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of the field lie: a histogram over addresses above it, time down, misses over time to its right.
import { stripHeight } from './address_axis';

export interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
}

export interface Layout {
    /** Histogram over addresses, field, counts over time. */
    top: Box;
    field: Box;
    time: Box;
    strip: number;
    addresses: number;
    height: number;
}

const topHeight = 84;

/** Too narrow for all that stands above the field in one line. */
export const isNarrow = (width: number): boolean => width < 560;

/** `rows`: of the field; one row alone has no time beside it. */
export function layoutOf(width: number, rows: number): Layout {
    const narrow = isNarrow(width);
    const head = narrow ? 64 : 46;
    const left = 66;
    const right = rows < 2 ? 14 : narrow ? 58 : 130;
    const plot = Math.max(10, width - left - right);
    const tall = rows < 2 ? 26 : Math.max(150, Math.min(420, rows * 19));
    const field = { x: left, y: head + topHeight + 12, width: plot, height: tall };
    const strip = field.y + tall + 2;
    return {
        top: { x: left, y: head, width: plot, height: topHeight },
        field,
        time: { x: left + plot + 8, y: field.y, width: Math.max(0, right - 16), height: tall },
        strip,
        addresses: strip + stripHeight + 2,
        height: strip + stripHeight + 32,
    };
}

export const inside = (box: Box, x: number, y: number): boolean => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

/** Where rows begin, as shares of the height: all alike, or as long as their phases took. */
export function rowEdges(phases: number[], cycles: ArrayLike<number> | null): number[] {
    const rows = phases.length - 1;
    const sizes = Array.from({ length: rows }, (_, row) => {
        if (!cycles) return 1;
        let sum = 0;
        for (let phase = phases[row]; phase < phases[row + 1]; ++phase) sum += cycles[phase] ?? 0;
        return sum;
    });
    const all = sizes.reduce((a, b) => a + b, 0);
    // what took no time can still be seen and hit
    const least = cycles ? Math.min(0.008, 0.4 / rows) : 0;
    const shares = sizes.map((each) => (all > 0 ? each / all : 1 / rows) + least);
    const sum = shares.reduce((a, b) => a + b, 0);
    const edges = [0];
    for (const each of shares) edges.push(edges[edges.length - 1] + each / sum);
    return edges;
}
