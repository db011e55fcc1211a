// SPDX-License-Identifier: BSD-3-Clause
// The strip of phases: their lengths side by side; click, drag or keys choose which are shown.
import { chosenPhases, phaseCount, phasesTitle, type App } from './app';
import { theme } from './colours';
import { h } from './dom';
import { full } from './numbers';
import { CanvasPainter } from './paint';
import { phasesFault, phasesText } from './state';

const height = 44;

export class PhaseStrip {
    readonly element: HTMLElement;
    private readonly canvas: HTMLCanvasElement;
    private readonly painter: CanvasPainter;
    private readonly field: HTMLInputElement;
    private readonly note: HTMLElement;
    private readonly observer: ResizeObserver;
    /** Where phases begin, as shares of the width; one more at the end. */
    private readonly edges: number[];
    private anchor: number | null = null;

    constructor(private readonly app: App) {
        this.edges = edgesOf(app.source.info.phases.cycles, phaseCount(app.source));
        this.canvas = h('canvas', {
            class: 'phase-strip',
            tabindex: 0,
            role: 'slider',
            'aria-label': 'Phase',
            'aria-valuemin': 0,
            'aria-valuemax': phaseCount(app.source) - 1,
        });
        this.painter = new CanvasPainter(this.canvas);
        this.field = h('input', {
            type: 'text',
            size: 8,
            placeholder: 'all',
            'aria-label': 'Phases, as in 4 or 3,5-7; empty for all',
            'aria-describedby': 'phases-note',
            spellcheck: false,
        });
        this.note = h('span', { class: 'note', role: 'status', id: 'phases-note' });
        const set = (phases: string) => app.set({ phases });
        this.field.addEventListener('change', () => set(this.field.value.trim()));
        this.element = h(
            'div',
            { class: 'phases' },
            h(
                'div',
                { class: 'row' },
                h('label', { class: 'field' }, h('span', {}, 'Phases'), this.field),
                h('button', { type: 'button', onclick: () => set('') }, 'All'),
                this.note,
            ),
            this.canvas,
        );
        this.canvas.addEventListener('pointerdown', (event) => this.press(event));
        this.canvas.addEventListener('pointermove', (event) => this.hover(event));
        this.canvas.addEventListener('pointerup', () => (this.anchor = null));
        this.canvas.addEventListener('keydown', (event) => this.key(event));
        this.observer = new ResizeObserver(() => this.draw());
        this.observer.observe(this.canvas);
        this.update();
    }

    private phaseAt(event: PointerEvent): number {
        const share = Math.min(0.999999, Math.max(0, event.offsetX / this.canvas.clientWidth));
        let from = 0;
        let to = this.edges.length - 2;
        while (from < to) {
            const middle = (from + to + 1) >> 1;
            if (this.edges[middle] <= share) from = middle;
            else to = middle - 1;
        }
        return from;
    }

    private press(event: PointerEvent): void {
        const phase = this.phaseAt(event);
        const chosen = chosenPhases(this.app) ?? [];
        this.canvas.setPointerCapture(event.pointerId);
        if (event.ctrlKey || event.metaKey) {
            const next = chosen.includes(phase)
                ? chosen.filter((each) => each !== phase)
                : [...chosen, phase].sort((a, b) => a - b);
            this.app.set({ phases: phasesText(next.length ? next : null) });
        } else if (event.shiftKey && chosen.length) this.choose(chosen[0], phase);
        else {
            this.anchor = phase;
            const again = chosen.length === 1 && chosen[0] === phase;
            this.app.set({ phases: again ? '' : String(phase) });
        }
    }

    private choose(from: number, to: number): void {
        const [a, b] = from < to ? [from, to] : [to, from];
        this.app.set({ phases: a === b ? String(a) : `${a}-${b}` });
    }

