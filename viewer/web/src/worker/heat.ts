// SPDX-License-Identifier: BSD-3-Clause
// Cells of heat maps, which the core adds up (viewer/core/heat.hpp): from the rows of a series, or from the table of its phases by blocks of lines.
import { answer, axisWords, call, cut, holding, kindOf } from '../core';
import { fewRows, type Axis, type Heat, type Quantity } from '../protocol';
import type { Series, Token } from './series';

/** The table `grid` of a level (docs/format.md), where its blocks are made of those of a pyramid, which knows how many lines have counts. */
function gridOf({ store, info, isLevel, pyramid }: Series, mostBytes: number) {
    const path = `${info.path}/grid`;
    if (!isLevel || !store.has(path)) return null;
    const units = Number(store.attributes(path).units);
    const level = pyramid.filter((each) => units % each.units === 0).at(-1);
    if (!level || units * info.unit > mostBytes) return null;
    const [accesses, misses] = ['accesses', 'misses'].map((column) => store.numbers(`${path}/${column}`));
    const blocks = [store.words(`${path}/phase`), store.addresses(`${path}/address`), accesses, misses];
    return { bytes: units * info.unit, columns: [...blocks, store.addresses(`${level.path}/address`), store.numbers(`${level.path}/lines`)] };
}

/** Cells of x0 .. x1 in rows of phases. */
export async function heatOf(series: Series, quantity: Quantity, axis: Axis, x0: number, x1: number, columns: number, phases: number, token: Token): Promise<Heat> {
    const grid = series.info.rows <= fewRows ? null : gridOf(series, (x1 - x0) / columns);
    return holding(call('heat', axisWords(axis), grid?.bytes ?? series.info.unit, x0, x1, columns, phases, series.isLevel), async (sums) => {
        if (grid) call('add_grid', sums, ...grid.columns);
        else await series.visit(series.ranges(null, cut(axis, x0, x1)), token, sums, true);
        const { numbers } = answer('cells', sums, kindOf(quantity));
        const [rows, edges] = [numbers[0], numbers.subarray(1)];
        const cells = edges.subarray(rows + 1);
        return { rows, columns, edges: [...edges.subarray(0, rows + 1)], sum: cells.subarray(0, rows * columns), weight: cells.subarray(rows * columns) };
    });
}
