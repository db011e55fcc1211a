// SPDX-License-Identifier: BSD-3-Clause
// A plot over addresses: panels over one axis, and under one of them the field: phases down, cells of counts, counts over time beside it.
import { bisectRight, max, min, range } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { drawAddresses, drawKey, drawRows, drawSelection, drawStrip, drawTime, layoutOf, rowsFrom, shade, type Across, type Layout, type Shaded } from './field_draw';
import { addressAt, addressesIn, describe, hex, structureAt, structurePlace } from './axis';
import { answer, axisWords, endOfScale } from './core';
import { h } from './dom';
import { figureOf } from './figure';
import { followHands, type Sight } from './gestures';
import { brief, full, percent, phasesInWords, signed } from './numbers';
import { inside, textWidth, theme, type Box, type Painter } from './paint';
import { columnsOf, dataFor, drawPanel, meanIn, panelReader, tableOf, type Panel, type PanelSource } from './panels';
import type { Axis, Column, Heat, Structure } from './protocol';
import type { Wanted } from './chart';

/** All that is shown; at first nothing. */
const nothing = {
    panels: [] as Panel[],
    /** Of another file, for one scale: panels, cells, counts over time. */
    beside: [] as Panel[],
    besideHeat: null as Heat | null,
    besideTime: null as Column[] | null,
    /** Panels have one scale in common. */
    shared: false,
    axis: { segments: [], bytes: 1 } as Axis,
    structures: [] as Structure[],
    /** What addresses are: virtual, physical. */
    addresses: 'virtual',
    range: [0, 1] as [number, number],
    scale: 'auto' as Wanted,
    field: false,
    /** Of the field: cells are misses per access. */
    rate: false,
    /** Cells, and the stretch of the axis that they cover. */
    heat: null as Heat | null,
    drawn: [0, 1] as [number, number],
    /** Of the addresses that are chosen, by phase, in parts that are stacked; of rates two, misses and accesses. */
    time: null as Column[] | null,
    /** What is subtracted from it. */
    subtracted: null as Column[] | null,
    timeColours: () => [] as string[],
    phaseNames: [] as string[],
    /** How long phases are, where rows are as high. */
    cycles: null as Column | null,
    /** What is selected; null: everything. */
    phases: null as number[] | null,
    stretches: null as [number, number][] | null,
    message: '',
};

export type FieldModel = typeof nothing;

export interface FieldActs {
    name: () => string; title: () => string;
    /** `sight`: the addresses that are shown; null: all. */
    python: (sight: [bigint, bigint][] | null) => string;
    /** The stretch that is shown has changed by hand; null: all. */
    look: (range: [number, number] | null) => void;
    /** Selected by a brush: a stretch of the axis and phases; null: as before. `again`: takes back what is selected so. */
    brush?: (stretch: [number, number] | null, phases: [number, number] | null, again: boolean) => void;
    /** A structure that was clicked; default: it fills the width. */
    pick?: (structure: Structure) => void;
    clear?: () => void; zoomToSelection?: () => void;
}

/** How a number of a panel is written. */
const textOf = ({ rate, signed: differs }: Pick<Panel, 'rate' | 'signed'>, count = brief) => (differs ? signed(rate ? percent : count) : rate ? percent : count);

