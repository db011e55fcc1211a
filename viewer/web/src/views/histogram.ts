// SPDX-License-Identifier: BSD-3-Clause
// Histogram: counts over addresses, a panel per level or link, structures under them, and the lines behind a column.
import {
    scaleKind,
    scaleChooser,
    absent,
    baseName,
    chosenPhases,
    chosenShow,
    eventName,
    inOrder,
    isOff,
    phaseCount,
    phasesTitle,
    shows,
    titleOf,
    type App,
    type Show,
    type View,
} from '../app';
import { describe, hex } from '../axis';
import { theme } from '../colours';
import { h, segmented, select, tableElement } from '../dom';
import { brief, full } from '../numbers';
import { AddressPlot, type PanelSource } from '../plot';
import { histogramPython } from '../python';
import type { Axis, LineRow, SeriesInfo } from '../protocol';
import { parseRange } from '../state';
import { PhaseStrip } from '../strip';
import { StructureBox } from '../structures';
import { bytes } from '../numbers';

const linesAtMost = 200;

export function panelsOf(app: App, show: Show, axis: Axis, list: SeriesInfo[]): PanelSource[] {
    const phases = chosenPhases(app);
    const colours = theme();
    return list.map((series) => ({
        key: series.id,
        title: series.owner,
        meaning: `${show.title.toLowerCase()} per line of ${bytes(series.unit)}`,
        colour: colours[show.quantity],
        rate: show.quantity === 'missrate',
        fetch: (stretch) =>
            app.source.askLatest(
                `${series.id}:${stretch.x0 === 0 && stretch.x1 === axis.bytes}`,
                'buckets',
                series.id,
                show.quantity,
                phases,
                axis,
                stretch,
            ),
    }));
}

export function histogramView(app: App): View {
    const first = chosenShow(app);
    if (!first)
        return {
            element: absent('This file has no histograms: the run was made without monitors and exact counts.'),
            update: () => {},
            dispose: () => {},
        };
    let axis: Axis | null = null;
    let shown = '';
    const controls = h('div', { class: 'row' });
    const lines = h('section', { class: 'lines', 'aria-label': 'Lines', hidden: true });
    const strip = phaseCount(app.source) > 1 ? new PhaseStrip(app) : null;
    const plot = new AddressPlot({
        name: () => `${baseName(app.source)}-${chosenShow(app)!.id.replace(':', '-')}`,
        title: () => `${chosenShow(app)!.title} of ${titleOf(app.source)}, ${phasesTitle(app)}`,
        structures: () => app.source.info.structures,
        python: (sight) => histogramPython(app, { ...chosenShow(app)!, series: visible(chosenShow(app)!) }, sight),
        moved: (range) => app.move(range ? `${Math.round(range[0])}-${Math.round(range[1])}` : ''),
        picked: (from, to) => void showLines(from, to),
    });
    plot.figure.bar.append(controls);
    const structures = new StructureBox(app, (structure) => plot.zoomTo(structure));
    const element = h('div', { class: 'view' }, strip?.element, plot.element, lines, structures.element);

    const visible = (show: Show) => {
        const on = show.series.filter((each) => !isOff(app, each) && each.rows > 0);
        return on.length ? on : show.series.slice(0, 1);
    };

    function fillControls(show: Show): void {
        const counted = shows(app.source);
        const levels = counted.filter((each) => !each.id.startsWith('link:'));
        const links = counted.filter((each) => each.id.startsWith('link:'));
        const choose = (id: string) => app.set({ show: id, x: sameAxis(show.id, id) ? app.state.x : '' });
        const others: [string, string][] = links.map((each) => [each.id, each.title]);
        if (!show.id.startsWith('link:')) others.unshift(['', 'events on links …']);
        const boxes = show.series.map((series) => {
            const toggle = (event: Event) => {
                const names = new Set(show.series.filter((each) => isOff(app, each)).map((each) => each.owner));
                if ((event.target as HTMLInputElement).checked) names.delete(series.owner);
                else names.add(series.owner);
                app.set({ off: [...names].join() || 'none' });
            };
            const empty = series.rows === 0;
            return h(
                'label',
                { class: 'check', title: empty ? 'no events' : undefined },
                h('input', {
                    type: 'checkbox',
                    checked: !isOff(app, series) && !empty,
                    disabled: empty,
                    onchange: toggle,
                }),
                series.owner,
            );
        });
        controls.replaceChildren(
            segmented(
                'What is shown',
                levels.map((each) => [each.id, each.title]),
                show.id,
                choose,
            ),
            ...(links.length
                ? [select('Events', others, show.id.startsWith('link:') ? show.id : '', (id) => id && choose(id))]
                : []),
            scaleChooser(app),
            ...kindsOnLink(app, show, visible(show), choose),
            ...(show.series.length > 1
                ? [h('div', { class: 'checks', role: 'group', 'aria-label': 'Panels' }, ...boxes)]
                : []),
        );
    }

    async function showLines(from: bigint, to: bigint): Promise<void> {
        const show = chosenShow(app)!;
        const list = visible(show);
        const phases = chosenPhases(app);
        lines.hidden = false;
        lines.replaceChildren(h('p', { class: 'note' }, 'reading …'));
        const answers = await Promise.all(
            list.map((series) => app.source.ask('lines', series.id, phases, String(from), String(to), linesAtMost)),
        );
        const functions = await functionsIn(app, phases, from, to);
        const close = h('button', { type: 'button', onclick: () => (lines.hidden = true) }, 'Close');
        const note = functions.length ? `Functions: ${functions.join(', ')}` : '';
        lines.replaceChildren(
            h(
                'div',
                { class: 'row' },
                h('h3', {}, `Lines from ${describe(app.source.info.structures, from)}, ${phasesTitle(app)}`),
                close,
            ),
            ...(list.some((each) => each.reduced)
                ? [
                      h(
                          'p',
                          { class: 'note' },
                          'A reduced copy: blocks of lines, and in them those lines that have the highest counts of a phase.',
                      ),
                  ]
                : []),
            ...(note ? [h('p', { class: 'note' }, note)] : []),
            tableElement(
                linesTable(
                    app,
                    list,
                    answers.map((each) => each.rows),
                ),
                full,
            ),
            ...(answers.some((each) => each.more)
                ? [h('p', { class: 'note' }, `Only the first ${linesAtMost}: zoom in for fewer.`)]
                : []),
        );
    }

    async function update(): Promise<void> {
        const show = chosenShow(app)!;
        const list = visible(show);
        fillControls(show);
        strip?.update();
        structures.update();
        const scale = scaleKind(app);
        const key = JSON.stringify([show.id, list.map((each) => each.id), app.state.phases ?? '', theme().dark]);
        if (axis && key === shown) return plot.look(parseRange(app.state.x, axis.bytes), scale, '');
        shown = key;
        lines.hidden = true;
        const found = await app.source.axis(show.series.filter((each) => each.rows > 0).map((each) => each.id));
        if (shown !== key) return;
        axis = found;
        plot.set(axis, panelsOf(app, show, axis, list), parseRange(app.state.x, axis.bytes), scale, '');
    }
    let ready = update();
    return {
        element,
        update: () => void (ready = update()),
        quiet: async () => {
            await ready;
            await plot.quiet();
        },
        totals: () => plot.totals(),
        frames: () => plot.frames,
        dispose: () => {
            plot.figure.dispose();
            strip?.dispose();
        },
    };
}