    private hover(event: PointerEvent): void {
        const phase = this.phaseAt(event);
        if (this.anchor !== null && event.buttons & 1 && phase !== this.anchor) this.choose(this.anchor, phase);
        this.canvas.title = this.describe(phase);
    }

    private describe(phase: number): string {
        const { names, cycles, references } = this.app.source.info.phases;
        const name = names[phase] ?? `phase ${phase}`;
        return cycles.length ? `${name}: ${full(cycles[phase])} cycles, ${full(references[phase])} references` : name;
    }

    private key(event: KeyboardEvent): void {
        const last = phaseCount(this.app.source) - 1;
        const chosen = chosenPhases(this.app);
        const at = chosen === null ? -1 : chosen[0];
        const step: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last };
        if (event.key === 'Escape') this.app.set({ phases: '' });
        else if (event.key in step) this.app.set({ phases: String(Math.min(last, Math.max(0, step[event.key]))) });
        else return;
        event.preventDefault();
    }

    update(): void {
        const chosen = chosenPhases(this.app);
        const text = phasesText(chosen);
        const fault = phasesFault(this.app.state.phases, phaseCount(this.app.source));
        if (document.activeElement !== this.field) this.field.value = fault ? this.app.state.phases! : text;
        this.field.setAttribute('aria-invalid', String(fault !== ''));
        this.note.classList.toggle('bad', fault !== '');
        this.canvas.setAttribute('aria-valuenow', String(chosen?.[0] ?? 0));
        this.canvas.setAttribute('aria-valuetext', text || 'all phases');
        const count = phaseCount(this.app.source);
        this.note.textContent = fault
            ? `${fault}. Shown: ${phasesTitle(this.app)}.`
            : chosen === null
              ? `all ${count.toLocaleString('en')}; click one, drag for several, Ctrl adds`
              : chosen.length === 1
                ? this.describe(chosen[0])
                : `${chosen.length.toLocaleString('en')} of ${count.toLocaleString('en')}`;
        this.draw();
    }

    private draw(): void {
        const width = this.canvas.clientWidth;
        if (width === 0) return;
        const p = this.painter.begin(width, height);
        const colours = theme();
        const chosen = new Set(chosenPhases(this.app) ?? []);
        const { edges } = this;
        let free = 0;
        for (let i = 0; i + 1 < edges.length; ++i) {
            const from = edges[i] * width;
            const to = edges[i + 1] * width;
            const on = chosen.has(i);
            if (to - from < 0.3 && !on && Math.floor(from) === Math.floor(to)) continue;
            const narrow = to - from < 2; // stripes of a pixel would make a pattern that is not in the file
            const fill = on ? colours.accent : narrow || i % 2 === 0 ? colours.line : colours.grid;
            p.rect(from, 4, Math.max(on ? 3 : 1, to - from - (to - from > 4 ? 1 : 0)), 22, fill);
            const label = String(i);
            const need = label.length * 7 + 6;
            const middle = Math.max(need / 2, Math.min(width - need / 2, (from + to) / 2));
            if (middle - need / 2 >= free && (to - from > 3 || on)) {
                p.text(middle, 36, label, {
                    colour: on ? colours.accent : colours.faint,
                    size: 11,
                    anchor: 'middle',
                    weight: on ? 700 : 400,
                });
                free = middle + need / 2;
            }
        }
    }

    dispose(): void {
        this.observer.disconnect();
    }
}

/** Phases take width by their length, but can all be hit where there are few. */
function edgesOf(cycles: Float64Array, count: number): number[] {
    const total = cycles.reduce((sum, each) => sum + each, 0);
    const least = count <= 100 ? 0.012 : 0;
    const sizes = Array.from(
        { length: count },
        (_, i) => (total > 0 && cycles.length === count ? cycles[i] / total : 1 / count) + least,
    );
    const sum = sizes.reduce((a, b) => a + b, 0);
    const edges = [0];
    for (const size of sizes) edges.push(edges[edges.length - 1] + size / sum);
    return edges;
}
