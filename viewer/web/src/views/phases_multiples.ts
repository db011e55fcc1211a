// SPDX-License-Identifier: BSD-3-Clause
// Small multiples: the histogram of each phase on the same axes (as Figure 4 of Schulz et al. 2002), and of the whole run.
import { baseName, scaleKind, chosenPhases, phaseCount, titleOf, type App, type Show } from '../app';
import { addressIn, hex, placeOfStructure } from '../axis';
import { theme } from '../colours';
import { h, type Table } from '../dom';
import { Figure } from '../figure';
import { brief, percent, percentTick } from '../numbers';
import { font, type Painter } from '../paint';
import { columnsOf, emptyDrawn, fillBars, isLogarithmic, scaleOf, type Drawn } from '../panels';
import type { Axis, Buckets, SeriesInfo } from '../protocol';
import { phasesPython } from '../python';
import { parseRange } from '../state';
import type { Part } from './phases';

const perPage = 24;
const height = 118;
const columnsPerCell = 640;

export function multiplesPart(app: App, show: Show, series: SeriesInfo): Part {
    let axis: Axis = { segments: [], bytes: 1 };
    let cells: { title: string; data: Buckets | null }[] = [];
    let page = 0;
    let key = '';
    let log = false;
    let caption = '';
    const note = h('span', { class: 'note' });
    const figure = new Figure({
        name: () => `${baseName(app.source)}-phases`,
        label: () => `${show.title} of ${series.owner} in ${cells.length} phases of ${titleOf(app.source)}`,
        height: (width) => Math.ceil(cells.length / across(width)) * height + 8,
        draw: (p) => draw(p),
        table: () => table(),
        python: () => phasesPython(app.source, series.path, show.quantity),
    });
    figure.canvas.classList.add('clickable');
    const turn = (by: number) => () => {
        page += by;
        update();
    };
    const pager = h(
        'span',
        { class: 'row' },
        h('button', { type: 'button', onclick: turn(-1), 'aria-label': 'Earlier phases' }, '‹'),
        h('button', { type: 'button', onclick: turn(1), 'aria-label': 'Later phases' }, '›'),
    );
    figure.bar.append(h('div', { class: 'row' }, note, pager));
    figure.canvas.addEventListener('click', (event) => {
        const width = figure.canvas.clientWidth;
        const n = across(width);
        const at = Math.floor(event.offsetY / height) * n + Math.floor(event.offsetX / (width / n));
        const match = cells[at] && /^phase (\d+)/.exec(cells[at].title);
        if (match) app.set({ view: 'histogram', phases: match[1] });
    });

    const across = (width: number) => Math.max(1, Math.min(4, Math.floor(width / 330)));

    function range(): [number, number] {
        return parseRange(app.state.x, axis.bytes) ?? [0, axis.bytes];
    }

    async function update(): Promise<void> {
        axis = await app.source.axis(show.series.filter((each) => each.rows > 0).map((each) => each.id));
        const all = chosenPhases(app) ?? Array.from({ length: phaseCount(app.source) }, (_, i) => i);
        const pages = Math.ceil(all.length / perPage);
        page = Math.min(Math.max(0, page), pages - 1);
        const listed = all.slice(page * perPage, (page + 1) * perPage);
        pager.hidden = pages < 2;
        caption =
            pages < 2
                ? 'Same scale in all. Click one to see it large.'
                : `Phases ${listed[0]} to ${listed.at(-1)}, ${all.length} in all. Click one to see it large.`;
        const wanted = JSON.stringify([listed, app.state.x]);
        if (wanted === key) return figure.redraw();
        key = wanted;
        const [x0, x1] = range();
        const next = [
            ...listed.map((phase) => ({
                title: app.source.info.phases.names[phase] ?? `phase ${phase}`,
                phases: [phase] as number[] | null,
            })),
            { title: 'the whole run', phases: null },
        ];
        const found: { title: string; data: Buckets | null }[] = next.map(({ title }) => ({ title, data: null }));
        if (cells.length !== found.length) cells = found;
        for (const [i, { phases }] of next.entries()) {
            const data = await app.source.ask(
                'buckets',
                series.id,
                show.quantity,
                phases,
                axis,
                { x0, x1, count: columnsPerCell, sight: [x0, x1] },
            );
            if (key !== wanted) return;
            found[i].data = data;
        }
        cells = found;
        figure.changed();
    }

    function draw(p: Painter): void {
        const n = across(p.width);
        const width = p.width / n;
        const [x0, x1] = range();
        const pixels = Math.floor(width - 66);
        const single = cells.slice(0, -1);
        const drawn = cells.map(({ data }) => {
            if (!data) return null;
            const room = emptyDrawn(pixels);
            columnsOf(data, x0, x1, pixels, room.columns);
            return room;
        });
        const columns = drawn.map((each) => each && each.columns);
        const reach = (list: typeof columns): [number, number] => [
            Math.min(...list.map((each) => each?.leastPositive ?? Infinity)),
            Math.max(0, ...list.map((each) => each?.most ?? 0)),
        ];
        const shared = reach(columns.slice(0, single.length));
        const kind = scaleKind(app);
        log = isLogarithmic(
            kind,
            cells.some(({ data }) => data?.uneven),
        );
        note.textContent = `${caption}${log ? ' Logarithmic.' : ''}`;
        cells.forEach((cell, i) => {
            const whole = i === cells.length - 1;
            const [least, most] = whole ? reach(columns.slice(i)) : shared;
            drawCell(
                p,
                cell.title,
                drawn[i],
                (i % n) * width,
                Math.floor(i / n) * height,
                width,
                least,
                most,
                x0,
                x1,
                cell.data,
            );
        });
    }

    function drawCell(
        p: Painter,
        title: string,
        drawn: Drawn | null,
        x: number,
        y: number,
        width: number,
        least: number,
        most: number,
        x0: number,
        x1: number,
        data: Buckets | null,
    ): void {
        const colours = theme();
        const [left, top, tall] = [Math.round(x) + 48, y + 26, height - 44];
        const pixels = Math.floor(width - 66);
        const scale = scaleOf(least, Math.max(most, show.quantity === 'missrate' ? 0.01 : 0), log);
        const rate = show.quantity === 'missrate';
        p.text(left, y + 13, title, { colour: colours.ink, size: 12.5, weight: 600 });
        if (data)
            p.text(left + pixels, y + 13, rate ? percent(data.total) : brief(data.total), {
                colour: colours.faint,
                size: 11,
                anchor: 'end',
            });
        for (const tick of scale.ticks) {
            const at = top + tall * (1 - scale.at(tick));
            if (at < top) continue;
            p.line(
                [
                    [left, at],
                    [left + pixels, at],
                ],
                tick === 0 ? colours.line : colours.grid,
            );
            p.text(left - 5, at, rate ? percentTick(tick) : brief(tick), {
                colour: colours.faint,
                size: 10,
                anchor: 'end',
            });
        }
        if (!drawn) return;
        fillBars(drawn, scale, false, top, tall);
        drawn.pale.fill = `${colours[show.quantity]}66`;
        drawn.solid.fill = colours[show.quantity];
        p.bars(left, top, tall, [drawn.pale, drawn.solid]);
        if (drawn.columns.most === -Infinity)
            p.text(left + pixels / 2, top + tall / 2, 'nothing', { colour: colours.faint, size: 11, anchor: 'middle' });
        drawNames(p, left, top + tall + 9, pixels, x0, x1);
    }

    function drawNames(p: Painter, left: number, y: number, pixels: number, x0: number, x1: number): void {
        const colours = theme();
        let free = left;
        for (const structure of app.source.info.structures) {
            const place = placeOfStructure(axis, structure);
            if (!place || place[1] <= x0 || place[0] >= x1) continue;
            const at = (x: number) => left + ((Math.min(x1, Math.max(x0, x)) - x0) / (x1 - x0)) * pixels;
            const [from, to] = place.map(at);
            p.line(
                [
                    [from + 0.5, y - 6],
                    [Math.max(from + 1, to - 0.5), y - 6],
                ],
                colours.faint,
                2,
            );
            const half = structure.name.length * 3.2;
            const middle = Math.min(left + pixels - half, (from + to) / 2);
            if (middle - half < free || half * 2 > Math.max(30, to - from)) continue;
            p.text(middle, y + 2, structure.name, { colour: colours.faint, size: 10, anchor: 'middle' });
            free = middle + half + 4;
        }
    }

    function table(): Table {
        const [x0, x1] = range();
        const rows: (string | number)[][] = [];
        const step = columnsPerCell / 160;
        for (let b = 0; b < columnsPerCell; b += step) {
            const place = (column: number) => x0 + (column / columnsPerCell) * (x1 - x0);
            const address = addressIn(axis, place(b), place(b + step));
            if (address === null) continue;
            const values = cells.map(({ data }) => {
                if (!data) return NaN;
                let [sum, touched] = [0, 0];
                for (let i = b; i < b + step; ++i) {
                    sum += data.sum[i];
                    touched += data.touched[i];
                }
                return show.quantity === 'missrate' ? (touched > 0 ? sum / touched : 0) : sum;
            });
            if (values.some((value) => value > 0)) rows.push([hex(address), ...values]);
        }
        return {
            caption: `${show.title} of ${series.owner} by phase`,
            headers: ['from about', ...cells.map((cell) => cell.title)],
            rows,
        };
    }

    let ready = update();
    return {
        element: figure.element,
        update: () => void (ready = update()),
        dispose: () => figure.dispose(),
        quiet: () => ready,
    };
}

export { font };
