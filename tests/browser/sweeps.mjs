// SPDX-License-Identifier: BSD-3-Clause
// Sweeps: the cells that the page shows are those that the program tells, also where two files are compared.
import { box, number } from './screen.mjs';

export const sweepCases = [
    [
        'sweep: cells, and a cell blurred as its monitor would',
        async (t, page) => {
            const told = t.json('show', 'sweep.h5');
            await t.open(page, t.file('sweep.h5'));
            await t.press(page, 'Table');
            const rows = await page.evaluate(
                `[...document.querySelectorAll('.behind:not([hidden]) tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
            );
            t.equal(rows.length, told.rows.length, 'rows');
            told.rows.forEach((row, i) => {
                t.equal(number(rows[i][2]), row.counters, 'counters');
                t.equal(number(rows[i][3]), row.swapouts, 'swap-outs');
            });
            await t.press(page, 'Table');
            for (const granularity of ['2', '3', '6']) {
                await page.evaluate(`cachetally.set({ cell: '${granularity},64' })`);
                await t.quiet(page);
                const expected = told.rows.find(
                    (row) => String(row.granularity) === granularity && row.counters === 64,
                ).error;
                t.near(
                    await page.evaluate('cachetally.current.totals().error'),
                    expected,
                    `error with groups of ${granularity}`,
                    1e-9,
                );
            }
            await t.picture(page, 'sweep');
            const { x, y, width } = await box(page, 'canvas.clickable');
            await page.mouse.click(x + width * 0.9, y + 34 + 23);
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.cell'), '1,128', 'the cell that was clicked');
            for (const metric of ['Error', 'Bytes per event']) await t.press(page, metric);
        },
    ],
    [
        'sweep: hardware cost, and the front over it',
        async (t, page) => {
            t.run(
                'sweep',
                'lu',
                'n=32',
                '--machine',
                'generic3', // maps pages
                '--counters',
                '16,64',
                '--granularity',
                '1,2,4',
                '-o',
                'cost.h5',
            );
            const told = t.json('show', 'cost.h5').rows;
            await t.open(page, t.file('cost.h5'), 'metric=area&over=bits&cell=2,64');
            const csv = (await t.saved(page, 'CSV'))
                .trim()
                .split('\n')
                .map((line) => line.split(','));
            const column = (name) => csv[0].indexOf(name);
            for (const [name, key] of [
                ['bits', 'bits'],
                ['comparators', 'comparators'],
                ['area', 'area'],
                ['energy per event', 'energy'],
            ])
                told.forEach((row, i) => t.equal(Number(csv[i + 1][column(name)]), row[key], `${name} of row ${i}`));
            told.forEach((row, i) => {
                const beaten = told.some(
                    (each) =>
                        each.error <= row.error &&
                        each.bits <= row.bits &&
                        (each.error < row.error || each.bits < row.bits),
                );
                t.equal(csv[i + 1][column('on the front of error and bits')], beaten ? '' : 'yes', `front, row ${i}`);
            });
            const text = await page.innerText('body');
            const { bits } = told.find((row) => String(row.granularity) === '2' && row.counters === 64);
            t.check(text.includes(`Granularity 2, 64 counters, fifo: bits ${bits.toLocaleString('en')}, comparators 64`), 'cost of the cell, in full');
            t.check(!text.includes('Slowdown'), 'no slowdown, as none was run');
            for (const granularity of ['2', '4']) {
                await page.evaluate(`cachetally.set({ cell: '${granularity},16' })`);
                await t.quiet(page);
                const { error } = told.find((row) => String(row.granularity) === granularity);
                t.near(await page.evaluate('cachetally.current.totals().error'), error, 'error on mapped pages', 1e-9);
            }
        },
    ],
    [
        'sweep: the best cells are told first, as in the terminal',
        async (t, page) => {
            const bounds = ['--objectives', 'bits,error,counters', '--where', 'error<60'];
            t.run('sweep', 'lu', 'n=32', '-m', 'schulz2002', '--counters', '4,16', '--granularity', '1,2,4', '--eviction', 'fifo,lru', ...bounds, '-o', 'best.h5');
            t.run('sweep', 'lu', 'n=32', '-m', 'generic3', '--link', 'L1D-L2,L2-L3', '--counters', '4,16', '--granularity', '1,2', '-o', 'elsewhere.h5');
            const { rows } = t.json('show', 'best.h5');
            t.run('sweep', 'lu', 'n=32', '--counters', '16,64', '--granularity', '2,4', '--objectives', 'error,bits', '--where', 'error<5,bits<100', '-o', 'none.h5');
            await t.open(page, t.file('none.h5'));
            const [, ofAll] = /(0 of 4 cells .*?\)\. Least .*?\)\.)/s.exec(t.run('show', 'none.h5', '--width', '400'));
            t.equal(await page.innerText('.sentence'), ofAll, 'where nothing is admitted, as in the terminal');
            await t.open(page, t.file('best.h5'));
            t.check((await page.innerText('[aria-label="What is shown"] [aria-pressed="true"]')) === 'Bits', 'the first objective is shown first');
            for (const eviction of ['fifo', 'lru']) {
                await page.evaluate(`cachetally.set({ eviction: '${eviction}' })`);
                await t.quiet(page);
                const told = await page.innerText('.sentence');
                const admitted = rows.filter((row) => row.admitted);
                const named = [...told.matchAll(/east ([a-z, ]+): (\w+), G=(\d+), C=(\d+) \(/g)].flatMap(([, names, policy, g, c]) =>
                    names.split(', ').map((name) => [name, rows.find((row) => row.eviction === policy && String(row.granularity) === g && row.counters === Number(c))]),
                );
                t.equal(named.map(([name]) => name).sort().join(), 'bits,counters,error', `objectives in: ${told}`);
                for (const [name, cell] of named) {
                    t.check(cell.admitted, `${name} is of what is admitted: ${told}`);
                    t.equal(cell[name], Math.min(...admitted.map((row) => row[name])), `least ${name}: ${told}`);
                }
                t.check(told.startsWith(`${admitted.length} of ${rows.length} cells with error<60.`), told);
            }
            // one that has nothing in common with it
            await t.compare(page, t.file('elsewhere.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the comparison');
            await t.quiet(page);
            t.check(!(await page.innerText('body')).includes('Nothing is subtracted') && !(await page.evaluate('cachetally.state.file')), 'fronts side by side');
            await page.evaluate(`cachetally.set({ file: 'difference' })`);
            await t.quiet(page);
            const text = await page.innerText('body');
            t.check(text.includes('Nothing is subtracted: elsewhere.h5 does not have the link'), 'why nothing is subtracted');
            const [head, ...lines] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
            t.equal(lines.map((line) => line[head.indexOf('bits')]).join(), rows.filter(({ eviction }) => eviction === 'lru').map(({ bits }) => bits).join(), 'cells of the first');
        },
    ],
    [
        'compare: sweeps by cell, and what only one file has',
        async (t, page) => {
            const sweep = (name, counters) =>
                t.run('sweep', 'lu', 'n=32', '--link', 'core-L1', '-m', 'schulz2002', '--counters', counters, '--granularity', '1,4', '--eviction', 'fifo,random', '-o', name);
            sweep('s1.h5', '4,8');
            t.run('sweep', 'lu', 'n=48', '--link', 'core-L1', '-m', 'schulz2002', '--counters', '8,16', '--granularity', '1,4', '--eviction', 'fifo,random', '-o', 's2.h5');
            await t.open(page, t.file('s1.h5'));
            await t.compare(page, t.file('s2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the comparison');
            await page.evaluate(`cachetally.set({ view: 'compare' })`);
            await t.quiet(page);
            const rows = await page.evaluate(
                `[...document.querySelectorAll('.view table')].filter((each) => /Sweep/.test(each.caption?.textContent)).flatMap((each) => [...each.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))`,
            );
            const cells = (name) => t.json('show', name).rows;
            const swapouts = (name, eviction, granularity) =>
                cells(name).find((each) => each.eviction === eviction && String(each.granularity) === granularity && each.counters === 8).swapouts;
            for (const eviction of ['fifo', 'random'])
                for (const granularity of ['1', '4']) {
                    const row = rows.find(
                        ([cell, what]) => cell === `eviction ${eviction}, granularity ${granularity}, counters 8` && what === 'swap-outs',
                    );
                    t.check(row, `${eviction} ${granularity} is not among ${JSON.stringify(rows.slice(0, 3))}`);
                    t.equal(number(row[2]), swapouts('s1.h5', eviction, granularity), 'swap-outs of the first');
                    t.equal(number(row[3]), swapouts('s2.h5', eviction, granularity), 'swap-outs of the second');
                }
            const text = await page.innerText('body');
            t.check(/Only in A: eviction fifo, granularity 1, counters 4;/.test(text), 'cells of the first alone');
            t.check(/Only in B: eviction fifo, granularity 1, counters 16;/.test(text), 'cells of the second alone');
            await t.open(page, t.file('lu.h5'));
            await t.compare(page, t.file('matmul.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the comparison');
            await page.evaluate(`cachetally.set({ view: 'compare' })`);
            await t.quiet(page);
            const runs = await page.innerText('body');
            const only = runs.split('\n').filter((each) => /nly in [AB]|in common/.test(each));
            t.check(only.includes('Only in A: L1.') && only.some((each) => each === 'Only in B: L1D; L1I; L3.'), `levels of one file alone: ${only.join('|')}`);
            t.check(/Tables only in B: TLBs/.test(runs), 'tables of one file alone');
        },
    ],
];
