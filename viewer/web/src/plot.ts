// SPDX-License-Identifier: BSD-3-Clause
// AddressPlot: panels over a shared axis of addresses, without a field: what is compared, cells of sweeps.
import { placeOfStructure, addressesIn } from './axis';
import { FieldPlot } from './field';
import type { Figure } from './figure';
import { PanelReader, type PanelSource } from './panel_data';
import type { ScaleKind } from './panels';
import type { Axis, Structure } from './protocol';

export interface PlotOptions {
    name: () => string;
    title: () => string;
    structures: () => Structure[];
    /** `sight`: the addresses that are shown; null: all. */
    python: (sight: [bigint, bigint][] | null) => string;
    /** The stretch that is shown has changed by hand; null: all. */
    moved: (range: [number, number] | null) => void;
}

export class AddressPlot {
    readonly figure: Figure;
    readonly element: HTMLElement;
    readonly frames: number[];
    private readonly field: FieldPlot;
    private readonly reader = new PanelReader(() => this.draw());
    private axis: Axis = { segments: [], bytes: 1 };
    private range: [number, number] = [0, 1];
    private scale: ScaleKind = 'auto';
    private shared = false;

    constructor(private readonly options: PlotOptions) {
        this.field = new FieldPlot({
            name: options.name,
            title: options.title,
            label: () => `${options.title()}.`,
            python: () => options.python(this.range[0] <= 0 && this.range[1] >= this.axis.bytes ? null : addressesIn(this.axis, ...this.range)),
            look: (from, to) => this.show([from, to]),
            all: () => this.show(null),
            pick: (structure) => {
                const place = placeOfStructure(this.axis, structure);
                if (place) this.show([place[0], Math.max(place[1], place[0] + 64)]);
            },
        });
        this.figure = this.field.figure;
        this.element = this.figure.element;
        this.frames = this.field.frames;
    }

    /** New data: all panels are read again. */
    set(axis: Axis, panels: PanelSource[], range: [number, number] | null, scale: ScaleKind, shared = false): void {
        [this.axis, this.range, this.scale, this.shared] = [axis, range ?? [0, axis.bytes], scale, shared];
        this.reader.set(axis, panels, this.range);
        this.draw();
    }

    /** The same panels, another look. */
    look(range: [number, number] | null, scale: ScaleKind): void {
        const next = range ?? [0, this.axis.bytes];
        if (next.join() !== this.range.join()) this.reader.look(next as [number, number]);
        [this.range, this.scale] = [next as [number, number], scale];
        this.draw();
    }

    private show(range: [number, number] | null): void {
        this.look(range, this.scale);
        this.options.moved(range);
    }

    private draw(): void {
        const { axis, range, scale, shared } = this;
        const none = { heat: null, drawn: range, time: null, timeColours: [], phaseNames: [], cycles: null, phases: null, stretches: null, message: '' };
        this.field.set({ ...none, axis, range, scale, shared, panels: this.reader.panels, structures: this.options.structures(), field: false, rate: false });
    }

    quiet = (): Promise<void> => this.reader.quiet();

    totals = (): Record<string, number> => this.reader.totals();

    dispose(): void {
        this.reader.dispose();
        this.figure.dispose();
    }
}
