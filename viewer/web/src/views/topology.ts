// SPDX-License-Identifier: BSD-3-Clause
// Topology: the machine as a graph; links as wide and dark as their traffic; click one to see it on the workbench.
import { baseName, eventName, inOrder, titleOf, type App, type View } from '../app';
import { css, heatColour, inkOn, theme } from '../colours';
import { h, segmented, type Table } from '../dom';
import { Figure } from '../figure';
import { brief, full, percent } from '../numbers';
import type { Painter } from '../paint';
import type { FileInfo, LinkInfo } from '../protocol';
import { topologyPython } from '../python';

interface Node {
    name: string;
    layer: number;
    x: number;
    y: number;
    lines: string[];
    rate: number;
    /** Under the box. */
    note: string;
}

/** What keys go through. */
interface Stop {
    name: string;
    x: number;
    y: number;
    size: [number, number];
    open: () => void;
}

const [boxWidth, boxHeight] = [168, 64];
/** Between layers: room for the number on a link. */
const leastGap = 80;
const demand = ['load', 'store', 'fetch'];

/** What the machine file says of a component, shortly: "16 KiB, 2 ways". */
export function describeComponent(yaml: string, name: string): string {
    const line =
        yaml
            .split('\n')
            .find((each) => new RegExp(`\\bname: "?${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}"?[,}]`).test(each)) ??
        '';
    const get = (key: string) => new RegExp(`\\b${key}: ([^,}]+)`).exec(line)?.[1];
    const entries = get('entries');
    return [
        get('size'),
        entries && `${entries} entries`,
        get('ways') && `${get('ways')} ways`,
        get('line') && `lines of ${get('line')}`,
    ]
        .filter(Boolean)
        .join(', ');
}

/** Layers from the cores to the memories: a component lies behind all that send to it. */
export function layers(links: LinkInfo[]): Map<string, number> {
    const layer = new Map<string, number>();
    for (const link of links) layer.set(link.from, 0).set(link.to, 0);
    const count = layer.size;
    for (let round = 0; round < count; ++round) {
        let moved = false;
        for (const { from, to } of links) {
            // a page walker sends into a cache in front of it: such links do not push others back
            if (from === 'walker') continue;
            const wanted = layer.get(from)! + 1;
            if (layer.get(to)! < wanted && wanted <= count) {
                layer.set(to, wanted);
                moved = true;
            }
        }
        if (!moved) break;
    }
    return layer;
}

/** What memories that belong to nodes were asked from their own, and from others, as on their links without what
 * monitors write: "local 340, remote 109 requests". */
function nearAndFar(info: FileInfo, name: string): string {
    const totals = info.components.find((each) => each.group === 'numa' && each.name === name)?.totals;
    if (!totals) return '';
    const sum = (where: string) =>
        Object.entries(totals)
            .filter(([counter]) => counter.startsWith(where) && counter !== `${where}ring_writes`)
            .reduce((all, [, count]) => all + count, 0);
    return `local ${brief(sum('local_'))}, remote ${brief(sum('remote_'))} requests`;
}

