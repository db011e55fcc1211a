// Compare: two results side by side, and what the second has more or less.
import { scaleKind, scaleChooser, baseName, shows, titleOf, type App, type View } from '../app';
import { axisOf } from '../axis';
import { theme } from '../colours';
import { h, select, tableElement } from '../dom';
import { bytes, full } from '../numbers';
import { AddressPlot, type PanelSource } from '../plot';
import type { Axis, Buckets, Quantity, SeriesInfo, Stretch } from '../protocol';
import { fileDifferencePython } from '../python';
import { parseRange } from '../state';
import { comparisons } from './compare_tables';
import { differenceOf } from './phases_difference';
import { tablesOf } from './tables';

/** What both files count: by level, link or monitor of the same name. */
interface Pair {
    id: string;
    title: string;
    quantity: Quantity;
    a: SeriesInfo;
    b: SeriesInfo;
}

function pairs(app: App): Pair[] {
    const others = shows(app.others[0]);
    return shows(app.source).flatMap((show) => {
        const other = others.find((each) => each.id === show.id);
        return show.series.flatMap((a) => {
            const b = other?.series.find(
                (each) => each.owner === a.owner && each.event === a.event && each.unit === a.unit,
            );
            return b && a.rows + b.rows > 0
                ? [{ id: `${show.id}|${a.owner}`, title: `${show.title}: ${a.owner}`, quantity: show.quantity, a, b }]
                : [];
        });
    });
}

export function compareView(app: App): View {
    const { source } = app;
    const other = app.others[0];
    const all = pairs(app);
    const controls = h('div', { class: 'row' });
    let key = '';
    let axis: Axis = { segments: [], bytes: 1 };
    let ready: Promise<void> = Promise.resolve();
    const chosen = () =>
        all.find((each) => each.id === `${app.state.show ?? 'misses'}|${app.state.level ?? ''}`) ??
        all.find((each) => each.id.startsWith(`${app.state.show ?? 'misses'}|`)) ??
        all[0];
    const plot = new AddressPlot({
        name: () => `${baseName(source)}-compared`,
        title: () => `${chosen().title} of ${titleOf(source)} and of ${titleOf(other)}`,
        structures: () => source.info.structures,
        python: (sight) => fileDifferencePython(source, other, chosen().a, chosen().quantity, sight),
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
    );
    const body = all.length
        ? plot.element
        : h(
              'p',
              { class: 'absent' },
              'The two files count nothing of the same name and line size, so that no histograms can be laid side by side.',
          );
    const element = h('div', { class: 'view' }, names, body, ...tables);

    function panels(pair: Pair): PanelSource[] {
        const colours = theme();
        const rate = pair.quantity === 'missrate';
        const meaning = `${pair.title.split(':')[0].toLowerCase()} per line of ${bytes(pair.a.unit)}`;
        const from = (which: typeof source, series: SeriesInfo) => (stretch: Stretch) =>
            which.ask('buckets', series.id, pair.quantity, null, axis, stretch);
        const [a, b] = [from(source, pair.a), from(other, pair.b)];
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
        if (now === key) return plot.look(parseRange(app.state.x, axis.bytes), scale, '');
        key = now;
        const extents = await Promise.all([source.ask('extents', [pair.a.id]), other.ask('extents', [pair.b.id])]);
        if (now !== key) return;
        axis = axisOf(extents, pair.a.unit);
        plot.set(axis, panels(pair), parseRange(app.state.x, axis.bytes), scale, '', true);
    }
    ready = update();
    return {
        element,
        update: () => void (ready = update()),
        dispose: () => plot.figure.dispose(),
        quiet: async () => {
            await ready;
            await plot.quiet();
        },
        totals: () => plot.totals(),
    };
}
