// SPDX-License-Identifier: BSD-3-Clause
// Response curves of probe files: points, lines, edges, plateaus, residuals, what findings say; latencies of single loads as bars.
import { range, sort, sum, ticks } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { titleOf } from '../app';
import { dotRadii, drawAcross, drawCurves as drawLines, drawLabels, drawUp, extentOf, upIn, valueScale, type Label } from '../chart';
import type { Source } from '../client';
import { brief, bytes, full, percentTick } from '../numbers';
import { textWidth, theme, type Box, type Painter, type Point } from '../paint';
import { rowsIn, type ProbeCurve, type TableRow } from '../protocol';

/** A curve of one of the files that are laid over each other. */
export type Shown = ReturnType<typeof curvesOf>[number];
/** Curves that can share axes. */
export type CurveGroup = ReturnType<typeof groupsOf>[number];

const units: Record<string, string> = { cycles: 'Cycles per load', misses: 'Misses per load', loads: 'Single loads' };
const overs: Record<string, string> = { bytes: 'footprint', pages: 'pages', cycles: 'latency' };

export const unitTitle = (unit: string): string => units[unit] ?? unit;
const overTitle = (xUnit: string): string => overs[xUnit] ?? xUnit;

export function groupsOf(sources: Source[]) {
    const all = sources.flatMap(({ info }) => info.probe!.curves.map(({ xUnit, unit }) => ({ id: `${unit}:${xUnit}`, title: `${unitTitle(unit)} over ${overTitle(xUnit)}`, xUnit, unit })));
    return [...new Map(all.map((each) => [each.id, each])).values()];
}

/** What a probe found of a parameter in numbers. */
const numbered = (findings: TableRow[], { test, variant }: ProbeCurve, parameter: string) =>
    findings
        .filter(({ texts, numbers }) => texts.test === test && texts.variant === variant && texts.parameter === parameter && !Number.isNaN(numbers.value))
        .map(({ texts: { level }, numbers: { value, low, high, truth } }) => ({ level, value, low, high, truth }));

/** Plateaus lie between edges; that of memory behind the last. Without the edge of a level nobody knows how far it reaches. */
function plateausOf(findings: TableRow[], curve: ProbeCurve, edges: ReturnType<typeof numbered>) {
    if (curve.unit !== 'cycles' || edges.length === 0) return [];
    return numbered(findings, curve, 'latency').flatMap(({ level, value, low, high }) => {
        const at = level === 'memory' ? edges.length : edges.findIndex((edge) => edge.level === level);
        if (at < 0) return [];
        const from = edges[at - 1]?.value ?? curve.x[0];
        const to = Math.min(curve.x.at(-1)!, edges[at]?.value ?? Infinity);
        return from < to ? [{ level, value, low, high, from, to }] : [];
    });
}

/** What the short names of curves of single tests stand for (docs/probes.md). */
function nameOf({ test, name }: ProbeCurve): string {
    if (test === 'tlb' && name === 'translation') return 'translation: 1 load per page, less as many packed loads';
    return test === 'tlb' ? name.replace(/^T(\d+)$/, (_, loads) => `T(${loads}): ${loads} ${loads === '1' ? 'load' : 'loads'} per page`) : name;
}

/** All curves of a group, those of the first file (0) first. */
export function curvesOf(sources: Source[], group: CurveGroup) {
    return sources.flatMap((source, file) => {
        const { curves } = source.info.probe!;
        const findings = rowsIn(source.info.probe!.findings);
        const prefix = sources.length > 1 ? `${file + 1} ${titleOf(source).replace(/^probe on /, '')}: ` : '';
        const some = curves.filter((curve) => curve.xUnit === group.xUnit && curve.unit === group.unit);
        return some.map((curve) => {
            // the same in all files
            const name = `${curve.test} ${curve.variant}, ${curve.name}`;
            const label = `${prefix}${curve.test} ${curve.variant}, ${nameOf(curve)}`;
            // where levels end: capacities, or entries of TLBs
            const edges = sort(numbered(findings, curve, { bytes: 'capacity', pages: 'entries' }[curve.xUnit] ?? ''), ({ value }) => value);
            return { id: `${file}/${name.replace(',', '')}`, name, label, file, curve, edges, plateaus: plateausOf(findings, curve, edges) };
        });
    });
}

