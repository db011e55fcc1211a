// SPDX-License-Identifier: BSD-3-Clause
// Snippets of Python that read what a picture shows: constants, and the programs of python/ that use them.
import { chosenPhases, type App, type Chosen } from './app';
import { askedBy } from './cube';
import { causes, type AddressRange, type Quantity, type SeriesInfo } from './protocol';

const programs = import.meta.glob<string>('./python/*.py', { query: '?raw', import: 'default', eager: true });
/** The addresses in sight; null: all. */
export type Sight = AddressRange[] | null;
type Value = string | number | bigint | null | Value[];

/** As Python writes it; addresses are bigints. */
function literal(value: Value): string {
    if (value === null) return 'None';
    if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
    return typeof value === 'bigint' ? `0x${value.toString(16)}` : JSON.stringify(value);
}

/** Programs by name, without the heads of their files. */
export function snippet(constants: Record<string, Value>, ...names: string[]): string {
    const lines = Object.entries(constants).map(([name, value]) => `${name} = ${literal(value)}\n`);
    const parts = names.map((name) => programs[`./python/${name}.py`].replace(/^(#.*\n)+\n/, ''));
    return ['import h5py\nimport numpy as np\n', lines.join(''), ...parts].join('\n');
}

export const quantityOf = (quantity: Quantity, { id, kind }: SeriesInfo): string => id.split('#')[1] ?? (kind === 'level' ? quantity : 'count');

/** What the field shows: counts by line and by phase, or those of some phases less those of others. */
export function fieldPython(app: App, { show, series, phases, minus, selection }: Chosen, sight: Sight): string {
    const { name } = app.source.info;
    const shown = { QUANTITY: quantityOf(show.quantity, series), SIGHT: selection ?? sight };
    if (!minus) return snippet({ FILE: name, PATH: series.path, PHASES: phases, ...shown }, 'by_line', 'field');
    return snippet({ PARTS: [minus, phases].map((each) => [name, series.path, each]), PLACES: null, ...shown }, 'by_line', 'difference');
}

/** What is known of data structures as a whole: misses by cause, core or function. */
export function cubePython(app: App, { series, cause, show, filter, cube: known }: Chosen): string {
    const [{ info, info: { attribution, name } }, { owner: level }, kind] = [app.source, series, causes[cause] ?? 'misses'];
    const asked = attribution ? (askedBy(info, level)?.map(Number) ?? null) : [1, 1];
    const group = attribution ? 'attribution/rows' : filter.core && cause < 0 ? 'cores' : cause >= 0 ? `causes/${level}/misses` : `structures/levels/${level}/phases`;
    const named = (by: 'function' | 'structure') => filter[by]?.map((each) => known!.dimensions[by]!.names[each]) ?? null;
    return snippet({ FILE: name, GROUP: group, LEVEL: level, QUANTITY: cause >= 0 ? 'misses' : show.quantity, COLUMN: attribution ? `${kind}_${level}` : kind, ASKED: asked, PHASES: chosenPhases(app), CORE: filter.core?.[0] ?? null, FUNCTIONS: named('function'), STRUCTURES: named('structure') }, 'cube');
}
