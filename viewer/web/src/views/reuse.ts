// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances of what is selected (docs/reuse.md): misses of fully associative LRU caches by capacity, and the levels of the machine.
import { bisectRight, min, range, rollup, sum } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { curveStepAfter } from 'd3-shape';
import { baseName, scaleKind, type App, type Chosen } from '../app';
import { drawAcross, drawLabels, drawUp, extentOf, upIn, valueScale, type Label } from '../chart';
import { columnsBy, h, tableBy } from '../dom';
import { figureOf } from '../figure';
import { capacityOf } from '../machine';
import { bytes, percent, percentTick } from '../numbers';
import { textWidth, theme, type Box, type Painter, type Point } from '../paint';
import type { FileInfo, ReuseSums } from '../protocol';
import { snippet } from '../python';
import { asAWhole, selectionTitle } from './details';

const [left, right, head, tall, low, foot] = [54, 56, 58, 120, 50, 44];
const panelHeight = head + tall + 12 + low + foot;

const keys = { link: 'link', 'line bytes': 'lineBytes', distance: 'distance', uses: 'count', 'capacity in lines': 'capacity', misses: 'misses', 'miss ratio': 'ratio' } as const;

type Panel = ReturnType<typeof panelOf>;

/** Misses at each edge of a bin, and what the levels' capacities would miss. */
function panelOf(info: FileInfo, { link, lineBytes, bins, path }: ReuseSums) {
    const uses = sum(bins, ({ count }) => count);
    let misses = uses;
    const rows = bins.map(({ distance, count }) => {
        if (distance !== Infinity) misses -= count;
        // the least in lines that holds a whole bin: distances up to 15 are told apart, larger ones in eighths of powers of two
        const capacity = distance + (distance < 16 ? 1 : 2 ** (Math.floor(Math.log2(distance)) - 3));
        return { distance, count, capacity, misses, ratio: misses / uses };
    });
    const edges = rows.map(({ capacity }) => capacity * lineBytes);
    const behind = new Set(info.links.filter(({ name }) => name === link).map(({ to }) => to));
    for (const each of behind) for (const { from, to } of info.links) if (from === each) behind.add(to);
    const levels = info.components
        .filter(({ group, name }) => group === 'levels' && behind.has(name))
        .map(({ name }) => ({ name, size: capacityOf(info.machine.yaml, name) }))
        .filter(({ size }) => size > 0)
        // between edges, the misses of the lower
        .map(({ name, size }) => ({ name, size, ratio: rows[bisectRight(edges, size) - 1]?.ratio ?? 1 }));
    return { path, link, lineBytes, uses, rows, levels };
}

function drawHistogram(p: Painter, { rows, uses, lineBytes }: Panel, box: Box, place: (size: number) => number): void {
    const { count, faint } = theme();
    const octave = ({ distance }: { distance: number }) => (distance === 0 ? 0 : Math.floor(Math.log2(distance)) + 1);
    const shares = rollup(rows, (some) => sum(some, (each) => each.count) / uses, octave);
    const scale = valueScale(extentOf(shares.values()), 'linear', { about: 2 });
    const up = upIn(box, scale);
    drawUp(p, box, scale, percentTick, 'uses');
    const end = box.y + box.height;
    for (const [power, share] of shares) {
        const [from, to] = power === Infinity ? [p.width - 28, p.width - 3] : [place(lineBytes * 2 ** (power - 1)), place(lineBytes * 2 ** power)];
        p.rect(from, Math.min(up(share), end - 1), to - from - 1, Math.max(1, end - up(share)), count);
    }
    p.text(p.width - 4, end + 14, 'first', { colour: faint, size: 11, anchor: 'end' });
}

/** Levels' capacities, with what such a cache would miss. */
function drawLevels(p: Painter, { levels }: Panel, box: Box, bottom: number, place: (size: number) => number): void {
    const { ink } = theme();
    const labels = levels.flatMap(({ name, size, ratio }): Label[] => {
        const x = place(size);
        if (x > box.x + box.width + 1) return [];
        p.line([[x, box.y], [x, bottom]], ink, 1, [6, 3]);
        const text = `${name} ${percent(ratio)}`;
        const begin = Math.min(p.width - textWidth(text, 11, 600) - 2, x - textWidth(text, 11, 600) / 2);
        return [{ text, colour: ink, weight: 600, places: [[begin, box.y - 9], [begin, box.y - 23]] }];
    });
    drawLabels(p, labels);
}

