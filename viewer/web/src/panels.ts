// SPDX-License-Identifier: BSD-3-Clause
// Drawing of panels over an axis of addresses: columns with their least and most, and scales.
import { scale as rule } from '../../drawing.json';
import { theme } from './colours';
import { titleHeight, type Box } from './field_layout';
import { brief, percentTick, powers, ticks } from './numbers';
import { symlog, symlogTicks, symlogUnit } from './scale';
import type { Painter } from './paint';
import { emptyBars, type Bars } from './pixels';
import type { Axis, Buckets } from './protocol';

export interface Panel {
    key: string;
    title: string;
    /** What one line's number is, for the scale. */
    meaning: string;
    colour: string;
    rate: boolean;
    /** Differences: up and down from the middle. */
    signed?: boolean;
    /** Has a scale of its own also where the others have one in common. */
    apart?: boolean;
    whole: Buckets | null;
    fine: Buckets | null;
    /** Shown instead of data that are not there. */
    message: string;
    /** What the last frame was drawn from, to be filled anew by the next. */
    drawn: Drawn | null;
}

/** Room for what is worked out for a frame: per pixel of the width. */
export interface Drawn {
    columns: Columns;
    solid: Bars;
    below: Bars;
    pale: Bars;
}

export const emptyDrawn = (pixels: number): Drawn => ({
    columns: emptyColumns(pixels),
    solid: emptyBars(pixels),
    below: emptyBars(pixels),
    pale: emptyBars(pixels),
});

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

const emptyColumns = (pixels: number): Columns => ({
    mean: new Float64Array(pixels),
    min: new Float64Array(pixels),
    max: new Float64Array(pixels),
    most: -Infinity,
    least: Infinity,
    leastPositive: Infinity,
});

/** Mean over the lines of the buckets from .. to - 1; 0 where there are none. */
export function meanOf({ parts, sum: sums, touched: lines, min, max }: Buckets, from: number, to: number): number {
    if (parts) return meanOf(parts[1], from, to) - meanOf(parts[0], from, to);
    let [sum, touched, high] = [0, 0, 0];
    for (let b = from; b < to; ++b) {
        if (min[b] === Infinity) continue;
        sum += sums[b];
        touched += lines[b];
        if (max[b] > high) high = max[b];
    }
    // a line that spans several columns is counted in the first of them alone
    return touched > 0 ? sum / touched : high;
}

/** The columns of the data that a pixel beginning at `place` shows: from .. to - 1. */
function columnsAt({ x0, x1, sum }: Buckets, place: number, perPixel: number): [number, number] {
    const perBucket = (x1 - x0) / sum.length;
    const begin = (place - x0) / perBucket;
    const from = Math.max(0, Math.floor(begin + 1e-9));
    return [from, Math.min(sum.length, Math.max(from + 1, Math.floor(begin + perPixel / perBucket + 1e-9)))];
}

/** The stretch of the axis that they take. */
export function stretchOf(data: Buckets, place: number, perPixel: number): [number, number] {
    const perBucket = (data.x1 - data.x0) / data.sum.length;
    const [from, to] = columnsAt(data, place, perPixel);
    return [data.x0 + from * perBucket, data.x0 + to * perBucket];
}

/** `into`: columns of that many pixels, to be filled anew. */
export function columnsOf(
    data: Buckets,
    x0: number,
    x1: number,
    pixels: number,
    into: Columns = emptyColumns(pixels),
): Columns {
    const mean = into.mean.fill(NaN);
    const min = into.min.fill(Infinity);
    const max = into.max.fill(-Infinity);
    const { min: mins, max: maxs } = data;
    const perPixel = (x1 - x0) / pixels;
    let most = -Infinity;
    let least = Infinity;
    let leastPositive = Infinity;
    for (let p = 0; p < pixels; ++p) {
        const [from, to] = columnsAt(data, x0 + p * perPixel, perPixel);
        let [low, high] = [Infinity, -Infinity];
        for (let b = from; b < to; ++b) {
            if (mins[b] === Infinity) continue;
            if (mins[b] < low) low = mins[b];
            if (maxs[b] > high) high = maxs[b];
        }
        if (low === Infinity) continue;
        min[p] = low;
        max[p] = high;
        const value = meanOf(data, from, to);
        mean[p] = value;
        if (high > most) most = high;
        if (low < least) least = low;
        const positive = low > 0 ? low : value > 0 ? value : high;
        if (positive > 0 && positive < leastPositive) leastPositive = positive;
    }
    return Object.assign(into, { most, least, leastPositive });
}

