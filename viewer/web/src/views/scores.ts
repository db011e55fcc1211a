// SPDX-License-Identifier: BSD-3-Clause
// What probes concluded, beside what is true, and the steps to it; how often each test was right about random machines.
import { baseName, titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import { columnsBy, h, inWords, tableBy, tableElement, type Table } from '../dom';
import { figureOf } from '../figure';
import { bytes, full } from '../numbers';
import { textWidth, theme, type Painter } from '../paint';
import { rowsIn, type ProbeInfo, type TableRow, type ValidationInfo } from '../protocol';
import { snippet } from '../python';

const amount = (value: number, unit: string): string => (Number.isNaN(value) ? '' : (unit === 'bytes' ? bytes : full)(value));

/** "521,667 … 537,395" where the answer is not one number. */
function interval({ texts: { unit }, numbers: { low, high } }: TableRow): string {
    if (Number.isNaN(low) || full(low) === full(high)) return '';
    const text = (value: number) => (unit === 'bytes' ? full(Math.round(value)) : amount(value, unit));
    return `${text(low)} … ${text(high)}`;
}

function truth({ texts: { truth_word, unit, parameter }, numbers: { truth: value, truth_high: high } }: TableRow): string {
    if (truth_word) return truth_word;
    const of = parameter === 'capacity' ? 'bytes' : unit;
    return high > value ? `${amount(value, of)} … ${amount(high, of)}` : amount(value, of);
}

export function findingsTable(sources: Source[]): Table {
    const found = sources.flatMap((source) => rowsIn(source.info.probe!.findings).map((row) => ({ ...row, source })));
    const own = inWords('test', 'variant', 'level', 'parameter', 'unit', 'verdict');
    return tableBy('What was found, and what is true', found, [
        ...(sources.length > 1 ? [['machine', ({ source }) => titleOf(source)] as [string, (row: (typeof found)[number]) => string]] : []),
        ...own.slice(0, 4),
        ['found', ({ texts: { word, unit }, numbers: { value } }) => word || amount(value, unit) || '–'],
        ['interval', interval],
        own[4],
        ['ground truth', truth],
        own[5],
        ['how', ({ texts: { method, reason } }) => method || reason],
    ]);
}

export const costsTable = ({ tests }: ProbeInfo): Table =>
    tableBy('What the tests cost', tests, columnsBy({ test: 'name', runs: 'runs', references: 'references', cycles: 'cycles' }));

/** The decisions of each test, to be unfolded. */
export function decisionsOf(source: Source, several: boolean): HTMLElement | null {
    const tests = source.info.probe!.tests.filter((each) => each.decisions.length > 0);
    if (tests.length === 0) return null;
    const parts = tests.map((each) => h('details', {}, h('summary', {}, each.name), h('pre', {}, each.decisions.join('\n'))));
    const title = `How the tests decided${several ? `: ${titleOf(source)}` : ''}`;
    return h('details', { class: 'decisions' }, h('summary', {}, title), ...parts);
}

const [rowHeight, countsWidth] = [22, 150];
const nameOf = ({ texts: { test, parameter, variant } }: TableRow): string => `${test} ${parameter}, ${variant}`;
const percentOf = (part: number, { numbers: { right, wrong, not_identifiable } }: TableRow): number => (100 * part) / (right + wrong + not_identifiable || 1);

export const scoresTable = ({ scores }: ValidationInfo): Table =>
    tableBy('How often tests were right, over all levels of all machines', rowsIn(scores), [
        ...inWords('test', 'parameter', 'variant', 'right', 'wrong', 'not identifiable'),
        ['right %', (score) => percentOf(score.numbers.right, score)],
        ['wrong %', (score) => percentOf(score.numbers.wrong, score)],
    ], { keys: 3 });

export const worstTable = ({ worst }: ValidationInfo): Table =>
    tableBy('Machines on which an answer was wrong or missing, the worst first', rowsIn(worst), [
        ['machine', ({ numbers }) => String(numbers.machine)],
        ...inWords('wrong', 'not identifiable'),
        ['what was wrong', ({ texts }) => texts.findings],
    ]);

/** Parts of a bar from the left, and their colours. */
const parts = (): [string, string][] => [['right', theme().hits], ['not identifiable', theme().line], ['wrong', theme().misses]];

const partOf = ({ numbers }: TableRow, name: string): number => numbers[name.replace(' ', '_')];

function drawScores(p: Painter, scores: TableRow[]): void {
    const { ink, faint } = theme();
    const left = 20 + Math.max(...scores.map((score) => textWidth(nameOf(score))));
    const width = Math.max(40, p.width - left - countsWidth);
    const widths = parts().reduce((sum, [name]) => sum + 40 + textWidth(name), 0);
    let key = Math.max(0, Math.min(left, p.width - widths));
    for (const [name, colour] of parts()) {
        p.rect(key, 7, 12, 12, colour);
        p.text(key + 17, 13, name, { colour: ink });
        key += 40 + textWidth(name);
    }
    scores.forEach((score, i) => {
        const top = 28 + i * rowHeight;
        p.text(left - 10, top + rowHeight / 2, nameOf(score), { colour: ink, anchor: 'end' });
        let x = left;
        for (const [name, colour] of parts()) {
            const wide = (width * percentOf(partOf(score, name), score)) / 100;
            if (wide > 0) p.rect(x, top + 3, wide, rowHeight - 6, colour);
            x += wide;
        }
        const counts = parts().map(([name]) => full(partOf(score, name)));
        p.text(left + width + 8, top + rowHeight / 2, counts.join(' / '), { colour: faint, size: 11 });
    });
}

export function scoresView(app: App): View {
    const validation = app.source.info.validation!;
    const scores = rowsIn(validation.scores);
    const said = (score: TableRow) => `${nameOf(score)}: ${parts().map(([name]) => `${full(partOf(score, name))} ${name}`).join(', ')}`;
    const figure = figureOf({
        name: () => `${baseName(app.source)}-scores`,
        label: () => `Scores of ${titleOf(app.source)}: ${scores.map(said).join('; ')}`,
        height: () => 36 + scores.length * rowHeight,
        draw: (p) => drawScores(p, scores),
        table: () => scoresTable(validation),
        python: () => snippet({ FILE: app.source.info.name }, 'scores'),
    });
    figure.bar.append(
        h('h3', {}, `${full(validation.machines)} random machines`),
        h('p', { class: 'note' }, `Bars are shares; at their ends right / not identifiable / wrong. ${validation.leftOut}`),
    );
    const card = (table: Table) => h('section', { class: 'card', 'aria-label': table.caption }, tableElement(table));
    const worst = worstTable(validation);
    const element = h('div', { class: 'view' }, figure.element, card(scoresTable(validation)), worst.rows.length > 0 ? card(worst) : h('section', { class: 'card' }, h('p', { class: 'note' }, 'On no machine was an answer wrong or missing.')));
    return { element, update: () => figure.redraw() };
}
