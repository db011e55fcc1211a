// SPDX-License-Identifier: BSD-3-Clause
// Colours that people with any colour vision can tell apart (after Okabe and Ito), for light and dark.

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
}

const light: Theme = {
    dark: false,
    page: '#f6f7f9',
    panel: '#ffffff',
    ink: '#1c2430',
    faint: '#5d6878',
    line: '#c9d0da',
    grid: '#e8ecf1',
    accent: '#0b62a8',
    accesses: '#0072b2',
    misses: '#d55e00',
    hits: '#00825f',
    missrate: '#a8478a',
    count: '#46708f',
    marker: '#c2185b',
    zero: '#eef1f5',
    causes: ['#00825f', '#a8478a', '#0072b2', '#d55e00'],
    structures: ['#d9e3ee', '#e6dfd0', '#d8e6da', '#e8dae4', '#dcdce8', '#e9e4c8'],
};

const dark: Theme = {
    dark: true,
    page: '#12161c',
    panel: '#1a2029',
    ink: '#e6eaf0',
    faint: '#9aa6b6',
    line: '#3a4553',
    grid: '#262e39',
    accent: '#6db6f2',
    accesses: '#56a9e4',
    misses: '#f08a3c',
    hits: '#3fc19a',
    missrate: '#da8cc0',
    count: '#86b3d1',
    marker: '#ff6fa8',
    zero: '#232b36',
    causes: ['#3fc19a', '#da8cc0', '#56a9e4', '#f08a3c'],
    structures: ['#2c3a4a', '#423a2a', '#2a3f33', '#40303c', '#33334a', '#3f3c22'],
};

export function theme(): Theme {
    return document.documentElement.dataset.theme === 'dark' ? dark : light;
}

/** Of curves: distinct also in brightness. */
export const curves = (): string[] =>
    theme().dark
        ? ['#56a9e4', '#f0a13c', '#3fc19a', '#e58fc4', '#f0e05a', '#a9b4ff', '#ff8f7a', '#c0c8d4']
        : ['#0072b2', '#d55e00', '#00825f', '#a8478a', '#8a7300', '#4b4fc4', '#b03a2e', '#5d6878'];

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

// cividis (Nunez, Anderton and Renslow 2018), nine of its colours: even in brightness for all kinds of colour vision
const cividis = [
    '#00224e',
    '#123570',
    '#3b496c',
    '#575d6d',
    '#707173',
    '#8a8678',
    '#a59c74',
    '#c3b369',
    '#e1cc55',
    '#fee838',
];
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

// the other way round, and pale where little is
const pale = ['#fdf6cf', '#f3dc8a', '#dcc06a', '#b5a06f', '#8a8678', '#5f6a78', '#3b4f74', '#17346a', '#00224e'];
const [darkRamp, lightRamp] = [cividis, pale].map((each) => each.map(toRgb));
const diverging = ['#0b4f8a', '#3f8fca', '#a9cdea', '#f3f3f3', '#f3bf94', '#dd7423', '#8a3a00'].map(toRgb);
const divergingDark = ['#8cc8ff', '#3f8fca', '#1f4b70', '#232a34', '#6b3f1a', '#dd7423', '#ffb679'].map(toRgb);

/** 0 .. 1: from what is near the ground to what stands out: little is light on light pages, and dark on dark ones. */
export const heatColour = (at: number): [number, number, number] => (theme().dark ? mix(darkRamp, 0.12 + 0.88 * at) : mix(lightRamp, at));

/** -1 .. 1: blue, neutral, orange. */
export const differenceColour = (at: number): [number, number, number] =>
    mix(theme().dark ? divergingDark : diverging, (at + 1) / 2);

export const css = ([r, g, b]: [number, number, number]): string => `rgb(${r},${g},${b})`;

/** Black or white, whichever can be read on it. */
export const inkOn = ([r, g, b]: [number, number, number]): string =>
    r * 0.3 + g * 0.59 + b * 0.11 > 140 ? '#111820' : '#ffffff';
