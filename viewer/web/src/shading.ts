// SPDX-License-Identifier: BSD-3-Clause
// Colours of the field's cells. Outliers do not push all others down: what lies far above nearly all is cut, and marked.
import { quantile } from 'd3-array';
import { scale as rule } from '../../drawing.json';
import { heatColour, theme } from './colours';
import { endOfScale, type ScaleKind } from './panels';
import { opaque, pixelOf } from './pixels';
import type { Heat } from './protocol';
import { valueScale } from './scale';

const { shades } = rule;
export type Shaded = ReturnType<typeof shade>;

/** Cells as pixels; the scale's ends and the largest of all, and how many cells lie above its end. */
export function shade({ sum, weight }: Heat, scale: ScaleKind) {
    const values = sum.map((each, i) => (weight[i] > 0 ? each / weight[i] : NaN));
    const positive = values.filter((each) => each > 0);
    const most = positive.reduce((a, b) => Math.max(a, b), 0);
    const least = positive.reduce((a, b) => Math.min(a, b), most);
    const end = endOfScale(quantile(positive, rule.clip_quantile) ?? most, most, scale);
    const beyond = end * (1 + 1e-9); // rounding
    const log = scale === 'log' && end > least;
    const { at } = valueScale({ least: log ? least : 0, most: end || 1, small: least, large: end || 1 }, log ? 'log' : 'linear', { tight: true });
    const colours = Array.from({ length: shades }, (_, i) => opaque(heatColour(i / (shades - 1))));
    const [zero, marker] = [pixelOf(theme().zero), pixelOf(theme().marker)];
    const cells = new Uint32Array(values.length);
    let above = 0;
    values.forEach((value, i) => {
        if (Number.isNaN(value)) return;
        if (value > beyond) ++above;
        cells[i] =
            value <= 0 ? zero : value > beyond ? marker : colours[Math.max(0, Math.min(shades - 1, Math.floor(at(value) * shades + 1e-9)))];
    });
    return { cells, least, end, most, above };
}
