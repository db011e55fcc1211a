// SPDX-License-Identifier: BSD-3-Clause
// Tables: all that a file says in numbers, and where it comes from.
import { baseName, inOrder, titleOf, type App, type View } from '../app';
import { hex } from '../axis';
import { csv, download, h, tableElement, type Table } from '../dom';
import { cubeOfStructures, rowsOf, sumsBy, type Dimension } from '../cube';
import { bytes, full } from '../numbers';
import type { Component, FileInfo } from '../protocol';
import { costsTable, findingsTable } from './findings';
import { intrusionTable } from './intrusion_data';
import { scoresTable, worstTable } from './scores';

const dash = (value: number) => (Number.isNaN(value) ? 0 : value);

function missTable(info: FileInfo): Table {
    const of = (each: Component) => (name: string) => dash(each.totals[name] ?? NaN);
    const rows = info.components
        .filter((each) => each.group === 'levels')
        .map((each) => {
            const get = of(each);
            const accesses = get('loads') + get('stores') + get('fetches');
            const misses = get('load_misses') + get('store_misses') + get('fetch_misses');
            return [
                each.name,
                accesses,
                misses,
                accesses ? (100 * misses) / accesses : 0,
                get('stores'),
                get('writebacks_in'),
                get('writeback_misses'),
                get('writebacks_out'),
                get('evictions'),
            ];
        });
    return {
        caption: 'Caches',
        headers: [
            'level',
            'accesses',
            'misses',
            'miss %',
            'stores',
            'write-backs in',
            'of these missed',
            'write-backs out',
            'evictions',
        ],
        rows,
    };
}

function counterTable(info: FileInfo, group: Component['group'], caption: string): Table {
    const list = info.components.filter((each) => each.group === group);
    const names = [...new Set(list.flatMap((each) => Object.keys(each.totals)))].sort();
    return {
        caption,
        headers: ['counter', ...list.map((each) => each.name)],
        rows: names.map((name) => [name, ...list.map((each) => each.totals[name] ?? NaN)]),
    };
}

function monitorTable(info: FileInfo): Table {
    const rows = info.monitors.map(({ name, link, counters, granularity, eviction, numbers }) => [
        name,
        link,
        counters,
        granularity,
        eviction,
        numbers.events,
        numbers.swapouts,
        numbers.lost,
        numbers.resident,
        Number.isNaN(numbers.error) ? NaN : 100 * numbers.error,
        numbers.events ? numbers.bytes / numbers.events : 0,
        numbers.ring_high_water,
    ]);
    return {
        caption: 'Monitors',
        headers: [
            'monitor',
            'link',
            'counters',
            'granularity',
            'eviction',
            'events',
            'swap-outs',
            'lost',
            'resident',
            'error %',
            'bytes per event',
            'ring at most',
        ],
        rows,
    };
}

/** Accesses and misses of all levels that tell them apart so, as columns. */
function bothBy(info: FileInfo, by: Dimension): { heads: string[]; columns: Float64Array[] } {
    const cubes = info.structureLevels.map((each) => cubeOfStructures(info, each.name)!);
    const columns = cubes.flatMap((cube) => [cube.accesses, cube.misses].map((each) => sumsBy(cube, by, each, rowsOf(cube, {}))));
    return { heads: cubes.flatMap(({ level }) => [`${level} accesses`, `${level} misses`]), columns };
}

function structureTable(info: FileInfo): Table {
    const { heads, columns } = bothBy(info, 'structure');
    const rows = info.structures.map((each, i) => [each.name, each.bytes ? hex(each.base) : '', each.bytes, ...columns.map((column) => column[i])]);
    return { caption: 'Data structures', headers: ['structure', 'base', 'bytes', ...heads], rows };
}

function linkTable(info: FileInfo): Table {
    const kinds = inOrder([...new Set(info.links.flatMap((link) => link.kinds.map((each) => each.kind)))]);
    const rows = info.links.map((link) => [
        link.name,
        link.from,
        link.to,
        ...kinds.map((kind) => link.kinds.find((each) => each.kind === kind)?.events ?? 0),
    ]);
    return { caption: 'Events on links', headers: ['link', 'from', 'to', ...kinds], rows };
}

function phaseTable(info: FileInfo): Table {
    const { names, references, cycles, pageWalks } = info.phases;
    const { heads, columns } = bothBy(info, 'phase');
    const rows = names.map((name, i) => [name, references[i], cycles[i], pageWalks[i], ...columns.map((column) => column[i])]);
    return { caption: 'Phases', headers: ['phase', 'references', 'cycles', 'page walks', ...heads], rows };
}

