// SPDX-License-Identifier: BSD-3-Clause
// FileInfo: all that the page needs to know of a file before it draws, from attributes and short columns alone.
import { causes, FileError, type Component, type FileInfo, type Grouping, type SeriesInfo, type Structure, type TableRow } from '../protocol';
import { remembered } from '../remembered';
import { text, texts, type Store } from './h5';
import { campaignOf, intrusionOf, probeOf, sweepOf, trackersOf, validationOf } from './tables';

function damaged(what: string): never {
    throw new FileError(`/attribution/${what} has numbers that nothing stands for; the file is damaged.`);
}

/** By site; -1: it belongs to none. */
function groupingsOf(store: Store): Grouping[] {
    const path = 'attribution';
    store.requireColumns(`${path}/code`, ['function', 'file', 'line', 'module']);
    const { code: codes, object: objects } = store.columns(`${path}/sites`, 'code', 'object');
    const fields = store.has(`${path}/sites/field`) ? store.numbers(`${path}/sites/field`) : null;
    const [functions, files, modules] = ['function', 'file', 'module'].map((each) => store.texts(`${path}/code/${each}`));
    const lines = store.numbers(`${path}/code/line`);
    const objectNames = store.texts(`${path}/objects`);
    const fieldNames = fields ? store.texts(`${path}/fields`) : [];
    if (codes.some((each) => each >= lines.length) || objects.some((each) => each >= objectNames.length)) damaged('sites');
    if (fields?.some((each) => each !== 0 && each >= fieldNames.length)) damaged('sites/field');
    /** The number of a name, whose text is shown; equal names have one. */
    type NumberOf = (name: string, text?: string) => number;
    const group = (id: Grouping['id'], of: (site: number, number: NumberOf) => number): Grouping => {
        const [names, numbers]: [string[], Map<string, number>] = [[], new Map()];
        const number: NumberOf = (name, text = name) => remembered(numbers, name, () => names.push(text) - 1);
        return { id, of: Int32Array.from(codes, (_, site) => of(site, number)), names };
    };
    const inCode = (site: number, name: string, number: NumberOf) => {
        const module = modules[codes[site]];
        return number(`${name}\n${module}`, name || (module ? `(in ${module})` : '(not known)'));
    };
    return [
        group('structures', (site, number) => (objects[site] === 0 ? -1 : number(objectNames[objects[site]]))),
        group('fields', (site, number) => (fields?.[site] ? number(`${fieldNames[fields[site]]} of ${objectNames[objects[site]]}`) : -1)),
        group('functions', (site, number) => inCode(site, functions[codes[site]], number)),
        group('lines', (site, number) => {
            const line = lines[codes[site]];
            return inCode(site, line === 0 ? '' : `${files[codes[site]].replace(/.*\//, '')}:${line}`, number);
        }),
    ].filter((each) => each.names.length > 0);
}

/** Columns of misses in levels, and of these by cause. */
const missesIn = (levels: string[], caused: string[]) => levels.flatMap((level) => [`misses_${level}`, ...(caused.includes(level) ? causes.map((cause) => `${cause}_${level}`) : [])]);

/** Which code and data of a program miss (docs/programs.md): a row per site and phase, with --per-core also core. The page asks for misses by level. */
function attributionOf(store: Store) {
    const [levels, caused] = ['levels', 'caused'].map((each) => listed(store, 'attribution', each));
    const optional = ['cycles', 'core'].filter((each) => store.has(`attribution/rows/${each}`));
    const columns: Record<string, Float64Array> = store.columns('attribution/rows', 'site', 'phase', 'accesses', ...optional);
    store.requireColumns('attribution/rows', ['site', ...missesIn(levels, caused)]);
    const groupings = groupingsOf(store);
    if (columns.site.some((each) => each >= groupings[0].of.length)) damaged('rows/site');
    return { levels, caused, columns, groupings };
}

export const missesBySite = (store: Store, { attribution }: FileInfo, levels: string[]): Record<string, Float64Array> =>
    store.columns('attribution/rows', ...missesIn(levels, attribution!.caused));

/** Misses after invalidations by stores of other cores (docs/causes.md, "Sharing"): a row per line, who missed and who stored. */
function sharingOf(store: Store) {
    const { levels, line_bytes } = store.attributes('sharing');
    const columns = store.columns('sharing', 'level', 'phase', 'core', 'by_core', 'address', 'true_sharing', 'false_sharing');
    return { levels: texts(levels), lineBytes: Number(line_bytes), ...columns };
}

