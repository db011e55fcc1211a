// SPDX-License-Identifier: BSD-3-Clause
// Intrusion: what monitors cost the program over counters, granularity and drain, and where their records go.
import { baseName, titleOf, type App, type View } from '../app';
import { h, segmented, select, tableElement } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import { intrusionPython } from '../python';
import { cellOf, costMetrics, intrusionTable, trafficTable, type CostCell } from './intrusion_data';
import { drawLines, linesHeight, type Hit, type Picture } from './sweep_draw';
import { drawMatrix, matrixHeight } from './sweep_matrix';

export function intrusionView(app: App): View {
    const info = app.source.info.intrusion!;
    const metrics = costMetrics(info);
    const links = [...new Set(info.rows.map((row) => row.link))];
    const rings = [...new Set(info.rows.map((row) => String(row.capacity)))];
    const among = (all: string[], wanted: string | undefined) => (all.includes(wanted ?? '') ? wanted! : all[0]);
    const link = () => among(links, app.state.level);
    const ring = () => among(rings, app.state.ring);
    const metric = () => metrics.find((each) => each.id === app.state.metric) ?? metrics[0];
    const cells = (): CostCell[] =>
        info.rows.filter((row) => row.link === link() && String(row.capacity) === ring()).map(cellOf);
    const nameOf = (cell: CostCell) => `${cell.granularity},${cell.drain},${cell.counters}`;
    const chosenOf = (shown: CostCell[]) => shown.find((cell) => nameOf(cell) === app.state.cell) ?? null;
    const picture = (): Picture<CostCell> => {
        const shown = cells();
        return { cells: shown, metric: metric(), chosen: chosenOf(shown) };
    };

    const figures: Figure[] = [];
    function figure(name: string, title: string, height: () => number, paint: typeof drawMatrix): HTMLElement {
        let hits: Hit<CostCell>[] = [];
        const made = new Figure({
            name: () => `${baseName(app.source)}-${name}`,
            label: () => `${title}: ${metric().title} of ${cells().length} configurations of ${titleOf(app.source)}`,
            height,
            draw: (p) => (hits = paint(p, picture())),
            table: () => intrusionTable(info),
            python: () => intrusionPython(app.source, metric().column),
        });
        const under = (x: number, y: number) =>
            hits.find((each) => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height)
                ?.cell;
        made.bar.append(h('h3', {}, title));
        made.canvas.classList.add('clickable');
        made.canvas.addEventListener('click', (event) => {
            const cell = under(event.offsetX, event.offsetY);
            if (cell) app.set({ cell: nameOf(cell) });
        });
        made.canvas.addEventListener('pointermove', (event) => {
            const cell = under(event.offsetX, event.offsetY);
            made.canvas.title = cell
                ? `${cell.row}, ${cell.counters} counters: ${metrics.map((each) => `${each.title.toLowerCase()} ${each.text(each.value(cell))}`).join(', ')}`
                : '';
        });
        figures.push(made);
        return made.element;
    }

    const matrix = figure(
        'intrusion',
        'Counters by granularity and drain',
        () => matrixHeight(cells()),
        (p, picture) => drawMatrix(p, picture),
    );
    const lines = figure('intrusion-lines', 'Over the number of counters', () => linesHeight(cells()), drawLines);
    const controls = h('div', { class: 'row' });
    const detail = h('section', { class: 'card', 'aria-label': 'Traffic' });
    const element = h('div', { class: 'view' }, h('section', { class: 'card' }, controls), matrix, lines, detail);

    /** A choice where there is one. */
    const choice = (title: string, all: string[], now: string, take: (value: string) => void) =>
        all.length > 1 &&
        select(title, all.map((each): [string, string] => [each, each]), now, take);

    function update(): void {
        const parts = [
            segmented(
                'What is shown',
                metrics.map((each): [string, string] => [each.id, each.title]),
                metric().id,
                (id) => app.set({ metric: id }),
            ),
            choice('Link', links, link(), (level) => app.set({ level })),
            choice('Ring', rings, ring(), (each) => app.set({ ring: each })),
            h(
                'span',
                { class: 'note' },
                `Monitors on ${link()}, ring of ${full(Number(ring()))} records. Without monitor: ${full(info.references)} references, ${full(info.cycles)} cycles. Click a cell for its traffic.`,
            ),
        ];
        controls.replaceChildren(...parts.filter((each) => each !== false));
        figures.forEach((each) => each.changed());
        detail.replaceChildren(tableElement(trafficTable(info, chosenOf(cells())), full));
    }
    update();
    return {
        element,
        update,
        dispose: () => figures.forEach((each) => each.dispose()),
        totals: () => Object.fromEntries(cells().map((cell) => [nameOf(cell), metric().value(cell)])),
    };
}
