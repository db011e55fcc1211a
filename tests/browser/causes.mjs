// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what: what the page shows is what the program tells.
import { writeFileSync } from 'node:fs';
import { found, number, snippetSays, tableRows, withoutLines } from './screen.mjs';

const kinds = ['first_use', 'invalidated', 'capacity', 'conflict'];
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Misses by cause in a range of addresses and some phases (null: all): sums, sums by phase, the worst line by cause, sums by address. */
const byLine = `
import h5py, json, sys
import numpy as np
kinds = ["first_use", "invalidated", "capacity", "conflict"]
path, (first, last, phases) = sys.argv[2], json.loads(sys.argv[3])
g = h5py.File(sys.argv[1], "r")[path]
at, phase = g["address"][:], g["phase"][:]
own = (at >= first) & (at < last) & (np.isin(phase, phases) if phases is not None else True)
lines, of = np.unique(at[own], return_inverse=True)
found = {"misses": g["misses"][:][own].sum()}
for kind in kinds:
    count = g[kind][:][own]
    by = np.bincount(of, count)
    found[kind] = {"sum": count.sum(), "worst": by.max(), "phases": np.bincount(phase[own], count, minlength=phase.max() + 1).tolist(),
                   "lines": {hex(line): n for line, n in zip(lines.tolist(), by.tolist()) if n > 0}}
print(json.dumps(found))`;
const linesOf = (t, file, level, from, to, phases = null) => JSON.parse(t.script('-c', byLine, t.file(file), `combined/${level}`, JSON.stringify([from, to, phases])));
const everywhere = [0, 2 ** 53];

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
        'causes: the picture itself says what the colours of counts over time stand for',
        async (t, page) => {
            t.run('run', 'lu', 'n=32', '-m', 'schulz2002', '--causes', '-o', 'key.h5');
            await t.open(page, t.file('key.h5'));
            await t.quiet(page);
            const svg = await t.saved(page, 'SVG');
            const all = t.json('show', 'key.h5').causes.L1.misses;
            const names = kinds.map((kind) => kind.replace('_', ' ')).filter((name) => svg.includes(`>${name}</text>`));
            t.equal(names.join(), kinds.filter((kind) => sum(all.map((each) => each[kind])) > 0).map((kind) => kind.replace('_', ' ')).join(), 'those that it has');
            for (const name of names) {
                const [, colour] = new RegExp(`fill="(#[0-9a-f]{6})"[^>]*/>\\s*<text[^>]*>${name}</text>`).exec(svg);
                const bar = await page.evaluate(`[...document.querySelectorAll('[aria-label="Why"] li')].find((each) => each.title.startsWith('${name}: ')).querySelector('i').style.background`);
                t.equal(`rgb(${[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).join(', ')})`, bar, `${name}, as in the details`);
            }
        },
    ],
    [
        'causes: what helps lines that are brushed is told by what evicts their data structure',
        async (t, page) => {
            t.run('run', 'lu', 'n=128', '-m', 'schulz2002', '--causes', '-o', 'brushed.h5');
            const remedies = [];
            for (const selected of ['structure=A', 'sel=0x10005000-0x10008000']) {
                await t.open(page, t.file('brushed.h5'), `level=L1&phases=4&${selected}`);
                await t.until(page, `document.querySelector('[data-tile="remedy"]') && !document.querySelector('[aria-busy="true"]')`, 'the answer');
                remedies.push(await page.locator('[data-tile="remedy"] strong').innerText());
                t.check((await page.locator('[data-tile="remedy"]').innerText()).includes('A evicts its own lines'), selected);
            }
            t.equal(remedies[1], remedies[0], 'of a part of A as of all of it');
        },
    ],
    [
        'causes: a run without them says how to get them; a report has them; a small screen',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            t.check((await page.locator('[data-tile=why]').textContent()).includes('without --causes'), 'the tile');
            t.run('run', 'lu', 'n=64', '-m', 'x86-desktop', '--causes', '-o', 'victims.h5', '--force');
            await t.open(page, t.file('victims.h5'), 'level=L3');
            const tiles = await Promise.all(['why', 'remedy'].map((id) => page.locator(`[data-tile=${id}]`).textContent()));
            t.check(tiles[0].includes('not known for victim and exclusive levels') && tiles[1].includes('another level'), `a level whose causes are not told: ${tiles}`);
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
                        for (const any of ['L1D', 'L2', 'L3', 'DTLB']) t.equal(of(`${any} misses`), each.misses[any], `misses of ${name} in ${any}, beside ${level}`);
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
    [
        'causes by line: field, histogram, worst lines and Python are of the lines themselves',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const told = linesOf(t, 'lu2.h5', 'L1', ...everywhere);
            for (const kind of ['first_use', 'capacity', 'conflict']) {
                const name = kind.replace('_', ' ');
                await t.open(page, t.file('lu2.h5'), `level=L1&cause=${name}`);
                t.equal(Object.values(await page.evaluate('cachetally.current.totals()'))[0], told[kind].sum, `${kind} in all`);
                const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
                const sums = rows.map((row) => Number(row[head.indexOf('sum')]));
                t.near(sum(sums), told[kind].sum, `${kind} in the table`);
                const starts = rows.map(([address]) => Number(address));
                const own = new Array(rows.length).fill(0);
                for (const [line, count] of Object.entries(told[kind].lines)) own[starts.findLastIndex((start) => start <= Number(line))] += count;
                t.equal(sums.filter((each, i) => Math.abs(each - own[i]) > 1e-6).length, 0, `${kind} by columns of ${rows.length}`);
                const cells = await page.evaluate(`(async () => {
                    const { source } = cachetally;
                    const axis = await source.axis(source.info.series.filter(({ kind }) => kind === 'level').map(({ id }) => id));
                    const { rows, columns, sum } = await source.ask('heat', 'combined/L1#${kind}', 'misses', axis, 0, axis.bytes, 512, ${told[kind].phases.length});
                    return Array.from({ length: rows }, (_, row) => sum.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b, 0));
                })()`);
                t.equal(cells.length, told[kind].phases.length, 'rows of cells');
                cells.forEach((count, phase) => t.near(count, told[kind].phases[phase], `${kind} in the cells of phase ${phase}`, 1e-6));
                t.check(!(await t.saved(page, 'SVG')).includes('spread over'), 'nothing is spread');
                const [, [, worst]] = await tableRows(page, 'Worst lines');
                t.equal(number(worst), told[kind].worst, `${kind} of the worst line`);
                t.equal(found(await snippetSays(t, page), /sum ([\d.]+)/), told[kind].sum, `${kind} in Python`);
            }
        },
    ],
    [
        'causes by line: details, phases, table and answer of selected addresses; by core all is spread, and said',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--per-core', '-o', 'lines.h5');
            await t.open(page, t.file('lines.h5'), 'level=L1D');
            const [one] = await page.evaluate(`cachetally.source.info.structures.filter(({ name }) => name === 'key_from').map(({ base, bytes }) => [Number(base), bytes])`);
            const [from, to] = [one[0] - (one[0] % 64) + 64 * 40, one[0] - (one[0] % 64) + 64 * 300];
            const range = `sel=0x${from.toString(16)}-0x${to.toString(16)}`;
            for (const phases of [null, [3, 5]]) {
                const told = linesOf(t, 'lines.h5', 'L1D', from, to, phases);
                for (const kind of ['', ...kinds].filter((each) => !each || told[each].sum > 0)) {
                    const name = kind.replace('_', ' ');
                    await t.open(page, t.file('lines.h5'), `show=misses&level=L1D&${range}&cause=${name}${phases ? `&phases=${phases}` : ''}`);
                    for (const each of kinds.filter((some) => told[some].sum > 0)) {
                        const bar = await page.locator(`.details [aria-label=Why] li[title^="${each.replace('_', ' ')}:"]`).getAttribute('title');
                        t.equal(number(bar.split(': ')[1].split(' ')[0]), told[each].sum, `${each} of the selected lines`);
                    }
                    const [head, ...rows] = await tableRows(page, 'Data structures');
                    const titles = head.map((each) => each.replace(/ [▲▼]$/, ''));
                    for (const each of kinds) t.equal(sum(rows.map((row) => number(row[titles.indexOf(each.replace('_', ' '))]))), told[each].sum, `${each} in the table`);
                    t.check((await page.innerText('.details')).includes('Evictions, code and cores are of key_from as a whole.'), 'what is of wholes');
                    const numbers = (await page.locator('.details dl.numbers').innerText()).replace(/\s+/g, ' ');
                    t.check(numbers.includes(` misses ${told.misses.toLocaleString('en-US')} `), `misses: ${numbers}`);
                    if (kind) {
                        t.check(numbers.endsWith(` ${name} ${told[kind].sum.toLocaleString('en-US')}`), `${kind}: ${numbers}`);
                        t.equal(number((await tableRows(page, 'Worst lines'))[1][1]), told[kind].worst, 'the worst line');
                        t.equal(found(await snippetSays(t, page), /sum ([\d.]+)/), told[kind].sum, 'Python');
                    }
                    const tile = await page.locator('[data-tile=why]').innerText();
                    const most = kinds.reduce((a, b) => (told[b].sum > told[a].sum ? b : a));
                    t.check(tile.includes(name || most.replace('_', ' ')), `why: ${tile}`);
                    t.check((await page.locator('.sentence').textContent()).includes(' to the selected lines'), 'the sentence');
                }
                const time = await page.evaluate(`(async () => {
                    const { source } = cachetally;
                    const axis = await source.axis(source.info.series.filter(({ kind }) => kind === 'level').map(({ id }) => id));
                    const { start, base } = axis.segments.findLast(({ base }) => base <= ${from}n);
                    return (await source.ask('phaseSums', 'combined/L1D', axis, [${from}, ${to}].map((at) => start + at - Number(base)))).slice(2).map((each) => [...each]);
                })()`);
                const all = linesOf(t, 'lines.h5', 'L1D', from, to);
                kinds.forEach((each, i) => all[each].phases.forEach((count, phase) => t.equal(time[i][phase], count, `${each} in phase ${phase}`)));
            }
            await t.open(page, t.file('lines.h5'), `show=misses&level=L1D&cause=invalidated&core=core 1`);
            t.check((await t.saved(page, 'SVG')).includes('spread over each data structure'), 'of a core causes are spread');
            await page.evaluate(`cachetally.set({ core: '' })`);
            await t.quiet(page);
            t.check(!(await t.saved(page, 'SVG')).includes('spread over'), 'of all they are not');
        },
    ],
    [
        'causes by line: of two files both, or none',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'lu', 'n=128', '-m', 'schulz2002', '--causes', '-o', 'rows.h5');
            withoutLines(t, 'rows.h5', 'rows-older.h5');
            const [a, b] = ['lu2.h5', 'rows.h5'].map((file) => linesOf(t, file, 'L1', ...everywhere).conflict.sum);
            for (const [file, spread] of [['rows.h5', false], ['rows-older.h5', true]]) {
                await t.open(page, t.file('lu2.h5'), 'show=misses&level=L1&cause=conflict');
                await t.compare(page, t.file(file));
                await t.until(page, 'cachetally.others.length === 1', 'the second file');
                for (const shown of ['', 'difference']) {
                    await page.evaluate(`cachetally.set({ view: 'workbench', file: '${shown}', show: 'misses', level: 'L1', cause: 'conflict' })`);
                    await t.quiet(page);
                    t.equal((await t.saved(page, 'SVG')).includes('spread over each data structure'), spread, `${file}, ${shown}: spread`);
                }
                const told = await page.evaluate(`Object.values(cachetally.current.totals())`);
                t.equal(told.slice(0, 2).join(), [a, b].join(), `${file}: conflicts of both`);
            }
        },
    ],
];
