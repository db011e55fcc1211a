// SPDX-License-Identifier: BSD-3-Clause
// What lies under panels: the strip of data structures, and addresses.
import { hex, placeOfStructure } from './axis';
import { theme } from './colours';
import { shortened, textWidth, type Painter } from './paint';
import type { Axis, Structure } from './protocol';

export const left = 66;
export const stripHeight = 26;

/** Names that fit, in boxes, over the stretches of the structures. */
export function drawStrip(
    p: Painter,
    top: number,
    axis: Axis,
    structures: Structure[],
    x0: number,
    x1: number,
    width: number,
): void {
    const colours = theme();
    const place = (x: number) => left + ((x - x0) / (x1 - x0)) * width;
    p.within(left, top, width, stripHeight, () => {
        structures.forEach((structure, i) => {
            const where = placeOfStructure(axis, structure);
            if (!where || where[1] <= x0 || where[0] >= x1) return;
            const from = Math.max(left, place(where[0]));
            const to = Math.min(left + width, place(where[1]));
            const fill = colours.structures[i % colours.structures.length];
            p.frame(from + 0.5, top + 3.5, Math.max(2, to - from - 1), stripHeight - 8, colours.line, 3, fill);
            const name = shortened(structure.name, to - from - 8, 12, 500);
            p.text((from + to) / 2, top + stripHeight / 2, name, { colour: colours.ink, size: 12, anchor: 'middle', weight: 500 });
        });
    });
}

/** Addresses under the strip; gaps between stretches as breaks of the line. */
export function drawAddresses(p: Painter, top: number, axis: Axis, x0: number, x1: number, width: number): void {
    const colours = theme();
    const place = (x: number) => left + ((x - x0) / (x1 - x0)) * width;
    let free = left - 40;
    for (const { start, bytes, base } of axis.segments) {
        const from = Math.max(start, x0);
        const to = Math.min(start + bytes, x1);
        if (from >= to) continue;
        p.line([[place(from), top + 3.5], [place(to), top + 3.5]], colours.line, 1);
        const step = niceStep((x1 - x0) / (width / 130));
        const begin = base + BigInt(Math.floor(from - start));
        const first = begin % BigInt(step) === 0n ? begin : begin + BigInt(step) - (begin % BigInt(step));
        const places: [number, bigint][] = [];
        for (let address = first; ; address += BigInt(step)) {
            const x = start + Number(address - base);
            if (x > to) break;
            places.push([place(x), address]);
        }
        if (places.length === 0) places.push([place(from), begin]);
        for (const [x, address] of places) {
            const text = hex(address);
            const half = textWidth(text, 11) / 2;
            const middle = Math.min(left + width - half, Math.max(left + half - 30, x));
            p.line([[x, top + 3], [x, top + 7]], colours.faint);
            if (middle - half < free + 10) continue;
            p.text(middle, top + 15, text, { colour: colours.faint, size: 11, anchor: 'middle' });
            free = middle + half;
        }
    }
}

function niceStep(rough: number): number {
    return 2 ** Math.max(2, Math.ceil(Math.log2(Math.max(1, rough))));
}
