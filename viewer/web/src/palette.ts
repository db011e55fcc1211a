// SPDX-License-Identifier: BSD-3-Clause
// Search ("/"), the list of keys ("?"), and what single keys do anywhere on the page.
import { range, sort } from 'd3-array';
import { phaseCount, shows, turned, type App, type State } from './app';
import { causeNames, cubeOf, firstLevels, rowsOf, sumsBy, type Dimension } from './cube';
import { dialog, h } from './dom';
import { phasesInWords } from './numbers';
import { viewsOf } from './views';

type Entry = { kind: string; name: string; go: Partial<State> };
const [entriesAtMost, phasesAtMost] = [60, 10000];

/** All that can be gone to; of two files also what only the other has. */
function entriesOf(app: App): Entry[] {
    const own = entriesIn(app);
    if (app.others.length !== 1) return own;
    const known = new Set(own.map(({ kind, name }) => `${kind} ${name}`));
    const [which, file] = app.flipped ? ['A', ''] : ['B', 'b'];
    const others = entriesIn(turned(app)).filter(({ kind, name }) => !known.has(`${kind} ${name}`));
    return [...own, ...others.map(({ kind, name, go }) => ({ kind: `${kind} of ${which}`, name, go: { ...go, file } }))];
}

/** Views, events, levels, data structures, phases and functions of a file. */
function entriesIn(app: App): Entry[] {
    const { info } = app.source;
    const views = viewsOf(app).map(({ id, title }): Entry => ({ kind: 'view', name: title, go: { view: id } }));
    if (shows(app.source).length === 0) return views;
    const of = (kind: string, names: Iterable<string>, go: (name: string, i: number) => Partial<State>): Entry[] =>
        [...names].map((name, i) => ({ kind, name, go: { view: 'workbench', ...go(name, i) } }));
    const [level] = firstLevels(info), phases = phaseCount(app.source);
    const cube = level === undefined ? null : cubeOf(info, level);
    const worstFirst = (by: Dimension, names = cube?.dimensions[by]?.names ?? [], misses = cube && sumsBy(cube, by, cube.misses, rowsOf(cube, {}))) => sort(range(names.length), (i) => -misses![i]).map((i) => names[i]);
    const structures = new Set([...worstFirst('structure'), ...info.structures.map(({ name }) => name)]);
    return [
        ...views,
        ...of('event', shows(app.source).map(({ title }) => title), (_, i) => ({ show: shows(app.source)[i].id })),
        ...of('level', info.series.filter((each) => each.kind === 'level' && each.rows > 0).map(({ owner }) => owner), (owner) => ({ level: owner })),
        ...of('cause', cube?.causes ? causeNames : [], (cause) => ({ cause, show: 'misses' })),
        ...of('data structure', structures, (structure) => ({ structure, sel: '' })),
        ...of('phase', range(phases > 1 ? Math.min(phases, phasesAtMost) : 0).map((i) => phasesInWords([i], info.phases.names)), (_, i) => ({ phases: String(i) })),
        ...of('function', worstFirst('function'), (func) => ({ func, show: 'misses' })),
    ];
}

/** Those whose names have all words of a query: begun with it first, underscores apart, then as they are listed. */
function matching(entries: Entry[], query: string): Entry[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter(({ name, kind }) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)));
    const ranks = [(text: string) => text !== query.toLowerCase(), (text: string) => !text.replace(/^_+/, '').startsWith(words[0] ?? ''), (text: string) => !words.some((word) => text.includes(word))];
    return sort(found, ...ranks.map((rank) => ({ name }: Entry) => Number(rank(name.toLowerCase()))));
}

/** A field and what it finds; arrows move through the list, Enter goes. */
export function openSearch(app: App): void {
    const entries = entriesOf(app);
    let found: Entry[] = [];
    let at = 0;
    const input = h('input', { type: 'text', placeholder: 'data structure, function, phase, level, cause, view …', 'aria-label': 'Search', role: 'combobox', 'aria-controls': 'found', 'aria-expanded': 'true', spellcheck: false, autofocus: true });
    const list = h('ul', { id: 'found', class: 'found', role: 'listbox', 'aria-label': 'Found' });
    const go = (entry: Entry) => {
        made.close();
        app.set(entry.go);
        document.querySelector<HTMLElement>('#view canvas')?.focus();
    };
    const mark = () => {
        [...list.children].forEach((each, i) => each.setAttribute('aria-selected', String(i === at)));
        list.children[at]?.scrollIntoView({ block: 'nearest' });
        input.setAttribute('aria-activedescendant', found.length ? `found-${at}` : '');
    };
    const fill = () => {
        found = matching(entries, input.value).slice(0, entriesAtMost);
        at = 0;
        const item = (entry: Entry, i: number) => h('li', { id: `found-${i}`, role: 'option', onclick: () => go(entry) }, entry.name, h('span', { class: 'note' }, entry.kind));
        list.replaceChildren(...(found.length ? found.map(item) : [h('li', { class: 'note' }, 'nothing has this name')]));
        if (found.length) mark();
    };
    input.addEventListener('input', fill);
    input.addEventListener('keydown', (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) {
            at = (at + step + found.length) % Math.max(1, found.length);
            mark();
            event.preventDefault();
        } else if (event.key === 'Enter' && found[at]) go(found[at]);
    });
    const made = dialog('Search', input, list);
    fill();
}

const keys: [string, string][] = [
    ['/', 'search'],
    ['?', 'these keys'],
    ['u', 'undo the last choice'],
    ['c', 'copy a link to what is shown'],
    ['b', 'the next of several files, and what two differ by'],
    ['1 … 9', 'the views, in order'],
    ['arrows', 'on the field: move the cursor; with Shift: move what is shown'],
    ['Enter', 'on the field: select the data structure and phase under the cursor'],
    ['+ − 0', 'zoom in, out, show all'],
    ['z', 'zoom to the selection'],
    ['Home, End', 'on the field: the first and last addresses'],
    ['Escape', 'on the field: nothing is selected'],
];

export function openKeys(): void {
    const rows = keys.map(([key, what]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, what)));
    const close = h('form', { method: 'dialog' }, h('p', {}, h('button', {}, 'Close')));
    dialog('Keys', h('h2', {}, 'Keys'), h('table', {}, h('tbody', {}, ...rows)), close);
}

/** Keys that mean the same everywhere but where people write. */
export function listenForKeys(app: () => App | null, acts: Record<string, () => void>): void {
    window.addEventListener('keydown', (event) => {
        const target = event.target as HTMLElement;
        const writes = target.matches?.('input, select, textarea') || document.querySelector('dialog[open]');
        if (writes || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.key === '?') openKeys();
        else if (!app()) return;
        else if (event.key === '/') openSearch(app()!);
        else if (/^[1-9]$/.test(event.key)) {
            const view = viewsOf(app()!)[Number(event.key) - 1];
            if (view) app()!.set({ view: view.id });
        } else if (/^[-+=0z]$/.test(event.key)) document.querySelector('canvas.field')?.dispatchEvent(new KeyboardEvent('keydown', { key: event.key }));
        else if (acts[event.key]) acts[event.key]();
        else return;
        event.preventDefault();
    });
}
