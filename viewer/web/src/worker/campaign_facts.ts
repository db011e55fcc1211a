// SPDX-License-Identifier: BSD-3-Clause
// How well probes did on random machines, from /summary and /worst.
import type { CampaignInfo } from '../protocol';
import type { Store } from './h5';
import { variantOf } from './probe_facts';

export function campaignOf(store: Store): CampaignInfo {
    const root = store.attributes('/');
    const texts = (path: string) => store.texts(path);
    const numbers = (path: string) => store.numbers(path);
    store.requireColumns('summary', ['test', 'variant', 'parameter', 'right', 'wrong', 'not_identifiable']);
    store.requireColumns('worst', ['machine', 'wrong', 'not_identifiable', 'findings']);
    const [test, variant, parameter] = ['test', 'variant', 'parameter'].map((each) => texts(`summary/${each}`));
    const [right, wrong, not] = ['right', 'wrong', 'not_identifiable'].map((each) => numbers(`summary/${each}`));
    const [machine, failed, unknown] = ['machine', 'wrong', 'not_identifiable'].map((each) => numbers(`worst/${each}`));
    const findings = texts('worst/findings');
    return {
        machines: Number(store.attributes('summary').machines),
        // the first versions had the seed among the provenance alone, and no costs
        seed: Number(root.seed ?? store.attributes('provenance').seed),
        noise: String(root.noise ?? ''),
        references: Number(root.references ?? NaN),
        leftOut: String(root.left_out ?? ''),
        scores: test.map((name, i) => ({
            test: name,
            variant: variantOf(variant[i]),
            parameter: parameter[i],
            right: right[i],
            wrong: wrong[i],
            notIdentifiable: not[i],
        })),
        worst: Array.from(machine, (number, i) => ({
            machine: number,
            wrong: failed[i],
            notIdentifiable: unknown[i],
            findings: findings[i],
        })),
    };
}
