// SPDX-License-Identifier: BSD-3-Clause
// Heat map: phases down, addresses across; what is bright counts much.
import { baseName, scaleKind, chosenPhases, titleOf, type App, type Show } from '../app';
import { addressAt, addressesIn, addressIn, describe, hex, placeOfStructure } from '../axis';
import { css, heatColour, theme } from '../colours';
import { h, type Table } from '../dom';
import { Figure } from '../figure';
import { brief, bytes, percent } from '../numbers';
import { drawAddresses, drawStrip, left } from '../address_axis';
import type { Painter } from '../paint';
import { isLogarithmic } from '../panels';
import { opaque } from '../pixels';
import type { Axis, Heat, SeriesInfo } from '../protocol';
import { heatPython } from '../python';
import { Superseded } from '../client';
import { Gestures } from '../gestures';
import { parseRange } from '../state';
import type { Part } from './phases';

const mostRows = 256;
const columns = 512;
const top = 44;
const shades = 48;
const pixels = Array.from({ length: shades }, (_, shade) => opaque(heatColour(shade / (shades - 1))));
const ground = () => (theme().dark ? '#0d1015' : '#f0f2f5');

/** Mean per line and phase of the cells from .. to - 1 of a row; NaN where no line is. */
function meanOf({ sum, weight, columns }: Heat, row: number, from: number, to: number): number {
    let [all, weights] = [0, 0];
    for (let i = row * columns + from; i < row * columns + to; ++i) {
        all += sum[i];
        weights += weight[i];
    }
    return weights > 0 ? all / weights : NaN;
}

/** What was drawn of some data on a scale. */
interface Shaded {
    data: Heat;
    scale: string;
    cells: Uint32Array;
    least: number;
    most: number;
    log: boolean;
}

