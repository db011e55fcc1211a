// SPDX-License-Identifier: BSD-3-Clause
// Response curves of one or more probe files: which there are, and what findings say of them.
import { titleOf } from '../app';
import type { Source } from '../client';
import type { ProbeCurve, TableRow } from '../protocol';

/** A curve of one of the files that are laid over each other. */
export type Shown = ReturnType<typeof curvesOf>[number];
/** Curves that can share axes. */
export type CurveGroup = ReturnType<typeof groupsOf>[number];

const units: Record<string, string> = {
    cycles: 'Cycles per load',
    misses: 'Misses per load',
    loads: 'Single loads',
};
const overs: Record<string, string> = { bytes: 'footprint', pages: 'pages', cycles: 'latency' };

export const unitTitle = (unit: string): string => units[unit] ?? unit;

export const overTitle = (xUnit: string): string => overs[xUnit] ?? xUnit;

export function groupsOf(sources: Source[]) {
    const all = sources.flatMap(({ info }) => info.probe!.curves.map(({ xUnit, unit }) => ({ id: `${unit}:${xUnit}`, title: `${unitTitle(unit)} over ${overTitle(xUnit)}`, xUnit, unit })));
    return [...new Map(all.map((each) => [each.id, each])).values()];
}

/** What a probe found of a parameter in numbers. */
const numbered = (findings: TableRow[], { test, variant }: ProbeCurve, parameter: string) =>
    findings
        .filter(({ texts, numbers }) => texts.test === test && texts.variant === variant && texts.parameter === parameter && !Number.isNaN(numbers.value))
        .map(({ texts: { level }, numbers: { value, low, high, truth } }) => ({ level, value, low, high, truth }));

/** Where levels end: capacities, or entries of TLBs. */
function edgesOf(findings: TableRow[], curve: ProbeCurve) {
    const parameter = curve.xUnit === 'bytes' ? 'capacity' : curve.xUnit === 'pages' ? 'entries' : '';
    return numbered(findings, curve, parameter).sort((a, b) => a.value - b.value);
}

/** Plateaus lie between edges; that of memory behind the last. Without the edge of a level nobody knows how far it reaches. */
function plateausOf(findings: TableRow[], curve: ProbeCurve, edges: ReturnType<typeof edgesOf>) {
    if (curve.unit !== 'cycles' || edges.length === 0) return [];
    const last = curve.x[curve.x.length - 1];
    return numbered(findings, curve, 'latency').flatMap(({ level, value, low, high }) => {
        const at = level === 'memory' ? edges.length : edges.findIndex((edge) => edge.level === level);
        if (at < 0) return [];
        const from = at === 0 ? curve.x[0] : edges[at - 1].value;
        const to = at === edges.length ? last : Math.min(last, edges[at].value);
        return from < to ? [{ level, value, low, high, from, to }] : [];
    });
}

/** What the short names of curves of single tests stand for (docs/probes.md). */
function nameOf({ test, name }: ProbeCurve): string {
    const loads = /^T(\d+)$/.exec(name)?.[1];
    if (test === 'tlb' && loads) return `T(${loads}): ${loads} ${loads === '1' ? 'load' : 'loads'} per page`;
    if (test === 'tlb' && name === 'translation') return 'translation: 1 load per page, less as many packed loads';
    return name;
}

/** All curves of a group, those of the first file (0) first. */
export function curvesOf(sources: Source[], group: CurveGroup) {
    return sources.flatMap((source, file) => {
        const { curves, findings } = source.info.probe!;
        const prefix = sources.length > 1 ? `${file + 1} ${titleOf(source).replace(/^probe on /, '')}: ` : '';
        const some = curves.filter((curve) => curve.xUnit === group.xUnit && curve.unit === group.unit);
        return some.map((curve) => {
            // the same in all files
            const name = `${curve.test} ${curve.variant}, ${curve.name}`;
            const label = `${prefix}${curve.test} ${curve.variant}, ${nameOf(curve)}`;
            const edges = edgesOf(findings, curve);
            return { id: `${file}/${name.replace(',', '')}`, name, label, file, curve, edges, plateaus: plateausOf(findings, curve, edges) };
        });
    });
}

/** The plateau that a size lies on; NaN where none is known. */
export function plateauAt(shown: Shown, x: number): number {
    return shown.plateaus.find((each) => x >= each.from && x <= each.to)?.value ?? NaN;
}

/** The value of a curve between its points, on logarithmic axes; NaN outside. Points that were knocked out do not count. */
function valueAt(curve: ProbeCurve, x: number): number {
    const kept = Array.from(curve.x, (_, i) => i).filter((i) => !curve.knockedOut?.[i]);
    const after = kept.findIndex((i) => curve.x[i] >= x);
    if (after < 0) return NaN;
    const b = kept[after];
    if (curve.x[b] === x) return curve.value[b];
    if (after === 0) return NaN;
    const a = kept[after - 1];
    const share = Math.log(x / curve.x[a]) / Math.log(curve.x[b] / curve.x[a]);
    const [va, vb] = [curve.value[a], curve.value[b]];
    return va > 0 && vb > 0 ? va * (vb / va) ** share : va + (vb - va) * share;
}

export type Against = 'plateaus' | 'first';

/** How far each point lies from its plateau, or from the same curve of the first file: a fraction; NaN where there is none. */
export function residualsOf(shown: Shown, all: Shown[], against: Against): Float64Array {
    const { curve } = shown;
    const twin = all.find(({ file, name }) => file === 0 && shown.file > 0 && name === shown.name);
    return curve.value.map((value, i) => {
        if (curve.knockedOut?.[i]) return NaN;
        const expected = against === 'plateaus' ? plateauAt(shown, curve.x[i]) : twin ? valueAt(twin.curve, curve.x[i]) : NaN;
        return expected > 0 ? value / expected - 1 : NaN;
    });
}
