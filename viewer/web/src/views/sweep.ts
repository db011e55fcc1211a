// SPDX-License-Identifier: BSD-3-Clause
// Sweep: what counters and granularity cost and give, as a heat map, as lines, as a Pareto front, and cell by cell.
import { baseName, titleOf, type App, type View } from '../app';
import { h, segmented, select, type Table } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import type { SweepCell } from '../protocol';
import { sweepPython } from '../python';
import { sweepDetail } from './sweep_detail';
import {
    costText,
    drawLines,
    drawPareto,
    linesHeight,
    metricsOf,
    paretoFront,
    paretoHeight,
    type Front,
    type Hit,
    type Metric,
} from './sweep_draw';
import { drawMatrix, matrixHeight } from './sweep_matrix';

export function sweepView(app: App): View {
    const { sweep } = app.source.info;
    const cells = sweep!.cells;
    const evictions = [...new Set(cells.map((cell) => cell.eviction))];
    const controls = h('div', { class: 'row' });
    const metrics = metricsOf(cells);
    const chosenMetric = (): Metric => metrics.find((each) => each.id === app.state.metric) ?? metrics[0];
    /** Traffic, or what the file knows of hardware and slowdown. */
    const overs = metrics.filter((each) => each.id !== 'error' && each.id !== 'swapouts');
    const over = (): Metric => overs.find((each) => each.id === app.state.over) ?? overs[0];
    const eviction = () => (evictions.includes(app.state.eviction ?? '') ? app.state.eviction! : evictions[0]);
    const shown = () => cells.filter((cell) => cell.eviction === eviction());
    const picture = (): Front => ({ cells: shown(), metric: chosenMetric(), over: over(), chosen: chosenCell() });

    function chosenCell(): SweepCell | null {
        const [granularity, counters] = (app.state.cell ?? '').split(',');
        return shown().find((cell) => cell.granularity === granularity && cell.counters === Number(counters)) ?? null;
    }

    /** What the slowdown is, where it is shown, and of how many cells it is known. */
    function slowdownNote(): string {
        if (chosenMetric().id !== 'slowdown' && over().id !== 'slowdown') return '';
        const known = cells.filter((cell) => !Number.isNaN(cell.more.slowdown)).length;
        const some = known < cells.length ? `, of ${known} of ${cells.length} cells: the others are not known` : '';
        return ` Slowdown: by how much the program takes longer with the monitor of a cell${some}.`;
    }

    function table(): Table {
        const published = cells.some((cell) => cell.published);
        const headers = [
            'eviction',
            'granularity',
            'counters',
            'swap-outs',
            'error %',
            'bytes per event',
            ...overs.slice(1).map((each) => (each.id === 'slowdown' ? 'slowdown %' : each.title.toLowerCase())),
            `on the front of error and ${over().title.toLowerCase()}`,
            ...(published ? ['published swap-outs', 'published error %'] : []),
        ];
        const front = paretoFront(shown(), over());
        const rows = shown().map((cell) => [
            cell.eviction,
            cell.granularity,
            cell.counters,
            cell.swapouts,
            100 * cell.error,
            cell.bytesPerEvent,
            ...overs.slice(1).map((each) => (each.id === 'slowdown' ? 100 : 1) * each.value(cell)),
            front.includes(cell) ? 'yes' : '',
            ...(published ? [cell.published?.swapouts ?? NaN, cell.published ? 100 * cell.published.error : NaN] : []),
        ]);
        return { caption: `Sweep of ${titleOf(app.source)}, ${sweep!.link}`, headers, rows };
    }

    const figures: Figure[] = [];
    function figure(
        name: string,
        title: string,
        height: () => number,
        paint: typeof drawPareto,
        columns = () => [chosenMetric().column],
    ): HTMLElement {
        let hits: Hit[] = [];
        const made = new Figure({
            name: () => `${baseName(app.source)}-${name}`,
            label: () => `${title}: ${chosenMetric().title} for ${shown().length} cells of ${titleOf(app.source)}`,
            height,
            draw: (p) => (hits = paint(p, picture())),
            table,
            python: () => sweepPython(app.source, eviction(), columns()),
        });
        made.bar.append(h('h3', {}, title));
        made.canvas.classList.add('clickable');
        const under = (x: number, y: number) =>
            hits.find((each) => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height)
                ?.cell;
        made.canvas.addEventListener('click', (event) => {
            const cell = under(event.offsetX, event.offsetY);
            if (cell) app.set({ cell: `${cell.granularity},${cell.counters}`, x: '' });
        });
        made.canvas.addEventListener('pointermove', (event) => {
            const cell = under(event.offsetX, event.offsetY);
            made.canvas.title = cell
                ? `granularity ${cell.granularity}, ${cell.counters} counters: ${full(cell.swapouts)} swap-outs, error ${full(100 * cell.error)} %, ${full(cell.bytesPerEvent)} bytes per event${costText(cell) && `, ${costText(cell)}`}`
                : '';
        });
        made.canvas.addEventListener('keydown', (event) => moveCell(event));
        figures.push(made);
        return made.element;
    }

    /** Arrows go from cell to cell. */
    function moveCell(event: KeyboardEvent): void {
        const rows = [...new Set(shown().map((cell) => cell.granularity))];
        const columns = [...new Set(shown().map((cell) => cell.counters))];
        const at = chosenCell() ?? shown()[0];
        const steps: Record<string, [number, number]> = {
            ArrowUp: [-1, 0],
            ArrowDown: [1, 0],
            ArrowLeft: [0, -1],
            ArrowRight: [0, 1],
        };
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        const next = (list: unknown[], from: unknown, by: number) =>
            list[Math.min(list.length - 1, Math.max(0, list.indexOf(from) + by))];
        app.set({ cell: `${next(rows, at.granularity, step[0])},${next(columns, at.counters, step[1])}` });
    }

    const matrix = figure('matrix', 'Counters by granularity', () => matrixHeight(shown()), drawMatrix);
    const lines = figure('lines', 'Over the number of counters', () => linesHeight(shown()), drawLines);
    const pareto = figure('pareto', 'Pareto front: what no other cell beats in both', () => paretoHeight(shown()), drawPareto, () => ['error', over().column]);
    const weighed = h('div', { class: 'row' });
    figures[figures.length - 1].bar.append(weighed);
    const detail = sweepDetail(app);
    const element = h(
        'div',
        { class: 'view' },
        h('section', { class: 'card' }, controls),
        matrix,
        h('div', { class: 'two' }, lines, pareto),
        detail.element,
    );

    function update(): void {
        controls.replaceChildren(
            segmented(
                'What is shown',
                metrics.map((each): [string, string] => [each.id, each.title]),
                chosenMetric().id,
                (metric) => app.set({ metric }),
            ),
            ...(evictions.length > 1
                ? [
                      select(
                          'Eviction',
                          evictions.map((each): [string, string] => [each, each]),
                          eviction(),
                          (each) => app.set({ eviction: each }),
                      ),
                  ]
                : []),
            h(
                'span',
                { class: 'note' },
                `${full(sweep!.events)} events on ${sweep!.link}; ${sweep!.monitor}${cells.some((cell) => cell.published) ? '; small numbers: published (Schulz et al. 2002, Table 2), ours ÷ published' : ''}.${slowdownNote()} Click a cell to see what it blurs.`,
            ),
        );
        if (overs.length > 1)
            weighed.replaceChildren(
                select(
                    'Error against',
                    overs.map((each): [string, string] => [each.id, each.title.toLowerCase()]),
                    over().id,
                    (id) => app.set({ over: id }),
                ),
            );
        figures.forEach((each) => each.changed());
        detail.show(chosenCell());
    }
    update();
    return {
        element,
        update,
        dispose: () => {
            figures.forEach((each) => each.dispose());
            detail.dispose();
        },
        quiet: () => detail.quiet(),
        totals: () => detail.totals(),
        frames: () => detail.frames(),
    };
}
