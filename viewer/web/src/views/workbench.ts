// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details of what is selected, and tables. All that is chosen
// filters all of them.
import { range, sum } from 'd3-array';
import { answerOf, sentenceOf, tilesOf, type Tile } from '../answer';
import { baseName, chosenPhases, phaseCount, phasesName, phasesTitle, scaleKind, type App, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { chosenOf, selectionText, selectStructure, stretchesOf } from '../chosen';
import { theme } from '../colours';
import { fill, h } from '../dom';
import { fieldPlot, type FieldModel } from '../field';
import { askHeat, spreadOf, timeOf } from '../field_data';
import { Hand } from '../gestures';
import { cacheOf } from '../machine';
import { brief, bytes } from '../numbers';
import { withDifference, type PanelSource } from '../panels';
import { messageOf, Superseded, type Axis, type Column, type Selected } from '../protocol';
import { cubePython, fieldPython } from '../python';
import { parseRange, phasesText, rangeText } from '../state';
import { pairAxes, pairPanels, pairPython, pairsOf, type Pair } from './compare_align';
import { factsOf, filterOf, groupTables, lineFacts, numbersOf, selectionTitle, structuresChosen } from './details';
import { reusePicture } from './reuse';
import { clearChosen, switchesOf } from './switches';

/** Above so many rows the lines of everything are not read until something is selected. */
const fewRows = 2_000_000;
const worstLines = 12;

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

function answerBox(app: App, level: string | undefined): HTMLElement | null {
    const { info } = app.source;
    const answer = answerOf(info, level);
    if (!answer) return null;
    if (app.state.file === 'difference' && app.others.length > 0) {
        const both = [app.source, app.others[0]].map(({ info: own }, i) => {
            const found = answerOf(own, level);
            return h('p', {}, h('strong', {}, `${'AB'[i]}: `), found ? sentenceOf(found, own) : `nothing is known of ${level}.`);
        });
        return h('section', { class: 'answer', 'aria-label': 'Answers' }, ...both);
    }
    const tile = ({ id, label, value, note, go }: Tile) => {
        const words = [h('span', { class: 'tile-label' }, label), h('strong', {}, value), h('span', { class: 'note' }, note)];
        return h('button', { type: 'button', class: 'tile', 'data-tile': id, title: 'Show it in the field', onclick: () => app.set(go) }, ...words);
    };
    const tiles = h('div', { class: 'tiles' }, ...tilesOf(answer, info).map(tile));
    return h('section', { class: 'answer', 'aria-label': 'Answer' }, h('h2', { class: 'sentence' }, sentenceOf(answer, info)), tiles);
}

export function workbenchView(app: App): View {
    if (!chosenOf(app)) return { element: h('p', { class: 'absent' }, 'This file has no counts over addresses: the run was made without monitors and exact counts.') };
    const { source } = app;
    const switches = switchesOf(app);
    const reuse = reusePicture(app);
    const [top, tables] = [h('div', {}), h('div', { class: 'view' })];
    const details = h('aside', { class: 'card details', 'aria-label': 'Details of the selection' });
    const latest = new Latest();
    const hand = new Hand();
    let chosen = chosenOf(app)!;
    let axis: Axis = { segments: [], bytes: 1 };
    /** What cells are of, and of which phases the histogram above them is. */
    let [cells, data] = ['', ''];
    /** With the second file. */
    let compared: { pair: Pair; axes: [Axis, Axis] } | null = null;

    const plot = fieldPlot({
        name: () => `${baseName(source)}-${chosen.show.id.replace(':', '-')}`,
        title: () => `${chosen.show.title} of ${chosen.series.owner} by address and phase, ${phasesTitle(app)}`,
        python: (sight) => {
            if (compared) return pairPython(source, app.others[0], compared.pair, compared.axes, chosen.phases, sight);
            return chosen.whole ? cubePython(app, chosen) : fieldPython(app, chosen, sight);
        },
        look,
        brush: (stretch, phases, add) => {
            if (!stretch && !phases) return;
            const text = phases ? phasesText(range(phases[0], phases[1] + 1)) : '';
            const now = phasesText(chosenPhases(app));
            app.set({
                ...(phases ? { phases: add && text === now ? '' : text } : {}),
                ...(stretch ? { sel: addressesOf(stretch), structure: '' } : {}),
            });
        },
        pick: (structure) => pick(structure.name),
        clear: () => clearChosen(app),
        zoomToSelection,
    });
    plot.figure.bar.append(switches.element);
    const element = h('div', { class: 'view workbench' }, top, h('div', { class: 'middle' }, h('div', {}, plot.figure.element, tables), details));

    function look(range: [number, number] | null): void {
        app.move(rangeText(range));
        void refresh(true);
    }

    /** The lines that begin in a stretch; where none does, the one that it lies in. */
    function addressesOf([from, to]: [number, number]): string {
        const unit = BigInt(chosen.series.unit);
        const ranges = addressesIn(axis, from, to);
        const one = addressAt(axis, from);
        if (ranges.length === 0 && one !== null) ranges.push([one, one + 1n]);
        if (ranges.length === 0) return '';
        const [first, last] = [ranges[0][0], ranges.at(-1)![1]].map((each) => each + ((unit - (each % unit)) % unit));
        return selectionText([first < last ? [first, last] : [first - unit, first]]);
    }

    function pick(name: string): void {
        app.set(app.state.structure === name ? { structure: '', sel: '' } : selectStructure(source.info.structures, name, chosen.series.unit));
    }

    function zoomToSelection(): void {
        const found = stretchesOf(axis, chosen.selection);
        if (found?.length) look([Math.floor(found[0][0]), Math.ceil(found.at(-1)![1])]);
    }

    /** `moved`: only what is in sight is another. */
    async function refresh(moved = false): Promise<void> {
        const now = (chosen = chosenOf(app)!);
        if (!moved) fillAround();
        const pair = pairNow();
        const axes = pair && (await pairAxes(source, app.others[0], pair));
        const whole = axes ? axes[0] : await source.axis(chosen.show.series.filter((each) => each.rows > 0).map((each) => each.id));
        if (chosen !== now) return;
        axis = whole;
        compared = pair && axes && { pair, axes };
        const sight = parseRange(app.state.x, axis.bytes) ?? [0, axis.bytes];
        const stretches = stretchesOf(axis, chosen.selection);
        const before = cells;
        cells = JSON.stringify([pair?.id, chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause]]);
        data = `${cells}${app.state.phases ?? ''}-${app.state.minus ?? ''}${theme().dark}`;
        const other = cells !== before;
        plot.set({ ...frame(), stretches, ...(other ? { heat: null, time: null } : {}) });
        plot.read(data, axis, () => (chosen.whole ? [] : sources()), sight);
        if (chosen.whole) spread(sight);
        await Promise.all([chosen.whole ? null : readCells(sight, other), readTime(stretches), ...(moved ? [] : [readLines(stretches), readReuse()])]);
    }

    /** The histogram over addresses, of the chosen phases or of others. */
    function panel(phases = chosen.phases): PanelSource {
        const { series, show, cause, rate } = chosen;
        const on = axis;
        const what = cause < 0 ? show.title : `Misses (${app.state.cause})`;
        const colours = theme();
        return {
            title: chosen.minus ? phasesName(app, phases) : `${what} of ${series.owner}`,
            meaning: rate ? 'misses per access' : `${what.toLowerCase()} per line of ${bytes(series.unit)}${chosen.whole ? ', spread over each data structure' : ''}`,
            colour: cause < 0 ? colours[show.quantity] : colours.causes[cause],
            rate,
            fetch: (stretch) => source.askLatest(`${phases}:${series.id}:${stretch.x1 === on.bytes && stretch.x0 === 0}`, 'buckets', series.id, show.quantity, phases, on, stretch),
        };
    }

    /** What is subtracted from the same of the second file, where that is asked for; null where it is not, or has none that belongs to it. */
    function pairNow(): Pair | null {
        if (app.state.file !== 'difference' || app.others.length === 0 || chosen.whole) return null;
        return pairsOf(source, app.others[0]).pairs.find(({ id }) => id === `${chosen.show.id}|${chosen.series.owner}`) ?? null;
    }

    /** One panel; where phases or the second file are subtracted those, these, and their difference. */
    function sources(): PanelSource[] {
        const { minus, phases } = chosen;
        if (compared) return pairPanels(source, app.others[0], compared.pair, compared.axes, phases);
        if (!minus) return [panel()];
        const [those, these, difference] = withDifference(panel(minus), panel(), `${phasesName(app, phases)} − ${phasesName(app, minus)}`);
        return [these, those, difference];
    }

    /** What is known without reading; `message`: where the second file is to be subtracted and cannot be. */
    function frame(): Partial<FieldModel> {
        const { phases, structures } = source.info;
        const refused = app.state.file === 'difference' && app.others.length > 0 && !compared;
        return {
            ...{ shared: chosen.minus !== null || compared !== null, field: true, structures, axis, phases: chosen.phases, rate: chosen.rate },
            message: refused ? 'The second file has nothing that can be subtracted here; Compare says why.' : '',
            phaseNames: phases.names,
            cycles: app.state.y === 'cycles' && phases.cycles.length > 0 ? phases.cycles : null,
            scale: scaleKind(app),
        };
    }

    /** `first`: there are no cells yet that moving the hand would move. */
    async function readCells(sight: [number, number], first: boolean): Promise<void> {
        const [now, on, key] = [chosen, axis, `${cells}${sight}`];
        const ask = async () => {
            if (!first) await hand.rest(70);
            if (!latest.wants('cells', key)) throw new Superseded();
            return askHeat(source, now, on, sight);
        };
        try {
            await latest.show('cells', key, ask, (heat) => plot.set({ heat, drawn: sight }));
        } catch (error) {
            plot.set({ message: messageOf(error) });
        }
    }

    function spread(sight: [number, number]): void {
        const { heat, missing, whole } = spreadOf(chosen, axis, source.info.structures, sight);
        const shown = panel();
        const meaning = missing > 0 ? `${shown.meaning}; ${brief(missing)} have no place on this axis` : shown.meaning;
        latest.forget('cells');
        plot.set({ heat, drawn: sight, panels: [{ ...shown, meaning, whole, fine: null, message: '' }] });
    }

    async function readTime(stretches: [number, number][] | null): Promise<void> {
        if (phaseCount(source) < 2) return;
        const [now, on] = [chosen, axis];
        const ask = () => timeOf(source, now, on, stretches, now.filter.structure !== undefined);
        const show = (time: Column[]) => plot.set({ time, timeColours: time.length > 2 ? theme().causes : [panel().colour] });
        await latest.show('time', JSON.stringify([cells, now.filter, stretches, theme().dark]), ask, show);
    }

    /** The lines of what is selected, for the details. */
    async function readLines(selected: [number, number][] | null): Promise<void> {
        const { series, show, phases, selection, whole } = chosen;
        const on = axis;
        const stretches = selected ?? [[0, on.bytes]];
        const many = whole || stretches.length === 0 || (series.rows * sum(stretches, ([from, to]) => to - from)) / on.bytes > fewRows || series.rows === 0;
        const cache = cacheOf(source.info.machine.yaml, series.owner);
        const sets = series.kind === 'level' && cache && selection && cache.line === series.unit ? cache.sets : 0;
        const [from, to] = [stretches[0]?.[0] ?? 0, stretches.at(-1)?.[1] ?? 0];
        const ask = async () => (many ? null : source.askLatest('selected', 'selected', series.id, show.quantity, phases, on, from, to, worstLines, sets));
        await latest.show('lines', JSON.stringify([data, stretches]), ask, (found) => fillDetails(found && !Number.isNaN(found.lines) ? found : null));
    }

    async function readReuse(): Promise<void> {
        if (source.info.reuse.length === 0) return;
        const [now, structures] = [chosen, structuresChosen(app, chosen)];
        const ask = () => source.ask('reuse', structures, now.phases);
        await latest.show('reuse', JSON.stringify([data, structures, app.state.scale]), ask, (found) => reuse.show(found, structures, now));
    }

    function fillDetails(found: Selected | null): void {
        const zoom = chosen.selection && h('button', { type: 'button', title: 'Zoom to the selection (z)', onclick: zoomToSelection }, 'Zoom');
        const head = h('div', { class: 'row' }, h('h2', {}, selectionTitle(app, chosen)), zoom);
        fill(details, head, numbersOf(chosen, found), ...factsOf(app, chosen), reuse.element, ...lineFacts(app, chosen, found));
    }

    /** Answer, switches and tables. */
    function fillAround(): void {
        fill(top, answerBox(app, chosen.series.kind === 'level' ? chosen.series.owner : undefined));
        switches.update(chosen);
        fillDetails(null);
        latest.forget('lines');
        fill(tables, ...groupTables(app, chosen, filterOf(app, chosen), pick));
    }

    void refresh();
    return {
        element,
        update: () => void refresh(),
        /** Sums over the phases that are chosen, of all addresses; for tests. */
        totals: () => (compared ? plot.totals() : { [chosen.series.owner]: Object.values(plot.totals())[0] ?? NaN }),
        frames: () => plot.frames,
    };
}
