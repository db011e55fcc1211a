// SPDX-License-Identifier: BSD-3-Clause
// Topology: the machine as a graph; links as wide and dark as their traffic; click one to see it on the workbench.
import { greatest, groups, sort, sum } from 'd3-array';
import { linkHorizontal, linkVertical } from 'd3-shape';
import { baseName, eventName, titleOf, type App, type View } from '../app';
import { totalsOf } from '../cube';
import { h, sideways } from '../dom';
import { figureOf } from '../figure';
import { describeComponent } from '../machine';
import { brief, full, percent } from '../numbers';
import { inside, textWidth, theme, type Box, type Painter } from '../paint';
import type { FileInfo, LinkInfo } from '../protocol';
import { snippet } from '../python';
import { linkTable } from './tables';

/** A component. */
interface Node extends Box {
    name: string;
    layer: number;
    lines: string[];
    rate: number;
    /** Under the box. */
    note: string;
}

/** What is clicked, and what keys go through. */
type Stop = Box & { name: string; open: () => void };

const [boxWidth, boxHeight] = [168, 64];
/** Between layers: room for the number on a link. */
const leastGap = 80;

/** Layers from the cores to the memories: a component lies behind all that send to it. */
function layersOf(links: LinkInfo[]): string[][] {
    const layer = new Map(links.flatMap(({ from, to }): [string, number][] => [[from, 0], [to, 0]]));
    for (const _ of layer.keys())
        for (const { from, to } of links) {
            const wanted = layer.get(from)! + 1;
            // a page walker sends into a cache in front of it: such links do not push others back
            if (from !== 'walker' && layer.get(to)! < wanted && wanted <= layer.size) layer.set(to, wanted);
        }
    return sort(groups(layer.keys(), (name) => layer.get(name)!), ([each]) => each).map(([, names]) => names);
}

/** What memories of nodes were asked from their own, and from others, without what monitors write: "local 340, remote 109 requests". */
function nearAndFar(info: FileInfo, name: string): string {
    const totals = info.components.find((each) => each.group === 'numa' && each.name === name)?.totals;
    const count = (where: string) => sum(Object.entries(totals ?? {}), ([counter, each]) => (counter.startsWith(where) && counter !== `${where}ring_writes` ? each : 0));
    return totals ? `local ${brief(count('local_'))}, remote ${brief(count('remote_'))} requests` : '';
}

function nodesOf(info: FileInfo, layers: string[][], width: number, height: number): Map<string, Node> {
    const gap = Math.min(170, (width - 40 - layers.length * boxWidth) / Math.max(1, layers.length - 1));
    const place = (name: string, layer: number, i: number, of: number): [string, Node] => {
        const known = info.components.find((each) => each.name === name && ['levels', 'tlbs'].includes(each.group));
        const { accesses, misses } = known ? totalsOf(info, name) : { accesses: 0, misses: 0 };
        const rate = accesses > 0 ? misses / accesses : NaN;
        const coherence = info.components.find((each) => each.group === 'coherence' && each.name === name);
        const cores = name === 'core' && info.machine.cores > 1 ? `${info.machine.cores} cores` : '';
        const lines = [cores || describeComponent(info.machine.yaml, name), Number.isNaN(rate) ? '' : `${percent(rate)} miss`].filter(Boolean);
        const note = coherence ? `${brief(coherence.totals.messages)} coherence messages` : nearAndFar(info, name);
        const [x, middle] = [20 + layer * (boxWidth + gap), ((i + 0.5) / of) * (height - 30) + 10];
        return [name, { name, layer, lines, rate, note, x, y: middle - boxHeight / 2, width: boxWidth, height: boxHeight }];
    };
    return new Map(layers.flatMap((names, layer) => names.map((name, i) => place(name, layer, i, names.length))));
}

function drawNode(p: Painter, { name, lines, rate, note, x, y }: Node): void {
    const { ink, faint, panel, grid, misses } = theme();
    const [middle, known] = [x + boxWidth / 2, !Number.isNaN(rate)];
    const small = { colour: faint, size: 11, anchor: 'middle' as const };
    p.frame(x, y, boxWidth, boxHeight, faint, 9, panel, 1.3);
    if (known) {
        p.rect(x + 10, y + boxHeight - 9, boxWidth - 20, 4, grid);
        p.rect(x + 10, y + boxHeight - 9, (boxWidth - 20) * Math.min(1, rate), 4, misses);
    }
    const first = y + boxHeight / 2 - (lines.length * 15) / 2 - (known ? 3 : 0);
    p.text(middle, first, name, { colour: ink, size: 14, weight: 650, anchor: 'middle' });
    lines.forEach((line, i) => p.text(middle, first + 17 + 14 * i, line, small));
    if (note) p.text(middle, y + boxHeight + 13, note, small);
}

