// SPDX-License-Identifier: BSD-3-Clause
// Cube: the counts of a level as far as a file tells them apart; sums over it make the answer, tables and filters.
import { cross, flatRollup, range, sum } from 'd3-array';
import { causes, type AddressRange, type Column, type FileInfo, type Phases } from './protocol';
import { once, remembered, rememberedLast } from './remembered';
import { phasesInWords } from './numbers';

export type Dimension = 'structure' | 'phase' | 'core' | 'function' | 'line' | 'field';
/** In words. */
export const causeNames = causes.map((each) => each.replace('_', ' '));

/** `of`: the number of a name by row; -1: none. `sites`: by site, if it goes by these. */
type Axis = { names: string[]; of: Int32Array; sites?: number[] };

export interface Cube {
    level: string; dimensions: Partial<Record<Dimension, Axis>>; site?: Column;
    accesses: Column; misses: Column;
    /** Cycles lost; null where the run did not count them. */
    cycles: Column | null;
    /** By causeNames; null where the run did not look for them. */
    causes: Column[] | null;
}

/** Rows that count: those with one of the numbers, in each dimension that is named. */
export type Filter = Partial<Record<Dimension, number[]>>;

export type Rows = ArrayLike<number>;
/** What a column has in some rows. There may be millions: iterators take ten times as long as loops, functions for each row three times. */
function picked<C extends Int32Array | Float64Array>(into: C, column: ArrayLike<number>, rows: Rows): C {
    for (let i = 0; i < into.length; ++i) into[i] = column[rows[i]];
    return into;
}

const namesOfPhases = once(({ names }: FileInfo['phases']) => names.map((_, i) => phasesInWords([i], names)));
function phaseAxis({ phases }: FileInfo, column: ArrayLike<number>): Axis {
    const [of, names] = [new Int32Array(column), namesOfPhases(phases)], count = of.reduce((most, each) => (each > most ? each : most), 0) + 1;
    return { names: count > names.length ? range(count).map((i) => phasesInWords([i], phases.names)) : names, of };
}

const coreAxis = (info: FileInfo, of: Column): Axis => ({ names: range(info.machine.cores).map((i) => `core ${i}`), of: new Int32Array(of) });

/** Of rows of sites; the same for all levels. */
const dimensionsOfSites = once((info: FileInfo): Cube['dimensions'] => {
    const { columns: { site, phase, core }, groupings } = info.attribution!;
    const grouped = (id: string, rest: string): Axis | undefined => {
        const found = groupings.find((each) => each.id === id);
        if (!found) return undefined;
        const none = rest === '' ? -1 : found.names.length, sites = Array.from(found.of, (each) => (each < 0 ? none : each));
        let of: Int32Array | undefined; // seldom asked for
        return { names: rest === '' ? found.names : [...found.names, rest], sites, get of() { return (of ??= picked(new Int32Array(site.length), sites, site)); } };
    };
    return {
        structure: grouped('structures', '(code)') ?? { names: ['(code)'], of: new Int32Array(site.length) },
        ...{ function: grouped('functions', ''), line: grouped('lines', ''), field: grouped('fields', '') },
        ...{ phase: phaseAxis(info, phase), ...(core ? { core: coreAxis(info, core) } : {}) },
    };
});

/** Of a program: a row per site, phase and core. */
function cubeOfSites(info: FileInfo, level: string): Cube | null {
    const { columns, caused } = info.attribution!;
    const misses = columns[`misses_${level}`];
    if (!misses) return null;
    return {
        ...{ level, misses, dimensions: dimensionsOfSites(info), site: columns.site, accesses: accessesOf(info, level), cycles: columns.cycles ?? null },
        causes: caused.includes(level) ? causes.map((each) => columns[`${each}_${level}`]) : null,
    };
}

/** Whether a level is asked first by code, and by data; null: it is not, so that accesses are not told by site. */
export function askedBy(info: FileInfo, level: string): boolean[] | null {
    const totals = info.components.find((each) => each.name === level)?.totals ?? {};
    return firstLevels(info).includes(level) ? [totals.fetches > 0, totals.loads + totals.stores > 0] : null;
}

/** By row. */
function accessesOf(info: FileInfo, level: string): Column {
    const { columns: { site, accesses }, groupings } = info.attribution!;
    const asked = askedBy(info, level);
    if (!asked || asked.every((each) => each)) return asked ? accesses : new Float64Array(site.length).fill(NaN);
    const counts = groupings.find((each) => each.id === 'structures')?.of.map((of) => Number(asked[Number(of >= 0)]));
    const counted = counts ? picked(new Float64Array(site.length), counts, site) : new Float64Array(site.length).fill(Number(asked[0]));
    for (let i = 0; i < counted.length; ++i) counted[i] *= accesses[i];
    return counted;
}