export function topologyView(app: App): View {
    const { info } = app.source;
    let colouring: 'events' | 'misses' = 'events';
    let nodes = new Map<string, Node>();
    let marked = -1;
    const said = h('p', { class: 'note', role: 'status' });
    let places: { link: LinkInfo; x: number; y: number }[] = [];
    const figure = new Figure({
        name: () => `${baseName(app.source)}-topology`,
        label: () =>
            `The machine of ${titleOf(app.source)}: ${info.links.map((link) => `${link.from} to ${link.to}, ${full(traffic(link))} ${colouring}`).join('; ')}`,
        height: () => Math.max(...perLayer().map((each) => each.length)) * 120 + 70,
        draw: (p) => draw(p),
        table: () => table(),
        python: () => topologyPython(app.source),
    });
    const legend = h(
        'p',
        { class: 'note' },
        'Numbers on links are events of all kinds; ◆ marks a monitor. Click a link to see its most frequent kind of events on the workbench, a cache for its misses. Arrows go from one to the next, Enter opens it.',
    );
    const chooser = h('div', { class: 'row' });
    figure.bar.append(chooser, legend);
    figure.canvas.classList.add('clickable');
    // on a narrow screen the machine is moved sideways rather than its boxes over each other
    figure.canvas.style.minWidth = `${40 + perLayer().length * (boxWidth + leastGap) - leastGap}px`;
    const wide = h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Machine' });
    figure.canvas.replaceWith(wide);
    wide.append(figure.canvas);
    const hint = h('p', { class: 'note scrolls', hidden: true }, '↔ The machine is wider than the screen: scroll sideways to see all of it.');
    wide.insertAdjacentElement('beforebegin', hint);
    figure.canvas.addEventListener('click', (event) => click(event.offsetX, event.offsetY));
    figure.canvas.addEventListener('keydown', (event) => key(event));
    figure.canvas.addEventListener('blur', () => mark(-1));
    const links = h(
        'div',
        { class: 'row', role: 'group', 'aria-label': 'Links' },
        ...info.links
            .filter((link) => traffic(link) > 0)
            .map((link) => h('button', { type: 'button', onclick: () => open(link) }, link.name)),
    );
    const caches = h(
        'div',
        { class: 'row', role: 'group', 'aria-label': 'Caches' },
        ...info.series
            .filter((each) => each.kind === 'level' && each.rows > 0)
            .map(({ owner }) => h('button', { type: 'button', onclick: () => openLevel(owner) }, owner)),
    );
    const element = h(
        'div',
        { class: 'view' },
        figure.element,
        said,
        h('section', { class: 'card' }, h('h3', {}, 'Open a link'), links),
        ...(caches.children.length ? [h('section', { class: 'card' }, h('h3', {}, 'Open a cache'), caches)] : []),
    );

    function traffic(link: LinkInfo): number {
        const kinds = colouring === 'misses' ? link.kinds.filter((each) => demand.includes(each.kind)) : link.kinds;
        return kinds.reduce((sum, each) => sum + each.events, 0);
    }

    function perLayer(): string[][] {
        const found: string[][] = [];
        layers(info.links).forEach((layer, name) => (found[layer] ??= []).push(name));
        return found.filter(Boolean);
    }

    function open(link: LinkInfo): void {
        const busiest = [...link.kinds].filter((each) => each.events > 0).sort((a, b) => b.events - a.events)[0];
        if (!busiest) return;
        app.set({ view: 'workbench', show: `link:${busiest.kind}`, level: link.name, x: '', sel: '', structure: '', cause: '' });
    }

    function missRate(name: string): number {
        const component = info.components.find((each) => each.group !== 'coherence' && each.name === name);
        if (!component) return NaN;
        const { totals } = component;
        if ('accesses' in totals) return totals.accesses > 0 ? totals.misses / totals.accesses : NaN;
        const of = (names: string[]) => names.reduce((sum, each) => sum + (totals[each] ?? 0), 0);
        const accesses = of(['loads', 'stores', 'fetches']);
        return component.group === 'levels' && accesses > 0
            ? of(['load_misses', 'store_misses', 'fetch_misses']) / accesses
            : NaN;
    }

    function place(width: number, height: number): void {
        const columns = perLayer();
        nodes = new Map();
        const gap = (width - 40 - columns.length * boxWidth) / Math.max(1, columns.length - 1);
        columns.forEach((names, layer) =>
            names.forEach((name, i) => {
                const x = 20 + layer * (boxWidth + Math.min(gap, 170));
                const y = ((i + 0.5) / names.length) * (height - 30) + 10;
                const rate = missRate(name);
                const coherence = info.components.find((each) => each.group === 'coherence' && each.name === name);
                const cores = name === 'core' && info.machine.cores > 1 ? `${info.machine.cores} cores` : '';
                const detail = cores || describeComponent(info.machine.yaml, name);
                nodes.set(name, {
                    name,
                    layer,
                    x,
                    y,
                    rate,
                    lines: [detail, Number.isNaN(rate) ? '' : `${percent(rate)} miss`].filter(Boolean),
                    note: coherence ? `${brief(coherence.totals.messages)} coherence messages` : nearAndFar(info, name),
                });
            }),
        );
    }

    function draw(p: Painter): void {
        hint.hidden = wide.scrollWidth <= wide.clientWidth + 8;
        place(p.width, p.height);
        const most = Math.max(1, ...info.links.map(traffic));
        places = [];
        for (const link of info.links) drawLink(p, link, most);
        nodes.forEach((node) => drawNode(p, node));
        for (const { link, x, y } of places) drawTraffic(p, link, x, y);
        drawMark(p);
    }

    function strength(link: LinkInfo, most: number): number {
        const events = traffic(link);
        return events > 0 ? Math.max(0.05, Math.log(events + 1) / Math.log(most + 1)) : 0;
    }

    function drawLink(p: Painter, link: LinkInfo, most: number): void {
        const [a, b] = [nodes.get(link.from)!, nodes.get(link.to)!];
        const share = strength(link, most);
        const back = b.layer <= a.layer;
        const [x0, x1] = back ? [a.x + boxWidth / 2, b.x + boxWidth / 2] : [a.x + boxWidth, b.x];
        const [y0, y1] = back
            ? [a.y + (b.y > a.y ? 1 : -1) * (boxHeight / 2), b.y + (b.y > a.y ? -1 : 1) * (boxHeight / 2)]
            : [a.y, b.y];
        const points: [number, number][] = [];
        for (let i = 0; i <= 20; ++i) {
            const t = i / 20;
            const s = t * t * (3 - 2 * t);
            points.push(back ? [x0 + (x1 - x0) * s, y0 + (y1 - y0) * t] : [x0 + (x1 - x0) * t, y0 + (y1 - y0) * s]);
        }
        const colours = theme();
        const colour =
            share === 0 ? colours.line : css(heatColour(0.2 + 0.8 * share));
        p.line(points, colour, 1 + 7 * share, share === 0 ? [4, 4] : []);
        places.push({ link, x: points[10][0], y: points[10][1] });
    }

    function drawTraffic(p: Painter, link: LinkInfo, x: number, y: number): void {
        const colours = theme();
        const text = brief(traffic(link));
        const monitored = info.monitors.some((each) => each.link === link.name);
        const width = text.length * 7 + 14 + (monitored ? 16 : 0);
        p.frame(x - width / 2, y - 10, width, 20, colours.line, 10, colours.panel);
        p.text(x + (monitored ? 8 : 0), y, text, { colour: colours.ink, size: 11.5, anchor: 'middle', weight: 500 });
        if (monitored) p.text(x - width / 2 + 8, y, '◆', { colour: colours.marker, size: 13 });
    }

    function drawNode(p: Painter, node: Node): void {
        const colours = theme();
        const known = !Number.isNaN(node.rate);
        const fill = known ? heatColour(0.05 + 0.6 * node.rate) : null;
        const background = fill && colours.dark ? colours.panel : colours.panel;
        p.frame(node.x, node.y - boxHeight / 2, boxWidth, boxHeight, colours.faint, 9, background, 1.3);
        if (fill) {
            p.rect(node.x + 10, node.y + boxHeight / 2 - 9, boxWidth - 20, 4, colours.grid);
            p.rect(node.x + 10, node.y + boxHeight / 2 - 9, (boxWidth - 20) * Math.min(1, node.rate), 4, colours.misses);
        }
        const first = node.y - (node.lines.length * 15) / 2 - (fill ? 3 : 0);
        p.text(node.x + boxWidth / 2, first, node.name, { colour: colours.ink, size: 14, weight: 650, anchor: 'middle' });
        if (node.note)
            p.text(node.x + boxWidth / 2, node.y + boxHeight / 2 + 13, node.note, { colour: colours.faint, size: 11, anchor: 'middle' });
        node.lines.forEach((line, i) =>
            p.text(node.x + boxWidth / 2, first + 17 + 14 * i, line, { colour: colours.faint, size: 11, anchor: 'middle' }),
        );
    }

    function openLevel(name: string): void {
        app.set({ view: 'workbench', show: 'misses', level: name, x: '' });
    }

    const hasHistogram = (name: string) => info.series.some((each) => each.kind === 'level' && each.owner === name);

    /** Caches and links that open, from the cores to the memories. */
    function stops(): Stop[] {
        const boxes = [...nodes.values()]
            .filter(({ name }) => hasHistogram(name))
            .map(({ name, x, y }): Stop => ({ name, x: x + boxWidth / 2, y, size: [boxWidth + 8, boxHeight + 8], open: () => openLevel(name) }));
        const pills = places
            .filter(({ link }) => traffic(link) > 0)
            .map(({ link, x, y }): Stop => ({ name: link.name, x, y, size: [78, 28], open: () => open(link) }));
        return [...boxes, ...pills].sort((a, b) => a.x - b.x || a.y - b.y);
    }

    /** The stop that Enter opens; -1: none. */
    function mark(stop: number): void {
        if (stop === marked) return;
        marked = stop;
        said.textContent = stops()[stop]?.name ?? '';
        figure.redraw();
    }

    function drawMark(p: Painter): void {
        const stop = stops()[marked];
        if (!stop) return;
        const [width, height] = stop.size;
        p.frame(stop.x - width / 2, stop.y - height / 2, width, height, theme().accent, 11, '', 2);
    }

    function key(event: KeyboardEvent): void {
        const all = stops();
        const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        if (event.key === 'Enter' && all[marked]) all[marked].open();
        else if (event.key in steps && all.length > 0)
            mark(marked < 0 ? 0 : (marked + steps[event.key] + all.length) % all.length);
        else return;
        event.preventDefault();
    }

    function click(x: number, y: number): void {
        const near = places.find((each) => Math.hypot(each.x - x, (each.y - y) * 1.5) < 34);
        if (near) return open(near.link);
        const inside = (node: Node) => x >= node.x && x <= node.x + boxWidth && Math.abs(y - node.y) <= boxHeight / 2;
        const node = [...nodes.values()].find((each) => inside(each) && hasHistogram(each.name));
        if (node) openLevel(node.name);
    }

    function table(): Table {
        const kinds = inOrder([...new Set(info.links.flatMap((link) => link.kinds.map((each) => each.kind)))]);
        const rows = info.links.map((link) => [
            link.name,
            link.from,
            link.to,
            info.monitors.some((each) => each.link === link.name) ? 'yes' : '',
            ...kinds.map((kind) => link.kinds.find((each) => each.kind === kind)?.events ?? 0),
        ]);
        return {
            caption: `Events on the links of ${info.machine.name}`,
            headers: ['link', 'from', 'to', 'monitor', ...kinds.map((kind) => eventName(kind).toLowerCase())],
            rows,
        };
    }

    function fillBar(): void {
        chooser.replaceChildren(
            segmented(
                'Links show',
                [
                    ['events', 'all events'],
                    ['misses', 'demand (loads, stores, fetches)'],
                ],
                colouring,
                (value) => {
                    colouring = value;
                    fillBar();
                    figure.changed();
                },
            ),
        );
    }
    fillBar();
    return { element, update: () => figure.changed(), dispose: () => figure.dispose() };
}

export { inkOn };
