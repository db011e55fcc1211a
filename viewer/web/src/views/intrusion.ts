// SPDX-License-Identifier: BSD-3-Clause
// Intrusion: what monitors cost the program over counters, granularity and drain, and where their records go.
import { sum } from 'd3-array';
import type { App, View } from '../app';
import type { Source } from '../client';
import { h, inWords, tableBy, tableElement, type Table } from '../dom';
import { full, percent, percentTick } from '../numbers';
import { rowsIn, type IntrusionInfo, type TableRow } from '../protocol';
import { snippet } from '../python';
import { cellsView, linesFigure, matrixFigure, plainMetric, type Cell, type Cells, type Metric } from './cells';

const bytesPerEvent = ({ numbers }: TableRow) => (numbers.events > 0 ? numbers.bytes / numbers.events : 0);
/** NaN where a program that takes no time without monitor takes some with it. */
const slowdownOf = ({ cycles }: IntrusionInfo, { numbers }: TableRow) => numbers.extra_cycles === 0 ? 0 : cycles > 0 ? numbers.extra_cycles / cycles : NaN;
/** What a configuration adds on a link or in a level. */
const extra = (what: 'events' | 'bytes' | 'misses', name: string) => ({ numbers }: TableRow) => numbers[`extra_${what} ${name}`];

function metricsOf(info: IntrusionInfo): Metric[] {
    return [
        plainMetric('cycles', 'Extra cycles', 'auto', 'extra_cycles'),
        { ...plainMetric('slowdown', 'Slowdown', 'auto', 'extra_cycles'), value: (cell) => slowdownOf(info, cell), text: percent, tick: percentTick },
        plainMetric('stalled', 'Stalled cycles', 'auto', 'stall_cycles'),
        plainMetric('records', 'Records', 'auto', 'swapouts'),
        plainMetric('lost', 'Lost records', 'auto', 'lost_records'),
        { ...plainMetric('bytes', 'Bytes per event', 'auto'), value: bytesPerEvent, text: (value) => value.toPrecision(3) },
        ...(info.levels.length ? [{ ...plainMetric('misses', 'Extra misses', 'auto', 'extra_misses'), value: (cell: Cell) => sum(info.levels, (level) => extra('misses', level)(cell)) }] : []),
    ];
}

/** All configurations, with all that the file tells of them. */
export function intrusionTable(info: IntrusionInfo): Table {
    const columns = Object.keys(info.rows.numbers).filter((each) => each !== 'counters' && each !== 'capacity' && !each.includes(' '));
    const each = (name: string, ...counts: ('events' | 'bytes' | 'misses')[]) => counts.map((what) => [`extra ${what} ${name}`, extra(what, name)] as const);
    return tableBy('What monitors cost, against the run without monitor', rowsIn(info.rows), [
        ...inWords('link', 'counters', 'granularity'),
        ['ring', ({ numbers }) => numbers.capacity],
        ['drain', ({ texts }) => texts.drain],
        ['slowdown %', (row) => 100 * slowdownOf(info, row)],
        ...inWords(...columns.map((column) => column.replace(/_/g, ' '))),
        ['bytes per event', bytesPerEvent],
        ...info.links.flatMap((name) => each(name, 'events', 'bytes')),
        ...info.levels.flatMap((name) => each(name, 'misses')),
    ], { keys: 5 });
}

/** Traffic on the links that have any, and misses of the levels, without monitor and of one configuration. */
function trafficTable(info: IntrusionInfo, row: TableRow | null): Table {
    const places = (['links', 'levels'] as const).flatMap((kind) => info[kind].map((name, i) => ({ name, i, counts: kind === 'links' ? ['events', 'bytes'] : ['misses'] })));
    const columns = (['events', 'bytes', 'misses'] as const).flatMap((what) =>
        [null, ...(row ? [row] : [])].map((of): [string, (place: (typeof places)[number]) => number] => [
            of ? `extra ${what}` : what,
            ({ name, i, counts }) => (!counts.includes(what) ? NaN : of ? extra(what, name)(of) : info[what][i]),
        ]),
    );
    const shown = places.filter((place) => place.counts.includes('misses') || columns.some(([, value]) => Math.abs(value(place)) > 0));
    const caption = row && `${row.texts.link}: ${row.numbers.counters} counters, granularity ${row.texts.granularity}, ring of ${row.numbers.capacity}, drain ${row.texts.drain}`;
    return tableBy(caption ?? 'Without monitor', shown, [['link or level', ({ name }) => name], ...columns]);
}

function intrusionCells(source: Source): Cells {
    const info = source.info.intrusion!;
    const cells = rowsIn(info.rows).map((row): Cell => {
        const { granularity, drain } = row.texts;
        return { ...row, id: `${granularity},${drain},${row.numbers.counters}`, row: `G = ${granularity}, ${drain}` };
    });
    return {
        cells,
        metrics: metricsOf(info),
        overs: [],
        choices: [{ title: 'Link', key: 'level', of: ({ texts }) => texts.link }, { title: 'Ring', key: 'ring', of: ({ numbers }) => String(numbers.capacity) }],
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
    const show = (cell: Cell | null) => element.replaceChildren(tableElement(trafficTable(info, cell)));
    const other = app.others[0]?.info.intrusion ? intrusionCells(app.others[0]) : null;
    return cellsView(app, all, other, [{ ...matrixFigure, title: 'Counters by granularity and drain' }, linesFigure], { element, show });
}
