// SPDX-License-Identifier: BSD-3-Clause
// Difference: two phases, one over the other, and what the second has more (up) or less (down).
import { scaleKind, baseName, chosenPhases, phaseCount, titleOf, type App, type Show } from '../app';
import { theme } from '../colours';
import { select } from '../dom';
import { bytes } from '../numbers';
import { meanOf } from '../panels';
import { AddressPlot, type PanelSource } from '../plot';
import type { Axis, Buckets, SeriesInfo, Stretch } from '../protocol';
import { phaseDifferencePython } from '../python';
import { parseRange } from '../state';
import type { Part } from './phases';

/** b - a, column by column: of the sums, and of the means of the lines as least and most, so that pictures of unequal detail can
 * be told apart. */
export function differenceOf(a: Buckets, b: Buckets): Buckets {
    const some = (i: number) => a.min[i] !== Infinity || b.min[i] !== Infinity;
    const means = a.sum.map((_, i) => meanOf(b, i, i + 1) - meanOf(a, i, i + 1));
    return {
        x0: a.x0,
        x1: a.x1,
        touched: means.map((_, i) => (some(i) ? 1 : 0)),
        sum: b.sum.map((sum, i) => sum - a.sum[i]),
        min: means.map((mean, i) => (some(i) ? mean : Infinity)),
        max: means.map((mean, i) => (some(i) ? mean : -Infinity)),
        total: b.total - a.total,
        grain: Math.max(a.grain, b.grain),
        uneven: false,
        parts: [a, b],
    };
}

export function differencePart(app: App, show: Show, series: SeriesInfo): Part {
    let key = '';
    let axis: Axis = { segments: [], bytes: 1 };
    const plot = new AddressPlot({
        name: () => `${baseName(app.source)}-difference`,
        title: () =>
            `${show.title} of ${series.owner} in phases ${pair().join(' and ')} of ${titleOf(app.source)}, and their difference`,
        structures: () => app.source.info.structures,
        python: (sight) => phaseDifferencePython(app.source, series, show.quantity, pair(), sight),
        moved: (range) => app.move(range ? `${Math.round(range[0])}-${Math.round(range[1])}` : ''),
    });

    /** The first and the last that are chosen; else the two longest phases. */
    function pair(): [number, number] {
        const chosen = chosenPhases(app);
        if (chosen && chosen.length >= 2) return [chosen[0], chosen[chosen.length - 1]];
        const { cycles } = app.source.info.phases;
        const order = Array.from({ length: phaseCount(app.source) }, (_, i) => i).sort(
            (a, b) => (cycles[b] ?? 0) - (cycles[a] ?? 0),
        );
        if (chosen?.length === 1) return [chosen[0], order.find((each) => each !== chosen[0]) ?? chosen[0]];
        const [a, b] = [order[0], order[1] ?? order[0]];
        return a < b ? [a, b] : [b, a];
    }

    function fillBar(): void {
        const [a, b] = pair();
        const most = Math.min(phaseCount(app.source), 400);
        const options = Array.from({ length: most }, (_, i): [string, string] => [String(i), `phase ${i}`]);
        const set = (first: number, second: number) =>
            app.set({ phases: first < second ? `${first},${second}` : `${second},${first}` });
        plot.figure.bar.replaceChildren(
            select('First', options, String(a), (value) => set(Number(value), b)),
            ' ',
            select('second', options, String(b), (value) => set(a, Number(value))),
        );
    }

    function panels(): PanelSource[] {
        const colours = theme();
        const rate = show.quantity === 'missrate';
        const ask = (phase: number) => (stretch: Stretch) =>
            app.source.ask('buckets', series.id, show.quantity, [phase], axis, stretch);
        const [a, b] = pair();
        const meaning = `${show.title.toLowerCase()} per line of ${bytes(series.unit)}`;
        const both = async (stretch: Stretch) => {
            const [first, second] = await Promise.all([ask(a)(stretch), ask(b)(stretch)]);
            return differenceOf(first, second);
        };
        return [
            { key: 'a', title: `phase ${a}`, meaning, colour: colours[show.quantity], rate, fetch: ask(a) },
            { key: 'b', title: `phase ${b}`, meaning, colour: colours[show.quantity], rate, fetch: ask(b) },
            {
                key: 'd',
                title: `phase ${b} − phase ${a}`,
                meaning: 'difference of the means',
                colour: colours.misses,
                rate,
                signed: true,
                fetch: both,
            },
        ];
    }

    async function update(): Promise<void> {
        fillBar();
        axis = await app.source.axis(show.series.filter((each) => each.rows > 0).map((each) => each.id));
        const scale = scaleKind(app);
        const now = JSON.stringify([pair(), theme().dark]);
        if (now === key) return plot.look(parseRange(app.state.x, axis.bytes), scale, '');
        key = now;
        plot.set(axis, panels(), parseRange(app.state.x, axis.bytes), scale, '', true);
    }
    let ready = update();
    return {
        element: plot.element,
        update: () => void (ready = update()),
        dispose: () => plot.figure.dispose(),
        quiet: async () => {
            await ready;
            await plot.quiet();
        },
    };
}
