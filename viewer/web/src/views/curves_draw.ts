// SPDX-License-Identifier: BSD-3-Clause
// Drawings of response curves: points and lines on logarithmic axes, edges, plateaus, residuals; latencies of single loads as bars.
import { theme } from '../colours';
import { brief, bytes, full, percentTick, powers, ticks } from '../numbers';
import { dotRadii, drawOverlapping } from '../overlap';
import type { Painter } from '../paint';
import { overTitle, unitTitle, type CurveGroup, type Shown } from './curves_data';

export interface CurvePicture {
    group: CurveGroup;
    shown: Shown[];
    /** Colours by curve: the same whatever is hidden. */
    colour: (shown: Shown) => string;
    /** What is visible of the x axis, in logarithms to the base 2. */
    view: [number, number];
    log: boolean;
    /** By curve; empty where no residuals are asked for. */
    residuals: Float64Array[];
    residualTitle: string;
}

const [left, right, top, bottom, residualHeight] = [66, 16, 42, 44, 110];
export const plotLeft = left;
export const plotWidth = (width: number): number => Math.max(50, width - left - right);
const panelHeight = 62;

export function heightOf({ group, shown, residuals }: CurvePicture): number {
    if (group.unit === 'loads') return top + Math.max(1, shown.length) * panelHeight + bottom;
    return top + 330 + (residuals.length ? residualHeight + 26 : 0) + bottom;
}

export const xText = (value: number, unit: string): string =>
    unit === 'bytes' ? bytes(Math.round(value)) : unit === 'pages' ? pagesText(value) : brief(Math.round(value * 10) / 10);

/** Sizes come in powers of two, so numbers of pages are not shortened by powers of ten. */
const pagesText = (value: number): string =>
    value >= 8192 && value % 1024 === 0 ? `${(value / 1024).toLocaleString('en')} Ki` : full(Math.round(value * 10) / 10);

/** Where values of x lie on the screen. */
export function placeOf(picture: CurvePicture, width: number): (x: number) => number {
    const [from, to] = picture.view;
    const inner = plotWidth(width);
    return (x) => left + ((Math.log2(Math.max(x, 1e-9)) - from) / (to - from)) * inner;
}

function xTicks([from, to]: [number, number], width: number, unit: string): number[] {
    if (to - from < 2) {
        const [a, b] = [2 ** from, 2 ** to];
        if (unit === 'cycles') return ticks(b, Math.min(60, (6 * b) / (b - a))).filter((each) => each >= a && each > 0);
        const step = Math.max(1, 2 ** Math.ceil(Math.log2((b - a) / 6)));
        const first = Math.ceil(a / step);
        return Array.from({ length: Math.floor(b / step) - first + 1 }, (_, i) => (first + i) * step).filter((each) => each > 0);
    }
    const most = Math.max(3, plotWidth(width) / 84);
    if (unit === 'cycles') {
        const all = [1, 2, 5].flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power));
        return all.filter((each) => each >= 2 ** from && each <= 2 ** to).sort((a, b) => a - b);
    }
    const step = Math.max(1, Math.ceil((to - from) / most));
    const first = Math.ceil(from / step) * step;
    return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => 2 ** (first + i * step));
}

function drawX(p: Painter, picture: CurvePicture, from: number, to: number): void {
    const colours = theme();
    const place = placeOf(picture, p.width);
    for (const tick of xTicks(picture.view, p.width, picture.group.xUnit)) {
        const x = place(tick);
        p.line([[x, from], [x, to]], colours.grid);
        p.text(x, to + 14, xText(tick, picture.group.xUnit), { colour: colours.faint, size: 11, anchor: 'middle' });
    }
    const title = overTitle(picture.group.xUnit);
    const unit = ['bytes', title].includes(picture.group.xUnit) ? '' : ` (${picture.group.xUnit})`;
    p.text(left + plotWidth(p.width) / 2, to + 32, `${title}${unit}`, { colour: colours.faint, size: 12, anchor: 'middle' });
}

interface Scale {
    place: (value: number) => number;
    ticks: number[];
}

