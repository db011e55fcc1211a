// SPDX-License-Identifier: BSD-3-Clause
// Scores of probes on random machines: as `cachetally show` tells them.
import { number, tableRows } from './screen.mjs';

export const scoreCases = [
    [
        'scores: right, wrong and not identifiable by test, and the worst machines',
        async (t, page) => {
            t.run('validate', '--machines', '2', '--tests', 'l1', '-o', 'scores.h5', '--force');
            await t.open(page, t.file('scores.h5'));
            await t.picture(page, 'scores');
            if (!t.python) return 'python3-h5py is not there';
            t.script('-c', `import h5py, numpy as np
with h5py.File("scores.h5", "r+") as f:
    f["summary/wrong"][0], f["summary/not_identifiable"][0] = 3, 4
    del f["worst"]
    for name, column in (("machine", [7, 2]), ("wrong", [2, 1]), ("not_identifiable", [0, 4])):
        f["worst/" + name] = np.array(column, "u8")
    f["worst/findings"] = np.array([b"ways 2 for 4; line 32 for 64", b"line 16 for 64"])`); // random machines on which much is wrong take long
            const told = t.json('show', 'scores.h5', '--trust');
            await t.open(page, t.file('scores.h5'));
            t.equal(await page.evaluate('cachetally.shown'), 'scores', 'view');
            t.check(!(await page.getByRole('button', { name: 'Compare …' }).isVisible()), 'scores are not compared');
            const [head, ...rows] = await tableRows(page, 'How often tests were right, over all levels of all machines');
            t.equal(rows.length, told.summary.length, 'scores');
            told.summary.forEach((score, i) => {
                const of = (name) => rows[i][head.indexOf(name)];
                for (const name of ['test', 'parameter', 'variant']) t.equal(of(name), score[name], `${name} ${i}`);
                for (const name of ['right', 'wrong']) t.equal(number(of(name)), score[name], `${name} ${i}`);
                t.equal(number(of('not identifiable')), score.not_identifiable, `not identifiable ${i}`);
            });
            t.equal(told.worst.length, 2, 'worst machines');
            const [names, ...worst] = await tableRows(page, 'Machines on which an answer was wrong or missing, the worst first');
            told.worst.forEach((machine, i) => {
                t.equal(number(worst[i][names.indexOf('machine')]), machine.machine, `machine ${i}`);
                t.equal(worst[i][names.indexOf('what was wrong')], machine.findings.join('; '), `findings ${i}`);
            });
            const svg = await t.saved(page, 'SVG');
            const { test, parameter, variant, right, wrong, not_identifiable: none } = told.summary[0];
            for (const text of [`${test} ${parameter}, ${variant}`, `${right} / ${none} / ${wrong}`])
                t.check(svg.includes(`>${text}<`), `${text} in the picture`);
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            await t.press(page, 'Close');
            const sums = ['right', 'wrong', 'not_identifiable'].map((name) => told.summary.reduce((sum, each) => sum + each[name], 0));
            t.check(t.script('-c', code).endsWith(`sum ${sums.join(' ')}\n`), 'sums in Python');
        },
    ],
];
