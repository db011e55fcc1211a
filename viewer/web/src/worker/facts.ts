// SPDX-License-Identifier: BSD-3-Clause
// FileInfo: all that the page needs to know of a file before it draws; reads attributes and short columns alone.
import type {
    Component,
    FileInfo,
    LinkInfo,
    MonitorInfo,
    SeriesInfo,
    Structure,
    StructureLevel,
    SweepInfo,
} from '../protocol';
import { attributionOf, causesOfObjects, sharingOf } from './attribution_facts';
import { causesOf } from './causes_facts';
import { FileError, type Store } from './h5';
import { campaignOf } from './campaign_facts';
import { intrusionOf } from './intrusion_facts';
import { probeOf } from './probe_facts';

const kinds = ['run', 'sweep', 'probe', 'intrusion', 'validate'] as const;
const format = 'cachetally result';
const version = 1;

type Attributes = Record<string, unknown>;

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const number = (value: unknown): number =>
    typeof value === 'number' || typeof value === 'bigint' ? Number(value) : NaN;
const texts = (value: unknown): string[] =>
    Array.isArray(value) ? value.map(String) : value === undefined ? [] : [text(value)];

function checkFormat(store: Store, name: string): Attributes {
    const root = store.attributes('/');
    if (root.format === 'cachetally trace')
        throw new FileError(`${name} is a trace, not a result. Run it first: cachetally replay ${name} -o result.h5`);
    if (root.format !== format)
        throw new FileError(
            `${name} is an HDF5 file, but not a result of cachetally${store.children('/').length ? ` (it has the groups ${store.children('/').slice(0, 6).join(', ')})` : ''}. ` +
                'The viewer takes what cachetally run, replay, sweep, intrusion and probe write with -o FILE.h5.',
        );
    const have = number(root.format_version);
    if (have > version)
        throw new FileError(
            `${name} has format version ${have}; this viewer knows versions up to ${version}. Use the viewer of the cachetally that wrote the file, or a newer one.`,
        );
    if (!(have >= 1))
        throw new FileError(
            `${name} has format version ${text(root.format_version) || '(none)'}, which was never written by a release; write the result anew.`,
        );
    return root;
}

function components(store: Store): Component[] {
    const found: Component[] = [];
    for (const group of ['levels', 'tlbs', 'memories', 'coherence', 'buses', 'numa'] as const) {
        if (!store.has(group)) continue;
        for (const name of texts(store.attributes(group).names)) {
            const totals: Record<string, number> = {};
            for (const counter of store.children(`${group}/${name}`))
                if (counter !== 'phase')
                    totals[counter] = store.numberOf(`${group}/${name}/${counter}`, 'total');
            found.push({ name, group, totals });
        }
    }
    return found;
}

function links(store: Store): LinkInfo[] {
    if (!store.has('links')) return [];
    return texts(store.attributes('links').names).map((name) => {
        const path = `links/${name}`;
        const { from, to, virtual_addresses } = store.attributes(path);
        const kinds = store
            .children(path)
            .map((kind) => ({ kind, events: store.numberOf(`${path}/${kind}`, 'events') }));
        return { name, from: text(from), to: text(to), virtual: number(virtual_addresses) === 1, kinds };
    });
}

function monitors(store: Store, functions: string[]): MonitorInfo[] {
    if (!store.has('monitors')) return [];
    return texts(store.attributes('monitors').groups).map((group) => {
        const path = `monitors/${group}`;
        const attributes = store.attributes(path);
        const numbers: Record<string, number> = {};
        for (const [key, value] of Object.entries(attributes)) if (typeof value === 'number') numbers[key] = value;
        const byFunction = store.has(`${path}/functions`)
            ? store.numbers(`${path}/functions/function`)
            : new Float64Array();
        const counts = byFunction.length ? store.numbers(`${path}/functions/events`) : new Float64Array();
        return {
            group,
            name: text(attributes.name),
            link: text(attributes.link),
            spec: text(attributes.spec),
            counters: number(attributes.counters),
            granularity: text(attributes.granularity),
            eviction: text(attributes.eviction),
            numbers,
            events: store.numbers(`${path}/phases/events`),
            swapouts: store.numbers(`${path}/phases/swapouts`),
            functions: Array.from(byFunction, (index, i) => ({
                name: functions[index] ?? '(none)',
                events: counts[i],
            })),
        };
    });
}

