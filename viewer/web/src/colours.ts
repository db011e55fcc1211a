// SPDX-License-Identifier: BSD-3-Clause
// Colours that people with any colour vision can tell apart (after Okabe and Ito), for light and dark. Those of viewer/drawing.json are those
// of figures for print, too.
import { dark as drawnDark, light as drawnLight } from '../../drawing.json';

export interface Theme {
    dark: boolean;
    page: string;
    panel: string;
    ink: string;
    faint: string;
    line: string;
    grid: string;
    accent: string;
    accesses: string;
    misses: string;
    hits: string;
    missrate: string;
    count: string;
    marker: string;
    /** Cells that have lines, but no counts; where there are no lines the panel shows. */
    zero: string;
    /** By causeNames; told apart from structures, which are pale. */
    causes: string[];
    structures: string[];
    /** Distinct also in brightness. */
    curves: string[];
    /** From what is near the ground to what stands out: even in brightness (after cividis: Nunez, Anderton and Renslow 2018). */
    ramp: string[];
}

const light: Theme = {
    ...drawnLight,
    dark: false,
    page: '#f6f7f9',
    panel: '#ffffff',
    ink: '#1c2430',
    faint: '#5d6878',
    line: '#c9d0da',
    grid: '#e8ecf1',
    accent: '#0b62a8',
    count: '#46708f',
};

const dark: Theme = {
    ...drawnDark,
    dark: true,
    page: '#12161c',
    panel: '#1a2029',
    ink: '#e6eaf0',
    faint: '#9aa6b6',
    line: '#3a4553',
    grid: '#262e39',
    accent: '#6db6f2',
    count: '#86b3d1',
};

export function theme(): Theme {
    return document.documentElement.dataset.theme === 'dark' ? dark : light;
}

export const curves = (): string[] => theme().curves;

const manyLight = ['#3b0f70', '#0072b2', '#00906f', '#5f7a00', '#b8860b', '#d55e00', '#b0305c', '#8a6fb0'];
const manyDark = ['#9d8bff', '#56a9e4', '#3fc19a', '#b5d04a', '#f0c04a', '#f08a3c', '#ef6a8f', '#d9b8f0'];

/** As many colours as there are curves, each another: above the number of `curves()` in between those of a row. */
export function distinctColours(count: number): string[] {
    const few = curves();
    if (count <= few.length) return few.slice(0, count);
    const row = (theme().dark ? manyDark : manyLight).map(toRgb);
    const hex = (part: number) => part.toString(16).padStart(2, '0');
    return Array.from({ length: count }, (_, i) => `#${mix(row, i / (count - 1)).map(hex).join('')}`);
}

const toRgb = (colour: string) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function mix(colours: number[][], at: number): [number, number, number] {
    const place = Math.min(0.9999, Math.max(0, at)) * (colours.length - 1);
    const i = Math.floor(place);
    const share = place - i;
    return [0, 1, 2].map((c) => Math.round(colours[i][c] * (1 - share) + colours[i + 1][c] * share)) as [
        number,
        number,
        number,
    ];
}

const [darkRamp, lightRamp] = [dark, light].map(({ ramp }) => ramp.map(toRgb));
const diverging = ['#0b4f8a', '#3f8fca', '#a9cdea', '#f3f3f3', '#f3bf94', '#dd7423', '#8a3a00'].map(toRgb);
const divergingDark = ['#8cc8ff', '#3f8fca', '#1f4b70', '#232a34', '#6b3f1a', '#dd7423', '#ffb679'].map(toRgb);

/** 0 .. 1: from what is near the ground to what stands out: little is light on light pages, and dark on dark ones. */
export const heatColour = (at: number): [number, number, number] => mix(theme().dark ? darkRamp : lightRamp, at);

/** -1 .. 1: blue, neutral, orange. */
export const differenceColour = (at: number): [number, number, number] =>
    mix(theme().dark ? divergingDark : diverging, (at + 1) / 2);

export const css = ([r, g, b]: [number, number, number]): string => `rgb(${r},${g},${b})`;

/** Black or white, whichever can be read on it. */
export const inkOn = ([r, g, b]: [number, number, number]): string =>
    r * 0.3 + g * 0.59 + b * 0.11 > 140 ? '#111820' : '#ffffff';
