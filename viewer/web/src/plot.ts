// SPDX-License-Identifier: BSD-3-Clause
// AddressPlot: panels over a shared axis of addresses that people move through: wheel, drag, touch and keys.
import { drawAddresses, drawStrip } from './address_axis';
import { addressAt, addressesIn, describe, hex, placeOfStructure, structureAt } from './axis';
import { Superseded } from './client';
import { theme } from './colours';
import { h, type Table } from './dom';
import { Figure } from './figure';
import { brief, full, percent } from './numbers';
import type { Painter } from './paint';
import * as draw from './panels';
import { dataFor, layoutOf, left, type Layout, type Panel, type ScaleKind } from './panels';
import { Gestures } from './gestures';
import { tableOf } from './plot_table';
import type { Axis, Buckets, Stretch, Structure } from './protocol';

/** A panel and where its numbers come from. */
export interface PanelSource extends Omit<Panel, 'whole' | 'fine' | 'message' | 'drawn'> {
    fetch: (stretch: Stretch) => Promise<Buckets>;
}

export interface PlotOptions {
    name: () => string;
    title: () => string;
    structures: () => Structure[];
    /** `sight`: the addresses that are shown; null: all. */
    python: (sight: [bigint, bigint][] | null) => string;
    /** The stretch that is shown has changed by hand; null: all. */
    moved: (range: [number, number] | null) => void;
    /** A place was clicked: a bin's first and last byte. */
    picked?: (from: bigint, to: bigint) => void;
}

/** Columns that are asked for: of the whole, and of the part that is shown, without its margins. */
const columnsOfWhole = 2048;
const columnsInSight = 2048;

export class AddressPlot {
    readonly element: HTMLElement;
    readonly figure: Figure;
    private axis: Axis = { segments: [], bytes: 1 };
    private panels: (Panel & PanelSource)[] = [];
    private view: [number, number] = [0, 1];
    private scale: ScaleKind = 'auto';
    private chosen = '';
    private sharedScale = false;
    private layout: Layout = layoutOf(800, 1, true);
    private pointer: number | null = null;
    private selection: [number, number] | null = null;
    private timer = 0;
    private generation = 0;
    private readonly readout: HTMLElement;
    private told = '';
    /** Milliseconds that the last frames took to draw. */
    readonly frames: number[] = [];
    /** When all panels had shown something for the first time. */
    private settled: (() => void)[] = [];
    private pending = 0;

    constructor(private readonly options: PlotOptions) {
        this.figure = new Figure({
            name: options.name,
            label: () => this.label(),
            height: (width) => layoutOf(width, this.panels.length, this.hasStrip()).height,
            draw: (p) => this.draw(p),
            table: () => this.table(),
            python: () => options.python(this.seesAll() ? null : addressesIn(this.axis, ...this.view)),
        });
        this.readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' }, ' ');
        this.figure.canvas.insertAdjacentElement('afterend', this.readout);
        this.figure.canvas.classList.add('zooms');
        this.figure.canvas.title = '';
        this.element = this.figure.element;
        new Gestures(this.figure.canvas, {
            zoom: (at, factor) => this.zoom(this.placeAt(at), factor),
            pan: (pixels) => this.pan((pixels / this.layout.plotWidth) * (this.view[1] - this.view[0])),
            select: (from, to, done) => this.select(from, to, done),
            hover: (at) => {
                this.pointer = at;
                this.figure.redraw();
            },
            click: (x, y) => this.click(x, y),
            reset: () => this.show(null),
            key: (key) => this.key(key),
        });
    }

    private seesAll(): boolean {
        return this.view[0] <= 0 && this.view[1] >= this.axis.bytes;
    }

    private hasStrip(): boolean {
        return this.options.structures().length > 0;
    }

