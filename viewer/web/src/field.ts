// SPDX-License-Identifier: BSD-3-Clause
// FieldPlot: panels over a shared axis of addresses, and under one of them the field: phases down, cells of counts, and counts over
// time beside it. Drawn from what it is given; what hands do with it is told to others.
import { scaleLinear } from 'd3-scale';
import { drawAddresses, drawKey, drawRows, drawSelection, drawStrip, drawTime, shade, type Across, type Rows, type Shaded } from './field_draw';
import { addressAt, addressesIn, describe, hex, placeOfStructure, structureAt } from './axis';
import { theme } from './colours';
import { h } from './dom';
import { inside, layoutOf, rowEdges, type Box, type Layout } from './field_layout';
import { meanAt, tableOf } from './field_table';
import { Figure } from './figure';
import { Gestures, moveSight, placeAt, type Sight } from './gestures';
import { brief, full, percent } from './numbers';
import type { Painter } from './paint';
import { PanelReader, type PanelSource } from './panel_data';
import { columnsOf, dataFor, drawBreaks, drawPanel, endOfScale, stretchOf, type Panel, type ScaleKind } from './panels';
import type { Axis, Column, Heat, Structure } from './protocol';

/** All that is shown; at first nothing. */
const nothing = {
    panels: [] as Panel[],
    /** Panels have one scale in common. */
    shared: false,
    axis: { segments: [], bytes: 1 } as Axis,
    structures: [] as Structure[],
    /** What is in sight, of the axis. */
    range: [0, 1] as [number, number],
    scale: 'auto' as ScaleKind,
    /** Whether there is a field under the panel. */
    field: false,
    /** Of the field: cells are misses per access. */
    rate: false,
    /** Cells, and the stretch of the axis that they cover. */
    heat: null as Heat | null,
    drawn: [0, 1] as [number, number],
    /** Of the addresses that are chosen, by phase, in parts that are stacked; of rates two, misses and accesses. */
    time: null as Column[] | null,
    timeColours: [] as string[],
    phaseNames: [] as string[],
    /** How long phases are, where rows are as high. */
    cycles: null as Column | null,
    /** What is selected; null: everything. */
    phases: null as number[] | null,
    stretches: null as [number, number][] | null,
    /** Instead of cells that are not there. */
    message: '',
};

export type FieldModel = typeof nothing;

export interface FieldActs {
    name: () => string;
    title: () => string;
    /** `sight`: the addresses that are shown; null: all. */
    python: (sight: [bigint, bigint][] | null) => string;
    /** The stretch that is shown has changed by hand; null: all. */
    look: (range: [number, number] | null) => void;
    /** Selected by a brush: a stretch of the axis and phases; null: as before. `again`: takes back what is selected so. */
    brush?: (stretch: [number, number] | null, phases: [number, number] | null, again: boolean) => void;
    /** A structure that was clicked; default: it fills the width. */
    pick?: (structure: Structure) => void;
    clear?: () => void;
    zoomToSelection?: () => void;
}

export class FieldPlot {
    readonly figure: Figure;
    private model = nothing;
    private readonly reader = new PanelReader(() => this.set({ panels: this.reader.panels }));
    private layout: Layout = layoutOf(800, 1, 0, true);
    private edges: number[] = [0, 1];
    private shaded: { heat: Heat; key: string; shaded: Shaded } | null = null;
    /** A place on the axis and a row; -1: in no row. */
    private cursor: { x: number; row: number } | null = null;
    private dragged: Box | null = null;
    private readonly sight: Sight;
    private readonly readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' }, ' ');
    private told = '';
    /** Milliseconds that the last frames took to draw. */
    readonly frames: number[] = [];

    constructor(private readonly acts: FieldActs) {
        this.figure = new Figure({
            name: acts.name,
            label: () => `${acts.title()}.${this.sums()} Arrows move the cursor, with Shift what is shown; plus and minus zoom, 0 shows all${acts.brush ? ', Enter selects' : ''}.`,
            height: (width) => this.layoutFor(width).height,
            draw: (p) => this.draw(p),
            table: () => tableOf(acts.title(), this.model, this.rowNames()),
            python: () => acts.python(this.showsAll() ? null : addressesIn(this.model.axis, ...this.model.range)),
        });
        const { canvas } = this.figure;
        canvas.classList.add('zooms', 'field');
        canvas.insertAdjacentElement('afterend', this.readout);
        this.sight = {
            range: () => this.model.range,
            whole: () => [0, this.model.axis.bytes],
            least: 64,
            box: () => this.layout.all,
            look: (range) => {
                this.look(range);
                acts.look(range);
            },
        };
        new Gestures(canvas, this.sight, {
            select: (from, to, done, fromY, toY) => this.drag(from, to, fromY, toY, done),
            hover: (x, y) => this.point(x, y),
            click: (x, y) => this.click(x, y),
            key: (key, shift) => this.key(key, shift),
            middle: () => this.cursor?.x,
        });
    }

