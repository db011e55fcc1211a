// SPDX-License-Identifier: BSD-3-Clause
// Trackers: what other trackers of hot lines give and take beside the counter array; with a sweep as second file on its fronts.
import { baseName, titleOf, type App, type View } from '../app';
import { fill, h, inWords, select, tableBy, tableElement, type Table } from '../dom';
import { figureOf } from '../figure';
import { full } from '../numbers';
import type { FileInfo } from '../protocol';
import { snippet } from '../python';
import { drawFronts, frontsHeight, frontsTable, panelsOf, type Fronts } from './fronts';
import { metricsOf } from './sweep_cells';

type Trackers = NonNullable<FileInfo['trackers']>;

/** The worst first, those without reports last. */
export const trackersTable = ({ link, top, rows }: Trackers): Table =>
    tableBy(`Trackers on ${link}`, rows, [
        ...inWords('tracker', 'bits', 'comparators', 'area', 'reports', 'lost', 'bytes per event', 'error %'),
        [`recall of ${top} %`, ({ numbers }) => 100 * numbers.recall],
        ...inWords('worst recall %', 'precision %'),
        ['remark', ({ numbers }) => (numbers.traffic_is_off === 1 ? 'traffic is off by more than a tenth' : '')],
        ['settings', ({ texts }) => texts.spec],
    ], { sorted: 7 });

export function trackersView(app: App): View {
    const sources = [app.source, ...app.others];
    const own = sources.filter(({ info }) => info.trackers);
    const panels = panelsOf(sources).filter(({ marks }) => marks.length > 0);
    const overs = metricsOf(panels.flatMap(({ cells, marks }) => [...cells, ...marks])).filter(({ id }) => id !== 'error');
    const chosen = () => overs.find(({ id }) => id === app.state.over) ?? overs[0];
    const picture = (): Fronts => ({ panels, over: chosen(), chosen: null });
    const figure = figureOf({
        name: () => `${baseName(own[0])}-front`,
        label: () => `Error against ${chosen().title.toLowerCase()} of trackers: ${own.map(titleOf).join('; ')}`,
        height: (width) => frontsHeight(picture(), width),
        draw: (p) => void drawFronts(p, picture()),
        table: () => frontsTable(picture()),
        python: () => snippet({ FILE: own[0].info.name, COLUMNS: [chosen().column] }, 'trackers'),
    });
    const controls = h('div', { class: 'row' });
    figure.bar.append(h('h3', {}, 'Error against what it costs'), controls);
    const lonely = sources.some(({ info }) => info.sweep) && panels.every(({ cells }) => !cells.length);
    const tables = own.map(({ info, info: { trackers } }) => {
        const { copies, events, phases } = trackers!;
        const note = `${info.name}: ${full(events)} events in ${full(phases)} phases; ${full(copies)} ${copies === 1 ? 'copy' : 'copies'} of the link.`;
        return h('section', { class: 'card' }, h('p', { class: 'note' }, note), tableElement(trackersTable(trackers!), full));
    });
    const why = 'The sweep has no cells of this workload, link and machine: its front is not shown.';
    const element = h('div', { class: 'view' }, lonely && h('p', { class: 'note' }, why), figure.element, ...tables);
    const update = () => {
        fill(controls, select('Error against', overs.map(({ id, title }): [string, string] => [id, title.toLowerCase()]), chosen().id, (over) => app.set({ over })));
        figure.changed();
    };
    update();
    return { element, update };
}