export function heatPart(app: App, show: Show, series: SeriesInfo): Part {
    let axis: Axis = { segments: [], bytes: 1 };
    let heat: Heat | null = null;
    let shown: Shaded | null = null;
    let drawn: [number, number] = [0, 1];
    let key = '';
    let failed = '';
    let timer = 0;
    let pointer: [number, number] | null = null;
    const readout = h('div', { class: 'readout' }, ' ');
    const rowsOf = () => heat?.rows ?? 1;
    const tall = () => Math.max(180, Math.min(460, rowsOf() * 20));
    const figure = new Figure({
        name: () => `${baseName(app.source)}-heat`,
        label: () => `${show.title} of ${series.owner} by phase and address in ${titleOf(app.source)}`,
        height: () => top + tall() + 60,
        draw: (p) => draw(p),
        table: () => table(),
        python: () => heatPython(app.source, series, show.quantity, app.state.x ? addressesIn(axis, ...range()) : null),
    });
    figure.canvas.classList.add('zooms');
    figure.canvas.insertAdjacentElement('afterend', readout);
    const inner = (width: number) => Math.max(10, width - left - 14);
    const width = () => inner(figure.canvas.clientWidth);
    const rate = show.quantity === 'missrate';
    const meaning = rate ? 'misses per access' : `${show.title.toLowerCase()} per line of ${bytes(series.unit)} and phase`;
    const textOf = (value: number) => (rate ? percent(value) : brief(value));
    const range = (): [number, number] => parseRange(app.state.x, axis.bytes) ?? [0, axis.bytes];
    const placeAt = (pixel: number) => range()[0] + ((pixel - left) / width()) * (range()[1] - range()[0]);
    const move = (from: number, size: number) => {
        const begin = Math.min(Math.max(0, from), Math.max(0, axis.bytes - size));
        moveTo(size >= axis.bytes * 0.999 ? '' : `${Math.round(begin)}-${Math.round(begin + size)}`);
    };
    const moveTo = (x: string) => {
        app.move(x);
        ready = update();
    };
    const zoom = (at: number, factor: number) => {
        const [x0, x1] = range();
        const size = Math.min(axis.bytes, Math.max(64, (x1 - x0) * factor));
        move(at - ((at - x0) / (x1 - x0)) * size, size);
    };
    new Gestures(figure.canvas, {
        zoom: (at, factor) => zoom(placeAt(at), factor),
        pan: (pixels) => move(range()[0] + (pixels / width()) * (range()[1] - range()[0]), range()[1] - range()[0]),
        select: (from, to, done) =>
            done &&
            Math.abs(to - from) > 4 &&
            move(placeAt(Math.min(from, to)), placeAt(Math.max(from, to)) - placeAt(Math.min(from, to))),
        hover: () => {},
        click: (x, y) => {
            const row = rowAt(y);
            if (heat && row !== null && x >= left)
                app.set({
                    phases:
                        heat.edges[row + 1] - heat.edges[row] === 1
                            ? String(heat.edges[row])
                            : `${heat.edges[row]}-${heat.edges[row + 1] - 1}`,
                });
        },
        reset: () => moveTo(''),
        key: (pressed) => {
            const middle = (range()[0] + range()[1]) / 2;
            const size = range()[1] - range()[0];
            if (pressed === '+' || pressed === '=') zoom(middle, 0.5);
            else if (pressed === '-') zoom(middle, 2);
            else if (pressed === '0') moveTo('');
            else if (pressed === 'ArrowLeft') move(range()[0] - size / 5, size);
            else if (pressed === 'ArrowRight') move(range()[0] + size / 5, size);
            else return false;
            return true;
        },
    });
    const rowAt = (y: number) => {
        const row = Math.floor(((y - top) / tall()) * rowsOf());
        return row >= 0 && row < rowsOf() ? row : null;
    };
    figure.canvas.addEventListener('pointermove', (event) => point([event.offsetX, event.offsetY]));
    figure.canvas.addEventListener('pointerleave', () => point(null));
    const point = (at: typeof pointer) => {
        pointer = at;
        tell();
    };

    /** What lies under the pointer, also after what is shown has changed under it. */
    function tell(): void {
        const text = (pointer && textAt(...pointer)) ?? ' ';
        if (text !== readout.textContent) readout.textContent = text;
    }

    function textAt(x: number, y: number): string | null {
        const row = rowAt(y);
        if (!heat || row === null || x < left || x >= left + width()) return null;
        const place = placeAt(x);
        const address = addressAt(axis, place);
        if (address === null) return 'no counts in between';
        const column = Math.floor(((place - drawn[0]) / (drawn[1] - drawn[0])) * columns);
        const known = column >= 0 && column < columns;
        const mean = known ? `${textOf(meanOf(heat, row, column, column + 1))} ${meaning}` : '…';
        return `${nameOf(row)} · ${describe(app.source.info.structures, address)} · ${hex(address)} · ${mean}`;
    }

    function nameOf(row: number): string {
        const [from, to] = [heat!.edges[row], heat!.edges[row + 1] - 1];
        return from === to ? (app.source.info.phases.names[from] ?? `phase ${from}`) : `phases ${from}–${to}`;
    }

    async function update(): Promise<void> {
        axis = await app.source.axis(show.series.filter((each) => each.rows > 0).map((each) => each.id));
        figure.redraw();
        const [x0, x1] = range();
        const wanted = `${x0}-${x1}`;
        if (wanted === key) return;
        key = wanted;
        if (heat)
            await new Promise<void>((resolve) => {
                window.clearTimeout(timer);
                timer = window.setTimeout(resolve, 80);
            });
        if (wanted !== key) return;
        try {
            heat = await app.source.askLatest(
                `heat:${series.id}`,
                'heat',
                series.id,
                show.quantity,
                axis,
                x0,
                x1,
                columns,
                mostRows,
            );
            drawn = [x0, x1];
        } catch (error) {
            if (error instanceof Superseded) return;
            heat = null;
            failed = error instanceof Error ? error.message : String(error);
        }
        figure.changed();
    }

    function draw(p: Painter): void {
        const colours = theme();
        const [x0, x1] = range();
        const wide = inner(p.width);
        const height = tall();
        p.text(left, 14, `${show.title} of ${series.owner}${heat && shaded(heat).log ? ', logarithmic' : ''}`, {
            colour: colours.ink,
            size: 13,
            weight: 600,
        });
        p.rect(left, top, wide, height, ground());
        if (!heat)
            p.text(left + wide / 2, top + height / 2, failed || 'reading …', {
                colour: colours.faint,
                anchor: 'middle',
            });
        else {
            drawCells(p, heat, wide, height, x0, x1);
            drawRows(p, wide, height);
            drawKey(p, left + wide, heat);
        }
        drawStrip(p, top + height + 2, axis, app.source.info.structures, x0, x1, wide, '');
        drawAddresses(p, top + height + 30, axis, x0, x1, wide);
        tell();
    }

    function extent(values: Float64Array): [number, number] {
        let [least, most] = [Infinity, 0];
        for (const value of values) {
            if (value > most) most = value;
            if (value > 0 && value < least) least = value;
        }
        return [least, most];
    }

    /** The cells' colours, worked out once for data and scale, not for each frame. */
    function shaded(data: Heat): Shaded {
        const scale = scaleKind(app);
        if (shown?.data === data && shown.scale === scale) return shown;
        const values = data.sum.map((each, i) => (data.weight[i] > 0 ? each / data.weight[i] : 0));
        const [least, most] = extent(values);
        const log = isLogarithmic(scale, data.uneven);
        const cells = new Uint32Array(values.length);
        const span = Math.log(most / least);
        values.forEach((value, i) => {
            if (!(value > 0)) return;
            const share = log && span > 1e-9 ? Math.log(value / least) / span + 1e-9 : value / most + 1e-9;
            cells[i] = pixels[Math.min(shades - 1, Math.max(0, Math.floor(share * shades)))];
        });
        return (shown = { data, scale, cells, least, most, log });
    }

    function drawCells(p: Painter, data: Heat, wide: number, height: number, x0: number, x1: number): void {
        const perByte = wide / (x1 - x0);
        const rowHeight = height / data.rows;
        p.within(left, top, wide, height, () => {
            const begin = left + (drawn[0] - x0) * perByte;
            p.cells(begin, top, (drawn[1] - drawn[0]) * perByte, height, data.columns, shaded(data).cells);
            for (let row = 1; rowHeight > 6 && row < data.rows; ++row)
                p.rect(left, Math.round(top + row * rowHeight) - 1, wide, 1, ground());
        });
    }

    function drawRows(p: Painter, wide: number, height: number): void {
        const colours = theme();
        const rowHeight = height / rowsOf();
        const chosen = new Set(chosenPhases(app) ?? []);
        const every = Math.ceil(14 / rowHeight);
        for (let row = 0; row < rowsOf(); ++row) {
            const y = top + (row + 0.5) * rowHeight;
            const on = chosen.has(heat!.edges[row]);
            if (on) p.frame(left - 0.5, top + row * rowHeight - 0.5, wide + 1, rowHeight, colours.accent, 0, '', 2);
            if (row % every === 0 || on)
                p.text(left - 7, y, String(heat!.edges[row]), {
                    colour: on ? colours.accent : colours.faint,
                    size: 11,
                    anchor: 'end',
                    weight: on ? 700 : 400,
                });
        }
        p.text(12, top + height / 2, 'phase', { colour: colours.faint, size: 11, anchor: 'middle', upright: true });
    }

    function drawKey(p: Painter, end: number, data: Heat): void {
        const colours = theme();
        const { least, most, log } = shaded(data);
        const right = end - 44;
        for (let i = 0; i < 60; ++i) p.rect(right - 120 + i * 2, 9, 2, 10, css(heatColour(i / 59)));
        p.text(right + 5, 14, textOf(most), { colour: colours.faint, size: 11 });
        p.text(right - 125, 14, log && least < Infinity ? textOf(least) : '0', {
            colour: colours.faint,
            size: 11,
            anchor: 'end',
        });
        p.text(end, 30, meaning, { colour: colours.faint, size: 11, anchor: 'end' });
    }

    /** How many lines the means of some columns are over. */
    function lines(from: number, to: number): number[] {
        if (rate || !heat) return [];
        const { weight, edges } = heat;
        return [weight.subarray(from, to).reduce((sum, each) => sum + each, 0) / (edges[1] - edges[0])];
    }

    function table(): Table {
        if (!heat) return { caption: 'not read yet', headers: [], rows: [] };
        const { structures } = app.source.info;
        const known = structures.filter((each) => placeOfStructure(axis, each));
        const rows: (string | number)[][] = [];
        const step = 8;
        for (let c = 0; c < columns; c += step) {
            const place = (column: number) => drawn[0] + (column / columns) * (drawn[1] - drawn[0]);
            const address = addressIn(axis, place(c), place(c + step));
            if (address === null) continue;
            const means = Array.from({ length: heat.rows }, (_, row) => meanOf(heat!, row, c, c + step) || 0);
            rows.push([known.length ? describe(structures, address) : hex(address), ...lines(c, c + step), ...means]);
        }
        return {
            caption: `${show.title} of ${series.owner} by address and phase: ${meaning}`,
            headers: ['about', ...(rate ? [] : ['lines']), ...Array.from({ length: heat.rows }, (_, row) => nameOf(row))],
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
