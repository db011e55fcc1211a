// SPDX-License-Identifier: BSD-3-Clause
// Scales of values: linear, logarithmic, and symmetric logarithmic where values of both signs or zeros lie far apart.
import { max, min, ticks } from 'd3-array';
import { scaleLinear, scaleLog, scaleSymlog } from 'd3-scale';

export type Spread = 'linear' | 'logarithmic' | 'symmetric logarithmic';
/** `auto`: logarithmic where values lie far apart. */
export type Wanted = 'linear' | 'log' | 'auto';

/** Values whose magnitudes differ by more than this are drawn on a logarithmic scale. */
const far = 30;

/** Extent of values that are known. */
export interface Extent {
    least: number;
    most: number;
    /** The smallest and the largest magnitude of those that are not 0. */
    small: number;
    large: number;
}

export function extentOf(...lists: Iterable<number>[]): Extent {
    const known = lists.flatMap((list) => [...list]).filter(Number.isFinite);
    const sizes = known.filter((value) => value !== 0).map(Math.abs);
    return { least: min(known) ?? Infinity, most: max(known) ?? -Infinity, small: min(sizes) ?? Infinity, large: max(sizes) ?? -Infinity };
}

function spreadOf({ least, small, large }: Extent, wanted: Wanted): Spread {
    if (!(large >= small) || wanted === 'linear') return 'linear';
    if (wanted === 'auto' && large <= far * small) return 'linear';
    return least > 0 ? 'logarithmic' : 'symmetric logarithmic';
}

export interface ValueScale {
    spread: Spread;
    /** 0 .. 1 from the bottom to the top; beyond where the value lies beyond. */
    at: (value: number) => number;
    ticks: number[];
}

/** Powers of ten from `least` to `most`, at most about five; where there are fewer than two, steps of 1, 2, 5. */
function logTicks(least: number, most: number): number[] {
    const step = Math.max(1, Math.round((Math.log10(most) - Math.log10(least)) / 4));
    const found: number[] = [];
    for (let at = 10 ** Math.ceil(Math.log10(least) - 1e-9); at <= most; at *= 10 ** step) found.push(at);
    if (found.length >= 2) return found;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10, 20, 50].map((each) => each * power).filter((each) => each >= least && each <= most);
}

/** 0 and powers of ten on both sides, at most three, evenly from the largest down. */
function symlogTicks(unit: number, least: number, most: number): number[] {
    const all = Math.floor(Math.log10(Math.max(most, -least) / unit) + 1e-9) + 1;
    const step = Math.ceil(all / 3);
    const side: number[] = [];
    for (let power = all - 1; power >= 0; power -= step) side.unshift(unit * 10 ** power);
    return [...side.filter((each) => each <= -least).map((each) => -each).reverse(), 0, ...side.filter((each) => each <= most)];
}

interface Options {
    /** 0 in the middle. */
    symmetric?: boolean;
    /** From the least to the most value, without 0 and without room at the ends. */
    tight?: boolean;
    /** How many ticks, about. */
    about?: number;
}

export function valueScale(extent: Extent, wanted: Wanted, { symmetric = false, tight = false, about = 5 }: Options = {}): ValueScale {
    const { least, most, small, large } = extent;
    const spread = spreadOf(extent, wanted);
    const whole = tight || spread === 'logarithmic' ? [least, most] : [Math.min(0, least), Math.max(0, most)];
    const [from, end] = symmetric && large > 0 ? [-large, large] : whole;
    const to = end > from || spread !== 'linear' ? end : from + 1;
    // linear up to a power of ten not above the least magnitude, at most six below the largest
    const unit = 10 ** Math.floor(Math.log10(Math.max(small, large / 1e6)) + 1e-9);
    const scale = spread === 'linear' ? scaleLinear() : spread === 'logarithmic' ? scaleLog() : scaleSymlog().constant(unit);
    const room = tight ? 0 : 0.06;
    scale.domain([from, to]).range([from < 0 || spread === 'logarithmic' ? room : 0, 1 - room]);
    const [bottom, top] = tight ? [from, to] : [scale.invert(0), scale.invert(1)];
    const found = spread === 'linear' ? ticks(bottom, top, about) : spread === 'logarithmic' ? logTicks(bottom, top) : symlogTicks(unit, from, to);
    const at = (value: number) => (spread === 'logarithmic' ? (value > 0 ? Math.max(0, scale(value)) : 0) : scale(value));
    return { spread, at, ticks: found };
}
