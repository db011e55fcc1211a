// SPDX-License-Identifier: BSD-3-Clause
// Comparing two files: what means the same lies side by side, and what does not is refused with the reason.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { number, tableRows } from './screen.mjs';

async function compared(t, page, first, second, hash) {
    await t.open(page, t.file(first), hash);
    await t.compare(page, t.file(second));
    await t.until(page, 'cachetally.others.length === 1', 'the comparison');
    await t.quiet(page);
}

async function savedRows(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)); // not within quotes
    return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
}

export const compareCases = [
    [
        'open: several files at once; of runs two are compared, and this is said',
        async (t, page) => {
            const files = ['lu.h5', 'lu2.h5', 'matmul.h5'].map((name) => t.file(name));
            for (const [count, warned] of [[2, 0], [3, 1]]) {
                await page.goto('about:blank');
                await page.goto(`file://${t.page}`);
                await page.setInputFiles('input[type=file]', files.slice(0, count));
                await t.until(page, `cachetally.others.length === 1 && cachetally.others[0].info.name === '${['lu2.h5', 'matmul.h5'][count - 2]}'`, `${count} files`);
                await t.quiet(page);
                t.equal(await page.locator('.notice.warning', { hasText: 'compared in pairs' }).count(), warned, `what is said of ${count} files`);
            }
        },
    ],
    [
        'compare: a data structure that lies elsewhere in the second file is aligned element by element',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const make = (file, ...words) => t.script(join(t.here, 'make_phases.py'), t.file(file), 'ramp', ...words);
            make('one.h5', '1', '100', '0x10000', 'one');
            make('two.h5', '3', '120', '0x503000', 'two');
            await compared(t, page, 'one.h5', 'two.h5', 'show=accesses&level=L1');
            const text = await page.innerText('.view');
            t.check(/Aligned by data structure and element: data\./.test(text), text);
            t.check(/compared in the elements that both have: data \(800 and 960\)\./.test(text), text);
            const byLine = new Map();
            const rows = await savedRows(t, page);
            for (const [i, row] of rows.entries()) {
                const line = Math.floor((12.5 * i + 12.4) / 64); // a row has 12.5 bytes, and the line that begins in them
                byLine.set(line, (byLine.get(line) ?? 0) + Number(row['B − A sum']));
            }
            t.equal(byLine.size, 100, 'lines');
            for (let line = 0; line < 100; ++line) t.equal(byLine.get(line), 2 * (line + 1), `difference of line ${line}`);
            // A has one phase, B three of the same counts
            const inside = [...rows.entries()].filter(([i]) => (12.5 * i) % 64 <= 64 - 12.5);
            t.check(inside.length > 100, `${inside.length} rows within a line`);
            for (const [i, row] of inside) {
                const line = Math.floor((12.5 * i) / 64);
                const cells = [0, 1, 2].map((phase) => Number(row[`phase ${phase} mean`]));
                t.equal(cells.map((each) => Math.round(each * 1e6) / 1e6).join(), [0, line + 1, line + 1].join(), `cells of line ${line}`);
            }
            const svg = await t.saved(page, 'SVG');
            const bars = [...svg.matchAll(new RegExp(`<path d="([^"]*)" fill="${t.colours.light.misses}"`, 'g'))].at(-1)[1].match(/M[\d.]+ [\d.]+h[\d.]+/g);
            // bars are of all that a file has: lines of 1 + ... + 100 accesses and, in B in each phase, of 101 + ... + 120
            const wide = bars.map((each) => Number(each.split('h')[1]));
            t.equal(wide.map((each) => Math.round((7260 * each) / wide[1] / 10)).join(), [2210, 7260, 7260].map((each) => each / 10).join(), `phases in which B has more: ${bars}`);
            t.check(svg.includes('±'), 'counts by phase go both ways');
            await t.picture(page, 'compare-aligned');
            await t.choose(page, /^Show a Python/, page);
            const code = await page.locator('dialog pre').textContent();
            await t.press(page, 'Close');
            t.equal(Number(/difference (-?[\d.]+)/.exec(t.script('-c', code))[1]), 100 * 101, 'the difference in Python');
        },
    ],
    [
        'compare: a line within which a data structure begins is counted by phase, too',
        async (t, page) => {
            for (const offset of [0, 1048]) t.run('run', 'lu', 'n=32', `base_offset=${offset}`, '-m', 'generic3', '-o', `offset${offset}.h5`);
            await compared(t, page, 'offset0.h5', 'offset1048.h5', 'show=misses&level=L1D');
            const [a, b, more] = Object.values(await page.evaluate('cachetally.current.totals()'));
            t.equal([more, b - a].join(), '1,1', 'A lies in a line more');
            t.check((await t.saved(page, 'SVG')).includes('>±1<'), 'by which the counts by phase differ');
        },
    ],
    [
        'compare: a reduced copy differs from its whole file in nothing, at any zoom and phases',
        async (t, page) => {
            t.run('run', 'lu', 'n=512', '-m', 'schulz2002', '-o', 'whole.h5');
            t.run('report', 'whole.h5', '-o', 'whole.html');
            const [, copy] = /<script id="cachetally-result"[^>]*>([^<]+)</.exec(readFileSync(t.file('whole.html'), 'utf8'));
            writeFileSync(t.file('copy.h5'), Buffer.from(copy, 'base64'));
            const states = [{}, { phases: '4-9' }, { phases: '', x: '40000-60000' }, { x: '', sel: '0x10010000-0x10020000' }];
            for (const [first, second, some] of [['copy.h5', 'whole.h5', states], ['whole.h5', 'copy.h5', states.slice(0, 1)]]) {
                await compared(t, page, first, second, 'show=misses&level=L1');
                t.check(/A reduced copy is compared in its blocks of 256 lines/.test(await page.innerText('.answer')), 'that it is said');
                for (const state of some) {
                    await page.evaluate(`cachetally.set(${JSON.stringify(state)})`);
                    await t.quiet(page);
                    const rows = await savedRows(t, page);
                    const cells = Object.keys(rows[0]).filter((name) => /^B − A sum$|^"?phase /.test(name));
                    t.check(rows.length > (state.sel ? 4 : 50) && cells.length > 60, `${rows.length} rows, ${cells.length} columns`);
                    for (const row of rows) for (const name of cells) t.near(Number(row[name]), 0, `${name} at ${row.address} of ${JSON.stringify(state)}`, 1e-6);
                    for (const [name, change, a, b] of (await tableRows(page, 'Counts')).slice(1)) t.equal([number(a) > 0, number(change)].join(), 'true,0', `${name}: ${a}, ${b}`);
                }
            }
        },
    ],
    [
        'compare: the page says where phases of one number are not the same',
        async (t, page) => {
            for (const [name, every] of [['plain.h5', []], ['cut.h5', ['--phase-every', '100K']]]) t.run('run', 'lu', 'n=64', ...every, '-o', name);
            const says = /The phases of A and B are not the same/;
            await compared(t, page, 'plain.h5', 'cut.h5', 'show=misses&level=L1D');
            t.check(says.test(await page.innerText('.answer')), 'unlike phases');
            await compared(t, page, 'plain.h5', 'plain.h5', 'show=misses&level=L1D');
            t.check(!says.test(await page.innerText('body')), 'the same phases');
        },
    ],
    [
        'compare: programs without a common data structure are not subtracted, and the page says why',
        async (t, page) => {
            t.run('run', 'radix', 'keys=2000', '-m', 'schulz2002', '-o', 'radix-few.h5');
            await compared(t, page, 'lu.h5', 'radix-few.h5', 'show=misses&level=L1');
            const text = await page.innerText('.view');
            t.check(/The programs lu and radix have no data structure of the same name and size of elements/.test(text), text);
            t.equal(await page.locator('.view canvas:visible').count(), 0, 'pictures');
            t.check(/what differs/.test(text), `tables are compared none the less: ${text}`);
        },
    ],
    [
        'compare: levels of other names are compared by rank, lines of other sizes by their miss rates alone',
        async (t, page) => {
            const yaml = t.run('machine', 'show', 'schulz2002', '--yaml').replace(/\bL1\b/g, 'near').replace(/\bL2\b/g, 'far');
            writeFileSync(t.file('renamed.yaml'), yaml);
            t.run('run', 'lu', 'n=128', '-m', 'renamed.yaml', '-o', 'renamed.h5');
            await compared(t, page, 'lu.h5', 'renamed.h5', 'show=misses&level=L1');
            t.check(/Of the same rank in A and B: L1 and near\b/.test(await page.innerText('.view')), 'ranks');
            const [a, b, difference] = Object.values(await page.evaluate('cachetally.current.totals()'));
            const { L1 } = t.json('show', 'lu.h5').levels;
            t.equal(a, L1.load_misses + L1.store_misses + L1.fetch_misses, 'misses of L1');
            t.equal(b, a, 'misses of near');
            t.equal(difference, 0, 'difference');
            t.check((await savedRows(t, page)).every((row) => Number(row['B − A sum']) === 0), 'no difference at any address');
            t.run('run', 'lu', 'n=32', '-m', 'generic3', '-o', 'generic.h5');
            await compared(t, page, 'lu.h5', 'generic.h5', 'show=missrate&level=L1');
            const text = await page.innerText('.view');
            t.check(/Not compared, as lines have 16 B and 64 B, are counts per line: L1 and L1D, L2, core-L1 and core-L1D\b/.test(text), text);
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).length, 3, 'miss rates of both and their difference');
            const missrate = await page.evaluate('cachetally.current.totals()');
            t.check(Object.values(missrate).every((each) => Math.abs(each) < 1), JSON.stringify(missrate));
            await page.evaluate(`cachetally.set({ show: 'misses' })`);
            await t.quiet(page);
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).length, 1, 'misses of A alone');
            t.check((await t.saved(page, 'SVG')).includes('Not subtracted: this is of A. Miss rates can be.'), 'that nothing is subtracted is in the picture');
            await page.evaluate(`cachetally.set({ show: 'missrate' })`);
            await t.quiet(page);
            await t.picture(page, 'compare-rank');
        },
    ],
    [
        'compare: more phases than rows, and not as many in both',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            for (const phases of [300, 400]) t.script(join(t.here, 'make_phases.py'), t.file(`p${phases}.h5`), 'ramp', String(phases), '8', '0x10000', 'one');
            await compared(t, page, 'p300.h5', 'p400.h5', 'show=accesses&level=L1');
            for (const change of [{}, { structure: 'data' }]) {
                await page.evaluate(`cachetally.set(${JSON.stringify(change)})`);
                await t.quiet(page);
                const totals = Object.values(await page.evaluate('cachetally.current.totals()'));
                t.equal(totals.join(), [300 * 36, 400 * 36, 100 * 36].join(), 'accesses');
            }
            const rows = await savedRows(t, page);
            const cells = Object.keys(rows[0]).flatMap((name) => {
                const [, from, to = from] = /^phases? (\d+)(?:–(\d+))? mean$/.exec(name) ?? [];
                return from ? [{ name, from: Number(from), to: Number(to) }] : [];
            });
            t.equal(cells.length, 256, 'rows of the field');
            t.equal(cells.at(-1).to, 399, 'the last phase');
            for (const row of rows) {
                const [from, to] = [Number(row.address) - 0x10000, Number(row.address) - 0x10000 + 2];
                if (Math.floor(from / 64) !== Math.floor(to / 64)) continue;
                for (const { name, from: first, to: last } of cells) {
                    const alone = Math.max(0, last - Math.max(299, first - 1)) / (last - first + 1);
                    t.near(Number(row[name]), alone * (Math.floor(from / 64) + 1), `${name} of ${row.address}`);
                }
            }
        },
    ],
    [
        'compare: what is chosen by name is that of each file, and nothing where it is not',
        async (t, page) => {
            for (const [name, words] of [['one-core.h5', 'processors=1'], ['two-cores.h5', 'processors=2'], ['moved.h5', 'base_offset=1040']])
                t.run('run', 'lu', 'n=32', ...words.split(' '), '-m', 'coherent8', '--causes', '-o', name);
            const column = async (caption, name) => {
                const [head, ...rows] = await tableRows(page, caption);
                const at = head.findIndex((each) => each.startsWith(name));
                return new Map(rows.map((row) => [row[0], number(row[at])]));
            };
            const look = async (state) => {
                await page.evaluate(`cachetally.set(${JSON.stringify(state)})`);
                await t.quiet(page);
            };
            await compared(t, page, 'one-core.h5', 'two-cores.h5', 'show=misses');
            await look({ file: 'b' });
            const own = (await column('Data structures', 'L1D misses')).get('stack1');
            t.check(own > 0, 'misses of the stack that only the second has');
            await look({ file: 'difference', structure: 'stack1' });
            t.equal(Object.values(await page.evaluate('cachetally.current.totals()')).join(), [0, own, own].join(), 'a structure of the second alone');
            t.equal((await column('Counts', 'B − A')).get('misses'), own, 'in the details');
            await look({ file: '' });
            t.equal(Object.values(await page.evaluate('cachetally.current.totals()'))[0], 0, 'the first has none of it');
            await look({ structure: '', core: 'core 7' });
            t.equal(Object.values(await page.evaluate('cachetally.current.totals()'))[0], 0, 'nor does it tell cores apart');
            await look({ core: '' });

            await compared(t, page, 'one-core.h5', 'moved.h5', 'show=misses');
            const places = await page.evaluate(`[cachetally.source, ...cachetally.others].map(({ info }) => String(info.structures.find(({ name }) => name === 'A').base))`);
            t.check(places[0] !== places[1], `A is moved: ${places}`);
            for (const file of ['', 'b']) {
                await look({ file, structure: 'A', sel: '' });
                const wanted = (await column('Data structures', 'L1D accesses')).get('A');
                const [found] = await page.evaluate(`[...document.querySelectorAll('.numbers dt')].flatMap((each) => each.textContent === 'accesses' ? [each.nextSibling.textContent] : [])`);
                t.equal(number(found), wanted, `accesses of A in the details of '${file}'`);
            }
        },
    ],
];
