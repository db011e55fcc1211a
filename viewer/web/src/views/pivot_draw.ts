// SPDX-License-Identifier: BSD-3-Clause
// Drawing of a pivot: a matrix of medians for each value of a further parameter, with one scale of colours.
import { css, inkOn, theme } from '../colours';
import type { Box } from '../field_layout';
import { textWidth, type Painter } from '../paint';
import { valueText, type Parameter, type Pivot, type PivotCell } from '../points';
import { colouringOf, drawKey } from './cells_draw';

export interface Picture extends Pivot {
    cells: PivotCell[];
    chosen: PivotCell | null;
    text: (value: number) => string;
}

const [head, keyHeight, gap] = [40, 22, 18];
const placesIn = (cells: PivotCell[], which: number) => [...new Set(cells.map(({ at }) => at[which]))].sort((a, b) => a - b);

/** Where panels and their parts lie. */
function layout({ cells, facet, down }: Picture, whole: number) {
    const [facets, rows, columns] = [0, 1, 2].map((which) => placesIn(cells, which));
    const names = [`${down.name} ↓`, ...rows.map((row) => valueText(down, row))];
    const left = Math.min(whole / 3, 14 + Math.max(...names.map((name) => textWidth(name))));
    const beside = Math.max(1, Math.min(facets.length, 4, Math.floor((whole + gap) / (left + 52 * columns.length + gap))));
    const width = (whole - gap * (beside - 1)) / beside;
    const [rowHeight, title] = [rows.length > 12 ? 22 : 32, facet ? 22 : 0];
    const height = title + head + rows.length * rowHeight + gap;
    const cell = { width: (width - left) / Math.max(1, columns.length), height: rowHeight };
    const corner = (i: number): [number, number] => [(i % beside) * (width + gap), Math.floor(i / beside) * height];
    const boxOf = ({ at }: PivotCell): Box => {
        const [x, y] = corner(facets.indexOf(at[0]));
        return { x: x + left + columns.indexOf(at[2]) * cell.width, y: y + title + head + rows.indexOf(at[1]) * rowHeight, ...cell };
    };
    return { facets, rows, columns, left, title, cell, corner, boxOf, height: height * Math.ceil(facets.length / beside) };
}

export const pivotHeight = (picture: Picture, width: number): number => (picture.cells.length ? layout(picture, width).height + keyHeight : 60);

/** As much of a text as there is place for. */
function fitting(text: string, width: number): string {
    if (textWidth(text) <= width) return text;
    const end = [...text].findIndex((_, i) => textWidth(`${text.slice(0, i + 1)}…`) > width);
    return `${text.slice(0, Math.max(0, end))}…`;
}

export function drawPivot(p: Painter, picture: Picture): { box: Box; cell: PivotCell }[] {
    const { cells, facet, down, across, chosen, measure, text } = picture;
    const colours = theme();
    const faint = { colour: colours.faint, size: 12 };
    if (!cells.length) return p.text(10, 30, 'No points have these values.', faint), [];
    const { facets, rows, columns, left, title, cell: size, corner, boxOf, height } = layout(picture, p.width);
    const colouring = colouringOf(cells.map(({ median }) => median), measure.name === 'error' ? 'linear' : 'auto');
    const label = (parameter: Parameter, at: number) => valueText(parameter, at);
    facets.forEach((value, i) => {
        const [x, y] = corner(i);
        if (facet) p.text(x, y + 11, fitting(`${facet.name} ${label(facet, value)}`, left + columns.length * size.width), { ...faint, colour: colours.ink, weight: 600 });
        p.text(x + left, y + title + 10, `${across.name} →`, faint);
        p.text(x, y + title + 28, fitting(`${down.name} ↓`, left - 4), faint);
        let free = 0;
        columns.forEach((column, c) => {
            const name = fitting(label(across, column), Math.max(size.width - 4, 60));
            const [middle, half] = [x + left + (c + 0.5) * size.width, textWidth(name) / 2];
            if (middle - half < free) return; // no place beside the one before
            free = middle + half + 4;
            p.text(middle, y + title + 28, name, { ...faint, anchor: 'middle' });
        });
        rows.forEach((row, r) => p.text(x, y + title + head + (r + 0.5) * size.height, fitting(label(down, row), left - 8), faint));
    });
    const hits = cells.map((cell) => ({ box: boxOf(cell), cell }));
    const said = cells.map(({ median }) => (Number.isNaN(median) ? '-' : text(median)));
    const place = Math.max(...said.map((each) => textWidth(each, 12))) + 4 <= size.width; // for all, or for none
    for (const [i, { box: { x, y, width, height }, cell }] of hits.entries()) {
        const known = !Number.isNaN(cell.median);
        const colour = known ? colouring.of(cell.median) : null;
        p.rect(x + 0.5, y + 0.5, width - 1, height - 1, colour ? css(colour) : colours.grid);
        if (place) p.text(x + width / 2, y + height / 2, said[i], { colour: colour ? inkOn(colour) : colours.faint, anchor: 'middle', size: 12 });
        if (cell !== chosen) continue;
        p.frame(x + 1.5, y + 1.5, width - 3, height - 3, colours.ink, 2, '', 3);
        p.frame(x + 4, y + 4, width - 8, height - 8, colours.panel, 1, '', 3);
    }
    drawKey(p, text, colouring, left, height + 10);
    return hits;
}