/** What evicts what, by what references are for; 0: code. Misses by cause are those of sites. */
function causesOfObjects(store: Store, caused: string[]) {
    const structures = store.texts('attribution/objects').map((name, i) => (i === 0 ? '(code)' : name));
    return caused.map((name) => {
        const evictions = store.columns(`attribution/evictions/${name}/pairs`, 'by', 'victim', 'phase', 'count');
        if ([evictions.by, evictions.victim].some((column) => column.some((each) => each >= structures.length))) damaged(`evictions/${name}/pairs`);
        return { name, structures, misses: null, evictions };
    });
}

/** Why levels miss, and what evicts what; `names`: of /structures. */
function causesOf(store: Store, levels: string[], names: string[]) {
    /** Of which some columns name data structures. */
    const table = <N extends string>(path: string, columns: N[], ...indices: N[]) => {
        const found = store.columns(path, ...columns);
        const wrong = indices.find((column) => found[column].some((each) => each >= names.length));
        if (wrong) throw new FileError(`/${path}/${wrong} names data structures that there are not; the file is damaged.`);
        return found;
    };
    return levels.map((name) => {
        const former = store.has(`causes/${name}/misses/taken_away`); // older files
        const columns = causes.map((each) => (former && each === 'invalidated' ? 'taken_away' : each));
        const cores = store.has(`causes/${name}/misses/core`) ? ['core'] : [];
        const { structure, phase, core, ...counts }: Record<string, Float64Array> = table(`causes/${name}/misses`, ['structure', 'phase', ...cores, ...columns], 'structure');
        const evictions = table(`causes/${name}/evictions`, ['by', 'victim', 'phase', 'count'], 'by', 'victim');
        return { name, structures: names, misses: { structure, phase, core: cores.length > 0 ? core : null, counts: columns.map((each) => counts[each]) }, evictions };
    });
}

const kinds = ['run', 'sweep', 'probe', 'intrusion', 'trackers', 'campaign', 'validate'] as const;
const format = 'cachetally result';
const version = 1;

const number = (value: unknown): number => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : NaN);

function checkFormat(store: Store, name: string): Record<string, unknown> {
    const root = store.attributes('/');
    if (root.format === 'cachetally trace')
        throw new FileError(`${name} is a trace, not a result. Run it first: cachetally replay ${name} -o result.h5`);
    const groups = store.children('/').slice(0, 6).join(', ');
    if (root.format !== format)
        throw new FileError(
            `${name} is an HDF5 file, but not a result of cachetally${groups && ` (it has the groups ${groups})`}. ` +
                'The viewer takes what cachetally run, replay, sweep, intrusion, trackers and probe write with -o FILE.h5, and results of campaigns.',
        );
    const have = number(root.format_version);
    if (have > version)
        throw new FileError(`${name} has format version ${have}; this viewer knows versions up to ${version}. Use the viewer of the cachetally that wrote the file, or a newer one.`);
    if (!(have >= 1))
        throw new FileError(`${name} has format version ${text(root.format_version) || '(none)'}, which was never written by a release; write the result anew.`);
    return root;
}

/** What a group lists in an attribute; nothing where it is not there. */
const listed = (store: Store, group: string, attribute = 'names'): string[] => (store.has(group) ? texts(store.attributes(group)[attribute]) : []);

const demand: Partial<Record<Component['group'], string[][]>> = { levels: [['loads', 'stores', 'fetches'], ['load_misses', 'store_misses', 'fetch_misses']], tlbs: [['accesses'], ['misses']] };

function components(store: Store): Component[] {
    const of = (group: Component['group'], name: string): Component => {
        const counters = store.children(`${group}/${name}`).filter((each) => each !== 'phase');
        const [accesses = null, misses = null] = (demand[group] ?? []).map((columns) => {
            const found = columns.filter((each) => counters.includes(each)).map((each) => store.numbers(`${group}/${name}/${each}`));
            return found.length ? found.reduce((a, b) => a.map((each, i) => each + b[i])) : null;
        });
        return { name, group, accesses, misses, totals: Object.fromEntries(counters.map((each) => [each, number(store.attributes(`${group}/${name}/${each}`).total)])) };
    };
    const groups = ['levels', 'tlbs', 'memories', 'coherence', 'buses', 'numa'] as const;
    return groups.flatMap((group) => listed(store, group).map((name) => of(group, name)));
}

function links(store: Store) {
    return listed(store, 'links').map((name) => {
        const path = `links/${name}`;
        const { from, to, virtual_addresses } = store.attributes(path);
        const events = store.children(path).map((kind) => ({ kind, events: number(store.attributes(`${path}/${kind}`).events) }));
        return { name, from: text(from), to: text(to), virtual: number(virtual_addresses) === 1, kinds: events };
    });
}