/** Caches that cores ask, those with most misses first; where links are not in the file, the first that is listed. */
export function firstLevels(info: FileInfo): string[] {
    const caches = info.components.filter((each) => each.group === 'levels');
    const asked = caches.filter((each) => info.links.some((link) => link.to === each.name && /^core/.test(link.from)));
    const rank = (name: string) => totalsOf(info, name).misses;
    return (asked.length ? asked : caches.slice(0, 1)).map((each) => each.name).sort((a, b) => rank(b) - rank(a));
}

/** Loads, stores and fetches of a cache or accesses of a TLB, and how many of them missed; in some phases, or all. */
export function totalsOf(info: FileInfo, level: string, phases: Phases = null): { accesses: number; misses: number } {
    const found = info.components.find(({ name, accesses }) => name === level && accesses);
    const all = (column: Column | null = null) => (column ? sum(phases ?? column.keys(), (i) => column[i]) : 0);
    return { accesses: all(found?.accesses), misses: all(found?.misses) };
}

/** Of a kernel: a row per data structure, phase and, where both tables have it, core, from the tables of structures and of causes. */
export function cubeOfStructures(info: FileInfo, level: string): Cube | null {
    const counted = info.structureLevels.find((each) => each.name === level);
    const found = info.causes.find((each) => each.name === level);
    const caused = found?.misses;
    if (!counted && !caused) return null;
    const names = caused ? found!.structures : info.structures.map((each) => each.name);
    // rows of both tables, one behind the other: all that is made of them are sums
    const [before, behind] = [counted, caused].map((each) => new Float64Array(each?.structure.length ?? 0));
    const both = (first: Column | null = before, second: Column | null = behind) => Float64Array.from([...(first ?? []), ...(second ?? [])]);
    const some = (column: 'structure' | 'phase' | 'core') => both(counted?.[column], caused?.[column]);
    const byCore = [counted, caused].every((each) => !each || each.core);
    const counts = caused ? caused.counts.map((each) => both(before, each)) : null;
    return {
        ...{ level, cycles: null, causes: counts },
        dimensions: { structure: { names, of: new Int32Array(some('structure')) }, phase: phaseAxis(info, some('phase')), ...(byCore ? { core: coreAxis(info, some('core')) } : {}) },
        accesses: counted ? both(counted.accesses) : behind.map(() => NaN),
        misses: counted ? both(counted.misses) : counts!.reduce((a, b) => a.map((each, i) => each + b[i])),
    };
}

const cubesOf = once((_: FileInfo) => new Map<string, Cube | null>());
/** When more is known of the file. */
export const forgetCubes = (info: FileInfo): void => cubesOf(info).clear();

/** Of a level; null where the file tells nothing apart in it. */
export const cubeOf = (info: FileInfo, level: string): Cube | null =>
    remembered(cubesOf(info), level, () => (info.attribution?.levels.includes(level) ? cubeOfSites : cubeOfStructures)(info, level));

function upTo(count: number): Uint32Array {
    const all = new Uint32Array(count);
    for (let i = 0; i < count; ++i) all[i] = i;
    return all;
}

const rowsKnown = once((_: Cube['dimensions']) => new Map<string, Rows>());
/** Rows of a cube that a filter leaves. */
export const rowsOf = ({ dimensions, misses }: Cube, filter: Filter): Rows =>
    rememberedLast(rowsKnown(dimensions), JSON.stringify(filter), () =>
        Object.entries(filter).reduce((rows, [name, numbers]) => {
            const { of, names } = dimensions[name as Dimension] ?? { of: [], names: [] };
            const chosen = new Uint8Array(names.length);
            for (const number of numbers) chosen[number] = 1;
            const kept = new Uint32Array(rows.length);
            let count = 0;
            for (let i = 0; i < rows.length; ++i) if (chosen[of[rows[i]]]) kept[count++] = rows[i];
            return kept.slice(0, count);
        }, upTo(misses.length)), (map) => map.size > 6);

