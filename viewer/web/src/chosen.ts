// SPDX-License-Identifier: BSD-3-Clause
// What is looked at on the workbench: the state in the URL, in terms of the file.
import { chosenPhases, phaseCount, shows, type App, type Show } from './app';
import { placeOf, rangeOf, wholeLines } from './axis';
import { causeNames, cubeOf, firstLevels, type Filter } from './cube';
import type { AddressRange, Axis, Structure } from './protocol';
import { parsePhases, type State } from './state';

export type Chosen = NonNullable<ReturnType<typeof chosenOf>>;

const misses = (all: Show[]) => all.find((each) => each.id === 'misses');

/** What is shown, and of which series; what the file tells apart at this level (`cube`, null for links and monitors) and the filter in it, phases left
 * out; the number of a cause, or -1; phases, addresses: null is all. `whole`: what is filtered by is known of data structures as a whole alone. */
export function chosenOf(app: App) {
    const { info } = app.source;
    const { state } = app;
    const all = shows(app.source);
    const show = all.find((each) => each.id === state.show) ?? misses(all) ?? all[0];
    if (!show) return null;
    const list = show.series.filter((each) => each.rows > 0);
    const usual = show.series[0].kind === 'level' ? firstLevels(info) : [];
    const series =
        list.find((each) => each.owner === state.level) ?? list.find((each) => each.owner === usual[0]) ?? list[0] ?? show.series[0];
    const cube = series.kind === 'level' ? cubeOf(info, series.owner) : null;
    const filter: Filter = {};
    const add = (by: keyof Filter, name: string | undefined) => {
        const number = name ? (cube?.dimensions[by]?.names.indexOf(name) ?? -1) : -1;
        if (number >= 0) filter[by] = [number];
    };
    add('structure', state.structure);
    add('core', state.core);
    add('function', state.func);
    const cause = cube?.causes ? causeNames.indexOf(state.cause ?? '') : -1;
    const selection = parseSelection(state.sel);
    const whole = cause >= 0 || filter.core !== undefined || filter.function !== undefined || (filter.structure !== undefined && !selection);
    // what is subtracted
    const minus = whole ? null : parsePhases(state.minus, phaseCount(app.source));
    const rate = show.quantity === 'missrate' && cause < 0;
    return { show, series, cube, filter, cause, rate, phases: chosenPhases(app), minus, selection, whole };
}

/** "0x1000-0x2000,0x8000-0x8040" as addresses, sorted; null where there are none. */
function parseSelection(text: string | undefined): AddressRange[] | null {
    const found = (text ?? '').split(',').flatMap((part): AddressRange[] => {
        const match = /^(0x[0-9a-f]{1,16})-(0x[0-9a-f]{1,17})$/i.exec(part);
        if (!match) return [];
        const [from, to] = [BigInt(match[1]), BigInt(match[2])];
        return from < to ? [[from, to]] : [];
    });
    return found.length ? found.sort((a, b) => (a[0] < b[0] ? -1 : 1)) : null;
}

export const selectionText = (ranges: AddressRange[]): string => ranges.map(([from, to]) => `0x${from.toString(16)}-0x${to.toString(16)}`).join();

/** The stretches of the axis that addresses take. */
export const stretchesOf = (axis: Axis, ranges: AddressRange[] | null): [number, number][] | null =>
    ranges && ranges.map((each) => placeOf(axis, each)).filter((each) => each !== null);

/** What selecting a structure by its name changes: its addresses, all lines of which a part is in it. */
export function selectStructure(structures: Structure[], name: string, unit: number): Partial<State> {
    const places = structures.filter((each) => each.name === name && each.bytes > 0);
    return { structure: name, sel: selectionText(places.map((each) => wholeLines(rangeOf(each), unit))) };
}

/** The structures that a selection reaches into. */
export const structuresIn = (structures: Structure[], selection: AddressRange[]): Structure[] =>
    structures.filter(({ base, bytes }) => bytes > 0 && selection.some(([from, to]) => base < to && base + BigInt(bytes) > from));
