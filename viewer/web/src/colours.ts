// SPDX-License-Identifier: BSD-3-Clause
// Colours of drawings for light and dark: those of viewer/drawing.json, which are those of figures for print, too, and of style.css; ramps between
// them.
import { range } from 'd3-array';
import { rgb } from 'd3-color';
import { scaleLinear } from 'd3-scale';
import { dark as drawnDark, light as drawnLight } from '../../drawing.json';
import { remembered } from './remembered';

const single = ['page', 'panel', 'ink', 'faint', 'line', 'grid', 'accent', 'count'] as const;
const ramps = ['many', 'difference'] as const;

/** Colours at 0 .. 1, evenly, and what lies between them. */
type Ramp = (at: number) => string;
type Theme = { dark: boolean; heat: Ramp } & typeof drawnLight & Record<(typeof single)[number], string> & Record<(typeof ramps)[number], Ramp>;

function ramp(colours: string[]): Ramp {
    const scale = scaleLinear(range(colours.length).map((i) => i / (colours.length - 1)), colours).clamp(true);
    return (at) => rgb(scale(at)).formatHex();
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
    return range(count).map((i) => many(i / (count - 1)));
}

/** 0 .. 1: from what is near the ground to what stands out: little is light on light pages, and dark on dark ones. */
export const heatColour = (at: number): string => theme().heat(at);

/** -1 .. 1: blue, neutral, orange. */
export const differenceColour = (at: number): string => theme().difference((at + 1) / 2);

/** Black or white, whichever can be read on it. */
export function inkOn(colour: string): string {
    const { r, g, b } = rgb(colour);
    return r * 0.3 + g * 0.59 + b * 0.11 > 140 ? '#111820' : '#ffffff';
}
