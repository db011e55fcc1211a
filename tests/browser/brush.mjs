// SPDX-License-Identifier: BSD-3-Clause
// What a brush over addresses and phases filters besides the pictures: the answer, the table of data structures, the field's own table; compared with h5py.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { number, tableRows } from './screen.mjs';

/** Accesses and misses of L1D, of the lines in a range in some phases, by the data structure that they begin in; '': in none. */
const sums = `
import h5py, json, sys
import numpy as np
f = h5py.File(sys.argv[1], "r")
first, last, phases = json.loads(sys.argv[2])
g = f["combined/L1D"]
at, phase, a, m = (g[name][:] for name in ("address", "phase", "accesses", "misses"))
own = (at >= first) & (at < last) & np.isin(phase, phases)
found, rest = {}, own.copy()
for name, base, size in zip(f["structures/name"].asstr()[:], f["structures/base"][:], f["structures/bytes"][:]):
    here = own & (at >= base) & (at < base + size)
    rest &= ~here
    if here.any():
        found[name] = [m[here].sum(), a[here].sum()]
if rest.any():
    found["(elsewhere)"] = [m[rest].sum(), a[rest].sum()]
print(json.dumps({name: [float(each) for each in two] for name, two in found.items()}))`;

const places = `
import h5py, json, sys
f = h5py.File(sys.argv[1], "r")
print(json.dumps([[int(b), int(n)] for b, n in zip(f["structures/base"][:], f["structures/bytes"][:])]))`;