/** The attributes of a group. */
function attributesOf(store: Store, path: string): TableRow {
    const row: TableRow = { texts: {}, numbers: {} };
    for (const [name, value] of Object.entries(store.attributes(path)))
        if (typeof value === 'number') row.numbers[name] = value;
        else row.texts[name] = text(value);
    return row;
}

/** Those of a table. `heap`: blocks of allocations, which have no elements. */
function structuresOf(store: Store, path: string, heap: boolean): Structure[] {
    if (!store.has(path)) return [];
    const several = ['element_bytes', 'row_elements'].filter((each, i) => (i === 0 && !heap) || store.has(`${path}/${each}`));
    store.requireColumns(path, ['name', 'base', 'bytes', ...several]);
    const [base, [bytes, element, row]] = [store.dataset(`${path}/base`)?.value as BigUint64Array, ['bytes', ...several].map((column) => store.numbers(`${path}/${column}`))];
    // of allocations of one name the blocks of all, or none
    const known = new Set(heap ? store.numbers(`${path}/object`) : []), partial = new Set(heap ? store.texts('attribution/objects').filter((_, i) => !known.has(i)) : []);
    return store.texts(`${path}/name`).map((name, i) => ({ name, base: base[i] ?? 0n, bytes: bytes[i], elementBytes: element?.[i] ?? 0, rowElements: row?.[i] ?? 0, heap })).filter(({ name }) => !partial.has(name));
}

/** Accesses and misses of levels by structure and phase, as columns; with --per-core also by core. */
function structureLevels(store: Store, parts: Component[]) {
    if (store.has('cores/structure')) {
        const { level, ...all } = store.columns('cores', 'level', 'structure', 'phase', 'core', 'accesses', 'misses');
        return listed(store, 'cores', 'levels').map((name, number) => {
            const own = (column: Float64Array) => column.filter((_, i) => level[i] === number);
            return { name, structure: own(all.structure), phase: own(all.phase), core: own(all.core), accesses: own(all.accesses), misses: own(all.misses) };
        });
    }
    const levels = store.has('structures/levels') ? listed(store, 'structures', 'levels') : [];
    if (levels.length === 0 && store.texts('structures/name').length > 0)
        // the counts of levels, which are known in any case
        return parts.flatMap(({ name, accesses, misses }) => (accesses && misses ? [{ name, core: null, structure: misses.map(() => -1), phase: misses.map((_, i) => i), accesses, misses }] : []));
    return levels.map((name) => ({ name, core: null, ...store.columns(`structures/levels/${name}/phases`, 'structure', 'phase', 'accesses', 'misses') }));
}

function seriesOf(store: Store, all: ReturnType<typeof links>, monitors: ({ path: string } & TableRow)[], phaseCount: number): SeriesInfo[] {
    const copy = store.attributes('/').reduced !== undefined;
    const of = (kind: SeriesInfo['kind'], path: string, owner: string, event: string, fromCore: boolean): SeriesInfo => {
        const attributes = store.attributes(path);
        const isLevel = kind === 'level';
        const children = store.children(path);
        const unit = number(isLevel ? attributes.line_bytes : attributes.unit_bytes);
        if (!(unit >= 1)) throw new FileError(`/${path} does not say how large its lines are; the file is damaged.`);
        const optional = ['virtual_address', 'span', 'function'].filter((each) => children.includes(each));
        const told = isLevel && causes.every((each) => children.includes(each)) ? causes : [];
        store.requireColumns(path, ['address', 'phase', ...(isLevel ? ['accesses', 'misses'] : ['count']), ...optional, ...told]);
        const phases = Math.max(1, isLevel ? phaseCount : number(attributes.phases));
        const reduced = copy && children.includes('span') ? [store.numbers(`${path}/span`, 0, 1)[0], store.attributes(`${path}/pyramid/level1`).units ?? Infinity].join() : '';
        const physical = !isLevel && !fromCore && !children.includes('virtual_address');
        return { id: path, path, kind, owner, event, unit, rows: store.rows(`${path}/address`), phases, physical, reduced, causes: told.length > 0 };
    };
    const fromCore = (name: string) => all.find((link) => link.name === name)?.virtual ?? false;
    return [
        ...listed(store, 'combined').map((name) => of('level', `combined/${name}`, name, '', true)),
        ...all.flatMap((link) => link.kinds.map(({ kind }) => of('link', `links/${link.name}/${kind}`, link.name, kind, link.virtual))),
        ...monitors.map(({ path, texts: { name, link } }) => of('monitor', `${path}/histogram`, name, '', fromCore(link))),
        ...(store.has('exact') ? [of('exact', 'exact', text(store.attributes('sweep').link), '', true)] : []),
    ];
}

