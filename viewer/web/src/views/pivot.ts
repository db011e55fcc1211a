// SPDX-License-Identifier: BSD-3-Clause
// Pivot: campaigns and sweeps by any two parameters, as medians; one picture for each value of a third, filters, and the points of a cell.
import { extent, max, min, range } from 'd3-array';
import { baseName, titleOf, type App, type View } from '../app';
import { fill, h, select, tableBy, tableElement, type Table } from '../dom';
import { figureOf, type Hit } from '../figure';
import { brief, full, percent, signed } from '../numbers';
import type { Box } from '../paint';
import { byInterest, cellsOf, isFraction, isKnown, named, parameterOf, twinsOf, valueText, type Parameter, type Pivot, type PivotCell, type Points } from '../points';
import type { FileInfo } from '../protocol';
import { snippet } from '../python';
import { metricsOf } from './fronts';
import { drawMatrix, matrixHeight, type Matrix } from './matrix';

type Cell = PivotCell & { pair?: [number, number] };

interface Picture extends Pivot, Pick<Matrix<Cell>, 'chosen' | 'text' | 'brief'> {
    /** `pair`: where cells are differences, medians of the first file and of the second. */
    cells: Cell[];
    differs: boolean;
    /** All medians of the other file, for one scale; how many cells only one of two files has. */
    beside: number[];
    alone: number;
}

function matrixOf({ facet, down, across, measure, cells, chosen, text, brief: short, beside, differs }: Picture): Matrix<Cell> {
    const places = [0, 1, 2].map((which) => [...new Set(cells.map(({ at }) => at[which]))].sort((a, b) => a - b));
    const namesOf = (parameter: Parameter, which: number) => ({ name: parameter.name, values: places[which].map((at) => valueText(parameter, at)) });
    return {
        ...{ facet: facet && namesOf(facet, 0), down: namesOf(down, 1), across: namesOf(across, 2), blank: '-', chosen, text, brief: short, beside },
        scale: measure.name === 'error' && !differs ? 'linear' : 'auto',
        cells: cells.map((cell) => ({ at: [0, 1, 2].map((which) => places[which].indexOf(cell.at[which])) as PivotCell['at'], value: cell.median, cell })),
    };
}

/** So many values, and so long ones, are buttons; others are a list. */
const [mostChips, longestChip] = [12, 24];

/** Cells of a sweep as points. */
function pointsOfSweep({ sweep }: FileInfo): Points {
    const { rows, rows: { count, texts, numbers } } = sweep!;
    const parameters = ['workload', 'link', 'settings', 'eviction', 'granularity'].flatMap((name) => texts[name] ?? []);
    const measures = metricsOf([rows]).map(({ column }) => ({ name: column, of: numbers[column] }));
    return { group: 'sweep/rows', numbers: range(count), parameters: [...parameters, parameterOf('counters', numbers.counters)], measures };
}

const pointsOf = (info: FileInfo): Points | null => info.campaign ?? (info.sweep?.rows.count ? pointsOfSweep(info) : null);

/** All points with what they differ by. */
export const pointsTable = ({ numbers, parameters, measures }: Points, caption = 'Points', points = Array.from(numbers, (_, i) => i), name = '', most?: number): Table =>
    tableBy(caption, points, [
        ['point', (i) => String(numbers[i])],
        ...parameters.map((each): [string, (i: number) => string | number] => [each.name, (i) => each.values[each.of[i]] ?? (typeof each.values[0] === 'number' ? NaN : '')]),
        ...measures.filter((each) => !name || each.name === name).map((each): [string, (i: number) => number] => [each.name, (i) => each.of[i]]),
    ], { sorted: name ? 1 + parameters.length : undefined, most });

