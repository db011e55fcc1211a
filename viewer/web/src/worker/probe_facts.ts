// SPDX-License-Identifier: BSD-3-Clause
// What probes write: findings, response curves, and what each test cost.
import type { ProbeInfo } from '../protocol';
import { FileError, type Store } from './h5';

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** Older files call robust tests hardened. */
export const variantOf = (stored: string): string => (stored === 'hardened' ? 'robust' : stored);

export function probeOf(store: Store): ProbeInfo {
    const texts = (name: string) => store.texts(`findings/${name}`);
    const numbers = (name: string) => store.numbers(`findings/${name}`);
    const test = texts('test');
    const [variant, level, parameter, word, unit, method, reason, truthWord, verdict] = [
        'variant',
        'level',
        'parameter',
        'word',
        'unit',
        'method',
        'reason',
        'truth_word',
        'verdict',
    ].map(texts);
    const [value, low, high, truth, truthHigh] = ['value', 'low', 'high', 'truth', 'truth_high'].map(numbers);
    const findings = test.map((name, i) => ({
        test: name,
        variant: variantOf(variant[i]),
        level: level[i],
        parameter: parameter[i],
        value: value[i],
        low: low[i],
        high: high[i],
        word: word[i],
        unit: unit[i],
        method: method[i],
        reason: reason[i],
        truth: truth[i],
        truthHigh: truthHigh[i],
        truthWord: truthWord[i],
        verdict: verdict[i],
    }));
    const curves = store.children('curves').map((group) => {
        const path = `curves/${group}`;
        const attributes = store.attributes(path);
        const column = (name: string) => (store.has(`${path}/${name}`) ? store.numbers(`${path}/${name}`) : null);
        const [x, values] = [column('x'), column('value')];
        if (!x || !values || x.length !== values.length)
            throw new FileError(`/${path} has no points, or not as many values; the file is damaged.`);
        return {
            path,
            test: text(attributes.test),
            variant: variantOf(text(attributes.variant)),
            name: text(attributes.name),
            xName: text(attributes.x_name),
            xUnit: text(store.attributes(`${path}/x`).units),
            unit: text(store.attributes(`${path}/value`).units),
            x,
            value: values,
            trials: column('trials'),
            knockedOut: column('knocked_out'),
        };
    });
    const tests = store
        .children('tests')
        .map((group) => ({ path: `tests/${group}`, attributes: store.attributes(`tests/${group}`) }))
        .sort((a, b) => Number(a.attributes.order) - Number(b.attributes.order))
        .map(({ path, attributes }) => ({
            name: `${text(attributes.test)} ${variantOf(text(attributes.variant))}`,
            runs: Number(attributes.runs),
            references: Number(attributes.references),
            cycles: Number(attributes.cycles),
            decisions: store.has(`${path}/decisions`) ? store.texts(`${path}/decisions`) : [],
        }));
    return { curves, findings, tests };
}
