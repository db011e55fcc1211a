// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances of /reuse (docs/reuse.md), added up over structures and phases.
import { range, rollup, sum } from 'd3-array';
import type { Phases } from '../protocol';
import { FileError, text, type Store } from './h5';

const columns = ['structure', 'phase', 'distance', 'count'] as const;
/** What files write for first uses: 2^64-1, as a double. */
const firstUse = 2 ** 64;

function read(store: Store, path: string) {
    const { link, line_bytes } = store.attributes(path);
    const names = store.texts(`${path}/structures`);
    store.requireColumns(`${path}/distances`, [...columns]);
    const [structure, phase, distance, count] = columns.map((each) => store.numbers(`${path}/distances/${each}`));
    if (!(Number(line_bytes) >= 1)) throw new FileError(`/${path} does not say how large its lines are; the file is damaged.`);
    if (structure.some((each) => each >= names.length)) throw new FileError(`/${path}/distances has structures that /${path}/structures does not name; the file is damaged.`);
    return { path, link: text(link), lineBytes: Number(line_bytes), names, structure, phase, distance, count };
}

/** The groups of a file; read when they are first asked for. */
export class Reuse {
    private known: ReturnType<typeof read>[] | null = null;

    constructor(
        private readonly store: Store,
        private readonly groups: string[],
    ) {}

    /** How many other lines lie between two uses of a line, by group (a link with lines of a size): uses by the least distance of a bin, in lines,
     * ascending; Infinity: first uses. null: of all structures, phases. */
    sums(structures: string[] | null, phases: Phases) {
        this.known ??= this.groups.map((each) => read(this.store, `reuse/${each}`));
        return this.known.map(({ path, link, lineBytes, names, structure, phase, distance, count }) => {
            const wanted = names.map((name) => !structures || structures.includes(name));
            const inPhases = phases && new Set(phases);
            const rows = range(distance.length).filter((i) => wanted[structure[i]] && (!inPhases || inPhases.has(phase[i])));
            const bins = [...rollup(rows, (some) => sum(some, (i) => count[i]), (i) => distance[i])].sort((a, b) => a[0] - b[0]).map(([from, uses]) => ({ distance: from === firstUse ? Infinity : from, count: uses }));
            return { path, link, lineBytes, bins };
        });
    }
}
