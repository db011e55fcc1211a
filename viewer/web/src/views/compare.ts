// SPDX-License-Identifier: BSD-3-Clause
// Two results: which levels, links and addresses belong together, and where these lie on one axis; the view of what differs in their tables.
import { difference, group, groups, sort, zip } from 'd3-array';
import { answerOf, sentenceOf } from '../answer';
import { shows, titleOf, type App, type View } from '../app';
import { rangeOf } from '../axis';
import { axisOf } from '../core';
import type { Source } from '../client';
import { h, tableElement, type Row, type Table } from '../dom';
import { bytes, full, inPoints } from '../numbers';
import type { AddressRange, Axis, Component, FileInfo, Phases, Quantity, Segment, SeriesInfo, Structure } from '../protocol';
import { quantityOf, snippet, type Sight } from '../python';
import { remembered } from '../remembered';
import { tablesOf } from './tables';

/** A data structure of both, from its begin on. */
export type Twin = { first: Structure; second: Structure; bytes: number };

export interface Pair {
    id: string;
    title: string;
    quantity: Quantity;
    a: SeriesInfo;
    b: SeriesInfo;
    /** null: the addresses themselves mean the same. */
    twins: Twin[] | null;
}

export type Pairs = ReturnType<typeof pairsOf>;

/** Levels and TLBs by their distance from the core; of several at one distance first what loads and stores reach. */
function ranks({ components, links }: FileInfo): Map<string, string> {
    const far = new Map([['core', 0]]);
    for (let front = ['core'], step = 1; front.length > 0; ++step) {
        front = [...new Set(links.filter(({ from, to }) => front.includes(from) && !far.has(to)).map(({ to }) => to))];
        front.forEach((name) => far.set(name, step));
    }
    const code = ({ totals }: Component) => ((totals.loads ?? 0) + (totals.stores ?? 0) > 0 ? 0 : 1);
    const some = components.filter(({ name, group }) => far.has(name) && (group === 'levels' || group === 'tlbs'));
    const alike = group(some.sort((a, b) => code(a) - code(b)), ({ name, group }) => `${group} ${far.get(name)}`);
    return new Map([...alike].flatMap(([place, all]) => all.map(({ name }, nth): [string, string] => [name, `${place} ${nth}`])));
}

/** The rank of a level, or of the two ends of a link; other names as they are. */
function rankOf(info: FileInfo, known: Map<string, string>, { kind, owner }: SeriesInfo): string {
    const monitor = info.monitors.find(({ texts }) => kind === 'monitor' && texts.name === owner);
    const link = info.links.find((each) => each.name === (monitor?.texts.link ?? owner));
    const name = (each: string) => known.get(each) ?? each;
    return kind === 'level' || !link ? name(owner) : `${name(link.from)} > ${name(link.to)}`;
}

const named = ({ structures }: FileInfo): Structure[] => structures.filter((each) => each.bytes > 0);

export const placed = (info: FileInfo, elements = true): string => JSON.stringify(named(info).map(({ name, base, bytes: size, rowElements }) => [name, String(base), size, elements && rowElements]));

/** So many names, and how many there are beside them. */
export const listed = (names: string[], most = 8, between = ', '): string =>
    names.slice(0, most).join(between) + (names.length > most ? ` and ${(names.length - most).toLocaleString('en')} more` : '');

