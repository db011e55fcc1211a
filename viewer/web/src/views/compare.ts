// SPDX-License-Identifier: BSD-3-Clause
// Compare: two results side by side, and what the second has more or less.
import { scaleKind, scaleChooser, baseName, titleOf, type App, type View } from '../app';
import { axisOf } from '../axis';
import { theme } from '../colours';
import { h, select, tableElement } from '../dom';
import { bytes, full } from '../numbers';
import { differenceOf, type PanelSource } from '../panel_data';
import { AddressPlot } from '../plot';
import type { Axis, Buckets, SeriesInfo, Stretch } from '../protocol';
import { fileDifferencePython, twinDifferencePython } from '../python';
import { parseRange } from '../state';
import { axesOf, pairsOf, type Pair } from './compare_align';
import { comparisons } from './compare_tables';
import { tablesOf } from './tables';

const nowhere: Axis = { segments: [], bytes: 1 };

export function compareView(app: App): View {
    const { source } = app;
    const other = app.others[0];
    const { pairs: all, notes } = pairsOf(source, other);
    const controls = h('div', { class: 'row' });
    let key = '';
    let axes: [Axis, Axis] = [nowhere, nowhere];
    let ready: Promise<void> = Promise.resolve();
    const chosen = () =>
        all.find((each) => each.id === `${app.state.show ?? 'misses'}|${app.state.level ?? ''}`) ??
        all.find((each) => each.id.startsWith(`${app.state.show ?? 'misses'}|`)) ??
        all[0];
    const plot = new AddressPlot({
        name: () => `${baseName(source)}-compared`,
        title: () => `${chosen().title} of ${titleOf(source)} and of ${titleOf(other)}`,
        structures: () => source.info.structures,
        python: (sight) => python(sight),
        moved: (range) => app.move(range ? `${Math.round(range[0])}-${Math.round(range[1])}` : ''),
    });
    plot.figure.bar.append(controls);
    const tables = comparisons(tablesOf(source.info), tablesOf(other.info)).map(({ table, notes }) =>
        h(
            'section',
            { class: 'card' },
            table.rows.length > 0 && tableElement(table, full),
            ...notes.map((note) => h('p', { class: 'note' }, note)),
        ),
    );
    const names = h(
        'section',
        { class: 'card' },
        h('p', {}, h('strong', {}, 'First: '), `${titleOf(source)} (${source.info.name})`),
        h('p', {}, h('strong', {}, 'Second: '), `${titleOf(other)} (${other.info.name})`),
        ...(all.length ? notes.map((note) => h('p', { class: 'note' }, note)) : []),
    );
    const body = all.length ? plot.element : h('div', { class: 'absent' }, ...notes.map((note) => h('p', {}, note)));
    const element = h('div', { class: 'view' }, names, body, ...tables);

    function panels(pair: Pair): PanelSource[] {
        const colours = theme();
        const rate = pair.quantity === 'missrate';
        const units = [...new Set([pair.a.unit, pair.b.unit])].map(bytes).join(' and of ');
        const meaning = `${pair.title.split(':')[0].toLowerCase()} per line of ${units}`;
        const from = (which: typeof source, series: SeriesInfo, axis: Axis) => (stretch: Stretch) =>
            which.ask('buckets', series.id, pair.quantity, null, axis, stretch);
        const [a, b] = [from(source, pair.a, axes[0]), from(other, pair.b, axes[1])];
        const difference = async (stretch: Stretch): Promise<Buckets> => {
            const [first, second] = await Promise.all([a(stretch), b(stretch)]);
            return differenceOf(first, second);
        };
        const common = { colour: colours[pair.quantity], rate, meaning };
        return [
            { ...common, key: 'a', title: `first: ${titleOf(source)}`, fetch: a },
            { ...common, key: 'b', title: `second: ${titleOf(other)}`, fetch: b },
            {
                key: 'd',
                title: 'second − first',
                meaning: 'difference of the means',
                colour: colours.misses,
                rate,
                signed: true,
                fetch: difference,
            },
        ];
    }

    async function update(): Promise<void> {
        if (all.length === 0) return;
        const pair = chosen();
        controls.replaceChildren(
            select(
                'Show',
                all.map((each): [string, string] => [each.id, each.title]),
                pair.id,
                (id) => {
                    const [show, level] = id.split('|');
                    app.set({ show, level, x: '' });
                },
            ),
            scaleChooser(app),
        );
        const scale = scaleKind(app);
        const now = JSON.stringify([pair.id, theme().dark]);
        if (now === key) return plot.look(parseRange(app.state.x, axes[0].bytes), scale);
        key = now;
        const found = await axesFor(pair);
        if (now !== key) return;
        axes = found;
        plot.set(axes[0], panels(pair), parseRange(app.state.x, axes[0].bytes), scale, true);
    }

    async function axesFor({ a, b, twins }: Pair): Promise<[Axis, Axis]> {
        const unit = Math.max(a.unit, b.unit);
        if (twins) return axesOf(twins, unit);
        const axis = axisOf(await Promise.all([source.ask('extents', [a.id]), other.ask('extents', [b.id])]), unit);
        return [axis, axis];
    }

    function python(sight: [bigint, bigint][] | null): string {
        const { a, b, quantity, twins } = chosen();
        if (!twins) return fileDifferencePython(source, other, a, b, quantity, sight);
        const [x0, x1] = parseRange(app.state.x, axes[0].bytes) ?? [0, axes[0].bytes];
        const begins = axes.map((axis) => new Map(axis.segments.map((each) => [each.start, each.base])));
        const places = axes[0].segments.flatMap(({ start, bytes: size }): [bigint, bigint, number][] => {
            const from = Math.floor(Math.max(0, x0 - start));
            const to = Math.ceil(Math.min(size, x1 - start));
            return from < to ? [[begins[0].get(start)! + BigInt(from), begins[1].get(start)! + BigInt(from), to - from]] : [];
        });
        return twinDifferencePython(source, other, a, b, quantity, places);
    }
    ready = update();
    return {
        element,
        update: () => void (ready = update()),
        dispose: () => plot.dispose(),
        quiet: async () => {
            await ready;
            await plot.quiet();
        },
        totals: () => plot.totals(),
    };
}
