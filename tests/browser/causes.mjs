// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what: what the page shows is what the program tells.
import { number } from './screen.mjs';

const kinds = ['first_use', 'invalidated', 'capacity', 'conflict'];
const sum = (values) => values.reduce((a, b) => a + b, 0);
const behind = (page) =>
    page.evaluate(
        `[...document.querySelectorAll('.behind:not([hidden])')].map((box) => [...box.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)))`,
    );

export const causeCases = [
    [
        'causes: misses by structure and cause, what evicts what, by level and phase',
        async (t, page) => {
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '-o', 'causes.h5');
            const told = t.json('show', 'causes.h5').causes;
            await t.open(page, t.file('causes.h5'), 'view=causes');
            await t.picture(page, 'causes');
            for (const button of await page.locator('button:visible', { hasText: /^Table$/ }).all()) await button.click();
            for (const [level, phase] of [
                ['L1D', ''],
                ['L2', ''],
                ['L2', '2'],
            ]) {
                await page.evaluate(`cachetally.set({ level: '${level}', phases: '${phase}' })`);
                await t.quiet(page);
                const wanted = (row) => phase === '' || row.phase === Number(phase);
                const misses = told[level].misses.filter(wanted);
                const evictions = told[level].evictions.filter(wanted);
                const totals = await page.evaluate('cachetally.current.totals()');
                t.equal(totals.misses, sum(misses.flatMap((row) => kinds.map((kind) => row[kind]))), `misses of ${level}`);
                t.equal(totals.evictions, sum(evictions.map((row) => row.count)), `lines that left ${level}`);
                const [byCause, pairs] = await behind(page);
                for (const [name, all, ...counts] of byCause) {
                    const rows = misses.filter((row) => row.structure === name);
                    kinds.forEach((kind, i) => t.equal(number(counts[i]), sum(rows.map((row) => row[kind])), `${kind} of ${name}`));
                    t.equal(number(all), sum(rows.flatMap((row) => kinds.map((kind) => row[kind]))), `misses of ${name}`);
                }
                for (const [by, victim, lines] of pairs) {
                    const rows = evictions.filter((row) => row.by === by && row.victim === victim);
                    t.equal(number(lines), sum(rows.map((row) => row.count)), `${victim} evicted by ${by}`);
                }
                t.check(byCause.length > 0 && (pairs.length > 0 || evictions.length === 0), 'rows of both tables');
            }
        },
    ],
    [
        'causes: a run without them has no such view; a report has them; a small screen',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'view=causes');
            t.equal(await page.locator('[role=tab]', { hasText: 'Causes' }).count(), 0, 'tabs of causes');
            t.run('run', 'lu', 'n=64', '-m', 'schulz2002', '--causes', '-o', 'lu-causes.h5');
            t.run('report', 'lu-causes.h5', '-o', 'lu-causes.html');
            const narrow = await t.newPage({ viewport: { width: 600, height: 900 }, colorScheme: 'dark' });
            await narrow.goto(`file://${t.file('lu-causes.html')}#view=causes`);
            await t.until(narrow, '!!cachetally.current', 'the report');
            await t.quiet(narrow);
            await t.picture(narrow, 'causes-narrow');
            const { L1 } = t.json('show', 'lu-causes.h5').causes;
            t.equal(
                (await narrow.evaluate('cachetally.current.totals()')).evictions,
                sum(L1.evictions.map((row) => row.count)),
                'lines that left L1',
            );
            t.check(await narrow.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is cut off');
            await narrow.close();
        },
    ],
];
