// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances of /reuse (docs/reuse.md), added up over structures and phases.
import type { Phases, ReuseSums } from '../protocol';
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

    /** By group, ascending by distance; null: of all structures, phases. */
    sums(structures: string[] | null, phases: Phases): ReuseSums[] {
        this.known ??= this.groups.map((each) => read(this.store, `reuse/${each}`));
        return this.known.map(({ path, link, lineBytes, names, structure, phase, distance, count }) => {
            const wanted = names.map((name) => !structures || structures.includes(name));
            const inPhases = phases && new Set(phases);
            const sums = new Map<number, number>();
            distance.forEach((each, i) => {
                if (wanted[structure[i]] && (!inPhases || inPhases.has(phase[i]))) sums.set(each, (sums.get(each) ?? 0) + count[i]);
            });
            const bins = [...sums].sort((a, b) => a[0] - b[0]).map(([from, uses]) => ({ distance: from === firstUse ? Infinity : from, count: uses }));
            return { path, link, lineBytes, bins };
        });
    }
}