export function fieldPlot(acts: FieldActs) {
    let model = nothing;
    let layout: Layout = layoutOf(800, 1, 0, true);
    let lanes = rowsFrom([0, 1], null);
    let shaded: { heat: Heat; beside: Heat | null; key: string; shaded: Shaded } | null = null;
    /** A place on the axis and a row; -1: in no row. */
    let cursor: { x: number; row: number } | null = null;
    let dragged: Box | null = null;
    let [told, shown] = ['', ''];
    const readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' }, ' ');
    const reader = panelReader(show);

    const figure = figureOf({
        name: acts.name,
        label: () => `${acts.title()}.${sums()} Arrows move the cursor, with Shift what is shown; plus and minus zoom, 0 shows all${acts.brush ? ', Enter selects' : ''}.`,
        height: (width) => layoutFor(width).height,
        draw,
        table: () => tableOf(acts.title(), model, model.field ? range(rows()).map(nameOf) : []),
        python: () => acts.python(model.range[0] <= 0 && model.range[1] >= model.axis.bytes ? null : addressesIn(model.axis, ...model.range)),
    });
    const { canvas } = figure;
    canvas.classList.add('zooms', 'field');
    const box = h('div'); // in which the reading stays in sight, over the picture alone
    (canvas.before(box), box.append(canvas, readout));
    const sight: Sight = {
        scale: () => across(),
        whole: () => [0, model.axis.bytes],
        least: [0, 64],
        look: (range) => {
            look(range);
            acts.look(range);
        },
    };
    followHands(canvas, sight, { select: drag, hover: point, click, key, middle: () => cursor?.x });

    /** Panels on an axis; read anew where `key` is another. */
    function read(key: string, axis: Axis, sources: () => PanelSource[], range: [number, number] | null): void {
        if (key === shown) return look(range);
        shown = key;
        const sight = range ?? [0, axis.bytes];
        set({ axis, range: sight });
        reader.set(axis, sources(), sight);
    }

    /** Panels with their data; those of another file are not drawn. */
    function show(all: Panel[]): void { set({ panels: all.filter((each) => !each.beside), beside: all.filter((each) => each.beside) }); }

    /** The same panels, another stretch of the axis; null: all. */
    function look(range: [number, number] | null): void {
        const next = range ?? [0, model.axis.bytes];
        if (next.join() !== model.range.join()) void reader.look(next);
        set({ range: next });
    }

    /** Other data, or another look at them. */
    function set(change: Partial<FieldModel>): void {
        model = { ...model, ...change };
        lanes = rowsFrom(model.heat?.edges ?? range(rows() + 1), model.cycles);
        figure.changed();
    }

    const rows = (): number => model.heat?.rows ?? Math.max(1, Math.min(256, model.time?.[0]?.length ?? 1));
    const layoutFor = (width: number): Layout => layoutOf(width, model.panels.length, model.field ? rows() : 0, model.structures.length > 0);
    const across = (): Across => scaleLinear(model.range, [layout.all.x, layout.all.x + layout.all.width]);
    const perPixel = (): number => (model.range[1] - model.range[0]) / layout.all.width;

    function sums(): string {
        const all = (each: Panel) => (each.whole ? `: ${textOf(each, full)(each.whole.total)} in all` : '');
        const parts = model.panels.map((each) => `${each.title}, ${each.meaning}${all(each)}`);
        return parts.length ? ` ${parts.join('; ')}.` : '';
    }

    function rowAt(y: number): number {
        const { field } = layout;
        const share = field ? (y - field.y) / field.height : -1;
        return share >= 0 && share < 1 ? Math.min(bisectRight(lanes.edges, share), lanes.edges.length - 1) - 1 : -1;
    }

    function point(x: number | null, y: number): void {
        if (x === null && readout.ariaLive === 'polite') return; // keys moved the cursor, and the page under a pointer at rest
        readout.setAttribute('aria-live', 'off');
        const { all } = layout;
        cursor = x !== null && x >= all.x && x < all.x + all.width ? { x: across().invert(x), row: rowAt(y) } : null;
        figure.redraw();
    }

    /** Across a stretch is selected, down in the field phases; where nothing can be selected dragging zooms. */
    function drag(x0: number, x1: number, done: boolean, y0: number, y1: number): void {
        const { all, field, time } = layout;
        const between = (p: number, q: number, from: number, size: number) => [Math.min(p, q), Math.max(p, q)].map((at) => Math.min(from + size, Math.max(from, at)));
        const [a, b] = between(x0, x1, all.x, all.width);
        const part = field && acts.brush && rows() > 1 && y0 >= field.y ? field : all;
        const [c, d] = between(y0, y1, part.y, part.height - 0.01);
        const wide = !inside(time, x0, y0) && b - a > 4;
        const down = part === field && d - c > 4;
        dragged = { x: wide ? a : all.x, width: wide ? b - a : all.width, y: down ? c : part.y, height: down ? d - c : part.height };
        if (done) {
            dragged = null;
            const [from, to] = [a, b].map(across().invert);
            if (acts.brush) acts.brush(wide ? [from, to] : null, down ? [lanes.phasesOf(rowAt(c))[0], lanes.phasesOf(rowAt(d))[1]] : null, false);
            else if (wide) sight.look([Math.min(from, Math.max(0, model.axis.bytes - 64)), Math.max(to, from + 64)]);
        }
        figure.redraw();
    }

    function click(x: number, y: number): void {
        const at = across().invert(x);
        if (y >= layout.strip && y < layout.addresses && addressAt(model.axis, at) !== null) return pick(at);
        const row = rowAt(y);
        if (row >= 0 && rows() > 1) return acts.brush?.(null, lanes.phasesOf(row), true);
        const data = model.panels[0] && dataFor(model.panels[0], ...model.range);
        if (data && inside(layout.all, x, y)) acts.brush?.(columnsOf(data, at, at + perPixel(), 1).stretch, null, false);
    }

    function pick(x: number): void {
        const address = addressAt(model.axis, x);
        const structure = address !== null && structureAt(model.structures, address);
        if (!structure) return;
        const place = structurePlace(model.axis, structure);
        if (acts.pick) acts.pick(structure);
        else if (place) sight.look([place[0], Math.max(place[1], place[0] + 64)]);
    }

    function key(key: string, shift: boolean): boolean {
        const [from, to] = model.range;
        const step = (by: number, down: number) => {
            readout.setAttribute('aria-live', 'polite'); // who moves by keys may not see it
            const at = cursor ?? { x: (from + to) / 2, row: 0 };
            const x = Math.min(to - 1e-6 * (to - from), Math.max(from, at.x + (by * (to - from)) / 64));
            cursor = { x, row: Math.min(rows() - 1, Math.max(0, at.row + down)) };
            figure.redraw();
        };
        const known: Record<string, () => void> = {
            ArrowUp: () => step(0, -1),
            ArrowDown: () => step(0, 1),
            ...(shift || !acts.brush ? {} : { ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0) }),
            z: () => acts.zoomToSelection?.(),
            ...(acts.clear ? { Escape: acts.clear } : {}),
            Enter: () => {
                if (cursor && cursor.row >= 0 && rows() > 1) acts.brush?.(null, lanes.phasesOf(cursor.row), false);
                if (cursor) pick(cursor.x); // the structure and the phase under the cursor
            },
        };
        known[key]?.();
        return key in known;
    }

    function draw(p: Painter): void {
        layout = layoutFor(p.width);
        const { axis, structures } = model;
        drawPanels(p);
        if (layout.field) drawField(p, layout.field);
        if (layout.time) drawTime(p, lanes, layout.time, model);
        if (structures.length > 0) drawStrip(p, layout.strip, across(), axis, structures);
        drawAddresses(p, layout.addresses, across(), model);
        drawSelection(p, lanes, layout, across(), model);
        if (dragged) p.frame(dragged.x, dragged.y, dragged.width, dragged.height, theme().accent, 0, `${theme().accent}22`);
        drawCursor(p);
    }

    function drawPanels(p: Painter): void {
        const { panels, beside, range, scale, axis, shared } = model;
        const alike = shared ? panels.filter((each) => !each.signed && !each.apart) : [];
        const common = commonRange([...alike, ...beside]);
        // left out: gaps of at least two pixels
        const holes = answer('holes', axisWords(axis), ...range, 2 * perPixel()).numbers.map(across());
        panels.forEach((panel, i) => {
            const { y, height } = layout.panels[i];
            for (const hole of holes) p.line([[hole, y], [hole, y + height]], theme().line, 1, [2, 4]);
            drawPanel(p, layout.panels[i], panel, range, scale, alike.includes(panel) ? common : null, beside.length > 0);
        });
    }

    /** The ends of a scale that panels share. */
    function commonRange(panels: Panel[]): [number, number] | null {
        const { range, scale, axis } = model;
        const all = range[0] <= 0 && range[1] >= axis.bytes;
        const ends = panels.flatMap((panel): [number, number][] => {
            const sight: [number, number] = all && panel.beside ? [0, panel.beside] : range;
            const data = dataFor(panel, ...sight);
            if (!data) return [];
            const { least, leastPositive, most } = columnsOf(data, ...sight, Math.round(layout.all.width));
            return [[scale === 'linear' ? least : leastPositive, endOfScale(panel.rate ? most : data.clip, most, scale)]];
        });
        const [from, to] = [min(ends, ([least]) => least), max(ends, ([, most]) => most)];
        return from !== undefined && to! >= from ? [from, to!] : null;
    }

    function drawField(p: Painter, field: Box): void {
        const { heat, besideHeat, drawn, scale, message } = model;
        const colours = theme();
        if (heat) {
            const key = `${scale}${colours.dark}`;
            if (shaded?.heat !== heat || shaded.beside !== besideHeat || shaded.key !== key) shaded = { heat, beside: besideHeat, key, shaded: shade(heat, scale, besideHeat) };
            const { cells } = shaded.shaded;
            const [from, to] = drawn.map(across());
            p.within(field.x, field.y, field.width, field.height, () => p.cells(from, field.y, to - from, field.height, heat.columns, cells, lanes.edges));
            const { y } = layout.panels.at(heat.signed ? -1 : 0)!;
            if (shaded.shaded.most > 0 || !heat.signed) drawKey(p, field.x, y - 14, field.width, shaded.shaded, model);
        }
        if (rows() > 1) drawRows(p, lanes, field, model);
        if (!heat || message) {
            const [x, y, text] = [field.x + field.width / 2, field.y + (heat ? 14 : field.height / 2), message || 'reading …'];
            const width = textWidth(text) + 16;
            p.rect(x - width / 2, y - 12, width, 24, colours.panel);
            p.text(x, y, text, { colour: colours.ink, anchor: 'middle' });
        }
        p.frame(field.x - 0.5, field.y - 0.5, field.width + 1, field.height + 1, colours.line);
    }

    function drawCursor(p: Painter): void {
        const { all, field } = layout;
        const select = acts.brush ? `Drag selects addresses${rows() > 1 ? ' and phases, a click a phase or' : ', a click'} a structure; wheel or +/− zooms.` : 'Wheel or +/− zooms, drag selects, arrows move, 0 shows all; click a structure to fill the width.';
        if (!cursor) return tell(`${select} Solid: mean of the lines in a column; pale: up to the largest.`);
        const x = across()(cursor.x);
        if (x < all.x || x > all.x + all.width) return;
        p.line([[x, all.y], [x, all.y + all.height]], theme().faint, 1, [3, 3]);
        if (field && cursor.row >= 0 && rows() > 1) {
            const [y0, y1] = [cursor.row, cursor.row + 1].map((row) => field.y + lanes.edges[row] * field.height);
            p.frame(field.x, y0, field.width, y1 - y0, theme().faint);
        }
        tell(textAt(cursor));
    }

    /** Untouched where it says so already: each change costs a layout of the page. */
    function tell(text: string): void { if (text !== told) readout.textContent = told = text; }

    function textAt({ x, row }: { x: number; row: number }): string {
        const { axis, structures, panels, range, heat, drawn, rate } = model;
        const address = addressAt(axis, x);
        if (address === null) return 'no counts in between';
        const where = structureAt(structures, address) ? `${describe(structures, address)} · ${hex(address)}` : hex(address);
        if (row >= 0 && heat) {
            const mean = meanIn(heat, drawn, row, x);
            return `${nameOf(row)} · ${where} · ${Number.isNaN(mean) ? 'nothing counted' : `${textOf({ rate, signed: heat.signed })(mean)} ${panels[0].meaning} and phase`}`;
        }
        const parts = panels.map((panel) => {
            const data = dataFor(panel, ...range);
            if (!data) return `${panel.title}: …`;
            const { mean, min, max } = columnsOf(data, x, x + perPixel(), 1);
            if (Number.isNaN(mean[0])) return `${panel.title}: –`;
            const [value, least, most] = [mean[0], min[0], max[0]].map(textOf(panel));
            return `${panel.title}: ${value}${min[0] === max[0] ? '' : ` (${least} … ${most})`}`;
        });
        return `${where} · ${parts.join(' · ')}`;
    }

    function nameOf(row: number): string {
        const [from, to] = lanes.phasesOf(row);
        return from === to ? phasesInWords([from], model.phaseNames) : `phases ${from}–${to}`;
    }

    /** Sums over all by panel; for tests. */
    const totals = (): Record<string, number> => Object.fromEntries(model.panels.map(({ title, whole }) => [title, whole?.total ?? NaN]));
    return { figure, read, look, set, show, totals };
}
