// SPDX-License-Identifier: BSD-3-Clause
// Compare: two results side by side, and what the second has more or less.
import { scaleKind, scaleChooser, baseName, titleOf, type App, type View } from '../app';
import { theme } from '../colours';
import { h, select, tableElement } from '../dom';
import { FieldPlot } from '../field';
import { full } from '../numbers';
import type { Axis } from '../protocol';
import { parseRange, rangeText } from '../state';
import { pairsOf } from './compare_align';
import { pairAxes, pairPanels, pairPython } from './compare_panels';
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
    const plot = new FieldPlot({
        name: () => `${baseName(source)}-compared`,
        title: () => `${chosen().title} of ${titleOf(source)} and of ${titleOf(other)}`,
        python: (sight) => pairPython(source, other, chosen(), axes, null, sight),
        look: (range) => app.move(rangeText(range)),
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
    const body = all.length ? plot.figure.element : h('div', { class: 'absent' }, ...notes.map((note) => h('p', {}, note)));
    const element = h('div', { class: 'view' }, names, body, ...tables);

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
        plot.set({ scale: scaleKind(app), shared: true, structures: source.info.structures });
        const now = JSON.stringify([pair.id, theme().dark]);
        if (now === key) return plot.look(parseRange(app.state.x, axes[0].bytes));
        key = now;
        const found = await pairAxes(source, other, pair);
        if (now !== key) return;
        axes = found;
        plot.read(axes[0], pairPanels(source, other, pair, axes, null), parseRange(app.state.x, axes[0].bytes));
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
