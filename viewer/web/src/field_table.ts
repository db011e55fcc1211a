// SPDX-License-Identifier: BSD-3-Clause
// The table behind a plot over addresses: columns as they are drawn, and the means of the field's cells.
import { sum } from 'd3-array';
import { addressesIn, describe, hex } from './axis';
import type { Table } from './dom';
import type { FieldModel } from './field';
import { dataFor, meanOf, type Panel } from './panels';
import type { Buckets, Heat } from './protocol';

const rowsAtMost = 256;

/** Sum and weight of the cells of a row that x0 .. x1 of the axis reach into. */
function cellsIn({ sum: sums, weight, columns }: Heat, [from, to]: [number, number], row: number, x0: number, x1: number): number[] {
    const width = (to - from) / columns;
    const first = Math.max(0, Math.floor((x0 - from) / width + 1e-6));
    const last = Math.min(columns, Math.max(first + 1, Math.ceil((x1 - from) / width - 1e-6)));
    return [sums, weight].map((values) => sum(values.subarray(row * columns + first, row * columns + last)));
}

/** Their mean per line and phase; NaN where no line is. */
export function meanIn(heat: Heat, drawn: [number, number], row: number, x0: number, x1 = x0): number {
    const [all, weight] = cellsIn(heat, drawn, row, x0, x1);
    return weight > 0 ? all / weight : NaN;
}

/** Sum (of rates: the rate), least and most of the lines in a stretch; of differences, which lines do not have, the first alone. */
function valuesIn(data: Buckets | null, from: number, to: number, { rate, signed }: Panel): number[] {
    if (!data) return signed ? [NaN] : [NaN, NaN, NaN];
    const width = (data.x1 - data.x0) / data.sum.length;
    const first = Math.max(0, Math.round((from - data.x0) / width));
    const last = Math.min(data.sum.length, Math.max(first + 1, Math.round((to - data.x0) / width)));
    const [least, most] = [Math.min(...data.min.subarray(first, last)), Math.max(...data.max.subarray(first, last))];
    const shown = least === Infinity ? 0 : rate ? meanOf(data, first, last) : sum(data.sum.subarray(first, last));
    return signed ? [shown] : least === Infinity ? [0, 0, 0] : [shown, least, most];
}

/** `rowNames`: of the field; none where there is none. */
export function tableOf(caption: string, model: FieldModel, rowNames: string[]): Table {
    const { panels, axis, structures, heat, drawn } = model;
    const [x0, x1] = model.range;
    const data = panels.map((panel) => dataFor(panel, x0, x1));
    const cells = heat && heat.rows > 1 && Math.abs(drawn[0] - x0) + Math.abs(drawn[1] - x1) < 2 ? heat : null;
    const lines = cells && !model.rate && !cells.signed;
    const name = (panel: Panel) => `${panels.length > 1 ? `${panel.title} ` : ''}${panel.rate ? 'rate' : 'sum'}`;
    const headers = ['address', 'where', ...panels.flatMap((panel) => [name(panel), ...(panel.signed ? [] : ['least per line', 'most per line'])])];
    if (lines) headers.push('lines');
    if (cells) headers.push(...rowNames);
    const rows: (string | number)[][] = [];
    const step = Math.max((x1 - x0) / rowsAtMost, ...data.map((each) => (each ? (each.x1 - each.x0) / each.sum.length : 0)));
    for (let at = x0; at < x1 - step / 1e6; at += step) {
        const address = addressesIn(axis, at, at + step)[0]?.[0];
        if (address === undefined) continue;
        const values = data.flatMap((each, i) => valuesIn(each, at, at + step, panels[i]));
        const means = cells ? rowNames.map((_, row) => meanIn(cells, drawn, row, at, at + step) || 0) : [];
        if ([...values, ...means].every((each) => each === 0 || Number.isNaN(each))) continue;
        const count = lines ? [cellsIn(cells, drawn, 0, at, at + step)[1] / (cells.edges[1] - cells.edges[0])] : [];
        rows.push([hex(address), describe(structures, address), ...values, ...count, ...means]);
    }
    return { caption, headers, rows };
}