/** `auto`: linear, and outliers are cut and marked. */
export type ScaleKind = 'auto' | 'linear' | 'log';

/** The end of a scale: the largest, or what all but a hundredth reach where the rest lies far above it. */
export const endOfScale = (clip: number, most: number, scale: ScaleKind): number => (scale === 'auto' && most > rule.far_above * clip ? clip : most);

export interface Scale {
    at(value: number): number;
    ticks: number[];
    log: boolean;
}

/** Differences: 0 in the middle. */
function signedScale(columns: Columns, log: boolean): Scale {
    const reach = Math.max(Math.abs(columns.least), Math.abs(columns.most));
    if (!(reach > 0 && reach < Infinity)) return { at: () => 0.5, ticks: [0], log: false };
    if (log) {
        const unit = symlogUnit(leastMagnitude(columns), reach);
        const end = symlog(reach, unit) * 1.06;
        return { at: (value) => 0.5 + (0.5 * symlog(value, unit)) / end, ticks: symlogTicks(unit, -reach, reach), log };
    }
    const up = ticks(reach, 2).filter((each) => each <= reach);
    return {
        at: (value) => 0.5 + (0.5 * value) / reach,
        ticks: [...up.slice(1).map((each) => -each), ...up],
        log: false,
    };
}

/** The smallest difference that is drawn. */
function leastMagnitude({ mean, min, max }: Columns): number {
    let least = Infinity;
    const see = (value: number) => {
        const size = Math.abs(value);
        if (size > 0 && size < least) least = size;
    };
    mean.forEach((value, px) => {
        if (Number.isNaN(value)) return;
        see(value);
        see(min[px]);
        see(max[px]);
    });
    return least;
}

