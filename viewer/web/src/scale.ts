// SPDX-License-Identifier: BSD-3-Clause
// Scales of values: linear, logarithmic, and symmetric logarithmic where values of both signs or zeros lie far apart.
import { powers, ticks } from './numbers';

export type ScaleName = 'linear' | 'logarithmic' | 'symmetric logarithmic';

/** A symmetric logarithm: linear up to `unit` on both sides of 0, by factors beyond; odd and ascending. */
export const symlog = (value: number, unit: number): number =>
    Math.sign(value) * (Math.abs(value) <= unit ? Math.abs(value) / unit : 1 + Math.log10(Math.abs(value) / unit));

/** The value of a symmetric logarithm. */
export const unsymlog = (place: number, unit: number): number =>
    Math.sign(place) * unit * (Math.abs(place) <= 1 ? Math.abs(place) : 10 ** (Math.abs(place) - 1));

/** Where the linear part of a symmetric logarithmic scale ends: a power of ten not above the least magnitude, at most six below the
 * largest. */
export const symlogUnit = (leastMagnitude: number, mostMagnitude: number): number =>
    10 ** Math.floor(Math.log10(Math.max(leastMagnitude, mostMagnitude / 1e6)) + 1e-9);

/** Ticks of a symmetric logarithmic scale: 0 and powers of ten on both sides, at most three, evenly from the largest down. */
export function symlogTicks(unit: number, least: number, most: number): number[] {
    const all = Math.floor(Math.log10(Math.max(most, -least) / unit) + 1e-9) + 1;
    const step = Math.ceil(all / 3);
    const side: number[] = [];
    for (let power = all - 1; power >= 0; power -= step) side.unshift(unit * 10 ** power);
    return [...side.filter((each) => each <= -least).map((each) => -each).reverse(), 0, ...side.filter((each) => each <= most)];
}

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

export function extentOf(values: number[]): Extent {
    const known = values.filter((each) => Number.isFinite(each));
    const sizes = known.map(Math.abs).filter((each) => each > 0);
    return {
        least: Math.min(...known),
        most: Math.max(...known),
        small: Math.min(...sizes),
        large: Math.max(...sizes),
    };
}

/** What suits values: `auto` is logarithmic where they lie far apart; with zeros or both signs, symmetric. */
export function scaleNameOf({ least, small, large }: Extent, wanted: 'linear' | 'log' | 'auto'): ScaleName {
    if (!(large >= small) || wanted === 'linear') return 'linear';
    if (wanted === 'auto' && large <= far * small) return 'linear';
    return least > 0 ? 'logarithmic' : 'symmetric logarithmic';
}

/** An axis of values: 0 .. 1 from the bottom to the top, with a little room at the ends, and its ticks. */
export interface ValueAxis {
    name: ScaleName;
    at: (value: number) => number;
    ticks: number[];
}

/** Ticks of a logarithmic axis; where it has fewer than two powers of ten, steps of 1, 2, 5. */
function logTicks(least: number, most: number): number[] {
    const found = powers(least, most);
    if (found.length >= 2) return found;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10, 20, 50].map((each) => each * power).filter((each) => each >= least && each <= most);
}

export function valueAxis(values: number[], wanted: 'linear' | 'log' | 'auto'): ValueAxis {
    const extent = extentOf(values);
    const name = scaleNameOf(extent, wanted);
    const between = (from: number, to: number, by: (value: number) => number) => (value: number) =>
        (by(value) - from) / (to - from);
    if (name === 'logarithmic') {
        const [least, most] = [extent.least / 1.3, extent.most * 1.3];
        const by = (value: number) => Math.log(Math.max(value, least));
        return { name, at: between(by(least), by(most), by), ticks: logTicks(least, most) };
    }
    const least = Math.min(0, extent.least);
    const most = Math.max(0, extent.most);
    if (name === 'symmetric logarithmic') {
        const unit = symlogUnit(extent.small, extent.large);
        const by = (value: number) => symlog(value, unit);
        const room = (by(most) - by(least)) * 0.06;
        const [from, to] = [by(least) - (least < 0 ? room : 0), by(most) + room];
        return { name, at: between(from, to, by), ticks: symlogTicks(unit, least, most) };
    }
    if (!(most > least)) return { name, at: () => 0, ticks: [0] };
    const [from, to] = [least * 1.1, most * 1.1];
    const steps = ticks(Math.max(most, -least) * 1.1, 5);
    const down = steps.slice(1).map((each) => -each).reverse();
    return { name, at: between(from, to, (value) => value), ticks: [...down, ...steps].filter((each) => each >= from && each <= to) };
}
