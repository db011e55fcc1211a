// SPDX-License-Identifier: BSD-3-Clause
// What views need from the page around them; the state, kept in the URL after '#', and what it means in terms of the file.
import { sort } from 'd3-array';
import { placeOf, rangeOf } from './axis';
import type { Wanted } from './chart';
import type { Source } from './client';
import { causeNames, cubeOf, firstLevels, type Cube, type Filter } from './cube';
import { segmented } from './dom';
import { joined, phasesInWords, phasesText, readPhases } from './numbers';
import { causes, type AddressRange, type Axis, type Quantity, type SeriesInfo, type Structure } from './protocol';

export interface App {
    readonly source: Source;
    /** The files to compare with; results of runs and sweeps are compared with one, curves with any number. */
    readonly others: Source[];
    /** The second of two files is shown. */
    readonly flipped?: boolean;
    state: State;
    /** Changes what is looked at; views are told. */
    set(change: Partial<State>): void;
    /** Another stretch of the axis is shown by the view's own doing: nothing is drawn anew. */
    move(x: string): void;
}

export interface View {
    element: HTMLElement;
    /** The view is shown, or the state has changed, or the theme. */
    update?(): void;
    /** Sums by panel, for tests. */
    totals?(): Record<string, number>;
}

export interface Show {
    id: string;
    title: string;
    quantity: Quantity;
    /** Panels of it. */
    series: SeriesInfo[];
}

const quantities: [Quantity, string][] = [['accesses', 'Accesses'], ['misses', 'Misses'], ['missrate', 'Miss rate'], ['hits', 'Hits']];

const eventNames: Record<string, string> = {
    ...{ load: 'Loads', store: 'Stores', fetch: 'Fetches', fill: 'Fills', write_back: 'Write-backs', page_walk: 'Page walks', prefetch: 'Prefetches' },
    ...{ clean_victim: 'Clean victims', invalidate: 'Invalidations', flush: 'Flushes', coherence: 'Coherence messages', bank_conflict: 'Bank conflicts' },
    ring_write: 'Records of monitors',
};

/** What people call it; of kinds that are not known, the file's own word. */
export const eventName = (kind: string): string => eventNames[kind] ?? (kind.charAt(0).toUpperCase() + kind.slice(1)).replace(/_/g, ' ');

/** Kinds of events as they are listed everywhere: the program's own first, unknown ones last. */
export const inOrder = (kinds: string[]): string[] => sort(kinds, (kind) => Object.keys(eventNames).indexOf(kind) + 1 || Infinity);

/** All that histograms can show of a file. */
export function shows({ info }: Source): Show[] {
    const of = (kind: SeriesInfo['kind'], event = '') => info.series.filter((each) => each.kind === kind && each.event === event);
    const kinds = inOrder([...new Set(info.series.filter((each) => each.kind === 'link').map((each) => each.event))]);
    const all: Show[] = [
        ...quantities.map(([quantity, title]) => ({ id: quantity, title, quantity, series: of('level') })),
        { id: 'monitor', title: 'Events counted by monitors', quantity: 'count', series: of('monitor') },
        ...kinds.map((kind): Show => ({ id: `link:${kind}`, title: `${eventName(kind)} on links`, quantity: 'count', series: of('link', kind) })),
        { id: 'exact', title: 'Exact counts', quantity: 'count', series: of('exact') },
    ];
    return all.filter(({ series }) => series.length > 0);
}

/** The scale of counts: by itself, unless chosen. */
export const scaleKind = (app: App): Wanted => app.state.scale === 'log' || app.state.scale === 'linear' ? app.state.scale : 'auto';

/** `auto`: what that means. */
export function scaleChooser(app: App, auto = 'outliers are cut and marked'): HTMLElement {
    const kinds: [Wanted, string, string][] = [['auto', 'auto', auto], ['linear', 'linear', 'from 0'], ['log', 'log', 'logarithmic']];
    return segmented('Scale', kinds, scaleKind(app), (scale) => app.set({ scale: scale === 'auto' ? '' : scale }));
}

export const phaseCount = (source: Source): number => Math.max(1, source.info.phases.names.length, ...source.info.series.map((each) => each.phases));

/** The other of two files in the place of the one that is shown. */
export const turned = (app: App): App => ({ source: app.others[0], others: [app.source], state: app.state, set: (change) => app.set(change), move: (x) => app.move(x) });
/** Whether the first file is subtracted from the second. */
export const differs = (app: App): boolean => app.state.file === 'difference' && app.others.length > 0;
/** Phases that can be chosen: of a difference those of either file. */
export const phasesToChoose = (app: App): number => Math.max(phaseCount(app.source), differs(app) ? phaseCount(app.others[0]) : 0);
export const chosenPhases = (app: App): number[] | null => readPhases(app.state.phases, phasesToChoose(app), app.source.info.phases.names).phases;
export const phasesTitle = (app: App): string => phasesName(app, chosenPhases(app));

