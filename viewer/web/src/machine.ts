// SPDX-License-Identifier: BSD-3-Clause
// What the page reads from a machine file (docs/machines.md), which a result has with all its options in effect.
export type Cache = NonNullable<ReturnType<typeof cacheOf>>;

const sizes: Record<string, number> = { B: 1, KiB: 1024, MiB: 1 << 20, GiB: 2 ** 30 };

/** A value of the entry of a component: "{name: L1, size: 16 KiB, ...}". */
function valuesOf(yaml: string, name: string): (key: string) => string | undefined {
    const entry = new RegExp(`^ *- \\{name: "?${name.replace(/[^\w]/g, '\\$&')}"?,([^}]*)\\}`, 'm').exec(yaml)?.[1];
    return (key) => new RegExp(`(?:^|,) *${key}: *([^,}]+)`).exec(entry ?? '')?.[1]?.trim();
}

/** Shortly: "16 KiB, 2 ways". */
export function describeComponent(yaml: string, name: string): string {
    const value = valuesOf(yaml, name);
    const words: [string, string, string][] = [['size', '', ''], ['entries', '', ' entries'], ['ways', '', ' ways'], ['line', 'lines of ', '']];
    return words.flatMap(([key, before, behind]) => (value(key) ? [`${before}${value(key)}${behind}`] : [])).join(', ');
}

/** Bytes of a cache; NaN where the entry of that name says no size. */
export function capacityOf(yaml: string, name: string): number {
    const size = /^(\d+) *(B|[KMG]iB)?$/.exec(valuesOf(yaml, name)('size') ?? '');
    return size ? Number(size[1]) * sizes[size[2] ?? 'B'] : NaN;
}

/** Pages are moved, so that the program's addresses do not tell all of a place in memory. */
export const movesPages = (yaml: string): boolean => /^pages: \{mapping: (?!identity)/m.test(yaml);

/** Sets of a cache, where the program's address tells the set of a line: plain modulo, and pages that are not moved, or the set lies within
 * a page of 4 KiB, or the cache is indexed by what the program says. Null where it does not, or is not such a cache. */
export function cacheOf(yaml: string, name: string) {
    const value = valuesOf(yaml, name);
    const [ways, line] = [Number(value('ways')), Number(value('line') ?? 64)];
    if (!(ways > 0) || !(line > 0)) return null;
    const sets = capacityOf(yaml, name) / (ways * line);
    const told = !movesPages(yaml) || value('virtually_indexed') === 'true' || sets * line <= 4096;
    return Number.isInteger(sets) && told && (value('indexing') ?? 'modulo') === 'modulo' ? { sets, ways, line } : null;
}
