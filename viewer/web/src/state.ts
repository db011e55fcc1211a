// SPDX-License-Identifier: BSD-3-Clause
// What is being looked at, kept in the URL after '#', so that a view can be bookmarked and sent.

/** All texts; absent = default. */
export interface State {
    view?: string;
    /** Of two files: the one that is shown (b: the second), or their difference. */
    file?: string;
    /** What panels show: accesses, misses, hits, missrate, link:KIND, monitor. */
    show?: string;
    /** "4", "3,5-7"; absent = all. */
    phases?: string;
    /** Phases whose counts are subtracted, as phases. */
    minus?: string;
    /** Bytes on the axis: "0-4096". */
    x?: string;
    scale?: string;
    /** What is selected: addresses as "0x1000-0x2000", the end not included; the name of a data structure. */
    sel?: string;
    structure?: string;
    /** What else is filtered by: names of a cause, a core, a function. */
    cause?: string;
    core?: string;
    func?: string;
    /** How high rows of the field are: "cycles", or all alike. */
    y?: string;
    /** Curves that are not shown. */
    off?: string;
    /** The level or link of views that show one. */
    level?: string;
    /** Of sweeps: error, swapouts, bytes; of intrusion: cycles, stalled, .... */
    metric?: string;
    /** Parts of a sweep, beside the link: what `level` is. */
    workload?: string;
    settings?: string;
    eviction?: string;
    /** Cell of a sweep: "G,C"; of intrusion "G,DRAIN,C". */
    cell?: string;
    /** Of intrusion: the ring's capacity. */
    ring?: string;
    /** Of pivots: parameters down, across and for each; the values that points must have, as "n|32|64;seed|1". */
    down?: string;
    across?: string;
    facet?: string;
    where?: string;
    /** Of sweeps: hardware columns over which the front is drawn. */
    over?: string;
    /** Of probes: which curves, as "cycles:bytes". */
    curves?: string;
    /** Of curves: against what residuals are shown: plateaus, first. */
    residuals?: string;
    theme?: string;
}

export function readHash(): State {
    const state: Record<string, string> = {};
    for (const part of location.hash.slice(1).split('&')) {
        const at = part.indexOf('=');
        if (at <= 0) continue;
        try {
            state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
        } catch {
            // not written by this page
        }
    }
    return state;
}

/** Steps of this page that can be undone. */
export const depth = (): number => (history.state as { depth?: number } | null)?.depth ?? 0;

/** `again`: as a step of its own, which the browser's Back undoes. */
export function writeHash(state: State, again: boolean): void {
    const parts = Object.entries(state)
        .filter(([, value]) => value !== undefined && value !== '')
        .map(
            ([key, value]) =>
                `${key}=${encodeURIComponent(value as string)
                    .replace(/%2C/g, ',')
                    .replace(/%3A/g, ':')
                    .replace(/%2F/g, '/')}`,
        );
    const hash = parts.length ? `#${parts.join('&')}` : '#';
    if (hash === (location.hash || '#')) return;
    if (again) history.pushState({ depth: depth() + 1 }, '', hash);
    else history.replaceState(history.state, '', hash);
}

const stretch = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/;

/** What is wrong with a list of phases, in words; empty where nothing is. */
export function phasesFault(text: string | undefined, count: number): string {
    if (!text || text === 'all') return '';
    for (const part of text.split(',')) {
        const match = stretch.exec(part);
        if (!match) return `'${part.trim()}' is no phase; write e.g. 4 or 3,5-7`;
        const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])];
        if (from > to) return `'${part.trim()}' ends before it begins`;
        if (to >= count)
            return `'${part.trim()}': there ${count === 1 ? 'is 1 phase' : `are ${count.toLocaleString('en')} phases`}, numbered from 0`;
    }
    return '';
}

/** "3,5-7" as numbers below `count`; null for all, or where nothing is left. */
export function parsePhases(text: string | undefined, count: number): number[] | null {
    if (!text || text === 'all') return null;
    const chosen = new Set<number>();
    for (const part of text.split(',')) {
        const match = stretch.exec(part);
        if (!match) continue;
        const from = Number(match[1]);
        const to = Math.min(count - 1, match[2] === undefined ? from : Number(match[2]));
        for (let i = from; i <= to; ++i) chosen.add(i);
    }
    return chosen.size === 0 || chosen.size === count ? null : [...chosen].sort((a, b) => a - b);
}

/** The shortest text for some phases. */
export function phasesText(phases: number[] | null): string {
    if (phases === null) return '';
    const parts: string[] = [];
    for (let i = 0; i < phases.length;) {
        let j = i;
        while (j + 1 < phases.length && phases[j + 1] === phases[j] + 1) ++j;
        parts.push(j === i ? `${phases[i]}` : `${phases[i]}-${phases[j]}`);
        i = j + 1;
    }
    return parts.join(',');
}

export function parseRange(text: string | undefined, most: number): [number, number] | null {
    const match = /^([\d.]+)-([\d.]+)$/.exec(text ?? '');
    if (!match) return null;
    const from = Math.max(0, Number(match[1]));
    const to = Math.min(most, Number(match[2]));
    return from < to ? [from, to] : null;
}

/** What parseRange() reads; empty for all. */
export const rangeText = (range: [number, number] | null): string => (range ? range.map(Math.round).join('-') : '');