function yScale(picture: CurvePicture, from: number, height: number): Scale {
    const [a, b] = picture.view.map((each) => 2 ** each);
    const values = picture.shown.flatMap(({ curve, plateaus }) => [
        ...curve.value.filter((_, i) => curve.x[i] >= a * 0.999 && curve.x[i] <= b * 1.001),
        ...plateaus.filter((each) => each.to >= a && each.from <= b).map((each) => each.value),
    ]);
    const usable = values.filter((each) => Number.isFinite(each) && (!picture.log || each > 0));
    if (usable.length === 0) return { place: () => from + height, ticks: [] };
    const least = Math.min(...usable);
    const most = Math.max(...usable);
    if (picture.log) {
        const [low, high] = [least / 1.25, most * 1.35];
        const place = (value: number) =>
            from + height - (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * height;
        const tens = powers(low, high);
        const fine = [1, 2, 5].flatMap((step) => [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power));
        return { place, ticks: tens.length >= 3 ? tens : fine.filter((each) => each >= low && each <= high) };
    }
    const [low, high] = [Math.min(0, least), most > 0 ? most * 1.12 : 1];
    return {
        place: (value) => from + height - ((value - low) / (high - low)) * height,
        ticks: ticks(high, 5),
    };
}

function drawEdges(p: Painter, picture: CurvePicture, from: number, to: number): void {
    const colours = theme();
    const place = placeOf(picture, p.width);
    const labels: { x: number; text: string; colour: string }[] = [];
    for (const shown of picture.shown) {
        const colour = picture.colour(shown);
        for (const { level, value, low, high, truth } of shown.edges) {
            const [a, b] = [place(Math.min(low, value)), place(Math.max(high, value))];
            if (b - a > 1.5) p.rect(a, from, b - a, to - from, `${colour}30`);
            p.line([[place(value), from], [place(value), to]], colour, 1.2, [6, 3]);
            labels.push({ x: place(value), text: `${level} ${xText(value, picture.group.xUnit)}`, colour });
            if (truth > 0) {
                const x = place(truth);
                p.line([[x - 5, to], [x, to - 8], [x + 5, to], [x - 5, to]], colours.ink, 1.4);
            }
        }
    }
    const free = [-Infinity, -Infinity];
    const seen = new Set<string>();
    for (const { x, text, colour } of labels.sort((a, b) => a.x - b.x)) {
        const half = text.length * 3.2;
        const row = free.findIndex((each) => x - half >= each);
        if (row < 0 || seen.has(text) || x < left || x > p.width - right) continue;
        p.text(x, from - 10 - 15 * row, text, { colour, size: 11, anchor: 'middle', weight: 600 });
        free[row] = x + half + 8;
        seen.add(text);
    }
}

/** Names at places where they hide no other: further to the right where that is taken, left out where no room is left; the same name
 * once where it would stand beside itself. */
function drawApart(p: Painter, labels: { x: number; end: number; y: number; text: string; colour: string }[]): void {
    const taken: { x: number; end: number; y: number; text: string }[] = [];
    for (const { x, end, y, text, colour } of labels.sort((a, b) => a.x - b.x)) {
        const width = text.length * 6.8 + 4;
        let at = x;
        const near = () => taken.find((each) => Math.abs(each.y - y) < 12 && at < each.end && at + width > each.x);
        let other = near();
        for (; other && other.text !== text; other = near()) at = other.end;
        if (other || at + width > end) continue;
        p.text(at, y, text, { colour, size: 11, weight: 600 });
        taken.push({ x: at, end: at + width, y, text });
    }
}

function drawPlateaus(p: Painter, picture: CurvePicture, y: Scale): void {
    const place = placeOf(picture, p.width);
    const labels: Parameters<typeof drawApart>[1] = [];
    for (const shown of picture.shown)
        for (const { value, low, high, from, to } of shown.plateaus) {
            const colour = picture.colour(shown);
            const [a, b] = [place(from), place(to)];
            const [over, under] = [y.place(high), y.place(low)];
            if (under - over > 1.5) p.rect(a, over, b - a, under - over, `${colour}26`);
            p.line([[a, y.place(value)], [b, y.place(value)]], colour, 1, [2, 3]);
            const x = Math.max(a, left) + 4;
            labels.push({ x, end: Math.min(b, p.width - right), y: y.place(value) - 9, text: brief(value), colour });
        }
    drawApart(p, labels);
}

const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const dashOf = (file: number): number[] => (file === 0 ? [] : dashes[1 + ((file - 1) % 3)]);

/** Lines and points of all curves; `value`: where point i of the c-th lies. */
function drawPoints(p: Painter, picture: CurvePicture, value: (c: number, i: number) => number): void {
    const place = placeOf(picture, p.width);
    const curves = picture.shown.map((shown, c) => {
        const all = Array.from(shown.curve.x, (_, i) => i).filter((i) => Number.isFinite(value(c, i)));
        const at = (i: number): [number, number] => [place(shown.curve.x[i]), value(c, i)];
        const [kept, out] = [true, false].map((wanted) => all.filter((i) => !shown.curve.knockedOut?.[i] === wanted).map(at));
        return { points: kept, out, colour: picture.colour(shown), width: 1.6, dash: dashOf(shown.file) };
    });
    drawOverlapping(p, curves);
    const radii = dotRadii(curves.flatMap(({ points }) => points), 2.6);
    let next = 0;
    for (const { points, out, colour } of curves) {
        for (const [x, y] of points) p.dot(x, y, radii[next++], colour);
        drawCrosses(p, out, colour);
    }
}

/** Sizes that were left out. */
function drawCrosses(p: Painter, places: [number, number][], colour: string): void {
    for (const [x, y] of places) {
        p.line([[x - 3.5, y - 3.5], [x + 3.5, y + 3.5]], colour, 1.3);
        p.line([[x - 3.5, y + 3.5], [x + 3.5, y - 3.5]], colour, 1.3);
    }
}

function drawResiduals(p: Painter, picture: CurvePicture, from: number): void {
    const colours = theme();
    const inner = plotWidth(p.width);
    const [a, b] = picture.view.map((each) => 2 ** each);
    const seen = picture.shown.flatMap(({ curve }, c) =>
        Array.from(picture.residuals[c]).filter(
            (each, i) => Number.isFinite(each) && curve.x[i] >= a * 0.999 && curve.x[i] <= b * 1.001,
        ),
    );
    const most = Math.max(0.001, ...seen.map(Math.abs)) * 1.1;
    const y = (value: number) => from + residualHeight / 2 - (value / most) * (residualHeight / 2);
    p.text(left, from - 9, picture.residualTitle, { colour: colours.faint, size: 11.5 });
    const steps = ticks(most, 2).filter((each) => each > 0 && each <= most);
    for (const tick of [...steps.map((each) => -each), 0, ...steps]) {
        p.line([[left, y(tick)], [left + inner, y(tick)]], tick === 0 ? colours.line : colours.grid);
        p.text(left - 8, y(tick), percentTick(tick), { colour: colours.faint, size: 11, anchor: 'end' });
    }
    p.within(left, from - 4, inner, residualHeight + 8, () =>
        drawPoints(p, picture, (c, i) => y(picture.residuals[c][i])),
    );
}

export function drawCurves(p: Painter, picture: CurvePicture): void {
    if (picture.group.unit === 'loads') return drawLatencies(p, picture);
    const colours = theme();
    const inner = plotWidth(p.width);
    const height = 330;
    const y = yScale(picture, top, height);
    const end = top + height + (picture.residuals.length ? residualHeight + 26 : 0);
    drawX(p, picture, top, end);
    for (const tick of y.ticks) {
        p.line([[left, y.place(tick)], [left + inner, y.place(tick)]], colours.grid);
        p.text(left - 8, y.place(tick), brief(tick), { colour: colours.faint, size: 11, anchor: 'end' });
    }
    p.line([[left, top + height], [left + inner, top + height]], colours.line);
    p.text(13, top + height / 2, unitTitle(picture.group.unit).toLowerCase(), { colour: colours.faint, size: 12, anchor: 'middle', upright: true });
    drawEdgesWithin(p, picture, height);
    p.within(left, top - 4, inner, height + 8, () => {
        drawPlateaus(p, picture, y);
        drawPoints(p, picture, (c, i) => y.place(picture.shown[c].curve.value[i]));
    });
    if (picture.residuals.length) drawResiduals(p, picture, top + height + 26);
}

function drawEdgesWithin(p: Painter, picture: CurvePicture, height: number): void {
    p.within(left, 0, plotWidth(p.width), top + height, () => drawEdges(p, picture, top, top + height));
}

/** A row of bars per curve: the share of the loads by how long they took. */
function drawLatencies(p: Painter, picture: CurvePicture): void {
    const colours = theme();
    const inner = plotWidth(p.width);
    const place = placeOf(picture, p.width);
    const end = top + Math.max(1, picture.shown.length) * panelHeight;
    drawX(p, picture, top, end);
    picture.shown.forEach((shown, row) => {
        const { curve } = shown;
        const base = top + (row + 1) * panelHeight - 4;
        const all = curve.value.reduce((sum, each) => sum + each, 0);
        const most = Math.max(...curve.value);
        const boxes: number[] = [];
        curve.x.forEach((x, i) => {
            const width = Math.max(2, place(x + 0.5) - place(Math.max(x - 0.5, x / 2)));
            const high = Math.max(1, (curve.value[i] / most) * (panelHeight - 24));
            boxes.push(place(x) - width / 2, base - high, width, high);
        });
        p.line([[left, base], [left + inner, base]], colours.line);
        p.within(left, base - panelHeight, inner, panelHeight + 1, () => p.rects(boxes, picture.colour(shown)));
        p.text(left + 4, base - panelHeight + 14, `${shown.label}: ${brief(all)} loads`, { colour: colours.ink, size: 11.5 });
        p.text(left - 8, base - panelHeight + 24, percentTick(most / all), { colour: colours.faint, size: 11, anchor: 'end' });
    });
}