/** From 0 (or the least) at the bottom to `most` at the top, as shares of the height. */
export function scaleOf(least: number, most: number, log: boolean): Scale {
    if (!log || !(least > 0 && least < Infinity)) {
        const top = most > 0 ? most * 1.06 : 1;
        return {
            at: (value) => value / top,
            ticks: ticks(most, 3).filter((each) => each <= top),
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

function drawScale(p: Painter, panel: Panel, scale: Scale, { x, y, width, height }: Box): void {
    const { grid, faint, line } = theme();
    for (const tick of scale.ticks) {
        const at = y + height * (1 - scale.at(tick));
        if (at < y - 1 || at > y + height + 1) continue;
        p.line([[x, at], [x + width, at]], tick === 0 ? line : grid);
        p.text(x - 7, at, panel.rate ? percentTick(tick) : brief(tick), { colour: faint, size: 11, anchor: 'end' });
    }
}

/** Bars from the ground to the means (down from it for negative ones), and from the means to what reaches farthest. */
export function fillBars(drawn: Drawn, scale: Scale, signed: boolean, top: number, height: number): void {
    const { columns, solid, below, pale } = drawn;
    const zero = scale.log && !signed ? 0 : scale.at(0);
    const y = (value: number) => top + height * (1 - Math.min(1.02, Math.max(0, scale.at(value))));
    const ground = top + height * (1 - zero);
    const none = (bars: Bars, px: number) => void (bars.top[px] = bars.bottom[px] = 0);
    const put = (bars: Bars, px: number, high: number, low: number) => {
        bars.top[px] = high;
        bars.bottom[px] = Math.max(low, high + 1);
    };
    for (let px = 0; px < columns.mean.length; ++px) {
        const mean = columns.mean[px];
        none(solid, px);
        none(below, px);
        none(pale, px);
        if (Number.isNaN(mean)) continue;
        const at = y(mean);
        if (mean > 0) put(solid, px, Math.min(at, ground), ground);
        if (mean < 0) put(below, px, ground, at);
        const high = columns.max[px] > mean ? y(columns.max[px]) : at;
        const low = signed && columns.min[px] < mean ? y(columns.min[px]) : at;
        if (columns.max[px] > mean || low > at) put(pale, px, high, low);
    }
}

function drawColumns(p: Painter, drawn: Drawn, scale: Scale, panel: Panel, { x, y, height }: Box): void {
    const signed = panel.signed ?? false;
    fillBars(drawn, scale, signed, y, height);
    drawn.pale.fill = signed ? `${theme().faint}66` : `${panel.colour}66`;
    drawn.solid.fill = panel.colour;
    drawn.below.fill = theme().accesses;
    const { pale, solid, below } = drawn;
    p.bars(x, y - 2, height + 2, signed ? [pale, solid, below] : [pale, solid]);
}

/** `shared`: the ends of a scale that panels have in common. */
export function drawPanel(p: Painter, box: Box, panel: Panel, [x0, x1]: [number, number], wanted: ScaleKind, shared: [number, number] | null): void {
    const colours = theme();
    const { x, y, width, height } = box;
    const data = dataFor(panel, x0, x1);
    const pixels = Math.round(width);
    if (panel.drawn?.columns.mean.length !== pixels) panel.drawn = emptyDrawn(pixels);
    const { drawn } = panel;
    const columns = data && columnsOf(data, x0, x1, pixels, drawn.columns);
    const nothing = !columns || columns.most === -Infinity;
    const log = !nothing && wanted === 'log';
    drawTitles(p, panel, box, log ? (panel.signed ? ', symmetric logarithmic' : ', logarithmic') : '');
    const say = (text: string) => p.text(x + width / 2, y + height / 2, text, { colour: colours.faint, size: 13, anchor: 'middle' });
    if (nothing) {
        p.line([[x, y + height], [x + width, y + height]], colours.line);
        say(panel.message || (data ? 'nothing here' : 'reading …'));
        return;
    }
    const [least, most] = shared ?? [log ? columns.leastPositive : columns.least, columns.most];
    const end = panel.rate || panel.signed || shared ? most : endOfScale(data!.clip, most, wanted);
    const scale = panel.signed ? signedScale(columns, log) : scaleOf(least, panel.rate ? Math.max(most, 0.01) : end, log);
    drawScale(p, panel, scale, box);
    drawColumns(p, drawn, scale, panel, box);
    if (columns.least === 0 && columns.most === 0) say(panel.signed ? 'no difference' : '0 everywhere');
    if (end < columns.most && !panel.signed) drawCut(p, box, drawn.columns, data!, end, panel.meaning);
}

/** Marks on columns that reach above the scale, and how many lines do. */
function drawCut(p: Painter, { x, y, width, head }: Box, { max, most }: Columns, { grain, above }: Buckets, end: number, meaning: string): void {
    const { marker } = theme();
    const boxes: number[] = [];
    max.forEach((each, px) => each > end && boxes.push(x + px - 1, y - 5, 3, 4));
    p.rects(boxes, marker);
    const what = grain <= 4096 ? 'line' : 'block';
    const text = `${brief(above)} ${what}${above === 1 ? '' : 's'} up to ${brief(most)}`;
    // under the titles where there is room, else beside what the numbers are
    const under = (head ?? titleHeight) > titleHeight;
    p.text(x + width - (under ? 0 : meaning.length * 6.2 + 14), y - (under ? 14 : titleHeight - 10), text, { colour: marker, size: 11, anchor: 'end', weight: 600 });
}

/** What the panel is of, and at the other end what its numbers are; where both do not fit, what it is of is cut. */
function drawTitles(p: Painter, panel: Panel, { x, y, width, head }: Box & { head?: number }, scale: string): void {
    const { ink, faint } = theme();
    const at = y - (head ?? titleHeight) + 10;
    const whole = panel.meaning + scale;
    const meaning = (whole.length + panel.title.length) * 6.8 + 12 > width ? whole.replace(/^.*? per /, 'per ') : whole;
    const letters = Math.max(6, Math.floor((width - meaning.length * 6.2 - 12) / 7.6));
    const title = panel.title.length <= letters ? panel.title : `${panel.title.slice(0, letters - 1)}…`;
    p.text(x, at, title, { colour: ink, size: 13, weight: 600 });
    p.text(x + width, at, meaning, { colour: faint, size: 11, anchor: 'end' });
}

/** A thin dashed line where the axis leaves out addresses. */
export function drawBreaks(p: Painter, axis: Axis, [x0, x1]: [number, number], { x, y, width, height }: Box): void {
    axis.segments.slice(1).forEach((segment, i) => {
        const end = axis.segments[i].start + axis.segments[i].bytes;
        const middle = (end + segment.start) / 2;
        if (middle <= x0 || middle >= x1 || ((segment.start - end) / (x1 - x0)) * width < 2) return;
        const at = x + ((middle - x0) / (x1 - x0)) * width;
        p.line([[at, y], [at, y + height]], theme().line, 1, [2, 4]);
    });
}
