// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details of what is selected, and tables. All that is chosen
// filters all of them.
import { answerOf, sentenceOf, tilesOf } from '../answer';
import { absent, baseName, chosenPhases, phaseCount, phasesName, phasesTitle, scaleKind, type App, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { chosenOf, selectionText, selectStructure, stretchesOf, type Chosen } from '../chosen';
import { Superseded } from '../client';
import { theme } from '../colours';
import { rowsOf, sumOf } from '../cube';
import { fill, h } from '../dom';
import { FieldPlot, type FieldModel } from '../field';
import { askHeat, bucketsOfSpread, spreadOf, timeOf } from '../field_data';
import { Hand } from '../gestures';
import { cacheOf } from '../machine';
import { brief, bytes } from '../numbers';
import { withDifference, type PanelSource } from '../panel_data';
import type { Axis, Column, Selected } from '../protocol';
import { cubePython, fieldPython, type Sight } from '../python';
import { parseRange, phasesText, rangeText } from '../state';
import { pairAxes, pairPanels, pairPython, pairsOf, type Pair } from './compare_align';
import { factsOf, filterOf, lineFacts, numbersOf, selectionTitle, structuresChosen } from './details';
import { ReusePicture } from './reuse';
import { Switches } from './switches';
import { groupTables } from './workbench_tables';

/** Above so many rows the lines of everything are not read until something is selected. */
const fewRows = 2_000_000;
const worstLines = 12;

export function workbenchView(app: App): View {
    if (!chosenOf(app)) return { element: absent('This file has no counts over addresses: the run was made without monitors and exact counts.'), };
    return new Workbench(app);
}

/** What is asked for by name: again only where it is something else, and shown only where it is still wanted. */
class Latest {
    private readonly keys = new Map<string, string>();

    wants(name: string, key: string): boolean {
        return this.keys.get(name) === key;
    }

    forget(name: string): void {
        this.keys.delete(name);
    }

    async show<T>(name: string, key: string, ask: () => Promise<T>, show: (found: T) => void): Promise<void> {
        if (this.wants(name, key)) return;
        this.keys.set(name, key);
        try {
            const found = await ask();
            if (this.wants(name, key)) show(found);
        } catch (error) {
            if (error instanceof Superseded) return;
            if (this.wants(name, key)) this.forget(name);
            throw error;
        }
    }
}

class Workbench implements View {
    readonly element: HTMLElement;
    private readonly top = h('div', {});
    private readonly switches: Switches;
    private readonly plot: FieldPlot;
    private readonly details = h('aside', { class: 'card details', 'aria-label': 'Details of the selection' });
    private readonly reuse: ReusePicture;
    private readonly tables = h('div', { class: 'view' });
    private chosen: Chosen;
    private axis: Axis = { segments: [], bytes: 1 };
    /** What cells are of, and of which phases the histogram above them is. */
    private cells = '';
    private data = '';
    /** With the second file. */
    private compared: { pair: Pair; axes: [Axis, Axis] } | null = null;
    private readonly latest = new Latest();
    private readonly hand = new Hand();

    constructor(private readonly app: App) {
        this.chosen = chosenOf(app)!;
        this.switches = new Switches(app);
        this.reuse = new ReusePicture(app);
        this.plot = new FieldPlot({
            name: () => `${baseName(app.source)}-${this.chosen.show.id.replace(':', '-')}`,
            title: () => `${this.chosen.show.title} of ${this.chosen.series.owner} by address and phase, ${phasesTitle(app)}`,
            python: (sight) => this.python(sight),
            look: (range) => this.look(range),
            brush: (stretch, phases, add) => this.brush(stretch, phases, add),
            pick: (structure) => this.pick(structure.name),
            clear: () => this.switches.clear(),
            zoomToSelection: () => this.zoomToSelection(),
        });
        this.plot.figure.bar.append(this.switches.element);
        const left = h('div', {}, this.plot.figure.element, this.tables);
        this.element = h('div', { class: 'view workbench' }, this.top, h('div', { class: 'middle' }, left, this.details));
        this.update();
    }

    update(): void {
        void this.refresh();
    }

    private look(range: [number, number] | null): void {
        this.app.move(rangeText(range));
        void this.refresh(true);
    }

    private python(sight: Sight): string {
        const { app, chosen, compared } = this;
        if (compared) return pairPython(app.source, app.others[0], compared.pair, compared.axes, chosen.phases, sight);
        return chosen.whole ? cubePython(app, chosen) : fieldPython(app, chosen, sight);
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
        if (found?.length) this.look([Math.floor(found[0][0]), Math.ceil(found.at(-1)![1])]);
    }

    private range(): [number, number] {
        return parseRange(this.app.state.x, this.axis.bytes) ?? [0, this.axis.bytes];
    }

    /** `moved`: only what is in sight is another. */
    private async refresh(moved = false): Promise<void> {
        const { app } = this;
        const chosen = (this.chosen = chosenOf(app)!);
        if (!moved) this.fillAround();
        const pair = this.pairOf(chosen);
        const axes = pair ? await pairAxes(app.source, app.others[0], pair) : null;
        const axis = axes ? axes[0] : await app.source.axis(chosen.show.series.filter((each) => each.rows > 0).map((each) => each.id));
        if (chosen !== this.chosen) return;
        Object.assign(this, { axis, compared: pair && axes && { pair, axes } });
        const range = this.range();
        const stretches = stretchesOf(this.axis, chosen.selection);
        const cells = JSON.stringify([pair?.id, chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause]]);
        const data = `${cells}${app.state.phases ?? ''}-${app.state.minus ?? ''}${theme().dark}`;
        const [other, fresh] = [cells !== this.cells, data !== this.data];
        Object.assign(this, { cells, data });
        this.plot.set({ ...this.frame(), stretches, ...(other ? { heat: null, time: null } : {}) });
        if (fresh) this.plot.read(this.axis, chosen.whole ? [] : this.sources(), range);
        else this.plot.look(range);
        if (chosen.whole) this.spread(range);
        await Promise.all([chosen.whole ? null : this.readCells(range, other), this.readTime(stretches), moved ? null : this.readLines(stretches), moved ? null : this.readReuse()]);
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
            title: this.chosen.minus ? phasesName(app, phases) : `${what} of ${series.owner}`,
            meaning: rate ? 'misses per access' : `${what.toLowerCase()} per line of ${bytes(series.unit)}${parts}`,
            colour: cause < 0 ? colours[show.quantity] : colours.causes[cause],
            rate,
            fetch: (stretch) => app.source.askLatest(`${phases}:${series.id}:${stretch.x1 === axis.bytes && stretch.x0 === 0}`, 'buckets', series.id, show.quantity, phases, axis, stretch),
        };
    }

    /** What is subtracted from the same of the second file, where that is asked for; null where it is not, or has none that belongs to it. */
    private pairOf({ show, series, whole }: Chosen): Pair | null {
        const { source, others, state } = this.app;
        if (state.file !== 'difference' || others.length === 0 || whole) return null;
        return pairsOf(source, others[0]).pairs.find(({ id }) => id === `${show.id}|${series.owner}`) ?? null;
    }

    /** One panel; where phases or the second file are subtracted those, these, and their difference. */
    private sources(): PanelSource[] {
        const { minus, phases } = this.chosen;
        if (this.compared) return pairPanels(this.app.source, this.app.others[0], this.compared.pair, this.compared.axes, phases);
        if (!minus) return [this.panel()];
        const [those, these, difference] = withDifference(this.panel(minus), this.panel(), `${phasesName(this.app, phases)} − ${phasesName(this.app, minus)}`);
        return [these, those, difference];
    }

    /** What is known without reading. */
    private frame(): Partial<FieldModel> {
        const { app, chosen } = this;
        const { phases, structures } = app.source.info;
        return {
            ...{ shared: chosen.minus !== null || this.compared !== null, field: true, message: this.message(), structures, axis: this.axis, phases: chosen.phases },
            rate: chosen.show.quantity === 'missrate' && chosen.cause < 0,
            phaseNames: phases.names,
            cycles: app.state.y === 'cycles' && phases.cycles.length > 0 ? phases.cycles : null,
            scale: scaleKind(app),
        };
    }

    /** Where the second file is to be subtracted and cannot be. */
    private message(): string {
        const asked = this.app.state.file === 'difference' && this.app.others.length > 0;
        return asked && !this.compared ? 'The second file has nothing that can be subtracted here; Compare says why.' : '';
    }

    /** `first`: there are no cells yet that moving the hand would move. */
    private async readCells(range: [number, number], first: boolean): Promise<void> {
        const { chosen, cells, axis } = this;
        const key = `${cells}${range}`;
        const ask = async () => {
            if (!first) await this.hand.rest(70);
            if (!this.latest.wants('cells', key)) throw new Superseded();
            return askHeat(this.app.source, chosen, axis, range);
        };
        try {
            await this.latest.show('cells', key, ask, (heat) => this.plot.set({ heat, drawn: range }));
        } catch (error) {
            this.plot.set({ message: error instanceof Error ? error.message : String(error) });
        }
    }

    private spread(range: [number, number]): void {
        const { chosen } = this;
        const { cube, filter, cause, show, phases } = chosen;
        const { heat, missing } = spreadOf(chosen, this.axis, this.app.source.info.structures, range);
        const rows = rowsOf(cube!, phases ? { ...filter, phase: phases } : filter);
        const total = sumOf(cause >= 0 ? cube!.causes![cause] : show.quantity === 'accesses' ? cube!.accesses : cube!.misses, rows);
        const panel = this.panel();
        const meaning = missing > 0 ? `${panel.meaning}; ${brief(missing)} have no place on this axis` : panel.meaning;
        this.latest.forget('cells');
        this.plot.set({ heat, drawn: range, panels: [{ ...panel, meaning, whole: bucketsOfSpread(heat, chosen, range, total), fine: null, message: '' }] });
    }

    private async readTime(stretches: [number, number][] | null): Promise<void> {
        const { app, chosen, cells, axis } = this;
        if (phaseCount(app.source) < 2) return;
        const ask = () => timeOf(app.source, chosen, axis, stretches, chosen.filter.structure !== undefined);
        const show = (time: Column[]) => this.plot.set({ time, timeColours: time.length > 2 ? theme().causes : [this.panel().colour] });
        await this.latest.show('time', JSON.stringify([cells, chosen.filter, stretches, theme().dark]), ask, show);
    }

    /** The lines of what is selected, for the details. */
    private async readLines(selected: [number, number][] | null): Promise<void> {
        const { app, chosen, data, axis } = this;
        const { series } = chosen;
        const stretches = selected ?? [[0, axis.bytes]];
        const wide = stretches.reduce((sum, [from, to]) => sum + to - from, 0) / axis.bytes;
        const many = chosen.whole || stretches.length === 0 || series.rows * wide > fewRows || series.rows === 0;
        const cache = cacheOf(app.source.info.machine.yaml, series.owner);
        const sets = series.kind === 'level' && cache && chosen.selection && cache.line === series.unit ? cache.sets : 0;
        const [from, to] = [stretches[0]?.[0] ?? 0, stretches.at(-1)?.[1] ?? 0];
        const ask = async () => (many ? null : app.source.askLatest('selected', 'selected', series.id, chosen.show.quantity, chosen.phases, axis, from, to, worstLines, sets));
        await this.latest.show('lines', JSON.stringify([data, stretches]), ask, (found) => this.fillDetails(found && !Number.isNaN(found.lines) ? found : null));
    }

    private async readReuse(): Promise<void> {
        const { app, chosen } = this;
        if (app.source.info.reuse.length === 0) return;
        const structures = structuresChosen(app, chosen);
        const ask = () => app.source.ask('reuse', structures, chosen.phases);
        await this.latest.show('reuse', JSON.stringify([this.data, structures, app.state.scale]), ask, (found) => this.reuse.show(found, structures, chosen));
    }

    private fillDetails(found: Selected | null): void {
        const { app, chosen } = this;
        const zoom = chosen.selection ? h('button', { type: 'button', title: 'Zoom to the selection (z)', onclick: () => this.zoomToSelection() }, 'Zoom') : null;
        fill(
            this.details,
            h('div', { class: 'row' }, h('h2', {}, selectionTitle(app, chosen)), zoom ?? ''),
            numbersOf(chosen, found),
            ...[...factsOf(app, chosen), this.reuse.element, ...lineFacts(app, chosen, found)].filter((each) => each !== null),
        );
    }

    /** Answer, switches and tables. */
    private fillAround(): void {
        const { app, chosen } = this;
        const level = chosen.series.kind === 'level' ? chosen.series.owner : undefined;
        fill(this.top, answerBox(app, level) ?? '');
        this.switches.update(chosen);
        this.fillDetails(null);
        this.latest.forget('lines');
        const pick = (name: string) => this.pick(name);
        fill(this.tables, ...groupTables(app, chosen, filterOf(app, chosen), pick));
    }

    /** Sums over the phases that are chosen, of all addresses; for tests. */
    totals(): Record<string, number> {
        return this.compared ? this.plot.totals() : { [this.chosen.series.owner]: Object.values(this.plot.totals())[0] ?? NaN };
    }

    frames(): number[] {
        return this.plot.frames;
    }
}

export function answerBox(app: App, level: string | undefined): HTMLElement | null {
    const { info } = app.source;
    const answer = answerOf(info, level);
    if (!answer) return null;
    const tile = ({ id, label, value, note, go }: ReturnType<typeof tilesOf>[number]) =>
        h(
            'button',
            { type: 'button', class: 'tile', 'data-tile': id, title: 'Show it in the field', onclick: () => app.set(go) },
            h('span', { class: 'tile-label' }, label),
            h('strong', {}, value),
            h('span', { class: 'note' }, note),
        );
    return h(
        'section',
        { class: 'answer', 'aria-label': 'Answer' },
        h('h2', { class: 'sentence' }, sentenceOf(answer)),
        h('div', { class: 'tiles' }, ...tilesOf(answer, info).map(tile)),
    );
}