    /** New data: all panels are read again. */
    set(
        axis: Axis,
        panels: PanelSource[],
        range: [number, number] | null,
        scale: ScaleKind,
        chosen: string,
        sharedScale = false,
    ): void {
        this.axis = axis;
        this.scale = scale;
        this.chosen = chosen;
        this.sharedScale = sharedScale;
        this.panels = panels.map((panel) => ({ ...panel, whole: null, fine: null, message: '', drawn: null }));
        this.view = range ?? [0, axis.bytes];
        ++this.generation;
        this.figure.redraw();
        const whole: Stretch = { x0: 0, x1: axis.bytes, count: columnsOfWhole, sight: [0, axis.bytes] };
        for (const panel of this.panels) void this.load(panel, whole, 'whole');
        if (range) this.refine();
    }

    /** The same panels, another look. */
    look(range: [number, number] | null, scale: ScaleKind, chosen: string): void {
        const view: [number, number] = range ?? [0, this.axis.bytes];
        const moved = view[0] !== this.view[0] || view[1] !== this.view[1];
        this.scale = scale;
        this.chosen = chosen;
        this.view = view;
        this.figure.changed();
        if (moved) this.refine();
    }

    /** Resolves when nothing is being read. */
    quiet(): Promise<void> {
        return this.pending === 0 && this.timer === 0
            ? Promise.resolve()
            : new Promise((resolve) => this.settled.push(resolve));
    }

    private async load(panel: Panel & PanelSource, stretch: Stretch, into: 'whole' | 'fine'): Promise<void> {
        const generation = this.generation;
        ++this.pending;
        try {
            const data = await panel.fetch(stretch);
            if (generation === this.generation) panel[into] = data;
        } catch (error) {
            if (!(error instanceof Superseded) && into === 'whole')
                panel.message = error instanceof Error ? error.message : String(error);
            if (!(error instanceof Superseded) && into === 'fine' && generation === this.generation) panel.fine = null;
        } finally {
            --this.pending;
            if (generation === this.generation) this.figure.changed();
            this.tellSettled();
        }
    }

    private tellSettled(): void {
        if (this.pending > 0 || this.timer !== 0) return;
        this.settled.forEach((each) => each());
        this.settled = [];
    }

