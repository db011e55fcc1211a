// SPDX-License-Identifier: BSD-3-Clause
// Intrusion: what monitors cost the program over counters, granularity and drain, and where their records go.
import { sum } from 'd3-array';
import type { App, View } from '../app';
import type { Source } from '../client';
import { h, inWords, tableBy, tableElement, type Table } from '../dom';
import { full, percent, percentTick } from '../numbers';
import type { IntrusionInfo } from '../protocol';
import { snippet } from '../python';
import { cellsView, linesFigure, matrixFigure, plainMetric, type Cell, type Cells, type Metric } from './cells';

const bytesPerEvent = ({ numbers }: Pick<Cell, 'numbers'>) => (numbers.events > 0 ? numbers.bytes / numbers.events : 0);
/** NaN where a program that takes no time without monitor takes some with it. */
const slowdownOf = ({ cycles }: IntrusionInfo, { numbers }: Pick<Cell, 'numbers'>) =>
    numbers.extra_cycles === 0 ? 0 : cycles > 0 ? numbers.extra_cycles / cycles : NaN;

function metricsOf(info: IntrusionInfo, rowOf: (cell: Cell) => IntrusionInfo['rows'][number]): Metric[] {
    return [
        plainMetric('cycles', 'Extra cycles', 'auto', 'extra_cycles'),
        { ...plainMetric('slowdown', 'Slowdown', 'auto', 'extra_cycles'), value: (cell) => slowdownOf(info, cell), text: percent, tick: percentTick },
        plainMetric('stalled', 'Stalled cycles', 'auto', 'stall_cycles'),
        plainMetric('records', 'Records', 'auto', 'swapouts'),
        plainMetric('lost', 'Lost records', 'auto', 'lost_records'),
        { ...plainMetric('bytes', 'Bytes per event', 'auto'), value: bytesPerEvent, text: (value) => value.toPrecision(3) },
        ...(info.levels.length ? [{ ...plainMetric('misses', 'Extra misses', 'auto', 'extra_misses'), value: (cell: Cell) => sum(rowOf(cell).misses) }] : []),
    ];
}

/** All configurations, with all that the file tells of them. */
export function intrusionTable(info: IntrusionInfo): Table {
    type Row = IntrusionInfo['rows'][number];
    const columns = Object.keys(info.rows[0]?.numbers ?? {}).filter((each) => each !== 'counters' && each !== 'capacity');
    const each = (names: string[], what: 'events' | 'bytes' | 'misses') => names.map((name, i): [string, (row: Row) => number] => [`extra ${what} ${name}`, (row) => row[what][i]]);
    return tableBy('What monitors cost, against the run without monitor', info.rows, [
        ...inWords('link', 'counters', 'granularity'),
        ['ring', ({ numbers }) => numbers.capacity],
        ['drain', ({ texts }) => texts.drain],
        ['slowdown %', (row) => 100 * slowdownOf(info, row)],
        ...inWords(...columns.map((column) => column.replace(/_/g, ' '))),
        ['bytes per event', bytesPerEvent],
        ...info.links.flatMap((_, i) => [each(info.links, 'events')[i], each(info.links, 'bytes')[i]]),
        ...each(info.levels, 'misses'),
    ], { keys: 5 });
}

/** Traffic on the links that have any, and misses of the levels, without monitor and of one configuration. */
function trafficTable(info: IntrusionInfo, row: IntrusionInfo['rows'][number] | null): Table {
    const places = (['links', 'levels'] as const).flatMap((kind) => info[kind].map((name, i) => ({ name, i, counts: kind === 'links' ? ['events', 'bytes'] : ['misses'] })));
    const columns = (['events', 'bytes', 'misses'] as const).flatMap((what) =>
        [info, ...(row ? [row] : [])].map((of): [string, (place: (typeof places)[number]) => number] => [of === info ? what : `extra ${what}`, ({ i, counts }) => (counts.includes(what) ? of[what][i] : NaN)]),
    );
    const shown = places.filter((place) => place.counts.includes('misses') || columns.some(([, value]) => Math.abs(value(place)) > 0));
    const caption = row && `${row.texts.link}: ${row.numbers.counters} counters, granularity ${row.texts.granularity}, ring of ${row.numbers.capacity}, drain ${row.texts.drain}`;
    return tableBy(caption ?? 'Without monitor', shown, [['link or level', ({ name }) => name], ...columns]);
}

function intrusionCells(source: Source): Cells {
    const info = source.info.intrusion!;
    const cells = info.rows.map((row): Cell => {
        const { granularity, drain } = row.texts;
        return { ...row, id: `${granularity},${drain},${row.numbers.counters}`, row: `G = ${granularity}, ${drain}` };
    });
    return {
        cells,
        metrics: metricsOf(info, (cell) => info.rows[cells.indexOf(cell)]),
        overs: [],
        choices: [
            { title: 'Link', key: 'level', of: ({ texts }) => texts.link },
            { title: 'Ring', key: 'ring', of: ({ numbers }) => String(numbers.capacity) },
        ],
        note: ({ cells: [{ texts, numbers }] }) =>
            `Monitors on ${texts.link}, ring of ${full(numbers.capacity)} records. Without monitor: ${full(info.references)} references, ${full(info.cycles)} cycles. Click a cell for its traffic.`,
        table: () => intrusionTable(info),
        python: ({ metric }) => snippet({ FILE: source.info.name, COLUMN: metric.column }, 'intrusion'),
    };
}

export function intrusionView(app: App): View {
    const info = app.source.info.intrusion!;
    const all = intrusionCells(app.source);
    const element = h('section', { class: 'card', 'aria-label': 'Traffic' });
    const show = (cell: Cell | null) => element.replaceChildren(tableElement(trafficTable(info, cell && info.rows[all.cells.indexOf(cell)])));
    const other = app.others[0]?.info.intrusion ? intrusionCells(app.others[0]) : null;
    return cellsView(app, all, other, [{ ...matrixFigure, title: 'Counters by granularity and drain' }, linesFigure], { element, show });
}