    /** Panels that are read anew, on an axis. */
    read(axis: Axis, sources: PanelSource[], range: [number, number] | null): void {
        const sight = range ?? [0, axis.bytes];
        this.reader.set(axis, sources, sight);
        this.set({ axis, range: sight, panels: this.reader.panels });
    }

    /** The same panels, another stretch of the axis; null: all. */
    look(range: [number, number] | null): void {
        const next = range ?? [0, this.model.axis.bytes];
        if (next.join() !== this.model.range.join()) void this.reader.look(next);
        this.set({ range: next });
    }

    private showsAll(): boolean {
        return this.model.range[0] <= 0 && this.model.range[1] >= this.model.axis.bytes;
    }

    private layoutFor(width: number): Layout {
        const { panels, field, structures } = this.model;
        return layoutOf(width, panels.length, field ? this.rows() : 0, structures.length > 0);
    }

    private rows(): number {
        return this.model.heat?.rows ?? Math.max(1, Math.min(256, this.model.time?.[0]?.length ?? 1));
    }

    private readonly rowData: Rows = { edges: [], phasesOf: (row) => this.phasesOf(row, row) };

    /** Other data, or another look at them. */
    set(change: Partial<FieldModel>): void {
        this.model = { ...this.model, ...change };
        const phases = this.model.heat?.edges ?? Array.from({ length: this.rows() + 1 }, (_, i) => i);
        this.edges = this.rowData.edges = rowEdges(phases, this.model.cycles);
        this.figure.changed();
    }

    private sums(): string {
        const text = ({ rate, whole }: Panel) => (whole ? `: ${rate ? percent(whole.total) : full(whole.total)} in all` : '');
        const told = this.model.panels.map((each) => `${each.title}, ${each.meaning}${text(each)}`);
        return told.length ? ` ${told.join('; ')}.` : '';
    }

    private width(): number {
        return this.model.range[1] - this.model.range[0];
    }

    private placeAt(pixel: number): number {
        return placeAt(this.sight, pixel);
    }

    private get across(): Across {
        const { x, width } = this.layout.all;
        return scaleLinear(this.model.range, [x, x + width]);
    }

    private rowAt(y: number): number {
        const { field } = this.layout;
        const share = field ? (y - field.y) / field.height : -1;
        if (!(share >= 0 && share < 1)) return -1;
        let row = 0;
        while (row + 2 < this.edges.length && this.edges[row + 1] <= share) ++row;
        return row;
    }

    /** First and last phase of some rows. */
    private phasesOf(first: number, last: number): [number, number] {
        const edges = this.model.heat?.edges;
        return edges ? [edges[first], edges[last + 1] - 1] : [first, last];
    }

    private point(x: number | null, y: number): void {
        this.readout.setAttribute('aria-live', 'off');
        const { all } = this.layout;
        this.cursor = x !== null && x >= all.x && x < all.x + all.width ? { x: this.placeAt(x), row: this.rowAt(y) } : null;
        this.figure.redraw();
    }

    /** Across a stretch is selected, down in the field phases; where nothing can be selected dragging zooms. */
    private drag(x0: number, x1: number, y0: number, y1: number, done: boolean): void {
        const { all, field, time } = this.layout;
        const clamp = (at: number, from: number, size: number) => Math.min(from + size, Math.max(from, at));
        const [a, b] = [Math.min(x0, x1), Math.max(x0, x1)].map((x) => clamp(x, all.x, all.width));
        const rows = field && this.acts.brush && this.rows() > 1 && y0 >= field.y ? field : all;
        const [c, d] = [Math.min(y0, y1), Math.max(y0, y1)].map((y) => clamp(y, rows.y, rows.height - 0.01));
        const across = !inside(time, x0, y0) && b - a > 4;
        const down = rows === field && d - c > 4;
        this.dragged = { x: across ? a : all.x, width: across ? b - a : all.width, y: down ? c : rows.y, height: down ? d - c : rows.height };
        if (done) {
            this.dragged = null;
            const [from, to] = [this.placeAt(a), this.placeAt(b)];
            if (this.acts.brush) this.acts.brush(across ? [from, to] : null, down ? this.phasesOf(this.rowAt(c), this.rowAt(d)) : null, false);
            else if (across) moveSight(this.sight, from, Math.max(64, to - from));
        }
        this.figure.redraw();
    }

