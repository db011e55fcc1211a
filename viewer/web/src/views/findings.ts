// SPDX-License-Identifier: BSD-3-Clause
// What probes concluded, as a table: beside what is true, where that is known; and in which steps.
import { titleOf } from '../app';
import type { Source } from '../client';
import { h, inWords, tableBy, type Table } from '../dom';
import { bytes, full } from '../numbers';
import type { ProbeInfo, TableRow } from '../protocol';

function amount(value: number, unit: string): string {
    if (Number.isNaN(value)) return '';
    return unit === 'bytes' ? bytes(value) : full(value);
}

/** "521,667 … 537,395" where the answer is not one number. */
function interval({ texts: { unit }, numbers: { low, high } }: TableRow): string {
    if (Number.isNaN(low) || full(low) === full(high)) return '';
    const text = (value: number) => (unit === 'bytes' ? full(Math.round(value)) : amount(value, unit));
    return `${text(low)} … ${text(high)}`;
}

function truth({ texts: { truth_word, unit, parameter }, numbers: { truth: value, truth_high: high } }: TableRow): string {
    if (truth_word) return truth_word;
    const of = parameter === 'capacity' ? 'bytes' : unit;
    return high > value ? `${amount(value, of)} … ${amount(high, of)}` : amount(value, of);
}

export function findingsTable(sources: Source[]): Table {
    const found = sources.flatMap((source) => source.info.probe!.findings.map((row) => ({ ...row, source })));
    const own = inWords('test', 'variant', 'level', 'parameter', 'unit', 'verdict');
    return tableBy('What was found, and what is true', found, [
        ...(sources.length > 1 ? [['machine', ({ source }) => titleOf(source)] as [string, (row: (typeof found)[number]) => string]] : []),
        ...own.slice(0, 4),
        ['found', ({ texts: { word, unit }, numbers: { value } }) => word || amount(value, unit) || '–'],
        ['interval', interval],
        own[4],
        ['ground truth', truth],
        own[5],
        ['how', ({ texts: { method, reason } }) => method || reason],
    ]);
}

export const costsTable = ({ tests }: ProbeInfo): Table =>
    tableBy('What the tests cost', tests, [
        ['test', ({ name }) => name],
        ['runs', ({ runs }) => runs],
        ['references', ({ references }) => references],
        ['cycles', ({ cycles }) => cycles],
    ]);

/** The decisions of each test, to be unfolded. */
export function decisionsOf(source: Source, several: boolean): HTMLElement | null {
    const tests = source.info.probe!.tests.filter((each) => each.decisions.length > 0);
    if (tests.length === 0) return null;
    const parts = tests.map((each) => h('details', {}, h('summary', {}, each.name), h('pre', {}, each.decisions.join('\n'))));
    const title = `How the tests decided${several ? `: ${titleOf(source)}` : ''}`;
    return h('details', { class: 'decisions' }, h('summary', {}, title), ...parts);
}
