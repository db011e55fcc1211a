// SPDX-License-Identifier: BSD-3-Clause
// Which code and data of a program miss, and why: what the page shows is what the program tells.
import { writeFileSync } from 'node:fs';
import { number, tableRows } from './screen.mjs';

/** Two structures, whose lines meet in sets, and what belongs to none. */
function writeTrace(t) {
    const lines = [];
    for (let i = 0; i < 3000; ++i) {
        lines.push('2 401000 4', `${i % 5 === 0 ? 1 : 0} ${(0x400000 + 4096 * (i % 40)).toString(16)} 8`);
        lines.push(`0 ${(0x800000 + 64 * ((7 * i) % 500)).toString(16)} 8`);
        if (i % 10 === 0) lines.push(`0 ${(0xc00000 + 64 * i).toString(16)} 8`);
    }
    writeFileSync(t.file('named.din'), `${lines.join('\n')}\n`);
    writeFileSync(t.file('names'), '0x400000 163840 8 columns\n0x800000 32000 8 rows, "quoted"\n');
}

export const attributionCases = [
    [
        'attribution: misses of structures and code, sorted as asked for; causes by structure',
        async (t, page) => {
            writeTrace(t);
            t.run('replay', t.file('named.din'), '--structures', t.file('names'), '-m', 'generic3', '--causes', '-o', 'named.h5');
            const told = t.json('show', 'named.h5').attribution;
            await t.open(page, t.file('named.h5'), 'view=attribution&level=L2');
            await t.picture(page, 'attribution');
            for (const [id, title] of [
                ['structures', 'Data structures'],
                ['functions', 'Functions'],
                ['lines', 'Source lines'],
            ]) {
                await page.evaluate(`cachetally.set({ mode: '${id}' })`);
                await t.quiet(page);
                const [heads, ...rows] = await tableRows(page, title);
                t.equal(rows.length, told[id].length, `rows of ${id}`);
                for (const [name, ...counts] of rows) {
                    const row = told[id].find((each) => (each.name || '(not known)') === name);
                    t.check(row, `${name} is one of ${id}`);
                    heads.slice(1).forEach((head, i) => {
                        const [level, ...words] = head.split(' ');
                        const cause = words.join('_').replace('taken_away', 'invalidated');
                        const count =
                            head === 'accesses' ? row.accesses : cause === 'misses' ? row.misses[level] : row.causes[level][cause];
                        t.equal(number(counts[i]), count, `${head} of ${name}`);
                    });
                }
                t.check(heads.includes('L1D misses') && heads.includes('L2 conflict'), `columns of ${id}`);
            }
            await page.evaluate(`cachetally.set({ mode: 'structures' })`);
            await page.locator('thead button', { hasText: /^accesses$/ }).click();
            await t.quiet(page);
            const accesses = (await tableRows(page, 'Data structures')).slice(1).map((row) => number(row[1]));
            t.equal(accesses.join(), [...accesses].sort((a, b) => b - a).join(), 'sorted by accesses');
            t.equal(await page.locator('th[aria-sort=descending]').textContent(), 'accesses', 'the sorted column');

            await page.evaluate(`cachetally.set({ view: 'causes', level: 'L1D' })`);
            await t.quiet(page);
            const totals = await page.evaluate('cachetally.current.totals()');
            for (const { name, causes } of told.structures)
                t.equal(totals[name] ?? 0, Object.values(causes.L1D).reduce((a, b) => a + b, 0), `causes of ${name}`);
            t.equal(totals.evictions, told.evictions.L1D.pairs.reduce((sum, pair) => sum + pair.count, 0), 'lines that left L1D');
        },
    ],
    [
        'attribution: of a kernel there is no such view',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'view=attribution');
            t.equal(await page.locator('[role=tab]', { hasText: 'Code and data' }).count(), 0, 'tabs of code and data');
        },
    ],
];
