// SPDX-License-Identifier: BSD-3-Clause
// What sweeps and intrusion experiments have in common: a cell for each number of counters and each granularity, shown as pictures by
// one of several metrics; of two files also how much more the second has.
import { groups } from 'd3-array';
import { baseName, titleOf, type App, type View } from '../app';
import { fill, h, segmented, select, type Table } from '../dom';
import { Figure, type Hit } from '../figure';
import type { State } from '../state';
import { worstOfAll } from './sweep_cells';
import { cellsHeight, drawCells, drawLines, linesHeight, type Cell, type Metric, type Paint, type Picture } from './cells_draw';

export interface CellFigure {
    name: string;
    title: string;
    paint: Paint;
    height: (picture: Picture, width: number) => number;
    /** It stands alone, as wide as the page. */
    wide?: boolean;
    /** Default: that of the cells. */
    table?: (picture: Picture) => Table;
    /** Default: the metric of the cells. */
    python?: (picture: Picture) => string;
}

/** A choice of cells: by a column of the file, kept in the URL. */
export interface Choice {
    title: string;
    key: keyof State;
    of: (cell: Cell) => string;
    /** What has the largest error is first, but for the worst of all. */
    worstFirst?: boolean;
}

export interface Cells {
    cells: Cell[];
    metrics: Metric[];
    /** What the error may be weighed against; empty: nothing. */
    overs: Metric[];
    choices: Choice[];
    note: (picture: Picture) => string;
    table: (picture: Picture) => Table;
    python: (picture: Picture) => string;
}

/** What is under the pictures, of the chosen cell. */
export interface CellDetail extends Omit<View, 'update'> {
    show: (cell: Cell | null) => void;
}

export const matrixFigure: CellFigure = { name: 'matrix', title: 'Counters by granularity', paint: drawCells, height: cellsHeight };
export const linesFigure: CellFigure = { name: 'lines', title: 'Over the number of counters', paint: drawLines, height: linesHeight };

/** The same numbers of another file, and by how much they are more; null where it has no such cell. */
function differences(metric: Metric, twins: Cell[], choices: Choice[]): Metric {
    const key = (cell: Cell) => [cell.id, ...choices.map(({ of }) => of(cell))].join('|');
    const found = new Map(twins.map((cell) => [key(cell), cell]));
    const value = (cell: Cell) => {
        const twin = found.get(key(cell));
        return twin ? metric.value(twin) - metric.value(cell) : NaN;
    };
    const signed = (text: (value: number) => string) => (each: number) => (each < 0 ? `−${text(-each)}` : each > 0 ? `+${text(each)}` : text(each));
    return { ...metric, title: `${metric.title}, B − A`, value, text: signed(metric.text), tick: signed(metric.tick), scale: 'auto', published: undefined };
}

export class CellsView implements View {
    readonly element: HTMLElement;
    private readonly controls = h('div', { class: 'row' });
    private readonly weighed = h('div', { class: 'row' });
    private readonly figures: Figure[];
    /** Of two files: what tells cells of either apart. */
    private readonly telling: Choice[];

    /** `other`: of the second file. */
    constructor(
        private readonly app: App,
        private readonly all: Cells,
        private readonly other: Cells | null,
        figures: CellFigure[],
        private readonly detail: CellDetail,
    ) {
        this.telling = all.choices.filter(({ of }) => [all, other].some((each) => new Set(each?.cells.map(of)).size > 1));
        this.figures = figures.map((each) => this.figure(each));
        if (all.overs.length > 1) this.figures.at(-1)!.bar.append(this.weighed);
        const [first, ...rest] = this.figures.map((each) => each.element);
        const others = rest.length > 1 && !figures.some(({ wide }) => wide) ? [h('div', { class: 'two' }, ...rest)] : rest;
        this.element = h('div', { class: 'view' }, h('section', { class: 'card' }, this.controls), first, ...others, detail.element);
        this.update();
    }

    /** What is chosen of several things, the first where nothing is. */
    private among<T>(list: T[], key: keyof State, name: (each: T) => string): T {
        return list.find((each) => name(each) === this.app.state[key]) ?? list[0];
    }

    private get difference(): boolean {
        return this.other !== null && this.app.state.file === 'difference';
    }