    private click(x: number, y: number): void {
        const { model, layout } = this;
        const address = addressAt(model.axis, this.placeAt(x));
        if (y >= layout.strip && y < layout.addresses && address !== null) {
            const structure = structureAt(model.structures, address);
            if (structure) this.pick(structure);
            return;
        }
        const row = this.rowAt(y);
        if (row >= 0 && this.rows() > 1) return this.acts.brush?.(null, this.phasesOf(row, row), true);
        const data = model.panels[0] && dataFor(model.panels[0], ...model.range);
        if (data && inside(layout.all, x, y)) this.acts.brush?.(stretchOf(data, this.placeAt(x), this.width() / layout.all.width), null, false);
    }

    private pick(structure: Structure): void {
        const place = placeOfStructure(this.model.axis, structure);
        if (this.acts.pick) this.acts.pick(structure);
        else if (place) this.sight.look([place[0], Math.max(place[1], place[0] + 64)]);
    }

    private key(key: string, shift: boolean): boolean {
        const { model, acts } = this;
        const width = this.width();
        const step = (by: number, down: number) => {
            this.readout.setAttribute('aria-live', 'polite'); // who moves by keys may not see it
            const at = this.cursor ?? { x: model.range[0] + width / 2, row: 0 };
            const x = Math.min(model.range[1] - 1e-6 * width, Math.max(model.range[0], at.x + (by * width) / 64));
            this.cursor = { x, row: Math.min(this.rows() - 1, Math.max(0, at.row + down)) };
            this.figure.redraw();
        };
        const known: Record<string, () => void> = {
            ArrowUp: () => step(0, -1),
            ArrowDown: () => step(0, 1),
            ...(shift || !acts.brush ? {} : { ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0) }),
            z: () => acts.zoomToSelection?.(),
            ...(acts.clear ? { Escape: acts.clear } : {}),
            Enter: () => this.enter(model),
        };
        known[key]?.();
        return key in known;
    }

    /** Selects the structure and the phase under the cursor. */
    private enter({ axis, structures }: FieldModel): void {
        const { cursor } = this;
        if (!cursor) return;
        if (cursor.row >= 0 && this.rows() > 1) this.acts.brush?.(null, this.phasesOf(cursor.row, cursor.row), false);
        const address = addressAt(axis, cursor.x);
        const structure = address !== null && structureAt(structures, address);
        if (structure) this.pick(structure);
    }

    private draw(p: Painter): void {
        const begin = performance.now();
        this.layout = this.layoutFor(p.width);
        const { model, layout } = this;
        if (!model) return;
        this.drawPanels(p, model);
        if (layout.field) this.drawField(p, model, layout.field);
        if (layout.time) drawTime(p, this.rowData, layout.time, model);
        if (model.structures.length > 0) drawStrip(p, layout.strip, this.across, model.axis, model.structures);
        drawAddresses(p, layout.addresses, this.across, model.axis);
        drawSelection(p, this.rowData, layout, this.across, model);
        if (this.dragged) p.frame(this.dragged.x, this.dragged.y, this.dragged.width, this.dragged.height, theme().accent, 0, `${theme().accent}22`);
        this.drawCursor(p, model);
        this.frames.push(performance.now() - begin);
        if (this.frames.length > 400) this.frames.shift();
    }

    private drawPanels(p: Painter, model: FieldModel): void {
        const { panels, range, scale } = model;
        const alike = model.shared ? panels.filter((each) => !each.signed && !each.apart) : [];
        const common = alike.length ? this.commonRange(model, alike) : null;
        panels.forEach((panel, i) => {
            drawBreaks(p, this.across, model.axis, this.layout.panels[i]);
            drawPanel(p, this.layout.panels[i], panel, range, scale, alike.includes(panel) ? common : null);
        });
    }

    /** The ends of a scale that panels share. */
    private commonRange({ range, scale }: FieldModel, panels: Panel[]): [number, number] | null {
        let [least, most] = [Infinity, -Infinity];
        for (const panel of panels) {
            const data = dataFor(panel, ...range);
            if (!data) continue;
            const columns = columnsOf(data, ...range, Math.round(this.layout.all.width));
            least = Math.min(least, scale === 'linear' ? columns.least : columns.leastPositive);
            most = Math.max(most, endOfScale(panel.rate ? columns.most : data.clip, columns.most, scale));
        }
        return most >= least ? [least, most] : null;
    }

    private drawField(p: Painter, model: FieldModel, field: Box): void {
        const { heat, drawn } = model;
        const colours = theme();
        if (heat) {
            const key = `${model.scale}${colours.dark}`;
            if (this.shaded?.heat !== heat || this.shaded.key !== key) this.shaded = { heat, key, shaded: shade(heat, model.scale) };
            const { shaded } = this.shaded;
            const [from, to] = drawn.map(this.across);
            p.within(field.x, field.y, field.width, field.height, () =>
                p.cells(from, field.y, to - from, field.height, heat.columns, shaded.cells, this.edges),
            );
            drawKey(p, field.x, 30, field.width, shaded, model);
        }
        if (!heat || model.message)
            p.text(field.x + field.width / 2, field.y + field.height / 2, model.message || 'reading …', { colour: colours.faint, anchor: 'middle' });
        p.frame(field.x - 0.5, field.y - 0.5, field.width + 1, field.height + 1, colours.line);
        if (this.rows() > 1) drawRows(p, this.rowData, field, model);
    }

    private drawCursor(p: Painter, model: FieldModel): void {
        const { cursor, layout } = this;
        const select = this.acts.brush ? 'Drag selects addresses and phases, a click a phase or a structure; wheel or +/− zooms.' : 'Wheel or +/− zooms, drag selects, arrows move, 0 shows all; click a structure to fill the width.';
        if (!cursor) return this.tell(`${select} Solid: mean of the lines in a column; pale: up to the largest.`);
        const x = this.across(cursor.x);
        if (x < layout.all.x || x > layout.all.x + layout.all.width) return;
        p.line([[x, layout.all.y], [x, layout.all.y + layout.all.height]], theme().faint, 1, [3, 3]);
        if (layout.field && cursor.row >= 0 && this.rows() > 1) {
            const [y0, y1] = [this.edges[cursor.row], this.edges[cursor.row + 1]].map((share) => layout.field!.y + share * layout.field!.height);
            p.frame(layout.field.x, y0, layout.field.width, y1 - y0, theme().faint);
        }
        this.tell(this.textAt(model, cursor));
    }

    /** Untouched where it says so already: each change costs a layout of the page. */
    private tell(text: string): void {
        if (text !== this.told) this.readout.textContent = this.told = text;
    }

    private textAt({ axis, structures, panels, range, heat, drawn, rate }: FieldModel, { x, row }: { x: number; row: number }): string {
        const address = addressAt(axis, x);
        if (address === null) return 'no counts in between';
        const where = structureAt(structures, address) ? `${describe(structures, address)} · ${hex(address)}` : hex(address);
        const text = (value: number, share: boolean) => (share ? percent(value) : brief(value));
        if (row >= 0 && heat) {
            const mean = meanAt(heat, drawn, row, x);
            return `${this.nameOf(row)} · ${where} · ${Number.isNaN(mean) ? 'no lines' : `${text(mean, rate)} ${panels[0].meaning} and phase`}`;
        }
        const parts = panels.map((panel) => {
            const data = dataFor(panel, ...range);
            if (!data) return `${panel.title}: …`;
            const { mean, min, max } = columnsOf(data, x, x + this.width() / this.layout.all.width, 1);
            if (Number.isNaN(mean[0])) return `${panel.title}: –`;
            return `${panel.title}: ${text(mean[0], panel.rate)}${min[0] === max[0] ? '' : ` (${text(min[0], panel.rate)} … ${text(max[0], panel.rate)})`}`;
        });
        return `${where} · ${parts.join(' · ')}`;
    }

    private nameOf(row: number): string {
        const [from, to] = this.phasesOf(row, row);
        return from === to ? (this.model.phaseNames[from] ?? `phase ${from}`) : `phases ${from}–${to}`;
    }

    private rowNames(): string[] {
        return this.model.field ? Array.from({ length: this.rows() }, (_, row) => this.nameOf(row)) : [];
    }

    /** Sums over all by panel; for tests. */
    totals = (): Record<string, number> => Object.fromEntries(this.model.panels.map(({ title, whole }) => [title, whole?.total ?? NaN]));
}