/** The plateau that a size lies on; NaN where none is known. */
export const plateauAt = ({ plateaus }: Shown, x: number): number => plateaus.find((each) => x >= each.from && x <= each.to)?.value ?? NaN;

/** The value of a curve between its points, on logarithmic axes; NaN outside. Points that were knocked out do not count. */
function valueAt(curve: ProbeCurve, x: number): number {
    const kept = range(curve.x.length).filter((i) => !curve.knockedOut?.[i]);
    const [xs, values] = [curve.x, curve.value].map((column) => kept.map((i) => column[i]));
    const between = (a: number, b: number) => (share: number) => (a > 0 && b > 0 ? a * (b / a) ** share : a + (b - a) * share);
    return x >= xs[0] && x <= xs[xs.length - 1] ? scaleLog(xs, values).interpolate(between)(x) : NaN;
}

export type Against = 'plateaus' | 'first';

/** How far each point lies from its plateau, or from the same curve of the first file: a fraction; NaN where there is none. */
export function residualsOf(shown: Shown, all: Shown[], against: Against): Float64Array {
    const { curve } = shown;
    const twin = all.find(({ file, name }) => file === 0 && shown.file > 0 && name === shown.name);
    return curve.value.map((value, i) => {
        if (curve.knockedOut?.[i]) return NaN;
        const expected = against === 'plateaus' ? plateauAt(shown, curve.x[i]) : twin ? valueAt(twin.curve, curve.x[i]) : NaN;
        return expected > 0 ? value / expected - 1 : NaN;
    });
}

export interface CurvePicture {
    group: CurveGroup;
    shown: Shown[];
    /** Colours by curve: the same whatever is hidden. */
    colour: (shown: Shown) => string;
    /** What is visible of the x axis. */
    view: [number, number];
    log: boolean;
    /** By curve; empty where no residuals are asked for. */
    residuals: Float64Array[];
    residualTitle: string;
}

const [left, right, top, bottom, plotHeight, residualHeight, panelHeight] = [66, 16, 42, 44, 330, 110, 62];
const residualTop = top + plotHeight + 26;

/** The box of the curves on a canvas of this width. */
export const plotBox = (width: number): Box => ({ x: left, y: top, width: Math.max(50, width - left - right), height: plotHeight });

export function heightOf({ group, shown, residuals }: CurvePicture): number {
    if (group.unit === 'loads') return top + Math.max(1, shown.length) * panelHeight + bottom;
    return (residuals.length ? residualTop + residualHeight : top + plotHeight) + bottom;
}

export const xText = (value: number, unit: string): string =>
    unit === 'bytes' ? bytes(Math.round(value)) : (unit === 'pages' ? full : brief)(Math.round(value * 10) / 10);

/** Where values of x lie on the screen. */
function placeOf({ view }: CurvePicture, { x: begin, width }: Box): (x: number) => number {
    const place = scaleLog(view, [begin, begin + width]);
    return (x) => place(Math.max(x, 1e-9));
}

const inView = ({ view: [from, to] }: CurvePicture, x: number): boolean => x >= from * 0.999 && x <= to * 1.001;

