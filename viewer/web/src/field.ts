// SPDX-License-Identifier: BSD-3-Clause
// FieldPlot: addresses across, phases down, a histogram above and counts over time beside it. Drawn from what it is given; what hands
// do with it is told to others.
import { ticks } from 'd3-array';
import { drawAddresses, drawStrip } from './address_axis';
import { addressAt, describe, hex, structureAt } from './axis';
import { css, heatColour, theme } from './colours';
import { h, type Table } from './dom';
import { inside, isNarrow, layoutOf, rowEdges, type Box, type Layout } from './field_layout';
import { fieldTable, meanAt } from './field_table';
import { Figure } from './figure';
import { Gestures } from './gestures';
import { brief, percent, percentTick } from './numbers';
import type { Painter } from './paint';
import { columnsOf, emptyDrawn, fillBars, scaleOf, stretchOf, type Drawn } from './panels';
import type { Axis, Buckets, Column, Heat, Structure } from './protocol';
import { endOfScale, shade, type Shaded, type ShadeScale } from './shading';

/** All that the field shows. */
export interface FieldModel {
    title: string;
    /** What a line's number is. */
    meaning: string;
    colour: string;
    rate: boolean;
    axis: Axis;
    structures: Structure[];
    /** What is in sight, of the axis. */
    range: [number, number];
    /** Cells, and the stretch of the axis that they cover. */
    heat: Heat | null;
    drawn: [number, number];
    /** Columns over the phases that are chosen. */
    buckets: Buckets | null;
    /** Of the addresses that are chosen, by phase, in parts that are stacked; of rates two, misses and accesses. */
    time: Column[] | null;
    timeColours: string[];
    phaseNames: string[];
    cycles: Column | null;
    /** What is selected; null: everything. */
    phases: number[] | null;
    stretches: [number, number][] | null;
    scale: ShadeScale;
    message: string;
}

export interface FieldActs {
    name: () => string;
    label: () => string;
    python: () => string;
    /** A stretch of the axis to look at. */
    look: (from: number, to: number) => void;
    all: () => void;
    /** Selected by a brush: stretches of the axis and phases; null: as before. */
    brush: (stretch: [number, number] | null, phases: [number, number] | null, add: boolean) => void;
    pick: (structure: Structure) => void;
    clear: () => void;
    zoomToSelection: () => void;
}

