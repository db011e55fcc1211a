// Drawing of panels over an axis of addresses: columns with their least and most, scales, structures, addresses.
import { addressAt, hex, placeOfStructure } from './axis';
import { theme } from './colours';
import { brief, percentTick, powers, ticks } from './numbers';
import type { Painter } from './paint';
import type { Axis, Buckets, Structure } from './protocol';

export interface Panel {
    key: string;
    title: string;
    /** What one line's number is, for the scale. */
    meaning: string;
    colour: string;
    rate: boolean;
    /** Differences: up and down from the middle. */
    signed?: boolean;
    whole: Buckets | null;
    fine: Buckets | null;
    /** Shown instead of data that are not there. */
    message: string;
}

export const left = 66;
export const right = 14;
const titleHeight = 22;
const gapHeight = 10;
const stripHeight = 26;
const ticksHeight = 22;

export interface Layout {
    plotWidth: number;
    panelHeight: number;
    height: number;
}

export function layoutOf(width: number, panels: number, strip: boolean): Layout {
    const panelHeight = panels <= 1 ? 250 : panels === 2 ? 180 : panels <= 4 ? 132 : 104;
    const foot = (strip ? stripHeight : 0) + ticksHeight + 6;
    return {
        plotWidth: Math.max(10, width - left - right),
        panelHeight,
        height: Math.max(1, panels) * (titleHeight + panelHeight + gapHeight) + foot,
    };
}

/** The data that cover a stretch best. */
export function dataFor(panel: Panel, x0: number, x1: number): Buckets | null {
    const { whole, fine } = panel;
    if (!fine || fine.x0 > x0 + 1e-6 || fine.x1 < x1 - 1e-6) return whole;
    if (!whole) return fine;
    const width = (each: Buckets) => (each.x1 - each.x0) / each.sum.length;
    return width(fine) <= width(whole) ? fine : whole;
}

/** One number per pixel: mean over the lines that have any, and the range. NaN where there are none. */
export interface Columns {
    mean: Float64Array;
    min: Float64Array;
    max: Float64Array;
    most: number;
    least: number;
    /** The least above 0, for logarithmic scales. */
    leastPositive: number;
}

export function columnsOf(data: Buckets, x0: number, x1: number, pixels: number): Columns {
    const mean = new Float64Array(pixels).fill(NaN);
    const min = new Float64Array(pixels).fill(Infinity);
    const max = new Float64Array(pixels).fill(-Infinity);
    const count = data.sum.length;
    const perBucket = (data.x1 - data.x0) / count;
    const perPixel = (x1 - x0) / pixels;
    let most = -Infinity;
    let least = Infinity;
    let leastPositive = Infinity;
    for (let p = 0; p < pixels; ++p) {
        const begin = (x0 + p * perPixel - data.x0) / perBucket;
        const from = Math.max(0, Math.floor(begin + 1e-9));
        const to = Math.min(count, Math.max(from + 1, Math.floor(begin + perPixel / perBucket + 1e-9)));
        let sum = 0;
        let touched = 0;
        for (let b = from; b < to; ++b) {
            if (data.min[b] === Infinity) continue;
            sum += data.sum[b];
            touched += data.touched[b];
            if (data.min[b] < min[p]) min[p] = data.min[b];
            if (data.max[b] > max[p]) max[p] = data.max[b];
        }
        if (min[p] === Infinity) continue;
        // a line that spans several columns is counted in the first of them alone
        mean[p] = touched > 0 ? sum / touched : max[p];
        if (max[p] > most) most = max[p];
        if (min[p] < least) least = min[p];
        const positive = min[p] > 0 ? min[p] : mean[p] > 0 ? mean[p] : max[p];
        if (positive > 0 && positive < leastPositive) leastPositive = positive;
    }
    return { mean, min, max, most, least, leastPositive };
}

export type ScaleKind = 'auto' | 'linear' | 'log';

export interface Scale {
    at(value: number): number;
    ticks: number[];
    log: boolean;
}

/** From 0 (or the least) at the bottom to `most` at the top, as shares of the height. */
export function scaleOf(least: number, most: number, log: boolean, signed: boolean): Scale {
    if (signed) {
        const reach = Math.max(Math.abs(least), Math.abs(most)) || 1;
        const up = ticks(reach, 2).filter((each) => each <= reach);
        return {
            at: (value) => 0.5 + (0.5 * value) / reach,
            ticks: [...up.slice(1).map((each) => -each), ...up],
            log: false,
        };
    }
    if (!log || !(least > 0 && least < Infinity)) {
        const top = most > 0 ? most * 1.06 : 1;
        return {
            at: (value) => value / top,
            ticks: ticks(most > 0 ? most : 1, 3).filter((each) => each <= top),
            log: false,
        };
    }
    const bottom = Math.min(least, most / 10) / 1.5;
    const span = Math.log(most * 1.3) - Math.log(bottom);
    return {
        at: (value) => (value <= 0 ? 0 : Math.max(0, (Math.log(value) - Math.log(bottom)) / span)),
        ticks: powers(bottom, most * 1.3),
        log: true,
    };
}

