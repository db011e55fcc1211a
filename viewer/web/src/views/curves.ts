// SPDX-License-Identifier: BSD-3-Clause
// Curves: what probes measured, of one machine or of several over each other, with what they concluded from it.
import { baseName, scaleChooser, scaleKind, titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import { distinctColours, theme } from '../colours';
import { fill, h, segmented, select, tableElement, type Table } from '../dom';
import { Figure } from '../figure';
import { Gestures, placeAt, type Sight } from '../gestures';
import { brief, full } from '../numbers';
import { snippet } from '../python';
import { parseRange } from '../state';
import { curvesOf, groupsOf, plateauAt, residualsOf, unitTitle, type Against, type CurveGroup, type Shown } from './curves_data';
import { drawCurves, heightOf, plotBox, xText, type CurvePicture } from './curves_draw';
import { decisionsOf, findingsTable } from './findings';

/** Counts far apart are drawn on a logarithmic scale. */
const steep = 4;

const marks = 'Dashed: an edge with its interval; dotted: a plateau; ▲ what is true; × a size that was left out.';
const moves = 'Wheel or +/− zooms, drag selects, arrows move, 0 shows all.';

export const curvesView = (app: App): View => new Curves(app);

class Curves implements View {
    readonly element: HTMLElement;
    private readonly controls = h('div', { class: 'row' });
    private readonly legend = h('div', { class: 'checks', role: 'group', 'aria-label': 'Curves' });
    private readonly readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' });
    private readonly findings = h('section', { class: 'card', 'aria-label': 'Findings' });
    private readonly figure: Figure;
    private readonly sight: Sight;
    private colours = new Map<string, string>();
    /** What is being dragged over. */
    private dragged: [number, number] | null = null;
    private pointer: number | null = null;

    constructor(private readonly app: App) {
        this.figure = new Figure({
            name: () => `${baseName(app.source)}-${this.group.id.replace(':', '-')}`,
            label: () => `${this.group.title}, logarithmic: ${this.visible().map((each) => each.label).join('; ')}. Plus and minus zoom, arrows move, 0 shows all.`,
            height: () => heightOf(this.picture()),
            draw: (p) => {
                drawCurves(p, this.picture());
                const { accent } = theme();
                if (this.dragged) p.frame(this.dragged[0], 42, this.dragged[1] - this.dragged[0], p.height - 86, accent, 0, `${accent}22`);
            },
            table: () => this.table(),
            python: () => snippet({ FILE: app.source.info.name, PATHS: this.visible().filter((each) => each.file === 0).map((each) => each.curve.path) }, 'curves'),
        });
        const { bar, canvas } = this.figure;
        bar.append(this.controls, this.legend);
        canvas.classList.add('zooms');
        canvas.insertAdjacentElement('afterend', this.readout);
        this.sight = {
            range: () => this.range(),
            whole: () => this.whole(),
            least: 0.2,
            box: () => plotBox(canvas.clientWidth),
            look: (range) => this.look(range),
        };
        new Gestures(canvas, this.sight, { select: (from, to, done) => this.drag(Math.min(from, to), Math.max(from, to), done), hover: (at) => this.hover(at) });
        this.element = h('div', { class: 'view' }, this.figure.element, this.findings);
        this.update();
    }

    private get sources(): Source[] {
        return [this.app.source, ...this.app.others];
    }

    private get group(): CurveGroup {
        const groups = groupsOf(this.sources);
        return groups.find((each) => each.id === this.app.state.curves) ?? groups[0];
    }

    private all(): Shown[] {
        return curvesOf(this.sources, this.group);
    }

    private visible(): Shown[] {
        const hidden = (this.app.state.off ?? '').split('|');
        return this.all().filter((each) => !hidden.includes(each.id));
    }

    private against(): Against | '' {
        const asked = this.app.state.residuals;
        if (asked === 'first') return this.app.others.length > 0 ? 'first' : '';
        return asked === 'plateaus' && this.visible().some((each) => each.plateaus.length > 0) ? 'plateaus' : '';
    }

    /** In logarithms to the base 2: a little more than the points. */
    private whole(): [number, number] {
        const xs = this.all().flatMap((each) => [...each.curve.x].filter((x) => x > 0));
        if (xs.length === 0) return [0, 1];
        const [from, to] = [Math.log2(Math.min(...xs)), Math.log2(Math.max(...xs))];
        const margin = Math.max(0.15, (to - from) * 0.02);
        return [from - margin, to + margin];
    }

    private range(): [number, number] {
        const whole = this.whole();
        const chosen = parseRange(this.app.state.x, 2 ** whole[1]);
        return chosen && chosen[0] > 0 ? [Math.log2(chosen[0]), Math.log2(chosen[1])] : whole;
    }

    private look(range: [number, number] | null): void {
        this.app.move(range ? range.map((each) => Number((2 ** each).toPrecision(7))).join('-') : '');
        this.figure.changed();
        this.hover(this.pointer); // another place lies under it now
    }

    private drag(from: number, to: number, done: boolean): void {
        this.dragged = done ? null : [from, to];
        const [a, b] = [placeAt(this.sight, from), placeAt(this.sight, to)];
        if (done && b - a > 0.1) this.look([a, b]);
        else this.figure.redraw();
    }

    private hover(at: number | null): void {
        this.pointer = at;
        const loads = this.group.unit === 'loads';
        if (at === null || at < plotBox(0).x) {
            this.readout.textContent = loads ? moves : `${marks} ${moves}`;
            return;
        }
        const x = 2 ** placeAt(this.sight, at);
        const parts = this.visible().map(({ label, curve }) => {
            const far = Array.from(curve.x, (each) => Math.abs(Math.log(each / x)));
            const best = far.indexOf(Math.min(...far));
            return `${label}: ${brief(curve.value[best])} at ${xText(curve.x[best], curve.xUnit)}${curve.knockedOut?.[best] ? ', left out' : ''}`;
        });
        this.readout.textContent = parts.join(' · ');
    }

    private picture(): CurvePicture {
        const shown = this.visible();
        const values = shown.flatMap((each) => [...each.curve.value]);
        const [least, most] = [Math.min(...values), Math.max(...values)];
        const scale = scaleKind(this.app);
        const against = this.against();
        return {
            ...{ group: this.group, shown, view: this.range() },
            colour: (each) => this.colours.get(each.id) ?? theme().ink,
            log: most > 0 && (scale === 'log' || (scale === 'auto' && least > 0 && most > least * steep)),
            residuals: against === '' || this.group.unit === 'loads' ? [] : shown.map((each) => residualsOf(each, this.all(), against)),
            residualTitle: against === 'first' ? 'against the same curve of the first file' : 'against the plateaus that were found',
        };
    }

    private table(): Table {
        const { shown, residuals, group } = this.picture();
        const loads = group.unit === 'loads';
        const headers = ['curve', `${shown[0]?.curve.xName ?? 'x'} (${group.xUnit})`, loads ? 'single loads' : unitTitle(group.unit).toLowerCase()];
        if (!loads) headers.push('sweeps', 'knocked out', 'plateau');
        if (residuals.length) headers.push('residual %');
        const rows = shown.flatMap((each, c) =>
            Array.from(each.curve.x, (x, i) => [
                ...[each.label, x, each.curve.value[i]],
                ...(loads ? [] : [each.curve.trials?.[i] ?? NaN, each.curve.knockedOut?.[i] ? 'yes' : '', plateauAt(each, x)]),
                ...(residuals.length ? [100 * residuals[c][i]] : []),
            ]),
        );
        return { caption: `${group.title}: ${this.sources.map(titleOf).join(' and ')}`, headers, rows };
    }

    private fillLegend(): void {
        const off = (this.app.state.off ?? '').split('|').filter((name) => name !== '');
        const box = ({ id, label }: Shown) => {
            const toggle = () => this.app.set({ off: (off.includes(id) ? off.filter((each) => each !== id) : [...off, id]).join('|') });
            const swatch = h('i', { class: 'swatch', style: `background:${this.colours.get(id)}`, 'aria-hidden': 'true' });
            return h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: !off.includes(id), onchange: toggle }), swatch, label);
        };
        fill(this.legend, ...this.all().map(box));
    }

    update(): void {
        const { app, sources, group } = this;
        const all = this.all();
        const loads = group.unit === 'loads';
        const palette = distinctColours(all.length);
        this.colours = new Map(all.map((each, i) => [each.id, palette[i]]));
        const residuals: [Against | '', string][] = [['', 'no residuals']];
        if (all.some((each) => each.plateaus.length > 0)) residuals.push(['plateaus', 'from the plateaus']);
        if (app.others.length > 0) residuals.push(['first', 'from the first file']);
        const groups = groupsOf(sources).map(({ id, title }): [string, string] => [id, title]);
        fill(
            this.controls,
            select('Show', groups, group.id, (curves) => app.set({ curves, x: '', off: '' })),
            ...(loads ? [] : [scaleChooser(app, 'logarithmic where values lie far apart')]),
            ...(residuals.length > 1 && !loads ? [segmented('Residuals', residuals, this.against(), (each) => app.set({ residuals: each }))] : []),
        );
        this.fillLegend();
        this.hover(null);
        const decisions = sources.flatMap((source) => decisionsOf(source, sources.length > 1) ?? []);
        this.findings.replaceChildren(h('h3', {}, 'Findings'), tableElement(findingsTable(sources), full), ...decisions);
        this.figure.changed();
    }

    totals(): Record<string, number> {
        return Object.fromEntries(this.visible().map(({ label, curve }) => [label, curve.value.reduce((a, b) => a + b, 0)]));
    }
}