export class FieldPlot {
    readonly figure: Figure;
    private model: FieldModel | null = null;
    private layout: Layout = layoutOf(800, 1);
    private edges: number[] = [0, 1];
    private shaded: { heat: Heat; key: string; shaded: Shaded } | null = null;
    private columns: Drawn | null = null;
    /** A place on the axis and a row. */
    private cursor: { x: number; row: number } | null = null;
    private dragged: Box | null = null;
    private readonly readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'polite' }, ' ');
    private told = '';
    /** Milliseconds that the last frames took to draw. */
    readonly frames: number[] = [];

    constructor(private readonly acts: FieldActs) {
        this.figure = new Figure({
            name: acts.name,
            label: acts.label,
            height: (width) => layoutOf(width, this.rows()).height,
            draw: (p) => this.draw(p),
            table: () => this.table(),
            python: acts.python,
        });
        const { canvas } = this.figure;
        canvas.classList.add('zooms', 'field');
        canvas.insertAdjacentElement('afterend', this.readout);
        new Gestures(canvas, {
            zoom: (at, factor) => this.zoom(this.placeAt(at), factor),
            pan: (pixels) => this.pan((pixels / this.layout.field.width) * this.width()),
            select: (from, to, done, fromY, toY) => this.drag(from, to, fromY, toY, done),
            hover: (x, y) => this.point(x === null ? null : { x: this.placeAt(x), row: this.rowAt(y) }, x ?? -1),
            click: (x, y) => this.click(x, y),
            reset: acts.all,
            key: (key, shift) => this.key(key, shift),
        });
    }

    private rows(): number {
        return this.model?.heat?.rows ?? Math.min(256, this.model?.time?.[0]?.length ?? 1);
    }

    /** Other data, or another look at them. */
    set(model: FieldModel): void {
        this.model = model;
        const phases = model.heat?.edges ?? Array.from({ length: this.rows() + 1 }, (_, i) => i);
        this.edges = rowEdges(phases, model.cycles);
        this.figure.changed();
    }

    private width(): number {
        return this.model ? this.model.range[1] - this.model.range[0] : 1;
    }

    private placeAt(pixel: number): number {
        const { x, width } = this.layout.field;
        return (this.model?.range[0] ?? 0) + ((pixel - x) / width) * this.width();
    }

    private rowAt(y: number): number {
        const { field } = this.layout;
        const share = (y - field.y) / field.height;
        if (!(share >= 0 && share < 1)) return -1;
        let row = 0;
        while (row + 2 < this.edges.length && this.edges[row + 1] <= share) ++row;
        return row;
    }

    private moveTo(from: number, width: number): void {
        const { bytes } = this.model!.axis;
        const begin = Math.min(Math.max(0, from), Math.max(0, bytes - width));
        if (width >= bytes * 0.999) this.acts.all();
        else this.acts.look(begin, begin + width);
    }

    private zoom(at: number, factor: number): void {
        if (!this.model) return;
        const size = Math.min(this.model.axis.bytes, Math.max(64, this.width() * factor));
        this.moveTo(at - ((at - this.model.range[0]) / this.width()) * size, size);
    }

    private pan(by: number): void {
        if (this.model) this.moveTo(this.model.range[0] + by, this.width());
    }

    private point(cursor: typeof this.cursor, pixel: number): void {
        const { field } = this.layout;
        this.cursor = cursor && pixel >= field.x && pixel < field.x + field.width ? cursor : null;
        this.figure.redraw();
    }

    private drag(x0: number, x1: number, y0: number, y1: number, done: boolean): void {
        const { top, field, time } = this.layout;
        const clamp = (at: number, from: number, size: number) => Math.min(from + size, Math.max(from, at));
        const [a, b] = [Math.min(x0, x1), Math.max(x0, x1)].map((x) => clamp(x, field.x, field.width));
        const [c, d] = [Math.min(y0, y1), Math.max(y0, y1)].map((y) => clamp(y, field.y, field.height - 0.01));
        const across = !inside(time, x0, y0) && b - a > 4; // beside the field all addresses stay
        const down = !inside(top, x0, y0) && y0 >= field.y && d - c > 4;
        this.dragged = { x: across ? a : field.x, width: across ? b - a : field.width, y: down ? c : field.y, height: down ? d - c : field.height };
        if (done) {
            this.dragged = null;
            const rows: [number, number] | null = down && this.rows() > 1 ? this.phasesOf(this.rowAt(c), this.rowAt(d)) : null;
            this.acts.brush(across ? [this.placeAt(a), this.placeAt(b)] : null, rows, false);
        }
        this.figure.redraw();
    }

    private phasesOf(first: number, last: number): [number, number] {
        const edges = this.model!.heat?.edges;
        return edges ? [edges[first], edges[last + 1] - 1] : [first, last];
    }

    private click(x: number, y: number): void {
        const { model, layout } = this;
        if (!model) return;
        const address = addressAt(model.axis, this.placeAt(x));
        if (y >= layout.strip && y < layout.addresses && address !== null) {
            const structure = structureAt(model.structures, address);
            if (structure) this.acts.pick(structure);
            return;
        }
        const row = this.rowAt(y);
        if (row >= 0 && this.rows() > 1) this.acts.brush(null, this.phasesOf(row, row), true);
        else if (inside(layout.top, x, y)) {
            const perPixel = this.width() / layout.field.width;
            if (model.buckets) this.acts.brush(stretchOf(model.buckets, this.placeAt(x), perPixel), null, false);
        }
    }

    private key(key: string, shift: boolean): boolean {
        if (!this.model) return false;
        const width = this.width();
        const middle = this.cursor?.x ?? this.model.range[0] + width / 2;
        const step = (by: number, down: number) => {
            const { range } = this.model!;
            const at = this.cursor ?? { x: range[0] + width / 2, row: 0 };
            this.cursor = {
                x: Math.min(range[1] - 1e-6 * width, Math.max(range[0], at.x + by)),
                row: Math.min(this.rows() - 1, Math.max(0, at.row + down)),
            };
            this.figure.redraw();
        };
        const acts: Record<string, () => void> = {
            ArrowLeft: () => (shift ? this.pan(-width / 5) : step(-width / 64, 0)),
            ArrowRight: () => (shift ? this.pan(width / 5) : step(width / 64, 0)),
            ArrowUp: () => step(0, -1),
            ArrowDown: () => step(0, 1),
            '+': () => this.zoom(middle, 0.5),
            '=': () => this.zoom(middle, 0.5),
            '-': () => this.zoom(middle, 2),
            '0': () => this.acts.all(),
            z: () => this.acts.zoomToSelection(),
            Escape: () => this.acts.clear(),
            Home: () => this.moveTo(0, width),
            End: () => this.moveTo(this.model!.axis.bytes - width, width),
            Enter: () => this.enter(),
        };
        acts[key]?.();
        return key in acts;
    }

    /** Selects the structure and the phase under the cursor. */
    private enter(): void {
        const address = this.cursor && addressAt(this.model!.axis, this.cursor.x);
        if (this.cursor && this.cursor.row >= 0 && this.rows() > 1) this.acts.brush(null, this.phasesOf(this.cursor.row, this.cursor.row), false);
        const structure = address !== null && structureAt(this.model!.structures, address);
        if (structure) this.acts.pick(structure);
    }

    private draw(p: Painter): void {
        const begin = performance.now();
        this.layout = layoutOf(p.width, this.rows());
        const { model, layout } = this;
        if (!model) return;
        const colours = theme();
        const { field } = layout;
        const [x0, x1] = model.range;
        p.text(field.x, 12, model.title, { colour: colours.ink, size: 13, weight: 600 });
        p.text(field.x, 30, model.meaning, { colour: colours.faint, size: 11 });
        this.drawTop(p, model);
        if (model.heat) {
            const { cells } = this.shading(model.heat);
            const perByte = field.width / (x1 - x0);
            p.within(field.x, field.y, field.width, field.height, () =>
                p.cells(field.x + (model.drawn[0] - x0) * perByte, field.y, (model.drawn[1] - model.drawn[0]) * perByte, field.height, model.heat!.columns, cells, this.edges),
            );
            this.drawKey(p, model.heat, isNarrow(p.width) ? 48 : 12);
        }
        if (!model.heat || model.message)
            p.text(field.x + field.width / 2, field.y + field.height / 2, model.message || 'reading …', { colour: colours.faint, anchor: 'middle' });
        p.frame(field.x - 0.5, field.y - 0.5, field.width + 1, field.height + 1, colours.line);
        this.drawRows(p, model);
        if (layout.time.width > 20 && this.rows() > 1) this.drawTime(p, model);
        drawStrip(p, layout.strip, model.axis, model.structures, x0, x1, field.width, '');
        drawAddresses(p, layout.addresses, model.axis, x0, x1, field.width);
        this.drawSelection(p, model);
        this.drawCursor(p);
        this.frames.push(performance.now() - begin);
        if (this.frames.length > 400) this.frames.shift();
    }

    private shading(heat: Heat): Shaded {
        const key = `${this.model!.scale}${theme().dark}`;
        if (this.shaded?.heat !== heat || this.shaded.key !== key) this.shaded = { heat, key, shaded: shade(heat, this.model!.scale) };
        return this.shaded.shaded;
    }

    private text(value: number): string {
        return this.model!.rate ? percent(value) : brief(value);
    }

    /** The histogram over addresses, of the phases that are chosen. */
    private drawTop(p: Painter, model: FieldModel): void {
        const colours = theme();
        const { x, y, width, height } = this.layout.top;
        const { buckets } = model;
        const pixels = Math.round(width);
        p.line([[x, y + height], [x + width, y + height]], colours.line);
        if (!buckets) return;
        if (this.columns?.columns.mean.length !== pixels) this.columns = emptyDrawn(pixels);
        const drawn = this.columns;
        const { most, leastPositive } = columnsOf(buckets, ...model.range, pixels, drawn.columns);
        if (!(most > 0)) {
            p.text(x + width / 2, y + height / 2, most === 0 ? '0 everywhere' : 'nothing here', { colour: colours.faint, size: 13, anchor: 'middle' });
            return;
        }
        const end = model.rate ? most : endOfScale(buckets.clip, most, model.scale);
        const scale = scaleOf(leastPositive, end, model.scale === 'log');
        for (const tick of scale.ticks.filter((each) => scale.at(each) <= 1)) {
            const at = y + height * (1 - scale.at(tick));
            if (tick > 0) p.line([[x, at], [x + width, at]], colours.grid);
            p.text(x - 7, at, model.rate ? percentTick(tick) : brief(tick), { colour: colours.faint, size: 11, anchor: 'end' });
        }
        fillBars(drawn, scale, false, y, height);
        drawn.pale.fill = `${model.colour}66`;
        drawn.solid.fill = model.colour;
        p.bars(x, y - 2, height + 2, [drawn.pale, drawn.solid]);
        if (end >= most) return;
        const cut: number[] = [];
        drawn.columns.max.forEach((each, px) => each > end && cut.push(x + px - 1, y - 4, 3, 4));
        p.rects(cut, colours.marker);
        const what = buckets.grain <= 4096 ? 'line' : 'block';
        const note = `${brief(buckets.above)} ${what}${buckets.above === 1 ? '' : 's'} up to ${this.text(most)}`;
        p.text(x + width, y - 10, note, { colour: colours.marker, size: 11, anchor: 'end', weight: 600 });
    }

    /** What colours stand for. */
    private drawKey(p: Painter, heat: Heat, y: number): void {
        const colours = theme();
        const { end, least, above, most } = this.shading(heat);
        const right = this.layout.field.x + this.layout.field.width;
        const wide = Math.min(120, this.layout.field.width / 3);
        for (let i = 0; i < 40; ++i) p.rect(right - 50 - wide + (i * wide) / 40, y - 5, wide / 40 + 0.5, 10, css(heatColour(i / 39)));
        p.text(right - 44, y, this.text(end), { colour: colours.faint, size: 11 });
        p.rect(right - 66 - wide, y - 5, 10, 10, colours.zero);
        p.text(right - 72 - wide, y, this.model!.scale === 'log' ? `0, ${this.text(least)}` : '0', { colour: colours.faint, size: 11, anchor: 'end' });
        if (above === 0 || this.layout.field.width < 460) return;
        const note = `${brief(above)} cell${above === 1 ? '' : 's'} up to ${this.text(most)}`;
        p.text(right - 100 - wide, y, note, { colour: colours.marker, size: 11, anchor: 'end', weight: 600 });
    }

    private drawRows(p: Painter, model: FieldModel): void {
        const colours = theme();
        const { field } = this.layout;
        if (this.rows() < 2) return;
        const chosen = new Set(model.phases ?? []);
        let free = -Infinity;
        for (let row = 0; row < this.rows(); ++row) {
            const [y0, y1] = [this.edges[row], this.edges[row + 1]].map((share) => field.y + share * field.height);
            const first = this.phasesOf(row, row)[0];
            const on = chosen.has(first);
            if (y1 - y0 > 6 && row > 0) p.rect(field.x, Math.round(y0) - 1, field.width, 1, colours.panel);
            if ((y0 + y1) / 2 < free && !on) continue;
            p.text(field.x - 7, (y0 + y1) / 2, String(first), { colour: on ? colours.accent : colours.faint, size: 11, anchor: 'end', weight: on ? 700 : 400 });
            free = (y0 + y1) / 2 + 13;
        }
        p.text(14, field.y + field.height / 2, model.cycles ? 'phase, by cycles' : 'phase', { colour: colours.faint, size: 11, anchor: 'middle', upright: true });
    }

    /** Counts by row, stacked. */
    private drawTime(p: Painter, model: FieldModel): void {
        const colours = theme();
        const { x, y, width, height } = this.layout.time;
        if (!model.time) return;
        const parts = this.byRow(model);
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
                const [y0, y1] = [this.edges[row], this.edges[row + 1]].map((share) => y + share * height);
                if (size > 0) boxes.push(at[row], y0 + 0.5, size, Math.max(0.5, y1 - y0 - 1));
                at[row] += size;
            });
            p.rects(boxes, model.timeColours[i]);
        });
    }

    /** Counts over time by row: of rates their quotient. */
    private byRow(model: FieldModel): number[][] {
        const rows = Array.from({ length: this.rows() }, (_, row) => row);
        const sum = (column: Column, row: number) => {
            const [from, to] = this.phasesOf(row, row);
            let all = 0;
            for (let phase = from; phase <= to; ++phase) all += column[phase] ?? 0;
            return all;
        };
        if (!model.rate) return model.time!.map((part) => rows.map((row) => sum(part, row)));
        const [misses, accesses] = model.time!;
        return [rows.map((row) => (sum(accesses, row) > 0 ? sum(misses, row) / sum(accesses, row) : 0))];
    }

    /** What is not selected is paler. */
    private drawSelection(p: Painter, model: FieldModel): void {
        const colours = theme();
        const { field, top } = this.layout;
        const [x0, x1] = model.range;
        const at = (x: number) => Math.min(field.x + field.width, Math.max(field.x, field.x + ((x - x0) / (x1 - x0)) * field.width));
        const veil = `${colours.panel}a8`;
        const boxes: number[] = [];
        if (model.stretches) {
            let left = field.x;
            for (const [from, to] of [...model.stretches, [Infinity, Infinity]]) {
                const [a, b] = from === Infinity ? [field.x + field.width, 0] : [at(from), Math.max(at(to), at(from) + 1)];
                if (a > left) for (const box of [top, field]) boxes.push(left, box.y, a - left, box.height);
                left = Math.max(left, b);
                if (from !== Infinity) p.frame(a, top.y - 2, Math.max(2, b - a), field.y + field.height - top.y + 2, colours.accent, 0, '', 1.5);
            }
        }
        if (model.phases && this.rows() > 1) {
            const chosen = new Set(model.phases);
            for (let row = 0; row < this.rows(); ++row) {
                const [from, to] = this.phasesOf(row, row);
                let some = false;
                for (let phase = from; phase <= to && !some; ++phase) some = chosen.has(phase);
                const [y0, y1] = [this.edges[row], this.edges[row + 1]].map((share) => field.y + share * field.height);
                if (!some) boxes.push(field.x, y0, field.width, y1 - y0);
                else p.rects([field.x - 4, y0, 3, y1 - y0], colours.accent);
            }
        }
        p.rects(boxes, veil);
        if (this.dragged) p.frame(this.dragged.x, this.dragged.y, this.dragged.width, this.dragged.height, colours.accent, 0, `${colours.accent}22`);
    }

    private drawCursor(p: Painter): void {
        const { model, cursor, layout } = this;
        if (!model || !cursor) return this.tell('Drag selects addresses and phases, a click a phase or a structure; wheel or +/− zooms. Press ? for keys.');
        const x = layout.field.x + ((cursor.x - model.range[0]) / this.width()) * layout.field.width;
        if (x < layout.field.x || x > layout.field.x + layout.field.width) return;
        p.line([[x, layout.top.y], [x, layout.field.y + layout.field.height]], theme().faint, 1, [3, 3]);
        if (cursor.row >= 0 && this.rows() > 1) {
            const [y0, y1] = [this.edges[cursor.row], this.edges[cursor.row + 1]].map((share) => layout.field.y + share * layout.field.height);
            p.frame(layout.field.x, y0, layout.field.width, y1 - y0, theme().faint);
        }
        this.tell(this.textAt(model, cursor));
    }

    /** Untouched where it says so already: each change costs a layout of the page. */
    private tell(text: string): void {
        if (text !== this.told) this.readout.textContent = this.told = text;
    }

    private textAt(model: FieldModel, { x, row }: { x: number; row: number }): string {
        const address = addressAt(model.axis, x);
        if (address === null) return 'no counts in between';
        const where = structureAt(model.structures, address) ? `${describe(model.structures, address)} · ${hex(address)}` : hex(address);
        if (row >= 0 && model.heat) {
            const mean = meanAt(model.heat, model.drawn, row, x);
            return `${this.nameOf(row)} · ${where} · ${Number.isNaN(mean) ? 'no lines' : `${this.text(mean)} ${model.meaning} and phase`}`;
        }
        if (!model.buckets) return where;
        const { mean, min, max } = columnsOf(model.buckets, x, x + this.width() / this.layout.field.width, 1);
        if (Number.isNaN(mean[0])) return `${where} · no lines`;
        return `${where} · ${this.text(mean[0])}${min[0] === max[0] ? '' : ` (${this.text(min[0])} … ${this.text(max[0])})`} ${model.meaning}`;
    }

    private nameOf(row: number): string {
        const [from, to] = this.phasesOf(row, row);
        return from === to ? (this.model!.phaseNames[from] ?? `phase ${from}`) : `phases ${from}–${to}`;
    }

    private table(): Table {
        const { model } = this;
        if (!model?.buckets) return { caption: 'not read yet', headers: [], rows: [] };
        return fieldTable(model, Array.from({ length: this.rows() }, (_, row) => this.nameOf(row)));
    }
}
