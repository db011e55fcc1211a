// SPDX-License-Identifier: BSD-3-Clause
// The workbench: what a selection filters, where outliers are cut; compared with h5py and with cases by hand.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { box, number, tableRows, withoutLines } from './screen.mjs';

/** Sums of misses and accesses over addresses and phases, and by phase, with h5py. */
const sums = `
import h5py, json, sys
import numpy as np
g = h5py.File(sys.argv[1], "r")["combined/" + sys.argv[2]]
at, phase, a, m = (g[name][:] for name in ("address", "phase", "accesses", "misses"))
out = []
for first, last, phases in json.loads(sys.argv[3]):
    here = (at >= first) & (at < last)
    own = here if phases is None else here & np.isin(phase, phases)
    lines = np.unique(at[own])
    by = [float(m[own & (at == line)].sum()) for line in lines]
    sets = np.bincount(lines.astype(np.int64) // 16 % 512, minlength=512).tolist()
    out.append([len(lines), float(a[own].sum()), float(m[own].sum()), max(by, default=0), [float(m[here & (phase == p)].sum()) for p in range(int(phase.max()) + 1)], sets])
print(json.dumps(out))`;

export const workbenchCases = [
    [
        'brush: addresses and phases filter details, tables and counts over time as h5py does',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu2.h5'));
            const field = page.locator('canvas.field');
            await field.scrollIntoViewIfNeeded();
            const { x, y, width } = await box(page, 'canvas.field');
            await page.mouse.move(x + width * 0.3, y + 180);
            await page.mouse.down();
            await page.mouse.move(x + width * 0.5, y + 260, { steps: 3 });
            await page.mouse.up();
            await t.quiet(page);
            const [from, to, phases] = await page.evaluate(`[...cachetally.state.sel.split('-').map(Number), cachetally.state.phases]`);
            const [first, last] = phases.split('-').map(Number);
            t.check(last > first && to - from > 10000, `what is selected: ${from} to ${to}, phases ${phases}`);
            const list = Array.from({ length: last - first + 1 }, (_, i) => first + i);
            const [[lines, accesses, misses, worst]] = JSON.parse(t.script('-c', sums, t.file('lu2.h5'), 'L1', JSON.stringify([[from, to, list]])));
            const shown = await page.evaluate(`[...document.querySelectorAll('.numbers dd')].map((each) => each.textContent)`);
            t.equal(shown.map((each) => number(each.split(' ')[0])).join(), [lines, accesses, misses].join(), 'lines, accesses, misses');
            const rows = await tableRows(page, 'Lines with most');
            t.equal(number(rows[1][1]), worst, 'misses of the worst line');
            for (const [show, value] of [['hits', ([, , missed, asked]) => asked - missed], ['missrate', ([, , missed, asked]) => (100 * missed) / asked]]) {
                await page.evaluate(`cachetally.set({ show: '${show}' })`);
                await t.quiet(page);
                const values = (await tableRows(page, 'Lines with')).slice(1).map((row) => row.map(number));
                t.check(values.every((row, i) => Math.abs(row[1] - value(row)) < 0.006 && (i === 0 || row[1] <= values[i - 1][1])), `${show} of lines, the most first: ${values[0]}`);
            }
        },
    ],
    [
        'selections of any lines and phases hold what h5py adds up, also by set and by phase',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'));
            let random = 11;
            const next = (below) => (random = (random * 48271) % 2147483647) % below;
            const asked = Array.from({ length: 24 }, (_, i) => {
                const first = 0x10000020 + 16 * next(4000) + (i % 4 === 1 ? 8 : 0); // some begin within a line, which is not theirs
                return [first, first + 16 * (1 + next(i < 12 ? 40 : 4000)), i % 3 === 0 ? null : [...new Set([next(17), next(17), 4])].sort((a, b) => a - b)];
            });
            const expected = JSON.parse(t.script('-c', sums, t.file('lu.h5'), 'L1', JSON.stringify(asked)));
            const found = await page.evaluate(`(async () => {
                const { source } = cachetally;
                const axis = await source.axis(source.info.series.filter((each) => each.kind === 'level').map((each) => each.id));
                const base = Number(axis.segments[0].base);
                return Promise.all(${JSON.stringify(asked)}.map(async ([from, to, phases]) => {
                    const part = await source.ask('selected', 'combined/L1', 'misses', phases, axis, [[from - base, to - base]], 5, 512);
                    const time = await source.ask('phaseSums', 'combined/L1', axis, [from - base, to - base]);
                    return [part.lines, part.first, part.second, part.worst[0]?.second ?? 0, [...time[1]], [...part.sets]];
                })); })()`);
            found.forEach(([lines, accesses, misses, worst, time, sets], i) => {
                const [a, b, c, d, by, inSets] = expected[i];
                t.equal([lines, accesses, misses, worst].join(), [a, b, c, d].join(), `lines ${asked[i]}`);
                t.equal(time.slice(0, by.length).join(), by.join(), `by phase: ${asked[i]}`);
                t.equal(sets.join(), inSets.join(), `lines by set: ${asked[i]}`);
            });
        },
    ],
    [
        'sets: rows of a matrix that are a way apart share sets',
        async (t, page) => {
            // 64 sets of 64 bytes: every 4096 bytes the same set; generic3 moves pages, but the set lies within a page
            const lines = Array.from({ length: 6000 }, (_, i) => `0 ${(0x400000 + 4096 * (i % 40)).toString(16)} 8\n`);
            writeFileSync(t.file('sets.din'), lines.join(''));
            writeFileSync(t.file('sets.names'), '0x400000 163840 8 columns\n');
            t.run('replay', t.file('sets.din'), '--structures', t.file('sets.names'), '-m', 'generic3', '--causes', '-o', 'sets.h5');
            await t.open(page, t.file('sets.h5'));
            await t.press(page, 'columns');
            const text = await page.locator('.sets').getAttribute('aria-label');
            t.equal(text, '40 lines in 1 of 64 sets of 8 ways; 1 set has more lines than ways.', 'the sets');
            await t.open(page, t.file('sets.h5'), 'level=L2');
            await t.press(page, 'columns');
            t.equal(await page.locator('.sets').count(), 0, 'a picture of sets that moved pages choose');
        },
    ],
    [
        'causes: what older files know of whole structures is spread over them, and adds up',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const { L1 } = t.json('show', 'lu2.h5').causes;
            withoutLines(t, 'lu2.h5', 'lu2-older.h5');
            for (const cause of ['first_use', 'capacity', 'conflict']) {
                await t.open(page, t.file('lu2-older.h5'), `cause=${cause.replace('_', ' ')}`);
                const count = L1.misses.reduce((all, row) => all + row[cause], 0);
                t.equal(await page.evaluate('cachetally.current.totals().L1'), count, cause);
                const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
                t.near(rows.reduce((all, row) => all + Number(row[head.indexOf('sum')]), 0), count, `${cause} in the CSV file`, 1e-6);
                t.check((await t.saved(page, 'SVG')).includes('spread over each data structure'), 'what the picture says of it');
            }
        },
    ],
    [
        'axis: whether its addresses are virtual or physical; a molecule of WATER has words of its own',
        async (t, page) => {
            t.run('run', 'water', 'molecules=8', 'steps=1', '-m', 'schulz2002', '-o', 'water-8.h5');
            for (const [file, hash, kind] of [
                ['matmul.h5', 'show=misses', 'virtual'],
                ['matmul.h5', 'show=link:load&level=L1D-L2', 'virtual'],
                ['water-8.h5', 'show=link:load&level=L1-L2', 'physical'],
                ['water-8.h5', 'show=misses&structure=molecules&level=L1', 'virtual'],
            ]) {
                await t.open(page, t.file(file), hash);
                const found = [...(await t.saved(page, 'SVG')).matchAll(/>(virtual|physical)</g)].map(([, each]) => each);
                t.equal(found.join(), kind, `addresses of ${file}, ${hash}`);
            }
            const lines = (await tableRows(page, 'Worst lines')).slice(1).map(([line]) => /^molecules \[(\d+)\]\[(\d+)\] /.exec(line));
            t.check(lines.length > 0 && lines.every((each) => each && each[1] < 8 && each[2] < 84), `molecules and words: ${lines}`);
        },
    ],
    [
        'outliers are cut, counted and marked; a chosen scale shows all',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const address = (i) => 0x400000 + 64 * i;
            const lines = Array.from({ length: 1000 }, (_, i) => `0 ${address(i).toString(16)} 8\n`);
            lines.push(...Array.from({ length: 5000 }, () => `0 ${address(17).toString(16)} 8\n`));
            writeFileSync(t.file('outlier.din'), lines.join(''));
            t.run('replay', t.file('outlier.din'), '-m', 'generic3', '-o', 'outlier.h5');
            await t.open(page, t.file('outlier.h5'), 'show=accesses');
            const svg = await t.saved(page, 'SVG');
            t.check(svg.includes('>1 line up to 5k<') && svg.includes('>1 cell up to '), svg.match(/>[^<]* up to [^<]*</g)?.join());
            await t.open(page, t.file('outlier.h5'), 'show=accesses&scale=linear');
            t.check(!(await t.saved(page, 'SVG')).includes(' up to '), 'nothing is cut');
            // and of differences, on both sides
            const twice = [...lines.slice(0, 1000), ...lines.slice(0, 1000), ...Array.from({ length: 3000 }, () => `0 ${address(18).toString(16)} 8\n`)];
            writeFileSync(t.file('outlier2.din'), twice.join(''));
            writeFileSync(t.file('outlier.names'), '0x400000 64000 8 rows\n');
            for (const trace of ['outlier', 'outlier2']) t.run('replay', t.file(`${trace}.din`), '--structures', t.file('outlier.names'), '-m', 'generic3', '-o', `of-${trace}.h5`);
            await t.open(page, t.file('of-outlier.h5'), 'show=accesses');
            await t.compare(page, t.file('of-outlier2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ file: 'difference' })`);
            await t.quiet(page);
            const both = await t.saved(page, 'SVG');
            t.check(/>\d columns up to ±5k</.test(both) && />2 cells up to ±[\d.]+k</.test(both), both.match(/>[^<]* up to [^<]*</g)?.join());
        },
    ],
    [
        'cells of a large run come from its grid, and are those of its rows',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'stream', 'n=400000', 'repetitions=8', '-m', 'generic3', '--monitor', 'none', '-o', 'grid.h5');
            await t.open(page, t.file('grid.h5'), 'show=misses');
            const rows = await page.evaluate('cachetally.source.info.series[0].rows');
            t.check(rows > 2_000_000, `${rows} rows`);
            const [head, ...table] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
            const first = head.indexOf('lines');
            const byPhase = JSON.parse(t.script('-c', 'import h5py, json, numpy as np, sys\ng = h5py.File(sys.argv[1], "r")["combined/L1D"]\nprint(json.dumps(np.bincount(g["phase"][:], g["misses"][:]).tolist()))', t.file('grid.h5')));
            byPhase.forEach((misses, phase) => {
                const drawn = table.reduce((all, row) => all + Number(row[first]) * Number(row[first + 1 + phase]), 0);
                t.near(drawn, misses, `misses in phase ${phase}`, 1e-6);
            });
            // a part that is too narrow for the grid, and what the grid says of the same columns
            const same = await page.evaluate(`(async () => {
                const { source } = cachetally;
                const axis = await source.axis(source.info.series.filter((each) => each.kind === 'level').map((each) => each.id));
                const ask = (x0, x1, columns) => source.ask('heat', 'combined/L1D', 'misses', axis, x0, x1, columns, source.info.series.find(({ id }) => id === 'combined/L1D').phases, 256);
                const wide = await ask(0, 4096 * 512, 512), narrow = await ask(0, 4096 * 64, 4096);
                const sum = (heat, of, to) => { let all = 0; for (let row = 0; row < heat.rows; ++row) for (let c = 0; c < to; ++c) all += heat[of][row * heat.columns + c]; return all; };
                return ['sum', 'weight'].flatMap((of) => [sum(wide, of, 64), sum(narrow, of, 4096)]); })()`);
            t.near(same[0], same[1], 'misses of the first 64 columns, by grid and by rows', 1e-9);
            t.check(same[3] > 1000, `${same[3]} lines and phases`);
            t.near(same[2], same[3], 'lines and phases of the first 64 columns, by grid and by rows', 1e-9);
        },
    ],
    [
        'search finds, keys work everywhere, the list of keys opens',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            const search = async (words) => {
                await page.keyboard.press('/');
                await page.keyboard.type(words);
                await page.keyboard.press('Enter');
                await t.quiet(page);
            };
            await search('stack0');
            t.equal(await page.evaluate('cachetally.state.structure'), 'stack0', 'the structure that was searched');
            t.check(await page.evaluate(`document.activeElement.matches('canvas.field')`), 'the focus is on the field');
            await search('p'); // names that begin so come before those that have it within, as Topology
            t.equal(await page.evaluate('cachetally.state.phases'), '0', 'the first phase');
            await search('phase 12');
            t.equal(await page.evaluate('cachetally.state.phases'), '12', 'the phase');
            await search('L2 level');
            t.equal(await page.evaluate('cachetally.state.level'), 'L2', 'the level');
            await page.keyboard.press('2');
            t.equal(await page.evaluate('cachetally.shown'), 'topology', 'the second view');
            await search('workbench');
            t.equal(await page.evaluate('cachetally.shown'), 'workbench', 'the view that was searched');
            await page.keyboard.press('?');
            t.check((await page.locator('dialog[open]').textContent()).includes('undo the last choice'), 'the list of keys');
            await page.keyboard.press('Escape');
            t.equal(await page.locator('dialog[open]').count(), 0, 'dialogs');
            await page.getByLabel(/^Phases, as in/).fill('');
            await page.keyboard.press('2');
            t.equal(await page.evaluate('cachetally.shown'), 'workbench', 'who writes goes nowhere');
        },
    ],
    [
        'by keyboard alone: the cursor selects a structure and a phase, the menu saves',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            const field = page.locator('canvas.field');
            await field.focus();
            for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
            await t.quiet(page);
            t.equal(await page.evaluate(`cachetally.state.structure + ' ' + cachetally.state.phases`), 'A 2', 'what Enter selects');
            const told = await page.evaluate(`(({ textContent, ariaLive }) => ariaLive + ' ' + textContent)(document.querySelector('.readout'))`);
            t.check(/^polite phase 2 \(diagonal\) · A \[/.test(told), `what is said of it: ${told}`);
            await page.keyboard.press('Escape');
            await t.quiet(page);
            t.equal(await page.evaluate(`(cachetally.state.structure ?? '') + (cachetally.state.phases ?? '')`), '', 'what Escape leaves');
            await page.locator('.menu > .tool').first().focus();
            await page.keyboard.press('Enter');
            t.check(await page.getByLabel('Save the picture as SVG').first().isVisible(), 'the menu opens');
            const focused = () => page.evaluate('document.activeElement.textContent');
            for (const expected of ['CSV', 'SVG']) {
                await page.keyboard.press('ArrowDown');
                t.equal(await focused(), expected, 'arrow keys in the menu');
            }
            await page.keyboard.press('ArrowUp');
            await page.keyboard.press('Escape');
            t.check(!(await page.getByLabel('Save the picture as SVG').first().isVisible()), 'the menu closes');
            for (const list of ['ul', 'tbody']) {
                const focused = `(() => {
                    window.lists = [...document.querySelectorAll('#view ${list}, main ${list}')].map((each) => [...each.querySelectorAll('button, a[href]')].filter((one) => one.offsetParent));
                    window.pressed = window.lists.find((each) => each.length > 1);
                    window.pressed?.[0].focus();
                    return window.pressed?.length ?? 0; })()`;
                const count = await page.evaluate(focused);
                t.check(count > 1, `${list} has things to press`);
                for (const [key, at] of [['ArrowDown', 1], ['ArrowUp', 0], ['ArrowUp', count - 1], ['ArrowDown', 0]]) {
                    await page.keyboard.press(key);
                    t.equal(await page.evaluate('window.pressed.indexOf(document.activeElement)'), at, `${key} in a ${list}`);
                }
            }
            const heads = await page.evaluate(`[...document.querySelectorAll('h1, h2, h3')].map((each) => each.tagName + each.textContent.length)`);
            t.check(heads.filter((each) => each.startsWith('H1')).length === 1 && heads.filter((each) => each.startsWith('H2')).length >= 3 && !heads.some((each) => each.endsWith(' 0')), `headings: ${heads}`);
        },
    ],
    [
        'details: of a cause the lines and cache sets of its structure, of all causes',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            withoutLines(t, 'lu2.h5', 'lu2-wholes.h5');
            await t.open(page, t.file('lu2-wholes.h5'), 'structure=A');
            const shown = async () => [await page.locator('.details .sets').getAttribute('aria-label'), await page.locator('.details dl.numbers').innerText()];
            const [sets, numbers] = await shown();
            await page.evaluate(`cachetally.set({ cause: 'conflict' })`);
            await t.quiet(page);
            const [again, more] = await shown();
            t.equal(again, sets, 'cache sets');
            t.check(more.startsWith(numbers) && /conflict/.test(more), `numbers: ${more}`);
            t.check((await page.innerText('.details')).includes('Lines and sets are of misses of all causes.'), 'the note');
        },
    ],
    [
        'details: a line that two data structures share counts once for each access',
        async (t, page) => {
            const [trace, names, file] = ['one-line.lackey', 'one-line.txt', 'one-line.h5'].map((each) => join(t.directory, each));
            const load = (address, times) => Array(times).fill(` L ${address.toString(16)},8`);
            writeFileSync(trace, ['I  00401000,4', ...load(0x10000000, 3), ...load(0x10000020, 5), ...load(0x10000040, 2)].join('\n') + '\n');
            writeFileSync(names, '0x10000000 32 8 first\n0x10000020 64 8 second\n');
            t.run('replay', trace, '--structures', names, '-m', 'generic3', '-o', file);
            await t.open(page, file, 'show=accesses&level=L1D&structure=first');
            const shown = async () => [await page.locator('.details dl.numbers').innerText(), await page.locator('.details dl.numbers + p').allInnerTexts()].flat().join(' ').replace(/\s+/g, ' ');
            t.check(/^lines 1 of 64 B accesses 3 misses 1 · 33\.33 % Other data lie in these lines, too: accesses with them 8, misses 1\./.test(await shown()), await shown());
            await page.evaluate(`cachetally.set({ structure: '', sel: '0x10000000-0x10000040' })`);
            await t.quiet(page);
            t.check(/^lines 1 of 64 B accesses 8 misses 1 · 12\.50 % Causes, code and cores are of first, second as a whole\.$/.test(await shown()), `addresses: ${await shown()}`);
        },
    ],
    [
        'a cause that is chosen sorts tables and counts code',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'), 'show=misses&level=L1&cause=capacity');
            const [head, ...rows] = await tableRows(page, 'Data structures, all phases');
            const values = rows.map((row) => number(row[head.indexOf('capacity')]));
            t.check(values.length > 1 && values.every((each, i) => i === 0 || each <= values[i - 1]), `capacity misses, the most first: ${values}`);
        },
    ],
    [
        'what cannot be read in the address of the page is told',
        async (t, page) => {
            for (const [hash, words] of [
                ['sel=zz', `'zz' is no range of addresses; write e.g. 0x1000-0x2000. Shown: all addresses.`],
                ['sel=0x2000-0x1000', `'0x2000-0x1000' ends before it begins. Shown: all addresses.`],
                ['x=5-2', 'x=5-2 is no range of bytes; write e.g. 0-4096. Shown: all.'],
                ['x=0-4096', ''],
                ['sel=0x10000000-0x10000100,4096-8192', `'4096-8192' is no range of addresses; write e.g. 0x1000-0x2000.`],
                ['sel=0x10000000-0x10000100', ''],
            ]) {
                await t.open(page, t.file('lu.h5'), hash);
                t.equal(await page.locator('.chips .note.bad:visible').allTextContents().then((all) => all.join()), words, hash);
            }
            await t.open(page, t.file('lu.h5'), 'sel=zz');
            await page.getByLabel('Take away zz').click();
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.sel'), '', 'what is left once it is taken away');
        },
    ],
    [
        'of more than 256 data structures, selected, the table has wholes, and says so',
        async (t, page) => {
            const [trace, names, file] = ['wholes.lackey', 'wholes.txt', 'wholes.h5'].map((each) => join(t.directory, each));
            const places = Array.from({ length: 257 }, (_, i) => 0x10000000 + 64 * i);
            const load = (address) => ` L ${address.toString(16)},8`;
            writeFileSync(trace, ['I  00401000,4', ...[...places, 0x20000000, 0x20000040].map(load)].join('\n') + '\n');
            writeFileSync(names, [...places.map((place, i) => `0x${place.toString(16)} 64 8 s${i}`), '0x20000000 12345 8 odd'].join('\n') + '\n');
            t.run('replay', trace, '--structures', names, '-m', 'generic3', '-o', file);
            const caption = async (last) => {
                await t.open(page, file, `level=L1D&sel=0x10000000-0x${(places[last] + 64).toString(16)}`);
                const [table] = await page.locator('.table-box[aria-label^="Data structures, "]').all();
                return table.getAttribute('aria-label');
            };
            t.equal(await caption(255), 'Data structures, the whole run, selected lines alone', 'of 256');
            t.equal(await caption(256), 'Data structures, the whole run, of data structures as wholes', 'of 257');
            const [, ...rows] = await tableRows(page, 'Data structures, the whole run, of data');
            t.check(rows.length <= 257, `${rows.length} rows`);
            await t.open(page, file, 'level=L1D');
            const odd = (await tableRows(page, 'Data structures, the whole run')).find(([name]) => name === 'odd');
            t.equal(odd?.[1], '12345 B', 'a size in whole bytes');
        },
    ],
    [
        'names in the address of the page that the file does not have are told',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'), 'core=9&structure=nix');
            t.equal(await page.locator('.chips .bad').textContent(), 'Not in this file: nix, core 9.', 'beside the chips');
            await t.open(page, t.file('lu.h5'), 'view=nope&level=XX&structure=NOPE');
            t.check((await page.locator('.facts').textContent()).endsWith('there is no view “nope” of it'), 'the view');
            t.check((await t.saved(page, 'SVG')).includes('Not in this file: XX, NOPE.'), 'the names');
            await page.evaluate(`cachetally.set({ level: '', structure: 'Q', cause: 'zz' })`);
            await t.quiet(page);
            t.check((await t.saved(page, 'SVG')).includes('Not in this file: zz, Q.'), 'a cause and a data structure');
            await page.evaluate(`cachetally.set({ view: 'tables', level: '', structure: '', cause: '' })`);
            t.check(!(await page.locator('.facts').textContent()).includes('there is no view'), 'a view that there is');
        },
    ],
];
