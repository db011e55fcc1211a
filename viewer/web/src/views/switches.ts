// SPDX-License-Identifier: BSD-3-Clause
// Switches of the field: event, level, phases, cause, core, function, scale; and what is chosen, as chips that can be taken away.
import { differs, phasesName, phasesTitle, phasesToChoose, scaleChooser, shows, type App, type Chosen, type State } from '../app';
import { causeNames, cubeOf, rowsOf, sumsBy } from '../cube';
import { fill, h, segmented, select } from '../dom';
import { full, parseRange, phasesText, readPhases } from '../numbers';

const functionsAtMost = 40;

/** Nothing is chosen any more. */
export const clearChosen = (app: App): void => app.set({ phases: '', minus: '', sel: '', structure: '', cause: '', core: '', func: '' });

/** What is shown, and of what. */
function shownSwitches(app: App, { show, series }: Chosen): (HTMLElement | false)[] {
    const all = shows(app.source);
    const levels = all.filter((each) => each.series[0].kind === 'level');
    const others = all.filter((each) => each.series[0].kind !== 'level').map((each): [string, string] => [each.id, each.title]);
    const choose = (id: string) => {
        const next = all.find((each) => each.id === id);
        const same = next?.series[0].kind === show.series[0].kind;
        if (next) app.set({ show: id, cause: '', ...(same ? {} : { x: '', level: '', sel: '', structure: '', core: '', func: '' }) });
    };
    const now = levels.some(({ id }) => id === show.id) ? '' : show.id;
    const owners = show.series.filter((each) => each.rows > 0).map(({ owner }): [string, string] => [owner, owner]);
    const level = (owner: string) => app.set({ level: owner });
    return [
        levels.length > 0 && segmented('What is shown', levels.map((each) => [each.id, each.title]), show.id, choose),
        others.length > 0 && select('Events', [...(levels.length ? [['', 'other events …'] as [string, string]] : []), ...others], now, choose),
        owners.length > 1 && (owners.length > 6 ? select('of', owners, series.owner, level) : segmented('Level', owners, series.owner, level)),
    ];
}

/** What it is filtered by, and how it is drawn. */
function filterSwitches(app: App, { cube, filter, series }: Chosen): (HTMLElement | false)[] {
    const parts: HTMLElement[] = [];
    if (cube?.causes) {
        const some = causeNames.filter((_, i) => cube.causes![i].some((each) => each > 0));
        parts.push(select('Cause', [['', 'all'], ...some], app.state.cause ?? '', (cause) => app.set({ cause, ...(cause ? { show: 'misses' } : {}) })));
    }
    for (const [by, key, label] of [['core', 'core', 'Core'], ['function', 'func', 'Function']] as const) {
        const names = cube?.dimensions[by]?.names;
        if (!cube || !names) continue;
        const sums = sumsBy(cube, by, cube.misses, rowsOf(cube, {}));
        const some = [...names.keys()].filter((i) => sums[i] > 0);
        if (by === 'function') some.sort((a, b) => sums[b] - sums[a]).splice(functionsAtMost);
        if (some.length < 2 && !filter[by]) continue;
        const now = app.state[key] ?? '';
        const theirs = by === 'core' && differs(app) ? (cubeOf(app.others[0].info, series.owner)?.dimensions.core?.names ?? []) : [];
        const listed = new Set([...(now && !some.some((i) => names[i] === now) ? [now] : []), ...some.map((i) => names[i]), ...theirs.filter((name) => !names.includes(name))]);
        parts.push(select(label, [['', 'all'], ...listed], now, (name) => app.set({ [key]: name })));
    }
    const time = series.phases > 1 && !differs(app) && select('Time', [['', 'by phases'], ['cycles', 'by cycles']], app.state.y ?? '', (y) => app.set({ y }));
    return [...parts, time, scaleChooser(app)];
}