export function phasesName(app: App, phases: number[] | null): string {
    if (phases === null) return phaseCount(app.source) > 1 ? 'all phases' : 'the whole run';
    return phases.length === 1 ? phasesInWords(phases, app.source.info.phases.names) : `phases ${phasesText(phases)}`;
}

export function titleOf(source: Source): string {
    const { input, settings, machine, validation } = source.info;
    if (validation) return `probes on ${validation.machines} random machines, seed ${validation.seed}, noise ${validation.noise}`;
    return [input, ...settings].join(' ') + (machine.name ? ` on ${machine.name}` : '');
}

export const baseName = (source: Source): string => source.info.name.replace(/\.h5$/, '');
export type Chosen = NonNullable<ReturnType<typeof chosenOf>>;

/** What is shown, and of which series; what the file tells apart at this level (`cube`, null for links and monitors) and the filter in it, phases left
 * out; the number of a cause, or -1 (`unknown`: one is chosen that the file does not tell apart); names that the file does not have (`absent`); what is wrong with the addresses (`fault`); phases, addresses: null is all. `whole`: what is filtered by is known of data structures as a whole alone; `spreads`: so are the field's numbers; `placeless`: the structure has no addresses, so that the field is of all data. */
export function chosenOf(app: App) {
    const { state, source: { info } } = app;
    const all = shows(app.source);
    const wanted = state.cause && quantities.some(([id]) => id === state.show) ? 'misses' : state.show;
    const show = all.find(({ id }) => id === wanted) ?? all.find(({ id }) => id === 'misses') ?? all[0];
    if (!show) return null;
    const list = show.series.filter((each) => each.rows > 0);
    const usual = show.series[0].kind === 'level' ? firstLevels(info) : [];
    const found = list.find((each) => each.owner === state.level) ?? list.find((each) => each.owner === usual[0]) ?? list[0] ?? show.series[0];
    const cube = found.kind === 'level' ? cubeOf(info, found.owner) : null;
    const filter = filterByNames(cube, state);
    const theirs = differs(app) ? filterByNames(cubeOf(app.others[0].info, found.owner), state) : {};
    const cause = cube?.causes ? causeNames.indexOf(state.cause ?? '') : -1;
    const unknown = found.kind === 'level' && !!state.cause && cause < 0;
    const { selection, fault } = state.structure ? { selection: linesOf(info.structures, state.structure, found.unit), fault: '' } : readSelection(state.sel, found.unit);
    const byCode = filter.core !== undefined || filter.function !== undefined;
    // of two files both, or none
    const byLine = found.causes && app.others.every(({ info: other }) => other.causes.length === 0 || other.series.some((each) => each.causes));
    const placeless = !selection && !!filter.structure?.length;
    const spreads = byCode || (cause >= 0 && !byLine) || (!selection && filter.structure?.length === 0);
    const series = spreads ? found : ofCause(found, cause);
    // what is subtracted
    const minus = differs(app) ? null : readPhases(state.minus, phaseCount(app.source), info.phases.names).phases;
    const rate = show.quantity === 'missrate' && cause < 0;
    const levelThere = !state.level || info.series.some(({ owner, rows }) => owner === state.level && rows > 0);
    const nowhere = filter.structure?.length === 0 || (filter.structure === undefined && !selection);
    const there = { show: !state.show || wanted === show.id, cause: !state.cause || causeNames.includes(state.cause), level: levelThere, structure: !state.structure || !nowhere, core: filter.core?.length !== 0 || !!theirs.core?.length, func: filter.function?.length !== 0 || !!theirs.function?.length };
    const absent = (Object.keys(there) as (keyof typeof there)[]).filter((key) => !there[key]).map((key) => state[key]!);
    return { show, series, cube, filter, cause, unknown, absent, fault, rate, phases: chosenPhases(app), minus, selection, spreads, placeless, whole: spreads || placeless };
}

/** A level whose misses are those of a cause alone; -1: of all. */
export const ofCause = (series: SeriesInfo, cause: number): SeriesInfo => (cause < 0 ? series : { ...series, id: `${series.id}#${causes[cause]}` });

/** The names that are chosen, as numbers of what a file tells apart; of a name that it does not know, none. */
export function filterByNames(cube: Cube | null, { structure, core, func }: State): Filter {
    const numbers = (by: keyof Filter, name: string) => [cube!.dimensions[by]?.names.indexOf(name) ?? -1].filter((each) => each >= 0);
    const chosen: [keyof Filter, string | undefined][] = [['structure', structure], ['core', core], ['function', func]];
    return Object.fromEntries(chosen.flatMap(([by, name]) => (cube && name ? [[by, numbers(by, name)]] : [])));
}

