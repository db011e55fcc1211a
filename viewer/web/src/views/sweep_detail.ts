// SPDX-License-Identifier: BSD-3-Clause
// A cell of a sweep: the histogram that its monitor gives, the exact one, and where the two differ.
import { baseName, titleOf, type App } from '../app';
import { theme } from '../colours';
import { h } from '../dom';
import { bytes, percent } from '../numbers';
import type { PanelSource } from '../panel_data';
import { AddressPlot } from '../plot';
import type { Axis, Coarse, Stretch, SweepCell } from '../protocol';
import { parseRange } from '../state';
import { costText } from './sweep_draw';

/** Lines per group of a granularity with fixed groups: "4", "mask:6" with lines of 16 bytes = 4; null for others. */
export function linesPerGroup(granularity: string, unit: number): number | null {
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

export function sweepDetail(app: App) {
    const series = app.source.info.series.find((each) => each.kind === 'exact') ?? null;
    const mapped = /^pages: \{mapping: (?!identity)/m.test(app.source.info.machine.yaml);
    const note = h('p', { class: 'note', role: 'status' });
    const head = h('h3', {});
    let axis: Axis = { segments: [], bytes: 1 };
    let key = '';
    let ready: Promise<void> = Promise.resolve();
    const plot = new AddressPlot({
        name: () => `${baseName(app.source)}-cell`,
        title: () => `${head.textContent} of ${titleOf(app.source)}`,
        structures: () => app.source.info.structures,
        python: () => pythonOf(app),
        moved: (range) => app.move(range ? `${Math.round(range[0])}-${Math.round(range[1])}` : ''),
    });
    plot.figure.bar.append(head, note);
    plot.element.hidden = true;

    function panels(cell: SweepCell, group: number): PanelSource[] {
        const colours = theme();
        let last: { key: string; answer: Promise<Coarse> } | null = null;
        const ask = (stretch: Stretch) => {
            const now = JSON.stringify(stretch);
            if (last?.key !== now) last = { key: now, answer: app.source.ask('coarse', series!.id, group, axis, stretch) };
            return last.answer.then((answer) => {
                note.textContent = `${errorText(answer.error, cell.error, mapped)} Groups have fixed places, so the number of counters does not matter for it.`;
                note.dataset.error = String(answer.error);
                return answer;
            });
        };
        const meaning = `events per line of ${bytes(series!.unit)}`;
        const pick = (name: 'exact' | 'approximate' | 'difference') => (stretch: Stretch) =>
            ask(stretch).then((answer) => answer[name]);
        return [
            { key: 'exact', title: 'exact', meaning, colour: colours.accesses, rate: false, fetch: pick('exact') },
            {
                key: 'approximate',
                title: `in groups of ${group}`,
                meaning,
                colour: colours.missrate,
                rate: false,
                fetch: pick('approximate'),
            },
            {
                key: 'wrong',
                title: '|difference|',
                meaning: 'where the error sits',
                colour: colours.misses,
                rate: false,
                apart: true,
                fetch: pick('difference'),
            },
        ];
    }

    async function show(cell: SweepCell | null): Promise<void> {
        plot.element.hidden = cell === null || series === null;
        if (!cell || !series) return;
        head.textContent = `Granularity ${cell.granularity}, ${cell.counters} counters, ${cell.eviction}`;
        if (costText(cell)) head.textContent += `: ${costText(cell)}`;
        const group = linesPerGroup(cell.granularity, series.unit);
        if (group === null) {
            plot.figure.canvas.hidden = true;
            note.textContent = `Error ${percent(cell.error)}. Windows of dynamic granularity depend on the order of events; the file does not say where they lay. Run it with --monitor to get its histogram.`;
            return;
        }
        plot.figure.canvas.hidden = false;
        axis = await app.source.axis([series.id]);
        const range = parseRange(app.state.x, axis.bytes);
        const now = JSON.stringify([group, cell.error, theme().dark]);
        if (now === key) return plot.look(range, 'auto');
        key = now;
        plot.set(axis, panels(cell, group), range, 'auto', true);
    }

    return {
        element: plot.element,
        show: (cell: SweepCell | null) => void (ready = show(cell)),
        dispose: () => plot.dispose(),
        quiet: async () => {
            await ready;
            await plot.quiet();
        },
        frames: () => plot.frames,
        totals: () => ({ ...plot.totals(), error: Number(note.dataset.error ?? NaN) }),
    };
}

function pythonOf(app: App): string {
    const [granularity] = (app.state.cell ?? '1').split(',');
    return `import h5py
import numpy as np

f = h5py.File(${JSON.stringify(app.source.info.name)}, "r")
g = f["exact"]
line = g["address"][:] // g.attrs["unit_bytes"]
lines, at = np.unique(line, return_inverse=True)
exact = np.bincount(at, g["count"][:])
group = lines // ${granularity}
groups, of = np.unique(group, return_inverse=True)
approximate = np.bincount(of, exact)[of] / ${granularity}  # of the lines that have events
print(np.abs(exact - approximate).sum() / exact.sum())
`;
}
