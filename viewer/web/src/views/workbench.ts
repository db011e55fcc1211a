// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details of what is selected, and tables. All that is chosen
// filters all of them.
import { absent, baseName, chosenPhases, phaseCount, phasesTitle, titleOf, type App, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { chosenOf, selectionText, selectStructure, stretchesOf, type Chosen } from '../chosen';
import { Superseded } from '../client';
import { rowsOf, sumOf } from '../cube';
import { theme } from '../colours';
import { h } from '../dom';
import { FieldPlot, type FieldModel } from '../field';
import { askHeat, bucketsOfSpread, sightStretch, spreadOf, timeOf, wholeStretch } from '../field_data';
import { cacheOf } from '../machine';
import { brief, bytes } from '../numbers';
import type { Axis, Buckets, Selected } from '../protocol';
import { cubePython, fieldPython } from '../python';
import { parseRange, phasesText } from '../state';
import { answerBox } from './answer_box';
import { factsOf, filterOf, lineFacts, numbersOf, selectionTitle } from './details';
import { Switches, type ShadeKind } from './switches';
import { groupTables } from './workbench_tables';

/** Above so many rows the lines of everything are not read until something is selected. */
const fewRows = 2_000_000;
const worstLines = 12;

export function workbenchView(app: App): View {
    if (!chosenOf(app)) return { element: absent('This file has no counts over addresses: the run was made without monitors and exact counts.'), update: () => {}, dispose: () => {} };
    return new Workbench(app);
}

class Workbench implements View {
    readonly element: HTMLElement;
    private readonly top = h('div', {});
    private readonly switches: Switches;
    private readonly plot: FieldPlot;
    private readonly details = h('aside', { class: 'card details', 'aria-label': 'Details of the selection' });
    private readonly tables = h('div', { class: 'view' });
    private chosen: Chosen;
    private axis: Axis = { segments: [], bytes: 1 };
    private model: FieldModel | null = null;
    private whole: Buckets | null = null;
    private keys = { data: '', sight: '', time: '', lines: '', axis: '' };
    private timer = 0;
    private ready: Promise<void>;

    constructor(private readonly app: App) {
        this.chosen = chosenOf(app)!;
        this.switches = new Switches(app);
        this.plot = new FieldPlot({
            name: () => `${baseName(app.source)}-${this.chosen.show.id.replace(':', '-')}`,
            label: () => this.label(),
            python: () => this.python(),
            look: (from, to) => this.look(`${Math.round(from)}-${Math.round(to)}`),
            all: () => this.look(''),
            brush: (stretch, phases, add) => this.brush(stretch, phases, add),
            pick: (structure) => this.pick(structure.name),
            clear: () => this.switches.clear(),
            zoomToSelection: () => this.zoomToSelection(),
        });
        this.plot.figure.bar.append(this.switches.element);
        const left = h('div', {}, this.plot.figure.element, this.tables);
        this.element = h('div', { class: 'view workbench' }, this.top, h('div', { class: 'middle' }, left, this.details));
        this.ready = this.refresh();
    }

    update(): void {
        this.ready = this.refresh();
    }

    private look(x: string): void {
        this.app.move(x);
        this.ready = this.refresh(true);
    }

    private brush(stretch: [number, number] | null, phases: [number, number] | null, add: boolean): void {
        if (!stretch && !phases) return;
        const text = phases ? phasesText(Array.from({ length: phases[1] - phases[0] + 1 }, (_, i) => phases[0] + i)) : '';
        const now = phasesText(chosenPhases(this.app));
        this.app.set({
            ...(phases ? { phases: add && text === now ? '' : text } : {}),
            ...(stretch ? { sel: this.addressesOf(stretch), structure: '' } : {}),
        });
    }

    /** The lines that begin in a stretch; where none does, the one that it lies in. */
    private addressesOf([from, to]: [number, number]): string {
        const unit = BigInt(this.chosen.series.unit);
        const ranges = addressesIn(this.axis, from, to);
        const one = addressAt(this.axis, from);
        if (ranges.length === 0) ranges.push(...(one === null ? [] : [[one, one + 1n] as [bigint, bigint]]));
        if (ranges.length === 0) return '';
        const [first, last] = [ranges[0][0], ranges.at(-1)![1]].map((each) => each + ((unit - (each % unit)) % unit));
        return selectionText([first < last ? [first, last] : [first - unit, first]]);
    }

    private pick(name: string): void {
        const again = this.app.state.structure === name;
        this.app.set(again ? { structure: '', sel: '' } : selectStructure(this.app.source.info.structures, name, this.chosen.series.unit));
    }

    private zoomToSelection(): void {
        const found = stretchesOf(this.axis, this.chosen.selection);
        if (found?.length) this.look(`${Math.floor(found[0][0])}-${Math.ceil(found.at(-1)![1])}`);
    }

    private label(): string {
        const { show, series } = this.chosen;
        return `${show.title} of ${series.owner} by address and phase in ${titleOf(this.app.source)}, ${phasesTitle(this.app)}. Arrows move the cursor, Enter selects, plus and minus zoom, 0 shows all.`;
    }

    private python(): string {
        const sight = this.app.state.x ? addressesIn(this.axis, ...this.range()) : null;
        return this.chosen.whole ? cubePython(this.app, this.chosen) : fieldPython(this.app, this.chosen, sight);
    }

    private range(): [number, number] {
        return parseRange(this.app.state.x, this.axis.bytes) ?? [0, this.axis.bytes];
    }

    /** `moved`: only what is in sight is another. */
    private async refresh(moved = false): Promise<void> {
        const { app } = this;
        const chosen = (this.chosen = chosenOf(app)!);
        if (!moved) this.fillAround();
        const { source } = app;
        const ids = chosen.show.series.filter((each) => each.rows > 0).map((each) => each.id);
        const axisKey = ids.join();
        if (axisKey !== this.keys.axis) {
            this.axis = await source.axis(ids);
            this.keys.axis = axisKey;
        }
        const stretches = stretchesOf(this.axis, chosen.selection);
        const data = JSON.stringify([chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause], app.state.phases ?? '']);
        if (data !== this.keys.data) {
            // cells stay where only phases are others
            const cells = JSON.stringify([chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause]]);
            const keep = this.keys.sight.startsWith(`${cells}|`) ? this.model : null;
            if (!keep) this.keys.sight = '';
            this.model = { ...this.frame(), heat: keep?.heat ?? null, drawn: keep?.drawn ?? [0, 1], time: keep?.time ?? null, buckets: null };
            this.whole = null;
            this.keys.data = data;
        }
        this.model = { ...this.model!, ...this.frame(), stretches };
        this.plot.set(this.model);
        await Promise.all([this.readSight(chosen, data), this.readTime(chosen, stretches, data), moved ? null : this.readLines(chosen, data)]);
    }

    /** What is known without reading. */
    private frame(): Omit<FieldModel, 'heat' | 'drawn' | 'buckets' | 'time'> {
        const { app, chosen } = this;
        const { info } = app.source;
        const rate = chosen.show.quantity === 'missrate' && chosen.cause < 0;
        const parts = [chosen.filter.core, chosen.filter.function].some(Boolean) || chosen.cause >= 0 ? ', spread over each data structure' : '';
        const colours = theme();
        const what = chosen.cause < 0 ? chosen.show.title : `Misses (${app.state.cause})`;
        const stacked = chosen.cube?.causes && chosen.cause < 0 && chosen.show.quantity === 'misses';
        const colour = chosen.cause < 0 ? colours[chosen.show.quantity] : colours.causes[chosen.cause];
        return {
            title: `${what} of ${chosen.series.owner}`,
            meaning: rate ? 'misses per access' : `${what.toLowerCase()} per line of ${bytes(chosen.series.unit)}${parts}${app.state.scale === 'log' ? ', logarithmic' : ''}`,
            colour,
            rate,
            axis: this.axis,
            structures: info.structures,
            range: this.range(),
            timeColours: stacked ? colours.causes : [colour],
            phaseNames: info.phases.names,
            cycles: app.state.y === 'cycles' && info.phases.cycles.length > 0 ? info.phases.cycles : null,
            phases: chosen.phases,
            stretches: null,
            scale: (app.state.scale || 'auto') as ShadeKind,
            message: '',
        };
    }

    private show(change: Partial<FieldModel>): void {
        this.model = { ...this.model!, ...change };
        this.plot.set(this.model);
    }

    /** Cells, and columns of the histogram above: of all, then of what is in sight. */
    private async readSight(chosen: Chosen, data: string): Promise<void> {
        const { app, axis } = this;
        const { source } = app;
        const range = this.range();
        if (chosen.whole) return this.spread(chosen, range);
        const seesAll = range[0] <= 0 && range[1] >= axis.bytes;
        const ask = (stretch: ReturnType<typeof wholeStretch>, name: string) =>
            source.askLatest(`${name}:${chosen.series.id}`, 'buckets', chosen.series.id, chosen.show.quantity, chosen.phases, axis, stretch);
        try {
            if (!this.whole) {
                const whole = await ask(wholeStretch(axis), 'whole');
                if (data !== this.keys.data) return;
                this.whole = whole;
                this.show({ buckets: whole });
            } else if (seesAll) this.show({ buckets: this.whole });
            const cells = JSON.stringify([chosen.series.id, chosen.show.id, false]);
            const sight = `${cells}|${range.join()}`;
            const fresh = sight !== this.keys.sight;
            this.keys.sight = sight;
            if (this.model!.heat && fresh) await this.rest();
            if (sight !== this.keys.sight || data !== this.keys.data) return;
            const [heat, fine] = await Promise.all([
                fresh ? askHeat(source, chosen, axis, range) : null,
                seesAll ? null : ask(sightStretch(axis, range), 'fine'),
            ]);
            if (data !== this.keys.data) return;
            if (heat) this.show({ heat, drawn: range });
            if (fine) this.show({ buckets: fine });
        } catch (error) {
            if (error instanceof Superseded) return;
            this.keys.sight = '';
            this.show({ message: error instanceof Error ? error.message : String(error) });
        }
    }

    /** Until the hand has come to rest. */
    private rest(): Promise<void> {
        window.clearTimeout(this.timer);
        return new Promise((resolve) => (this.timer = window.setTimeout(resolve, 70)));
    }

    private spread(chosen: Chosen, range: [number, number]): void {
        const { cube, filter, cause, show, phases } = chosen;
        const { heat, missing } = spreadOf(chosen, this.axis, this.app.source.info.structures, range);
        const rows = rowsOf(cube!, phases ? { ...filter, phase: phases } : filter);
        const total = sumOf(cause >= 0 ? cube!.causes![cause] : show.quantity === 'accesses' ? cube!.accesses : cube!.misses, rows);
        this.keys.sight = '';
        this.whole = bucketsOfSpread(heat, chosen, range, total);
        const { meaning } = this.frame();
        this.show({ heat, drawn: range, buckets: this.whole, meaning: missing > 0 ? `${meaning}; ${brief(missing)} have no place on this axis` : meaning });
    }

    private async readTime(chosen: Chosen, stretches: [number, number][] | null, data: string): Promise<void> {
        if (phaseCount(this.app.source) < 2) return;
        const byStructure = chosen.filter.structure !== undefined;
        const key = JSON.stringify([chosen.series.id, chosen.show.id, chosen.filter, chosen.cause, stretches]);
        if (key === this.keys.time) return;
        this.keys.time = key;
        try {
            const time = await timeOf(this.app.source, chosen, this.axis, stretches, byStructure);
            const timeColours = time.length > 2 ? theme().causes : [this.frame().colour];
            if (key === this.keys.time && data === this.keys.data) this.show({ time, timeColours });
        } catch (error) {
            if (!(error instanceof Superseded)) throw error;
        }
    }

    /** The lines of what is selected, for the details. */
    private async readLines(chosen: Chosen, data: string): Promise<void> {
        const { source } = this.app;
        const { series } = chosen;
        const stretches = stretchesOf(this.axis, chosen.selection) ?? [[0, this.axis.bytes] as [number, number]];
        const wide = stretches.reduce((sum, [from, to]) => sum + to - from, 0) / this.axis.bytes;
        const key = JSON.stringify([data, stretches]);
        if (key === this.keys.lines) return;
        this.keys.lines = key;
        if (chosen.whole || stretches.length === 0 || series.rows * wide > fewRows || series.rows === 0) return this.fillDetails(null);
        const cache = cacheOf(source.info.machine.yaml, series.owner);
        const sets = series.kind === 'level' && cache && chosen.selection && cache.line === series.unit ? cache.sets : 0;
        const [from, to] = [stretches[0][0], stretches.at(-1)![1]];
        try {
            const found = await source.askLatest('selected', 'selected', series.id, chosen.show.quantity, chosen.phases, this.axis, from, to, worstLines, sets);
            if (key === this.keys.lines) this.fillDetails(Number.isNaN(found.lines) ? null : found);
        } catch (error) {
            if (!(error instanceof Superseded)) throw error;
        }
    }

    private fillDetails(found: Selected | null): void {
        const { app, chosen } = this;
        const zoom = chosen.selection ? h('button', { type: 'button', title: 'Zoom to the selection (z)', onclick: () => this.zoomToSelection() }, 'Zoom') : null;
        this.details.replaceChildren(
            h('div', { class: 'row' }, h('h2', {}, selectionTitle(app, chosen)), zoom ?? ''),
            numbersOf(chosen, found),
            ...[...factsOf(app, chosen), ...lineFacts(app, chosen, found)].filter((each) => each !== null),
        );
    }

    /** Answer, switches and tables. */
    private fillAround(): void {
        const { app, chosen } = this;
        const level = chosen.series.kind === 'level' ? chosen.series.owner : undefined;
        const box = answerBox(app, level);
        this.top.replaceChildren(...(box ? [box] : []));
        this.switches.update(chosen);
        this.fillDetails(null);
        this.keys.lines = '';
        const pick = (name: string) => this.pick(name);
        this.tables.replaceChildren(...groupTables(app, chosen, filterOf(app, chosen), pick));
    }

    async quiet(): Promise<void> {
        for (let ready: Promise<void> | null = null; ready !== this.ready;) await (ready = this.ready);
    }

    /** Sums over the phases that are chosen, of all addresses; for tests. */
    totals(): Record<string, number> {
        return { [this.chosen.series.owner]: this.whole?.total ?? NaN };
    }

    frames(): number[] {
        return this.plot.frames;
    }

    dispose(): void {
        window.clearTimeout(this.timer);
        this.plot.figure.dispose();
    }
}
