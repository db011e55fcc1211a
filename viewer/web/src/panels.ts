// SPDX-License-Identifier: BSD-3-Clause
// Panels over an axis of addresses: columns of the whole axis and of what is in sight; their drawing, and the table behind them.
import { max as maxOf, min as minOf, range, sum } from 'd3-array';
import { addressesIn, describe, hex } from './axis';
import { drawNote, drawUp, valueScale, type ValueScale, type Wanted } from './chart';
import { answer, call, endOfScale } from './core';
import type { Row, Table } from './dom';
import type { FieldModel } from './field';
import { Hand } from './gestures';
import { brief, percentTick } from './numbers';
import { shortened, textWidth, theme, type Box, type Painter } from './paint';
import { emptyBuckets, messageOf, Superseded, type Axis, type Buckets, type Heat, type Stretch } from './protocol';
import { heatColumns } from './field_data';
import { once } from './remembered';

export const titleHeight = 22;

export interface Panel {
    title: string;
    /** What one line's number is, for the scale. */
    meaning: string;
    colour: () => string;
    rate: boolean;
    signed?: boolean;
    /** Has a scale of its own also where the others have one in common. */
    apart?: boolean;
    /** Not drawn: of another file, whose axis has so many bytes, for one scale. */
    beside?: number;
    whole: Buckets | null;
    fine: Buckets | null;
    /** Shown instead of data that are not there. */
    message: string;
}

/** The data that cover a stretch best. */
export function dataFor(panel: Panel, x0: number, x1: number): Buckets | null {
    const { whole, fine } = panel;
    if (!fine || fine.x0 > x0 + 1e-6 || fine.x1 < x1 - 1e-6) return whole;
    if (!whole) return fine;
    const width = (each: Buckets) => (each.x1 - each.x0) / each.sum.length;
    return width(fine) <= width(whole) ? fine : whole;
}

/** By pixel the mean over the lines that have any (NaN where there are none), the range, and the sum; of all the ends, and the `stretch` of the axis
 * that the columns shown take. `leastPositive`: for logarithmic scales. Differences are those of the means. */
export type Columns = Record<'mean' | 'min' | 'max' | 'sum', Float64Array> & Record<'most' | 'least' | 'leastPositive', number> & { stretch: [number, number] };

export function columnsOf({ x0: from, x1: to, touched, sum: sums, min: lows, max: highs, parts }: Buckets, x0: number, x1: number, pixels: number): Columns {
    const { numbers } = answer('pixels', Float64Array.of(from, to, x0, x1), pixels, touched, sums, lows, highs);
    const [most, least, leastPositive, begin, end] = numbers;
    const [mean, min, max, sum] = range(4).map((i) => numbers.subarray(5 + i * pixels, 5 + (i + 1) * pixels));
    const [a, b] = (parts ?? []).map((each) => columnsOf(each, x0, x1, pixels).mean);
    const means = a ? mean.map((own, i) => (Number.isNaN(own) ? own : (b[i] || 0) - (a[i] || 0))) : mean;
    return { most, least, leastPositive, stretch: [begin, end], mean: means, min, max, sum };
}

/** Differences have 0 in the middle; others go from 0, or from the least (of at least a power of ten) where they are logarithmic. */
function scaleFor(panel: Panel, [least, most]: [number, number], log: boolean): ValueScale {
    if (panel.signed) return valueScale({ least: -most, most, small: least, large: most }, log ? 'log' : 'linear', { symmetric: true, about: 4 });
    const from = log ? Math.min(least, most / 10) : 0;
    return valueScale({ least: from, most, small: least, large: most }, log && from > 0 ? 'log' : 'linear', { about: 3 });
}

