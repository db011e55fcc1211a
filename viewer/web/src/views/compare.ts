// SPDX-License-Identifier: BSD-3-Clause
// Compare: all tables of two results, A and B, and what differs in them. Pictures subtract them where they are.
import { groups } from 'd3-array';
import { titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import { h, tableElement, type Row, type Table } from '../dom';
import { full, inPoints } from '../numbers';
import { listed, pairsOf } from './compare_align';
import { tablesOf } from './tables';

const same = (a: string | number, b: string | number) => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** What names a row: "L1", or of several columns "eviction fifo, granularity 4, counters 16". */
function nameOf(table: Table, row: Row): string {
    const keys = row.slice(0, table.keys ?? 1);
    return keys.length === 1 ? String(keys[0]) : keys.map((value, i) => `${table.headers[i]} ${value}`).join(', ');
}

/** Rows by name; where several have one name, the n-th of one file belongs to the n-th of the other. */
function byName(table: Table): Map<string, Row> {
    const named = (name: string, rows: Row[]) => rows.map((row, i): [string, Row] => [i > 0 ? `${name} (${i + 1})` : name, row]);
    return new Map(groups(table.rows, (row) => nameOf(table, row)).flatMap(([name, rows]) => named(name, rows)));
}

function without(names: Iterable<string>, others: Iterable<string>): string[] {
    const known = new Set(others);
    return [...names].filter((each) => !known.has(each));
}

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
            if (same(x, y)) return [];
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
    const found = first.flatMap((table) => {
        const twin = second.find((each) => each.caption === table.caption);
        return twin ? [compared(table, twin)] : [];
    });
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
    const name = (which: string, each: Source) => h('p', {}, h('strong', {}, which), `${titleOf(each)} (${each.info.name})`);
    const names = h('section', { class: 'card' }, name('A: ', source), name('B: ', other), ...said(notes));
    return { element: h('div', { class: 'view' }, names, ...tables) };
}