/** Powers of two, of cycles round numbers; where few are in sight multiples of a power of two. */
function xTicks([from, to]: [number, number], width: number, unit: string): number[] {
    const octaves = Math.log2(to / from);
    const multiples = (least: number, most: number, step: number) => range(Math.ceil(least / step) * step, most + 1e-9, step);
    if (octaves < 2) return unit === 'cycles' ? ticks(from, to, 6) : multiples(from, to, Math.max(1, 2 ** Math.ceil(Math.log2((to - from) / 6))));
    if (unit === 'cycles') return range(7).flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power)).filter((each) => each >= from && each <= to);
    const step = Math.ceil(octaves / Math.max(3, width / 84));
    return multiples(Math.log2(from), Math.log2(to), step).map((power) => 2 ** power);
}

function drawX(p: Painter, picture: CurvePicture, box: Box): void {
    const { xUnit } = picture.group;
    const place = placeOf(picture, box);
    const title = overTitle(xUnit);
    const marks = xTicks(picture.view, box.width, xUnit).map((tick): [number, string] => [place(tick), xText(tick, xUnit)]);
    drawAcross(p, box, marks, ['bytes', title].includes(xUnit) ? title : `${title} (${xUnit})`, top);
}

/** Edges of levels with their intervals, and what is true; their names above, in two rows. */
function drawEdges(p: Painter, picture: CurvePicture, box: Box): void {
    const place = placeOf(picture, box);
    const [from, to] = [box.y, box.y + box.height];
    const labels: Label[] = [];
    for (const shown of picture.shown) {
        const colour = picture.colour(shown);
        for (const { level, value, low, high, truth } of shown.edges) {
            const [a, b, x] = [place(Math.min(low, value)), place(Math.max(high, value)), place(value)];
            if (b - a > 1.5) p.rect(a, from, b - a, to - from, `${colour}30`);
            p.line([[x, from], [x, to]], colour, 1.2, [6, 3]);
            const text = `${level} ${xText(value, picture.group.xUnit)}`;
            const begin = x - textWidth(text, 11, 600) / 2;
            if (x >= box.x && x <= box.x + box.width) labels.push({ text, colour, weight: 600, places: [[begin, from - 10], [begin, from - 25]] });
            if (!(truth > 0)) continue;
            const true_ = place(truth);
            p.line([[true_ - 5, to], [true_, to - 8], [true_ + 5, to], [true_ - 5, to]], theme().ink, 1.4);
        }
    }
    drawLabels(p, labels.sort((a, b) => a.places[0][0] - b.places[0][0]), Infinity);
}

/** What a load costs between two edges; names further to the right where their place is taken. */
function drawPlateaus(p: Painter, picture: CurvePicture, box: Box, up: (value: number) => number): void {
    const place = placeOf(picture, box);
    const labels: Label[] = [];
    for (const shown of picture.shown)
        for (const { level, value, low, high, from, to } of shown.plateaus) {
            const [a, b] = [Math.max(box.x, place(from)), Math.min(box.x + box.width, place(to))];
            if (a >= b) continue;
            const colour = picture.colour(shown);
            if (low < high) p.rect(a, up(high), b - a, Math.max(1, up(low) - up(high)), `${colour}22`);
            p.line([[a, up(value)], [b, up(value)]], colour, 1.2, [2, 4]);
            const text = `${level} ${brief(value)}`;
            const room = b - a - textWidth(text, 11, 600) - 4;
            const places = range(0, room, 12).map((shift): Point => [a + 4 + shift, up(value) - 8]);
            if (room > 0) labels.push({ text, colour, weight: 600, places });
        }
    drawLabels(p, labels.sort((a, b) => a.places[0][0] - b.places[0][0]), 120);
}

