// SPDX-License-Identifier: BSD-3-Clause
// Colours of drawings for light and dark: those of viewer/drawing.json, which are those of figures for print, too, and of style.css; ramps between
// them.
import { scaleLinear } from 'd3-scale';
import { dark as drawnDark, light as drawnLight } from '../../drawing.json';
import { remembered } from './remembered';

const single = ['page', 'panel', 'ink', 'faint', 'line', 'grid', 'accent', 'count'] as const;
const ramps = ['many', 'difference'] as const;

export type Rgb = [number, number, number];
/** Colours at 0 .. 1, evenly, and what lies between them. */
type Ramp = (at: number) => Rgb;
type Theme = { dark: boolean; heat: Ramp } & typeof drawnLight & Record<(typeof single)[number], string> & Record<(typeof ramps)[number], Ramp>;

function ramp(colours: string[]): Ramp {
    const parts = colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
    const scale = scaleLinear<number[]>(colours.map((_, i) => i / (colours.length - 1)), parts).clamp(true);
    return (at) => scale(at).map(Math.round) as Rgb;
}

const known = new Map<boolean, Theme>();

export function theme(): Theme {
    const dark = document.documentElement.dataset.theme === 'dark';
    return remembered(known, dark, () => {
        const style = getComputedStyle(document.documentElement);
        const list = (name: string) => style.getPropertyValue(`--${name}`).trim().split(/\s+/);
        const all = <T>(names: readonly string[], of: (colours: string[]) => T) => names.map((name): [string, T] => [name, of(list(name))]);
        const drawn = dark ? drawnDark : drawnLight;
        return { dark, ...drawn, heat: ramp(drawn.ramp), ...Object.fromEntries([...all(single, ([first]) => first), ...all(ramps, ramp)]) } as Theme;
    });
}

/** As many colours as there are curves, each another: above the number of `curves` in between those of a row. */
export function distinctColours(count: number): string[] {
    const { curves, many } = theme();
    if (count <= curves.length) return curves.slice(0, count);
    const hex = (part: number) => part.toString(16).padStart(2, '0');
    return Array.from({ length: count }, (_, i) => `#${many(i / (count - 1)).map(hex).join('')}`);
}

/** 0 .. 1: from what is near the ground to what stands out: little is light on light pages, and dark on dark ones. */
export const heatColour = (at: number): Rgb => theme().heat(at);

/** -1 .. 1: blue, neutral, orange. */
export const differenceColour = (at: number): Rgb => theme().difference((at + 1) / 2);

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

/** Black or white, whichever can be read on it. */
export const inkOn = ([r, g, b]: Rgb): string =>
    r * 0.3 + g * 0.59 + b * 0.11 > 140 ? '#111820' : '#ffffff';
