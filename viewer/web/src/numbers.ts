// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them, and ranges of them.
import { max, range, sum } from 'd3-array';
import { longestName } from '../../answer.json';
const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const suffixes: [number, string][] = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
/** With the sign that is as wide as a plus, as people read it; files and JSON have hyphens. */
const withMinus = (text: string): string => text.replace(/^-/, '−');

/** In full, with commas. */
export function full(value: number): string {
    if (Number.isNaN(value)) return '–';
    if (!Number.isFinite(value)) return '∞';
    return withMinus(value !== 0 && Math.abs(value) < 1 ? String(Number(value.toPrecision(3))) : plain.format(value));
}

/** Three digits: "12.3k". */
export function brief(value: number): string {
    if (!Number.isFinite(value)) return '–';
    const [size, suffix] = suffixes.find(([size]) => Math.abs(value) >= size) ?? [1, ''];
    return withMinus(size === 1 && value === Math.round(value) ? String(value) : `${parseFloat((value / size).toPrecision(3))}${suffix}`);
}

export function percent(fraction: number): string {
    if (!Number.isFinite(fraction)) return '–';
    const value = fraction * 100;
    return `${withMinus(value === 0 ? '0' : value >= 99.995 && value < 100 ? '>99.99' : Math.abs(value) < 0.1 ? value.toPrecision(2) : value.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ','))} %`;
}

/** Round percentages without zeros behind the point. */
export const percentTick = (fraction: number): string => `${withMinus(String(parseFloat((fraction * 100).toPrecision(3))))} %`;

export function bytes(value: number): string {
    const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let [size, i] = [value, 0];
    // what is a whole number of one unit stays one where few of the next would need many decimals: "1040 KiB"
    const rounds = (next: number) => Number.isInteger(size) && next < 16 && parseFloat(next.toPrecision(4)) !== next;
    for (; size >= 1024 && i < names.length - 1 && !rounds(size / 1024); ++i) size /= 1024;
    return `${Number.isInteger(size) ? size : parseFloat(size.toPrecision(4))} ${names[i]}`;
}

/** Ranges in order, without what is behind their ends; those that overlap or touch, or are not `apart` (an end, and where the next begins), are one. */
export function joined<T extends number | bigint>(ranges: [T, T][], apart = (end: T, from: T): boolean => from > end): [T, T][] {
    const found: [T, T][] = [];
    for (const [from, end] of ranges) {
        const last = found.at(-1);
        if (!last || apart(last[1], from)) found.push([from, end]);
        else if (end > last[1]) last[1] = end;
    }
    return found;
}

/** Of percentages that are subtracted: percentage points. */
export const inPoints = (text: string): string => text.replace(/^1 %$/, '1 point').replace(/%$/, 'points');
/** A difference, with its sign. */
export const signed = (text: (value: number) => string) => (value: number): string => inPoints(value < 0 ? `−${text(-value)}` : value > 0 ? `+${text(value)}` : text(value));

/** "3,5-7,solve", also by `names`, which may hold commas, as numbers below `count` (null: all, or nothing is left), and what is wrong with it. */
export function readPhases(text: string | undefined, count: number, names: string[]): { phases: number[] | null; fault: string } {
    const chosen = new Set<number>();
    let fault = '';
    const parts = text && text !== 'all' ? text.split(',') : [];
    const most = max(names, (name) => name.split(',').length) ?? 1;
    while (parts.length > 0) {
        // as much as is a name
        const head = (length: number) => parts.slice(0, length).join().trim().replace(/^"(.*)"$/, '$1');
        const longest = range(Math.min(most, parts.length), 1, -1).find((length) => names.includes(head(length))) ?? 1;
        const part = head(longest);
        parts.splice(0, longest);
        const named = names.flatMap((name, i) => (name === part ? [i] : []));
        named.forEach((i) => chosen.add(i));
        if (named.length) continue;
        const [, first, last = first] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
        const [from, to] = [Number(first), Number(last)];
        if (!first) fault ||= `'${part}' is no phase; write e.g. 4 or 3,5-7, or a name`;
        else if (from > to) fault ||= `'${part}' ends before it begins`;
        else if (to >= count) fault ||= `'${part}': there ${count === 1 ? 'is 1 phase' : `are ${count.toLocaleString('en')} phases`}, numbered from 0`;
        for (let i = from; i <= Math.min(to, count - 1); ++i) chosen.add(i);
    }
    return { phases: chosen.size === 0 || chosen.size === count ? null : [...chosen].sort((a, b) => a - b), fault };
}

/** The shortest text for some phases. */
export const phasesText = (phases: number[] | null): string =>
    joined((phases ?? []).map((phase) => [phase, phase + 1])).map(([from, end]) => (end === from + 1 ? from : `${from}-${end - 1}`)).join();

/** A long name without its middle, as names differ at their ends; as abridged() of the terminal. */
export const abridged = (text: string, most = longestName): string => (text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(3 - most / 2)}`);
/** More are told by how many they are. */
const phasesNamed = 8;

/** "phase 4", "phases 6-8, 9 (solve), 12 (check)": with names that the program gives, once for those in a row; of many, or where names
 * come again, all of these, "phases 17-60 (solve; check)", "36 phases (solve; check)", or the first, "and 29 more". */
export function phasesInWords(numbers: number[], names: string[]): string {
    const name = (i: number) => (names[i] && names[i] !== `phase ${i}` ? ` (${names[i]})` : '');
    const kinds = [...new Set(numbers.map((i) => name(i).slice(2, -1)))];
    // neighbours of one name: "6", "6, 7", "6-9"
    const runs = joined(numbers.map((i): [number, number] => [i, i + 1]), (end, from) => from > end || name(from) !== name(from - 1));
    const changes = numbers.filter((i, at) => name(i) !== name(numbers[at + 1])).length;
    if ((runs.length > phasesNamed || changes > kinds.length) && kinds.length <= 4 && !kinds.includes('')) return `${joined(numbers.map((i) => [i, i + 1])).length > 4 ? `${numbers.length} phases` : phasesInWords(numbers, [])} (${kinds.join('; ')})`;
    const again = (run: number) => run < phasesNamed - 1 && run + 1 < runs.length && name(runs[run][0]) === name(runs[run + 1][0]);
    const words = runs.slice(0, phasesNamed).map(([from, end], run) => `${['', `${from}, `][end - from - 1] ?? `${from}-`}${end - 1}${again(run) ? '' : name(from)}`);
    return `phase${numbers.length === 1 ? '' : 's'} ${words.join(', ')}${runs.length > phasesNamed ? ` and ${sum(runs.slice(phasesNamed), ([from, end]) => end - from)} more` : ''}`;
}

export function parseRange(text: string | undefined, most: number): [number, number] | null {
    const [, first, last] = /^([\d.]+)-([\d.]+)$/.exec(text ?? '') ?? [];
    const [from, to] = [Math.max(0, Number(first)), Math.min(most, Number(last))];
    return from < to ? [from, to] : null;
}

/** What parseRange() reads; empty for all. */
export const rangeText = (range: [number, number] | null): string => (range ? range.map(Math.round).join('-') : '');
