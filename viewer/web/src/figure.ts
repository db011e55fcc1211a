// SPDX-License-Identifier: BSD-3-Clause
// Figure: a picture with its tools: the table behind it, CSV, SVG, PNG, and the same data in Python.
import { least } from 'd3-array';
import { copied, csv, dialog, download, h, tableElement, type Table } from './dom';
import { CanvasPainter, SvgPainter, inside, type Box, type Painter } from './paint';

/** Pictures are drawn so wide for paper, and scaled to it. */
const paperWidth = 960;

/** Milliseconds after which other pictures wait for the next frame. */
const longFrame = 50;

/** Milliseconds that the last pictures took to draw; for tests and measurements. */
export const frames: number[] = [];

/** Where a cell of a picture can be pressed. */
export type Hit<T> = Box & { cell: T };

export interface FigureOptions extends Record<'name' | 'label' | 'python', () => string> {
    height: (width: number) => number; draw: (painter: Painter) => void; table: () => Table;
}

/** `bar`: for controls of the view, before the tools. */
export function figureOf({ name, label, height, draw, table, python }: FigureOptions) {
    const canvas = h('canvas', { role: 'img', tabindex: 0 });
    const painter = new CanvasPainter(canvas);
    const bar = h('div', { class: 'figure-bar' });
    const behind = h('div', { class: 'behind', hidden: true });
    /** The picture for paper: a canvas that is higher than a page would be cut off. */
    const printed = h('div', { class: 'printed' });
    let said = '';
    let frame = 0;

    function toggleTable(): void {
        behind.hidden = !behind.hidden;
        tableButton.setAttribute('aria-expanded', String(!behind.hidden));
        changed();
    }

    function drawNow(at: number): void {
        frame = 0;
        const width = canvas.clientWidth;
        if (width === 0) return;
        const begin = performance.now();
        if (begin - at > longFrame) return redraw(); // what is drawn already is shown first
        draw(painter.begin(width, height(width)));
        frames.push(performance.now() - begin);
        if (frames.length > 400) frames.shift();
        if (label() !== said) canvas.setAttribute('aria-label', (said = label()));
    }

    const redraw = (): void => void (frame ||= requestAnimationFrame(drawNow));

    /** After the data have changed: draws, and brings the table up to date where it is open. */
    function changed(): void {
        redraw();
        if (!behind.hidden) behind.replaceChildren(tableElement(table()));
    }

    function svg(width = Math.max(400, canvas.clientWidth)): string {
        const paper = new SvgPainter(width, height(width));
        draw(paper);
        return paper.toString();
    }

    /** Cells are pressed, told of by `title` under the pointer, and walked through by arrows, from the chosen one on; `hits`: as they are drawn. */
    function picks<T>(hits: () => Hit<T>[], chosen: () => T | null, title: (cell: T) => string, choose: (cell: T) => void): void {
        const under = ({ offsetX, offsetY }: MouseEvent) => hits().find((each) => inside(each, offsetX, offsetY));
        const pick = (hit: Hit<T> | undefined) => hit && choose(hit.cell);
        canvas.classList.add('clickable');
        canvas.addEventListener('click', (event) => pick(under(event)));
        canvas.addEventListener('pointermove', (event) => {
            const hit = under(event);
            canvas.title = hit ? title(hit.cell) : '';
        });
        canvas.addEventListener('keydown', (event) => {
            const [dx, dy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key] ?? [0, 0];
            if (!dx && !dy) return;
            event.preventDefault();
            const from = hits().find(({ cell }) => cell === chosen());
            const distance = (to: Box) => {
                const [x, y] = [to.x + to.width / 2 - from!.x - from!.width / 2, to.y + to.height / 2 - from!.y - from!.height / 2];
                const along = dx * x + dy * y;
                return along > 1 ? along + 8 * (Math.abs(dy * x) + Math.abs(dx * y)) : NaN;
            };
            pick(from ? least(hits(), distance) : hits()[0]);
        });
    }

    const hint = 'Show the table behind the picture';
    const tableButton = h('button', { type: 'button', class: 'tool', title: hint, 'aria-label': hint, 'aria-expanded': 'false', onclick: toggleTable }, 'Table');
    const exports = exportMenu([
        ['CSV', 'Save the numbers as CSV', () => download(`${name()}.csv`, csv(table()), 'text/csv')],
        ['SVG', 'Save the picture as SVG', () => download(`${name()}.svg`, svg(), 'image/svg+xml')],
        ['PNG', 'Save the picture as PNG', () => canvas.toBlob((blob) => blob && download(`${name()}.png`, blob, 'image/png'))],
        ['Python', 'Show a Python snippet that reads the same data', () => showPython(python())],
    ]);
    const head = h('div', { class: 'figure-head' }, bar, h('div', { class: 'tools' }, tableButton, exports));
    const onbeforeprint = () => canvas.hidden || (printed.innerHTML = svg(Math.max(paperWidth, parseFloat(canvas.style.minWidth) || 0)));
    const onafterprint = () => {
        printed.replaceChildren();
        redraw(); // places for the pointer are those of the last drawing
    };
    const element = h('section', { class: 'figure prints', onbeforeprint, onafterprint }, head, canvas, printed, behind);
    new ResizeObserver(redraw).observe(element);
    return { element, canvas, bar, picks, redraw, changed };
}

/** One menu, which browsers close on Escape and when something else is pressed. */
function exportMenu(items: [string, string, () => void][]): HTMLElement {
    const list = h('div', { popover: 'auto' });
    const button = (text: string, popoverTargetAction: string, more: Record<string, string | (() => void)>) =>
        Object.assign(h('button', { type: 'button', ...more }, text), { popoverTargetElement: list, popoverTargetAction });
    list.append(...items.map(([text, hint, onclick]) => button(text, 'hide', { title: hint, 'aria-label': hint, onclick })));
    return h('div', { class: 'menu' }, button('Export', 'toggle', { class: 'tool' }), list);
}

function showPython(code: string): void {
    const told = h('span', { class: 'note', role: 'status' });
    const text = h('pre', { tabindex: 0 }, code);
    const copy = async () => {
        const done = await copied(code);
        if (!done) getSelection()?.selectAllChildren(text);
        told.textContent = done ? 'copied' : 'selected: press Ctrl+C';
    };
    const made: HTMLDialogElement = dialog(
        'Python',
        h('p', {}, 'The same data with h5py (Debian: python3-h5py, python3-numpy):'),
        text,
        h('div', { class: 'row' }, h('button', { type: 'button', class: 'primary', onclick: () => void copy() }, 'Copy'), h('button', { type: 'button', onclick: () => made.close() }, 'Close'), told),
    );
}
