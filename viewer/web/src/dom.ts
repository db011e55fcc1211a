// SPDX-License-Identifier: BSD-3-Clause
// Building elements.
import { range, sort as sorted } from 'd3-array';
import { abridged, full } from './numbers';
import type { TableRow } from './protocol';

type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;
type Child = Node | string | null | undefined | false;

const present = (children: Child[]) => children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false);

/** An element; attributes that are functions are listeners ("onclick"). */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') element.addEventListener(name.slice(2), value as unknown as EventListener);
        else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
    }
    element.append(...present(children));
    return element;
}

/** Other children. The focus stays on a control that is there again: by its value or name, else by its place. */
export function fill(parent: HTMLElement, ...children: Child[]): void {
    const controls = () => [...parent.querySelectorAll<HTMLElement>('button, select, input, [tabindex]')];
    const name = ({ dataset: { value }, ariaLabel, textContent }: HTMLElement) => value ?? ariaLabel ?? textContent;
    const focused = document.activeElement as HTMLElement;
    const place = controls().indexOf(focused);
    parent.replaceChildren(...present(children));
    if (place >= 0 && !focused.isConnected) (controls().find((each) => name(each) && name(each) === name(focused)) ?? controls()[place])?.focus();
}

export function segmented<T extends string>(label: string, options: [T, string, string?][], chosen: T, choose: (value: T) => void): HTMLElement {
    const button = ([value, text, title]: [T, string, string?]) =>
        h('button', { type: 'button', 'aria-pressed': String(value === chosen), title, 'data-value': value, onclick: () => choose(value) }, text);
    return h('div', { class: 'segmented', role: 'group', 'aria-label': label }, ...options.map(button));
}

/** A choice between many things; those without words of their own are called as they are. */
export function select<T extends string>(label: string, options: (T | [T, string])[], chosen: T, choose: (value: T) => void): HTMLElement {
    const onchange = (event: Event) => choose((event.target as HTMLSelectElement).value as T);
    const option = ([value, text]: [T, string]) => h('option', { value, selected: value === chosen }, text);
    const element = h('select', { 'aria-label': label, onchange }, ...options.map((each) => option(typeof each === 'string' ? [each, each] : each)));
    return h('label', { class: 'field' }, h('span', {}, label), element);
}

export type Row = (string | number)[];

/** Rows of texts and numbers, for the screen and for CSV. */
export interface Table {
    caption: string;
    headers: string[];
    rows: Row[];
    /** How many of the first columns together name a row, and lose the middle of long names; default: 1. */
    keys?: number;
    /** How columns of numbers are shown; default: in full. */
    format?: (value: number, column: number, row: Row) => string;
    /** The column that rows are sorted by at first, the largest first; default: as they are. */
    sorted?: number;
    /** How many rows are shown; default: 500. The CSV file has all. */
    most?: number;
    /** A column whose numbers have a bar behind them. */
    barred?: number;
    /** What pressing a row's name does, and which row is chosen. */
    pick?: (name: string) => void;
    picked?: string;
}

/** A column by name, and what it has of a thing. */
export type Column<T> = readonly [string, (thing: T, i: number) => string | number];

/** Columns of what things have, by their titles. */
export const columnsBy = <K extends string>(keys: Record<string, K>): Column<Record<K, string | number>>[] =>
    Object.entries(keys).map(([title, key]) => [title, (thing) => thing[key]]);

/** A table with a row per thing. */
export const tableBy = <T>(caption: string, things: T[], columns: Column<T>[], more: Partial<Table> = {}): Table => ({
    caption,
    headers: columns.map(([name]) => name),
    rows: things.map((each, i) => columns.map(([, of]) => of(each, i))),
    ...more,
});

/** Columns of rows by their names in words: "swap-outs" are swapouts, "worst recall %" of worst_recall, which is a fraction. */
export const inWords = (...names: string[]) =>
    names.map((name): [string, (each: TableRow) => string | number] => {
        const column = name.replace(/ %$/, '').replace(/-/g, '').replace(/ /g, '_');
        return [name, ({ texts, numbers }) => texts[column] ?? (name.endsWith('%') ? 100 : 1) * numbers[column]];
    });

/** As many as the box of a table shows at once. */
const rowsInBox = 16;

// elements of the class `prints` are told, too
for (const event of ['beforeprint', 'afterprint'])
    window.addEventListener(event, () => document.querySelectorAll('.prints').forEach((each) => each.dispatchEvent(new Event(event))));

/** Paper has room for so many columns. */
const mostColumns = 9;

/** Numbers with their unit, and options, are not broken. */
export const unbroken = (text: string): Child[] => text.split(/([\d.,]+ %|--[\w-]+)/).map((part, i) => (i % 2 ? h('span', { class: 'unbroken' }, part) : part));

/** Where nobody scrolls, columns that do not fit follow in further tables, with the same names of rows. */
function printInParts(box: HTMLElement, { tHead, tBodies }: HTMLTableElement, { caption, headers, keys = 1 }: Table, more: Child): void {
    const named = Math.min(4, keys);
    const part = (from: number) => {
        const columns = [...range(named), ...range(from, Math.min(headers.length, from + mostColumns - named))];
        const row = (each: HTMLTableRowElement) => h('tr', {}, ...columns.map((i) => each.cells[i].cloneNode(true)));
        return h('table', {}, h('thead', {}, ...[...tHead!.rows].map(row)), h('tbody', {}, ...[...tBodies[0].rows].map(row)));
    };
    let parts: HTMLElement | null = null;
    const print = (now: boolean) => {
        box.classList.toggle('split', now);
        parts?.remove();
        const tables = () => range(named, headers.length, mostColumns - named).map(part);
        if (now) box.after((parts = h('div', { class: 'printed parts' }, h('p', { class: 'note' }, caption), ...tables(), more && h('p', { class: 'note' }, more))));
    };
    box.classList.add('prints');
    box.addEventListener('beforeprint', () => print(true));
    box.addEventListener('afterprint', () => print(false));
}

