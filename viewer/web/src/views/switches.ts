// SPDX-License-Identifier: BSD-3-Clause
// Switches of the field: event, level, phases, cause, core, function, scale; and what is chosen, as chips that can be taken away.
import { phaseCount, phasesName, phasesTitle, scaleChooser, shows, type App } from '../app';
import type { Chosen } from '../chosen';
import { causeNames, rowsOf, sumsBy } from '../cube';
import { fill, h, segmented, select } from '../dom';
import { full } from '../numbers';
import { phasesText, readPhases, type State } from '../state';

const functionsAtMost = 40;

export class Switches {
    readonly element = h('div', { class: 'switches' });
    private readonly first = h('div', { class: 'row' });
    private readonly second = h('div', { class: 'row' });
    private readonly chips = h('div', { class: 'row chips', role: 'group', 'aria-label': 'What is chosen' });
    private readonly field: HTMLInputElement;
    private readonly minus: HTMLInputElement;
    private readonly note = h('span', { class: 'note', role: 'status', id: 'phases-note' });

    constructor(private readonly app: App) {
        this.field = h('input', {
            type: 'text',
            size: 8,
            placeholder: 'all',
            'aria-label': 'Phases, as in 4 or 3,5-7; empty for all',
            'aria-describedby': 'phases-note',
            spellcheck: false,
            onchange: () => app.set({ phases: this.field.value.trim() }),
        });
        this.minus = h('input', { type: 'text', size: 5, placeholder: 'none', 'aria-label': 'Phases to subtract, as in 3', spellcheck: false, onchange: () => app.set({ minus: this.minus.value.trim() }) });
        const label = (text: string, field: HTMLInputElement) => h('label', { class: 'field' }, h('span', {}, text), field);
        const phases = phaseCount(app.source) > 1 ? h('div', { class: 'row phases' }, label('Phases', this.field), label('minus', this.minus), this.note) : null;
        this.element.append(this.first, this.second, ...(phases ? [phases] : []), this.chips);
    }

    /** Nothing is chosen any more. */
    clear(): void {
        this.app.set({ phases: '', minus: '', sel: '', structure: '', cause: '', core: '', func: '' });
    }

    update(chosen: Chosen): void {
        this.fillFirst(chosen);
        this.fillSecond(chosen);
        this.fillPhases(chosen);
        this.fillChips(chosen);
    }

    private fillFirst({ show, series }: Chosen): void {
        const { app } = this;
        const all = shows(app.source);
        const levels = all.filter((each) => each.series[0].kind === 'level');
        const others = all.filter((each) => each.series[0].kind !== 'level');
        const choose = (id: string) => {
            const next = all.find((each) => each.id === id)!;
            const same = next.series[0].kind === show.series[0].kind;
            app.set({ show: id, cause: '', ...(same ? {} : { x: '', level: '', sel: '', structure: '', core: '', func: '' }) });
        };
        const isLevel = levels.some((each) => each.id === show.id);
        const options = others.map((each): [string, string] => [each.id, each.title]);
        if (isLevel || levels.length > 0) options.unshift(['', 'other events …']);
        const owners = show.series.filter((each) => each.rows > 0).map((each): [string, string] => [each.owner, each.owner]);
        const level = (owner: string) => app.set({ level: owner });
        fill(
            this.first,
            ...(levels.length ? [segmented('What is shown', levels.map((each) => [each.id, each.title]), show.id, choose)] : []),
            ...(others.length ? [select('Events', options, isLevel ? '' : show.id, (id) => id && choose(id))] : []),
            ...(owners.length > 6 ? [select('of', owners, series.owner, level)] : owners.length > 1 ? [segmented('Level', owners, series.owner, level)] : []),
        );
    }

    private fillSecond({ cube, filter, series }: Chosen): void {
        const { app } = this;
        const set = (key: keyof State, value: string) => app.set({ [key]: value, ...(key === 'cause' && value ? { show: 'misses' } : {}) });
        const parts: HTMLElement[] = [];
        if (cube?.causes) {
            const some = causeNames.filter((_, i) => cube.causes![i].some((each) => each > 0));
            parts.push(select('Cause', [['', 'all'], ...some.map((each): [string, string] => [each, each])], app.state.cause ?? '', (value) => set('cause', value)));
        }
        for (const [by, key, label] of [['core', 'core', 'Core'], ['function', 'func', 'Function']] as const) {
            const axis = cube?.dimensions[by];
            if (!cube || !axis) continue;
            const sums = sumsBy(cube, by, cube.misses, rowsOf(cube, {}));
            const some = axis.names.map((name, i) => ({ name, sum: sums[i] })).filter((each) => each.sum > 0);
            if (by === 'function') some.sort((a, b) => b.sum - a.sum).splice(functionsAtMost);
            if (some.length < 2 && !filter[by]) continue;
            const now = app.state[key] ?? '';
            const names = some.some((each) => each.name === now) || !now ? some.map((each) => each.name) : [now, ...some.map((each) => each.name)];
            parts.push(select(label, [['', 'all'], ...names.map((name): [string, string] => [name, name])], now, (value) => set(key, value)));
        }
        if (series.phases > 1) parts.push(select('Time', [['', 'by phases'], ['cycles', 'by cycles']], app.state.y ?? '', (y) => app.set({ y })));
        parts.push(scaleChooser(app));
        fill(this.second, ...parts);
    }

    private fillPhases({ phases, minus }: Chosen): void {
        const { app } = this;
        const count = phaseCount(app.source);
        const fault = readPhases(app.state.phases, count).fault || readPhases(app.state.minus, count).fault;
        if (document.activeElement !== this.minus) this.minus.value = phasesText(minus);
        if (document.activeElement !== this.field) this.field.value = fault ? app.state.phases! : phasesText(phases);
        this.field.setAttribute('aria-invalid', String(fault !== ''));
        this.note.classList.toggle('bad', fault !== '');
        const { cycles, references } = app.source.info.phases;
        const one = phases?.length === 1 ? phases[0] : -1;
        this.note.textContent = fault
            ? `${fault}. Shown: ${phasesTitle(app)}.`
            : one >= 0 && cycles.length
              ? `${full(cycles[one])} cycles, ${full(references[one])} references`
              : phases
                ? `${phases.length.toLocaleString('en')} of ${count.toLocaleString('en')}`
                : `all ${count.toLocaleString('en')}`;
    }

    private fillChips({ phases, minus, selection, filter, cube }: Chosen): void {
        const { state } = this.app;
        const some: [string, Partial<State>][] = [];
        if (filter.structure) some.push([cube!.dimensions.structure!.names[filter.structure[0]], { structure: '', sel: '' }]);
        else if (selection) some.push([state.structure || `${(state.sel ?? '').slice(0, 40)}`, { structure: '', sel: '' }]);
        if (phases) some.push([phasesTitle(this.app), { phases: '' }]);
        if (minus) some.push([`minus ${phasesName(this.app, minus)}`, { minus: '' }]);
        for (const key of ['cause', 'core', 'func'] as const) if (state[key] && cube) some.push([state[key], { [key]: '' }]);
        const chip = ([text, without]: [string, Partial<State>]) =>
            h('button', { type: 'button', class: 'chip', 'aria-label': `Take away ${text}`, onclick: () => this.app.set(without) }, `${text} ×`);
        this.chips.hidden = some.length === 0;
        fill(
            this.chips,
            ...some.map(chip),
            ...(some.length > 1 ? [h('button', { type: 'button', class: 'link', onclick: () => this.clear() }, 'Clear all')] : []),
        );
    }
}