/** Tables of listeners: the labels of rows, and the other columns by name. */
function listenersOf(store: Store) {
    const [links, specs] = ['links', 'specs'].map((each) => listed(store, 'listeners', each));
    return specs.map((spec, i) => {
        const path = `listeners/listener${i}`;
        const [first, ...others] = texts(store.attributes(path).columns);
        const columns = others.map((_, nth) => `column${nth + 1}`);
        store.requireColumns(path, ['label', ...columns]);
        return { link: links[i], spec, first, labels: store.texts(`${path}/label`), others: columns.map((each, nth) => ({ name: others[nth], of: store.numbers(`${path}/${each}`) })) };
    });
}

function provenance(store: Store): [string, string][] {
    const found = Object.entries(store.attributes('provenance')).map(([key, value]): [string, string] => [key, text(value)]);
    const words = store.texts('provenance/command_line');
    if (words.length) found.push(['command_line', words.join(' ')]);
    return found.filter(([key]) => key !== 'NX_class');
}

export function factsOf(store: Store, name: string, bytes: number) {
    const parts = components(store);
    const root = checkFormat(store, name);
    const [input, machine] = ['input', 'machine'].map((each) => store.attributes(each));
    const [check, run] = ['check', 'run'].map((each) => (store.has(each) ? store.attributes(each) : null));
    const inPhases = (column: string) => (store.has(`phases/${column}`) ? store.numbers(`phases/${column}`) : new Float64Array());
    const phases = { names: store.texts('phases/name'), references: inPhases('references'), cycles: inPhases('cycles'), pageWalks: inPhases('page_walks'), hitCycles: inPhases('hit_cycles') };
    const attribution = store.has('attribution') ? attributionOf(store) : null;
    const monitors = listed(store, 'monitors', 'groups').map((group) => ({ path: `monitors/${group}`, ...attributesOf(store, `monitors/${group}`) }));
    const all = links(store);
    const info = {
        ...{ name, bytes, phases, attribution, monitors, links: all },
        kind: kinds.find((each) => each === root.kind) ?? 'run',
        complete: number(root.complete) === 1,
        /** For copies in reports: what was left out, in words; else empty. */
        reduced: text(root.reduced),
        input: text(input.name),
        /** References that it was to have at most; 0: all. */
        count: number(input.count) || 0,
        settings: store.texts('input/settings'),
        machine: { name: text(machine.name), cores: number(machine.cores), yaml: store.texts('machine/yaml').join('') },
        check: check && { passed: number(check.passed) === 1, meaning: text(check.meaning), residual: number(check.residual), bound: number(check.bound) },
        run: run && { references: number(run.references), cycles: number(run.cycles), pageWalks: number(run.page_walks) },
        components: parts,
        structures: [...structuresOf(store, 'structures', false), ...structuresOf(store, 'attribution/blocks', true)],
        causes: attribution ? causesOfObjects(store, attribution.caused) : causesOf(store, listed(store, 'causes', 'levels'), store.texts('structures/name')),
        sharing: store.has('sharing') ? sharingOf(store) : null,
        structureLevels: structureLevels(store, parts),
        reuse: listed(store, 'reuse', 'groups'),
        functions: store.texts('functions/name'),
        probe: root.kind === 'probe' ? probeOf(store) : null,
        intrusion: store.has('intrusion') ? intrusionOf(store) : null,
        campaign: root.kind === 'campaign' ? campaignOf(store) : null,
        failures: store.table('failures', ['item', 'error']),
        validation: root.kind === 'validate' ? validationOf(store) : null,
        sweep: store.has('sweep') ? sweepOf(store) : null,
        trackers: store.has('trackers/rows') ? trackersOf(store) : null,
        listeners: listenersOf(store),
        series: seriesOf(store, all, monitors, phases.names.length),
        provenance: provenance(store),
    };
    const why = text(root.incomplete);
    /** Facts that may be wrong or odd, in words. */
    const warnings = [
        !info.complete && `This run did not come to its end${why && `: ${why}`}. What is shown is what it had.`,
        info.check && !info.check.passed && `The result of ${info.input} is wrong: ${info.check.meaning} is ${info.check.residual}, at most ${info.check.bound}.`,
        info.reduced,
        number(input.cut) === 1 && `Cut after ${info.count.toLocaleString('en')} reference${info.count === 1 ? '' : 's'}, as asked: what came later is not in this file.`,
        info.kind === 'run' && info.run?.references === 0 && 'The program made no references: there is nothing to draw.',
        info.kind !== root.kind && `This file is of the kind '${text(root.kind)}', which the viewer has no pictures of. The tables show where it comes from.`,
    ];
    return { ...info, warnings: warnings.filter((each) => typeof each === 'string' && each !== '') as string[] };
}