/** What a filter leaves of a cube; `only`: the number of a cause, whose misses these then are. */
export function narrowed(cube: Cube, filter: Filter, only = -1): Cube {
    if (only < 0 && Object.keys(filter).length === 0) return cube;
    const rows = rowsOf(cube, filter);
    const some = (column: ArrayLike<number>) => picked(new Float64Array(rows.length), column, rows);
    const dimensions = Object.fromEntries(Object.entries(cube.dimensions).flatMap(([by, axis]) => (axis ? [[by, { names: axis.names, of: picked(new Int32Array(rows.length), axis.of, rows) }]] : [])));
    return { ...cube, dimensions, site: undefined, accesses: some(cube.accesses), misses: some(only < 0 ? cube.misses : cube.causes![only]), cycles: null, causes: cube.causes && cube.causes.map(some) };
}

/** Accesses, misses, and these by cause where that is known: in the chosen phases (`counts`), and in each (`byPhase`). */
export type StructureSums = { name: string; counts: number[]; byPhase: Column[] };

/** Of lines that are selected sums by data structure and phase are known. */
export function cubeOfSums(info: FileInfo, level: string, sums: StructureSums[], phases: Phases): Cube {
    const rows = cross([...sums.keys()], phases ?? [...sums[0].byPhase[0].keys()]);
    const [accesses, misses, ...byCause] = sums[0].byPhase.map((_, i) => Float64Array.from(rows, ([of, phase]) => sums[of].byPhase[i][phase]));
    const dimensions = { structure: { names: sums.map(({ name }) => name), of: Int32Array.from(rows, ([of]) => of) }, phase: phaseAxis(info, rows.map(([, phase]) => phase)) };
    return { level, accesses, misses, cycles: null, causes: byCause.length ? byCause : null, dimensions };
}

const sumsOfSites = new WeakMap<Column, Float64Array>();
/** Sums of a column by a dimension, over some rows. */
export function sumsBy({ dimensions, site, misses }: Cube, by: Dimension, values: Column, rows: Rows): Float64Array {
    const axis = dimensions[by], sums = new Float64Array(axis?.names.length ?? 0);
    if (axis?.sites && site && rows.length === misses.length) {
        const own = remembered(sumsOfSites, values, () => { const all = new Float64Array(axis.sites!.length); for (let i = 0; i < site.length; ++i) all[site[i]] += values[i]; return all; });
        own.forEach((each, i) => { if (axis.sites![i] >= 0) sums[axis.sites![i]] += each; });
    } else if (axis) {
        const { of } = axis;
        for (let i = 0; i < rows.length; ++i) if (of[rows[i]] >= 0) sums[of[rows[i]]] += values[rows[i]];
    }
    return sums;
}

/** NaN: not known. */
export const sumOf = (values: Column, rows: Rows): number => picked(new Float64Array(rows.length), values, rows).reduce((all, each) => all + each, 0);

/** Rows of /sharing of a level: lines that cores take from each other, of which a part lies in one of the ranges; null: any, in all phases. */
export function sharingRows({ sharing }: FileInfo, level: string, ranges: AddressRange[] | null, phases: number[] | null = null): number[] {
    const number = sharing?.levels.indexOf(level) ?? -1;
    if (!sharing || number < 0) return [];
    const wanted = phases && new Set(phases);
    const inside = (at: bigint) => !ranges || ranges.some(([from, to]) => at < to && at + BigInt(sharing.lineBytes) > from);
    const some = range(sharing.address.length).filter((i) => sharing.level[i] === number && (!wanted || wanted.has(sharing.phase[i])));
    return some.filter((i) => inside(BigInt(sharing.address[i])));
}

export const isTlb = (info: FileInfo, level: string): boolean => info.components.some(({ name, group }) => group === 'tlbs' && name === level);
/** What counts of a component are of; of links (monitors), of that below or above. */
export const unitWord = (info: FileInfo, owner: string): string => (owner.split('-').some((name) => isTlb(info, name)) ? 'page' : 'line');

/** Evicted lines of a level in some phases: whose they were, what evicted them, and how many; those of `victims` alone, if any are named. */
export function evictionsOf(info: FileInfo, level: string, phases: number[] | null, victims?: string[] | null): { victim: string; by: string; count: number }[] {
    const found = info.causes.find((each) => each.name === level);
    if (!found) return [];
    const { structures, evictions: { by, victim, phase, count } } = found;
    const [wanted, names] = [phases && new Set(phases), victims && new Set(victims)];
    const rows = Array.from(count.keys()).filter((i) => (!wanted || wanted.has(phase[i])) && (!names || names.has(structures[victim[i]])));
    const sums = flatRollup(rows, (some) => sum(some, (i) => count[i]), (i) => structures[victim[i]], (i) => structures[by[i]]);
    return sums.map(([of, evictor, lines]) => ({ victim: of, by: evictor, count: lines }));
}
