// SPDX-License-Identifier: BSD-3-Clause
// What views need from the page around them.
import { sort } from 'd3-array';
import type { Source } from './client';
import { segmented } from './dom';
import { readPhases, phasesInWords, phasesText, type State } from './state';
import type { Quantity, SeriesInfo } from './protocol';
import type { Wanted } from './chart';

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
    /** The state has changed, or the theme. */
    update?(): void;
    /** Sums by panel, for tests. */
    totals?(): Record<string, number>;
    /** Milliseconds per frame of the last drawings. */
    frames?(): number[];
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
    load: 'Loads',
    store: 'Stores',
    fetch: 'Fetches',
    fill: 'Fills',
    write_back: 'Write-backs',
    page_walk: 'Page walks',
    prefetch: 'Prefetches',
    clean_victim: 'Clean victims',
    invalidate: 'Invalidations',
    flush: 'Flushes',
    coherence: 'Coherence messages',
    bank_conflict: 'Bank conflicts',
    ring_write: 'Records of monitors',
};

/** What people call it; of kinds that are not known, the file's own word. */
export const eventName = (kind: string): string =>
    eventNames[kind] ?? (kind.charAt(0).toUpperCase() + kind.slice(1)).replace(/_/g, ' ');

/** Kinds of events as they are listed everywhere: the program's own first, unknown ones last. */
export function inOrder(kinds: string[]): string[] {
    const order = Object.keys(eventNames);
    return sort(kinds, (kind) => (order.includes(kind) ? order.indexOf(kind) : order.length));
}

/** All that histograms can show of a file. */
export function shows({ info }: Source): Show[] {
    const of = (kind: SeriesInfo['kind'], event = '') => info.series.filter((each) => each.kind === kind && each.event === event);
    const kinds = inOrder([...new Set(info.series.filter((each) => each.kind === 'link').map((each) => each.event))]);
    const all: Show[] = [
        ...quantities.map(([quantity, title]) => ({ id: quantity, title, quantity, series: of('level') })),
        { id: 'monitor', title: 'Counted by monitors', quantity: 'count', series: of('monitor') },
        ...kinds.map((kind): Show => ({ id: `link:${kind}`, title: `${eventName(kind)} on links`, quantity: 'count', series: of('link', kind) })),
        { id: 'exact', title: 'Exact counts', quantity: 'count', series: of('exact') },
    ];
    return all.filter(({ series }) => series.length > 0);
}

/** The scale of counts: by itself, unless chosen. */
export const scaleKind = (app: App): Wanted =>
    app.state.scale === 'log' || app.state.scale === 'linear' ? app.state.scale : 'auto';

/** `auto`: what that means. */
export function scaleChooser(app: App, auto = 'outliers are cut and marked'): HTMLElement {
    const kinds: [Wanted, string, string][] = [
        ['auto', 'auto', auto],
        ['linear', 'linear', 'from 0'],
        ['log', 'log', 'logarithmic'],
    ];
    return segmented('Scale', kinds, scaleKind(app), (scale) => app.set({ scale: scale === 'auto' ? '' : scale }));
}

export const phaseCount = (source: Source): number =>
    Math.max(1, source.info.phases.names.length, ...source.info.series.map((each) => each.phases));

/** The other of two files in the place of the one that is shown. */
export const turned = (app: App): App => ({ source: app.others[0], others: [app.source], state: app.state, set: (change) => app.set(change), move: (x) => app.move(x) });

/** Whether the first file is subtracted from the second. */
export const differs = (app: App): boolean => app.state.file === 'difference' && app.others.length > 0;

/** Phases that can be chosen: of a difference those of either file. */
export const phasesToChoose = (app: App): number => Math.max(phaseCount(app.source), differs(app) ? phaseCount(app.others[0]) : 0);

export const chosenPhases = (app: App): number[] | null => readPhases(app.state.phases, phasesToChoose(app)).phases;

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