    /** Reads what is shown in more detail, when the hand has come to rest. */
    private refine(): void {
        if (this.timer !== 0) window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
            this.timer = 0;
            if (this.seesAll()) return this.tellSettled();
            // columns begin and end where the view does, so that its table has the lines in it, and no others
            const [x0, x1] = this.view;
            const width = (x1 - x0) / columnsInSight;
            const before = Math.min(columnsInSight / 2, Math.floor(x0 / width));
            const behind = Math.min(columnsInSight / 2, Math.floor((this.axis.bytes - x1) / width));
            const count = before + columnsInSight + behind;
            const stretch = { x0: x0 - before * width, x1: x1 + behind * width, count, sight: this.view };
            for (const panel of this.panels) void this.load(panel, stretch, 'fine');
            this.tellSettled();
        }, 60);
    }

    private placeAt(pixel: number): number {
        return this.view[0] + ((pixel - left) / this.layout.plotWidth) * (this.view[1] - this.view[0]);
    }

    show(range: [number, number] | null): void {
        this.look(range, this.scale, range === null ? '' : this.chosen);
        this.options.moved(range);
    }

    private zoom(at: number, factor: number): void {
        const [x0, x1] = this.view;
        const width = Math.min(this.axis.bytes, Math.max(64, (x1 - x0) * factor));
        const share = Math.min(1, Math.max(0, (at - x0) / (x1 - x0)));
        this.moveTo(at - share * width, width);
    }

    private pan(by: number): void {
        this.moveTo(this.view[0] + by, this.view[1] - this.view[0]);
    }

    private moveTo(from: number, width: number): void {
        const begin = Math.min(Math.max(0, from), Math.max(0, this.axis.bytes - width));
        const all = width >= this.axis.bytes * 0.999;
        this.show(all ? null : [begin, begin + width]);
    }

    private select(from: number, to: number, done: boolean): void {
        const clamp = (x: number) => Math.min(left + this.layout.plotWidth, Math.max(left, x));
        this.selection = [clamp(Math.min(from, to)), clamp(Math.max(from, to))];
        if (done) {
            const [a, b] = this.selection.map((x) => this.placeAt(x));
            this.selection = null;
            if (b - a >= 4) return this.moveTo(a, Math.max(64, b - a));
        }
        this.figure.redraw();
    }

    private key(key: string): boolean {
        const width = this.view[1] - this.view[0];
        const middle = (this.view[0] + this.view[1]) / 2;
        const acts: Record<string, () => void> = {
            ArrowLeft: () => this.pan(-width / 5),
            ArrowRight: () => this.pan(width / 5),
            '+': () => this.zoom(middle, 0.5),
            '=': () => this.zoom(middle, 0.5),
            '-': () => this.zoom(middle, 2),
            '0': () => this.show(null),
            Escape: () => this.show(null),
            Home: () => this.moveTo(0, width),
            End: () => this.moveTo(this.axis.bytes - width, width),
        };
        const act = acts[key];
        act?.();
        return act !== undefined;
    }

    private click(x: number, y: number): void {
        const place = this.placeAt(x);
        const address = addressAt(this.axis, place);
        if (address === null || x < left) return;
        const strip = draw.stripTop(this.layout, this.panels.length);
        if (this.hasStrip() && y >= strip && y < strip + draw.stripHeight) {
            const structure = structureAt(this.options.structures(), address);
            if (structure) this.zoomTo(structure);
            return;
        }
        const data = this.panels.map((panel) => dataFor(panel, ...this.view)).find((each) => each !== null);
        if (!data) return;
        const perPixel = (this.view[1] - this.view[0]) / this.layout.plotWidth;
        // the lines that the column stands for begin in its stretch; in a part of a line it is the line's
        const [begin, end] = draw.stretchOf(data, place, perPixel);
        const [from, to] = addressesIn(this.axis, begin, end)[0] ?? [address, address + 1n];
        this.options.picked?.(from, to);
    }

    /** Shows one structure in full width. */
    zoomTo(structure: Structure): void {
        const place = placeOfStructure(this.axis, structure);
        if (!place) return;
        this.chosen = structure.name;
        // all lines of which a part is in it
        const grain = Math.max(...this.panels.map((panel) => panel.whole?.grain ?? 1), 1);
        const unit = BigInt(grain <= 4096 ? grain : 1);
        const from = Math.max(0, place[0] - Number(structure.base % unit));
        const rest = Number((structure.base + BigInt(structure.bytes)) % unit);
        const to = Math.min(this.axis.bytes, place[1] + (rest > 0 ? Number(unit) - rest : 0));
        this.moveTo(from, Math.max(to - from, grain));
    }

    private draw(p: Painter): void {
        const begin = performance.now();
        const [x0, x1] = this.view;
        const strip = this.hasStrip();
        this.layout = layoutOf(p.width, this.panels.length, strip);
        const { layout } = this;
        const bottom = draw.stripTop(layout, this.panels.length);
        draw.drawBreaks(p, layout, this.axis, x0, x1, this.panels.length);
        const alike = this.sharedScale ? this.panels.filter((each) => !each.signed && !each.apart) : [];
        const shared = alike.length ? this.commonRange(alike) : null;
        const uneven = (list: Panel[]) => list.some((each) => dataFor(each, x0, x1)?.uneven);
        this.panels.forEach((panel, i) => {
            const [group, range] = alike.includes(panel) ? [alike, shared] : [[panel], null];
            draw.drawPanel(p, layout, i, panel, x0, x1, this.scale, uneven(group), range);
        });
        if (strip)
            drawStrip(p, bottom, this.axis, this.options.structures(), x0, x1, layout.plotWidth, this.chosen);
        drawAddresses(
            p,
            draw.addressesTop(layout, this.panels.length, strip),
            this.axis,
            x0,
            x1,
            layout.plotWidth,
        );
        this.drawPointer(p, bottom);
        this.frames.push(performance.now() - begin);
        if (this.frames.length > 400) this.frames.shift();
    }

    private commonRange(panels: (Panel & PanelSource)[]): [number, number] | null {
        let [least, most] = [Infinity, -Infinity];
        for (const panel of panels) {
            const data = dataFor(panel, ...this.view);
            if (!data) continue;
            const columns = draw.columnsOf(data, ...this.view, Math.round(this.layout.plotWidth));
            least = Math.min(least, this.scale === 'linear' ? columns.least : columns.leastPositive);
            most = Math.max(most, columns.most);
        }
        return most >= least ? [least, most] : null;
    }

    private drawPointer(p: Painter, bottom: number): void {
        const colours = theme();
        if (this.selection) {
            const [a, b] = this.selection;
            p.frame(
                a,
                draw.panelTop(this.layout, 0),
                b - a,
                bottom - draw.panelTop(this.layout, 0),
                colours.accent,
                0,
                `${colours.accent}22`,
            );
        }
        const x = this.pointer;
        if (x === null || x < left || x > left + this.layout.plotWidth) {
            this.tell(
                'Solid: mean of the lines in a column; pale: up to the largest. Wheel or +/− zooms, drag selects, arrows move, 0 shows all; click a structure to fill the width, a column for its lines.',
            );
            return;
        }
        p.line(
            [
                [x, draw.panelTop(this.layout, 0)],
                [x, bottom],
            ],
            colours.faint,
            1,
            [3, 3],
        );
        this.tell(this.textAt(x));
    }

    /** The line under the picture; untouched where it says so already, as each change costs a layout of the page. */
    private tell(text: string): void {
        if (text !== this.told) this.readout.textContent = this.told = text;
    }

    private textAt(x: number): string {
        const place = this.placeAt(x);
        const address = addressAt(this.axis, place);
        if (address === null) return 'no counts in between';
        const perPixel = (this.view[1] - this.view[0]) / this.layout.plotWidth;
        const parts = this.panels.map((panel) => {
            const data = dataFor(panel, ...this.view);
            if (!data) return `${panel.title}: …`;
            const { mean, min, max } = draw.columnsOf(data, place, place + perPixel, 1);
            const text = (value: number) => (panel.rate ? percent(value) : brief(value));
            if (Number.isNaN(mean[0])) return `${panel.title}: –`;
            return min[0] === max[0]
                ? `${panel.title}: ${text(mean[0])}`
                : `${panel.title}: ${text(mean[0])} (${text(min[0])} … ${text(max[0])})`;
        });
        const structures = this.options.structures();
        const where = structureAt(structures, address)
            ? `${describe(structures, address)} · ${hex(address)}`
            : hex(address);
        return `${where} · ${parts.join(' · ')}`;
    }

    private label(): string {
        const totals = this.panels.map(
            (panel) =>
                `${panel.title}, ${panel.meaning}${panel.whole ? `: ${panel.rate ? percent(panel.whole.total) : full(panel.whole.total)} in all` : ''}`,
        );
        return `${this.options.title()}. ${totals.join('; ')}. Plus and minus zoom, arrows move, 0 shows all.`;
    }

    /** Columns as they are drawn, in the stretch that is shown. */
    table(): Table {
        const data = this.panels.map((panel) => dataFor(panel, ...this.view));
        return tableOf(this.options.title(), this.panels, data, this.axis, this.view, this.options.structures());
    }

    /** Numbers that the panels show, for tests: sum over all by panel. */
    totals(): Record<string, number> {
        return Object.fromEntries(this.panels.map((panel) => [panel.title, panel.whole?.total ?? NaN]));
    }
}
