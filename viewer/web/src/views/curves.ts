// SPDX-License-Identifier: BSD-3-Clause
// Curves: what probes measured, of one machine or of several over each other, with what they concluded from it.
import { baseName, scaleChooser, scaleKind, titleOf, type App, type View } from '../app';
import type { Source } from '../client';
import { distinctColours, theme } from '../colours';
import { h, segmented, select, tableElement, type Table } from '../dom';
import { Figure } from '../figure';
import { Gestures } from '../gestures';
import { brief, full } from '../numbers';
import { curvesPython } from '../python';
import { parseRange } from '../state';
import {
    curvesOf,
    groupsOf,
    plateauAt,
    residualsOf,
    unitTitle,
    type Against,
    type CurveGroup,
    type Shown,
} from './curves_data';
import { drawCurves, heightOf, plotLeft, plotWidth, xText, type CurvePicture } from './curves_draw';
import { decisionsOf, findingsTable } from './findings';

/** Counts far apart are drawn on a logarithmic scale. */
const steep = 4;

export function curvesView(app: App): View {
    const sources = (): Source[] => [app.source, ...app.others];
    const groups = () => groupsOf(sources());
    const group = (): CurveGroup => groups().find((each) => each.id === app.state.curves) ?? groups()[0];
    const all = (): Shown[] => curvesOf(sources(), group());
    const hidden = () => new Set((app.state.off ?? '').split('|'));
    const visible = () => all().filter((each) => !hidden().has(each.id));
    const against = (): Against | '' => {
        const asked = app.state.residuals;
        if (asked === 'first') return app.others.length > 0 ? 'first' : '';
        return asked === 'plateaus' && visible().some((each) => each.plateaus.length > 0) ? 'plateaus' : '';
    };
    let colours = new Map<string, string>();
    let selection: [number, number] | null = null;
    let pointer: number | null = null;

    /** In logarithms to the base 2: a little more than the points. */
    function extent(): [number, number] {
        const xs = all().flatMap((each) => [...each.curve.x].filter((x) => x > 0));
        if (xs.length === 0) return [0, 1];
        const [from, to] = [Math.log2(Math.min(...xs)), Math.log2(Math.max(...xs))];
        const margin = Math.max(0.15, (to - from) * 0.02);
        return [from - margin, to + margin];
    }

    function view(): [number, number] {
        const whole = extent();
        const chosen = parseRange(app.state.x, 2 ** whole[1]);
        return chosen && chosen[0] > 0 ? [Math.log2(chosen[0]), Math.log2(chosen[1])] : whole;
    }

    function picture(): CurvePicture {
        const shown = visible();
        const values = shown.flatMap((each) => [...each.curve.value]);
        const [least, most] = [Math.min(...values), Math.max(...values)];
        const scale = scaleKind(app);
        const log = most > 0 && (scale === 'log' || (scale === 'auto' && least > 0 && most > least * steep));
        const by = against();
        return {
            group: group(),
            shown,
            colour: (each) => colours.get(each.id) ?? theme().ink,
            view: view(),
            log,
            residuals: by === '' || group().unit === 'loads' ? [] : shown.map((each) => residualsOf(each, all(), by)),
            residualTitle:
                by === 'first' ? 'against the same curve of the first file' : 'against the plateaus that were found',
        };
    }

    function table(): Table {
        const { shown, residuals } = picture();
        const { xUnit, unit } = group();
        const loads = unit === 'loads';
        const headers = [
            'curve',
            `${shown[0]?.curve.xName ?? 'x'} (${xUnit})`,
            loads ? 'single loads' : unitTitle(unit).toLowerCase(),
            ...(loads ? [] : ['sweeps', 'knocked out', 'plateau']),
            ...(residuals.length ? ['residual %'] : []),
        ];
        const rows = shown.flatMap((each, c) =>
            Array.from(each.curve.x, (x, i) => [
                each.label,
                x,
                each.curve.value[i],
                ...(loads
                    ? []
                    : [each.curve.trials?.[i] ?? NaN, each.curve.knockedOut?.[i] ? 'yes' : '', plateauAt(each, x)]),
                ...(residuals.length ? [100 * residuals[c][i]] : []),
            ]),
        );
        return { caption: `${group().title}: ${sources().map(titleOf).join(' and ')}`, headers, rows };
    }

    const controls = h('div', { class: 'row' });
    const legend = h('div', { class: 'checks', role: 'group', 'aria-label': 'Curves' });
    const readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' });
    const findings = h('section', { class: 'card', 'aria-label': 'Findings' });
    const figure = new Figure({
        name: () => `${baseName(app.source)}-${group().id.replace(':', '-')}`,
        label: () =>
            `${group().title}, logarithmic: ${visible()
                .map((each) => each.label)
                .join('; ')}. Plus and minus zoom, arrows move, 0 shows all.`,
        height: () => heightOf(picture()),
        draw: (p) => {
            drawCurves(p, picture());
            if (!selection) return;
            const { accent } = theme();
            p.frame(selection[0], 42, selection[1] - selection[0], p.height - 86, accent, 0, `${accent}22`);
        },
        table,
        python: () =>
            curvesPython(
                app.source,
                visible()
                    .filter((each) => each.file === 0)
                    .map((each) => each.curve.path),
            ),
    });
    figure.bar.append(controls, legend);
    figure.canvas.classList.add('zooms');
    figure.canvas.insertAdjacentElement('afterend', readout);
    const marks = 'Dashed: an edge with its interval; dotted: a plateau; ▲ what is true; × a size that was left out.';
    const moves = 'Wheel or +/− zooms, drag selects, arrows move, 0 shows all.';

    const pixelToX = (pixel: number): number => {
        const [from, to] = view();
        return from + ((pixel - plotLeft) / plotWidth(figure.canvas.clientWidth)) * (to - from);
    };
    function moveTo(from: number, to: number): void {
        const whole = extent();
        const width = Math.min(to - from, whole[1] - whole[0]);
        const begin = Math.min(Math.max(from, whole[0]), whole[1] - width);
        const all = width >= (whole[1] - whole[0]) * 0.999;
        const bound = (log: number) => Number((2 ** log).toPrecision(7));
        app.move(all ? '' : `${bound(begin)}-${bound(begin + width)}`);
        figure.changed();
        hover(pointer); // another place lies under it now
    }
    function zoom(at: number, factor: number): void {
        const [from, to] = view();
        const width = Math.max(0.2, (to - from) * factor);
        const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
        moveTo(at - share * width, at - share * width + width);
    }
    function pan(by: number): void {
        const [from, to] = view();
        moveTo(from + by, to + by);
    }
    function key(name: string): boolean {
        const [from, to] = view();
        const acts: Record<string, () => void> = {
            ArrowLeft: () => pan((from - to) / 5),
            ArrowRight: () => pan((to - from) / 5),
            '+': () => zoom((from + to) / 2, 0.5),
            '=': () => zoom((from + to) / 2, 0.5),
            '-': () => zoom((from + to) / 2, 2),
            '0': () => moveTo(-Infinity, Infinity),
            Escape: () => moveTo(-Infinity, Infinity),
        };
        acts[name]?.();
        return name in acts;
    }
    function hover(at: number | null): void {
        pointer = at;
        if (at === null || at < plotLeft) {
            readout.textContent = group().unit === 'loads' ? moves : `${marks} ${moves}`;
            return;
        }
        const x = 2 ** pixelToX(at);
        const parts = visible().map((each) => {
            const { curve } = each;
            let best = 0;
            curve.x.forEach((value, i) => {
                if (Math.abs(Math.log(value / x)) < Math.abs(Math.log(curve.x[best] / x))) best = i;
            });
            const out = curve.knockedOut?.[best] ? ', left out' : '';
            return `${each.label}: ${brief(curve.value[best])} at ${xText(curve.x[best], curve.xUnit)}${out}`;
        });
        readout.textContent = parts.join(' · ');
    }
    new Gestures(figure.canvas, {
        zoom: (at, factor) => zoom(pixelToX(at), factor),
        pan: (pixels) => {
            const [from, to] = view();
            pan((pixels / plotWidth(figure.canvas.clientWidth)) * (to - from));
        },
        select: (from, to, done) => {
            selection = done ? null : [Math.min(from, to), Math.max(from, to)];
            const [a, b] = [pixelToX(Math.min(from, to)), pixelToX(Math.max(from, to))];
            if (done && b - a > 0.1) moveTo(a, b);
            else figure.redraw();
        },
        hover,
        click: () => {},
        reset: () => moveTo(-Infinity, Infinity),
        key,
    });

    function fillLegend(): void {
        const off = hidden();
        const box = (each: Shown) => {
            const toggle = (event: Event) => {
                const names = new Set([...off].filter((name) => name !== ''));
                if ((event.target as HTMLInputElement).checked) names.delete(each.id);
                else names.add(each.id);
                app.set({ off: [...names].join('|') });
            };
            return h(
                'label',
                { class: 'check' },
                h('input', { type: 'checkbox', checked: !off.has(each.id), onchange: toggle }),
                h('i', { class: 'swatch', style: `background:${colours.get(each.id)}`, 'aria-hidden': 'true' }),
                each.label,
            );
        };
        legend.replaceChildren(...all().map(box));
    }

    function update(): void {
        const palette = distinctColours(all().length);
        colours = new Map(all().map((each, i) => [each.id, palette[i]]));
        const residualChoices: [Against | '', string][] = [
            ['', 'no residuals'],
            ...(all().some((each) => each.plateaus.length > 0)
                ? [['plateaus', 'from the plateaus'] as [Against, string]]
                : []),
            ...(app.others.length > 0 ? [['first', 'from the first file'] as [Against, string]] : []),
        ];
        controls.replaceChildren(
            select(
                'Show',
                groups().map((each): [string, string] => [each.id, each.title]),
                group().id,
                (id) => app.set({ curves: id, x: '', off: '' }),
            ),
            ...(group().unit === 'loads' ? [] : [scaleChooser(app, 'logarithmic where values lie far apart')]),
            ...(residualChoices.length > 1 && group().unit !== 'loads'
                ? [segmented('Residuals', residualChoices, against(), (residuals) => app.set({ residuals }))]
                : []),
        );
        fillLegend();
        hover(null);
        findings.replaceChildren(
            h('h3', {}, 'Findings'),
            tableElement(findingsTable(sources()), full),
            ...sources().flatMap((source) => decisionsOf(source, sources().length > 1) ?? []),
        );
        figure.changed();
    }
    update();
    return {
        element: h('div', { class: 'view' }, figure.element, findings),
        update,
        dispose: () => figure.dispose(),
        totals: () =>
            Object.fromEntries(visible().map((each) => [each.label, each.curve.value.reduce((a, b) => a + b, 0)])),
    };
}
