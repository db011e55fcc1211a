// SPDX-License-Identifier: BSD-3-Clause
// What differs between the tables of two files, and what only one of them has.
import type { Table } from '../dom';

type Row = Table['rows'][number];

export interface Comparison {
    table: Table;
    /** Sentences for under it. */
    notes: string[];
}

const mostNames = 12;

const same = (a: string | number, b: string | number) => a === b || (Number.isNaN(a) && Number.isNaN(b));

function listed(names: string[]): string {
    const left = names.length - mostNames;
    return names.slice(0, mostNames).join('; ') + (left > 0 ? ` and ${left.toLocaleString('en')} more` : '');
}

/** What names a row: "L1", or of several columns "eviction fifo, granularity 4, counters 16". */
function nameOf(table: Table, row: Row): string {
    const keys = row.slice(0, table.keys ?? 1);
    return keys.length === 1 ? String(keys[0]) : keys.map((value, i) => `${table.headers[i]} ${value}`).join(', ');
}

/** Rows by name; where several have one name, the n-th of one file belongs to the n-th of the other. */
function byName(table: Table): Map<string, { name: string; row: Row }> {
    const seen = new Map<string, number>();
    const rows = new Map<string, { name: string; row: Row }>();
    for (const row of table.rows) {
        const name = nameOf(table, row);
        const nth = (seen.get(name) ?? 0) + 1;
        seen.set(name, nth);
        rows.set(`${nth} ${name}`, { name: nth > 1 ? `${name} (${nth})` : name, row });
    }
    return rows;
}

function onlyIn(which: string, rows: string[], columns: string[]): string[] {
    const parts = [...(rows.length ? [listed(rows)] : []), ...(columns.length ? [`columns ${listed(columns)}`] : [])];
    return parts.length ? [`Only in the ${which}: ${parts.join('; ')}.`] : [];
}

function compared(first: Table, second: Table): Comparison {
    const [a, b] = [byName(first), byName(second)];
    const headers = first.headers.filter((each, i) => i >= (first.keys ?? 1) && second.headers.includes(each));
    const both = [...a.keys()].filter((each) => b.has(each));
    const rows: Row[] = [];
    for (const key of both)
        for (const header of headers) {
            const x = a.get(key)!.row[first.headers.indexOf(header)];
            const y = b.get(key)!.row[second.headers.indexOf(header)];
            if (same(x, y)) continue;
            const numbers = typeof x === 'number' && typeof y === 'number';
            const [difference, ratio] = numbers ? [y - x, x !== 0 ? y / x : NaN] : [NaN, NaN];
            rows.push([a.get(key)!.name, header, x, y, difference, ratio]);
        }
    const names = (of: typeof a, without: typeof a) =>
        [...of].filter(([key]) => !without.has(key)).map(([, { name }]) => name);
    const columns = (of: Table, without: Table) => of.headers.filter((each) => !without.headers.includes(each));
    const nothing = both.length === 0 || headers.length === 0;
    return {
        table: {
            caption: `${first.caption}: what differs`,
            headers: ['', 'number', 'first', 'second', 'second − first', 'second ÷ first'],
            rows,
        },
        notes: [
            ...(nothing
                ? [`${first.caption}: the two files have none in common.`]
                : rows.length === 0
                  ? [`${first.caption}: no difference${both.length < a.size + b.size - both.length ? ' in what both have' : ''}`]
                  : []),
            ...onlyIn('first', names(a, b), columns(first, second)),
            ...onlyIn('second', names(b, a), columns(second, first)),
        ],
    };
}

/** A comparison of each table that both have, and at last which tables only one has. */
export function comparisons(first: Table[], second: Table[]): Comparison[] {
    const without = (of: Table[], others: Table[]) =>
        of.map((each) => each.caption).filter((each) => !others.some(({ caption }) => caption === each));
    const found = first.flatMap((table) => {
        const twin = second.find((each) => each.caption === table.caption);
        return twin ? [compared(table, twin)] : [];
    });
    const notes = [...onlyIn('first', without(first, second), []), ...onlyIn('second', without(second, first), [])];
    const table = { caption: 'Tables of one file alone', headers: [], rows: [] };
    return notes.length ? [...found, { table, notes: notes.map((note) => note.replace('Only', 'Tables only')) }] : found;
}
