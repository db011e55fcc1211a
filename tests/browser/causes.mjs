// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what: what the page shows is what the program tells.
import { writeFileSync } from 'node:fs';
import { found, number, snippetSays, tableRows } from './screen.mjs';

const kinds = ['first_use', 'invalidated', 'capacity', 'conflict'];
const sum = (values) => values.reduce((a, b) => a + b, 0);

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

export const causeCases = [
    [
        'causes: misses by structure and cause, what evicts what, by level and phase',
        async (t, page) => {
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--reuse', '-o', 'causes.h5');
            const told = t.json('show', 'causes.h5').causes;
            await t.open(page, t.file('causes.h5'));
            await t.picture(page, 'causes');
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
                const [head, ...rows] = await tableRows(page, 'Data structures');
                const of = (row, name) => number(row[head.indexOf(name)]);
                for (const row of rows) {
                    const known = misses.filter((each) => each.structure === row[0]);
                    for (const kind of kinds) t.equal(of(row, kind.replace('_', ' ')), sum(known.map((each) => each[kind])), `${kind} of ${row[0]} in ${level}`);
                    t.equal(of(row, `${level} misses`), sum(known.flatMap((each) => kinds.map((kind) => each[kind]))), `misses of ${row[0]} in ${level}`);
                }
                t.equal(sum(rows.map((row) => of(row, `${level} misses`))), sum(misses.flatMap((row) => kinds.map((kind) => row[kind]))), `misses of ${level}`);
                const pairs = (await tableRows(page, 'What evicts what')).slice(1);
                for (const [victim, by, lines] of pairs) {
                    const known = evictions.filter((each) => each.by === by && each.victim === victim);
                    t.equal(number(lines), sum(known.map((each) => each.count)), `${victim} evicted by ${by}`);
                }
                t.equal(sum(pairs.map((row) => number(row[2]))), sum(evictions.map((row) => row.count)), `lines that left ${level}`);
            }
        },
    ],
    [
        'causes: a run without them says how to get them; a report has them; a small screen',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            t.check((await page.locator('[data-tile=why]').textContent()).includes('without --causes'), 'the tile');
            t.run('run', 'lu', 'n=64', '-m', 'schulz2002', '--causes', '-o', 'lu-causes.h5');
            t.run('report', 'lu-causes.h5', '-o', 'lu-causes.html');
            const narrow = await t.newPage({ viewport: { width: 400, height: 900 }, colorScheme: 'dark' });
            await narrow.goto(`file://${t.file('lu-causes.html')}`);
            await t.until(narrow, '!!cachetally.current', 'the report');
            await t.quiet(narrow);
            await t.picture(narrow, 'causes-narrow');
            const { L1 } = t.json('show', 'lu-causes.h5').causes;
            const pairs = (await tableRows(narrow, 'What evicts what')).slice(1);
            t.equal(sum(pairs.map((row) => number(row[2]))), sum(L1.evictions.map((row) => row.count)), 'lines that left L1');
            t.check(await narrow.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is cut off');
            await narrow.close();
        },
    ],
    [
        'cores of a kernel: accesses and misses by level, of the chosen phases; lines that they share',
        async (t, page) => {
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--per-core', '-o', 'cores.h5');
            const { cores } = t.json('show', 'cores.h5');
            for (const [level, phases] of [['L1D', ''], ['L2', ''], ['L1D', '3,5']]) {
                await t.open(page, t.file('cores.h5'), `level=${level}&phases=${phases}`);
                const [head, ...rows] = await tableRows(page, 'Cores, ');
                for (const core of [0, 1, 2, 3]) {
                    const row = rows.find(([name]) => name === `core ${core}`);
                    t.check(row, `core ${core} is told of`);
                    const expected = (of, name) => sum(cores.filter((each) => each.level === of && each.core === core && (!phases || phases.split(',').includes(String(each.phase)))).map((each) => each[name]));
                    for (const [of, name] of [[level, 'accesses'], ['L1D', 'misses'], ['L2', 'misses']])
                        t.equal(number(row[head.indexOf(`${of} ${name}`)]), expected(of, name), `${name} of core ${core} in ${of}, phases ${phases || 'all'}`);
                    const bar = await page.locator(`.details [aria-label=Cores] li[title^="core ${core}:"]`).getAttribute('title');
                    t.equal(number(bar.split(': ')[1].split(' ')[0]), expected(level, 'misses'), `misses of core ${core} in the details`);
                }
            }
            const { sharing } = t.json('show', 'cores.h5');
            const lines = new Set(sharing.rows.filter(({ level }) => level === 'L1D').map(({ address }) => address));
            await t.open(page, t.file('cores.h5'), 'level=L1D');
            const more = await page.locator('.details [aria-label="Lines shared by cores"] li.note').textContent();
            t.equal(more, `and ${lines.size - 5} more: see the table “Lines shared by cores”`, 'where the others are');
            t.equal((await tableRows(page, 'Lines shared by cores, ')).length, 1 + 100, 'rows of that table, whose CSV has all');
            for (const text of await page.locator('.details li.note').allTextContents())
                t.check((await tableRows(page, text.match(/“(.+)”/)[1])).length > 6, `there is the table of '${text}'`);
            const inOne = await page.evaluate(`(async () => {
                const shown = async () => (cachetally.set({}), await cachetally.quiet(), document.querySelector('.details [aria-label="Lines shared by cores"] li').innerText);
                const { structures } = cachetally.source.info;
                const [first] = structures.splice(0, Infinity);
                const base = BigInt((await shown()).match(/0x[0-9a-f]+/)[0]);
                structures.push(...['one', 'two'].map((name, i) => ({ ...first, name, base: base + BigInt(8 * i), bytes: 8 })));
                return shown();
            })()`);
            t.check(/one \[0\] \+0x0, two \[0\] \+0x0/.test(inOne), `all structures of a shared line are named: ${inOne}`);
            await t.open(page, t.file('cores.h5'), 'level=L1D');
            t.equal(await page.locator('.details [aria-label="Who evicts it"]').count(), 1, 'who evicts, of all cores');
            await page.evaluate(`cachetally.set({ core: 'core 2' })`);
            await t.quiet(page);
            t.equal(await page.locator('.details [aria-label="Who evicts it"]').count(), 0, 'who evicts, which is not known by core');
            t.check((await page.innerText('.details')).includes('not known by code and core'), 'and says so');
            for (const structure of ['key_to', 'key_from']) {
                await t.open(page, t.file('cores.h5'), `level=L1D&structure=${structure}`);
                for (const core of [0, 1, 2, 3]) {
                    const bar = await page.locator(`.details [aria-label=Cores] li[title^="core ${core}:"]`).getAttribute('title');
                    const of = cores.filter((each) => each.level === 'L1D' && each.core === core && each.structure === structure);
                    t.equal(number(bar.split(': ')[1].split(' ')[0]), sum(of.map((each) => each.misses)), `misses of ${structure} by core ${core}`);
                }
            }
            const { causes } = t.json('show', 'cores.h5');
            await t.open(page, t.file('cores.h5'), 'level=L1D');
            await page.selectOption('select[aria-label=Core]', 'core 1');
            await t.quiet(page);
            const [, ...own] = await tableRows(page, 'Data structures, ');
            for (const [name, , misses] of own) t.equal(number(misses), sum(cores.filter((each) => each.level === 'L1D' && each.core === 1 && each.structure === name).map((each) => each.misses)), `misses of core 1 in ${name}`);
            const conflict = await page.locator('.details [aria-label=Why] li[title^="conflict:"]').getAttribute('title');
            t.equal(number(conflict.split(': ')[1].split(' ')[0]), sum(causes.L1D.misses.filter(({ core }) => core === 1).map((row) => row.conflict)), 'conflicts of core 1');
            const total = sum(cores.filter((each) => each.level === 'L1D' && each.core === 1).map((each) => each.misses));
            t.equal(Object.values(await page.evaluate('cachetally.current.totals()'))[0], total, 'the field has the misses of core 1');
            const ofCore = sharing.rows.filter((row) => row.level === 'L1D' && row.core === 1);
            const linesOfCore = new Set(ofCore.map(({ address }) => address)).size;
            t.equal(await page.locator('.details [aria-label="Lines shared by cores"] li.note').textContent(), `and ${linesOfCore - 5} more: see the table “Lines shared by cores”`, 'lines that core 1 misses');
            const shared = await page.locator('.details [aria-label="Lines shared by cores"] li').first().getAttribute('title');
            const counts = [...new Set(ofCore.map(({ address }) => address))].map((line) => sum(ofCore.filter(({ address }) => address === line).map((row) => row.true_sharing + row.false_sharing)));
            t.equal(number(shared.match(/: ([\d,]+) misses/)[1]), Math.max(...counts), 'misses of core 1 in the worst of them');
            t.equal(found(await snippetSays(t, page), /sum ([\d.]+)/), total, 'Python reads them');
        },
    ],
    [
        'attribution: misses of structures and code of a program, by cause; sorted as asked for',
        async (t, page) => {
            writeTrace(t);
            t.run('replay', t.file('named.din'), '--structures', t.file('names'), '-m', 'generic3', '--causes', '-o', 'named.h5');
            const told = t.json('show', 'named.h5').attribution;
            for (const level of ['L1D', 'L2']) {
                await t.open(page, t.file('named.h5'), `level=${level}`);
                for (const [id, title] of [
                    ['structures', 'Data structures'],
                    ['functions', 'Functions'],
                    ['lines', 'Source lines'],
                ]) {
                    const [head, ...rows] = await tableRows(page, title);
                    for (const each of told[id].filter((row) => row.misses[level] > 0)) {
                        const name = each.name || '(not known)';
                        const row = rows.find(([text]) => text === name);
                        t.check(row, `${name} is one of ${id}`);
                        const of = (column) => number(row[head.indexOf(column)]);
                        t.equal(of(`${level} misses`), each.misses[level], `misses of ${name} in ${level}`);
                        for (const kind of kinds) t.equal(of(kind.replace('_', ' ')), each.causes[level][kind], `${kind} of ${name} in ${level}`);
                    }
                }
            }
            const column = async (name) => {
                const [head, ...rows] = await tableRows(page, 'Data structures');
                return rows.map((row) => number(row[head.indexOf(name)]));
            };
            const misses = await column('L2 misses');
            t.equal(misses.join(), [...misses].sort((a, b) => b - a).join(), 'the worst first');
            await page.locator('[aria-label^="Data structures"] thead button', { hasText: /^conflict$/ }).first().click();
            const conflicts = await column('conflict');
            t.equal(conflicts.join(), [...conflicts].sort((a, b) => b - a).join(), 'sorted by conflicts');
            await page.locator('[aria-label^="Data structures"] thead button', { hasText: /^conflict$/ }).first().click();
            t.equal((await column('conflict')).join(), [...conflicts].reverse().join(), 'pressed again: the other way round');
            t.equal(await page.locator('[aria-label^="Data structures"] th[aria-sort=ascending]').first().textContent(), 'conflict', 'the sorted column');
        },
    ],
];