function structures(store: Store): Structure[] {
    if (!store.has('structures')) return [];
    store.requireColumns('structures', ['name', 'base', 'bytes', 'element_bytes']);
    const names = store.texts('structures/name');
    const base = store.dataset('structures/base')?.value as BigUint64Array;
    const bytes = store.numbers('structures/bytes');
    const element = store.numbers('structures/element_bytes');
    return names.map((name, i) => ({ name, base: base[i] ?? 0n, bytes: bytes[i], elementBytes: element[i] }));
}

function structureLevels(store: Store): StructureLevel[] {
    if (!store.has('structures/levels')) return [];
    return texts(store.attributes('structures').levels).map((name) => {
        const path = `structures/levels/${name}`;
        const column = (which: string) => store.numbers(`${path}/phases/${which}`);
        store.requireColumns(`${path}/phases`, ['structure', 'phase', 'accesses', 'misses']);
        return {
            name,
            exact: number(store.attributes(path).exact) === 1,
            structure: Uint32Array.from(column('structure')),
            phase: Uint32Array.from(column('phase')),
            accesses: column('accesses'),
            misses: column('misses'),
        };
    });
}

/** Columns of sweeps that not every file has. */
const hardware = ['bits', 'comparators', 'area', 'energy', 'slowdown'];

function sweep(store: Store): SweepInfo {
    const attributes = store.attributes('sweep');
    const column = (name: string) => store.numbers(`sweep/rows/${name}`);
    const measured = ['counters', 'swapouts', 'error', 'bytes_per_event'];
    store.requireColumns('sweep/rows', ['eviction', 'granularity', ...measured]);
    const eviction = store.texts('sweep/rows/eviction');
    const granularity = store.texts('sweep/rows/granularity');
    const [counters, swapouts, error, bytes] = measured.map((name) => {
        const values = column(name);
        const none = values.find((value) => !Number.isFinite(value));
        if (none === undefined) return values;
        throw new FileError(
            `/sweep/rows: the column '${name}' has ${none}, which is no number; the file is damaged. Run the sweep again.`,
        );
    });
    const more = store.children('sweep/rows').filter((name) => hardware.includes(name));
    const moreColumns = more.map(column);
    const published = store.has('sweep/rows/published') ? column('published') : null;
    const cells = eviction.map((name, i) => ({
        eviction: name,
        granularity: granularity[i],
        counters: counters[i],
        swapouts: swapouts[i],
        error: error[i],
        bytesPerEvent: bytes[i],
        more: Object.fromEntries(more.map((name, c) => [name, moreColumns[c][i]])),
    }));
    const link = text(attributes.link);
    const info = {
        link,
        monitor: text(attributes.monitor),
        references: number(attributes.references),
        events: number(attributes.events),
        cells,
    };
    if (!published) return info;
    const [swaps, errors, misprint] = ['published_swapouts', 'published_error', 'published_misprint'].map(column);
    return {
        ...info,
        cells: cells.map((cell, i) =>
            published[i] === 1
                ? { ...cell, published: { swapouts: swaps[i], error: errors[i], misprint: misprint[i] === 1 } }
                : cell,
        ),
    };
}

function series(store: Store, info: Pick<FileInfo, 'links' | 'monitors' | 'phases'>): SeriesInfo[] {
    const found: SeriesInfo[] = [];
    const add = (kind: SeriesInfo['kind'], path: string, owner: string, event: string, fromCore: boolean) => {
        const attributes = store.attributes(path);
        const isLevel = kind === 'level';
        const children = store.children(path);
        const rows = store.rows(`${path}/address`);
        const unit = number(isLevel ? attributes.line_bytes : attributes.unit_bytes);
        if (!(unit >= 1)) throw new FileError(`/${path} does not say how large its lines are; the file is damaged.`);
        const optional = ['virtual_address', 'span', 'function'].filter((each) => children.includes(each));
        store.requireColumns(path, ['address', 'phase', ...(isLevel ? ['accesses', 'misses'] : ['count']), ...optional]);
        const phases = isLevel ? Math.max(1, info.phases.names.length) : Math.max(1, number(attributes.phases));
        const physical = !isLevel && !fromCore && !children.includes('virtual_address');
        const reduced = store.attributes('/').reduced !== undefined;
        found.push({ id: path, path, kind, owner, event, unit, rows, phases, physical, reduced });
    };
    if (store.has('combined'))
        for (const name of texts(store.attributes('combined').names)) add('level', `combined/${name}`, name, '', true);
    for (const link of info.links)
        for (const { kind } of link.kinds) add('link', `links/${link.name}/${kind}`, link.name, kind, link.virtual);
    for (const monitor of info.monitors) {
        const virtual = info.links.find((link) => link.name === monitor.link)?.virtual ?? false;
        add('monitor', `monitors/${monitor.group}/histogram`, monitor.name, '', virtual);
    }
    if (store.has('exact')) add('exact', 'exact', text(store.attributes('sweep').link), '', true);
    return found;
}