/** How addresses of two programs belong together: twins, null for the addresses themselves, or why they do not. */
function alignment(first: FileInfo, second: FileInfo): { twins: Twin[] | null; notes: string[] } | string {
    const sameProgram = first.input === second.input;
    const [a, b] = [named(first), named(second)];
    if (sameProgram && (placed(first) === placed(second) || a.length === 0 || b.length === 0)) return { twins: null, notes: [] };
    const programs = `${first.input} and ${second.input}`;
    if (a.length === 0 || b.length === 0)
        return `Addresses of different programs (${programs}) mean different things, and without names of data structures in both nothing can be aligned.`;
    const theirs = group(b, ({ name }) => name);
    const pairs = [...group(a, ({ name }) => name)].flatMap(([name, own]) =>
        zip(own, theirs.get(name) ?? []).map(([first, twin]): Twin => ({ first, second: twin, bytes: Math.min(first.bytes, twin.bytes) })),
    );
    const alike = pairs.filter((each) => each.first.elementBytes === each.second.elementBytes);
    if (alike.length === 0)
        return `${sameProgram ? 'The two runs' : `The programs ${programs}`} have no data structure of the same name and size of elements, so that nothing can be aligned.`;
    const without = (list: Structure[]) => list.map((each) => each.name).filter((name) => !alike.some(({ first: { name: twin } }) => twin === name));
    const elements = (each: Twin, size: number) => Math.floor(size / Math.max(1, each.first.elementBytes)).toLocaleString('en');
    const notes = [`Aligned by data structure and element: ${listed(alike.map((each) => each.first.name))}. The addresses shown are those of A.`];
    const longer = alike.filter((twin) => twin.first.bytes !== twin.second.bytes);
    const lengths = longer.map((each) => `${each.first.name} (${[each.first, each.second].map(({ bytes: size }) => elements(each, size)).join(' and ')})`);
    if (longer.length) notes.push(`Of different lengths, compared in the elements that both have: ${listed(lengths)}.`);
    const turned = alike.filter((twin) => twin.first.rowElements !== twin.second.rowElements);
    if (turned.length) notes.push(`Rows of ${listed(turned.map((each) => `${each.first.name} (${each.first.rowElements} and ${each.second.rowElements} elements)`))} are not alike: what is at one place in storage is compared, not one row and column.`);
    for (const [which, own] of [['A', a], ['B', b]] as const) if (without(own).length) notes.push(`Only in ${which}, or with other elements: ${listed(without(own))}.`);
    return { twins: alike.sort((x, y) => (x.first.base < y.first.base ? -1 : 1)), notes };
}

/** Why two series are not compared; empty where they are. */
function fault(first: FileInfo, second: FileInfo, a: SeriesInfo, b: SeriesInfo, quantity: Quantity): string {
    if (a.unit !== b.unit && quantity !== 'missrate') return `Not compared, as lines have ${bytes(a.unit)} and ${bytes(b.unit)}, are counts per line`;
    if ((a.physical || b.physical) && (first.machine.yaml !== second.machine.yaml || first.input !== second.input))
        return 'Not compared is what has physical addresses, as these differ from machine to machine and from program to program';
    return '';
}

/** Beside a reduced copy a file is seen in its blocks. */
const inBlocks = (own: SeriesInfo, { reduced }: SeriesInfo): SeriesInfo => (reduced && !own.reduced ? { ...own, id: `${own.id}@${reduced}` } : own);

/** What both files count; what was aligned, and how, and what was not, and why: sentences. */
export function pairsOf(source: Source, other: Source): { pairs: Pair[]; notes: string[] } {
    const [first, second] = [source.info, other.info];
    const how = alignment(first, second);
    if (typeof how === 'string') return { pairs: [], notes: [how] };
    const known = [ranks(first), ranks(second)];
    const [notes, told] = [new Set(how.notes), new Map<string, Set<string>>()];
    const tell = (what: string, names: string) => remembered(told, what, () => new Set<string>()).add(names);
    const others = shows(other);
    const pairs: Pair[] = [];
    for (const show of shows(source)) {
        const list = others.find((each) => each.id === show.id)?.series ?? [];
        const taken = new Set<SeriesInfo>();
        const match = (a: SeriesInfo, same: (b: SeriesInfo) => boolean) => {
            const b = list.find((each) => !taken.has(each) && each.event === a.event && same(each));
            if (b) taken.add(b);
            return b;
        };
        const byName = new Map(show.series.map((a) => [a, match(a, (b) => b.owner === a.owner)]));
        for (const a of show.series) {
            const b = byName.get(a) ?? match(a, (each) => rankOf(second, known[1], each) === rankOf(first, known[0], a));
            if (!b || a.rows + b.rows === 0) continue;
            const why = fault(first, second, a, b, show.quantity);
            const owners = a.owner === b.owner ? a.owner : `${a.owner} and ${b.owner}`;
            if (a.owner !== b.owner) tell('Of the same rank in A and B', owners);
            if (why) tell(why, owners);
            else {
                const twins = a.physical || b.physical ? null : how.twins;
                pairs.push({ id: `${show.id}|${a.owner}`, title: `${show.title}: ${owners}`, quantity: show.quantity, a: inBlocks(a, b), b: inBlocks(b, a), twins });
                if (a.reduced || b.reduced) notes.add(`A reduced copy is compared in its blocks of ${parseInt(a.reduced || b.reduced)} lines; so is what it is beside.`);
            }
        }
    }
    if (source.info.phases.names.join('\n') !== other.info.phases.names.join('\n')) notes.add('The phases of A and B are not the same: phases of one number are subtracted, whatever they are.');
    if (pairs.length === 0) notes.add('The two files count nothing at levels or links of the same rank and size of lines, so that no histograms can be laid side by side.');
    return { pairs, notes: [...notes, ...[...told].map(([what, names]) => `${what}: ${listed([...names])}.`)] };
}