/** Bars from the ground to the means (down from it for negative ones), and from the means to what reaches farthest. */
function drawColumns(p: Painter, { mean: means, min, max }: Columns, scale: ValueScale, panel: Panel, { x, y, height }: Box): void {
    const signed = panel.signed ?? false;
    const up = (value: number) => y + height * (1 - Math.min(1.02, Math.max(0, scale.at(value))));
    const ground = up(0);
    const [pale, solid, below]: number[][] = [[], [], []];
    const put = (boxes: number[], px: number, high: number, low: number) => boxes.push(x + px, high, 1, Math.max(1, low - high));
    means.forEach((mean, px) => {
        if (Number.isNaN(mean)) return;
        const at = up(mean);
        const [high, low] = [max[px] > mean ? up(max[px]) : at, signed && min[px] < mean ? up(min[px]) : at];
        if (low > high) put(pale, px, high, low);
        if (mean > 0) put(solid, px, Math.min(at, ground), ground);
        if (mean < 0) put(below, px, ground, at);
    });
    p.rects(pale, signed ? `${theme().faint}66` : `${panel.colour()}66`);
    p.rects(solid, panel.colour());
    p.rects(below, theme().accesses);
}

/** `shared`: the ends of a scale that panels have in common; `both`: with those of another file. */
export function drawPanel(p: Painter, box: Box, panel: Panel, [x0, x1]: [number, number], wanted: Wanted, shared: [number, number] | null, both = false): void {
    const { x, y, width, height } = box;
    const data = dataFor(panel, x0, x1);
    const columns = data && columnsOf(data, x0, x1, Math.round(width));
    const nothing = !columns || columns.most === -Infinity, log = !nothing && wanted === 'log';
    drawTitles(p, panel, box, (log ? (panel.signed ? ', symmetric logarithmic' : ', logarithmic') : '') + (both ? ', one scale for A and B' : ''));
    if (nothing) {
        p.line([[x, y + height], [x + width, y + height]], theme().line);
        return drawNote(p, panel.message || (data ? 'nothing here' : 'reading …'), box);
    }
    const sizes = panel.signed ? columns.mean.map(Math.abs).filter((each) => each > 0) : null;
    const [least, most] = sizes ? [minOf(sizes) ?? 0, maxOf(sizes) ?? 0] : (shared ?? [log ? columns.leastPositive : columns.least, columns.most]);
    const end = shared || (panel.rate && !sizes) ? most : endOfScale(sizes ? call('clip_of', sizes) : data!.clip, most, wanted);
    const scale = scaleFor(panel, [least, panel.rate && !sizes ? Math.max(most, 0.01) : end], log);
    drawUp(p, box, scale, !panel.rate ? brief : panel.signed ? (value) => percentTick(value).replace(' %', '') : percentTick);
    drawColumns(p, columns, scale, panel, box);
    if (columns.least === 0 && columns.most === 0) drawNote(p, panel.signed ? 'no difference' : '0 everywhere', box);
    const top = sizes ? most : columns.most;
    if (end < top) drawCut(p, box, columns, data!, [end, top], panel);
}

/** Marks on columns that reach beyond the scale, and how many lines do; of differences, how many columns. */
function drawCut(p: Painter, { x, y, width, height, head }: Box, { mean, max }: Columns, { grain, above }: Buckets, [end, most]: [number, number], { meaning, title, signed, rate }: Panel): void {
    const { marker } = theme();
    const boxes: number[] = [];
    // large ones for the largest
    (signed ? mean.map(Math.abs) : max).forEach((each, px) => each > end && boxes.push(...((size) => [x + px - size / 2 + 0.5, signed && mean[px] < 0 ? y + height + 1 : y - size - 2, size, size + 1])(2 * each > most ? 7 : 3)));
    p.rects(boxes, marker);
    const [count, what] = signed ? [boxes.length / 4, 'column'] : [above, grain <= 4096 ? 'line' : 'block'];
    const upTo = `up to ${signed ? '±' : ''}${rate ? percentTick(most).replace(' %', '') : brief(most)}`;
    // under the titles where there is room, else beside what the numbers are, as far as that fits
    const under = (head ?? titleHeight) > titleHeight;
    const room = width - (under ? 160 : textWidth(meaning, 11) + textWidth(title, 13, 600) + 30);
    const texts = [`${brief(count)} ${what}${count === 1 ? '' : 's'} ${upTo}`, upTo, ''];
    const text = texts.find((each) => textWidth(each, 11, 600) <= Math.max(0, room))!;
    p.text(x + width - (under ? 0 : textWidth(meaning, 11) + 14), y - (under ? 14 : titleHeight - 10), text, { colour: marker, size: 11, anchor: 'end', weight: 600 });
}

