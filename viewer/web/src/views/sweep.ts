// SPDX-License-Identifier: BSD-3-Clause
// Sweep: what counters and granularity cost and give; of a cell the histogram that its monitor gives, and the exact one.
import { groups, least, min, sort } from 'd3-array';
import { baseName, titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import { theme } from '../paint';
import { h, inWords, tableBy, type Column, type Table } from '../dom';
import { fieldPlot } from '../field';
import { movesPages } from '../machine';
import { bytes, full, parseRange, percent, percentTick, rangeText } from '../numbers';
import type { PanelSource } from '../panels';
import type { Axis, FileInfo, Stretch } from '../protocol';
import { snippet } from '../python';
import { once } from '../remembered';
import { cellsView, linesFigure, matrixFigure, metricColumn, plainMetric, saidOf, type Cell, type CellDetail, type CellFigure, type Cells, type Metric, type Picture } from './cells';
import { front as words } from '../../../drawing.json';
import { cellsOf, drawFronts, fieldsOf, frontsTable, gridOf, known, markOf, metricsOf, objectivesOf, oversOf, panelsOf, paretoFront, type Fronts } from './fronts';

/** Lines per group of a granularity with fixed groups: "4", "mask:6" with lines of 16 bytes = 4; null for others. */
function linesPerGroup(granularity: string, unit: number): number | null {
    const [, mask, lines] = /^(?:mask:(\d+)|(\d+))$/.exec(granularity) ?? [];
    return mask ? Math.max(1, 2 ** Number(mask) / unit) : lines ? Number(lines) : null;
}

/** The error seen here beside the file's. Groups are physical: where pages are mapped, those that cross pages cannot be told from the program's addresses. */
function errorText(here: number, inFile: number, mapped: boolean): string {
    if (mapped && Math.abs(here - inFile) >= 5e-5) return `Error in the file: ${percent(inFile)}. Pages are mapped: groups that cross them hold other lines than these, from which it cannot be worked out.`;
    return `Error worked out from these two: ${percent(here)}${Math.abs(here - inFile) < 5e-5 ? '' : `; in the file: ${percent(inFile)}`}.`;
}

function sweepDetail(app: App): CellDetail {
    const series = app.source.info.series.find((each) => each.kind === 'exact') ?? null;
    const mapped = movesPages(app.source.info.machine.yaml);
    const note = h('p', { class: 'note', role: 'status' });
    const head = h('h3', {});
    let axis: Axis = { segments: [], bytes: 1 };
    const plot = fieldPlot({
        name: () => `${baseName(app.source)}-cell`,
        title: () => `${head.textContent} of ${titleOf(app.source)}`,
        python: () => snippet({ FILE: app.source.info.name, GROUP: linesPerGroup((app.state.cell ?? '').split(',')[0], series?.unit ?? 1) ?? 1 }, 'cell'),
        look: (range) => app.move(rangeText(range)),
    });
    const { element } = plot.figure;
    plot.figure.bar.append(head, note);
    element.hidden = true;

    function panels(cell: Cell, group: number): PanelSource[] {
        const ask = once(async (stretch: Stretch) => {
            const answer = await app.source.ask('coarse', series!.id, group, axis, stretch);
            note.textContent = `${errorText(answer.error, cell.numbers.error, mapped)} Groups have fixed places, so the number of counters does not matter for it.`;
            note.dataset.error = String(answer.error);
            return answer;
        });
        const meaning = `events per line of ${bytes(series!.unit)}`;
        const panel = (name: 'exact' | 'approximate' | 'difference', title: string, of: 'accesses' | 'missrate' | 'misses'): PanelSource =>
            ({ title, meaning, colour: () => theme()[of], rate: false, fetch: (stretch) => ask(stretch).then((answer) => answer[name]) });
        return [
            panel('exact', 'exact', 'accesses'),
            panel('approximate', `in groups of ${group}`, 'missrate'),
            { ...panel('difference', '|difference|', 'misses'), meaning: 'where the error sits', apart: true },
        ];
    }

    async function show(cell: Cell | null): Promise<void> {
        element.hidden = cell === null;
        if (!cell) return;
        head.textContent = [`Granularity ${cell.texts.granularity}, ${cell.numbers.counters} counters, ${cell.texts.eviction}`, costText(cell)].filter(Boolean).join(': ');
        const group = series && linesPerGroup(cell.texts.granularity, series.unit);
        plot.figure.canvas.hidden = group === null;
        if (!series || group === null) {
            const why = series
                ? 'Windows of dynamic granularity depend on the order of events; the file does not say where they lay. Run it with --monitor to get its histogram.'
                : 'Where the error sits is not told: counts by address are kept only by a sweep of one workload, link and setting. Sweep this one alone for it: one --workload, one --link, no --vary.';
            note.textContent = `Error ${percent(cell.numbers.error)}. ${why}`;
            return;
        }
        axis = await app.source.axis([series.id]);
        plot.set({ shared: true, structures: app.source.info.structures });
        plot.read(JSON.stringify([group, cell.numbers.error]), axis, () => panels(cell, group), parseRange(app.state.x, axis.bytes));
    }

    return { element, show, totals: () => ({ ...plot.totals(), error: Number(note.dataset.error ?? NaN) }) };
}

/** What a cell takes in hardware and by how much it slows the program, in words; empty where the file does not tell. */
const costText = ({ numbers }: Cell): string =>
    known
        .slice(3)
        .filter(({ column }) => column in numbers)
        .map(({ column, title, text }) => `${title.toLowerCase()} ${Number.isNaN(numbers[column]) ? 'not known' : text(numbers[column])}`)
        .join(', ');

/** Columns that tell cells of a file apart, beside the policy. */
const partColumns = (info: FileInfo, cells = cellsOf(info)): string[] => ['workload', 'link', 'settings'].filter((key) => cells.some(({ texts }) => texts[key] !== cells[0].texts[key]));

/** `over`: marks the cells that are on the front of error and this. */
export function sweepTable(info: FileInfo, cells = cellsOf(info), over?: Metric): Table {
    const metrics = metricsOf([info.sweep!.rows]);
    const published = !!info.sweep!.rows.numbers.published?.includes(1);
    const front = over && fieldsOf(cellsOf(info).filter(({ numbers }) => numbers.admitted !== 0)).flatMap(([, , , own]) => paretoFront(own, over));
    const papers = published ? metrics.filter((metric) => metric.published) : [];
    const parts = partColumns(info);
    return tableBy(`Sweep of ${info.sweep!.link}`, cells, [
        ...inWords(...parts),
        ...inWords('eviction', 'granularity', 'counters'),
        ...metrics.map((metric) => metricColumn(metric)),
        ['admitted', ({ numbers }) => (numbers.admitted === 1 ? 'yes' : '')],
        ['mark', markOf],
        ...(over ? [[`on the front of error and ${over.title.toLowerCase()}`, (cell) => (front!.includes(cell) ? 'yes' : '')] as Column<Cell>] : []),
        ...papers.map((metric) => metricColumn(metric, `published ${metric.title.toLowerCase()}`, ({ numbers }) => (numbers.published === 1 ? numbers[metric.published!] : NaN))),
        ...(published ? [['remark', ({ numbers }) => (numbers.published_misprint === 1 ? 'misprint' : '')] as Column<Cell>] : []),
    ], { keys: parts.length + 3 });
}

/** Of what is admitted (of all, where nothing is) of those that are compared, the best in each objective, as the terminal has it (viewer/sweep_text.cpp). */
function answer(info: FileInfo, { workload, link, counting }: Cell['texts']): string {
    const { where, events } = info.sweep!;
    const cells = cellsOf(info).filter(({ texts }) => texts.workload === workload && texts.link === link && texts.counting === counting);
    if (cells.every(({ numbers }) => !(numbers.events ?? events))) return 'No event passed the monitors: there is nothing to choose.';
    const metrics = objectivesOf(info).map((name) => [...known, plainMetric('counters', 'Counters', 'log')].find(({ id }) => id === name)!);
    const any = cells.some(({ numbers }) => numbers.admitted === 1);
    const isKnown = (cell: Cell) => metrics.every(({ value }) => Number.isFinite(value(cell)));
    const admitted = cells.filter((cell) => (any ? cell.numbers.admitted === 1 : cell.numbers.events !== 0) && isKnown(cell));
    const told = (admitted.length ? groups(metrics, ({ value }) => least(admitted, (a, b) => value(a) - value(b) || metrics.map((each) => each.value(a) - each.value(b)).find((each) => each) || 0)!) : []).map(([cell, own]) => `Least ${own.map(({ title }) => title.toLowerCase()).join(', ')}: ${[cell.texts.eviction, cell.texts.settings, `G=${cell.texts.granularity}`, `C=${cell.numbers.counters}`].filter(Boolean).join(', ')} (${saidOf(metrics, cell)}).`);
    const unknown = where.includes('slowdown') ? cells.filter(({ numbers }) => Number.isNaN(numbers.slowdown)).length : 0;
    return [...(where ? [`${full(cells.filter(({ numbers }) => numbers.admitted === 1).length)} of ${full(cells.length)} cells with ${where}${unknown > 0 ? ` (unknown of ${full(unknown)})` : ''}.`] : []), any || !told.length ? '' : cells.every(isKnown) ? 'Of all cells:' : 'Of the cells that are known:', ...told].filter(Boolean).join(' ');
}

/** What marks of fronts are, by what each file was asked for. */
function marksNote(sources: Source[]): string {
    const asked = groups(sources.filter(({ info }) => info.sweep), ({ info, info: { sweep } }) => `${objectivesOf(info).join(', ')} within ${percentTick(sweep!.tolerance)}${sweep!.where && `, pale: beyond ${sweep!.where}`}`);
    const told = asked.map(([text, own]) => (asked.length > 1 ? `${text} (${own.map(({ info }) => info.name).join(', ')})` : text)).join('; ');
    return `○, in tables *: remaining cells, which stand for the front of ${told}; large dots, in tables .: the rest of it; names as far as there is room.`;
}

/** What of a file is seen, and where there is less than in others. */
function note({ info, info: { sweep } }: Source, sources: Source[], picture: Picture): string {
    const { cells, cells: [{ texts, numbers }] } = picture;
    const parts = partColumns(info).length > 0;
    const events = parts ? numbers.events : sweep!.events;
    const what = parts ? [texts.workload, texts.settings].filter(Boolean).join(', ') : sweep!.monitor;
    const published = cells.some((cell) => cell.numbers.published === 1) ? '; small numbers: published (Schulz et al. 2002, Table 2), ours ÷ published' : '';
    return `${full(events)} events on ${texts.link}; ${what}${published}. ${marksNote(sources)} Click a cell to see what it blurs.`;
}

function sweepCells(source: Source, sources = [source]): Cells {
    const { info } = source;
    const cells = cellsOf(info);
    const wanted = info.sweep!.objectives.split(',');
    const metrics = sort(metricsOf([info.sweep!.rows]), ({ id }) => (wanted.includes(id) ? wanted.indexOf(id) : wanted.length));
    const chosen = ({ texts }: Cell) => ['eviction', ...partColumns(info)].map((key): [string, string] => [key, texts[key]]);
    const admitted = cells.filter(({ numbers }) => numbers.admitted === 1);
    const places = new Map(sort(admitted, ...wanted.map((_, i) => metrics[i].value)).map((cell, i) => [cell, i]));
    /** What the answer names first is first. */
    const best = (own: Cell[]) => -(min(own, (cell) => places.get(cell)) ?? Infinity);
    return {
        ...{ cells, metrics, overs: oversOf(sources) },
        choices: [
            { title: 'Workload', key: 'workload', of: ({ texts }) => texts.workload },
            { title: 'Link', key: 'level', of: ({ texts }) => texts.link },
            { title: 'Settings', key: 'settings', of: ({ texts }) => texts.settings, rank: best },
            { title: 'Eviction', key: 'eviction', of: ({ texts }) => texts.eviction, rank: best },
        ],
        answer: ({ cells: [{ texts }] }) => (fieldsOf(cells).length > 1 ? `${[texts.workload, texts.link, texts.counting].filter(Boolean).join(', ')}: ` : '') + answer(info, texts),
        note: (picture) => note(source, sources, picture),
        table: (picture) => ({ ...sweepTable(info, picture.cells, picture.over), caption: `Sweep of ${titleOf(source)}, ${picture.cells[0].texts.link}` }),
        python: ({ cells: [first], metric }) => {
            const group = first.texts.workload === words.worst ? 'sweep/worst' : 'sweep/rows';
            return snippet({ FILE: info.name, GROUP: group, CHOSEN: chosen(first), COLUMNS: [metric.column] }, 'sweep');
        },
    };
}

/** Whether the second of two files has cells of what the first has, as far as either tells cells apart. */
export function canSubtract({ info }: Source, other: Source): boolean {
    if (!other.info.sweep?.rows.count) return false;
    const both = [info, other.info].map(cellsOf);
    const telling = ['workload', 'link', 'settings', 'eviction'].filter((key) => both.some((cells) => new Set(cells.map(({ texts }) => texts[key])).size > 1));
    const [own, theirs] = both.map((cells) => new Set(cells.map(({ texts }) => telling.map((key) => texts[key]).join('|'))));
    return [...own].some((each) => theirs.has(each));
}

/** Of all files that are open. */
function frontsFigure(app: App): CellFigure {
    const panels = panelsOf([app.source, ...app.others]);
    const fronts = (picture: Picture): Fronts => ({ ...picture, panels });
    return {
        ...{ name: 'pareto', title: 'Pareto front: what no other cell beats in both', wide: panels.length > 1 },
        paint: (p, picture) => drawFronts(p, fronts(picture), app.source),
        height: (picture, width) => gridOf(fronts(picture), width).height,
        table: (picture) => frontsTable(fronts(picture)),
        python: ({ over }) => snippet({ FILE: app.source.info.name, GROUP: 'sweep/rows', CHOSEN: [], COLUMNS: ['error', over.column, 'admitted', 'front', 'remains'] }, 'sweep'),
    };
}

export function sweepView(app: App): View {
    const sources = [app.source, ...app.others];
    const other = app.others[0]?.info.sweep ? sweepCells(app.others[0]) : null;
    return cellsView(app, sweepCells(app.source, sources), other, [matrixFigure, linesFigure, frontsFigure(app)], sweepDetail(app));
}
