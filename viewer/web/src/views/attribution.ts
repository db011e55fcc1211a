// SPDX-License-Identifier: BSD-3-Clause
// Code and data: which data structures, fields, functions and source lines of a program miss, and why, as a table.
import { chosenPhases, phaseCount, phasesTitle, type App, type View } from '../app';
import { h, segmented, type Table } from '../dom';
import { PhaseStrip } from '../strip';
import { causeKinds } from './causes_draw';
import { tableCard } from './tables';

export function attributionView(app: App): View {
    const attribution = app.source.info.attribution!;
    const { groupings, causes } = attribution;
    const strip = phaseCount(app.source) > 1 ? new PhaseStrip(app) : null;
    const controls = h('div', { class: 'row' });
    const place = h('div', {});
    const element = h('div', { class: 'view' }, h('section', { class: 'card' }, controls), strip?.element, place);
    let table: Table = { caption: '', headers: [], rows: [] };

    const grouping = () => groupings.find((each) => each.id === app.state.mode) ?? groupings[0];
    const cause = () => causes.find((each) => each.level === app.state.level) ?? causes[0];
    const columns = () => [
        ...attribution.counts.filter((each, i) => i === 0 || each.values.some((value) => value > 0)),
        ...(causes.length > 0
            ? causeKinds.map((kind, i) => ({ title: `${cause().level} ${kind.title.toLowerCase()}`, values: cause().counts[i] }))
            : []),
    ];

    /** Most of the chosen column first; at first misses of the first level. */
    function tableOf(): { table: Table; by: number } {
        const chosen = chosenPhases(app);
        const wanted = chosen && new Set(chosen);
        const { names, of, title } = grouping();
        const counted = columns();
        const sums = names.map((name) => [name, ...counted.map(() => 0)] as (string | number)[]);
        attribution.site.forEach((site, row) => {
            const group = of[site];
            if (group < 0 || (wanted && !wanted.has(attribution.phase[row]))) return;
            counted.forEach(({ values }, i) => ((sums[group][i + 1] as number) += values[row]));
        });
        const headers = [title.toLowerCase().replace(/s$/, ''), ...counted.map((each) => each.title)];
        const usual = headers.findIndex((each) => each.endsWith(' misses'));
        const by = Math.max(headers.indexOf(app.state.metric ?? ''), -1);
        const column = by >= 0 ? by : Math.max(usual, 1);
        const rows = sums.filter((row) => row.slice(1).some((value) => value !== 0));
        rows.sort((a, b) =>
            column === 0 ? String(a[0]).localeCompare(String(b[0]), 'en') : (b[column] as number) - (a[column] as number),
        );
        return { table: { caption: `${title}, ${phasesTitle(app)}`, headers, rows }, by: column };
    }

    function update(): void {
        strip?.update();
        const made = tableOf();
        table = made.table;
        controls.replaceChildren(
            segmented(
                'Rows',
                groupings.map((each): [string, string] => [each.id, each.title]),
                grouping().id,
                (mode) => app.set({ mode }),
            ),
            ...(causes.length > 1
                ? [
                      segmented(
                          'Causes of',
                          causes.map(({ level }): [string, string] => [level, level]),
                          cause().level,
                          (level) => app.set({ level }),
                      ),
                  ]
                : []),
        );
        const card = tableCard(app, table);
        card.querySelectorAll('thead th').forEach((head, i) => {
            const sort = () => app.set({ metric: table.headers[i] });
            head.setAttribute('aria-sort', i !== made.by ? 'none' : i === 0 ? 'ascending' : 'descending');
            head.replaceChildren(h('button', { type: 'button', class: 'link', title: 'Sort by it', onclick: sort }, table.headers[i]));
        });
        place.replaceChildren(card);
    }
    update();
    return {
        element,
        update,
        dispose: () => strip?.dispose(),
        totals: () =>
            Object.fromEntries(
                table.headers.slice(1).map((title, i) => [title, table.rows.reduce((sum, row) => sum + (row[i + 1] as number), 0)]),
            ),
    };
}
