// SPDX-License-Identifier: BSD-3-Clause
// The table behind panels over addresses: columns as they are drawn.
import { addressIn, describe, hex } from './axis';
import type { Table } from './dom';
import { meanOf, type Panel } from './panels';
import type { Axis, Buckets, Structure } from './protocol';

const rowsAtMost = 256;

/** `data`: by panel, what it is drawn from. */
export function tableOf(
    caption: string,
    panels: Panel[],
    data: (Buckets | null)[],
    axis: Axis,
    [x0, x1]: [number, number],
    structures: Structure[],
): Table {
    const headers = [
        'address',
        'where',
        ...panels.flatMap((panel) => [
            `${panel.title} ${panel.rate ? 'rate' : 'sum'}`,
            ...(panel.signed ? [] : ['least per line', 'most per line']),
        ]),
    ];
    const rows: (string | number)[][] = [];
    const step = Math.max(
        (x1 - x0) / rowsAtMost,
        ...data.map((each) => (each ? (each.x1 - each.x0) / each.sum.length : 0)),
    );
    for (let at = x0; at < x1 - step / 1e6; at += step) {
        const address = addressIn(axis, at, at + step);
        if (address === null) continue;
        const cells = data.flatMap((each, i) => cellsOf(each, at, at + step, panels[i]));
        if (cells.every((cell) => cell === 0 || Number.isNaN(cell))) continue;
        rows.push([hex(address), describe(structures, address), ...cells]);
    }
    return { caption, headers, rows };
}

/** Sum (of rates: the rate), least and most of the lines in a stretch; of differences, which lines do not have, the first alone. */
function cellsOf(data: Buckets | null, from: number, to: number, { rate, signed }: Panel): number[] {
    if (!data) return signed ? [NaN] : [NaN, NaN, NaN];
    const width = (data.x1 - data.x0) / data.sum.length;
    const first = Math.max(0, Math.round((from - data.x0) / width));
    const last = Math.min(data.sum.length, Math.max(first + 1, Math.round((to - data.x0) / width)));
    let [sum, min, max] = [0, Infinity, -Infinity];
    for (let i = first; i < last; ++i) {
        sum += data.sum[i];
        min = Math.min(min, data.min[i]);
        max = Math.max(max, data.max[i]);
    }
    const shown = min === Infinity ? 0 : rate ? meanOf(data, first, last) : sum;
    if (signed) return [shown];
    return min === Infinity ? [0, 0, 0] : [shown, min, max];
}