export function pivotView(app: App): View & { boxes: () => Box[] } {
    const { info } = app.source;
    const points = pointsOf(info)!;
    const other = app.others[0] ? pointsOf(app.others[0].info) : null;
    const parameters = points.parameters.filter(({ values }) => values.length > 1);
    const interest = byInterest(points);
    const measures = points.measures.filter(isKnown);
    let hits: Hit<Cell>[] = [];
    let leftOut = 0;

    /** "n|32|64;seed|1" */
    const filters = (): [Parameter, number[]][] =>
        (app.state.where ?? '').split(';').flatMap((part) => {
            const [name, ...values] = part.split('|');
            const parameter = named(parameters, name);
            const places = parameter?.values.flatMap((value, i) => (values.includes(String(value)) ? [i] : [])) ?? [];
            return places.length ? [[parameter!, places] as [Parameter, number[]]] : [];
        });
    function filter(parameter: Parameter, places: number[]): void {
        const others = filters().filter(([each]) => each !== parameter);
        const all = places.length ? [...others, [parameter, places] as [Parameter, number[]]] : others;
        app.set({ where: all.map(([{ name, values }, own]) => [name, ...own.map((i) => values[i])].join('|')).join(';'), cell: '' });
    }

    function picture(): Picture {
        const { state } = app;
        const down = named(points.parameters, state.down) ?? interest.find(({ name }) => name !== state.across) ?? points.parameters[0];
        const across = named(points.parameters.filter((each) => each !== down), state.across) ?? [...interest, ...points.parameters].find((each) => each !== down)!;
        const facet = named(parameters.filter((each) => each !== down && each !== across), state.facet) ?? null;
        const measure = named(measures, state.metric) ?? named(measures, 'error') ?? measures.find(({ ratio }) => ratio) ?? measures[0] ?? points.measures[0];
        const pivot = { down, across, facet, measure };
        const found = cellsOf(points, pivot, filters());
        ({ leftOut } = found);
        const { twins, all } = other ? twinsOf(found.cells, pivot, other, filters()) : { twins: [], all: [] };
        const differs = other !== null && state.file === 'difference';
        const subtracted = (cell: PivotCell, i: number): Cell => ({ ...cell, median: twins[i] - cell.median, pair: [cell.median, twins[i]] });
        const cells = differs ? found.cells.map(subtracted) : found.cells;
        const [text, short] = (isFraction(measure) ? [percent, percent] : [full, brief]).map((each) => (differs ? signed(each) : each));
        const matched = twins.filter((each) => !Number.isNaN(each)).length;
        const [alone, beside] = [cells.length + all.length - 2 * matched, differs ? [] : all];
        return { ...pivot, cells, differs, beside, alone, chosen: cells.find(({ at }) => String(at) === state.cell) ?? null, text, brief: short };
    }
    let shown = picture();
    const nameOf = ({ at }: PivotCell) => [shown.facet, shown.down, shown.across].flatMap((each, i) => (each ? [`${each.name} ${valueText(each, at[i])}`] : [])).join(', ');
    const by = () => `${shown.measure.name}${shown.differs ? ', B − A,' : ''} by ${shown.down.name} and ${shown.across.name}${shown.facet ? `, for each ${shown.facet.name}` : ''}`;
    const choose = (cell: PivotCell) => app.set({ cell: String(cell.at) });
    const valuesOf = (cell: PivotCell) => cell.points.map((i) => shown.measure.of[i]);
    const plain = (value: number) => (Number.isNaN(value) ? 'not known' : (isFraction(shown.measure) ? percent : full)(value));

    function told(cell: Cell): string {
        const { measure, text } = shown;
        const pair = cell.pair?.map((value, i) => `${'AB'[i]} ${plain(value)}`);
        if (pair) return `${nameOf(cell)}: ${Number.isNaN(cell.median) ? '' : `${text(cell.median)}, `}${pair.join(', ')}`;
        const [least, most] = extent(valuesOf(cell));
        const several = cell.points.length > 1;
        const differing = parameters.filter(({ of }) => cell.points.some((i) => of[i] !== of[cell.points[0]]));
        const point = (i: number) => `${[`point ${points.numbers[i]}`, ...differing.filter(({ of }) => of[i] >= 0).map((each) => `${each.name} ${valueText(each, each.of[i])}`)].join(', ')}: ${text(measure.of[i])}`;
        const spread = several ? `, median of ${cell.points.length} points from ${text(least!)} to ${text(most!)}` : '';
        return [`${nameOf(cell)}: ${Number.isNaN(cell.median) ? 'not known' : text(cell.median)}${spread}`, ...(several ? cell.points.map(point) : [])].join('\n');
    }

    /** The worst first. */
    function cellsTable(): Table {
        const { cells, measure, chosen } = shown;
        const pick = (name: string) => choose(cells.find((cell) => nameOf(cell) === name)!);
        const format = (value: number, column: number) => (Number.isNaN(value) ? '-' : column < 4 && isFraction(measure) ? (column === 1 ? shown.text : percent)(value) : full(value));
        const columns: [string, (cell: Cell) => number][] = shown.differs
            ? [['A', ({ pair }) => pair![0]], ['B', ({ pair }) => pair![1]]]
            : [['least', (cell) => min(valuesOf(cell)) ?? NaN], ['most', (cell) => max(valuesOf(cell)) ?? NaN], ['points', (cell) => cell.points.length]];
        return tableBy(`Cells: ${by()}`, cells, [['cell', nameOf], [shown.differs ? 'B − A' : `median ${measure.name}`, ({ median }) => median], ...columns], { sorted: 1, format, pick, picked: chosen ? nameOf(chosen) : undefined });
    }

    const figure = figureOf({
        name: () => `${baseName(app.source)}-pivot`,
        label: () => `${by()} of ${titleOf(app.source)}, ${shown.cells.length} cells`,
        height: (width) => matrixHeight(matrixOf(shown), width),
        draw: (p) => (hits = drawMatrix(p, matrixOf(shown))),
        table: cellsTable,
        python: () => {
            const { down, across, facet, measure } = shown;
            const chosen = filters().map(([{ name, values }, own]): [string, (string | number)[]] => [name, own.map((i) => values[i])]);
            return snippet({ FILE: info.name, GROUP: points.group, BY: [facet, down, across].flatMap((each) => each?.name ?? []), VALUE: measure.ratio ?? [measure.name], CHOSEN: chosen }, 'pivot');
        },
    });
    figure.picks(() => hits, () => shown.chosen, told, choose);

    const controls = h('div', { class: 'row' });
    const note = h('p', { class: 'note', role: 'status' });
    const title = h('h3', {});
    figure.bar.append(title, controls, note);
    const left = h('section', { class: 'card filters', 'aria-label': 'Parameters' });
    const [worst, own] = [h('section', { class: 'card' }), h('section', { class: 'card' })];
    const element = h('div', { class: 'view pivot' }, left, h('div', { class: 'view' }, figure.element, worst, own));

    function filterOf(parameter: Parameter): HTMLElement {
        const { name, values } = parameter;
        const chosen = filters().find(([each]) => each === parameter)?.[1] ?? [];
        const toggled = (i: number) => (chosen.includes(i) ? chosen.filter((each) => each !== i) : [...chosen, i].sort((a, b) => a - b));
        const chip = (_: unknown, i: number) =>
            h('button', { type: 'button', class: 'chip', 'aria-pressed': String(chosen.includes(i)), onclick: () => filter(parameter, toggled(i)) }, valueText(parameter, i));
        if (values.length > 1 && (values.length > mostChips || values.some((value) => String(value).length > longestChip))) {
            const options = values.map((_, i): [string, string] => [String(i), valueText(parameter, i)]);
            return select(name, [['', `all ${values.length}`], ...options], String(chosen[0] ?? ''), (to) => filter(parameter, to ? [Number(to)] : []));
        }
        const only = values.length < 2 && h('span', { class: 'note' }, values.length ? valueText(parameter, 0) : 'none');
        return h('div', { role: 'group', 'aria-label': name }, h('h3', {}, name), h('div', { class: 'row' }, only, ...(only ? [] : values.map(chip))));
    }

    function update(): void {
        shown = picture();
        const { down, across, facet, measure, chosen, cells, differs, alone } = shown;
        fill(left, ...points.parameters.map(filterOf));
        const choice = (label: string, list: { name: string }[], now: string, key: 'down' | 'across' | 'facet' | 'metric', more: [string, string][] = []) =>
            select(label, [...more, ...list.map(({ name }) => name)], now, (to) => app.set({ [key]: to, cell: '' }));
        fill(
            controls,
            choice('Value', measures, measure.name, 'metric'),
            choice('Across', points.parameters.filter((each) => each !== down), across.name, 'across'),
            choice('Down', points.parameters.filter((each) => each !== across), down.name, 'down'),
            choice('For each', parameters.filter((each) => each !== down && each !== across), facet?.name ?? '', 'facet', [['', '-']]),
        );
        title.textContent = by();
        const several = cells.some(({ points: { length } }) => length > 1);
        note.textContent = [
            chosen ? `${told(chosen).split('\n')[0]}.` : '',
            several ? 'Of several points a cell has the median.' : '',
            measure.ratio ? `${measure.name} is derived: ${measure.ratio.join(' / ')}.` : '',
            differs && alone ? `${alone} cells of one file alone are not compared.` : '',
            leftOut ? `Left out: ${full(leftOut)} points without ${[facet, down, across].flatMap((each) => each?.name ?? []).join(' or ')}.` : '',
        ].filter(Boolean).join(' ');
        fill(worst, tableElement(cellsTable()));
        own.hidden = !chosen;
        if (chosen) own.replaceChildren(tableElement(pointsTable(points, `Points of ${nameOf(chosen)}`, chosen.points, measure.name, 100)));
        figure.changed();
    }
    return {
        ...{ element, update },
        /** Where cells are, for tests. */
        boxes: () => hits,
        totals: () => Object.fromEntries(shown.cells.map((cell) => [nameOf(cell), cell.median])),
    };
}