/** The axis of each file, where either has counts: what belongs together at the same place. */
export async function pairAxes(first: Source, second: Source, { a, b, twins }: Pair): Promise<[Axis, Axis]> {
    const unit = Math.max(a.unit, b.unit);
    const [own, theirs] = await Promise.all([first.extents([a.id]), second.extents([b.id])]);
    if (!twins) {
        const axis = axisOf([...own, ...theirs], unit);
        return [axis, axis];
    }
    /** The parts of ranges that lie in some structures, as addresses of the first. */
    const parts = (ranges: AddressRange[], which: 'first' | 'second') =>
        twins.flatMap((twin) => overlaps(ranges, rangeOf({ base: twin[which].base, bytes: twin.bytes })).map((each) => each.map((at) => at - twin[which].base + twin.first.base) as AddressRange));
    const axis = axisOf([...parts(own, 'first'), ...parts(theirs, 'second')], unit);
    const segments = (which: 'first' | 'second') =>
        axis.segments.flatMap((segment) =>
            twins.flatMap((twin) => overlaps([rangeOf(segment)], rangeOf({ base: twin.first.base, bytes: twin.bytes })).map(([from, to]): Segment => ({ base: from - twin.first.base + twin[which].base, bytes: Number(to - from), start: segment.start + Number(from - segment.base) }))),
        );
    const [here, there] = (['first', 'second'] as const).map((which): Axis => ({ segments: sort(segments(which), ({ base }) => base), bytes: axis.bytes })); // by address, as readers look them up
    return [here, there];
}

/** The parts of ranges that lie in one. */
const overlaps = (ranges: AddressRange[], [begin, end]: AddressRange): AddressRange[] =>
    ranges.flatMap(([from, to]): AddressRange[] => (from < end && to > begin ? [[from > begin ? from : begin, to < end ? to : end]] : []));

/** A series of two files and their difference; `sight`: addresses of the first that are shown; null: all. */
export function pairPython(first: Source, second: Source, { a, b, quantity, twins }: Pair, [axis]: Axis[], phases: Phases, sight: Sight): string {
    const line = (address: bigint, { unit }: SeriesInfo) => address - (address % BigInt(unit));
    const places = twins?.flatMap(({ first: { base }, second: { base: there }, bytes: size }) =>
        overlaps(sight ?? axis.segments.map(rangeOf), rangeOf({ base, bytes: size })).map(([from, to]) => [[line(from, a), to], [line(from - base + there, b), to - base + there]]),
    );
    const parts = [[first.info.name, a.path, phases], [second.info.name, b.path, phases]];
    return snippet({ PARTS: parts, PLACES: places ?? null, QUANTITY: quantityOf(quantity, a), SIGHT: places ? null : sight }, 'by_line', 'difference');
}

/** Rows by what names them, "L1", or of several columns "eviction fifo, granularity 4, counters 16"; where several have one name, the n-th of one file
 * belongs to the n-th of the other. */
