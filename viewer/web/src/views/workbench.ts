// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details of what is selected, and tables. All that is chosen
// filters all of them.
import { absent, baseName, chosenPhases, phaseCount, phasesName, phasesTitle, scaleKind, titleOf, type App, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { chosenOf, selectionText, selectStructure, stretchesOf, type Chosen } from '../chosen';
import { Superseded } from '../client';
import { rowsOf, sumOf } from '../cube';
import { theme } from '../colours';
import { h } from '../dom';
import { FieldPlot, type FieldModel } from '../field';
import { askHeat, bucketsOfSpread, spreadOf, timeOf } from '../field_data';
import { cacheOf } from '../machine';
import { differenceOf, PanelReader, type PanelSource } from '../panel_data';
import { brief, bytes } from '../numbers';
import type { Axis, Buckets, Selected, Stretch } from '../protocol';
import { cubePython, fieldPython } from '../python';
import { parseRange, phasesText } from '../state';
import { answerBox } from './answer_box';
import { factsOf, filterOf, lineFacts, numbersOf, selectionTitle } from './details';
import { Switches } from './switches';
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
    private readonly reader = new PanelReader(() => this.show({ panels: this.reader.panels }));
    private keys = { range: '', data: '', cells: '', sight: '', time: '', lines: '', axis: '' };
    private timer = 0;
    private rested = () => {};
    private ready: Promise<void>;

    constructor(private readonly app: App) {
        this.chosen = chosenOf(app)!;
        this.switches = new Switches(app);
        this.plot = new FieldPlot({
            name: () => `${baseName(app.source)}-${this.chosen.show.id.replace(':', '-')}`,
            label: () => `${this.title()} of ${titleOf(app.source)}.`,
            title: () => this.title(),
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

    private title(): string {
        const { show, series } = this.chosen;
        return `${show.title} of ${series.owner} by address and phase, ${phasesTitle(this.app)}`;
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
        // what cells are of, and of which phases the histogram above them is
        const cells = JSON.stringify([chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause]]);
        const data = `${cells}${app.state.phases ?? ''}-${app.state.minus ?? ''}${theme().dark}`;
        const fresh = data !== this.keys.data;
        if (cells !== this.keys.cells) this.model = null;
        Object.assign(this.keys, { data, cells }, this.model ? {} : { sight: '' });
        const empty = { heat: null, drawn: [0, 1] as [number, number], time: null, panels: [] };
        this.model = { ...(this.model ?? empty), ...this.frame(), stretches };
        if (fresh && !chosen.whole) this.reader.set(this.axis, this.sources(), this.range());
        else if (this.range().join() !== this.keys.range) this.reader.look(this.range());
        this.keys.range = this.range().join();
        if (!chosen.whole) this.model.panels = this.reader.panels;
        this.plot.set(this.model);
        await Promise.all([this.readCells(chosen, cells), this.readTime(chosen, stretches, cells), moved ? null : this.readLines(chosen, data)]);
    }

    /** The histogram over addresses, of the chosen phases or of others. */
    private panel(phases = this.chosen.phases): PanelSource {
        const { app, axis } = this;
        const { series, show, cause } = this.chosen;
        const parts = this.chosen.whole ? ', spread over each data structure' : '';
        const what = cause < 0 ? show.title : `Misses (${app.state.cause})`;
        const rate = show.quantity === 'missrate' && cause < 0;
        const colours = theme();
        return {
            key: series.id,
            title: this.chosen.minus ? phasesName(app, phases) : `${what} of ${series.owner}`,
            meaning: rate ? 'misses per access' : `${what.toLowerCase()} per line of ${bytes(series.unit)}${parts}`,
            colour: cause < 0 ? colours[show.quantity] : colours.causes[cause],
            rate,
            fetch: (stretch) => app.source.askLatest(`${phases}:${series.id}:${stretch.x1 === axis.bytes && stretch.x0 === 0}`, 'buckets', series.id, show.quantity, phases, axis, stretch),
        };
    }

    /** One panel; where phases are subtracted those, these, and their difference. */
    private sources(): PanelSource[] {
        const { minus } = this.chosen;
        if (!minus) return [this.panel()];
        const [these, those] = [this.panel(), this.panel(minus)];
        const asked = new Map<string, Promise<Buckets>>(); // two panels ask for the same
        const shared = (source: PanelSource, i: number) => (stretch: Stretch) => {
            const key = `${i}${stretch.x0}-${stretch.x1}`;
            if (!asked.has(key)) asked.set(key, source.fetch(stretch));
            return asked.get(key)!;
        };
        const [a, b] = [shared(those, 0), shared(these, 1)];
        const fetch = async (stretch: Stretch) => differenceOf(...(await Promise.all([a(stretch), b(stretch)])));
        const difference = { ...these, title: `${these.title} − ${those.title}`, meaning: 'difference of the means', colour: theme().misses, signed: true, fetch };
        return [{ ...these, fetch: b }, { ...those, fetch: a }, difference];
    }

    /** What is known without reading. */
    private frame(): Omit<FieldModel, 'heat' | 'drawn' | 'panels' | 'time'> {
        const { app, chosen } = this;
        const { phases, structures } = app.source.info;
        return {
            ...{ shared: chosen.minus !== null, field: true, stretches: null, message: '' },
            rate: chosen.show.quantity === 'missrate' && chosen.cause < 0,
            axis: this.axis,
            structures,
            range: this.range(),
            timeColours: this.model?.timeColours ?? [],
            phaseNames: phases.names,
            cycles: app.state.y === 'cycles' && phases.cycles.length > 0 ? phases.cycles : null,
            phases: chosen.phases,
            scale: scaleKind(app),
        };
    }

    private show(change: Partial<FieldModel>): void {
        if (!this.model) return;
        this.model = { ...this.model, ...change };
        this.plot.set(this.model);
    }

    private async readCells(chosen: Chosen, cells: string): Promise<void> {
        const range = this.range();
        if (chosen.whole) return this.spread(chosen, range);
        const sight = range.join();
        if (sight === this.keys.sight) return;
        this.keys.sight = sight;
        try {
            if (this.model!.heat) await this.rest();
            if (sight !== this.keys.sight || cells !== this.keys.cells) return;
            const heat = await askHeat(this.app.source, chosen, this.axis, range);
            if (cells === this.keys.cells) this.show({ heat, drawn: range });
        } catch (error) {
            if (error instanceof Superseded) return;
            this.keys.sight = '';
            this.show({ message: error instanceof Error ? error.message : String(error) });
        }
    }

    /** Until the hand has come to rest. */
    private rest(): Promise<void> {
        window.clearTimeout(this.timer);
        this.rested();
        return new Promise((resolve) => {
            this.rested = resolve;
            this.timer = window.setTimeout(resolve, 70);
        });
    }

    private spread(chosen: Chosen, range: [number, number]): void {
        const { cube, filter, cause, show, phases } = chosen;
        const { heat, missing } = spreadOf(chosen, this.axis, this.app.source.info.structures, range);
        const rows = rowsOf(cube!, phases ? { ...filter, phase: phases } : filter);
        const total = sumOf(cause >= 0 ? cube!.causes![cause] : show.quantity === 'accesses' ? cube!.accesses : cube!.misses, rows);
        const panel = this.panel();
        const meaning = missing > 0 ? `${panel.meaning}; ${brief(missing)} have no place on this axis` : panel.meaning;
        this.show({ heat, drawn: range, panels: [{ ...panel, meaning, whole: bucketsOfSpread(heat, chosen, range, total), fine: null, message: '', drawn: null }] });
    }

    private async readTime(chosen: Chosen, stretches: [number, number][] | null, cells: string): Promise<void> {
        if (phaseCount(this.app.source) < 2) return;
        const byStructure = chosen.filter.structure !== undefined;
        const key = JSON.stringify([cells, chosen.filter, stretches, theme().dark]);
        if (key === this.keys.time && this.model!.time) return;
        this.keys.time = key;
        try {
            const time = await timeOf(this.app.source, chosen, this.axis, stretches, byStructure);
            const timeColours = time.length > 2 ? theme().causes : [this.panel().colour];
            if (key === this.keys.time && cells === this.keys.cells) this.show({ time, timeColours });
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
        await this.reader.quiet();
    }

    /** Sums over the phases that are chosen, of all addresses; for tests. */
    totals(): Record<string, number> {
        return { [this.chosen.series.owner]: this.model?.panels[0]?.whole?.total ?? NaN };
    }

    frames(): number[] {
        return this.plot.frames;
    }

    dispose(): void {
        window.clearTimeout(this.timer);
        this.reader.dispose();
        this.plot.figure.dispose();
    }
}
