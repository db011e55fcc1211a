// SPDX-License-Identifier: BSD-3-Clause
// Drawing of the field's parts: cells, rows of phases, counts over time, the key of colours, a veil over what is not selected, addresses.
import { cumsum, max, range, sort, sum, ticks } from 'd3-array';
import type { ScaleLinear } from 'd3-scale';
import { hex, structurePlace } from './axis';
import { answer, cut, marksOf, scaleOf } from './core';
import type { FieldModel } from './field';
import { causeNames } from './cube';
import { brief, inPoints, percent, percentTick } from './numbers';
import { pixelOf, shortened, textWidth, theme, type Box, type Painter } from './paint';
import { titleHeight } from './panels';
import type { Axis, Column, Heat, Structure } from './protocol';
import type { Wanted } from './chart';

const [left, stripHeight, gap] = [66, 26, 10];

/** Where the parts lie: panels under each other; under one panel the field, time down, and counts over time to its right. */
export type Layout = ReturnType<typeof layoutOf>;

/** `rows`: of the field; 0: there is none; one row alone has no time beside it. `strip`: whether there are data structures. */
export function layoutOf(width: number, count: number, rows: number, strip: boolean) {
    const grown = (size: number) => Math.round(size * Math.min(2.2, Math.max(1, width / 1400))); // on large screens
    const right = rows < 2 ? 14 : width < 560 ? 58 : grown(130);
    const across = { x: left, width: Math.max(10, width - left - right) };
    const head = rows > 0 ? 44 : titleHeight;
    const tall = grown(rows > 0 ? 84 : count <= 1 ? 250 : count === 2 ? 180 : count <= 4 ? 132 : 104);
    const panels = Array.from({ length: Math.max(1, count) }, (_, i): Box => ({ ...across, y: i * (head + tall + gap) + head, height: tall, head }));
    const under = panels.at(-1)!.y + tall + gap;
    const field: Box | null = rows > 0 ? { ...across, y: under + 2, height: rows < 2 ? 26 : grown(Math.max(150, Math.min(420, rows * 19))) } : null;
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

export type Rows = ReturnType<typeof rowsFrom>;

/** Rows of the field: where they begin as shares of its height, all alike, or as long as their phases took; the first and last phase of each. */
export function rowsFrom(phases: number[], cycles: ArrayLike<number> | null) {
    const rows = phases.length - 1;
    const sizes = range(rows).map((row) => (cycles ? sum(range(phases[row], phases[row + 1]), (phase) => cycles[phase]) : 1));
    const all = sum(sizes);
    // what took no time can still be seen and hit
    const least = cycles ? Math.min(0.008, 0.4 / rows) : 0;
    const shares = sizes.map((each) => (all > 0 ? each / all : 1 / rows) + least), whole = sum(shares);
    const edges = [0, ...cumsum(shares)].map((each) => each / whole);
    return { edges, phasesOf: (row: number): [number, number] => [phases[row], phases[row + 1] - 1] };
}

/** From places of the axis to those of the screen. */
export type Across = ScaleLinear<number, number>;

export type Shaded = ReturnType<typeof shade>;

const none = new Float64Array();

/** Cells as pixels; the scale's ends and the largest of all, and how many cells lie above its end. `beside`: has the same scale. */
export function shade({ sum: sums, weight, signed = false }: Heat, scale: Wanted, beside: Heat | null = null) {
    const { numbers } = answer('shades', sums, weight, beside?.sum ?? none, beside?.weight ?? none, signed, scaleOf(scale));
    const [least, end, most, above, shades] = numbers;
    const ramp = (of: (at: number) => string) => range(shades).map((i) => pixelOf(of(i / (shades - 1))));
    const ramps = signed ? [1, -1].flatMap((sign) => ramp((at) => theme().difference((1 + sign * at) / 2))) : ramp(theme().heat);
    const colours = [0, pixelOf(theme().zero), pixelOf(theme().marker), ...ramps]; // in the order of viewer/core/scale.hpp
    return { cells: Uint32Array.from(numbers.subarray(5), (each) => colours[each]), least, end, most, above, signed, both: beside !== null };
}

const spanOf = ({ edges }: Rows, row: number, { y, height }: Box): [number, number] => [y + edges[row] * height, y + edges[row + 1] * height];

export function drawRows(p: Painter, rows: Rows, field: Box, { phases, cycles }: FieldModel): void {
    const colours = theme();
    const chosen = new Set(phases ?? []);
    const named: number[] = [];
    // first those that are chosen
    for (const row of sort(range(rows.edges.length - 1), (each) => Number(!chosen.has(rows.phasesOf(each)[0])))) {
        const [y0, y1] = spanOf(rows, row, field);
        const [first] = rows.phasesOf(row);
        if (y1 - y0 > 6 && row > 0) p.rect(field.x, Math.round(y0) - 1, field.width, 1, colours.panel);
        if (named.some((each) => Math.abs(each - (y0 + y1) / 2) < 13) || !named.push((y0 + y1) / 2)) continue;
        p.text(field.x - 7, (y0 + y1) / 2, String(first), { size: 11, anchor: 'end', ...(chosen.has(first) ? { colour: colours.accent, weight: 700 } : { colour: colours.faint }) });
    }
    p.text(14, field.y + field.height / 2, cycles ? 'phase, by cycles' : 'phase', { colour: colours.faint, size: 11, anchor: 'middle', upright: true });
}

/** Counts over time by row, in parts that are stacked: of rates their quotient; of differences those that are more, and those that are less. */
function countsOf({ time, subtracted, rate }: FieldModel, rows: Rows): number[][] {
    const total = (column: Column, [from, to]: [number, number]) => sum(column.subarray(from, to + 1));
    const each = rows.edges.slice(1).map((_, row) => rows.phasesOf(row));
    const of = (parts: Column[]) => {
        if (!rate) return parts.map((part) => each.map((row) => total(part, row)));
        const [misses, accesses] = parts;
        return [each.map((row) => total(misses, row) / total(accesses, row) || 0)];
    };
    if (!subtracted) return of(time!);
    const [these, those] = [time!, subtracted].map(of);
    const more = each.map((_, row) => sum(these, (part) => part[row]) - sum(those, (part) => part[row]));
    return [1, -1].map((sign) => more.map((value) => Math.max(0, sign * value)));
}

export function drawTime(p: Painter, rows: Rows, box: Box, model: FieldModel): void {
    const colours = theme();
    const { x, y, width, height } = box;
    if (!model.time) return;
    const parts = countsOf(model, rows);
    const { besideTime: beside, besideHeat } = model;
    const phases = besideHeat?.edges ?? range((beside?.[0].length ?? 0) + 1);
    const others = beside ? countsOf({ ...model, time: beside }, rowsFrom(phases, null)) : [];
    const most = max([parts, others].flatMap((some) => Array.from(some[0] ?? [], (_, row) => sum(some, (part) => part[row])))) ?? 0;
    const signed = model.subtracted !== null;
    const [ground, room] = signed ? [x + width / 2, width / 2] : [x, width];
    p.line([[ground, y], [ground, y + height]], colours.line);
    if (!(most > 0)) return;
    for (const tick of ticks(0, most, 3).slice(-1)) {
        const at = ground + (tick / most) * room;
        const text = model.rate ? percentTick(tick) : brief(tick);
        p.line([[at, y], [at, y + height]], colours.grid);
        p.text(Math.min(at, x + width - 8), y - 7, signed ? inPoints(`±${text}`) : text, { colour: colours.faint, size: 11, anchor: signed ? 'end' : 'middle' });
    }
    const named = parts.length > 2 && width > 90 ? range(parts.length).filter((i) => sum(parts[i]) > 0) : [];
    for (const [i, which] of named.reverse().entries()) {
        p.rect(x, y - 31 - 14 * i, 10, 10, model.timeColours()[which]);
        p.text(x + 14, y - 26 - 14 * i, causeNames[which], { colour: colours.faint, size: 11 });
    }
    const at = parts[0].map(() => ground);
    parts.forEach((part, i) => {
        const boxes: number[] = [];
        part.forEach((value, row) => {
            const size = (value / most) * room;
            const [y0, y1] = spanOf(rows, row, box);
            if (size > 0) boxes.push(signed && i > 0 ? ground - size : at[row], y0 + 0.5, size, Math.max(0.5, y1 - y0 - 1));
            at[row] += size;
        });
        p.rects(boxes, model.timeColours()[i]);
    });
}

/** What colours stand for: no misses, few, many, and above the end of the scale. */
export function drawKey(p: Painter, x: number, y: number, width: number, { end, least, above, most, signed, both }: Shaded, { rate, scale }: FieldModel): void {
    const colours = theme();
    const faint = { colour: colours.faint, size: 11 };
    const text = (value: number) => (!rate ? brief(value) : signed ? inPoints(percent(value)) : percent(value));
    const from = signed ? `0, −${text(end)}` : scale === 'log' ? `0, ${text(least)}` : '0';
    const begin = x + 20 + from.length * 6.5;
    const wide = Math.min(120, width / 5);
    const colour = (at: number) => (signed ? theme().difference(at) : theme().heat(at));
    p.rect(x, y - 5, 10, 10, colours.zero);
    p.text(x + 14, y, from, faint);
    for (let i = 0; i < 40; ++i) p.rect(begin + (i * wide) / 40, y - 5, wide / 40 + 0.5, 10, colour(i / 39));
    const last = text(end) + (both ? ' for A and B' : '');
    p.text(begin + wide + 5, y, last, faint);
    if (above === 0 || width < 300) return;
    const behind = begin + wide + Math.max(48, textWidth(last, 11) + 17);
    p.rect(behind, y - 5, 10, 10, colours.marker);
    p.text(behind + 14, y, `${brief(above)} cell${above === 1 ? '' : 's'} up to ${signed ? '±' : ''}${text(most)}`, { colour: colours.marker, size: 11, weight: 600 });
}

/** What is not selected is paler; what is has a frame, and a mark beside its rows. */
export function drawSelection(p: Painter, rows: Rows, { all, panels, field }: Layout, at: Across, { stretches, phases }: FieldModel): void {
    const [colours, inside, boxes] = [theme(), at.copy().clamp(true), [] as number[]];
    let left = all.x;
    const pale = (to: number) => to > left && [...panels, ...(field ? [field] : [])].forEach(({ y, height }) => boxes.push(left, y, to - left, height));
    for (const [from, to] of stretches ?? []) {
        const [a, b] = [inside(from), Math.max(inside(to), inside(from) + 1)];
        pale(a);
        left = Math.max(left, b);
        p.frame(a, all.y - 2, Math.max(2, b - a), all.height + 1, colours.accent, 0, '', 1.5);
    }
    if (stretches) pale(all.x + all.width);
    const chosen = phases && new Set(phases);
    for (let row = 0; field && chosen && row + 1 < rows.edges.length; ++row) {
        const [from, to] = rows.phasesOf(row);
        const [y0, y1] = spanOf(rows, row, field);
        if (range(from, to + 1).some((phase) => chosen.has(phase))) p.rect(field.x - 4, y0, 3, y1 - y0, colours.accent);
        else boxes.push(field.x, y0, field.width, y1 - y0);
    }
    p.rects(boxes, `${colours.panel}a8`);
}

/** Names that fit, in boxes, over the stretches of the structures. */
export function drawStrip(p: Painter, top: number, at: Across, axis: Axis, structures: Structure[]): void {
    const colours = theme();
    const [begin, end] = at.range();
    p.within(begin, top, end - begin, stripHeight, () => {
        structures.forEach((structure, i) => {
            const where = structurePlace(axis, structure)?.map(at);
            if (!where || where[1] <= begin || where[0] >= end) return;
            const [from, to] = [Math.max(begin, where[0]), Math.min(end, where[1])];
            const fill = colours.structures[i % colours.structures.length];
            p.frame(from + 0.5, top + 3.5, Math.max(2, to - from - 1), stripHeight - 8, colours.line, 3, fill);
            const name = shortened(structure.name, to - from - 8, 12, 500);
            p.text((from + to) / 2, top + stripHeight / 2, name, { colour: colours.ink, size: 12, anchor: 'middle', weight: 500 });
        });
    });
}

/** Addresses under the strip, and of which kind they are; the line breaks where address space is left out. */
export function drawAddresses(p: Painter, top: number, at: Across, { axis, addresses }: FieldModel): void {
    const colours = theme();
    const [[x0, x1], [begin, end]] = [at.domain(), at.range()];
    const pixel = (x1 - x0) / (end - begin);
    p.text(begin - 7, top + 4, addresses, { colour: colours.faint, size: 11, anchor: 'end' });
    for (const { start, bytes } of cut(axis, x0, x1).segments) p.line([[at(start), top + 3.5], [at(start + bytes), top + 3.5]], colours.line, 1);
    for (const { place, address, label } of marksOf(axis, x0, x1, 130 * pixel, (textWidth('0x89abcdef', 11) / 10) * pixel)) {
        p.line([[at(place), top + 3], [at(place), top + 7]], colours.faint);
        if (!Number.isNaN(label)) p.text(at(label), top + 15, hex(address), { colour: colours.faint, size: 11, anchor: 'middle' });
    }
}
