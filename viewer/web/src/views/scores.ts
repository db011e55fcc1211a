// SPDX-License-Identifier: BSD-3-Clause
// Scores: how often each test of the probes was right about random machines, and on which it failed most.
import { baseName, titleOf, type App, type View } from '../app';
import { theme } from '../colours';
import { h, tableElement, type Table } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import type { Painter } from '../paint';
import type { CampaignInfo, Score } from '../protocol';
import { campaignPython } from '../python';

const [rowHeight, namesWidth, countsWidth] = [22, 250, 150];

const all = (score: Score): number => score.right + score.wrong + score.notIdentifiable;
const percentOf = (part: number, score: Score): number => (all(score) > 0 ? (100 * part) / all(score) : 0);

export function scoresTable({ scores }: CampaignInfo): Table {
    return {
        caption: 'How often tests were right, over all levels of all machines',
        headers: ['test', 'parameter', 'variant', 'right', 'wrong', 'not identifiable', 'right %', 'wrong %'],
        keys: 3,
        rows: scores.map((score) => [
            score.test,
            score.parameter,
            score.variant,
            score.right,
            score.wrong,
            score.notIdentifiable,
            percentOf(score.right, score),
            percentOf(score.wrong, score),
        ]),
    };
}

export function worstTable({ worst }: CampaignInfo): Table {
    return {
        caption: 'Machines on which an answer was wrong or missing, the worst first',
        headers: ['machine', 'wrong', 'not identifiable', 'what was wrong'],
        rows: worst.map((each) => [String(each.machine), each.wrong, each.notIdentifiable, each.findings]),
    };
}

/** What parts of a bar are, from the left. */
const partsOf = (score: Score): [string, number, string][] => [
    ['right', score.right, theme().hits],
    ['not identifiable', score.notIdentifiable, theme().line],
    ['wrong', score.wrong, theme().misses],
];

function drawKey(p: Painter): void {
    let x = namesWidth;
    for (const [name, , colour] of partsOf({ right: 0, wrong: 0, notIdentifiable: 0 } as Score)) {
        p.rect(x, 7, 12, 12, colour);
        p.text(x + 17, 13, name, { colour: theme().ink, size: 12 });
        x += 40 + name.length * 7;
    }
}

function drawBar(p: Painter, score: Score, top: number): void {
    const { ink, faint } = theme();
    const middle = top + rowHeight / 2;
    const width = Math.max(40, p.width - namesWidth - countsWidth);
    p.text(namesWidth - 10, middle, `${score.test} ${score.parameter}, ${score.variant}`, { colour: ink, size: 12, anchor: 'end' });
    let x = namesWidth;
    for (const [, part, colour] of partsOf(score)) {
        const wide = (width * percentOf(part, score)) / 100;
        if (wide > 0) p.rect(x, top + 3, wide, rowHeight - 6, colour);
        x += wide;
    }
    const counts = partsOf(score).map(([, part]) => full(part));
    p.text(namesWidth + width + 8, middle, counts.join(' / '), { colour: faint, size: 11 });
}

export function scoresView(app: App): View {
    const campaign = app.source.info.campaign!;
    const { scores } = campaign;
    const figure = new Figure({
        name: () => `${baseName(app.source)}-scores`,
        label: () =>
            `Scores of ${titleOf(app.source)}: ${scores.map((each) => `${each.test} ${each.parameter}, ${each.variant}: ${full(each.right)} right, ${full(each.wrong)} wrong, ${full(each.notIdentifiable)} not identifiable`).join('; ')}`,
        height: () => 30 + scores.length * rowHeight + 6,
        draw: (p) => {
            drawKey(p);
            scores.forEach((score, i) => drawBar(p, score, 28 + i * rowHeight));
        },
        table: () => scoresTable(campaign),
        python: () => campaignPython(app.source),
    });
    figure.bar.append(
        h('h3', {}, `${full(campaign.machines)} random machines`),
        h('p', { class: 'note' }, `Bars are shares; at their ends right / not identifiable / wrong. ${campaign.leftOut}`),
    );
    const card = (table: Table) => h('section', { class: 'card', 'aria-label': table.caption }, tableElement(table, full));
    const worst = worstTable(campaign);
    const element = h(
        'div',
        { class: 'view' },
        figure.element,
        card(scoresTable(campaign)),
        worst.rows.length > 0 ? card(worst) : h('section', { class: 'card' }, h('p', { class: 'note' }, 'On no machine was an answer wrong or missing.')),
    );
    return { element, update: () => figure.redraw(), dispose: () => figure.dispose() };
}