/** Lines and dots, and crosses where sizes were left out. `value`: where points lie. */
function drawPoints(p: Painter, picture: CurvePicture, box: Box, value: (c: number, i: number) => number): void {
    const place = placeOf(picture, box);
    const curves = picture.shown.map((shown, c) => {
        const all = Array.from(shown.curve.x, (x, i): Point => [place(x), value(c, i)]);
        const [points, out] = [false, true].map((wanted) => all.filter(([, y], i) => Number.isFinite(y) && !!shown.curve.knockedOut?.[i] === wanted));
        return { points, out, colour: picture.colour(shown), width: 1.6, dash: [[], [7, 3], [2, 3], [9, 3, 2, 3]][shown.file % 4] };
    });
    drawLines(p, curves);
    const radii = dotRadii(curves.flatMap(({ points }) => points), 2.6);
    let next = 0;
    for (const { points, out, colour } of curves) {
        for (const [x, y] of points) p.dot(x, y, radii[next++], colour);
        for (const [x, y] of out) for (const up of [3.5, -3.5]) p.line([[x - 3.5, y - up], [x + 3.5, y + up]], colour, 1.3);
    }
}

function drawResiduals(p: Painter, picture: CurvePicture, box: Box): void {
    const seen = picture.shown.map(({ curve }, c) => picture.residuals[c].filter((_, i) => inView(picture, curve.x[i])));
    const scale = valueScale(extentOf(...seen, [0.001, -0.001]), 'linear', { symmetric: true });
    const up = upIn(box, scale);
    p.text(box.x, box.y - 9, picture.residualTitle, { colour: theme().faint, size: 11.5 });
    drawUp(p, box, scale, percentTick);
    p.within(box.x, box.y - 4, box.width, box.height + 8, () => drawPoints(p, picture, box, (c, i) => up(picture.residuals[c][i])));
}

export function drawCurves(p: Painter, picture: CurvePicture): void {
    if (picture.group.unit === 'loads') return drawLatencies(p, picture);
    const box = plotBox(p.width);
    const values = picture.shown.flatMap(({ curve, plateaus }) => [
        ...curve.value.filter((_, i) => inView(picture, curve.x[i])),
        ...plateaus.filter(({ from, to }) => to >= picture.view[0] && from <= picture.view[1]).map(({ value }) => value),
    ]);
    const scale = valueScale(extentOf(picture.log ? values.filter((each) => each > 0) : values), picture.log ? 'log' : 'linear');
    const up = upIn(box, scale);
    const under = { ...box, y: residualTop, height: residualHeight };
    drawX(p, picture, picture.residuals.length ? under : box);
    drawUp(p, box, scale, brief, unitTitle(picture.group.unit).toLowerCase());
    p.within(box.x, 0, box.width, box.y + box.height, () => drawEdges(p, picture, box));
    p.within(box.x, box.y - 4, box.width, box.height + 8, () => {
        drawPlateaus(p, picture, box, up);
        drawPoints(p, picture, box, (c, i) => up(picture.shown[c].curve.value[i]));
    });
    if (picture.residuals.length) drawResiduals(p, picture, under);
}

/** A row of bars per curve: the share of the loads by how long they took. */
function drawLatencies(p: Painter, picture: CurvePicture): void {
    const { ink, faint, line } = theme();
    const box = { ...plotBox(p.width), height: Math.max(1, picture.shown.length) * panelHeight };
    const place = placeOf(picture, box);
    drawX(p, picture, box);
    picture.shown.forEach((shown, row) => {
        const { x, value } = shown.curve;
        const base = top + (row + 1) * panelHeight - 4;
        const all = sum(value);
        const most = Math.max(...value);
        const boxes = Array.from(x, (at, i) => {
            const width = Math.max(2, place(at + 0.5) - place(Math.max(at - 0.5, at / 2)));
            const high = Math.max(1, (value[i] / most) * (panelHeight - 24));
            return [place(at) - width / 2, base - high, width, high];
        });
        p.line([[left, base], [left + box.width, base]], line);
        p.within(left, base - panelHeight, box.width, panelHeight + 1, () => p.rects(boxes.flat(), picture.colour(shown)));
        p.text(left + 4, base - panelHeight + 14, `${shown.label}: ${brief(all)} loads`, { colour: ink, size: 11.5 });
        p.text(left - 8, base - panelHeight + 24, percentTick(most / all), { colour: faint, size: 11, anchor: 'end' });
    });
}
