// SPDX-License-Identifier: BSD-3-Clause
// Causes: why a level misses, by data structure, and what evicts what, as a graph.
import { baseName, chosenPhases, phaseCount, phasesTitle, titleOf, type App, type View } from '../app';
import { h, segmented, type Table } from '../dom';
import { Figure } from '../figure';
import { full } from '../numbers';
import type { Painter } from '../paint';
import { causesPython, evictionsPython } from '../python';
import { PhaseStrip } from '../strip';
import { causeKinds, drawCauses, drawEvictions, rowsAtMost, structuresAtMost, type Eviction, type Hit, type MissRow } from './causes_draw';

/** Misses of a level by structure, those with most first. */
export function missRows(app: App, level: string): MissRow[] {
    const { misses, structures } = app.source.info.causes.find((each) => each.name === level)!;
    const chosen = chosenPhases(app);
    const sums = structures.map((_, structure) => ({ structure, counts: causeKinds.map(() => 0), all: 0 }));
    misses.structure.forEach((structure, i) => {
        if (chosen && !chosen.includes(misses.phase[i])) return;
        misses.counts.forEach((column, cause) => {
            sums[structure].counts[cause] += column[i];
            sums[structure].all += column[i];
        });
    });
    return sums.filter((row) => row.all > 0).sort((a, b) => b.all - a.all);
}

/** Pairs of structures, those that happened most first. */
export function evictionRows(app: App, level: string): Eviction[] {
    const { causes } = app.source.info;
    const { evictions } = causes.find((each) => each.name === level)!;
    const chosen = chosenPhases(app);
    const found = new Map<string, Eviction>();
    evictions.by.forEach((by, i) => {
        if (chosen && !chosen.includes(evictions.phase[i])) return;
        const victim = evictions.victim[i];
        const key = `${by},${victim}`;
        const row = found.get(key) ?? { by, victim, count: 0 };
        row.count += evictions.count[i];
        found.set(key, row);
    });
    return [...found.values()].sort((a, b) => b.count - a.count);
}

export function causesView(app: App): View {
    const { causes } = app.source.info;
    const used = causes.filter((each) => each.misses.structure.length > 0);
    const levels = (used.length > 0 ? used : causes).map((each) => each.name);
    const level = () => (levels.includes(app.state.level ?? '') ? app.state.level! : levels[0]);
    const nameOf = (structure: number) => causes[0].structures[structure];
    let misses: MissRow[] = [];
    let evictions: Eviction[] = [];

    function figure(
        name: string,
        title: string,
        height: () => number,
        draw: (p: Painter) => Hit[],
        table: () => Table,
        python: () => string,
    ): Figure {
        let hits: Hit[] = [];
        const made = new Figure({
            name: () => `${baseName(app.source)}-${name}-${level()}`,
            label: () => `${title.replace('LEVEL', level())} of ${titleOf(app.source)}, ${phasesTitle(app)}`,
            height,
            draw: (p) => (hits = draw(p)),
            table,
            python,
        });
        const under = (x: number, y: number) =>
            hits.find((each) => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height);
        made.canvas.addEventListener('pointermove', (event) => {
            made.canvas.title = under(event.offsetX, event.offsetY)?.text ?? '';
        });
        return made;
    }

    const why = figure(
        'causes',
        'Why LEVEL misses',
        () => 64 + 30 * Math.max(1, Math.min(misses.length, rowsAtMost)),
        (p) => drawCauses(p, misses, nameOf),
        () => ({
            caption: `Why ${level()} misses, ${phasesTitle(app)}`,
            headers: ['data structure', 'misses', ...causeKinds.map((each) => each.title.toLowerCase())],
            rows: misses.map((row) => [nameOf(row.structure), row.all, ...row.counts]),
        }),
        () => causesPython(app, level()),
    );
    const graph = figure(
        'evictions',
        'What evicts what in LEVEL',
        () => 70 + 40 * Math.max(2, Math.min(structuresAtMost, new Set(evictions.flatMap((each) => [each.by, each.victim])).size)),
        (p) => drawEvictions(p, evictions, nameOf),
        () => ({
            caption: `What evicts what in ${level()}, ${phasesTitle(app)}`,
            headers: ['by', 'evicted', 'lines'],
            rows: evictions.map((row) => [nameOf(row.by), nameOf(row.victim), row.count]),
        }),
        () => evictionsPython(app, level()),
    );
    const titles = [h('h3', {}), h('h3', {})];
    why.bar.append(titles[0]);
    graph.bar.append(titles[1]);
    const controls = h('div', { class: 'row' });
    const strip = phaseCount(app.source) > 1 ? new PhaseStrip(app) : null;
    const element = h(
        'div',
        { class: 'view' },
        h('section', { class: 'card' }, controls),
        strip?.element,
        why.element,
        graph.element,
        h(
            'p',
            { class: 'note' },
            'First use: the cache never held the line. Taken away: by an inclusive level below or another core. Capacity: a fully associative LRU cache of the same size would miss, too. Conflict: it would hit.',
        ),
    );

    function update(): void {
        strip?.update();
        misses = missRows(app, level());
        evictions = evictionRows(app, level());
        const all = misses.reduce((sum, row) => sum + row.all, 0);
        const left = evictions.reduce((sum, row) => sum + row.count, 0);
        controls.replaceChildren(
            segmented(
                'Level',
                levels.map((each): [string, string] => [each, each]),
                level(),
                (id) => app.set({ level: id }),
            ),
            h(
                'span',
                { class: 'note' },
                `${phasesTitle(app)}: ${full(all)} misses of loads, stores and fetches, ${full(left)} lines evicted.`,
            ),
        );
        titles[0].textContent = `Why ${level()} misses`;
        titles[1].textContent = `What evicts what in ${level()}`;
        why.changed();
        graph.changed();
    }
    update();
    return {
        element,
        update,
        dispose: () => [why, graph, strip].forEach((each) => each?.dispose()),
        totals: () => ({
            misses: misses.reduce((sum, row) => sum + row.all, 0),
            evictions: evictions.reduce((sum, row) => sum + row.count, 0),
            ...Object.fromEntries(misses.map((row) => [nameOf(row.structure), row.all])),
        }),
    };
}