function drawScale(p: Painter, panel: Panel, scale: Scale, top: number, height: number, width: number): void {
    const { grid, faint, line } = theme();
    for (const tick of scale.ticks) {
        const y = top + height * (1 - scale.at(tick));
        if (y < top - 1 || y > top + height + 1) continue;
        p.line(
            [
                [left, y],
                [left + width, y],
            ],
            tick === 0 ? line : grid,
        );
        p.text(left - 7, y, panel.rate ? percentTick(tick) : brief(tick), { colour: faint, size: 11, anchor: 'end' });
    }
}

function drawColumns(p: Painter, columns: Columns, scale: Scale, panel: Panel, top: number, height: number): void {
    const solid: number[] = [];
    const below: number[] = [];
    const pale: number[] = [];
    const zero = scale.log ? 0 : scale.at(0);
    const y = (share: number) => top + height * (1 - Math.min(1.02, Math.max(0, share)));
    const bar = (list: number[], px: number, from: number, to: number, least: number) => {
        const [a, b] = [y(Math.max(from, to)), y(Math.min(from, to))];
        list.push(left + px, a, 1, Math.max(b - a, least));
    };
    for (let px = 0; px < columns.mean.length; ++px) {
        const mean = columns.mean[px];
        if (Number.isNaN(mean)) continue;
        bar(mean < 0 ? below : solid, px, zero, scale.at(mean), mean === 0 ? 0 : 1);
        if (columns.max[px] > mean) bar(pale, px, scale.at(mean), scale.at(columns.max[px]), 1);
        if (panel.signed && columns.min[px] < mean) bar(pale, px, scale.at(mean), scale.at(columns.min[px]), 1);
    }
    p.rects(merged(pale), panel.signed ? `${theme().faint}66` : `${panel.colour}66`);
    p.rects(merged(solid), panel.colour);
    if (below.length) p.rects(merged(below), theme().accesses);
}

