// SPDX-License-Identifier: BSD-3-Clause
// Drawing of the field's parts: rows of phases, counts over time, the key of colours, and a veil over what is not selected.
import { ticks } from 'd3-array';
import { css, heatColour, theme } from './colours';
import type { FieldModel } from './field';
import type { Box, Layout } from './field_layout';
import { brief, percent, percentTick } from './numbers';
import type { Painter } from './paint';
import type { Column } from './protocol';
import type { Shaded } from './shading';

/** Rows of the field: where they begin as shares of its height, and their phases. */
export interface Rows {
    edges: number[];
    /** First and last phase of a row. */
    phasesOf: (row: number) => [number, number];
}

const spanOf = ({ edges }: Rows, row: number, { y, height }: Box): [number, number] => [y + edges[row] * height, y + edges[row + 1] * height];

export function drawRows(p: Painter, rows: Rows, field: Box, { phases, cycles }: FieldModel): void {
    const colours = theme();
    const chosen = new Set(phases ?? []);
    let free = -Infinity;
    for (let row = 0; row + 1 < rows.edges.length; ++row) {
        const [y0, y1] = spanOf(rows, row, field);
        const [first] = rows.phasesOf(row);
        const on = chosen.has(first);
        if (y1 - y0 > 6 && row > 0) p.rect(field.x, Math.round(y0) - 1, field.width, 1, colours.panel);
        if ((y0 + y1) / 2 < free && !on) continue;
        p.text(field.x - 7, (y0 + y1) / 2, String(first), { colour: on ? colours.accent : colours.faint, size: 11, anchor: 'end', weight: on ? 700 : 400 });
        free = (y0 + y1) / 2 + 13;
    }
    p.text(14, field.y + field.height / 2, cycles ? 'phase, by cycles' : 'phase', { colour: colours.faint, size: 11, anchor: 'middle', upright: true });
}

/** Counts over time by row, in parts that are stacked: of rates their quotient. */
function countsOf({ time, rate }: FieldModel, rows: Rows): number[][] {
    const sum = (column: Column, row: number) => {
        const [from, to] = rows.phasesOf(row);
        let all = 0;
        for (let phase = from; phase <= to; ++phase) all += column[phase] ?? 0;
        return all;
    };
    const each = rows.edges.slice(1).map((_, row) => row);
    if (!rate) return time!.map((part) => each.map((row) => sum(part, row)));
    const [misses, accesses] = time!;
    return [each.map((row) => (sum(accesses, row) > 0 ? sum(misses, row) / sum(accesses, row) : 0))];
}

export function drawTime(p: Painter, rows: Rows, box: Box, model: FieldModel): void {
    const colours = theme();
    const { x, y, width, height } = box;
    if (!model.time) return;
    const parts = countsOf(model, rows);
    const sums = parts[0].map((_, row) => parts.reduce((sum, part) => sum + part[row], 0));
    const most = sums.reduce((a, b) => Math.max(a, b), 0);
    p.line([[x, y], [x, y + height]], colours.line);
    if (!(most > 0)) return;
    for (const tick of ticks(0, most, 3).slice(-1)) {
        const at = x + (tick / most) * width;
        p.line([[at, y], [at, y + height]], colours.grid);
        p.text(Math.min(at, x + width - 8), y - 7, model.rate ? percentTick(tick) : brief(tick), { colour: colours.faint, size: 11, anchor: 'middle' });
    }
    const at = sums.map(() => x);
    parts.forEach((part, i) => {
        const boxes: number[] = [];
        part.forEach((value, row) => {
            const size = (value / most) * width;
            const [y0, y1] = spanOf(rows, row, box);
            if (size > 0) boxes.push(at[row], y0 + 0.5, size, Math.max(0.5, y1 - y0 - 1));
            at[row] += size;
        });
        p.rects(boxes, model.timeColours[i]);
    });
}

/** What colours stand for: no misses, few, many, and above the end of the scale. */
export function drawKey(p: Painter, x: number, y: number, width: number, { end, least, above, most }: Shaded, { rate, scale }: FieldModel): void {
    const colours = theme();
    const faint = { colour: colours.faint, size: 11 };
    const text = (value: number) => (rate ? percent(value) : brief(value));
    const from = scale === 'log' ? `0, ${text(least)}` : '0';
    const begin = x + 20 + from.length * 6.5;
    const wide = Math.min(120, width / 5);
    p.rect(x, y - 5, 10, 10, colours.zero);
    p.text(x + 14, y, from, faint);
    for (let i = 0; i < 40; ++i) p.rect(begin + (i * wide) / 40, y - 5, wide / 40 + 0.5, 10, css(heatColour(i / 39)));
    p.text(begin + wide + 5, y, text(end), faint);
    if (above === 0 || width < 300) return;
    p.rect(begin + wide + 48, y - 5, 10, 10, colours.marker);
    p.text(begin + wide + 62, y, `${brief(above)} cell${above === 1 ? '' : 's'} up to ${text(most)}`, { colour: colours.marker, size: 11, weight: 600 });
}

/** What is not selected is paler; what is has a frame, and a mark beside its rows. */
export function drawSelection(p: Painter, rows: Rows, { all, field }: Layout, { range: [x0, x1], stretches, phases }: FieldModel): void {
    const colours = theme();
    const end = all.x + all.width;
    const at = (x: number) => Math.min(end, Math.max(all.x, all.x + ((x - x0) / (x1 - x0)) * all.width));
    const boxes: number[] = [];
    let left = all.x;
    for (const [from, to] of stretches ?? []) {
        const [a, b] = [at(from), Math.max(at(to), at(from) + 1)];
        if (a > left) boxes.push(left, all.y, a - left, all.height);
        left = Math.max(left, b);
        p.frame(a, all.y - 2, Math.max(2, b - a), all.height + 1, colours.accent, 0, '', 1.5);
    }
    if (stretches && left < end) boxes.push(left, all.y, end - left, all.height);
    const chosen = phases && new Set(phases);
    for (let row = 0; field && chosen && row + 1 < rows.edges.length; ++row) {
        const [from, to] = rows.phasesOf(row);
        const [y0, y1] = spanOf(rows, row, field);
        let some = false;
        for (let phase = from; phase <= to && !some; ++phase) some = chosen.has(phase);
        if (some) p.rect(field.x - 4, y0, 3, y1 - y0, colours.accent);
        else boxes.push(field.x, y0, field.width, y1 - y0);
    }
    p.rects(boxes, `${colours.panel}a8`);
}
