// SPDX-License-Identifier: BSD-3-Clause
// Figure: a picture with its tools: the table behind it, CSV, SVG, PNG, and the same data in Python.
import { least } from 'd3-array';
import { copied, csv, dialog, download, h, tableElement, type Table } from './dom';
import { theme } from './colours';
import { inside, type Box } from './field_layout';
import { full } from './numbers';
import { CanvasPainter, SvgPainter, type Painter } from './paint';

/** Pictures are drawn so wide for paper, and scaled to it. */
const paperWidth = 960;

/** Where a cell of a picture can be pressed. */
export type Hit<T> = Box & { cell: T };

export interface FigureOptions {
    /** File name of exports, without extension. */
    name: () => string;
    /** What the picture is, for those who do not see it. */
    label: () => string;
    height: (width: number) => number;
    draw: (painter: Painter) => void;
    table: () => Table | Promise<Table>;
    python: () => string;
}

const made = new WeakMap<Element, Figure>();
for (const [event, act] of [['beforeprint', 'print'], ['afterprint', 'unprint']] as const)
    window.addEventListener(event, () => document.querySelectorAll('.figure').forEach((each) => made.get(each)?.[act]()));

export class Figure {
    readonly element: HTMLElement;
    readonly canvas: HTMLCanvasElement;
    private readonly painter: CanvasPainter;
    private said = '';
    /** For controls of the view, before the tools. */
    readonly bar: HTMLElement;
    private readonly behind: HTMLElement;
    /** The picture for paper: a canvas that is higher than a page would be cut off. */
    private readonly printed = h('div', { class: 'printed' });
    private frame = 0;
    private readonly tableButton: HTMLButtonElement;

    constructor(private readonly options: FigureOptions) {
        this.canvas = h('canvas', { role: 'img', tabindex: 0 });
        this.painter = new CanvasPainter(this.canvas);
        const tool = (text: string, hint: string, act: () => void) =>
            h('button', { type: 'button', class: 'tool', title: hint, 'aria-label': hint, onclick: act }, text);
        this.tableButton = tool('Table', 'Show the table behind the picture', () => void this.toggleTable());
        this.tableButton.setAttribute('aria-expanded', 'false');
        this.bar = h('div', { class: 'figure-bar' });
        const tools = h(
            'div',
            { class: 'tools' },
            this.tableButton,
            exportMenu([
                ['CSV', 'Save the numbers as CSV', () => void this.saveCsv()],
                ['SVG', 'Save the picture as SVG', () => this.saveSvg()],
                ['PNG', 'Save the picture as PNG', () => this.savePng()],
                ['Python', 'Show a Python snippet that reads the same data', () => showPython(options.python())],
            ]),
        );
        this.behind = h('div', { class: 'behind', hidden: true });
        this.element = h('section', { class: 'figure' }, h('div', { class: 'figure-head' }, this.bar, tools), this.canvas, this.printed, this.behind);
        new ResizeObserver(() => this.redraw()).observe(this.element);
        made.set(this.element, this);
    }

    print(): void {
        const least = parseFloat(this.canvas.style.minWidth) || 0;
        if (this.element.isConnected && !this.canvas.hidden) this.printed.innerHTML = this.svg(Math.max(paperWidth, least));
    }

    unprint(): void {
        this.printed.replaceChildren();
        this.redraw(); // places for the pointer are those of the last drawing
    }

    /** Cells are pressed, told of by `title` under the pointer, and walked through by arrows, from the chosen one on; `hits`: as they are drawn. */
    picks<T>(hits: () => Hit<T>[], chosen: () => T | null, title: (cell: T) => string, choose: (cell: T) => void): void {
        const { canvas } = this;
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

    /** Draws before the next frame. */
    redraw(): void {
        if (this.frame !== 0) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            this.drawNow();
        });
    }

    drawNow(): void {
        const width = this.canvas.clientWidth;
        if (width === 0) return;
        this.options.draw(this.painter.begin(width, this.options.height(width)));
        const label = this.options.label();
        if (label !== this.said) this.canvas.setAttribute('aria-label', (this.said = label));
    }

    /** After the data have changed: draws, and brings the table up to date where it is open. */
    changed(): void {
        this.redraw();
        if (!this.behind.hidden) void this.fillTable();
    }

    private async toggleTable(): Promise<void> {
        this.behind.hidden = !this.behind.hidden;
        this.tableButton.setAttribute('aria-expanded', String(!this.behind.hidden));
        if (!this.behind.hidden) await this.fillTable();
    }

    private async fillTable(): Promise<void> {
        this.behind.replaceChildren(tableElement(await this.options.table(), full));
    }

    private async saveCsv(): Promise<void> {
        download(`${this.options.name()}.csv`, new Blob([csv(await this.options.table())], { type: 'text/csv' }));
    }

    svg(width = Math.max(400, this.canvas.clientWidth)): string {
        const painter = new SvgPainter(width, this.options.height(width), theme().panel);
        this.options.draw(painter);
        return painter.toString();
    }

    private saveSvg(): void {
        download(`${this.options.name()}.svg`, new Blob([this.svg()], { type: 'image/svg+xml' }));
    }

    private savePng(): void {
        const copy = document.createElement('canvas');
        copy.width = this.canvas.width;
        copy.height = this.canvas.height;
        const context = copy.getContext('2d')!;
        context.fillStyle = theme().panel;
        context.fillRect(0, 0, copy.width, copy.height);
        context.drawImage(this.canvas, 0, 0);
        copy.toBlob((blob) => blob && download(`${this.options.name()}.png`, blob));
    }
}

/** One menu: opened by click or Enter, closed by Escape, by a choice, or when the focus leaves it. */
function exportMenu(items: [string, string, () => void][]): HTMLElement {
    const close = (focus: boolean) => {
        menu.open = false;
        if (focus) menu.querySelector('summary')!.focus();
    };
    const item = ([text, hint, act]: [string, string, () => void]) =>
        h('button', { type: 'button', title: hint, 'aria-label': hint, onclick: () => (close(true), act()) }, text);
    const menu = h('details', { class: 'menu' }, h('summary', { class: 'tool' }, 'Export'), h('div', {}, ...items.map(item)));
    menu.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape' || !menu.open) return;
        event.stopPropagation();
        close(true);
    });
    const elsewhere = (event: Event) => !menu.contains(event.target as Node) && close(false);
    menu.addEventListener('toggle', () => menu.open && document.addEventListener('pointerdown', elsewhere, { once: true }));
    menu.addEventListener('focusout', (event) => {
        if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) close(false);
    });
    return menu;
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