/** A box whose content may be wider, and the sign that it is. */
export function sideways(box: HTMLElement, text = 'scroll sideways for all columns'): [HTMLElement, HTMLElement] {
    const sign = h('p', { class: 'note scrolls', hidden: true }, `↔ ${text}`);
    new ResizeObserver(() => (sign.hidden = box.scrollWidth <= box.clientWidth + 8)).observe(box);
    return [sign, box];
}

/** A table whose columns are sorted by pressing their heads. */
export function tableElement(table: Table): HTMLElement {
    const { headers, rows, format = full } = table;
    const mostRows = table.most ?? 500;
    let [column, again] = [table.sorted ?? -1, false];
    const numeric = headers.map((_, i) => rows.length > 0 && typeof rows[0][i] === 'number');
    const most = table.barred === undefined ? 0 : Math.max(0, ...rows.map((row) => row[table.barred!] as number));
    const number = (value: number, i: number, row: Row) => {
        const shown = format(value, i, row);
        if (i !== table.barred || !(most > 0)) return h('td', { class: 'number' }, shown);
        return h('td', { class: 'number barred' }, h('span', { class: 'bar', style: `width:${Math.round((100 * value) / most)}%` }), h('span', {}, shown));
    };
    const cell = (value: string | number, i: number, row: Row) => {
        if (typeof value === 'number') return number(value, i, row);
        if (i >= (table.keys ?? 1)) return h('td', {}, value);
        if (i > 0 || !table.pick) return h('td', { title: value }, abridged(value, table.keys! > 1 ? 30 : undefined));
        return h('td', {}, h('button', { type: 'button', class: 'link', 'aria-pressed': String(value === table.picked), title: value, onclick: () => table.pick!(value) }, abridged(value)));
    };
    const body = h('tbody');
    const sort = (i: number) => {
        again = column === i && !again;
        column = i;
        fill();
    };
    const heads = headers.map((header, i) =>
        h('th', { scope: 'col', class: numeric[i] ? 'number' : undefined }, h('button', { type: 'button', class: 'sort', title: 'Sort by it', onclick: () => sort(i) }, header)),
    );
    /** Numbers from the largest, whatever their sign, texts from A; what is not known is last in any case. */
    const order = (a: string | number, b: string | number) =>
        typeof a === 'number' && typeof b === 'number' ? Math.abs(b) - Math.abs(a) : String(a).localeCompare(String(b), 'en', { numeric: true });
    const fill = () => {
        const shown = (column < 0 ? rows : sorted(rows, (a, b) => (again ? -1 : 1) * order(a[column], b[column]))).slice(0, mostRows);
        body.replaceChildren(...shown.map((row) => h('tr', { class: row[0] === table.picked ? 'picked' : undefined }, ...row.map(cell))));
        heads.forEach((each, i) => each.setAttribute('aria-sort', i !== column ? 'none' : numeric[i] !== again ? 'descending' : 'ascending'));
    };
    fill();
    const left = rows.length - mostRows;
    const caption = h('caption', {}, table.caption, rows.length > rowsInBox && h('span', { class: 'more' }, ` · ${rows.length.toLocaleString('en')} rows, scroll for all`));
    const element = h('table', {}, caption, h('thead', {}, h('tr', {}, ...heads)), body);
    const more = left > 0 && `${left.toLocaleString('en')} more rows are in the CSV file.`;
    const box = h('div', { class: 'table-box', tabindex: 0, role: 'region', 'aria-label': table.caption }, element, more && h('p', { class: 'note' }, more));
    if (headers.length > mostColumns) printInParts(box, element, table, more);
    return h('div', {}, ...sideways(box));
}

export function csv(table: Table): string {
    const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    return [table.headers, ...table.rows].map((row) => row.map(String).map(quoted).join(',')).join('\n') + '\n';
}

export function download(name: string, content: BlobPart, type: string): void {
    const link = h('a', { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Whether browsers let a text be copied. */
export const copied = (text: string): Promise<boolean> => Promise.resolve(navigator.clipboard?.writeText(text)).then(() => !!navigator.clipboard, () => false);

/** A box over the page, closed by Escape or by pressing beside it. */
export function dialog(label: string, ...children: Child[]): HTMLDialogElement {
    const made: HTMLDialogElement = h('dialog', { 'aria-label': label, class: label.toLowerCase(), onclose: () => made.remove() }, ...children);
    made.addEventListener('click', (event) => event.target === made && made.close());
    document.body.append(made);
    made.showModal();
    return made;
}

/** Arrow keys lead along what can be pressed in a list, a table, an open menu or the row of tabs. */
export function moveFocus(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = [...((event.target as HTMLElement).closest?.('ul, tbody, [role=tablist], .menu:has(:popover-open)')?.querySelectorAll<HTMLElement>('button, a[href]') ?? [])];
    const at = all.indexOf(event.target as HTMLElement);
    if (!step || at < 0) return;
    all.at((at + step) % all.length)!.focus();
    event.preventDefault();
}
