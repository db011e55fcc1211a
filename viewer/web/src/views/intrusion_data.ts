// SPDX-License-Identifier: BSD-3-Clause
// What intrusion is shown as: metrics, and tables of all configurations or of one.
import type { Table } from '../dom';
import { brief, percent, percentTick } from '../numbers';
import type { IntrusionInfo, IntrusionRow } from '../protocol';
import type { Metric } from './sweep_draw';

/** A configuration as a cell: by counters, and by granularity and drain. */
export type CostCell = IntrusionRow & { row: string };

const bytesPerEvent = ({ numbers }: IntrusionRow) => (numbers.events > 0 ? numbers.bytes / numbers.events : 0);
/** NaN where a program that takes no time without monitor takes some with it. */
const slowdownOf = (info: IntrusionInfo, { numbers }: IntrusionRow) =>
    numbers.extra_cycles === 0 ? 0 : info.cycles > 0 ? numbers.extra_cycles / info.cycles : NaN;
const missesMore = ({ misses }: IntrusionRow) => misses.reduce((sum, each) => sum + each, 0);

export function costMetrics(info: IntrusionInfo): Metric<CostCell>[] {
    const plain = (id: string, column: string, title: string): [string, string, string, Metric<CostCell>['value']] => [
        id,
        column,
        title,
        (cell) => cell.numbers[column],
    ];
    const metrics: [string, string, string, Metric<CostCell>['value'], Metric<CostCell>['text']?][] = [
        plain('cycles', 'extra_cycles', 'Extra cycles'),
        [
            'slowdown',
            'extra_cycles',
            'Slowdown',
            (cell) => slowdownOf(info, cell),
            percent,
        ],
        plain('stalled', 'stall_cycles', 'Stalled cycles'),
        plain('records', 'swapouts', 'Records'),
        plain('lost', 'lost_records', 'Lost records'),
        ['bytes', 'bytes', 'Bytes per event', bytesPerEvent, (value) => value.toPrecision(3)],
    ];
    if (info.levels.length > 0) metrics.push(['misses', 'extra_misses', 'Extra misses', missesMore]);
    return metrics.map(([id, column, title, value, text]) => ({
        id,
        column,
        title,
        value,
        text: text ?? brief,
        tick: text === percent ? percentTick : brief,
        scale: 'auto' as const,
    }));
}

export const cellOf = (row: IntrusionRow): CostCell => ({ ...row, row: `G = ${row.granularity}, ${row.drain}` });

/** All configurations, with all that the file tells of them. */
export function intrusionTable(info: IntrusionInfo): Table {
    const columns = Object.keys(info.rows[0]?.numbers ?? {});
    return {
        caption: 'What monitors cost, against the run without monitor',
        headers: [
            ...['link', 'counters', 'granularity', 'ring', 'drain', 'slowdown %'],
            ...columns.map((each) => each.replace(/_/g, ' ')),
            'bytes per event',
            ...info.links.flatMap((each) => [`extra events ${each}`, `extra bytes ${each}`]),
            ...info.levels.map((each) => `extra misses ${each}`),
        ],
        rows: info.rows.map((row) => [
            row.link,
            row.counters,
            row.granularity,
            row.capacity,
            row.drain,
            100 * slowdownOf(info, row),
            ...columns.map((each) => row.numbers[each]),
            bytesPerEvent(row),
            ...info.links.flatMap((_, i) => [row.events[i], row.bytes[i]]),
            ...row.misses,
        ]),
    };
}

/** Traffic on the links that have any, and misses of the levels, without monitor and of one configuration. */
export function trafficTable(info: IntrusionInfo, cell: CostCell | null): Table {
    const more = (column: 'events' | 'bytes' | 'misses', i: number) => (cell ? [cell[column][i]] : []);
    const heads = (what: string) => [what, ...(cell ? [`extra ${what}`] : [])];
    const blanks = cell ? [NaN, NaN] : [NaN];
    return {
        caption: cell
            ? `${cell.link}: ${cell.counters} counters, granularity ${cell.granularity}, ring of ${cell.capacity}, drain ${cell.drain}`
            : 'Without monitor',
        headers: ['link or level', ...heads('events'), ...heads('bytes'), ...heads('misses')],
        rows: [
            ...info.links
                .map((name, i): [string, ...number[]] => [
                    name,
                    info.events[i],
                    ...more('events', i),
                    info.bytes[i],
                    ...more('bytes', i),
                    ...blanks,
                ])
                .filter((row) => row.slice(1).some((value) => Number(value) !== 0 && !Number.isNaN(value))),
            ...info.levels.map((name, i) => [name, ...blanks, ...blanks, info.misses[i], ...more('misses', i)]),
        ],
    };
}
