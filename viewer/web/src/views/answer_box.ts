// SPDX-License-Identifier: BSD-3-Clause
// The top of the workbench: one sentence, and five tiles that lead to its pictures.
import type { App } from '../app';
import { answerOf, sentenceOf, tilesOf } from '../answer';
import { h } from '../dom';

export function answerBox(app: App, level: string | undefined): HTMLElement | null {
    const { info } = app.source;
    const answer = answerOf(info, level);
    if (!answer) return null;
    const tile = ({ id, label, value, note, go }: ReturnType<typeof tilesOf>[number]) =>
        h(
            'button',
            { type: 'button', class: 'tile', 'data-tile': id, title: 'Show it in the field', onclick: () => app.set(go) },
            h('span', { class: 'tile-label' }, label),
            h('strong', {}, value),
            h('span', { class: 'note' }, note),
        );
    return h(
        'section',
        { class: 'answer', 'aria-label': 'Answer' },
        h('h2', { class: 'sentence' }, sentenceOf(answer)),
        h('div', { class: 'tiles' }, ...tilesOf(answer, info).map(tile)),
    );
}
