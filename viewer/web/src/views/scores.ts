// SPDX-License-Identifier: BSD-3-Clause
// Scores: how often each test of the probes was right about random machines, and on which it failed most.
import { baseName, titleOf, type App, type View } from '../app';
import { theme } from '../colours';
import { h, inWords, tableBy, tableElement, type Table } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import { textWidth, type Painter } from '../paint';
import type { ValidationInfo, TableRow } from '../protocol';
import { snippet } from '../python';

const [rowHeight, countsWidth] = [22, 150];

const nameOf = ({ texts: { test, parameter, variant } }: TableRow): string => `${test} ${parameter}, ${variant}`;

function percentOf(part: number, { numbers: { right, wrong, not_identifiable } }: TableRow): number {
    const all = right + wrong + not_identifiable;
    return all > 0 ? (100 * part) / all : 0;
}

export const scoresTable = ({ scores }: ValidationInfo): Table =>
    tableBy('How often tests were right, over all levels of all machines', scores, [
        ...inWords('test', 'parameter', 'variant', 'right', 'wrong', 'not identifiable'),
        ['right %', (score) => percentOf(score.numbers.right, score)],
        ['wrong %', (score) => percentOf(score.numbers.wrong, score)],
    ], { keys: 3 });

export const worstTable = ({ worst }: ValidationInfo): Table =>
    tableBy('Machines on which an answer was wrong or missing, the worst first', worst, [
        ['machine', ({ numbers }) => String(numbers.machine)],
        ...inWords('wrong', 'not identifiable'),
        ['what was wrong', ({ texts }) => texts.findings],
    ]);

/** Parts of a bar from the left. */
const parts = (): { name: string; column: string; colour: string }[] => [
    { name: 'right', column: 'right', colour: theme().hits },
    { name: 'not identifiable', column: 'not_identifiable', colour: theme().line },
    { name: 'wrong', column: 'wrong', colour: theme().misses },
];

function drawScores(p: Painter, scores: TableRow[]): void {
    const { ink, faint } = theme();
    const left = 20 + Math.max(...scores.map((score) => textWidth(nameOf(score))));
    const width = Math.max(40, p.width - left - countsWidth);
    const widths = parts().reduce((sum, { name }) => sum + 40 + textWidth(name), 0);
    let key = Math.max(0, Math.min(left, p.width - widths));
    for (const { name, colour } of parts()) {
        p.rect(key, 7, 12, 12, colour);
        p.text(key + 17, 13, name, { colour: ink });
        key += 40 + textWidth(name);
    }
    scores.forEach((score, i) => {
        const top = 28 + i * rowHeight;
        p.text(left - 10, top + rowHeight / 2, nameOf(score), { colour: ink, anchor: 'end' });
        let x = left;
        for (const { column, colour } of parts()) {
            const wide = (width * percentOf(score.numbers[column], score)) / 100;
            if (wide > 0) p.rect(x, top + 3, wide, rowHeight - 6, colour);
            x += wide;
        }
        const counts = parts().map(({ column }) => full(score.numbers[column]));
        p.text(left + width + 8, top + rowHeight / 2, counts.join(' / '), { colour: faint, size: 11 });
    });
}

export function scoresView(app: App): View {
    const validation = app.source.info.validation!;
    const { scores } = validation;
    const said = (score: TableRow) => `${nameOf(score)}: ${parts().map(({ name, column }) => `${full(score.numbers[column])} ${name}`).join(', ')}`;
    const figure = new Figure({
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
    const card = (table: Table) => h('section', { class: 'card', 'aria-label': table.caption }, tableElement(table, full));
    const worst = worstTable(validation);
    const none = h('section', { class: 'card' }, h('p', { class: 'note' }, 'On no machine was an answer wrong or missing.'));
    const element = h('div', { class: 'view' }, figure.element, card(scoresTable(validation)), worst.rows.length > 0 ? card(worst) : none);
    return { element, update: () => figure.redraw() };
}
