// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details of what is selected, and tables. All that is chosen
// filters all of them.
import { range, sum } from 'd3-array';
import { answerOf, sentenceOf, tilesOf, type Tile } from '../answer';
import { baseName, chosenPhases, differs, phasesName, phasesTitle, phasesToChoose, scaleKind, type App, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { chosenOf, selectionText, stretchesOf } from '../chosen';
import { theme } from '../colours';
import { fill, h } from '../dom';
import type { Source } from '../client';
import { fieldPlot, type FieldModel } from '../field';
import { askHeat, heatDifference, spreadOf, timeOf } from '../field_data';
import { Hand } from '../gestures';
import { cacheOf } from '../machine';
import { brief, bytes } from '../numbers';
import { differenceOf, withDifference, type PanelSource } from '../panels';
import { messageOf, Superseded, type Axis, type Column, type Selected } from '../protocol';
import { cubePython, fieldPython } from '../python';
import { parseRange, phasesText, rangeText } from '../state';
import { pairAxes, pairPanels, pairPython, pairsOf, type Pair, type Pairs } from './compare_align';
import { factsOf, filterOf, groupTables, lineFacts, numbersOf, selectionTitle, structuresChosen } from './details';
import { differenceDetails, differenceSentence, differenceTable, sidesOf, type Side } from './difference';
import { reusePicture } from './reuse';
import { clearChosen, switchesOf } from './switches';
import { tableCard } from './tables';

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

/** `levels`: of the file, and of the second; where one is not known, the worst. `change`: what the second has more, in words. */
function answerBox(app: App, levels: (string | undefined)[], change: string, notes: string[]): HTMLElement | null {
    const { info } = app.source;
    const answer = answerOf(info, levels[0]);
    if (differs(app)) {
        const both = [app.source, app.others[0]].map(({ info: own }, i) => {
            const found = answerOf(own, levels[i]) ?? answerOf(own);
            return found && h('p', {}, h('strong', {}, `${'AB'[i]}: `), sentenceOf(found, own));
        });
        return h('section', { class: 'answer', 'aria-label': 'Answers' }, ...both, change && h('h2', { class: 'sentence' }, `B − A: ${change}`), h('p', { class: 'note' }, notes.join(' ')));
    }
    if (!answer) return null;
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
    /** What is subtracted from the second file, what is chosen of both, and their axes. */
    let compared: { pair: Pair; sides: [Side, Side]; axes: [Axis, Axis] } | null = null;
    let pairs: Pairs | null = null;
    /** Why nothing is, or what belongs together how. */
    let notes: string[] = [];

    const plot = fieldPlot({
        name: () => `${baseName(source)}-${chosen.show.id.replace(':', '-')}`,
        title: () => `${chosen.show.title} of ${chosen.series.owner} by address and phase, ${phasesTitle(app)}`,
        python: (sight) => {
            if (compared && chosen.whole) return compared.sides.map((side, i) => `# ${'AB'[i]}\n${cubePython(side.app, side.chosen)}`).join('\n');
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
        app.set({ structure: app.state.structure === name ? '' : name, sel: '' });
    }

    function zoomToSelection(): void {
        const found = stretchesOf(axis, chosen.selection);
        if (found?.length) look([Math.floor(found[0][0]), Math.ceil(found.at(-1)![1])]);
    }

    /** `moved`: only what is in sight is another. */
    async function refresh(moved = false): Promise<void> {
        const now = (chosen = chosenOf(app)!);
        const pair = pairNow();
        const sides = pair && sidesOf(app, chosen, pair);
        if (pair && !sides) notes = ['One of the files does not tell apart what is chosen.'];
        if (!moved) fillAround(sides);
        const axes = sides && (await pairAxes(source, app.others[0], pair!));
        const whole = axes ? axes[0] : await source.axis(chosen.show.series.filter((each) => each.rows > 0).map((each) => each.id));
        if (chosen !== now) return;
        axis = whole;
        compared = pair && sides && axes && { pair, sides, axes };
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
        const found = differs(app) ? (pairs ??= pairsOf(source, app.others[0])) : { pairs: [], notes: [] };
        ({ notes } = found);
        return found.pairs.find(({ id }) => id === `${chosen.show.id}|${chosen.series.owner}`) ?? null;
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
        return {
            ...{ shared: chosen.minus !== null || compared !== null, field: true, structures, axis, phases: chosen.phases, rate: chosen.rate },
            message: differs(app) && !compared ? 'Not subtracted: this is of A.' : chosen.unknown ? 'This file does not tell misses by cause: these are all.' : '',
            phaseNames: phases.names,
            cycles: app.state.y === 'cycles' && phases.cycles.length > 0 && !compared ? phases.cycles : null,
            scale: scaleKind(app),
        };
    }

    /** `first`: there are no cells yet that moving the hand would move. */
    async function readCells(sight: [number, number], first: boolean): Promise<void> {
        const [now, on, both, key] = [chosen, axis, compared, `${cells}${sight}`];
        const ask = async () => {
            if (!first) await hand.rest(70);
            if (!latest.wants('cells', key)) throw new Superseded();
            if (!both) return askHeat(source, now, on, sight);
            const [a, b] = await Promise.all(both.sides.map((side, i) => askHeat(side.app.source, side.chosen, both.axes[i], sight)));
            return heatDifference(a, b);
        };
        try {
            await latest.show('cells', key, ask, (heat) => plot.set({ heat, drawn: sight }));
        } catch (error) {
            plot.set({ message: messageOf(error) });
        }
    }

    function spread(sight: [number, number]): void {
        const [a, b] = compared
            ? compared.sides.map((side, i) => spreadOf(side.chosen, compared!.axes[i], side.app.source.info.structures, sight))
            : [spreadOf(chosen, axis, source.info.structures, sight)];
        const { meaning } = panel();
        const said = ({ missing }: typeof a) => (missing > 0 ? `${meaning}; ${brief(missing)} have no place on this axis` : meaning);
        const wholes = compared ? [a.whole, b.whole, differenceOf(a.whole, b.whole)] : [a.whole];
        const panels = sources().map((each, i) => ({ ...each, meaning: each.signed ? each.meaning : said([a, b][i]), whole: wholes[i], fine: null, message: '' }));
        latest.forget('cells');
        plot.set({ heat: compared ? heatDifference(a.heat, b.heat) : a.heat, drawn: sight, panels });
    }

    async function readTime(stretches: [number, number][] | null): Promise<void> {
        if (phasesToChoose(app) < 2) return;
        const colours = theme();
        const sides = compared?.sides ?? [{ app, chosen }];
        const axes = compared?.axes ?? [axis];
        const parts = stretches ?? (compared && [[0, axis.bytes] as [number, number]]); // both alike: what has a place on the axis
        const ask = () => Promise.all(sides.map((side, i) => timeOf(side.app.source, side.chosen, axes[i], parts, !compared && chosen.filter.structure !== undefined)));
        const show = ([first, second]: Column[][]) => {
            if (second) plot.set({ time: second, subtracted: first, timeColours: [colours.misses, colours.accesses] });
            else plot.set({ time: first, subtracted: null, timeColours: first.length > 2 ? colours.causes : [panel().colour] });
        };
        await latest.show('time', JSON.stringify([cells, chosen.filter, stretches, colours.dark]), ask, show);
    }

    /** The lines of what is selected, for the details. */
    async function readLines(selected: [number, number][] | null): Promise<void> {
        const { series, show, phases, selection, whole } = chosen;
        const on = axis;
        const stretches = selected ?? [[0, on.bytes]];
        const many = whole || stretches.length === 0 || (series.rows * sum(stretches, ([from, to]) => to - from)) / on.bytes > fewRows || series.rows === 0;
        const cache = cacheOf(source.info.machine.yaml, series.owner);
        const sets = series.kind === 'level' && cache && selection && cache.line === series.unit ? cache.sets : 0;
        const of = async (file: Source, id: string, which: Axis, parts: [number, number][]): Promise<Selected> => {
            const [from, to] = [parts[0]?.[0] ?? 0, parts.at(-1)?.[1] ?? 0];
            return file.askLatest('selected', 'selected', id, show.quantity, phases, which, from, to, worstLines, sets);
        };
        const [both, addresses] = [compared, app.state.structure ? '' : app.state.sel];
        /** All that a file has, or a data structure where it lies in it; addresses are those of the first. */
        const ofSide = async ({ app: { source: file }, chosen: { series: { id }, selection: own } }: Side, i: number) => {
            if (addresses) return of(file, id, both!.axes[i], stretches);
            const which = await file.axis([id]);
            return of(file, id, which, stretchesOf(which, own) ?? (app.state.structure ? [] : [[0, which.bytes]]));
        };
        const ask = async () => (many ? [] : Promise.all(both ? both.sides.map(ofSide) : [of(source, series.id, on, stretches)]));
        await latest.show('lines', JSON.stringify([data, stretches, app.state.structure]), ask, (found) => fillDetails(both?.sides ?? null, found.map((each) => (Number.isNaN(each.lines) ? null : each))));
    }

    async function readReuse(): Promise<void> {
        if (source.info.reuse.length === 0 || differs(app)) return;
        const [now, structures] = [chosen, structuresChosen(app, chosen)];
        const ask = () => source.ask('reuse', structures, now.phases);
        await latest.show('reuse', JSON.stringify([data, structures, app.state.scale]), ask, (found) => reuse.show(found, structures, now));
    }

    /** `found`: in the lines, of each file. */
    function fillDetails(sides: [Side, Side] | null, [first = null, second = null]: (Selected | null)[] = []): void {
        const zoom = chosen.selection && h('button', { type: 'button', title: 'Zoom to the selection (z)', onclick: zoomToSelection }, 'Zoom');
        const head = h('div', { class: 'row' }, h('h2', {}, selectionTitle(app, chosen)), zoom);
        if (sides) return fill(details, head, ...differenceDetails(sides, [first, second]));
        fill(details, head, numbersOf(chosen, first), ...factsOf(app, chosen), reuse.element, ...lineFacts(app, chosen, first));
    }

    /** Answer, switches and tables. */
    function fillAround(sides: [Side, Side] | null): void {
        const levels = [chosen, sides?.[1].chosen].map((each) => (each?.series.kind === 'level' ? each.series.owner : undefined));
        switches.update(chosen);
        fillDetails(sides);
        latest.forget('lines');
        const [own, others] = (sides ?? [{ app, chosen, filter: filterOf(app, chosen) }]).map((side) => groupTables(side.app, side.chosen, side.filter, pick));
        const shown = others ? own.map((each, i) => differenceTable(each, others[i])) : own;
        if (sides && sides[0].chosen.series.unit !== sides[1].chosen.series.unit) shown.splice(4); // lines that are evicted
        fill(top, answerBox(app, levels, sides ? differenceSentence(sides, shown) : '', notes));
        fill(tables, ...shown.flatMap((each) => (each?.rows.length ? [tableCard(app, each)] : [])));
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
