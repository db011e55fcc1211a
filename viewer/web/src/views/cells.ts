// SPDX-License-Identifier: BSD-3-Clause
// What sweeps and intrusion experiments have in common: a cell for each number of counters and each granularity, shown as pictures by
// one of several metrics; of two files also how much more the second has.
import { groups } from 'd3-array';
import { baseName, titleOf, type App, type View } from '../app';
import { fill, h, inWords, segmented, select, tableBy, type Table } from '../dom';
import { figureOf, type Hit } from '../figure';
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

/** `other`: of the second file. */
export function cellsView(app: App, all: Cells, other: Cells | null, shown: CellFigure[], detail: CellDetail): View {
    const controls = h('div', { class: 'row' });
    const weighed = h('div', { class: 'row' });
    /** Of two files: what tells cells of either apart. */
    const telling = all.choices.filter(({ of }) => [all, other].some((each) => new Set(each?.cells.map(of)).size > 1));
    const differs = () => other !== null && app.state.file === 'difference';

    /** What is chosen of several things, the first where nothing is. */
    const among = <T>(list: T[], key: keyof State, name: (each: T) => string): T => list.find((each) => name(each) === app.state[key]) ?? list[0];

    /** What there is of each choice among the cells that those before it leave, and which is chosen; at last the cells of all. */
    function chosen(): { cells: Cell[]; by: { choice: Choice; names: string[]; name: string }[] } {
        let { cells } = all;
        const by = all.choices.map((choice) => {
            const worst = ([name, own]: [string, Cell[]]) => (name === worstOfAll ? -1 : Math.max(...own.map(({ numbers }) => numbers.error)));
            const found = groups(cells, choice.of);
            if (choice.worstFirst) found.sort((a, b) => worst(b) - worst(a));
            const names = found.map(([name]) => name);
            const name = among(names, choice.key, String);
            cells = cells.filter((cell) => choice.of(cell) === name);
            return { choice, names, name };
        });
        return { cells, by };
    }

    function picture(): Picture {
        const { cells, by } = chosen();
        const plain = among(all.metrics, 'metric', ({ id }) => id);
        const metric = differs() ? differences(plain, other!.cells, telling) : plain;
        const over = among(all.overs, 'over', ({ id }) => id);
        const beside = differs() || !other ? [] : other.cells.filter((cell) => by.every(({ choice, name }) => !telling.includes(choice) || choice.of(cell) === name));
        return { cells, metric, over, beside, chosen: cells.find(({ id }) => id === app.state.cell) ?? null };
    }

    /** With the metric of the second file and the difference, where that is shown. */
    function table(): Table {
        const { cells, metric } = picture();
        if (!differs()) return all.table(picture());
        return tableBy(all.table(picture()).caption, cells, [...inWords('granularity', 'counters'), [metric.title, metric.value]], { keys: 2 });
    }

    function choose(cell: Cell): void {
        const elsewhere = chosen().by.filter(({ choice, name }) => choice.of(cell) !== name).map(({ choice }) => [choice.key, choice.of(cell)]);
        app.set({ ...Object.fromEntries(elsewhere), cell: cell.id, x: '' });
    }

    const figures = shown.map(({ name, title, paint, height, table: own, python }) => {
        let hits: Hit<Cell>[] = [];
        const made = figureOf({
            name: () => `${baseName(app.source)}-${name}`,
            label: () => `${title}: ${picture().metric.title} of ${picture().cells.length} cells of ${titleOf(app.source)}`,
            height: (width) => height(picture(), width),
            draw: (p) => (hits = paint(p, picture())),
            table: () => own?.(picture()) ?? table(),
            python: () => (python ?? all.python)(picture()),
        });
        made.bar.append(h('h3', {}, title));
        const said = (cell: Cell) => all.metrics.map(({ title, value, text }) => `${title.toLowerCase()} ${text(value(cell))}`).join(', ');
        made.picks(() => hits, () => picture().chosen, (cell) => `${cell.row}, ${cell.numbers.counters} counters: ${said(cell)}`, choose);
        return made;
    });
    if (all.overs.length > 1) figures.at(-1)!.bar.append(weighed);
    const [first, ...rest] = figures.map((each) => each.element);
    const others = rest.length > 1 && !shown.some(({ wide }) => wide) ? [h('div', { class: 'two' }, ...rest)] : rest;
    const element = h('div', { class: 'view' }, h('section', { class: 'card' }, controls), first, ...others, detail.element);

    function update(): void {
        const now = picture();
        const choices = chosen().by.filter(({ names }) => names.length > 1);
        const named = (list: Metric[], text: (title: string) => string) => list.map((each): [string, string] => [each.id, text(each.title)]);
        fill(
            controls,
            segmented('What is shown', named(all.metrics, String), now.metric.id, (metric) => app.set({ metric })),
            ...choices.map(({ choice: { title, key }, names, name }) => select(title, names.map((each) => [each, each || 'none']), name, (to) => app.set({ [key]: to }))),
            h('span', { class: 'note' }, all.note(now)),
        );
        if (now.over) fill(weighed, select('Error against', named(all.overs, (each) => each.toLowerCase()), now.over.id, (over) => app.set({ over })));
        figures.forEach((each) => each.changed());
        detail.show(now.chosen);
    }
    update();
    return {
        ...{ element, update, frames: detail.frames },
        /** Of the detail, or the metric by cell. */
        totals: () => detail.totals?.() ?? Object.fromEntries(picture().cells.map((cell) => [cell.id, picture().metric.value(cell)])),
    };
}
