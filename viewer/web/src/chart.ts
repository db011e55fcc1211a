// SPDX-License-Identifier: BSD-3-Clause
// What plots of curves and points have in common: scales of values, axes, curves that lie on each other, names beside their ends or in free places.
import { bisectLeft, group, max, mean, min, pairs, sort } from 'd3-array';
import { scaleLinear, scaleLog, scaleSymlog } from 'd3-scale';
import { answer, scaleOf } from './core';
import { textWidth, theme, type Box, type Painter, type Point } from './paint';

/** `auto`: logarithmic where values lie far apart (of values), or linear and cut where some lie far above the rest (of counts over addresses). */
export type Wanted = 'linear' | 'log' | 'auto';

/** Of values that are known: the least and the most; the smallest and the largest magnitude of those that are not 0. */
export function extentOf(...lists: Iterable<number>[]) {
    const known = lists.flatMap((list) => [...list]).filter(Number.isFinite);
    const sizes = known.filter((value) => value !== 0).map(Math.abs);
    return { least: min(known) ?? Infinity, most: max(known) ?? -Infinity, small: min(sizes) ?? Infinity, large: max(sizes) ?? -Infinity };
}

export type ValueScale = ReturnType<typeof valueScale>;

const spreads = ['linear', 'logarithmic', 'symmetric logarithmic'] as const;

/** By viewer/core/value_scale.hpp. `at`: 0 .. 1 from the bottom to the top; beyond where the value lies beyond. */
export function valueScale({ least, most, small, large }: ReturnType<typeof extentOf>, wanted: Wanted, { symmetric = false, tight = false, about = 5 } = {}) {
    const [spreadIndex, bottom, top, unit, ...ticks] = answer('value_scale', least, most, small, large, scaleOf(wanted), symmetric, tight, about).numbers;
    const spread = spreads[spreadIndex];
    const scale = spread === 'linear' ? scaleLinear([bottom, top], [0, 1]) : spread === 'logarithmic' ? scaleLog([bottom, top], [0, 1]) : scaleSymlog([bottom, top], [0, 1]).constant(unit);
    const at = (value: number): number => (spread === 'logarithmic' ? (value > 0 ? Math.max(0, scale(value)) : 0) : scale(value));
    return { spread, at, ticks };
}

/** Where values of a scale lie in a box. */
export const upIn = ({ y, height }: Box, scale: ValueScale) => (value: number): number => y + height * (1 - scale.at(value));

/** Grid lines, numbers to the left of them, and what they are of, upright. */
export function drawUp(p: Painter, box: Box, scale: ValueScale, text: (value: number) => string, title = ''): void {
    const { grid, faint, line } = theme();
    const { x, y, width, height } = box;
    const place = upIn(box, scale);
    const named: number[] = [];
    // of numbers that would lie over each other the larger stays, and 0
    for (const tick of [...scale.ticks].sort((a, b) => (a === 0 ? -1 : b === 0 ? 1 : Math.abs(b) - Math.abs(a)))) {
        const at = place(tick);
        if (at < y - 1 || at > y + height + 1) continue;
        p.line([[x, at], [x + width, at]], tick === 0 ? line : grid);
        if (named.some((each) => Math.abs(each - at) < 11)) continue;
        p.text(x - 7, at, text(tick), { colour: faint, size: 11, anchor: 'end' });
        named.push(at);
    }
    if (title) p.text(11, y + height / 2, title, { colour: faint, size: 12, anchor: 'middle', upright: true });
}

/** The line under a box, numbers at places of it as far as they do not lie over each other, and what they are of; `from`: lines go up to here. */
export function drawAcross(p: Painter, { x, y, width, height }: Box, ticks: [number, string][], title: string, from?: number): void {
    const { grid, faint, line } = theme();
    const end = y + height;
    let free = -Infinity;
    for (const [at, text] of sort(ticks, ([at]) => at)) {
        if (from !== undefined) p.line([[at, from], [at, end]], grid);
        const half = textWidth(text, 11) / 2;
        if (at - half < free) continue;
        free = at + half + 3;
        p.text(at, end + 14, text, { colour: faint, size: 11, anchor: 'middle' });
    }
    p.line([[x, end], [x + width, end]], line);
    p.text(x + width / 2, end + 32, title, { colour: faint, size: 12, anchor: 'middle' });
}

/** Says why there is nothing to see; `box`: where, if not in the whole picture. */
export function drawNote(p: Painter, text: string, { x, y, width, height }: Box = { ...p, x: 0, y: 0 }): void {
    p.text(x + width / 2, y + height / 2, text, { colour: theme().faint, size: 13, anchor: 'middle' });
}