/** "0x1000-0x2000,0x8000-0x8040" as addresses, sorted; null where there are none; and what is wrong with it, in words. */
function readSelection(text: string | undefined, unit: number): { selection: AddressRange[] | null; fault: string } {
    const [found, faults]: [AddressRange[], string[]] = [[], []];
    for (const part of text ? text.split(',') : []) {
        const [from, to] = (/^(0x[0-9a-f]{1,16})-(0x[0-9a-f]{1,17})$/i.exec(part) ?? []).slice(1).map(BigInt);
        if (from < to) found.push([from, to]);
        else faults.push(from === undefined ? `'${part}' is no range of addresses; write e.g. 0x1000-0x2000` : `'${part}' ends before it begins`);
    }
    return { selection: found.length ? joined(sort(linesIn(found, unit), ([from]) => from)) : null, fault: faults[0] ?? '' };
}

/** The lines that begin in ranges; of one in which none does, that in which it lies. */
export const linesIn = (ranges: AddressRange[], unit: number): AddressRange[] =>
    ranges.map((range) => {
        const [first, last] = range.map((at) => BigInt(unit) * ((at + BigInt(unit) - 1n) / BigInt(unit)));
        return first < last ? [first, last] : [first - BigInt(unit), first];
    });

export const selectionText = (ranges: AddressRange[]): string => ranges.map(([from, to]) => `0x${from.toString(16)}-0x${to.toString(16)}`).join();

/** The stretches of the axis that addresses take. */
export const stretchesOf = (axis: Axis, ranges: AddressRange[] | null): [number, number][] | null =>
    ranges && ranges.map((each) => placeOf(axis, each)).filter((each) => each !== null);

/** All lines of which a part is in the structures of a name; null where these have no place. */
export function linesOf(structures: Structure[], name: string, unit: number): AddressRange[] | null {
    const line = BigInt(unit);
    const whole = ([from, end]: AddressRange): AddressRange => [from - (from % line), end + ((line - (end % line)) % line)];
    const places = structures.filter((each) => each.name === name && each.bytes > 0).map((each) => whole(rangeOf(each)));
    return places.length ? sort(places, ([from]) => from) : null;
}

/** The structures that a selection reaches into. */
export const structuresIn = (structures: Structure[], selection: AddressRange[]): Structure[] =>
    structures.filter(({ base, bytes }) => bytes > 0 && selection.some(([from, to]) => base < to && base + BigInt(bytes) > from));

/** All texts; absent = default. */
export type State = Partial<Record<Key, string>>;
type Key =
    | 'view' | 'theme'
    /** Of two files: the one that is shown (b: the second), or their difference. */
    | 'file'
    /** What panels show: accesses, misses, hits, missrate, link:KIND, monitor; the level or link of views that show one. */
    | 'show' | 'level'
    /** "4", "3,5-7"; absent = all. Those whose counts are subtracted. */
    | 'phases' | 'minus'
    /** Bytes on the axis: "0-4096"; scale of values; how high rows of the field are: "cycles", or all alike. */
    | 'x' | 'scale' | 'y'
    /** What is selected: addresses as "0x1000-0x2000", the end not included; names of a data structure, a cause, a core, a function. */
    | 'sel' | 'structure' | 'cause' | 'core' | 'func'
    /** Of sweeps: error, swapouts, bytes; of intrusion: cycles, stalled, .... Hardware columns over which the front is drawn. */
    | 'metric' | 'over'
    /** Parts of a sweep, beside the link: what `level` is; of intrusion the ring's capacity; a cell of a sweep: "G,C"; of intrusion "G,DRAIN,C". */
    | 'workload' | 'settings' | 'eviction' | 'ring' | 'cell'
    /** Of pivots: parameters down, across and for each; the values that points must have, as "n|32|64;seed|1". */
    | 'down' | 'across' | 'facet' | 'where'
    /** Of probes: which curves, as "cycles:bytes"; those that are not shown; against what residuals are: plateaus, first. */
    | 'curves' | 'off' | 'residuals';

/** "core=2" is core 2, too. */
export const readHash = (): State => Object.fromEntries(new URLSearchParams(location.hash.slice(1).replace(/\bcore=(?=\d+(&|$))/, 'core=core ')));
/** Steps of this page that can be undone. */
export const depth = (): number => (history.state as { depth?: number } | null)?.depth ?? 0;

/** `again`: as a step of its own, which the browser's Back undoes. */
export function writeHash(state: State, again: boolean): void {
    const coded = (value: string) => encodeURIComponent(value).replace(/%2[CF]|%3A/g, decodeURIComponent);
    const parts = Object.entries(state).flatMap(([key, value]) => (value ? [`${key}=${coded(value)}`] : []));
    const hash = `#${parts.join('&')}`;
    if (hash === (location.hash || '#')) return;
    if (again) history.pushState({ depth: depth() + 1 }, '', hash);
    else history.replaceState(history.state, '', hash);
}