function sweepTable(info: FileInfo): Table {
    const published = info.sweep!.cells.some((each) => each.published);
    const rows = info.sweep!.cells.map((cell) => [
        cell.eviction,
        cell.granularity,
        cell.counters,
        cell.swapouts,
        100 * cell.error,
        cell.bytesPerEvent,
        ...Object.values(cell.more),
        ...(published
            ? [
                  cell.published?.swapouts ?? NaN,
                  cell.published ? 100 * cell.published.error : NaN,
                  cell.published?.misprint ? 'misprint' : '',
              ]
            : []),
    ]);
    const more = Object.keys(info.sweep!.cells[0]?.more ?? {});
    const headers = ['eviction', 'granularity', 'counters', 'swap-outs', 'error %', 'bytes per event', ...more];
    return {
        caption: `Sweep of ${info.sweep!.link}`,
        headers: published ? [...headers, 'published swap-outs', 'published error %', 'remark'] : headers,
        rows,
        keys: 3,
    };
}

/** All tables that a file can fill. */
export function tablesOf(info: FileInfo): Table[] {
    const tables: Table[] = [];
    const add = (table: Table) => table.rows.length > 0 && tables.push(table);
    if (info.sweep) add(sweepTable(info));
    if (info.intrusion) add(intrusionTable(info.intrusion));
    if (info.probe) add(costsTable(info.probe));
    if (info.campaign) [scoresTable(info.campaign), worstTable(info.campaign)].forEach(add);
    add(missTable(info));
    add(structureTable(info));
    add(monitorTable(info));
    add(linkTable(info));
    if (info.phases.names.length) add(phaseTable(info));
    add(counterTable(info, 'levels', 'All counters of caches'));
    add(counterTable(info, 'tlbs', 'TLBs'));
    add(counterTable(info, 'memories', 'Memories'));
    add(counterTable(info, 'numa', 'NUMA: what memories were asked by their own node (local) and by others (remote)'));
    add(counterTable(info, 'coherence', 'Coherence: what nodes asked of each other'));
    add(counterTable(info, 'buses', 'Links that take time (times in ps)'));
    return tables;
}

/** A table that can be saved. */
export function tableCard(app: App, table: Table): HTMLElement {
    const save = () =>
        download(
            `${baseName(app.source)}-${table.caption.toLowerCase().replace(/\W+/g, '-')}.csv`,
            new Blob([csv(table)], { type: 'text/csv' }),
        );
    const element = h('section', { class: 'card', 'aria-label': table.caption }, tableElement(table, full));
    const caption = element.querySelector('caption')!;
    caption.firstChild!.replaceWith(h('h2', {}, table.caption));
    caption.append(' ', h('button', { type: 'button', class: 'tool', onclick: save, 'aria-label': `Save ${table.caption} as CSV` }, 'CSV'));
    return element;
}

export function tablesView(app: App): View {
    const { info } = app.source;
    const card = (table: Table) => tableCard(app, table);
    const facts: [string, string][] = [
        ['input', titleOf(app.source)],
        ['file', `${info.name}, ${bytes(info.bytes)}${info.complete ? '' : ', incomplete'}`],
        ...(info.run
            ? ([
                  ['references', full(info.run.references)],
                  ['cycles', full(info.run.cycles)],
                  ['page walks', full(info.run.pageWalks)],
              ] as [string, string][])
            : []),
        ...(info.check
            ? ([
                  [
                      'result',
                      `${info.check.passed ? 'right' : 'WRONG'}: ${info.check.meaning} ${info.check.residual.toPrecision(3)}, at most ${info.check.bound.toPrecision(3)}`,
                  ],
              ] as [string, string][])
            : []),
        ...info.provenance.filter(([, value]) => value !== ''),
    ];
    const list = h(
        'table',
        {},
        h(
            'tbody',
            {},
            ...facts.map(([name, value]) =>
                h('tr', {}, h('th', { scope: 'row' }, name.replace(/_/g, ' ')), h('td', { class: 'wrap' }, value)),
            ),
        ),
    );
    const yaml =
        info.machine.yaml &&
        h('details', {}, h('summary', {}, `Machine ${info.machine.name}`), h('pre', {}, info.machine.yaml));
    const element = h(
        'div',
        { class: 'view' },
        ...(info.probe ? [findingsTable([app.source])] : []).map(card),
        ...tablesOf(info).map(card),
        h(
            'section',
            { class: 'card', 'aria-label': 'Provenance' },
            h('h3', {}, 'Where this comes from'),
            h('div', { class: 'table-box' }, list),
            yaml || null,
        ),
    );
    return { element, update: () => {}, dispose: () => {} };
}
