// SPDX-License-Identifier: BSD-3-Clause
// The table of data structures: where accesses and misses went in the phases that are chosen.
import { chosenPhases, phasesTitle, type App } from './app';
import { h } from './dom';
import { bytes, full, percent } from './numbers';
import type { Structure, StructureLevel } from './protocol';

/** Sums of a level by structure over some phases. */
export function structureSums(
    level: StructureLevel,
    count: number,
    phases: number[] | null,
): { accesses: Float64Array; misses: Float64Array } {
    const chosen = phases === null ? null : new Set(phases);
    const accesses = new Float64Array(count);
    const misses = new Float64Array(count);
    level.structure.forEach((structure, i) => {
        if (structure >= count || (chosen && !chosen.has(level.phase[i]))) return;
        accesses[structure] += level.accesses[i];
        misses[structure] += level.misses[i];
    });
    return { accesses, misses };
}

export class StructureBox {
    readonly element = h('section', { class: 'structures', 'aria-label': 'Data structures' });

    constructor(
        private readonly app: App,
        private readonly zoom: (structure: Structure) => void,
    ) {}

    update(): void {
        const { structures, structureLevels, components } = this.app.source.info;
        const tlbs = new Set(components.filter((each) => each.group === 'tlbs').map((each) => each.name));
        const used = (level: StructureLevel) => level.accesses.some((each) => each > 0);
        const levels = structureLevels.filter(
            (level) => used(level) && (!tlbs.has(level.name) || structureLevels.length <= 3),
        );
        if (structures.length === 0) return;
        const phases = chosenPhases(this.app);
        const sums = levels.map((level) => structureSums(level, structures.length, phases));
        const most = sums.map(({ misses }) => Math.max(...misses));
        const totals = sums.map(({ misses }) => misses.reduce((a, b) => a + b, 0));
        const heads = levels.flatMap((level) => [`${level.name} accesses`, `${level.name} misses`, 'rate']);
        const row = (structure: Structure, i: number) => {
            if (structure.bytes === 0 && sums.every(({ accesses, misses }) => accesses[i] === 0 && misses[i] === 0))
                return null;
            const name =
                structure.bytes > 0
                    ? h(
                          'button',
                          { type: 'button', class: 'link', title: 'Zoom to it', onclick: () => this.zoom(structure) },
                          structure.name,
                      )
                    : structure.name;
            const cells = sums.flatMap(({ accesses, misses }, l) => {
                const share = totals[l] > 0 ? misses[i] / totals[l] : 0;
                const bar = h('span', { class: 'bar', style: `width:${Math.round(share * 100)}%` });
                const top = misses[i] > 0 && misses[i] === most[l];
                return [
                    h('td', { class: 'number' }, full(accesses[i])),
                    h(
                        'td',
                        { class: `number barred${top ? ' top' : ''}`, title: `${percent(share)} of the misses` },
                        bar,
                        h('span', {}, full(misses[i])),
                    ),
                    h('td', { class: 'number' }, accesses[i] > 0 ? percent(misses[i] / accesses[i]) : '–'),
                ];
            });
            return h(
                'tr',
                {},
                h('th', { scope: 'row' }, name),
                h('td', { class: 'number' }, structure.bytes ? bytes(structure.bytes) : ''),
                ...cells,
            );
        };
        this.element.replaceChildren(
            h('h3', {}, `Data structures, ${phasesTitle(this.app)}`),
            h(
                'div',
                { class: 'table-box', tabindex: 0, role: 'region', 'aria-label': 'Data structures' },
                h(
                    'table',
                    {},
                    h(
                        'thead',
                        {},
                        h(
                            'tr',
                            {},
                            h('th', { scope: 'col' }, 'structure'),
                            h('th', { scope: 'col', class: 'number' }, 'size'),
                            ...heads.map((head) => h('th', { scope: 'col', class: 'number' }, head)),
                        ),
                    ),
                    h('tbody', {}, ...structures.map(row)),
                ),
            ),
        );
    }
}
