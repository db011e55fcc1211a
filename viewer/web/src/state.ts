// SPDX-License-Identifier: BSD-3-Clause
// What is being looked at, kept in the URL after '#', so that a view can be bookmarked and sent.
import { joined } from './numbers';

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
    /** What is selected: addresses as "0x1000-0x2000", the end not included; the name of a data structure. */
    | 'sel' | 'structure'
    /** What else is filtered by: names of a cause, a core, a function. */
    | 'cause' | 'core' | 'func'
    /** Of sweeps: error, swapouts, bytes; of intrusion: cycles, stalled, .... Hardware columns over which the front is drawn. */
    | 'metric' | 'over'
    /** Parts of a sweep, beside the link: what `level` is; of intrusion the ring's capacity. */
    | 'workload' | 'settings' | 'eviction' | 'ring'
    /** Cell of a sweep: "G,C"; of intrusion "G,DRAIN,C". */
    | 'cell'
    /** Of pivots: parameters down, across and for each; the values that points must have, as "n|32|64;seed|1". */
    | 'down' | 'across' | 'facet' | 'where'
    /** Of probes: which curves, as "cycles:bytes"; those that are not shown; against what residuals are: plateaus, first. */
    | 'curves' | 'off' | 'residuals';

export const readHash = (): State => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

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

/** "3,5-7" as numbers below `count` (null: all, or where nothing is left), and what is wrong with it, in words. */
export function readPhases(text: string | undefined, count: number): { phases: number[] | null; fault: string } {
    const chosen = new Set<number>();
    let fault = '';
    for (const part of text && text !== 'all' ? text.split(',') : []) {
        const [, first, last = first] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
        const [from, to] = [Number(first), Number(last)];
        if (!first) fault ||= `'${part.trim()}' is no phase; write e.g. 4 or 3,5-7`;
        else if (from > to) fault ||= `'${part.trim()}' ends before it begins`;
        else if (to >= count) fault ||= `'${part.trim()}': there ${count === 1 ? 'is 1 phase' : `are ${count.toLocaleString('en')} phases`}, numbered from 0`;
        for (let i = from; i <= Math.min(to, count - 1); ++i) chosen.add(i);
    }
    return { phases: chosen.size === 0 || chosen.size === count ? null : [...chosen].sort((a, b) => a - b), fault };
}

/** The shortest text for some phases. */
export const phasesText = (phases: number[] | null): string =>
    joined((phases ?? []).map((phase) => [phase, phase + 1])).map(([from, end]) => (end === from + 1 ? from : `${from}-${end - 1}`)).join();

/** "phase 4", "phase 4 (solve)", "phases 6, 9, 12 (solve)", "phases 6 (solve), 7 (check)": with names that the program gives. */
export function phasesInWords(numbers: number[], names: string[]): string {
    const name = (i: number) => (names[i] && names[i] !== `phase ${i}` ? ` (${names[i]})` : '');
    const same = numbers.every((i) => name(i) === name(numbers[0]));
    const words = numbers.map((i, at) => `${i}${!same || at === numbers.length - 1 ? name(i) : ''}`);
    return `phase${words.length === 1 ? '' : 's'} ${words.join(', ')}`;
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