/** Facts that may be wrong or odd, in words. */
function warningsOf(info: FileInfo): string[] {
    const warnings: string[] = [];
    if (!info.complete)
        warnings.push(
            `This run did not come to its end${info.incomplete ? `: ${info.incomplete}` : ''}. What is shown is what it had.`,
        );
    if (info.check && !info.check.passed)
        warnings.push(
            `The result of ${info.input} is wrong: ${info.check.meaning} is ${info.check.residual}, at most ${info.check.bound}.`,
        );
    if (info.reduced) warnings.push(info.reduced);
    if (info.kind === 'run' && info.run && info.run.references === 0)
        warnings.push('The program made no references: there is nothing to draw.');
    return warnings;
}

export function factsOf(store: Store, name: string, bytes: number): FileInfo {
    const root = checkFormat(store, name);
    const kind = kinds.find((each) => each === root.kind) ?? 'run';
    const input = store.attributes('input');
    const machine = store.attributes('machine');
    const check = store.has('check') ? store.attributes('check') : null;
    const run = store.has('run') ? store.attributes('run') : null;
    const functions = store.has('functions') ? store.texts('functions/name') : [];
    const inPhases = (column: string) =>
        store.has(`phases/${column}`) ? store.numbers(`phases/${column}`) : new Float64Array();
    const phases = {
        names: store.has('phases') ? store.texts('phases/name') : [],
        references: inPhases('references'),
        cycles: inPhases('cycles'),
        pageWalks: inPhases('page_walks'),
    };
    const provenance = store.has('provenance') ? store.attributes('provenance') : {};
    const attribution = store.has('attribution') ? attributionOf(store) : null;
    const some = { links: links(store), monitors: monitors(store, functions), phases };
    const info: FileInfo = {
        name,
        bytes,
        kind,
        complete: number(root.complete) === 1,
        incomplete: text(root.incomplete),
        failure: text(input.failure),
        reduced: text(root.reduced),
        input: text(input.name),
        settings: store.has('input/settings') ? store.texts('input/settings') : [],
        machine: {
            name: text(machine.name),
            cores: number(machine.cores),
            period: number(machine.period),
            yaml: store.has('machine/yaml') ? store.texts('machine/yaml').join('') : '',
        },
        check: check && {
            passed: number(check.passed) === 1,
            meaning: text(check.meaning),
            residual: number(check.residual),
            bound: number(check.bound),
        },
        run: run && {
            references: number(run.references),
            cycles: number(run.cycles),
            pageWalks: number(run.page_walks),
        },
        components: components(store),
        structures: structures(store),
        causes: attribution
            ? causesOfObjects(store, attribution)
            : store.has('causes')
              ? causesOf(store, texts(store.attributes('causes').levels), store.texts('structures/name'))
              : [],
        attribution,
        sharing: store.has('sharing') ? sharingOf(store) : null,
        structureLevels: structureLevels(store),
        functions,
        probe: kind === 'probe' ? probeOf(store) : null,
        intrusion: store.has('intrusion') ? intrusionOf(store) : null,
        campaign: kind === 'validate' ? campaignOf(store) : null,
        sweep: store.has('sweep') ? sweep(store) : null,
        series: series(store, some),
        provenance: [
            ...Object.entries(provenance).map(([key, value]): [string, string] => [key, text(value)]),
            ...(store.has('provenance/command_line')
                ? [['command_line', store.texts('provenance/command_line').join(' ')] as [string, string]]
                : []),
        ].filter(([key]) => key !== 'NX_class'),
        warnings: [],
        ...some,
    };
    info.warnings = warningsOf(info);
    if (!kinds.some((each) => each === root.kind))
        info.warnings.push(
            `This file is of the kind '${text(root.kind)}', which the viewer has no pictures of. The tables show where it comes from.`,
        );
    return info;
}
