// SPDX-License-Identifier: BSD-3-Clause
// Tables: all that a file says in numbers, and where it comes from.
import { baseName, inOrder, titleOf, type App, type View } from '../app';
import { hex } from '../axis';
import { columnsBy, csv, download, h, inWords, sideways, tableBy, tableElement, type Table } from '../dom';
import { cubeOfStructures, rowsOf, sumsBy, totalsOf, type Dimension } from '../cube';
import { bytes, full, phasesInWords } from '../numbers';
import { rowsIn, type Component, type FileInfo } from '../protocol';
import { costsTable, findingsTable, scoresTable, worstTable } from './scores';
import { intrusionTable } from './intrusion';
import { pointsTable } from './pivot';
import { sweepTable } from './sweep';
import { trackersTable } from './fronts';

function missTable(info: FileInfo): Table {
    const others = [['stores', 'stores'], ['write-backs in', 'writebacks_in'], ['of these missed', 'writeback_misses'], ['write-backs out', 'writebacks_out'], ['evictions', 'evictions']];
    const levels = info.components.filter((each) => each.group === 'levels').map(({ name, totals }) => ({ name, totals, ...totalsOf(info, name) }));
    return tableBy('Caches', levels, [
        ...columnsBy({ level: 'name', accesses: 'accesses', misses: 'misses' }),
        ['miss %', ({ accesses, misses }) => (100 * misses) / accesses || 0],
        ...others.map(([title, name]): [string, (each: (typeof levels)[number]) => number] => [title, ({ totals }) => totals[name] || 0]),
    ]);
}

/** A row per counter, a column per component. */
function counterTable(info: FileInfo, group: Component['group'], caption: string): Table {
    const list = info.components.filter((each) => each.group === group);
    const names = [...new Set(list.flatMap((each) => Object.keys(each.totals)))].sort();
    return tableBy(caption, names, [['counter', (name) => name], ...list.map(({ name, totals }): [string, (counter: string) => number] => [name, (counter) => totals[counter] ?? NaN])]);
}

const monitorTable = (info: FileInfo): Table =>
    tableBy('Monitors', info.monitors, [
        ['monitor', ({ texts }) => texts.name],
        ...inWords('link', 'counters', 'granularity', 'eviction', 'events', 'swap-outs', 'lost', 'resident', 'error %'),
        ['bytes per event', ({ numbers }) => (numbers.events ? numbers.bytes / numbers.events : 0)],
        ['ring at most', ({ numbers }) => numbers.ring_high_water],
    ]);

/** Accesses and misses of all levels that tell them apart so, as columns. */
function levelColumns(info: FileInfo, by: Dimension): [string, (each: unknown, i: number) => number][] {
    const cubes = info.structureLevels.map((each) => cubeOfStructures(info, each.name)!);
    return cubes.flatMap((cube) =>
        (['accesses', 'misses'] as const).map((what): [string, (each: unknown, i: number) => number] => {
            const sums = sumsBy(cube, by, cube[what], rowsOf(cube, {}));
            return [`${cube.level} ${what}`, (_, i) => sums[i]];
        }),
    );
}

const structureTable = (info: FileInfo): Table =>
    tableBy('Data structures', info.structures.filter(({ heap }) => !heap), [
        ['structure', ({ name }) => name],
        ['base', ({ base, bytes: size }) => (size ? hex(base) : '')],
        ['bytes', ({ bytes: size }) => size],
        ...levelColumns(info, 'structure'),
    ]);

/** `more`: columns after the ends of a link. */
export function linkTable(info: FileInfo, caption: string, headOf: (kind: string) => string, more: [string, (link: FileInfo['links'][number]) => string][] = []): Table {
    const kinds = inOrder([...new Set(info.links.flatMap((link) => link.kinds.map((each) => each.kind)))]);
    return tableBy(caption, info.links, [
        ...columnsBy({ link: 'name', from: 'from', to: 'to' }),
        ...more,
        ...kinds.map((kind): [string, (link: FileInfo['links'][number]) => number] => [headOf(kind), (link) => link.kinds.find((each) => each.kind === kind)?.events ?? 0]),
    ]);
}

