// SPDX-License-Identifier: BSD-3-Clause
// The table behind the field: what its histogram shows, and the means of its cells.
import { addressIn, describe, hex } from './axis';
import type { Table } from './dom';
import type { FieldModel } from './field';
import { meanOf } from './panels';
import type { Buckets, Heat } from './protocol';

const rowsAtMost = 256;

/** Mean per line and phase of the cells that x0 .. x1 of the axis reach into; NaN where no line is. */
function meanIn({ sum, weight, columns }: Heat, [from, to]: [number, number], row: number, x0: number, x1: number): number {
    const width = (to - from) / columns;
    const first = Math.max(0, Math.floor((x0 - from) / width + 1e-6));
    const last = Math.min(columns, Math.max(first + 1, Math.ceil((x1 - from) / width - 1e-6)));
    let [all, weights] = [0, 0];
    for (let i = row * columns + first; i < row * columns + last; ++i) {
        all += sum[i];
        weights += weight[i];
    }
    return weights > 0 ? all / weights : NaN;
}

export const meanAt = (heat: Heat, drawn: [number, number], row: number, x: number): number => meanIn(heat, drawn, row, x, x);

/** How many lines the means of a row's cells are over. */
function linesIn({ weight, columns, edges }: Heat, [from, to]: [number, number], x0: number, x1: number): number {
    const width = (to - from) / columns;
    let lines = 0;
    for (let c = Math.max(0, Math.round((x0 - from) / width)); c < Math.min(columns, Math.round((x1 - from) / width)); ++c) lines += weight[c];
    return lines / (edges[1] - edges[0]);
}

/** Sum (of rates: the rate), least and most of the lines that begin in a stretch. */
export function cellsOf(data: Buckets, from: number, to: number, rate: boolean): [number, number, number] {
    const width = (data.x1 - data.x0) / data.sum.length;
    const first = Math.max(0, Math.round((from - data.x0) / width));
    const last = Math.min(data.sum.length, Math.max(first + 1, Math.round((to - data.x0) / width)));
    let [sum, min, max] = [0, Infinity, -Infinity];
    for (let i = first; i < last; ++i) {
        sum += data.sum[i];
        min = Math.min(min, data.min[i]);
        max = Math.max(max, data.max[i]);
    }
    return min === Infinity ? [0, 0, 0] : [rate ? meanOf(data, first, last) : sum, min, max];
}

export function fieldTable(model: FieldModel, rowNames: string[]): Table {
    const { buckets, heat, axis, structures, rate } = model;
    const [x0, x1] = model.range;
    const byPhase = heat && heat.rows > 1 && Math.abs(model.drawn[0] - x0) + Math.abs(model.drawn[1] - x1) < 2 ? heat : null;
    const lines = byPhase && !rate;
    const headers = ['address', 'where', rate ? 'rate' : 'sum', 'least per line', 'most per line'];
    if (lines) headers.push('lines');
    if (byPhase) headers.push(...rowNames);
    const rows: (string | number)[][] = [];
    const step = Math.max((x1 - x0) / rowsAtMost, (buckets!.x1 - buckets!.x0) / buckets!.sum.length);
    for (let at = x0; at < x1 - step / 1e6; at += step) {
        const address = addressIn(axis, at, at + step);
        if (address === null) continue;
        const cells = cellsOf(buckets!, at, at + step, rate);
        const means = byPhase ? rowNames.map((_, row) => meanIn(byPhase, model.drawn, row, at, at + step) || 0) : [];
        if ([...cells, ...means].every((each) => each === 0)) continue;
        const count = lines ? [linesIn(byPhase, model.drawn, at, at + step)] : [];
        rows.push([hex(address), describe(structures, address), ...cells, ...count, ...means]);
    }
    return { caption: `${model.title}: ${model.meaning}; phases: means per line and phase`, headers, rows };
}
