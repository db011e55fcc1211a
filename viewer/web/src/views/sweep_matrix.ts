// SPDX-License-Identifier: BSD-3-Clause
// The matrix of a sweep or of an intrusion experiment: a cell for each number of counters and each granularity, coloured by a metric.
import { scale as rule } from '../../../drawing.json';
import { css, differenceColour, heatColour, inkOn, theme } from '../colours';
import { percent } from '../numbers';
import type { Painter } from '../paint';
import { extentOf, scaleNameOf, symlog, symlogUnit, unsymlog, type Extent, type ScaleName } from '../scale';
import { counters, namesWidth, rowOf, rowsOf, type Cell, type Hit, type Metric, type Picture } from './sweep_draw';

const [begin, share] = rule.matrix;
const [matrixTop, rowHeight, keyHeight] = [34, 46, 34];

export const matrixHeight = (cells: Cell[]): number => matrixTop + rowsOf(cells).length * rowHeight + keyHeight;

/** The colours of values, and how they are spread. */
interface Colouring {
    extent: Extent;
    scale: ScaleName;
    colour: (value: number) => [number, number, number];
}

/** From dark to bright over the range of the metric; with values below 0 blue for these and orange for those above. */
function colouringOf<C extends Cell>({ cells, metric }: Picture<C>): Colouring {
    const extent = extentOf(cells.map(metric.value));
    const scale = scaleNameOf(extent, metric.scale);
    const unit = symlogUnit(extent.small, extent.large);
    const by = (value: number) =>
        scale === 'linear' ? value : scale === 'logarithmic' ? Math.log(value) : symlog(value, unit);
    if (extent.least < 0) {
        const reach = by(extent.large);
        return { extent, scale, colour: (value) => differenceColour(by(value) / reach) };
    }
    const [from, to] = [by(extent.least), by(extent.most)];
    return { extent, scale, colour: (value) => heatColour(begin + (to > from ? (share * (by(value) - from)) / (to - from) : 0)) };
}

/** What the colours mean, under the matrix: evenly from the least colour to the last. */
function drawKey<C extends Cell>(p: Painter, { metric }: Picture<C>, { extent, scale, colour }: Colouring, x: number, y: number): void {
    const { faint } = theme();
    const style = { colour: faint, size: 11 };
    if (!(extent.most > extent.least)) return;
    const signed = extent.least < 0;
    const [from, to] = signed ? [-extent.large, extent.large] : [extent.least, extent.most];
    const [left, right, steps] = [metric.text(from), metric.text(to), 60];
    const begin = x + 6.4 * left.length + 6;
    const unit = symlogUnit(extent.small, extent.large);
    const back = (share: number) => {
        if (scale === 'linear') return from + (to - from) * share;
        if (scale === 'logarithmic') return from * (to / from) ** share;
        const [a, b] = [symlog(from, unit), symlog(to, unit)];
        return unsymlog(a + (b - a) * share, unit);
    };
    p.text(x, y, left, style);
    for (let i = 0; i < steps; ++i) p.rect(begin + 2 * i, y - 5, 2, 10, css(colour(back((i + 0.5) / steps))));
    p.text(begin + 2 * steps + 6, y, scale === 'linear' ? right : `${right}, ${scale}`, style);
}

export function drawMatrix<C extends Cell>(p: Painter, picture: Picture<C>): Hit<C>[] {
    const colours = theme();
    const { value, text } = picture.metric;
    const rows = rowsOf(picture.cells);
    const columns = counters(picture.cells);
    const matrixLeft = namesWidth(picture.cells, 96);
    const width = (p.width - matrixLeft - 8) / columns.length;
    const colouring = colouringOf(picture);
    const hits: Hit<C>[] = [];
    columns.forEach((count, c) =>
        p.text(matrixLeft + (c + 0.5) * width, 18, `C = ${count}`, { colour: colours.faint, anchor: 'middle', size: 12 }),
    );
    rows.forEach((row, r) => {
        p.text(matrixLeft - 10, matrixTop + (r + 0.5) * rowHeight, row, { colour: colours.faint, anchor: 'end', size: 12 });
        columns.forEach((count, c) => {
            const cell = picture.cells.find((each) => rowOf(each) === row && each.counters === count);
            if (!cell) return;
            const [x, y] = [matrixLeft + c * width, matrixTop + r * rowHeight];
            const known = Number.isFinite(value(cell));
            const colour = known ? colouring.colour(value(cell)) : null;
            p.rect(x + 1, y + 1, width - 2, rowHeight - 2, colour ? css(colour) : colours.grid);
            const ink = colour ? inkOn(colour) : colours.faint;
            const paper = ['swapouts', 'error'].includes(picture.metric.id) ? cell.published : undefined;
            p.text(x + width / 2, y + rowHeight / 2 - (paper ? 8 : 0), known ? text(value(cell)) : 'not known', {
                colour: ink,
                anchor: 'middle',
                size: 13,
                weight: 600,
            });
            if (paper)
                p.text(x + width / 2, y + rowHeight / 2 + 10, publishedText(picture.metric, cell, width), {
                    colour: ink,
                    anchor: 'middle',
                    size: 10.5,
                });
            if (cell === picture.chosen) {
                // two lines, one of which stands out from any colour and from the ground
                p.frame(x + 2.5, y + 2.5, width - 5, rowHeight - 5, colours.ink, 2, '', 3);
                p.frame(x + 5.5, y + 5.5, width - 11, rowHeight - 11, colours.panel, 1, '', 3);
            }
            hits.push({ x, y, width, height: rowHeight, cell });
        });
    });
    drawKey(p, picture, colouring, matrixLeft, matrixTop + rows.length * rowHeight + 18);
    return hits;
}

function publishedText<C extends Cell>(metric: Metric<C>, cell: C, width: number): string {
    const { swapouts, error, misprint } = cell.published!;
    if (metric.id === 'error') return percent(error);
    const ratio = misprint ? 'misprint' : `× ${(metric.value(cell) / swapouts).toFixed(2)}`;
    return width > 110 ? `${swapouts.toLocaleString('en')}  ${ratio}` : ratio;
}
