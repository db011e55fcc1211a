// SPDX-License-Identifier: BSD-3-Clause
// The workbench: the answer, one linked field over addresses and time, details and tables; what is chosen filters all of them.
import { range, sum } from 'd3-array';
import { answerOf, sentenceOf, tilesOf, type Tile } from '../answer';
import { baseName, chosenOf, chosenPhases, differs, filterByNames, linesIn, ofCause, phasesName, phasesTitle, phasesToChoose, scaleKind, selectionText, stretchesOf, structuresIn, titleOf, turned, type App, type Chosen, type View } from '../app';
import { addressAt, addressesIn } from '../axis';
import { cubeOf, cubeOfSums, firstLevels, narrowed, unitWord, type Cube } from '../cube';
import { theme } from '../paint';
import { fill, h, unbroken, type Table } from '../dom';
import { fieldPlot, type FieldModel } from '../field';
import { askHeat, heatDifference, spreadOf, sumsByStructure, timeOf } from '../field_data';
import { Hand } from '../gestures';
import { cacheOf } from '../machine';
import { brief, bytes, parseRange, percent, phasesText, rangeText } from '../numbers';
import { differenceOf, withDifference, type PanelSource } from '../panels';
import { fewRows, messageOf, Superseded, type Axis, type Column, type Heat, type Selected, type Stretch } from '../protocol';
import { cubePython, fieldPython } from '../python';
import { pairAxes, pairPython, pairsOf, type Pair, type Pairs } from './compare';
import { asAWhole, differenceDetails, differenceSentence, differenceTable, factsOf, groupTables, lineFacts, numbersOf, selectedTable, selectionTitle, sideOf, sidesOf, sidesOfPhases, structuresChosen, type Side } from './details';
import { reusePicture } from './reuse';
import { clearChosen, switchesOf } from './switches';
import { tableCard } from './tables';

const [worstLines, muchLost] = [12, 0.1];
/** More, selected, are counted as wholes. */
const structuresAtMost = 256;

type Sided = Side & { axis: Axis };

/** What is asked for by name: again only where it is something else, and shown only where it is still wanted. */
function latestOnes() {
    const keys = new Map<string, string>();
    const wants = (name: string, key: string): boolean => keys.get(name) === key;
    const forget = (name: string): boolean => keys.delete(name);
    async function show<T>(name: string, key: string, ask: () => Promise<T>, then: (found: T) => void): Promise<void> {
        if (wants(name, key)) return;
        keys.set(name, key);
        try {
            const found = await ask();
            if (wants(name, key)) then(found);
        } catch (error) {
            if (error instanceof Superseded) return;
            if (wants(name, key)) forget(name);
            throw error;
        }
    }
    return { wants, forget, show };
}

/** `levels`: of the file, and of the second (unknown: the worst). `change`: what the second has more, in words. `brushed`: what is known of selected lines. */
function answerBox(app: App, levels: (string | undefined)[], change: string, notes: string[], brushed: Cube[] = [], within?: string): HTMLElement | null {
    const { info } = app.source;
    const { phases, absent } = chosenOf(app)!;
    const answer = answerOf(info, levels[0], phases, app.state, brushed[0], within);
    if (differs(app)) {
        const both = [app.source, app.others[0]].map(({ info: own }, i) => {
            const level = [levels[i], levels[0], ...firstLevels(own)].find((name) => own.components.some((each) => each.name === name));
            const lacks = level !== undefined && Object.values(filterByNames(cubeOf(own, level), app.state)).some((each) => each.length === 0);
            const found = answerOf(own, level, phases, app.state, brushed[i], within);
            const { structure, core, func, sel } = app.state;
            const all = sel && !structure && !brushed[i] ? ' (All addresses.)' : '';
            return h('p', {}, h('strong', {}, `${'AB'[i]}, ${own.name}: `), lacks ? `has nothing of ${[structure, core, func].filter(Boolean).join(', ')}.` : found ? sentenceOf(found, own) + all : `has no accesses in ${phasesTitle(app)}.`);
        });
        return h('section', { class: 'answer', 'aria-label': 'Answers' }, ...both, change && h('h2', { class: 'sentence' }, `B − A: ${change}`), h('p', { class: 'note' }, notes.join(' ')));
    }
    if (!answer) return phases && h('section', { class: 'answer' }, h('p', { class: 'absent' }, `${levels[0] ?? 'The first level'} has no accesses in ${phasesTitle(app)}.`));
    const tile = ({ id, label, value, note, go }: Tile) => {
        const words = [h('span', { class: 'tile-label' }, label), h('strong', {}, value), h('span', { class: 'note' }, ...unbroken(note))];
        return h('button', { type: 'button', class: 'tile', 'data-tile': id, title: 'Show it in the field', onclick: () => app.set(go) }, ...words);
    };
    const tiles = h('div', { class: 'tiles' }, ...tilesOf(answer, info).map(tile));
    return h('section', { class: 'answer', 'aria-label': 'Answer' }, h('h2', { class: 'sentence' }, ...unbroken((absent.length > 0 ? `Not in this file${absent.length === 1 && info.components.some(({ name }) => name === absent[0]) ? ' by address' : ''}: ${absent.join(', ')}. Of all data: ` : '') + sentenceOf(answer, info))), change && h('p', { class: 'sentence' }, `${phasesName(app, phases)} − ${phasesName(app, chosenOf(app)!.minus)}: ${change}`), tiles);
}