/** What is chosen, and what takes it away. */
function chipsOf(app: App, { phases, minus, selection, cube, fault, absent }: Chosen): HTMLElement[] {
    const { state } = app;
    const some: [string, Partial<State>][] = [];
    if (state.structure || state.sel) some.push([state.structure || (state.sel ?? '').slice(0, 40), { structure: '', sel: '' }]);
    if (phases) some.push([phasesTitle(app), { phases: '' }]);
    if (minus) some.push([`minus ${phasesName(app, minus)}`, { minus: '' }]);
    for (const key of ['cause', 'core', 'func'] as const) if (state[key] && cube) some.push([state[key], { [key]: '' }]);
    const chip = ([text, without]: [string, Partial<State>]) =>
        h('button', { type: 'button', class: 'chip', 'aria-label': `Take away ${text}`, onclick: () => app.set(without) }, `${text} ×`);
    const faults = [fault && `${fault}.${selection ? '' : ' Shown: all addresses.'}`, absent.length > 0 && `Not in this file: ${absent.join(', ')}.`, app.state.x && !parseRange(app.state.x, Infinity) && `x=${app.state.x} is no range of bytes; write e.g. 0-4096. Shown: all.`].filter((each) => each);
    return [...(faults.length ? [h('span', { class: 'note bad', role: 'status' }, faults.join(' '))] : []), ...some.map(chip), ...(some.length > 1 ? [h('button', { type: 'button', class: 'link', onclick: () => clearChosen(app) }, 'Clear all')] : [])];
}

/** The switches, and what brings them up to date. */
export function switchesOf(app: App): { element: HTMLElement; update: (chosen: Chosen) => void } {
    const [first, second] = [h('div', { class: 'row' }), h('div', { class: 'row' })];
    const chips = h('div', { class: 'row chips', role: 'group', 'aria-label': 'What is chosen' });
    const note = h('span', { class: 'note', role: 'status', id: 'phases-note' });
    const input = (key: 'phases' | 'minus', size: number, placeholder: string, hint: string): HTMLInputElement => {
        const onkeydown = (event: KeyboardEvent) => event.key === 'Enter' && made.blur(); // keys mean what they do elsewhere again; Tab goes on from here
        const made: HTMLInputElement = h('input', { onkeydown, type: 'text', size, placeholder, 'aria-label': hint, spellcheck: false, onchange: () => app.set({ [key]: made.value.trim() }) });
        return made;
    };
    const field = input('phases', 8, 'all', 'Phases, as in 4 or 3,5-7 or a name; empty for all');
    const less = input('minus', 5, 'none', 'Phases to subtract, as in 3');
    field.setAttribute('aria-describedby', 'phases-note');
    const label = (text: string, of: HTMLInputElement) => h('label', { class: 'field' }, h('span', {}, text), of);
    const phasesRow = h('div', { class: 'row phases' }, label('Phases', field), label('minus', less), note);

    function fillPhases({ phases, minus }: Chosen): void {
        const [count, { names, cycles, references }] = [phasesToChoose(app), app.source.info.phases];
        phasesRow.hidden = count < 2;
        less.closest('label')!.hidden = differs(app);
        const [fault = ''] = [app.state.phases, app.state.minus].flatMap((text) => readPhases(text, count, names).fault || []);
        if (document.activeElement !== less) less.value = phasesText(minus);
        if (document.activeElement !== field) field.value = fault ? (app.state.phases ?? '') : phasesText(phases);
        field.setAttribute('aria-invalid', String(fault !== ''));
        note.classList.toggle('bad', fault !== '');
        const one = phases?.length === 1 && phases[0] < cycles.length ? `${full(cycles[phases[0]])} cycles, ${full(references[phases[0]])} references` : '';
        const some = phases ? `${full(phases.length)} of ${full(count)}` : `all ${full(count)}`;
        note.textContent = fault ? `${fault}. Shown: ${phasesTitle(app)}.` : one || some;
    }

    return {
        element: h('div', { class: 'switches' }, first, second, phasesRow, chips),
        update: (chosen) => {
            fill(first, ...shownSwitches(app, chosen));
            fill(second, ...filterSwitches(app, chosen));
            fillPhases(chosen);
            fill(chips, ...chipsOf(app, chosen));
            chips.hidden = chips.childElementCount === 0;
        },
    };
}
