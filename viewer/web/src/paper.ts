// SPDX-License-Identifier: BSD-3-Clause
// Tables for paper, where nobody scrolls: those with many columns follow in several, with the same names of rows.
import { h } from './dom';

const mostColumns = 9;

/** Columns of a table, in order, as tables that fit. */
function parts(columns: number, keys: number): number[][] {
    const named = Array.from({ length: keys }, (_, i) => i);
    const found: number[][] = [];
    for (let at = keys; at < columns; at += mostColumns - keys)
        found.push([...named, ...Array.from({ length: Math.min(mostColumns - keys, columns - at) }, (_, i) => at + i)]);
    return found;
}

function withColumns(table: HTMLTableElement, columns: number[]): HTMLElement {
    const row = (each: HTMLTableRowElement) => h('tr', {}, ...columns.map((i) => each.cells[i].cloneNode(true) as HTMLElement));
    return h(
        'table',
        {},
        h('thead', {}, ...[...(table.tHead?.rows ?? [])].map(row)),
        h('tbody', {}, ...[...table.tBodies].flatMap((body) => [...body.rows].map(row))),
    );
}

function split(): void {
    for (const box of document.querySelectorAll<HTMLElement>('.table-box')) {
        const table = box.querySelector('table');
        const rows = [...(table?.rows ?? [])];
        const columns = rows[0]?.cells.length ?? 0;
        if (!table || columns <= mostColumns || rows.some((row) => row.cells.length !== columns)) continue;
        const keys = Math.min(4, Number(table.dataset.keys ?? 1));
        const caption = table.caption ? [h('p', { class: 'note' }, table.caption.firstChild?.textContent ?? '')] : [];
        box.classList.add('split');
        box.after(h('div', { class: 'printed parts' }, ...caption, ...parts(columns, keys).map((each) => withColumns(table, each))));
    }
}

function unite(): void {
    document.querySelectorAll('.printed.parts').forEach((each) => each.remove());
    document.querySelectorAll('.split').forEach((each) => each.classList.remove('split'));
}

export function readyForPaper(): void {
    window.addEventListener('beforeprint', split);
    window.addEventListener('afterprint', unite);
}
