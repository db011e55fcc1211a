// SPDX-License-Identifier: BSD-3-Clause
// Curves: what probes measured, of one machine or of several over each other, with what they concluded from it.
import { extent, leastIndex, sum } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { baseName, scaleChooser, scaleKind, titleOf, type App, type View } from '../app';
import { distinctColours, theme } from '../paint';
import { fill, h, segmented, select, tableBy, tableElement, type Column, type Table } from '../dom';
import { figureOf } from '../figure';
import { followHands } from '../gestures';
import { scale as rule } from '../../../drawing.json';
import { brief, parseRange } from '../numbers';
import { snippet } from '../python';
import { curvesOf, drawCurves, groupsOf, heightOf, plateauAt, plotBox, residualsOf, unitTitle, xText, type Against, type CurveGroup, type CurvePicture, type Shown } from './curves_draw';
import { decisionsOf, findingsTable } from './scores';

const marks = 'Dashed: an edge with its interval; dotted: a plateau; ▲ what is true; × a size that was left out.';
const moves = 'Wheel or +/− zooms, drag selects, arrows move, 0 shows all.';

export function curvesView(app: App): View {
    const sources = [app.source, ...app.others];
    const groups = groupsOf(sources);
    const controls = h('div', { class: 'row' });
    const legend = h('div', { class: 'checks', role: 'group', 'aria-label': 'Curves' });
    const readout = h('div', { class: 'readout', role: 'status', 'aria-live': 'off' });
    const findings = h('section', { class: 'card', 'aria-label': 'Findings' });
    let colours = new Map<string, string>();
    /** What is being dragged over. */
    let dragged: [number, number] | null = null;
    let pointer: number | null = null;

    const groupNow = (): CurveGroup => groups.find((each) => each.id === app.state.curves) ?? groups[0];
    const all = (): Shown[] => curvesOf(sources, groupNow());
    const hidden = (): string[] => (app.state.off ?? '').split('|').filter(Boolean);
    const visible = (): Shown[] => all().filter((each) => !hidden().includes(each.id));
    const loads = (): boolean => groupNow().unit === 'loads';

    function against(): Against | '' {
        const asked = app.state.residuals;
        if (asked === 'first') return app.others.length > 0 ? 'first' : '';
        return asked === 'plateaus' && visible().some((each) => each.plateaus.length > 0) ? 'plateaus' : '';
    }

    /** A little more than the points. */
    function whole(): [number, number] {
        const [least, most] = extent(all().flatMap((each) => [...each.curve.x].filter((x) => x > 0)));
        if (least === undefined) return [1, 2];
        const margin = Math.max(2 ** 0.15, (most / least) ** 0.02);
        return [least / margin, most * margin];
    }

    function range(): [number, number] {
        const chosen = parseRange(app.state.x, whole()[1]);
        return chosen && chosen[0] > 0 ? chosen : whole();
    }

    function look(range: [number, number] | null): void {
        app.move(range ? range.map((each) => Number(each.toPrecision(7))).join('-') : '');
        figure.changed();
        hover(pointer); // another place lies under it now
    }

    function drag(x0: number, x1: number, done: boolean): void {
        const pixels: [number, number] = [Math.min(x0, x1), Math.max(x0, x1)];
        dragged = done ? null : pixels;
        const [a, b] = pixels.map(scale().invert);
        if (done && b > 1.07 * a) look([a, b]);
        else figure.redraw();
    }

    function hover(at: number | null): void {
        pointer = at;
        const x = scale().invert(at ?? 0);
        const nearest = ({ label, curve }: Shown) => {
            const best = leastIndex(curve.x, (each) => Math.abs(Math.log(each / x)))!;
            return `${label}: ${brief(curve.value[best])} at ${xText(curve.x[best], curve.xUnit)}${curve.knockedOut?.[best] ? ', left out' : ''}`;
        };
        readout.textContent = at !== null && at >= plotBox(0).x ? visible().map(nearest).join(' · ') : loads() ? moves : `${marks} ${moves}`;
    }

    function picture(): CurvePicture {
        const [shown, group, residuals] = [visible(), groupNow(), against()];
        const [least, most] = extent(shown.flatMap((each) => [...each.curve.value])) as [number, number];
        return {
            ...{ group, shown, view: range() },
            colour: (each) => colours.get(each.id) ?? theme().ink,
            log: most > 0 && (scaleKind(app) === 'log' || (scaleKind(app) === 'auto' && least > 0 && most > least * rule.steep)),
            residuals: residuals === '' || loads() ? [] : shown.map((each) => residualsOf(each, all(), residuals)),
            residualTitle: residuals === 'first' ? 'against the same curve of the first file' : 'against the plateaus that were found',
        };
    }

    function table(): Table {
        const { shown, residuals, group } = picture();
        const points = shown.flatMap((each, c) => Array.from(each.curve.x, (x, i) => ({ ...each, c, x, i })));
        const sweeps: Column<(typeof points)[number]>[] = [
            ['sweeps', ({ curve, i }) => curve.trials?.[i] ?? NaN],
            ['knocked out', ({ curve, i }) => (curve.knockedOut?.[i] ? 'yes' : '')],
            ['plateau', (point) => plateauAt(point, point.x)],
        ];
        return tableBy(`${group.title}: ${sources.map(titleOf).join(' and ')}`, points, [
            ['curve', ({ label }) => label],
            [`${shown[0]?.curve.xName ?? 'x'} (${group.xUnit})`, ({ x }) => x],
            [loads() ? 'single loads' : unitTitle(group.unit).toLowerCase(), ({ curve, i }) => curve.value[i]],
            ...(loads() ? [] : sweeps),
            ...(residuals.length ? [['residual %', ({ c, i }) => 100 * residuals[c][i]] as (typeof sweeps)[number]] : []),
        ]);
    }

    const figure = figureOf({
        name: () => `${baseName(app.source)}-${groupNow().id.replace(':', '-')}`,
        label: () => `${groupNow().title}, logarithmic: ${visible().map((each) => each.label).join('; ')}. Plus and minus zoom, arrows move, 0 shows all.`,
        height: () => heightOf(picture()),
        draw: (p) => {
            drawCurves(p, picture());
            const { accent } = theme();
            if (dragged) p.frame(dragged[0], 42, dragged[1] - dragged[0], p.height - 86, accent, 0, `${accent}22`);
        },
        table,
        python: () => snippet({ FILE: app.source.info.name, PATHS: visible().filter((each) => each.file === 0).map((each) => each.curve.path) }, 'curves'),
    });
    const { bar, canvas, element: picturing } = figure;
    bar.append(controls, legend);
    canvas.classList.add('zooms');
    canvas.insertAdjacentElement('afterend', readout);
    const scale = () => {
        const { x, width } = plotBox(canvas.clientWidth);
        return scaleLog(range(), [x, x + width]);
    };
    followHands(canvas, { scale, whole, look, least: [1, 2 ** 0.2] }, { select: drag, hover });

    function update(): void {
        const palette = distinctColours(all().length);
        colours = new Map(all().map((each, i) => [each.id, palette[i]]));
        const residuals: [Against | '', string][] = [['', 'no residuals']];
        if (all().some((each) => each.plateaus.length > 0)) residuals.push(['plateaus', 'from the plateaus']);
        if (app.others.length > 0) residuals.push(['first', 'from the first file']);
        fill(
            controls,
            select('Show', groups.map(({ id, title }) => [id, title]), groupNow().id, (curves) => app.set({ curves, x: '', off: '' })),
            !loads() && scaleChooser(app, 'logarithmic where values lie far apart'),
            residuals.length > 1 && !loads() && segmented('Residuals', residuals, against(), (each) => app.set({ residuals: each })),
        );
        const box = ({ id, label }: Shown) => {
            const off = hidden();
            const toggle = () => app.set({ off: (off.includes(id) ? off.filter((each) => each !== id) : [...off, id]).join('|') });
            const swatch = h('i', { class: 'swatch', style: `background:${colours.get(id)}`, 'aria-hidden': 'true' });
            return h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: !off.includes(id), onchange: toggle }), swatch, label);
        };
        fill(legend, ...all().map(box));
        hover(null);
        const decisions = sources.map((source) => decisionsOf(source, sources.length > 1));
        fill(findings, h('h3', {}, 'Findings'), tableElement(findingsTable(sources)), ...decisions);
        figure.changed();
    }
    return {
        ...{ element: h('div', { class: 'view' }, picturing, findings), update },
        totals: () => Object.fromEntries(visible().map(({ label, curve }) => [label, sum(curve.value)])),
    };
}