/** What the panel is of, and at the other end what its numbers are; where both do not fit, what it is of is cut. */
function drawTitles(p: Painter, panel: Panel, { x, y, width, head }: Box, scale: string): void {
    const { ink, faint } = theme();
    const at = y - (head ?? titleHeight) + 10;
    const whole = panel.meaning + scale;
    const fits = textWidth(whole, 11) + textWidth(panel.title, 13, 600) + 12 <= width;
    const meaning = fits ? whole : whole.replace(/^.*? per /, 'per ');
    const title = shortened(panel.title, width - textWidth(meaning, 11) - 12, 13, 600);
    p.text(x, at, title, { colour: ink, size: 13, weight: 600 });
    p.text(x + width, at, meaning, { colour: faint, size: 11, anchor: 'end' });
}

/** A panel and where its numbers come from. */
export type PanelSource = Omit<Panel, 'whole' | 'fine' | 'message'> & { fetch: (stretch: Stretch) => Promise<Buckets> };

/** Two panels, and what the second has more; what is made of the same numbers, and read at once, asks for them once. */
export function withDifference(first: PanelSource, second: PanelSource, title: string): [PanelSource, PanelSource, PanelSource] {
    const [a, b] = [once(first.fetch), once(second.fetch)];
    const fetch = async (stretch: Stretch) => differenceOf(...(await Promise.all([a(stretch), b(stretch)])));
    return [{ ...first, fetch: a }, { ...second, fetch: b }, { ...second, title, meaning: second.rate ? 'difference of the rates in points' : 'difference of the means', colour: () => theme().misses, signed: true, fetch }];
}

const columns = 2048;

export function panelReader(changed: (panels: (Panel & PanelSource)[]) => void) {
    let panels: (Panel & PanelSource)[] = [];
    let bytes = 1;
    let generation = 0;
    const hand = new Hand();

    /** Other panels: all are read anew. */
    function set(axis: Axis, sources: PanelSource[], sight: [number, number]): void {
        ({ bytes } = axis);
        panels = sources.map((source) => ({ ...source, whole: null, fine: null, message: '' }));
        ++generation;
        changed(panels);
        const all: Stretch = { x0: 0, x1: bytes, count: columns, sight: [0, bytes] };
        for (const panel of panels) void load(panel, all, 'whole');
        void look(sight);
    }

    /** Another stretch is in sight. Its columns begin and end where it does, so that its table has the lines in it, and no others. */
    async function look([x0, x1]: [number, number]): Promise<void> {
        const all = x0 <= 0 && x1 >= bytes;
        if (!(await hand.rest(all ? 0 : 60)) || all) return;
        const width = (x1 - x0) / columns;
        const before = Math.min(columns / 2, Math.floor(x0 / width));
        const behind = Math.min(columns / 2, Math.floor((bytes - x1) / width));
        const stretch: Stretch = { x0: x0 - before * width, x1: x1 + behind * width, count: before + columns + behind, sight: [x0, x1] };
        for (const panel of panels) void load(panel, stretch, 'fine');
    }

    async function load(panel: Panel & PanelSource, stretch: Stretch, into: 'whole' | 'fine'): Promise<void> {
        const mine = generation;
        try {
            const data = await panel.fetch(stretch);
            if (mine === generation) panel[into] = data;
        } catch (error) {
            if (error instanceof Superseded) return;
            if (into === 'whole') panel.message = messageOf(error);
            else if (mine === generation) panel.fine = null;
        } finally {
            if (mine === generation) changed(panels);
        }
    }
    return { set, look };
}

/** b - a, column by column: of the sums, and of the means of the lines as least and most, so that pictures of unequal detail can be told apart. */
export function differenceOf(a: Buckets, b: Buckets): Buckets {
    const [before, after] = [a, b].map((each) => columnsOf(each, each.x0, each.x1, each.sum.length).mean);
    const means = before.map((mean, i) => (Number.isNaN(mean) && Number.isNaN(after[i]) ? NaN : (after[i] || 0) - (mean || 0)));
    const or = (none: number) => means.map((mean) => (Number.isNaN(mean) ? none : mean));
    return {
        ...emptyBuckets(a.x0, a.x1, means.length, Math.max(a.grain, b.grain)),
        touched: means.map((mean) => (Number.isNaN(mean) ? 0 : 1)),
        ...{ sum: b.sum.map((sum, i) => sum - a.sum[i]), min: or(Infinity), max: or(-Infinity), total: b.total - a.total, parts: [a, b] },
    };
}

