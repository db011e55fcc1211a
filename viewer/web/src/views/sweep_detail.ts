// SPDX-License-Identifier: BSD-3-Clause
// A cell of a sweep: the histogram that its monitor gives, the exact one, and where the two differ.
import { baseName, titleOf, type App } from '../app';
import { theme } from '../colours';
import { h } from '../dom';
import { FieldPlot } from '../field';
import { movesPages } from '../machine';
import { bytes, percent } from '../numbers';
import { once, type PanelSource } from '../panel_data';
import type { Axis } from '../protocol';
import { snippet } from '../python';
import { parseRange, rangeText } from '../state';
import type { CellDetail } from './cells';
import type { Cell } from './cells_draw';

/** Lines per group of a granularity with fixed groups: "4", "mask:6" with lines of 16 bytes = 4; null for others. */
function linesPerGroup(granularity: string, unit: number): number | null {
    if (/^\d+$/.test(granularity)) return Number(granularity);
    const mask = /^mask:(\d+)$/.exec(granularity);
    if (mask) return Math.max(1, 2 ** Number(mask[1]) / unit);
    return null;
}

/** The error that is seen here beside that of the file. Groups lie in physical memory: where pages are mapped, those that cross pages
 * cannot be told from the program's addresses. */
function errorText(here: number, inFile: number, mapped: boolean): string {
    if (Math.abs(here - inFile) < 5e-5) return `Error worked out from these two: ${percent(here)}.`;
    if (mapped)
        return `Error in the file: ${percent(inFile)}. Pages are mapped on this machine, and groups that cross from page to page hold other lines than these; so it cannot be worked out from these two.`;
    return `Error worked out from these two: ${percent(here)}; in the file: ${percent(inFile)}.`;
}

/** `cost`: what a cell takes, in words. */
export function sweepDetail(app: App, cost: (cell: Cell) => string): CellDetail {
    const series = app.source.info.series.find((each) => each.kind === 'exact') ?? null;
    const mapped = movesPages(app.source.info.machine.yaml);
    const note = h('p', { class: 'note', role: 'status' });
    const head = h('h3', {});
    let axis: Axis = { segments: [], bytes: 1 };
    let key = '';
    const plot = new FieldPlot({
        name: () => `${baseName(app.source)}-cell`,
        title: () => `${head.textContent} of ${titleOf(app.source)}`,
        python: () => snippet({ FILE: app.source.info.name, GROUP: linesPerGroup((app.state.cell ?? '').split(',')[0], series?.unit ?? 1) ?? 1 }, 'cell'),
        look: (range) => app.move(rangeText(range)),
    });
    const { element } = plot.figure;
    plot.figure.bar.append(head, note);
    element.hidden = true;

    function panels(cell: Cell, group: number): PanelSource[] {
        const colours = theme();
        const ask = once(async (stretch) => {
            const answer = await app.source.ask('coarse', series!.id, group, axis, stretch);
            note.textContent = `${errorText(answer.error, cell.numbers.error, mapped)} Groups have fixed places, so the number of counters does not matter for it.`;
            note.dataset.error = String(answer.error);
            return answer;
        });
        const meaning = `events per line of ${bytes(series!.unit)}`;
        const panel = (name: 'exact' | 'approximate' | 'difference', title: string, colour: string): PanelSource => ({
            ...{ title, meaning, colour, rate: false },
            fetch: (stretch) => ask(stretch).then((answer) => answer[name]),
        });
        return [
            panel('exact', 'exact', colours.accesses),
            panel('approximate', `in groups of ${group}`, colours.missrate),
            { ...panel('difference', '|difference|', colours.misses), meaning: 'where the error sits', apart: true },
        ];
    }

    async function show(cell: Cell | null): Promise<void> {
        element.hidden = cell === null;
        if (!cell) return;
        head.textContent = `Granularity ${cell.texts.granularity}, ${cell.numbers.counters} counters, ${cell.texts.eviction}`;
        if (cost(cell)) head.textContent += `: ${cost(cell)}`;
        if (!series) {
            plot.figure.canvas.hidden = true;
            note.textContent = `Error ${percent(cell.numbers.error)}. The file has no exact histogram (/exact), as with several workloads, links or settings: where the error sits is not told. Sweep this one alone for it.`;
            return;
        }
        const group = linesPerGroup(cell.texts.granularity, series.unit);
        if (group === null) {
            plot.figure.canvas.hidden = true;
            note.textContent = `Error ${percent(cell.numbers.error)}. Windows of dynamic granularity depend on the order of events; the file does not say where they lay. Run it with --monitor to get its histogram.`;
            return;
        }
        plot.figure.canvas.hidden = false;
        axis = await app.source.axis([series.id]);
        const range = parseRange(app.state.x, axis.bytes);
        const now = JSON.stringify([group, cell.numbers.error, theme().dark]);
        if (now === key) return plot.look(range);
        key = now;
        plot.set({ shared: true, structures: app.source.info.structures });
        plot.read(axis, panels(cell, group), range);
    }

    return {
        ...{ element, show },
        frames: () => plot.frames,
        totals: () => ({ ...plot.totals(), error: Number(note.dataset.error ?? NaN) }),
    };
}