function drawPanel(p: Painter, app: App, panel: Panel, top: number): void {
    const { rows, levels, lineBytes, link } = panel;
    const colours = theme();
    const box: Box = { x: left, y: top + head, width: Math.max(10, p.width - left - right), height: tall };
    const under: Box = { ...box, y: box.y + tall + 12, height: low };
    const edges = rows.filter(({ capacity }) => capacity < Infinity);
    // up to where larger caches gain nothing; the first level is seen in any case
    const most = Math.max(lineBytes * (edges.at(-1)?.capacity ?? 1), min(levels, ({ size }) => size) ?? 0);
    const [from, to] = [Math.log2(lineBytes) - 1, Math.ceil(Math.log2(most))];
    const place = scaleLog([2 ** from, 2 ** to], [box.x, box.x + box.width]);
    const steps = Math.ceil((to - from) / Math.max(2, Math.floor(box.width / 50)));
    const ticks = range(to, from, -steps).map((power) => 2 ** power);
    p.text(4, top + 10, `${link}, lines of ${bytes(lineBytes)}`, { colour: colours.ink, weight: 600 });
    drawAcross(p, under, ticks.map((tick) => [place(tick), bytes(tick)]), 'capacity, fully associative LRU', box.y);
    drawHistogram(p, panel, under, place);
    const scale = valueScale(extentOf([1], edges.map(({ ratio }) => ratio)), scaleKind(app));
    const up = upIn(box, scale);
    drawUp(p, box, scale, percentTick, 'misses');
    if (scale.spread !== 'linear') p.text(p.width - 3, top + 10, scale.spread, { colour: colours.faint, size: 11, anchor: 'end' });
    drawLevels(p, panel, box, under.y + low, place);
    const points = [[box.x, up(1)], ...edges.map(({ capacity, ratio }) => [place(capacity * lineBytes), up(ratio)])] as Point[];
    p.within(box.x, box.y - 2, box.width, tall + 4, () => p.line([...points, [box.x + box.width, points.at(-1)![1]]], colours.misses, 1.8, [], curveStepAfter));
}

/** A panel per link; hidden where the file has no reuse distances of what is selected. */
export function reusePicture(app: App): { element: HTMLElement; show: (found: ReuseSums[], names: string[] | null, chosen: Chosen) => void } {
    let panels: Panel[] = [];
    let [title, python] = ['', ''];
    const marks = ({ link, levels }: Panel) => `${link}: ${levels.map(({ name, size, ratio }) => `${name}, ${bytes(size)}: ${percent(ratio)}`).join('; ')}`;
    const note = h('p', { class: 'note' });
    const figure = figureOf({
        name: () => `${baseName(app.source)}-reuse`,
        label: () => [title, ...panels.map(marks)].join('. '),
        height: () => panels.length * panelHeight,
        draw: (p) => panels.forEach((each, i) => drawPanel(p, app, each, i * panelHeight)),
        /** Uses at each distance; misses of the least capacity that holds all of its bin. */
        table: () => tableBy(title, panels.flatMap((panel) => panel.rows.map((row) => ({ ...panel, ...row }))), columnsBy(keys), { keys: 3 }),
        python: () => python,
    });
    figure.bar.append(h('h3', {}, 'Reuse distances'));
    const element = h('section', { class: 'detail', 'aria-label': 'Reuse distances', hidden: true }, figure.element, note);

    /** Of links with lines as large as those that are shown; where there are none, of all. `names`: the structures that it is of. */
    function show(found: ReuseSums[], names: string[] | null, chosen: Chosen): void {
        const { series, filter, phases } = chosen;
        const { info } = app.source;
        const used = found.filter(({ bins }) => bins.length > 0);
        const alike = used.filter(({ lineBytes }) => lineBytes === series.unit);
        panels = (alike.length ? alike : used).map((each) => panelOf(info, each));
        title = `Reuse distances, and misses of fully associative LRU caches: ${selectionTitle(app, chosen)}`;
        python = snippet({ FILE: info.name, GROUPS: panels.map(({ path }) => path), STRUCTURES: names, PHASES: phases }, 'reuse');
        element.hidden = panels.length === 0;
        const parts = [names && !filter.structure && `Of ${asAWhole(names)}.`, (filter.core || filter.function) && 'Of all cores and functions.'];
        note.textContent = parts.filter(Boolean).join(' ');
        figure.changed();
    }
    return { element, show };
}
