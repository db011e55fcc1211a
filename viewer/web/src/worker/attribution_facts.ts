// SPDX-License-Identifier: BSD-3-Clause
// Which code and data of a program miss, and why, from /attribution.
import type { Grouping } from '../protocol';
import { FileError, texts, type Store } from './h5';

const causes = ['first_use', 'invalidated', 'capacity', 'conflict'];

/** Numbers for names: equal ones have one. */
class Names {
    readonly all: string[] = [];
    private readonly numbers = new Map<string, number>();

    /** Of a name, whose text is shown. */
    number(key: string, text = key): number {
        const known = this.numbers.get(key);
        if (known !== undefined) return known;
        this.numbers.set(key, this.all.length);
        return this.all.push(text) - 1;
    }
}

function damaged(what: string): never {
    throw new FileError(`/attribution/${what} has numbers that nothing stands for; the file is damaged.`);
}

/** By site; -1: it belongs to none. */
function groupingsOf(store: Store): Grouping[] {
    const path = 'attribution';
    store.requireColumns(`${path}/code`, ['function', 'file', 'line', 'module']);
    const [codes, objects] = store.columns(`${path}/sites`, 'code', 'object');
    const fields = store.has(`${path}/sites/field`) ? store.numbers(`${path}/sites/field`) : null;
    const [functions, files, modules] = ['function', 'file', 'module'].map((each) => store.texts(`${path}/code/${each}`));
    const lines = store.numbers(`${path}/code/line`);
    const objectNames = store.texts(`${path}/objects`);
    const fieldNames = fields ? store.texts(`${path}/fields`) : [];
    if (codes.some((each) => each >= lines.length) || objects.some((each) => each >= objectNames.length)) damaged('sites');
    if (fields?.some((each) => each !== 0 && each >= fieldNames.length)) damaged('sites/field');
    const group = (id: Grouping['id'], title: string, of: (site: number, names: Names) => number): Grouping => {
        const names = new Names();
        return { id, title, of: Int32Array.from(codes, (_, site) => of(site, names)), names: names.all };
    };
    const inCode = (site: number, name: string, names: Names) => {
        const module = modules[codes[site]];
        return names.number(`${name}\n${module}`, name || (module ? `(in ${module})` : '(not known)'));
    };
    return [
        group('structures', 'Data structures', (site, names) => (objects[site] === 0 ? -1 : names.number(objectNames[objects[site]]))),
        group('fields', 'Fields', (site, names) =>
            fields && fields[site] !== 0 ? names.number(`${fieldNames[fields[site]]} of ${objectNames[objects[site]]}`) : -1,
        ),
        group('functions', 'Functions', (site, names) => inCode(site, functions[codes[site]], names)),
        group('lines', 'Source lines', (site, names) => {
            const line = lines[codes[site]];
            return inCode(site, line === 0 ? '' : `${files[codes[site]].replace(/.*\//, '')}:${line}`, names);
        }),
    ].filter((each) => each.names.length > 0);
}

/** Which code and data of a program miss (docs/programs.md): a row per site and phase, with --per-core also core. */
export function attributionOf(store: Store) {
    const attributes = store.attributes('attribution');
    const rows = 'attribution/rows';
    const levels = texts(attributes.levels);
    const column = (name: string) => store.numbers(`${rows}/${name}`);
    const [site, phase, accesses, ...misses] = store.columns(rows, 'site', 'phase', 'accesses', ...levels.map((each) => `misses_${each}`));
    const counts = [{ title: 'accesses', values: accesses }];
    if (store.has(`${rows}/cycles`)) counts.push({ title: 'cycles lost', values: column('cycles') });
    counts.push(...levels.map((each, i) => ({ title: `${each} misses`, values: misses[i] })));
    const groupings = groupingsOf(store);
    if (site.some((each) => each >= groupings[0].of.length)) damaged('rows/site');
    const caused = texts(attributes.caused).map((level) => ({ level, counts: store.columns(rows, 'site', ...causes.map((cause) => `${cause}_${level}`)).slice(1) }));
    return { site, phase, core: store.has(`${rows}/core`) ? column('core') : null, counts, groupings, causes: caused };
}

/** Misses after invalidations by stores of other cores (docs/causes.md, "Sharing"): a row per line, who missed and who stored. */
export function sharingOf(store: Store) {
    const names = ['level', 'phase', 'core', 'by_core', 'address', 'true_sharing', 'false_sharing'];
    const [level, phase, core, byCore, address, trueSharing, falseSharing] = store.columns('sharing', ...names);
    const { levels, line_bytes } = store.attributes('sharing');
    return { levels: texts(levels), lineBytes: Number(line_bytes), level, phase, core, byCore, address, trueSharing, falseSharing };
}

/** Causes by what references are for; 0: code. */
export function causesOfObjects(store: Store, attribution: ReturnType<typeof attributionOf>) {
    const objects = store.texts('attribution/objects');
    const names = new Names();
    const number = objects.map((name, i) => names.number(i === 0 ? '(code)' : name));
    const sites = store.numbers('attribution/sites/object');
    return attribution.causes.map(({ level, counts }) => {
        const [by, victim, phase, count] = store.columns(`attribution/evictions/${level}/pairs`, 'by', 'victim', 'phase', 'count');
        if ([by, victim].some((column) => column.some((each) => each >= objects.length))) damaged(`evictions/${level}/pairs`);
        return {
            name: level,
            structures: names.all,
            misses: { structure: attribution.site.map((site) => number[sites[site]]), phase: attribution.phase, counts },
            evictions: { by: by.map((each) => number[each]), victim: victim.map((each) => number[each]), phase, count },
        };
    });
}

/** Why levels miss, and what evicts what; `names`: of /structures. */
export function causesOf(store: Store, levels: string[], names: string[]) {
    /** Of which so many columns name data structures. */
    const table = (path: string, columns: string[], indices: number) => {
        const found = store.columns(path, ...columns);
        const wrong = found.findIndex((column, i) => i < indices && column.some((each) => each >= names.length));
        if (wrong >= 0) throw new FileError(`/${path}/${columns[wrong]} names data structures that there are not; the file is damaged.`);
        return found;
    };
    return levels.map((name) => {
        const [structure, phase, ...counts] = table(`causes/${name}/misses`, ['structure', 'phase', ...causes], 1);
        const [by, victim, when, count] = table(`causes/${name}/evictions`, ['by', 'victim', 'phase', 'count'], 2);
        return { name, structures: names, misses: { structure, phase, counts }, evictions: { by, victim, phase: when, count } };
    });
}
