// SPDX-License-Identifier: BSD-3-Clause
// Building elements.

type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;
type Child = Node | string | null | undefined | false;

/** An element; attributes that are functions are listeners ("onclick"). */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === false) continue;
        if (typeof value === 'function') element.addEventListener(name.slice(2), value as unknown as EventListener);
        else element.setAttribute(name, value === true ? '' : String(value));
    }
    element.append(
        ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
    );
    return element;
}

/** A choice between a few things, as buttons. */
export function segmented<T extends string>(
    label: string,
    options: [T, string, string?][],
    chosen: T,
    choose: (value: T) => void,
): HTMLElement {
    return h(
        'div',
        { class: 'segmented', role: 'group', 'aria-label': label },
        ...options.map(([value, text, hint]) =>
            h(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(value === chosen),
                    title: hint,
                    'data-value': value,
                    onclick: () => choose(value),
                },
                text,
            ),
        ),
    );
}

/** A choice between many things. */
export function select<T extends string>(
    label: string,
    options: [T, string][],
    chosen: T,
    choose: (value: T) => void,
): HTMLElement {
    const element = h(
        'select',
        { 'aria-label': label, onchange: (event: Event) => choose((event.target as HTMLSelectElement).value as T) },
        ...options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
    );
    return h('label', { class: 'field' }, h('span', {}, label), element);
}

/** Rows of texts and numbers, for the screen and for CSV. */
export interface Table {
    caption: string;
    headers: string[];
    rows: (string | number)[][];
    /** How many of the first columns together name a row; default: 1. */
    keys?: number;
    /** How columns of numbers are shown; default: in full. */
    format?: (value: number, column: number) => string;
}

const mostRows = 500;
/** As many as the box of a table shows at once. */
const rowsInBox = 16;

export function tableElement(table: Table, full: (value: number) => string): HTMLElement {
    const { headers, rows, format } = table;
    const shown = rows.slice(0, mostRows);
    const cell = (value: string | number, column: number) =>
        typeof value === 'number'
            ? h('td', { class: 'number' }, format ? format(value, column) : full(value))
            : h('td', {}, value);
    const numeric = headers.map((_, i) => rows.length > 0 && typeof rows[0][i] === 'number');
    const left = rows.length - shown.length;
    return h(
        'div',
        { class: 'table-box', tabindex: 0, role: 'region', 'aria-label': table.caption },
        h(
            'table',
            { 'data-keys': table.keys ?? 1 },
            h('caption', {}, table.caption, rows.length > rowsInBox && h('span', { class: 'more' }, ` · ${rows.length.toLocaleString('en')} rows, scroll for all`)),
            h(
                'thead',
                {},
                h(
                    'tr',
                    {},
                    ...headers.map((header, i) =>
                        h('th', { scope: 'col', class: numeric[i] ? 'number' : undefined }, header),
                    ),
                ),
            ),
            h('tbody', {}, ...shown.map((row) => h('tr', {}, ...row.map(cell)))),
        ),
        left > 0 && h('p', { class: 'note' }, `${left.toLocaleString('en')} more rows are in the CSV file.`),
    );
}

export function csv(table: Table): string {
    const quoted = (value: string | number) =>
        typeof value === 'number' ? String(value) : /[",\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value;
    return [table.headers, ...table.rows].map((row) => row.map(quoted).join(',')).join('\n') + '\n';
}

export function download(name: string, blob: Blob): void {
    const link = h('a', { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