/** Where one link alone is shown: of how many kinds its events are, this one being one of them. */
function kindsOnLink(app: App, show: Show, list: SeriesInfo[], choose: (id: string) => void): HTMLElement[] {
    const link = app.source.info.links.find((each) => list.length === 1 && each.name === list[0].owner);
    if (!show.id.startsWith('link:') || !link) return [];
    const counts = new Map(link.kinds.map((each) => [each.kind, each.events]));
    const kinds = inOrder([...counts.keys()]).filter(
        (kind) =>
            counts.get(kind)! > 0 &&
            app.source.info.series.some((each) => each.kind === 'link' && each.owner === link.name && each.event === kind),
    );
    const label = `All that is on ${link.name}`;
    const options = kinds.map((kind): [string, string] => [`link:${kind}`, `${eventName(kind)} ${brief(counts.get(kind)!)}`]);
    return [h('div', { class: 'row' }, h('span', { class: 'note' }, `${label}:`), segmented(label, options, show.id, choose))];
}

/** Levels share an axis; links have their own. */
function sameAxis(before: string, after: string): boolean {
    const kind = (id: string) => (id.startsWith('link:') || id === 'monitor' || id === 'exact' ? id : 'level');
    return kind(before) === kind(after);
}

/** "daxpy 1,234" for the functions whose events fell into the addresses, where monitors told functions apart. */
async function functionsIn(app: App, phases: number[] | null, from: bigint, to: bigint): Promise<string[]> {
    const monitors = app.source.info.monitors.filter((each) => each.functions.length > 0);
    const sums = new Map<string, number>();
    const first = monitors[0];
    if (!first) return [];
    const series = app.source.info.series.find((each) => each.kind === 'monitor' && each.owner === first.name);
    if (!series) return [];
    const { rows } = await app.source.ask('lines', series.id, phases, String(from), String(to), 10000);
    for (const row of rows) sums.set(row.func || '(none)', (sums.get(row.func || '(none)') ?? 0) + row.values[0]);
    return [...sums.entries()].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${full(count)}`);
}

function linesTable(app: App, list: SeriesInfo[], rows: LineRow[][]) {
    const all = new Map<string, (string | number)[]>();
    const columns = list.flatMap((series) =>
        series.kind === 'level' ? [`${series.owner} accesses`, `${series.owner} misses`] : [`${series.owner} events`],
    );
    let at = 2;
    list.forEach((series, i) => {
        for (const row of rows[i]) {
            const key = `${hex(row.address)}${row.span > 1 ? ` (${row.span} lines)` : ''}${row.func ? ` ${row.func}` : ''}`;
            const found = all.get(key) ?? [
                key,
                describe(app.source.info.structures, row.address),
                ...columns.map(() => 0),
            ];
            row.values.forEach((value, j) => (found[at + j] = value));
            all.set(key, found);
        }
        at += series.kind === 'level' ? 2 : 1;
    });
    const sorted = [...all.values()].sort((a, b) => (parseInt(String(a[0]), 16) < parseInt(String(b[0]), 16) ? -1 : 1));
    return { caption: 'Counts of the lines', headers: ['line', 'where', ...columns], rows: sorted };
}