/** From the right of a box to the left of one behind it, or from its upper or lower edge to one beside it; where its middle is. */
function drawLink(p: Painter, a: Node, b: Node, share: number): [number, number] {
    const [back, side] = [b.layer <= a.layer, b.y > a.y ? 1 : -1];
    const [x0, x1] = back ? [a.x + boxWidth / 2, b.x + boxWidth / 2] : [a.x + boxWidth, b.x];
    const [y0, y1] = [a.y + (boxHeight / 2) * (back ? 1 + side : 1), b.y + (boxHeight / 2) * (back ? 1 - side : 1)];
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    const stroke = share === 0 ? theme().line : theme().heat(0.2 + 0.8 * share);
    p.path((back ? linkVertical() : linkHorizontal())({ source: [x0, y0], target: [x1, y1] })!, { stroke, width: 1 + 7 * share, dash: share === 0 ? [4, 4] : [] });
    return [x, y];
}

export function topologyView(app: App): View {
    const { info } = app.source;
    const layers = layersOf(info.links);
    const wide = h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Machine' });
    /** What opens, from the cores to the memories. */
    let stops: Stop[] = [];

    const monitored = (name: string) => info.monitors.some(({ texts }) => texts.link === name);
    const traffic = ({ kinds }: LinkInfo) => sum(kinds, ({ events }) => events);
    const openLevel = (level: string) => app.set({ view: 'workbench', show: 'misses', level, x: '' });
    function openLink({ name, kinds }: LinkInfo): void {
        const busiest = greatest(kinds, (each) => each.events);
        if (busiest?.events) app.set({ view: 'workbench', show: `link:${busiest.kind}`, level: name, x: '', sel: '', structure: '', cause: '' });
    }

    function draw(p: Painter): void {
        const { line, panel, ink, marker } = theme();
        const nodes = nodesOf(info, layers, p.width, p.height);
        const most = Math.log(Math.max(1, ...info.links.map(traffic)) + 1);
        const middles = info.links.map((link) => {
            const events = traffic(link);
            return drawLink(p, nodes.get(link.from)!, nodes.get(link.to)!, events > 0 ? Math.max(0.05, Math.log(events + 1) / most) : 0);
        });
        nodes.forEach((node) => drawNode(p, node));
        const pills = info.links.flatMap((link, i): Stop[] => {
            const [[x, y], text, room] = [middles[i], brief(traffic(link)), monitored(link.name) ? 16 : 0];
            const width = textWidth(text, 11.5, 500) + 16 + room;
            p.frame(x - width / 2, y - 10, width, 20, line, 10, panel);
            p.text(x + room / 2, y, text, { colour: ink, size: 11.5, anchor: 'middle', weight: 500 });
            if (room) p.text(x - width / 2 + 8, y, '◆', { colour: marker, size: 13 });
            return traffic(link) > 0 ? [{ name: link.name, x: x - 39, y: y - 14, width: 78, height: 28, open: () => openLink(link) }] : [];
        });
        const levels = new Set(info.series.filter((each) => each.kind === 'level').map((each) => each.owner));
        const boxes = [...nodes.values()].filter(({ name }) => levels.has(name)).map(({ name, x, y }): Stop => ({ name, x: x - 4, y: y - 4, width: boxWidth + 8, height: boxHeight + 8, open: () => openLevel(name) }));
        stops = [...boxes, ...pills];
    }

    const ends = (link: LinkInfo) => `${link.from} to ${link.to}, ${full(traffic(link))} events`;
    const figure = figureOf({
        name: () => `${baseName(app.source)}-topology`,
        label: () => `The machine of ${titleOf(app.source)}: ${info.links.map(ends).join('; ')}`,
        height: () => Math.max(...layers.map((each) => each.length)) * 120 + 70,
        draw,
        table: () => linkTable(info, `Events on the links of ${info.machine.name}`, (kind) => eventName(kind).toLowerCase(), [['monitor', ({ name }) => (monitored(name) ? 'yes' : '')]]),
        python: () => snippet({ FILE: info.name }, 'topology'),
    });
    const { bar, canvas } = figure;
    const legend =
        'Numbers on links are events of all kinds; ◆ marks a monitor. Click a link to see its most frequent kind of events on the workbench, a cache for its misses; the buttons below do the same.';
    bar.append(h('p', { class: 'note' }, legend));
    canvas.classList.add('clickable');
    // on a narrow screen the machine is moved sideways rather than its boxes over each other
    canvas.style.minWidth = `${40 + layers.length * (boxWidth + leastGap) - leastGap}px`;
    canvas.replaceWith(...sideways(wide, 'The machine is wider than the screen: scroll sideways to see all of it.'));
    wide.append(canvas);

    canvas.addEventListener('click', ({ offsetX, offsetY }) => stops.filter((each) => inside(each, offsetX, offsetY)).at(-1)?.open());
    const buttons = (title: string, label: string, list: [string, () => void][]) => {
        const row = h('div', { class: 'row', role: 'group', 'aria-label': label }, ...list.map(([name, onclick]) => h('button', { type: 'button', onclick }, name)));
        return list.length > 0 && h('section', { class: 'card' }, h('h3', {}, title), row);
    };
    const links = info.links.filter((link) => traffic(link) > 0).map((link): [string, () => void] => [link.name, () => openLink(link)]);
    const caches = info.series.filter((each) => each.kind === 'level' && each.rows > 0).map(({ owner }): [string, () => void] => [owner, () => openLevel(owner)]);
    const element = h('div', { class: 'view' }, figure.element, buttons('Open a link', 'Links', links), buttons('Open a cache', 'Caches', caches));

    return { element, update: figure.changed };
}