/** Neighbours of equal height as one rectangle. */
function merged(boxes: number[]): number[] {
    const found: number[] = [];
    for (let i = 0; i < boxes.length; i += 4) {
        const at = found.length - 4;
        if (
            at >= 0 &&
            found[at] + found[at + 2] === boxes[i] &&
            found[at + 1] === boxes[i + 1] &&
            found[at + 3] === boxes[i + 3]
        )
            found[at + 2] += 1;
        else found.push(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
    }
    return found;
}

/** Where panel `index` has its columns. */
export const panelTop = (layout: Layout, index: number): number =>
    index * (titleHeight + layout.panelHeight + gapHeight) + titleHeight;

/** Whether counts differ so much that most would lie flat on the ground: the median is far below the most. */
export function isUneven(columns: Columns): boolean {
    const ground = columns.most / 150;
    let [low, all] = [0, 0];
    for (const mean of columns.mean) {
        if (!(mean > 0)) continue;
        ++all;
        if (mean < ground) ++low;
    }
    return all > 8 && low * 2 > all;
}

export function drawPanel(
    p: Painter,
    layout: Layout,
    index: number,
    panel: Panel,
    x0: number,
    x1: number,
    wanted: ScaleKind,
    shared: [number, number] | null,
): void {
    const colours = theme();
    const top = panelTop(layout, index);
    const { plotWidth, panelHeight } = layout;
    p.text(left, top - 12, panel.title, { colour: colours.ink, size: 13, weight: 600 });
    const data = dataFor(panel, x0, x1);
    const columns = data && columnsOf(data, x0, x1, Math.round(plotWidth));
    const nothing = !columns || columns.most === -Infinity;
    const log =
        !panel.signed && (wanted === 'log' || (wanted === 'auto' && !panel.rate && !nothing && isUneven(columns)));
    p.text(left + plotWidth, top - 12, log ? `${panel.meaning}, logarithmic` : panel.meaning, {
        colour: colours.faint,
        size: 11,
        anchor: 'end',
    });
    const [least, most] = shared ?? (nothing ? [0, 1] : [log ? columns.leastPositive : columns.least, columns.most]);
    const scale = scaleOf(least, panel.rate && !panel.signed ? Math.max(most, 0.01) : most, log, panel.signed ?? false);
    drawScale(p, panel, scale, top, panelHeight, plotWidth);
    if (nothing) {
        const text = panel.message || (data ? 'nothing here' : 'reading …');
        p.text(left + plotWidth / 2, top + panelHeight / 2, text, {
            colour: colours.faint,
            size: 13,
            anchor: 'middle',
        });
        return;
    }
    p.within(left, top - 2, plotWidth, panelHeight + 2, () => drawColumns(p, columns, scale, panel, top, panelHeight));
}

/** Names that fit, in boxes, over the stretches of the structures. */
export function drawStrip(
    p: Painter,
    top: number,
    axis: Axis,
    structures: Structure[],
    x0: number,
    x1: number,
    width: number,
    chosen: string,
): void {
    const colours = theme();
    const place = (x: number) => left + ((x - x0) / (x1 - x0)) * width;
    p.within(left, top, width, stripHeight, () => {
        structures.forEach((structure, i) => {
            const where = placeOfStructure(axis, structure);
            if (!where || where[1] <= x0 || where[0] >= x1) return;
            const from = Math.max(left, place(where[0]));
            const to = Math.min(left + width, place(where[1]));
            const fill = structure.name === chosen ? colours.chosen : i % 2 === 0 ? colours.grid : colours.panel;
            p.frame(from + 0.5, top + 3.5, Math.max(2, to - from - 1), stripHeight - 8, colours.line, 3, fill);
            const letters = Math.floor((to - from - 8) / 7);
            if (letters >= 1) {
                const name =
                    structure.name.length <= letters
                        ? structure.name
                        : letters > 2
                          ? `${structure.name.slice(0, letters - 1)}…`
                          : '';
                p.text((from + to) / 2, top + stripHeight / 2, name, {
                    colour: colours.ink,
                    size: 12,
                    anchor: 'middle',
                    weight: 500,
                });
            }
        });
    });
}

/** Addresses under the strip; gaps between stretches as breaks of the line. */
export function drawAddresses(p: Painter, top: number, axis: Axis, x0: number, x1: number, width: number): void {
    const colours = theme();
    const place = (x: number) => left + ((x - x0) / (x1 - x0)) * width;
    let free = left - 40;
    for (const { start, bytes, base } of axis.segments) {
        const from = Math.max(start, x0);
        const to = Math.min(start + bytes, x1);
        if (from >= to) continue;
        p.line(
            [
                [place(from), top + 3.5],
                [place(to), top + 3.5],
            ],
            colours.line,
            1,
        );
        const step = niceStep((x1 - x0) / (width / 130));
        const begin = base + BigInt(Math.floor(from - start));
        const first = begin % BigInt(step) === 0n ? begin : begin + BigInt(step) - (begin % BigInt(step));
        const places: [number, bigint][] = [];
        for (let address = first; ; address += BigInt(step)) {
            const x = start + Number(address - base);
            if (x > to) break;
            places.push([place(x), address]);
        }
        if (places.length === 0) places.push([place(from), begin]);
        for (const [x, address] of places) {
            const text = hex(address);
            const half = text.length * 3.4;
            const middle = Math.min(left + width - half, Math.max(left + half - 30, x));
            p.line(
                [
                    [x, top + 3],
                    [x, top + 7],
                ],
                colours.faint,
            );
            if (middle - half < free + 10) continue;
            p.text(middle, top + 15, text, { colour: colours.faint, size: 11, anchor: 'middle' });
            free = middle + half;
        }
    }
}

function niceStep(rough: number): number {
    return 2 ** Math.max(2, Math.ceil(Math.log2(Math.max(1, rough))));
}

/** A thin dashed line through all panels where the axis leaves out addresses. */
export function drawBreaks(p: Painter, layout: Layout, axis: Axis, x0: number, x1: number, bottom: number): void {
    const colours = theme();
    axis.segments.slice(1).forEach((segment, i) => {
        const before = axis.segments[i];
        const middle = (before.start + before.bytes + segment.start) / 2;
        if (middle <= x0 || middle >= x1) return;
        const x = left + ((middle - x0) / (x1 - x0)) * layout.plotWidth;
        p.line(
            [
                [x, panelTop(layout, 0)],
                [x, bottom],
            ],
            colours.line,
            1,
            [2, 4],
        );
    });
}

export const stripTop = (layout: Layout, panels: number): number =>
    Math.max(1, panels) * (titleHeight + layout.panelHeight + gapHeight);
export const addressesTop = (layout: Layout, panels: number, strip: boolean): number =>
    stripTop(layout, panels) + (strip ? stripHeight : 0);
export { addressAt, stripHeight };