    /** What there is of each choice among the cells that those before it leave, and which is chosen; at last the cells of all. */
    private chosen(): { cells: Cell[]; by: { choice: Choice; names: string[]; name: string }[] } {
        let { cells } = this.all;
        const by = this.all.choices.map((choice) => {
            const worst = ([name, own]: [string, Cell[]]) => (name === worstOfAll ? -1 : Math.max(...own.map(({ numbers }) => numbers.error)));
            const found = groups(cells, choice.of);
            if (choice.worstFirst) found.sort((a, b) => worst(b) - worst(a));
            const names = found.map(([name]) => name);
            const name = this.among(names, choice.key, (each) => each);
            cells = cells.filter((cell) => choice.of(cell) === name);
            return { choice, names, name };
        });
        return { cells, by };
    }

    private picture(): Picture {
        const { all, other, app } = this;
        const { cells, by } = this.chosen();
        const plain = this.among(all.metrics, 'metric', ({ id }) => id);
        const metric = this.difference ? differences(plain, other!.cells, this.telling) : plain;
        const over = this.among(all.overs, 'over', ({ id }) => id);
        const beside = this.difference || !other ? [] : other.cells.filter((cell) => by.every(({ choice, name }) => !this.telling.includes(choice) || choice.of(cell) === name));
        return { cells, metric, over, beside, chosen: cells.find(({ id }) => id === app.state.cell) ?? null };
    }

    private figure({ name, title, paint, height, table, python }: CellFigure): Figure {
        const { app, all } = this;
        let hits: Hit<Cell>[] = [];
        const made = new Figure({
            name: () => `${baseName(app.source)}-${name}`,
            label: () => `${title}: ${this.picture().metric.title} of ${this.picture().cells.length} cells of ${titleOf(app.source)}`,
            height: (width) => height(this.picture(), width),
            draw: (p) => (hits = paint(p, this.picture())),
            table: () => table?.(this.picture()) ?? this.table(),
            python: () => (python ?? all.python)(this.picture()),
        });
        made.bar.append(h('h3', {}, title));
        made.picks(
            () => hits,
            () => this.picture().chosen,
            (cell) => `${cell.row}, ${cell.numbers.counters} counters: ${this.said(cell)}`,
            (cell) => this.choose(cell),
        );
        return made;
    }

    private said(cell: Cell): string {
        return this.all.metrics.map(({ title, value, text }) => `${title.toLowerCase()} ${text(value(cell))}`).join(', ');
    }

    private choose(cell: Cell): void {
        const elsewhere = this.chosen().by.filter(({ choice, name }) => choice.of(cell) !== name).map(({ choice }) => [choice.key, choice.of(cell)]);
        this.app.set({ ...Object.fromEntries(elsewhere), cell: cell.id, x: '' });
    }

    /** With the metric of the second file and the difference, where that is shown. */
    private table(): Table {
        const picture = this.picture();
        const table = this.all.table(picture);
        if (!this.difference) return table;
        const rows = picture.cells.map((cell) => [cell.texts.granularity, cell.numbers.counters, picture.metric.value(cell)]);
        return { ...table, headers: ['granularity', 'counters', picture.metric.title], rows, keys: 2 };
    }

    update(): void {
        const { app, all } = this;
        const picture = this.picture();
        const choices = this.chosen().by.filter(({ names }) => names.length > 1);
        const named = (list: Metric[], text: (title: string) => string) => list.map((each): [string, string] => [each.id, text(each.title)]);
        fill(
            this.controls,
            segmented('What is shown', named(all.metrics, String), picture.metric.id, (metric) => app.set({ metric })),
            ...choices.map(({ choice: { title, key }, names, name }) => select(title, names.map((each): [string, string] => [each, each || 'none']), name, (to) => app.set({ [key]: to }))),
            h('span', { class: 'note' }, all.note(picture)),
        );
        if (picture.over) fill(this.weighed, select('Error against', named(all.overs, (each) => each.toLowerCase()), picture.over.id, (over) => app.set({ over })));
        this.figures.forEach((each) => each.changed());
        this.detail.show(picture.chosen);
    }

    frames = (): number[] => this.detail.frames?.() ?? [];

    /** Of the detail, or the metric by cell. */
    totals(): Record<string, number> {
        const { cells, metric } = this.picture();
        return this.detail.totals?.() ?? Object.fromEntries(cells.map((cell) => [cell.id, metric.value(cell)]));
    }
}
