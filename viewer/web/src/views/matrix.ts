// SPDX-License-Identifier: BSD-3-Clause
// Matrices of cells by two parameters, one for each value of a third, with one scale of colours.
import { scale as rule } from '../../../drawing.json';
import type { Hit } from '../figure';
import { inkOn, shortened, textWidth, theme, type Box, type Painter } from '../paint';
import { extentOf, valueScale, type Wanted } from '../chart';

/** What cells differ by, and the names of its values in order. */
type Names = { name: string; values: string[] };

export interface Matrix<T> {
    facet: Names | null;
    down: Names;
    across: Names;
    /** `at`: of which values of facet, down and across; a value that is not finite is not known. */
    cells: { at: [number, number, number]; value: number; cell: T }[];
    chosen: T | null;
    text: (value: number) => string;
    /** Where that does not fit. */
    brief: (value: number) => string;
    scale: Wanted;
    /** What stands for values that are not known. */
    blank: string;
    /** Values of elsewhere that share the colours. */
    beside: number[];
    /** Room for what stands small under the numbers of cells so wide. */
    under?: (cell: T, width: number) => string;
}

const [begin, share] = rule.matrix;
const [head, keyHeight, gap] = [40, 22, 18];

/** From what is near the ground to what stands out, over the range of the values; with values below 0 blue for these and orange for those above. */
function colouringOf(values: number[], wanted: Wanted) {
    const extent = extentOf(values);
    const signed = extent.least < 0;
    const scale = valueScale(extent, wanted, { tight: true, symmetric: signed });
    const colour = (at: number) => (signed ? theme().difference(at) : theme().heat(begin + share * at));
    const ends = signed ? [-extent.large, extent.large] : [extent.least, extent.most];
    return { ends, scale, colour, of: (value: number) => colour(extent.most > extent.least ? scale.at(value) : 0) };
}

/** What the colours mean, under the matrix: evenly from the least colour to the last. */
function drawKey(p: Painter, text: (value: number) => string, { ends, scale, colour }: ReturnType<typeof colouringOf>, x: number, y: number): void {
    if (!(ends[1] > ends[0])) return;
    const style = { colour: theme().faint, size: 11 };
    const [left, right] = ends.map(text);
    const steps = 60;
    const after = scale.spread === 'linear' ? right : `${right}, ${scale.spread}`;
    const whole = textWidth(left, 11) + 6 + 2 * steps + 6 + textWidth(after, 11);
    const from = Math.max(0, Math.min(x, p.width - whole - 8));
    const x0 = from + textWidth(left, 11) + 6;
    p.text(from, y, left, style);
    for (let i = 0; i < steps; ++i) p.rect(x0 + 2 * i, y - 5, 2, 10, colour((i + 0.5) / steps));
    p.text(x0 + 2 * steps + 6, y, after, style);
}

/** Where panels and their parts lie. */
function layout<T>({ facet, down, across, under }: Matrix<T>, whole: number) {
    const names = [`${down.name} ↓`, ...down.values];
    const left = Math.min(whole / 3, 14 + Math.max(...names.map((name) => textWidth(name))));
    const panels = facet?.values ?? [''];
    const beside = Math.max(1, Math.min(panels.length, 4, Math.floor((whole + gap) / (left + 52 * across.values.length + gap))));
    const width = (whole - gap * (beside - 1)) / beside;
    const top = head + (facet ? 22 : 0);
    const cell = { width: (width - left) / Math.max(1, across.values.length), height: under ? 46 : down.values.length > 12 ? 22 : 32 };
    const height = top + down.values.length * cell.height + gap;
    const corner = (i: number): [number, number] => [(i % beside) * (width + gap), Math.floor(i / beside) * height];
    const boxOf = ([panel, row, column]: [number, number, number]): Box => {
        const [x, y] = corner(panel);
        return { x: x + left + column * cell.width, y: y + top + row * cell.height, ...cell };
    };
    return { panels, left, top, cell, corner, boxOf, height: height * Math.ceil(panels.length / beside) };
}

export const matrixHeight = <T>(matrix: Matrix<T>, width: number): number => (matrix.cells.length ? layout(matrix, width).height + keyHeight : 60);

/** Where the cells are. */
export function drawMatrix<T>(p: Painter, matrix: Matrix<T>): Hit<T>[] {
    const { cells, facet, down, across, chosen, text, scale, beside, under } = matrix;
    const colours = theme();
    const faint = { colour: colours.faint, size: 12 };
    if (!cells.length) return p.text(10, 30, 'No points have these values.', faint), [];
    const { panels, left, top, cell: size, corner, boxOf, height } = layout(matrix, p.width);
    const colouring = colouringOf([...cells.map(({ value }) => value), ...beside], scale);
    panels.forEach((panel, i) => {
        const [x, y] = corner(i);
        const title = facet && shortened(`${facet.name} ${panel}`, left + across.values.length * size.width, 12, 600);
        if (title) p.text(x, y + 11, title, { ...faint, colour: colours.ink, weight: 600 });
        p.text(x + left, y + top - 30, `${across.name} →`, faint);
        p.text(x, y + top - 12, shortened(`${down.name} ↓`, left - 4), faint);
        let free = 0;
        across.values.forEach((value, c) => {
            const name = shortened(value, Math.max(size.width - 4, 60));
            const [middle, half] = [x + left + (c + 0.5) * size.width, textWidth(name) / 2];
            if (middle - half < free) return; // no place beside the one before
            free = middle + half + 4;
            p.text(middle, y + top - 12, name, { ...faint, anchor: 'middle' });
        });
        down.values.forEach((value, r) => p.text(x, y + top + (r + 0.5) * size.height, shortened(value, left - 8), faint));
    });
    const textsBy = (of: (value: number) => string) => cells.map(({ value }) => (Number.isFinite(value) ? of(value) : matrix.blank));
    const fit = (texts: string[]) => Math.max(...texts.map((each) => textWidth(each))) + 4 <= size.width; // all, or none
    const said = [text, matrix.brief, (value: number) => text(value).replace(/ points?$/, '')].map(textsBy).find(fit);
    const hits = cells.map(({ at, cell }) => ({ ...boxOf(at), cell }));
    for (const [i, { x, y, width, height, cell }] of hits.entries()) {
        const colour = Number.isFinite(cells[i].value) ? colouring.of(cells[i].value) : null;
        const style = { colour: colour ? inkOn(colour) : colours.faint, anchor: 'middle' as const, weight: under ? 600 : 400 };
        const small = under?.(cell, width) ?? '';
        p.rect(x + 0.5, y + 0.5, width - 1, height - 1, colour ?? colours.grid);
        if (said) p.text(x + width / 2, y + height / 2 - (small ? 8 : 0), said[i], style);
        if (small) p.text(x + width / 2, y + height / 2 + 10, small, { ...style, size: 10.5, weight: 400 });
        if (cell !== chosen) continue;
        // two lines, one of which stands out from any colour and from the ground
        p.frame(x + 1.5, y + 1.5, width - 3, height - 3, colours.ink, 2, '', 3);
        p.frame(x + 4, y + 4, width - 8, height - 8, colours.panel, 1, '', 3);
    }
    drawKey(p, text, colouring, left, height + 10);
    return hits;
}