function phaseTable(info: FileInfo): Table {
    const { names, references, cycles, pageWalks, hitCycles } = info.phases;
    return tableBy('Phases', names, [
        ['phase', (_, i) => phasesInWords([i], names)],
        ...Object.entries({ references, cycles, ...(hitCycles.length && { 'cycles of hits': hitCycles }), 'page walks': pageWalks }).map(([title, column]): [string, (name: string, i: number) => number] => [title, (_, i) => column[i]]),
        ...levelColumns(info, 'phase'),
    ]);
}

const counters: [Component['group'], string][] = [
    ['levels', 'All counters of caches'],
    ['tlbs', 'TLBs'],
    ['memories', 'Memories'],
    ['numa', 'NUMA: what memories were asked by their own node (local) and by others (remote)'],
    ['coherence', 'Coherence: what nodes asked of each other'],
    ['buses', 'Links that take time (times in ps)'],
];

/** All tables that a file can fill. */
export function tablesOf(info: FileInfo): Table[] {
    const { sweep, trackers, intrusion, probe, campaign, failures, validation } = info;
    return [
        ...(sweep ? [sweepTable(info)] : []),
        ...(trackers ? [trackersTable(trackers)] : []),
        ...(intrusion ? [intrusionTable(intrusion)] : []),
        ...(probe ? [costsTable(probe)] : []),
        ...(campaign ? [pointsTable(campaign)] : []),
        tableBy('Points that failed', rowsIn(failures), [['point', ({ numbers }) => String(numbers.item)], ['error', ({ texts }) => texts.error]]),
        ...(validation ? [scoresTable(validation), worstTable(validation)] : []),
        ...[missTable, structureTable, monitorTable].map((table) => table(info)),
        linkTable(info, 'Events on links', (kind) => kind),
        ...info.listeners.map(({ link, spec, first, labels, others }) =>
            tableBy(`Listener ${spec} on ${link}`, labels, [[first, (label) => label], ...others.map((each): [string, (label: string, i: number) => number] => [each.name, (_, i) => each.of[i]])]),
        ),
        phaseTable(info),
        ...counters.map(([group, caption]) => counterTable(info, group, caption)),
    ].filter((table) => table.rows.length > 0);
}

/** A table that can be saved. */
export function tableCard(app: App, table: Table): HTMLElement {
    const name = `${baseName(app.source)}-${table.caption.toLowerCase().replace(/\W+/g, '-')}.csv`;
    const save = () => download(name, csv(table), 'text/csv');
    const element = h('section', { class: 'card', 'aria-label': table.caption }, tableElement(table));
    const caption = element.querySelector('caption')!;
    caption.firstChild!.replaceWith(h('h2', {}, table.caption));
    caption.append(' ', h('button', { type: 'button', class: 'tool', onclick: save, 'aria-label': `Save ${table.caption} as CSV` }, 'CSV'));
    return element;
}

/** What the file is of, and where it comes from. */
function provenanceOf(app: App): [string, string][] {
    const { info, info: { run, check } } = app.source;
    const facts: [string, string][] = [['input', titleOf(app.source)], ['file', `${info.name}, ${bytes(info.bytes)}${info.complete ? '' : ', incomplete'}`]];
    if (run) facts.push(['references', full(run.references)], ['cycles', full(run.cycles)], ['page walks', full(run.pageWalks)]);
    if (check) facts.push(['result', `${check.passed ? 'right' : 'WRONG'}: ${check.meaning} ${check.residual.toPrecision(3)}, at most ${check.bound.toPrecision(3)}`]);
    return [...facts, ...info.provenance.filter(([, value]) => value !== '')];
}

export function tablesView(app: App): View {
    const { info } = app.source;
    const row = ([name, value]: [string, string]) => h('tr', {}, h('th', { scope: 'row' }, name.replace(/_/g, ' ')), h('td', { class: 'wrap' }, value));
    const list = h('table', {}, h('tbody', {}, ...provenanceOf(app).map(row)));
    const yaml = info.machine.yaml && h('details', {}, h('summary', {}, `Machine ${info.machine.name}`), h('pre', {}, info.machine.yaml));
    const tables = [...(info.probe ? [findingsTable([app.source])] : []), ...tablesOf(info)];
    const origin = h('section', { class: 'card', 'aria-label': 'Provenance' }, h('h3', {}, 'Where this comes from'), ...sideways(h('div', { class: 'table-box' }, list)), yaml || null);
    return { element: h('div', { class: 'view' }, ...tables.map((table) => tableCard(app, table)), origin) };
}
