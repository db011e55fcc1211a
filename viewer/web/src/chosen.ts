// SPDX-License-Identifier: BSD-3-Clause
// What is looked at on the workbench: the state in the URL, in terms of the file.
import { chosenPhases, differs, phaseCount, shows, type App, type Show } from './app';
import { placeOf, rangeOf, wholeLines } from './axis';
import { causeNames, cubeOf, firstLevels, type Cube, type Filter } from './cube';
import type { AddressRange, Axis, Structure } from './protocol';
import { readPhases, type State } from './state';

export type Chosen = NonNullable<ReturnType<typeof chosenOf>>;

const misses = (all: Show[]) => all.find((each) => each.id === 'misses');

/** What is shown, and of which series; what the file tells apart at this level (`cube`, null for links and monitors) and the filter in it, phases left
 * out; the number of a cause, or -1 (`unknown`: one is chosen that the file does not tell apart); phases, addresses: null is all. `whole`: what is filtered by is known of data structures as a whole alone. */
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
    const filter = filterByNames(cube, state);
    const cause = cube?.causes ? causeNames.indexOf(state.cause ?? '') : -1;
    const unknown = series.kind === 'level' && !!state.cause && cause < 0;
    const selection = state.structure ? linesOf(info.structures, state.structure, series.unit) : parseSelection(state.sel);
    const whole = cause >= 0 || filter.core !== undefined || filter.function !== undefined || (filter.structure !== undefined && !selection);
    // what is subtracted
    const minus = whole || differs(app) ? null : readPhases(state.minus, phaseCount(app.source)).phases;
    const rate = show.quantity === 'missrate' && cause < 0;
    return { show, series, cube, filter, cause, unknown, rate, phases: chosenPhases(app), minus, selection, whole };
}

/** The names that are chosen, as numbers of what a file tells apart; of a name that it does not know, none. */
export function filterByNames(cube: Cube | null, { structure, core, func }: State): Filter {
    const numbers = (by: keyof Filter, name: string) => [cube!.dimensions[by]?.names.indexOf(name) ?? -1].filter((each) => each >= 0);
    const chosen: [keyof Filter, string | undefined][] = [['structure', structure], ['core', core], ['function', func]];
    return Object.fromEntries(chosen.flatMap(([by, name]) => (cube && name ? [[by, numbers(by, name)]] : [])));
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

/** All lines of which a part is in the structures of a name; null where these have no place. */
export function linesOf(structures: Structure[], name: string, unit: number): AddressRange[] | null {
    const places = structures.filter((each) => each.name === name && each.bytes > 0).map((each) => wholeLines(rangeOf(each), unit));
    return places.length ? places.sort((a, b) => (a[0] < b[0] ? -1 : 1)) : null;
}

/** The structures that a selection reaches into. */
export const structuresIn = (structures: Structure[], selection: AddressRange[]): Structure[] =>
    structures.filter(({ base, bytes }) => bytes > 0 && selection.some(([from, to]) => base < to && base + BigInt(bytes) > from));