/** Sum and weight of the cells of a row that x0 .. x1 of the axis reach into, and the largest weight. */
function cellsIn({ sum: sums, weight, columns }: Heat, [from, to]: [number, number], row: number, x0: number, x1: number): number[] {
    const width = (to - from) / columns;
    const first = Math.max(0, Math.floor((x0 - from) / width + 1e-6));
    const last = Math.min(columns, Math.max(first + 1, Math.ceil((x1 - from) / width - 1e-6)));
    const own = range(row * columns + first, row * columns + last);
    return [sum(own, (i) => sums[i]), sum(own, (i) => Math.abs(weight[i])), maxOf(own, (i) => weight[i]) ?? 0];
}

/** Their mean per line and phase; NaN where no line is, or none is accessed. */
export function meanIn(heat: Heat, drawn: [number, number], row: number, x0: number, x1 = x0): number {
    const [all, lines, most] = cellsIn(heat, drawn, row, x0, x1);
    return most > 0 ? all / lines : NaN;
}

/** Sum (of rates: the rate), least and most of the lines in a stretch; of differences, which lines do not have, the first alone. */
function valuesIn(data: Buckets | null, from: number, to: number, { rate, signed }: Panel): number[] {
    const found = data && columnsOf(data, from, to, 1);
    const values = !found ? [NaN, NaN, NaN] : found.min[0] === Infinity ? [0, 0, 0] : [(rate ? found.mean : found.sum)[0], found.min[0], found.max[0]];
    return signed ? values.slice(0, 1) : values;
}

/** Of the selection in sight, if there is one; `rowNames`: of the field; none where there is none. */
export function tableOf(caption: string, model: FieldModel, rowNames: string[]): Table {
    const { panels, axis, structures, heat, drawn, stretches } = model;
    const [x0, x1] = model.range;
    const data = panels.map((panel) => dataFor(panel, x0, x1));
    const cells = heat && heat.rows > 1 && Math.abs(drawn[0] - x0) + Math.abs(drawn[1] - x1) < 2 ? heat : null;
    const lines = cells && !model.rate && !cells.signed;
    const name = (panel: Panel) => `${panels.length > 1 ? `${panel.title} ` : ''}${panel.rate ? 'rate' : 'sum'}`;
    const headers = ['address', 'where', ...panels.flatMap((panel) => [name(panel), ...(panel.signed ? [] : ['least per line', 'most per line'].map((each) => (panels.length > 1 ? `${panel.title} ${each}` : each)))])];
    if (lines) headers.push('lines');
    if (cells) headers.push(...rowNames.map((row) => `${row} mean`));
    const rows: Row[] = [];
    const step = Math.max((x1 - x0) / heatColumns, ...data.map((each) => (each ? (each.x1 - each.x0) / each.sum.length : 0)));
    const add = (from: number, to: number) => {
        const address = addressesIn(axis, from, to)[0]?.[0];
        const values = data.flatMap((each, i) => valuesIn(each, from, to, panels[i]));
        const means = cells ? rowNames.map((_, row) => meanIn(cells, drawn, row, from, to) || 0) : [];
        if (address === undefined || [...values, ...means].every((each) => each === 0 || Number.isNaN(each))) return;
        const count = lines ? [cellsIn(cells, drawn, 0, from, to)[1] / (cells.edges[1] - cells.edges[0])] : [];
        rows.push([hex(address), describe(structures, address), ...values, ...count, ...means]);
    };
    for (const [from, to] of stretches ?? [[x0, x1]])
        for (let at = Math.max(x0, from), end = Math.min(x1, to); at < end - step / 1e6; at += step) add(at, Math.min(at + step, end));
    return { caption, headers, rows };
}