export const brushCases = [
    [
        'brush: data structures are counted by the selected lines in the chosen phases',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=8192', '-m', 'generic3', '--causes', '-o', 'brush.h5');
            const placed = JSON.parse(t.script('-c', places, t.file('brush.h5'))).sort((a, b) => a[0] - b[0]).filter(([, bytes]) => bytes > 128);
            const middle = ([base, bytes]) => base + 64 * Math.floor(bytes / 128);
            const hex = (address) => `0x${address.toString(16)}`;
            for (const [from, to, phases] of [
                [middle(placed[0]), middle(placed[1]), [0, 1, 2, 3, 4, 5, 6, 7]],
                [middle(placed[0]), middle(placed.at(-1)), [1, 3]],
                [placed[0][0] + 640, placed[0][0] + 1280, [3]],
            ]) {
                const all = phases.length === 8;
                await t.open(page, t.file('brush.h5'), `sel=${hex(from)}-${hex(to)}${all ? '' : `&phases=${phases}`}`);
                const expected = JSON.parse(t.script('-c', sums, t.file('brush.h5'), JSON.stringify([from, to, phases])));
                const [head, ...rows] = await tableRows(page, 'Data structures');
                t.equal(head.slice(0, 3).map((each) => each.replace(/ [▲▼]$/, '')).join(), 'data structure,L1D misses,L1D accesses', 'columns');
                t.equal(JSON.stringify(Object.fromEntries(rows.map(([name, misses, accesses]) => [name, [number(misses), number(accesses)]]).sort())), JSON.stringify(Object.fromEntries(Object.entries(expected).sort())), `structures in ${hex(from)}-${hex(to)}, phases ${phases}`);
                const [misses, accesses] = [0, 1].map((i) => Object.values(expected).reduce((all, each) => all + each[i], 0));
                const begin = `L1D misses ${(100 * misses / accesses).toFixed(2)} % of ${accesses.toLocaleString('en-US')} accesses to the selected lines${all ? '' : phases.length > 1 ? ' in phases 1' : ' in phase 3'}`;
                await t.until(page, `document.querySelector('.sentence').textContent.startsWith(${JSON.stringify(begin)})`, `the answer is of the selected lines: ${begin}`, 3000);
                const [worst] = Object.entries(expected).reduce((a, b) => (b[1][0] > a[1][0] ? b : a));
                t.check((await page.locator('.sentence').textContent()).includes(`; ${worst} causes `), `worst of them: ${worst}`);
                const chosen = phases.join();
                const answer = JSON.parse(t.script(join(t.here, 'answer.py'), t.file('brush.h5'), 'L1D', chosen, String(from), String(to)));
                const sentence = await page.locator('.sentence').textContent();
                const end = `${(100 * answer.cause[1] / answer.cause[2]).toFixed(2)} % of those ${({ 'first use': 'are first uses', capacity: 'are capacity misses', conflict: 'are conflicts' })[answer.cause[0]]}${answer.when ?? '.'}`;
                t.check(sentence.endsWith(end), `${sentence} ends with ${end}`);
                const labels = await page.locator('.tile .tile-label').allTextContents();
                t.equal(labels.join(), phases.length > 1 ? 'How much,Where,When,Why,What to try' : 'How much,Where,Why,What to try', 'tiles');
                t.equal(await page.locator('[aria-busy=true]').count(), 0, 'nothing is still being read');
                const [, ...lines] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
                const shown = lines.map(([address]) => Number(address));
                t.check(shown.length > 0 && shown.every((each) => each >= from && each < to), `the field's table has what is selected: ${shown[0]} to ${shown.at(-1)} of ${from} to ${to}`);
            }
        },
    ],
    [
        'brush: of several pieces of addresses the details are of these alone; a line is of what is first in it',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'lu', 'n=32', '-m', 'schulz2002', '--causes', '-o', 'pieces.h5');
            const [[base]] = JSON.parse(t.script('-c', places, t.file('pieces.h5')));
            t.check(base % 16 === 8, `A begins within a line: ${base}`);
            const first = base - 8;
            const pieces = [[first, first + 16], [first + 4096, first + 4096 + 256]];
            await t.open(page, t.file('pieces.h5'), `sel=${pieces.map((each) => each.map((at) => `0x${at.toString(16)}`).join('-'))}`);
            const expected = JSON.parse(t.script('-c', `import h5py, json, numpy as np
g = h5py.File("${t.file('pieces.h5')}", "r")["combined/L1"]
at = g["address"][:]
own = np.any([(at >= a) & (at < b) for a, b in ${JSON.stringify(pieces)}], axis=0)
print(json.dumps([len(np.unique(at[own])), float(g["accesses"][:][own].sum()), float(g["misses"][:][own].sum())]))`));
            t.equal(expected[0], 17, 'lines by hand');
            await t.until(page, `document.querySelectorAll('.details .numbers dd').length >= 3`, 'counts of the lines');
            const shown = await page.locator('.details .numbers dd').allTextContents();
            t.equal(shown.slice(0, 3).map((each) => number(each.split(/ of | · /)[0])).join(), expected.join(), 'lines, accesses, misses');
            const [, ...rows] = await tableRows(page, 'Data structures');
            t.equal(rows.map(([name, misses, accesses]) => [name, number(accesses), number(misses)].join()).join('|'), `A,${expected[1]},${expected[2]}`, 'all are of A');
            const worst = await tableRows(page, 'Lines with');
            t.check(worst.length > 2 && worst.slice(1).every(([line]) => line.startsWith('A ')), `worst lines: ${worst.join(' | ')}`);
        },
    ],
    [
        'brush: of two files what the second has more in the selected lines',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=8192', '-m', 'generic3', '--causes', '-o', 'brush-a.h5');
            writeFileSync(t.file('smaller.yaml'), t.run('machine', 'show', 'generic3', '--yaml').replace(/size: 32 KiB/g, 'size: 16 KiB'));
            t.run('run', 'radix', 'keys=8192', '-m', 'smaller.yaml', '--causes', '-o', 'brush-b.h5');
            const placed = JSON.parse(t.script('-c', places, t.file('brush-a.h5'))).sort((a, b) => a[0] - b[0]).filter(([, bytes]) => bytes > 128);
            const [from, to] = [placed[0][0] + 1024, placed.at(-1)[0] + 1024];
            const both = ['brush-a.h5', 'brush-b.h5'].map((file) => JSON.parse(t.script('-c', sums, t.file(file), JSON.stringify([from, to, [0, 1, 2, 3, 4, 5, 6, 7]]))));
            const [a, b] = both.map((each) => Object.values(each).reduce((all, [misses]) => all + misses, 0));
            await t.open(page, t.file('brush-a.h5'), 'show=misses&level=L1D');
            await t.compare(page, t.file('brush-b.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ view: 'workbench', show: 'misses', level: 'L1D', file: 'difference', sel: '0x${from.toString(16)}-0x${to.toString(16)}' })`);
            const more = `B − A: ${b > a ? '+' : '−'}${Math.abs(b - a).toLocaleString('en-US')} misses of L1D`;
            await t.until(page, `document.querySelector('.answer h2')?.textContent.startsWith(${JSON.stringify(more)})`, more, 5000);
            const most = Object.keys(both[1]).reduce((x, y) => (Math.abs(both[1][y][0] - (both[0][y]?.[0] ?? 0)) > Math.abs(both[1][x][0] - (both[0][x]?.[0] ?? 0)) ? y : x));
            const said = await page.locator('.answer h2').textContent();
            t.check(said.includes(`: data structure ${most} `) && !said.includes('as wholes'), said);
            t.check((await page.locator('.answer p').first().textContent()).includes(' to the selected lines'), 'what A misses in them');
        },
    ],
    [
        'brush: where a phase is subtracted, answer and data structures are of the selected lines in both',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=8192', '-m', 'generic3', '--causes', '-o', 'brush-minus.h5');
            const placed = JSON.parse(t.script('-c', places, t.file('brush-minus.h5'))).sort((a, b) => a[0] - b[0]).filter(([, bytes]) => bytes > 128);
            const [from, to] = [placed[0][0] + 1024, placed.at(-1)[0] + 1024];
            const [one, three] = [1, 3].map((phase) => JSON.parse(t.script('-c', sums, t.file('brush-minus.h5'), JSON.stringify([from, to, [phase]]))));
            const [a, b] = [one, three].map((each) => Object.values(each).reduce((all, [misses]) => all + misses, 0));
            await t.open(page, t.file('brush-minus.h5'), `show=misses&level=L1D&phases=3&minus=1&sel=0x${from.toString(16)}-0x${to.toString(16)}`);
            const texts = () => page.locator('.answer .sentence').allTextContents();
            const more = `: ${b > a ? '+' : '−'}${Math.abs(b - a).toLocaleString('en-US')} misses of L1D (`;
            await t.until(page, `document.querySelector('.answer p.sentence')?.textContent.includes(${JSON.stringify(more)})`, more, 5000);
            t.check((await texts())[0].includes(' to the selected lines in phase 3'), (await texts())[0]);
            const [head, ...rows] = await tableRows(page, 'Data structures');
            t.equal(head.slice(1, 3).map((each) => each.replace(/ [▲▼]$/, '')).join(), 'phase 1: L1D misses,phase 3: L1D misses', 'columns');
            const names = [...new Set([one, three].flatMap(Object.keys))].sort();
            const shown = Object.fromEntries(rows.map(([name, ...values]) => [name, values.map(number)]));
            for (const name of names) {
                const [x, y] = [one, three].map((each) => each[name]?.[0] ?? 0);
                t.equal((shown[name] ?? []).join(), [x, y, y - x].join(), name);
            }
        },
    ],
    [
        'brush: ranges that begin within a line are of the lines that begin in them, of one file and of two',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'lu', 'n=128', '-m', 'schulz2002', '--causes', '-o', 'brush-rows.h5');
            t.run('run', 'lu', 'n=128', 'layout=contiguous', '-m', 'schulz2002', '--causes', '-o', 'brush-columns.h5');
            const of = (file, from, to) => JSON.parse(t.script('-c', sums.replace('combined/L1D', 'combined/L1'), t.file(file), JSON.stringify([from, to, [...Array(50).keys()]])));
            const both = (file, from, to) => Object.values(of(file, from, to)).reduce((all, two) => all.map((each, i) => each + two[i]), [0, 0]);
            const text = (count) => count.toLocaleString('en-US');
            // a link made of another run, whose addresses this one does not have
            await t.open(page, t.file('brush-rows.h5'), 'show=misses&level=L1&sel=0x10-0x20');
            await t.until(page, `document.querySelector('.sentence').textContent === 'L1 has no accesses to the selected lines.'`, 'no line', 3000);
            // an element that the line before it holds, too
            await t.open(page, t.file('brush-rows.h5'), 'show=misses&level=L1&sel=0x10000028-0x10000030');
            const [misses, accesses] = both('brush-rows.h5', 0x10000020, 0x10000030);
            await t.until(page, `document.querySelector('.sentence').textContent.startsWith('L1 misses ${(100 * misses / accesses).toFixed(2)} % of ${text(accesses)} accesses to the selected lines')`, 'one line', 3000);
            t.check((await page.locator('.details').innerText()).includes(text(accesses)), 'its accesses in the details');
            const evicted = async (hash) => {
                await t.open(page, t.file('brush-rows.h5'), hash);
                await t.compare(page, t.file('brush-columns.h5'));
                await t.until(page, 'cachetally.others.length === 1', 'the second file');
                await page.evaluate(`cachetally.set(${JSON.stringify({ view: 'workbench', ...Object.fromEntries(new URLSearchParams(hash)) })})`);
                await t.quiet(page);
                return (await tableRows(page, 'What evicts')).slice(1);
            };
            const range = 'sel=0x10000028-0x10000800';
            const [a, b] = ['brush-rows.h5', 'brush-columns.h5'].map((file) => both(file, 0x10000030, 0x10000800));
            const rows = await evicted(`show=misses&level=L1&file=difference&${range}`);
            await t.until(page, `document.querySelector('.answer h2')?.textContent.startsWith(${JSON.stringify(`B − A: ${b[0] > a[0] ? '+' : '−'}${text(Math.abs(b[0] - a[0]))} misses of L1`)})`, 'the difference of the lines', 5000);
            for (const [i, [count, of]] of [a, b].entries())
                t.check((await page.locator('.answer p').nth(i).textContent()).includes(`${(100 * count / of).toFixed(2)} % of ${text(of)} accesses to the selected lines`), `${'AB'[i]}: ${count} of ${of}`);
            const counts = (await tableRows(page, 'Counts')).find(([name]) => name === 'misses').slice(1).map(number);
            t.equal(counts.join(), [b[0] - a[0], a[0], b[0]].join(), 'details');
            // what evicts A, of each file
            t.check(rows.length > 0 && rows.every(([victim]) => victim === 'A'), `evicted: ${rows.map((row) => row.join(' ')).join('; ')}`);
            for (const [file, column] of [['', 2], ['b', 3]]) {
                const own = new Map((await evicted(`show=misses&level=L1&file=${file}&structure=A`)).map(([, by, lines]) => [by, number(lines)]));
                for (const row of rows) t.equal(number(row[column]), own.get(row[1]) ?? 0, `${row[1]} evicts A in ${file || 'a'}`);
            }
        },
    ],
    [
        'brush: keys of the field zoom wherever the focus is, but where one types',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const x = () => page.evaluate(`cachetally.state.x ?? ''`);
            await page.evaluate('document.activeElement.blur()');
            await page.keyboard.press('+');
            await t.until(page, `(cachetally.state.x ?? '') !== ''`, 'nearer', 3000);
            const near = await x();
            const [from, to] = near.split('-').map(Number);
            await page.keyboard.press('+');
            await t.until(page, `cachetally.state.x !== '${near}'`, 'still nearer', 3000);
            const [later, before] = (await x()).split('-').map(Number);
            t.check(later >= from && before <= to && before - later < to - from, `${from}-${to}, then ${later}-${before}`);
            await page.keyboard.press('0');
            await t.until(page, `(cachetally.state.x ?? '') === ''`, 'all of it', 3000);
            await page.locator('input[type=text]:visible').first().focus();
            await page.keyboard.type('+');
            await t.quiet(page);
            t.equal(await x(), '', 'typed into a field');
        },
    ],
    [
        'brush: phases by names that hold commas',
        async (t, page) => {
            t.run('run', 'water', 'molecules=8', 'steps=1', '-m', 'generic3', '-o', 'commas.h5');
            await t.open(page, t.file('commas.h5'));
            const names = await page.evaluate('cachetally.source.info.phases.names');
            const name = names.find((each) => each.includes(','));
            t.check(name !== undefined, `a name with a comma: ${[...new Set(names)].join(' | ')}`);
            const field = page.getByLabel(/^Phases, as in/);
            const wanted = [0, ...names.flatMap((each, i) => (each === name && i > 0 ? [i] : []))];
            for (const text of [`${name},0`, `0, "${name}"`]) {
                await field.fill(text);
                await field.press('Enter');
                t.equal(await page.locator('#phases-note').textContent(), `${wanted.length} of ${names.length}`, text);
            }
            t.check((await page.locator('.sentence').textContent()).includes(` in phases ${wanted[0]}`), 'the answer is of these');
        },
    ],
];
