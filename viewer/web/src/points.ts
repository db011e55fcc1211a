// SPDX-License-Identifier: BSD-3-Clause
// Points of campaigns, and cells of sweeps as such: what they differ by, what was measured, and medians of it by any parameters.
import { groups, median, range, sort } from 'd3-array';
import { bytes } from './numbers';

/** What points differ by: its values, numbers from the least on; of each point which of them it has (-1: none). */
export type Parameter = { name: string; values: (string | number)[]; of: Int32Array };

/** What was measured of each point; NaN: not known. */
export interface Measure {
    name: string;
    of: ArrayLike<number>;
    /** Of which two columns it is the ratio; it is not in the file. */
    ratio?: [string, string];
}

export interface Points {
    /** Where the file has the columns. */
    group: string;
    numbers: ArrayLike<number>;
    parameters: Parameter[];
    measures: Measure[];
}

/** What is chosen of points: by names of parameters and a measure. */
export interface Pivot {
    down: Parameter;
    across: Parameter;
    /** One picture for each of its values. */
    facet: Parameter | null;
    measure: Measure;
}

/** The points of one place in a pivot; of two files the median is what the second has more. */
export interface PivotCell {
    /** Its values of facet (-1: there is none), down and across. */
    at: [number, number, number];
    /** Those whose value is known. */
    points: number[];
    /** NaN: of none it is known. */
    median: number;
}

export function parameterOf(name: string, column: ArrayLike<string | number> & Iterable<string | number>): Parameter {
    const values = [...new Set(column)].filter((value) => value !== '' && !Number.isNaN(value));
    if (typeof values[0] === 'number') values.sort((a, b) => Number(a) - Number(b));
    const places = new Map(values.map((value, i) => [value, i]));
    return { name, values, of: Int32Array.from(column, (value) => places.get(value) ?? -1) };
}

/** Sizes of caches are in bytes. */
export function valueText({ name, values }: Parameter, at: number): string {
    const value = values[at];
    return typeof value === 'number' && name.endsWith('.size') ? bytes(value) : String(value);
}

export const isFraction = ({ name, ratio }: Measure): boolean => ratio !== undefined || name === 'error' || name === 'slowdown';
export const isKnown = ({ of }: Measure): boolean => Array.prototype.some.call(of, (value: number) => !Number.isNaN(value));

/** Those that differ; those that most points have first, numbers, and those with most values; seeds only repeat. As viewer/campaign_view.cpp. */
export function byInterest({ parameters }: Points): Parameter[] {
    const interest = ({ values, of }: Parameter) => [+(2 * of.filter((at) => at < 0).length <= of.length), +(typeof values[0] === 'number'), values.length];
    const differing = parameters.filter(({ name, values }) => values.length > 1 && name !== 'seed');
    return sort(differing, ...[0, 1, 2].map((i) => (each: Parameter) => -interest(each)[i]));
}

/** `chosen`: of parameters by name the values that points must have one of. */
export function cellsOf({ numbers }: Points, { down, across, facet, measure }: Pivot, chosen: [Parameter, number[]][]): { cells: PivotCell[]; leftOut: number } {
    const placeOf = (i: number): PivotCell['at'] => [facet ? facet.of[i] : -1, down.of[i], across.of[i]];
    const some = range(numbers.length).filter((i) => chosen.every(([{ of }, values]) => values.includes(of[i])));
    const placed = some.filter((i) => placeOf(i).every((at, which) => at >= 0 || (which === 0 && !facet)));
    const cells = groups(placed, (i) => String(placeOf(i))).map(([, own]): PivotCell => {
        const points = own.filter((i) => !Number.isNaN(measure.of[i]));
        return { at: placeOf(own[0]), points, median: median(points, (i) => measure.of[i]) ?? NaN };
    });
    return { cells: sort(cells, ({ at }) => at[0], ({ at }) => at[1], ({ at }) => at[2]), leftOut: some.length - placed.length };
}

export const named = <T extends { name: string }>(list: T[], name = ''): T | undefined => list.find((each) => each.name === name);

/** Medians of other points at the same values of the same parameters, by cell (NaN where there are none), and all of theirs. */
export function twinsOf(cells: PivotCell[], pivot: Pivot, other: Points, chosen: [Parameter, number[]][]): { twins: number[]; all: number[] } {
    const own = [pivot.facet, pivot.down, pivot.across];
    const theirs = own.map((each) => each && named(other.parameters, each.name));
    const measure = named(other.measures, pivot.measure.name);
    if (!measure || theirs.some((each) => each === undefined)) return { twins: cells.map(() => NaN), all: [] };
    const filters = chosen.flatMap(([{ name, values }, places]): [Parameter, number[]][] => {
        const twin = named(other.parameters, name);
        return twin ? [[twin, places.map((i) => twin.values.indexOf(values[i]))]] : [];
    });
    const [facet, down, across] = theirs as [Parameter | null, Parameter, Parameter];
    const key = (at: PivotCell['at'], parameters: (Parameter | null)[]) => JSON.stringify(parameters.map((each, i) => each?.values[at[i]]));
    const found = new Map(cellsOf(other, { facet, down, across, measure }, filters).cells.map(({ at, median: value }) => [key(at, [facet, down, across]), value]));
    return { twins: cells.map(({ at }) => found.get(key(at, own)) ?? NaN), all: [...found.values()] };
}