export type Curve = { points: Point[]; colour: string; width: number; dash: number[] };
const stripe = 7;
/** Two ends as they are seen; the same for what lies on each other. */
const placeOf = (...points: Point[]): string => points.map(([x, y]) => `${Math.round(2 * x)},${Math.round(2 * y)}`).join(' ');

/** Of each key, in order, which of how many it is. */
function ranks(keys: string[]): [number, number][] {
    const alike = group(keys.keys(), (i) => keys[i]);
    return keys.map((key, i) => [bisectLeft(alike.get(key)!, i), alike.get(key)!.length]);
}

/** Where several share a stretch each shows in turn, so that none is hidden. */
export function drawCurves(p: Painter, curves: Curve[]): void {
    const shared = ranks(curves.flatMap(({ points }) => pairs(points).map((ends) => placeOf(...ends))));
    let next = 0;
    for (const { points, colour, width, dash } of curves) {
        let alone = points.slice(0, 1);
        const flush = (then: Point[]) => {
            if (alone.length > 1) p.line(alone, colour, width, dash);
            alone = then;
        };
        for (const [from, to] of pairs(points)) {
            const [rank, of] = shared[next++];
            if (of === 1) {
                alone.push(to);
                continue;
            }
            flush([to]);
            const length = Math.min(stripe, Math.hypot(to[0] - from[0], to[1] - from[1]) / of);
            if (length > 0) p.line([from, to], colour, width, [0, rank * length, length, (of - 1 - rank) * length]);
        }
        flush([]);
    }
}

/** Radii of dots in the order in which they are drawn: of those on one place the first are larger, and show as rings. */
export const dotRadii = (places: Point[], radius: number): number[] =>
    ranks(places.map((each) => placeOf(each))).map(([rank, of]) => radius + (of > 1 ? Math.min(1.8, 6 / (of - 1)) * (of - 1 - rank) : 0));

const labelHeight = 14;

/** Places at least a label apart, in order, as near as they can be to what is wanted: groups that touch share how far each is moved. */
function movedApart(wanted: number[], least: number, most: number): number[] {
    const groups: number[][] = [];
    wanted.forEach((each, i) => {
        groups.push([each - i * labelHeight]);
        while (groups.length > 1 && mean(groups.at(-2)!)! >= mean(groups.at(-1)!)!) groups.push(groups.splice(-2).flat());
    });
    const room = Math.max(least, most - (wanted.length - 1) * labelHeight);
    const places = groups.flatMap((own) => own.map(() => Math.min(room, Math.max(least, mean(own)!))));
    return places.map((each, i) => each + i * labelHeight);
}

/** Names of curves beside their ends, each with a line to its own. */
export function drawEnds(p: Painter, { x, y, width, height }: Box, labels: { end: Point; text: string; colour: string }[]): void {
    labels.sort((a, b) => a.end[1] - b.end[1]);
    const ys = movedApart(labels.map(({ end }) => end[1]), y, y + height);
    const at = x + width + 18;
    labels.forEach(({ end, text, colour }, i) => {
        p.line([end, [at - 3, ys[i]]], colour);
        p.text(at, ys[i], text, { colour, size: 12, weight: 600 });
    });
}

/** Pixels that names beside the ends of curves take. */
export const endsWidth = (names: string[]): number => Math.max(84, 30 + Math.max(...names.map((each) => textWidth(each, 12, 600))));
/** High enough for a name per curve beside the lines. */
export const endsHeight = (names: string[]): number => Math.max(320, 60 + labelHeight * names.length);

export interface Label {
    text: string; colour: string; weight?: number;
    /** Where it may begin, the best first. */
    places: Point[];
    /** Where a line leads to it `from` its point. */
    far?: Point[]; from?: Point;
}

/** Each name at the first of its places where it hides no other; left out where there is none, or where it stands already within `apart` pixels. */
export function drawLabels(p: Painter, labels: Label[], apart = 0): void {
    const taken: { x: number; y: number; width: number; text: string }[] = [];
    for (const { text, colour, weight = 400, places, far = [], from } of labels) {
        const width = textWidth(text, 11, weight);
        const free = ([x, y]: Point) => taken.every((each) => Math.abs(each.y - y) > 12 || x + width + 4 < each.x || x > each.x + each.width + 4);
        const place = [...places, ...far].find(free);
        if (!place || taken.some((each) => each.text === text && Math.abs(each.x - place[0]) < apart)) continue;
        const [x, y] = place;
        taken.push({ x, y, width, text });
        if (from && !places.includes(place)) p.line([from, [Math.min(Math.max(from[0], x), x + width), Math.min(Math.max(from[1], y - 6), y + 6)]], colour, 0.7);
        p.rect(x - 1, y - 6, width + 2, 12, `${theme().panel}cc`);
        p.text(x, y, text, { colour, size: 11, weight });
    }
}
