// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what, from /causes.
import type { CauseLevel } from '../protocol';
import { FileError, type Store } from './h5';

export const causes = ['first_use', 'invalidated', 'capacity', 'conflict'];

/** `names`: of /structures. */
export function causesOf(store: Store, levels: string[], names: string[]): CauseLevel[] {
    const structures = names.length;
    const table = (path: string, columns: string[], indices: number) => {
        const found = columns.map((column) => store.numbers(`${path}/${column}`));
        for (const [i, column] of found.entries()) {
            if (column.length !== found[0].length)
                throw new FileError(
                    `/${path}/${columns[i]} has ${column.length} rows where ${columns[0]} has ${found[0].length}; the file is damaged.`,
                );
            if (i < indices && column.some((each) => each >= structures))
                throw new FileError(`/${path}/${columns[i]} names data structures that there are not; the file is damaged.`);
        }
        return found;
    };
    return levels.map((name) => {
        const rows = `causes/${name}/misses`;
        const columns = causes.map((each) => (store.has(`${rows}/taken_away`) && each === 'invalidated' ? 'taken_away' : each)); // older files
        const [structure, phase, ...counts] = table(rows, ['structure', 'phase', ...columns], 1);
        const [by, victim, when, count] = table(`causes/${name}/evictions`, ['by', 'victim', 'phase', 'count'], 2);
        return { name, structures: names, misses: { structure, phase, counts }, evictions: { by, victim, phase: when, count } };
    });
}
