// Sweep: what counters and granularity cost and give, as a heat map, as lines, as a Pareto front, and cell by cell.
import { baseName, titleOf, type App, type View } from '../app';
import { h, segmented, select, type Table } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import type { SweepCell } from '../protocol';
import { sweepPython } from '../python';
import { sweepDetail } from './sweep_detail';
import {
    drawLines,
    drawMatrix,
    drawPareto,
    matrixHeight,
    metrics,
    type Hit,
    type Metric,
    type Picture,
} from './sweep_draw';

const columnsOf: Record<Metric, string> = { swapouts: 'swapouts', error: 'error', bytes: 'bytes_per_event' };

export function sweepView(app: App): View {
    const { sweep } = app.source.info;
    const cells = sweep!.cells;
    const evictions = [...new Set(cells.map((cell) => cell.eviction))];
    const controls = h('div', { class: 'row' });
    const chosenMetric = (): Metric =>
        app.state.metric && app.state.metric in metrics ? (app.state.metric as Metric) : 'swapouts';
    const eviction = () => (evictions.includes(app.state.eviction ?? '') ? app.state.eviction! : evictions[0]);
    const shown = () => cells.filter((cell) => cell.eviction === eviction());
    const picture = (): Picture => ({ cells: shown(), metric: chosenMetric(), chosen: chosenCell() });

    function chosenCell(): SweepCell | null {
        const [granularity, counters] = (app.state.cell ?? '').split(',');
        return shown().find((cell) => cell.granularity === granularity && cell.counters === Number(counters)) ?? null;
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
            ...(published ? ['published swap-outs', 'published error %'] : []),
        ];
        const rows = shown().map((cell) => [
            cell.eviction,
            cell.granularity,
            cell.counters,
            cell.swapouts,
            100 * cell.error,
            cell.bytesPerEvent,
            ...(published ? [cell.published?.swapouts ?? NaN, cell.published ? 100 * cell.published.error : NaN] : []),
        ]);
        return { caption: `Sweep of ${titleOf(app.source)}, ${sweep!.link}`, headers, rows };
    }

    const figures: Figure[] = [];
    function figure(
        name: string,
        title: string,
        height: (width: number) => number,
        paint: typeof drawMatrix,
    ): HTMLElement {
        let hits: Hit[] = [];
        const made = new Figure({
            name: () => `${baseName(app.source)}-${name}`,
            label: () =>
                `${title}: ${metrics[chosenMetric()].title} for ${shown().length} cells of ${titleOf(app.source)}`,
            height,
            draw: (p) => (hits = paint(p, picture())),
            table,
            python: () => sweepPython(app.source, columnsOf[chosenMetric()]),
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
                ? `granularity ${cell.granularity}, ${cell.counters} counters: ${full(cell.swapouts)} swap-outs, error ${full(100 * cell.error)} %, ${full(cell.bytesPerEvent)} bytes per event`
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

    const matrix = figure('matrix', 'Counters by granularity', (width) => matrixHeight(picture(), width), drawMatrix);
    const lines = figure('lines', 'Over the number of counters', () => 320, drawLines);
    const pareto = figure('pareto', 'Error against traffic: what no other cell beats in both', () => 320, drawPareto);
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
                Object.entries(metrics).map(([id, each]): [Metric, string] => [id as Metric, each.title]),
                chosenMetric(),
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
                `${full(sweep!.events)} events on ${sweep!.link}; ${sweep!.monitor}${cells.some((cell) => cell.published) ? '; small numbers: published (Schulz et al. 2002, Table 2), ours ÷ published' : ''}. Click a cell to see what it blurs.`,
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
    };
}
