// SPDX-License-Identifier: BSD-3-Clause
// Phases: how long each is, and histograms of one, several, two and their difference, or all over time.
import {
    scaleChooser,
    baseName,
    chosenPhases,
    chosenShow,
    isOff,
    phaseCount,
    titleOf,
    type App,
    type Show,
    type View,
} from '../app';
import { h, segmented, select } from '../dom';
import { full } from '../numbers';
import type { SeriesInfo } from '../protocol';
import { PhaseStrip } from '../strip';
import { differencePart } from './phases_difference';
import { heatPart } from './phases_heat';
import { multiplesPart } from './phases_multiples';

/** One of the ways to look at phases. */
export interface Part {
    element: HTMLElement;
    update(): void;
    dispose(): void;
    quiet(): Promise<void>;
}

export type PartMaker = (app: App, show: Show, series: SeriesInfo) => Part;

const parts: Record<string, PartMaker> = { multiples: multiplesPart, heat: heatPart, difference: differencePart };

export function seriesOf(app: App, show: Show): SeriesInfo {
    const list = show.series.filter((each) => each.rows > 0);
    return (
        list.find((each) => each.owner === app.state.level) ??
        list.find((each) => !isOff(app, each)) ??
        list[0] ??
        show.series[0]
    );
}

export function phasesView(app: App): View {
    const strip = new PhaseStrip(app);
    const controls = h('div', { class: 'row' });
    const check = h('p', { class: 'note sum-check', role: 'status' });
    const body = h('div', {});
    const element = h('div', { class: 'view' }, strip.element, h('section', { class: 'card' }, controls, check), body);
    let part: Part | null = null;
    let key = '';
    let checked = '';
    let checking: Promise<void> = Promise.resolve();

    function mode(): string {
        const many = phaseCount(app.source) > 60;
        return app.state.mode && parts[app.state.mode] ? app.state.mode : many ? 'heat' : 'multiples';
    }

    function update(): void {
        const show = chosenShow(app)!;
        const series = seriesOf(app, show);
        strip.update();
        controls.replaceChildren(
            segmented(
                'Way to look',
                [
                    ['multiples', 'Small multiples', 'one picture per phase'],
                    ['heat', 'Heat map', 'phases over addresses'],
                    ['difference', 'Difference', 'two phases and their difference'],
                ],
                mode(),
                (value) => app.set({ mode: value }),
            ),
            select(
                'of',
                show.series.filter((each) => each.rows > 0).map((each): [string, string] => [each.owner, each.owner]),
                series.owner,
                (level) => app.set({ level }),
            ),
            select('Show', [...new Map(allShows(app)).entries()], show.id, (id) => app.set({ show: id, x: '' })),
            scaleChooser(app),
        );
        const now = JSON.stringify([mode(), show.id, series.id]);
        if (now !== key) {
            part?.dispose();
            key = now;
            part = parts[mode()](app, show, series);
            body.replaceChildren(part.element);
        } else part!.update();
        if (checked !== `${show.id}${series.id}`) {
            checked = `${show.id}${series.id}`;
            checking = checkSum(app, show, series, check);
        }
    }
    update();
    return {
        element,
        update,
        dispose: () => {
            part?.dispose();
            strip.dispose();
        },
        quiet: async () => {
            await part?.quiet();
            await checking;
        },
    };
}

function allShows(app: App): [string, string][] {
    return showsOf(app).map((each) => [each.id, each.title]);
}

import { shows } from '../app';
const showsOf = (app: App) => shows(app.source);

/** That the phases sum to what was counted without phases. */
async function checkSum(app: App, show: Show, series: SeriesInfo, into: HTMLElement): Promise<void> {
    const quantity = show.quantity === 'missrate' ? 'misses' : show.quantity;
    into.textContent = 'adding up the phases …';
    const sums = await app.source.ask('phaseSums', series.id, quantity).catch((error: unknown) => {
        into.textContent = 'The phases cannot be added up.';
        throw error;
    });
    const sum = sums.reduce((a, b) => a + b, 0);
    const total = counted(app, show, series);
    const what = show.quantity === 'missrate' ? 'misses' : show.title.toLowerCase();
    if (total === null) {
        into.textContent = `Sum over ${full(sums.length)} phases: ${full(sum)} ${what} of ${series.owner}`;
        return;
    }
    const same = Math.abs(sum - total) <= Math.max(0.5, total * 1e-9);
    into.classList.toggle('bad', !same);
    into.textContent = `Sum check: ${full(sums.length)} phases of ${series.owner} add up to ${full(sum)} ${what}; counted over the run: ${full(total)} ${same ? '✓' : '✗'}`;
}

/** The number that was counted apart from the histogram. */
function counted(app: App, show: Show, series: SeriesInfo): number | null {
    const { components, links, monitors } = app.source.info;
    if (series.kind === 'link')
        return (
            links.find((each) => each.name === series.owner)?.kinds.find((each) => each.kind === series.event)
                ?.events ?? null
        );
    if (series.kind === 'monitor') {
        const monitor = monitors.find((each) => each.name === series.owner);
        return monitor ? monitor.numbers.events - monitor.numbers.lost : null;
    }
    const totals = components.find((each) => each.name === series.owner)?.totals;
    if (!totals || series.kind !== 'level') return null;
    const of = (names: string[]) => names.reduce((sum, name) => sum + (totals[name] ?? 0), 0);
    const accesses = of('accesses' in totals ? ['accesses'] : ['loads', 'stores', 'fetches']);
    const misses = of('misses' in totals ? ['misses'] : ['load_misses', 'store_misses', 'fetch_misses']);
    return show.quantity === 'accesses' ? accesses : show.quantity === 'hits' ? accesses - misses : misses;
}

export { baseName, chosenPhases, titleOf };