export function workbenchView(app: App): View {
    if (!chosenOf(app)) return { element: h('p', { class: 'absent' }, 'This file has no counts over addresses: the run was made without monitors and exact counts.') };
    const { source } = app;
    const switches = switchesOf(app);
    const reuse = reusePicture(app);
    const [top, tables] = [h('div', {}), h('div', { class: 'view' })];
    const details = h('aside', { class: 'card details', 'aria-label': 'Details of the selection' });
    const latest = latestOnes();
    const hand = new Hand();
    let chosen = chosenOf(app)!;
    let axis: Axis = { segments: [], bytes: 1 };
    /** What cells are of, and of which phases the histogram above them is. */
    let [cells, data] = ['', ''];
    /** What is shown; of two files also the same of the other: subtracted where it is a `pair`, else for one scale. */
    let sides: Sided[] = [];
    let pair: Pair | null = null;
    let pairs: Pairs | null = null;
    let listed: (Table | null)[] = [];
    let levels: (string | undefined)[] = [];
    /** Why nothing is, or what belongs together how. */
    let notes: string[] = [];

    const plot = fieldPlot({
        name: () => `${baseName(source)}-${chosen.show.id.replace(':', '-')}`,
        title: () => `${chosen.show.title} of ${chosen.series.owner} by address and phase, ${phasesTitle(app)}`,
        python: (sight) => {
            if (pair && chosen.whole) return sides.map((side, i) => `# ${'AB'[i]}\n${cubePython(side.app, inWholes(side))}`).join('\n');
            if (pair) return pairPython(source, app.others[0], pair, sides.map((side) => side.axis), chosen.phases, chosen.selection ?? sight);
            return chosen.whole ? cubePython(app, inWholes(sideOf(app, chosen))) : fieldPython(app, chosen, sight);
        },
        look,
        brush: (stretch, phases, add) => {
            if (!stretch && !phases) return;
            const text = phases ? phasesText(range(phases[0], phases[1] + 1)) : '';
            const now = phasesText(chosenPhases(app));
            app.set({ ...(phases ? { phases: add && text === now ? '' : text } : {}), ...(stretch ? { sel: addressesOf(stretch), structure: '' } : {}) });
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
        const ranges = addressesIn(axis, from, to);
        const one = addressAt(axis, from);
        if (ranges.length === 0 && one !== null) ranges.push([one, one + 1n]);
        return ranges.length === 0 ? '' : selectionText(linesIn([[ranges[0][0], ranges.at(-1)![1]]], chosen.series.unit));
    }

    const pick = (name: string) => app.set({ structure: app.state.structure === name ? '' : name, sel: '' });

    function zoomToSelection(): void {
        const found = stretchesOf(axis, chosen.selection);
        if (found?.length) look([Math.floor(found[0][0]), Math.ceil(found.at(-1)![1])]);
    }

    /** `moved`: only what is in sight is another. */
    async function refresh(moved = false): Promise<void> {
        const now = (chosen = chosenOf(app)!);
        const wanted = pairNow();
        const both = wanted && sidesOf(app, chosen, wanted);
        if (wanted && !both) notes = ['One of the files does not tell apart what is chosen.'];
        const shown = both ?? [sideOf(app, chosen), ...besides()];
        if (!moved) fillAround(both ?? sidesOfPhases(app, chosen) ?? [], shown[0]);
        const axes = await (both ? pairAxes(source, app.others[0], wanted!) : Promise.all(shown.map(wholeAxis)));
        if (chosen !== now) return;
        sides = shown.map((each, i) => ({ ...each, axis: axes[i] }));
        pair = both && wanted;
        [{ axis }] = sides;
        const sight = sightOn(axis);
        const stretches = stretchesOf(axis, chosen.selection);
        const before = cells;
        cells = JSON.stringify([pair?.id, chosen.series.id, chosen.show.id, chosen.whole && [chosen.filter, chosen.cause], sides.length]);
        data = `${cells}${app.state.phases ?? ''}-${app.state.minus ?? ''}`;
        const other = cells !== before;
        plot.set({ ...frame(), stretches, ...(other ? { heat: null, time: null, beside: [] } : {}) });
        plot.read(data, axis, () => (chosen.spreads ? [] : sources()), sight);
        if (chosen.spreads) spread(sight);
        await Promise.all([chosen.spreads ? null : readCells(sight, other), readTime(stretches), ...(moved ? [] : [readLines(stretches), readStructures(), readReuse()])]);
    }

    /** The same of the other file, where that is counted alike. */
    function besides(): Side[] {
        const other = app.others.length > 0 && !differs(app) ? turned(app) : null;
        const same = other && chosenOf(other);
        const alike = same && same.show.id === chosen.show.id && same.cause === chosen.cause && same.whole === chosen.whole && (same.rate || same.series.unit === chosen.series.unit);
        return alike ? [sideOf(other, same)] : [];
    }

    /** All addresses of what is shown of a file. */
    const wholeAxis = ({ app: { source: file }, chosen: { show } }: Side): Promise<Axis> => file.axis(show.series.filter((each) => each.rows > 0).map((each) => each.id));

    const sightOn = ({ bytes: all }: Axis): [number, number] => parseRange(app.state.x, all) ?? [0, all];

    /** The histogram over addresses, of the chosen phases or of others. */
    function panel({ app: { source: file }, chosen: { series, show, cause, rate, spreads, placeless }, axis: on }: Sided, phases = chosen.phases): PanelSource {
        const what = cause < 0 ? show.title : `Misses (${app.state.cause})`;
        return {
            title: pair ? `${file === source ? 'A' : 'B'}: ${titleOf(file)}` : chosen.minus ? phasesName(app, phases) : `${what} of ${series.owner}${placeless ? ', all data' : ''}`,
            meaning: rate ? 'misses per access' : `${what.toLowerCase()} per ${unitWord(file.info, series.owner)} of ${bytes(series.unit)}${series.reduced && `, means of blocks of ${parseInt(series.reduced)}`}${spreads ? ', spread over each data structure' : ''}`,
            colour: () => (cause < 0 ? theme()[show.quantity] : theme().causes[cause]),
            rate,
            fetch: (stretch) => {
                const all = stretch.x0 === 0 && stretch.x1 === axis.bytes; // on the other file's axis, too
                const asked: Stretch = all ? { ...stretch, x1: on.bytes, sight: [0, on.bytes] } : stretch;
                return file.askLatest(`${phases}:${series.id}:${all}`, 'buckets', series.id, show.quantity, phases, on, asked);
            },
        };
    }

    /** What is subtracted from the same of the second file, where that is asked for; null where it is not, or has none that belongs to it. */
    function pairNow(): Pair | null {
        const found = differs(app) ? (pairs ??= pairsOf(source, app.others[0])) : { pairs: [], notes: [] };
        ({ notes } = found);
        const one = found.pairs.find(({ id }) => id === `${chosen.show.id}|${chosen.series.owner}`);
        const [a, b] = [one?.a, one?.b].map((each) => each && (chosen.spreads ? each : ofCause(each, chosen.cause)));
        return one && a && b ? { ...one, a, b } : null;
    }

    /** One panel; where phases or the second file are subtracted those, these, and their difference. */
    function sources(): PanelSource[] {
        const { minus, phases } = chosen;
        const [own, other] = sides;
        if (pair) return withDifference(panel(own), panel(other), 'B − A');
        const beside = other ? [{ ...panel(other), beside: other.axis.bytes }] : [];
        if (!minus) return [panel(own), ...beside];
        const [those, these, difference] = withDifference(panel(own, minus), panel(own), `${phasesName(app, phases)} − ${phasesName(app, minus)}`);
        return [these, those, difference, ...beside];
    }

    /** What is known without reading; `message`: where the second file is to be subtracted and cannot be. */
    function frame(): Partial<FieldModel> {
        const { phases, structures } = source.info;
        return {
            ...{ shared: chosen.minus !== null || sides.length > 1, field: true, structures, axis, phases: chosen.phases, rate: chosen.rate },
            message: chosen.placeless ? `${app.state.structure} has no addresses of its own: the field is of all data.` : differs(app) && !pair ? `Not subtracted: this is of A.${pairs?.pairs.some(({ id }) => id === `missrate|${chosen.series.owner}`) ? ' Miss rates can be.' : ''}` : chosen.absent.length ? `Not in this file: ${chosen.absent.join(', ')}.` : chosen.unknown ? 'This file does not tell misses by cause: these are all.' : '',
            phaseNames: phases.names,
            addresses: chosen.series.physical ? 'physical' : 'virtual',
            cycles: app.state.y === 'cycles' && phases.cycles.length > 0 && !pair ? phases.cycles : null,
            scale: scaleKind(app),
        };
    }

    /** `first`: there are no cells yet that moving the hand would move. */
    async function readCells(sight: [number, number], first: boolean): Promise<void> {
        const [all, subtracts, key] = [sides, pair, `${cells}${sight}`];
        const ask = async () => {
            if (!first) await hand.rest(70);
            if (!latest.wants('cells', key)) throw new Superseded();
            return Promise.all(all.map((side) => askHeat(side.app.source, side.chosen, side.axis, sightOn(side.axis))));
        };
        await latest.show('cells', key, ask, (found) => plot.set({ ...cellsOf(found, subtracts), drawn: sight })).catch((error) => plot.set({ message: messageOf(error) }));
    }

    const cellsOf = ([a, b]: Heat[], subtracts: Pair | null) => (subtracts ? { heat: heatDifference(a, b), besideHeat: null } : { heat: a, besideHeat: b ?? null });

    function spread(sight: [number, number]): void {
        const { minus } = chosen;
        const spreads = minus ? [sides[0], { ...sides[0], chosen: { ...chosen, phases: minus } }, ...sides.slice(1)] : sides;
        const found = spreads.map((side) => spreadOf(side.chosen, side.axis, side.app.source.info.structures, sightOn(side.axis)));
        const { meaning } = panel(sides[0]);
        const said = (missing: number) => (missing > 0 ? `${meaning}; ${brief(missing)} have no place on this axis` : meaning);
        const wholes = found.map(({ whole }) => whole);
        if (pair) wholes.push(differenceOf(wholes[0], wholes[1]));
        else if (minus) wholes.splice(2, 0, differenceOf(wholes[1], wholes[0]));
        const panels = sources().map((each, i) => ({ ...each, meaning: each.signed ? each.meaning : said(found[i]?.missing ?? 0), whole: wholes[i], fine: null, message: '' }));
        latest.forget('cells');
        const { lost } = found[0], message = frame().message || (lost > muchLost ? `${percent(lost)} of this is of data without addresses of their own: it is in the tables.` : '');
        plot.set({ ...cellsOf(found.filter((_, i) => !minus || i !== 1).map(({ heat }) => heat), pair), drawn: sight, message });
        plot.show(panels);
    }

    async function readTime(stretches: [number, number][] | null): Promise<void> {
        if (phasesToChoose(app) < 2) return;
        const [all, subtracts] = [sides, pair];
        /** Of a pair all that a file has, or what is selected on their common axis. */
        const ownAxis = async (side: Sided) => (subtracts && !stretches ? side.app.source.axis([side.chosen.series.id]) : side.axis);
        const ask = () => Promise.all(all.map(async (side) => ownAxis(side).then((on) => timeOf(side.app.source, inWholes(side), on, subtracts ? (stretches ?? [[0, on.bytes]]) : stretchesOf(on, side.chosen.selection), !subtracts && side.chosen.filter.structure !== undefined))));
        const show = ([first, second = null]: (Column[] | null)[]) => {
            if (subtracts) plot.set({ time: second, subtracted: first, besideTime: null, timeColours: () => [theme().misses, theme().accesses] });
            else plot.set({ time: first, subtracted: null, besideTime: second && second[0].length > 1 ? second : null, timeColours: () => (first!.length > 2 ? theme().causes : [panel(all[0]).colour()]) });
        };
        await latest.show('time', JSON.stringify([cells, chosen.filter, stretches]), ask, show);
    }

    const sidesRead = (): Sided[] => sidesOfPhases(app, chosen)?.map((side) => ({ ...side, axis })) ?? sides.slice(0, pair ? 2 : 1);

    /** The lines of what is selected, for the details. */
    async function readLines(selected: [number, number][] | null): Promise<void> {
        const { series, show, selection, whole, cause, filter } = chosen;
        const on = axis, stretches = selected ?? [[0, on.bytes]];
        // of many rows the lines of everything are not read until something is selected; of a cause all lines are told
        const many = (whole && (cause < 0 || filter.function !== undefined || filter.core !== undefined || !selection)) || stretches.length === 0 || (series.rows * sum(stretches, ([from, to]) => to - from)) / on.bytes > fewRows || series.rows === 0;
        const cache = cacheOf(source.info.machine.yaml, series.owner);
        const sets = series.kind === 'level' && cache && selection && cache.line === series.unit ? cache.sets : 0;
        const [subtracts, addresses] = [pair !== null, app.state.structure ? '' : app.state.sel];
        /** Of a pair all that a file has, or a data structure where it lies in it; addresses are those of the first. */
        const ofSide = async ({ app: { source: file }, chosen: { series: { id }, phases, selection: own }, axis: its }: Sided, i: number): Promise<Selected> => {
            const apart = subtracts && !addresses;
            const which = apart ? await file.axis([id]) : its;
            const parts = apart ? (stretchesOf(which, own) ?? (app.state.structure ? [] : [[0, which.bytes]])) : stretches;
            return file.askLatest(`selected${i}`, 'selected', id, show.quantity, phases, which, parts, worstLines, sets);
        };
        const both = sidesRead();
        const ask = async () => (many ? [] : Promise.all(both.map(ofSide)));
        await latest.show('lines', JSON.stringify([data, stretches, app.state.structure]), ask, (found) => fillDetails(both.length > 1 ? both : [], found.map((each) => (Number.isNaN(each.lines) ? null : each))));
    }

    /** Whether the lines of a brush are counted: each data structure in it is a search in the file, of many phases a pass over it. */
    function countsLines(): boolean {
        const { selection, series: { kind, rows, phases }, whole } = chosen;
        if (!selection || app.state.structure || whole || kind !== 'level') return false;
        const count = structuresIn(source.info.structures, selection).length;
        return count <= structuresAtMost && (phases <= 64 || rows * count <= fewRows);
    }

    /** Answer and data structures by the lines of a brush, where the file tells these apart, instead of as wholes. */
    async function readStructures(): Promise<void> {
        if (!countsLines()) return;
        const both = sidesRead();
        const stretches = stretchesOf(axis, chosen.selection)!;
        const there = (on: Axis) => stretches.flatMap(([from, to]) => addressesIn(on, from, to)); // of the second file, too
        const ask = () => Promise.all(both.map((side) => sumsByStructure(side.app.source, side.chosen, side.axis, there(side.axis))));
        await latest.show('structures', `${data}${app.state.sel}`, ask, (found) => {
            top.ariaBusy = 'false';
            const [own, other] = found.map((sums, i) => selectedTable(both[i].app, both[i].chosen, sums, pick));
            listed[0] = other ? differenceTable(own, other, both) : own;
            fillTables();
            const brushed = found.map((sums, i) => cubeOfSums(both[i].app.source.info, both[i].chosen.series.owner, sums, both[i].chosen.phases));
            const sidesOfLines = both.map((side, i) => ({ ...side, chosen: { ...side.chosen, cube: brushed[i] }, filter: {} }));
            fill(top, answerBox(app, levels, other ? differenceSentence(sidesOfLines, listed.slice(0, 1)) : '', notes, chosen.minus ? brushed.slice(1) : brushed));
        });
    }

    async function readReuse(): Promise<void> {
        if (source.info.reuse.length === 0 || differs(app) || chosen.minus) return;
        const [now, structures] = [chosen, structuresChosen(app, chosen)];
        const ask = () => source.ask('reuse', structures, now.phases);
        await latest.show('reuse', JSON.stringify([data, structures, app.state.scale, app.state.theme]), ask, (found) => reuse.show(found, structures, now));
    }

    /** Of cores and functions, which are known of data structures as wholes, those that are selected. */
    const inWholes = ({ chosen: own, filter: { structure } }: Side): Chosen => (own.whole && structure ? { ...own, filter: { ...own.filter, structure } } : own);

    /** `found`: in the lines, of each file. */
    function fillDetails(both: Side[], [first = null, second = null]: (Selected | null)[] = []): void {
        const zoom = chosen.selection && h('button', { type: 'button', title: 'Zoom to the selection (z)', onclick: zoomToSelection }, 'Zoom');
        const head = h('div', { class: 'row' }, h('h2', {}, selectionTitle(app, chosen)), zoom);
        if (both.length) return fill(details, head, ...differenceDetails(both, [first, second]));
        fill(details, head, ...numbersOf(app, chosen, first), ...factsOf(app, chosen, first), reuse.element, ...lineFacts(app, chosen, first));
    }

    /** Answer, switches and tables; of `both` where these are subtracted. */
    function fillAround(both: Side[], one: Side): void {
        const shown = both.length ? both : [one];
        levels = shown.map(({ chosen: { series } }) => (series.kind === 'level' ? series.owner : undefined));
        if (!both.length && differs(app)) levels.push(pairs?.pairs.find(({ id }) => id === `missrate|${levels[0]}`)?.b.owner);
        switches.update(chosen);
        fillDetails(both);
        latest.forget('lines');
        latest.forget('structures');
        const [own, others] = shown.map((side) => groupTables(side.app, side.chosen, side.filter, pick));
        listed = others ? own.map((each, i) => differenceTable(each, others[i], both)) : own;
        if (others && both[0].chosen.series.unit !== both[1].chosen.series.unit) listed.splice(5); // lines that are evicted
        else if (pairNow() && app.state.sel && !app.state.structure) listed.splice(6); // which lines of the second are selected is not known yet
        const wholes = chosen.whole && app.state.sel && !app.state.structure ? shown.map(({ chosen: { cube }, filter: { structure = [], phase } }) => narrowed(cube!, { structure, ...(phase && { phase }) })) : [];
        const within = asAWhole(structuresChosen(app, chosen) ?? []);
        top.ariaBusy = String(countsLines());
        if (!countsLines() || !top.firstChild) fill(top, answerBox(app, levels, others ? differenceSentence(both, listed) : '', notes, chosen.minus ? wholes.slice(1) : wholes, within));
        fillTables();
    }

    const fillTables = () => fill(tables, ...listed.flatMap((each) => (each?.rows.length ? [tableCard(app, each)] : [])));

    return {
        element,
        update: () => void refresh(),
        /** Sums over the phases that are chosen, of all addresses; for tests. */
        totals: () => (pair ? plot.totals() : { [chosen.series.owner]: Object.values(plot.totals())[0] ?? NaN }),
    };
}