function byName({ headers, rows, keys = 1 }: Table): Map<string, Row> {
    const nameOf = (row: Row) => (keys === 1 ? String(row[0]) : row.slice(0, keys).map((value, i) => `${headers[i]} ${value}`).join(', '));
    const named = (name: string, rows: Row[]) => rows.map((row, i): [string, Row] => [i > 0 ? `${name} (${i + 1})` : name, row]);
    return new Map(groups(rows, nameOf).flatMap(([name, some]) => named(name, some)));
}

const without = (names: Iterable<string>, others: Iterable<string>): string[] => [...difference(names, others)];

function onlyIn(which: string, rows: string[], columns: string[]): string[] {
    const parts = [...(rows.length ? [listed(rows, 12, '; ')] : []), ...(columns.length ? [`columns ${listed(columns, 12, '; ')}`] : [])];
    return parts.length ? [`Only in ${which}: ${parts.join('; ')}.`] : [];
}

/** A table, and sentences for under it. */
function compared(first: Table, second: Table): { table: Table; notes: string[] } {
    const [a, b] = [byName(first), byName(second)];
    const headers = first.headers.filter((each, i) => i >= (first.keys ?? 1) && second.headers.includes(each));
    const both = [...a.keys()].filter((each) => b.has(each));
    const rows = both.flatMap((name) =>
        headers.flatMap((header): Row[] => {
            const [x, y] = [a.get(name)![first.headers.indexOf(header)], b.get(name)![second.headers.indexOf(header)]];
            if ([x].includes(y)) return []; // also where neither is known
            const numbers = typeof x === 'number' && typeof y === 'number';
            return [[name, header, x, y, numbers ? y - x : NaN, numbers && x !== 0 ? y / x : NaN]];
        }),
    );
    return {
        table: {
            caption: `${first.caption}: what differs`,
            headers: ['', 'number', 'A', 'B', 'B − A', 'B ÷ A'],
            rows,
            format: (value, column, row) => (column === 4 && String(row[1]).endsWith('%') ? inPoints(`${full(value)} %`) : full(value)),
        },
        notes: [
            ...(rows.length === 0 ? [`${first.caption}: ${both.length === 0 || headers.length === 0 ? 'the two files have none in common' : 'no difference in what both have'}.`] : []),
            ...onlyIn('A', without(a.keys(), b.keys()), without(first.headers, second.headers)),
            ...onlyIn('B', without(b.keys(), a.keys()), without(second.headers, first.headers)),
        ],
    };
}

/** A comparison of each table that both have, and at last which tables only one has. */
function comparisons(first: Table[], second: Table[]) {
    const [own, theirs] = [first, second].map((tables) => tables.map(({ caption }) => caption));
    const found = first.flatMap((table) => second.filter(({ caption }) => caption === table.caption).slice(0, 1).map((twin) => compared(table, twin)));
    const notes = [...onlyIn('A', without(own, theirs), []), ...onlyIn('B', without(theirs, own), [])];
    const table = { caption: 'Tables of one file alone', headers: [], rows: [] };
    return notes.length ? [...found, { table, notes: notes.map((note) => note.replace('Only', 'Tables only')) }] : found;
}

export function compareView({ source, others: [other] }: App): View {
    const { notes } = pairsOf(source, other);
    const said = (some: string[]) => some.map((each) => h('p', { class: 'note' }, each));
    const tables = comparisons(tablesOf(source.info), tablesOf(other.info)).map(({ table, notes: own }) =>
        h('section', { class: 'card' }, table.rows.length > 0 && tableElement(table), ...said(own)),
    );
    const name = (which: string, each: Source, found = answerOf(each.info)) => h('p', {}, h('strong', {}, which), `${titleOf(each)} (${each.info.name})${found ? `: ${sentenceOf(found, each.info)}` : ''}`);
    return { element: h('div', { class: 'view' }, h('section', { class: 'card' }, name('A: ', source), name('B: ', other), ...said(notes)), ...tables) };
}
