// SPDX-License-Identifier: BSD-3-Clause
// What monitors cost, from /intrusion.
import type { IntrusionInfo } from '../protocol';
import { FileError, type Store } from './h5';

const costs = [
    'extra_cycles',
    'stall_cycles',
    'events',
    'swapouts',
    'records_written',
    'bytes',
    'lost',
    'lost_records',
    'ring_high_water',
];

export function intrusionOf(store: Store): IntrusionInfo {
    const { references, cycles } = store.attributes('intrusion');
    const without = (column: string) => store.numbers(`intrusion/without/${column}`);
    const of = (column: string) => store.numbers(`intrusion/rows/${column}`);
    const texts = (column: string) => store.texts(`intrusion/rows/${column}`);
    const links = store.texts('intrusion/without/link');
    const levels = store.texts('intrusion/without/level');
    const [link, granularity, drain] = ['link', 'granularity', 'drain'].map(texts);
    const [counters, capacity, ...columns] = ['counters', 'capacity', ...costs].map(of);
    /** A table with a row per configuration. */
    const table = (column: string, width: number) => {
        const values = link.length && width ? of(column) : new Float64Array();
        if (values.length !== link.length * width)
            throw new FileError(
                `/intrusion/rows/${column} has ${values.length} numbers instead of ${link.length * width}; the file is damaged.`,
            );
        return (row: number) => values.slice(row * width, (row + 1) * width);
    };
    const [events, bytes] = ['extra_events', 'extra_bytes'].map((column) => table(column, links.length));
    const misses = table('extra_misses', levels.length);
    return {
        references: Number(references),
        cycles: Number(cycles),
        events: without('events'),
        bytes: without('bytes'),
        misses: without('misses'),
        links,
        levels,
        rows: link.map((name, i) => ({
            link: name,
            counters: counters[i],
            granularity: granularity[i],
            capacity: capacity[i],
            drain: drain[i],
            numbers: Object.fromEntries(costs.map((cost, c) => [cost, columns[c][i]])),
            events: events(i),
            bytes: bytes(i),
            misses: misses(i),
        })),
    };
}
