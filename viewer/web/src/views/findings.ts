// SPDX-License-Identifier: BSD-3-Clause
// What probes concluded, as a table: beside what is true, where that is known; and in which steps.
import { titleOf } from '../app';
import type { Source } from '../client';
import { h, type Table } from '../dom';
import { bytes, full } from '../numbers';
import type { ProbeFinding, ProbeInfo } from '../protocol';

function amount(value: number, unit: string): string {
    if (Number.isNaN(value)) return '';
    return unit === 'bytes' ? bytes(value) : full(value);
}

/** "521,667 … 537,395" where the answer is not one number. */
function interval({ low, high, unit }: ProbeFinding): string {
    if (Number.isNaN(low) || full(low) === full(high)) return '';
    return unit === 'bytes'
        ? `${full(Math.round(low))} … ${full(Math.round(high))}`
        : `${amount(low, unit)} … ${amount(high, unit)}`;
}

function truth({ truth: value, truthHigh, truthWord, unit, parameter }: ProbeFinding): string {
    if (truthWord) return truthWord;
    const of = parameter === 'capacity' ? 'bytes' : unit;
    return truthHigh > value ? `${amount(value, of)} … ${amount(truthHigh, of)}` : amount(value, of);
}

export function findingsTable(sources: Source[]): Table {
    const several = sources.length > 1;
    const headers = ['test', 'variant', 'level', 'parameter', 'found', 'interval', 'unit', 'ground truth', 'verdict', 'how'];
    const rows = sources.flatMap((source) =>
        source.info.probe!.findings.map((each) => [
            ...(several ? [titleOf(source)] : []),
            each.test,
            each.variant,
            each.level,
            each.parameter,
            each.word || amount(each.value, each.unit) || '–',
            interval(each),
            each.unit,
            truth(each),
            each.verdict,
            each.method || each.reason,
        ]),
    );
    return {
        caption: 'What was found, and what is true',
        headers: [...(several ? ['machine'] : []), ...headers],
        rows,
    };
}

export function costsTable({ tests }: ProbeInfo): Table {
    return {
        caption: 'What the tests cost',
        headers: ['test', 'runs', 'references', 'cycles'],
        rows: tests.map(({ name, runs, references, cycles }) => [name, runs, references, cycles]),
    };
}

/** The decisions of each test, to be unfolded. */
export function decisionsOf(source: Source, several: boolean): HTMLElement | null {
    const tests = source.info.probe!.tests.filter((each) => each.decisions.length > 0);
    if (tests.length === 0) return null;
    const parts = tests.map((each) =>
        h('details', {}, h('summary', {}, each.name), h('pre', {}, each.decisions.join('\n'))),
    );
    const title = `How the tests decided${several ? `: ${titleOf(source)}` : ''}`;
    return h('details', { class: 'decisions' }, h('summary', {}, title), ...parts);
}
