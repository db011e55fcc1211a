// SPDX-License-Identifier: BSD-3-Clause
// Of two files each view shows the one or the other, and how much the second has more.
import { number, tableRows } from './screen.mjs';

const misses = ({ load_misses, store_misses, fetch_misses }) => load_misses + store_misses + fetch_misses;

async function both(t, page, first, second, hash) {
    await t.open(page, t.file(first), hash);
    await t.compare(page, t.file(second));
    await t.until(page, 'cachetally.others.length === 1', 'the second file');
    await t.quiet(page);
}

/** What a picture saves as CSV, by column. */
async function saved(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.match(/("[^"]*"|[^,]*)(,|$)/g).map((each) => each.replace(/,$/, '').replace(/"/g, '')));
    return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
}

export const twoFileCases = [
    [
        'two files of trackers: the page tells which is of what',
        async (t, page) => {
            const files = { 'hot-lu.h5': ['lu', 'n=32'], 'hot-radix.h5': ['radix', 'keys=2000'] };
            for (const [file, words] of Object.entries(files)) t.run('trackers', ...words, '-m', 'schulz2002', '--counters', '16', '-o', file);
            const [first, second] = Object.keys(files);
            await t.open(page, t.file(first));
            await t.compare(page, t.file(second));
            await t.quiet(page);
            const facts = await page.locator('.facts').innerText();
            t.check(facts.startsWith('lu n=32 on schulz2002\n') && facts.endsWith('hot-radix.h5: radix keys=2000 on schulz2002'), facts);
            t.equal(await page.locator('.table-box[aria-label^="Trackers on"]').count(), 2, 'tables');
            await t.press(page, 'Tables');
            t.check(!(await page.locator('.facts').innerText()).includes('radix'), 'where one file is shown, that one');
        },
    ],
    [
        'two files: field, details, tables and topology of either, by button and by key',
        async (t, page) => {
            const told = ['lu.h5', 'lu2.h5'].map((name) => t.json('show', name));
            await both(t, page, 'lu.h5', 'lu2.h5');
            t.equal(await page.evaluate('`${cachetally.shown} ${cachetally.state.file}`'), 'workbench difference', 'what a second file is for');
            await page.evaluate(`cachetally.set({ view: 'compare' })`);
            t.equal(await page.locator('.files button[aria-pressed="true"]').innerText(), 'B − A', 'in Compare both are shown');
            await t.press(page, 'B');
            t.equal(await page.evaluate('`${cachetally.shown} ${cachetally.state.file}`'), 'workbench b', 'one of them alone');
            await page.evaluate(`cachetally.set({ view: 'workbench', file: '', show: 'misses', level: 'L1' })`);
            for (const [i, press] of [[0, null], [1, () => t.press(page, 'B')], [0, () => t.press(page, 'A')], [1, () => page.keyboard.press('b')]]) {
                await press?.();
                await t.quiet(page);
                const { L1 } = told[i].levels;
                const name = ['lu.h5', 'lu2.h5'][i];
                t.equal((await page.evaluate('cachetally.current.totals()')).L1, misses(L1), `misses of L1 in ${name}`);
                const shown = await page.evaluate(`[...document.querySelectorAll('.numbers dd')].map((each) => each.textContent)`);
                t.equal(number(shown[2].split(' ')[0]), misses(L1), `misses in the details of ${name}`);
                const rows = await tableRows(page, 'Data structures');
                const column = rows[0].indexOf('L1 misses');
                t.equal(rows.slice(1).reduce((sum, row) => sum + number(row[column]), 0), misses(L1), `misses by data structure in ${name}`);
                t.check((await page.locator('.facts').textContent()).includes(name), `the name of ${name}`);
            }
            await page.evaluate(`cachetally.set({ file: 'a', sel: '0x10005000-0x10008000' })`);
            for (const name of ['B', 'B − A', 'A']) {
                await t.press(page, name);
                t.equal(await page.evaluate('cachetally.state.sel'), '0x10005000-0x10008000', `what is selected in ${name}, where data lie at the same addresses`);
            }
            await page.evaluate(`cachetally.set({ view: 'topology', file: 'b', sel: '' })`);
            await t.quiet(page);
            const link = (await saved(t, page)).find((row) => row.link === 'L1-L2');
            t.equal(Number(link.loads), told[1].levels.L2.loads, 'loads of L2 in the second file');
            await t.press(page, 'B − A');
            t.equal(await page.evaluate('cachetally.shown'), 'compare', 'what shows the difference');
            t.equal(await page.evaluate('cachetally.source.info.name'), 'lu.h5', 'Compare has the files in order');
        },
    ],
    [
        'two files: the field subtracts the first from the second, of all phases and of some, as h5py and its own Python do',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await both(t, page, 'lu.h5', 'lu2.h5');
            for (const phases of ['', '3-5']) {
                await page.evaluate(`cachetally.set({ view: 'workbench', file: 'difference', show: 'misses', level: 'L1', phases: '${phases}' })`);
                await t.quiet(page);
                const sums = JSON.parse(
                    t.script(
                        '-c',
                        `import h5py, json
def misses(name):
    g = h5py.File(name, "r")["combined/L1"]
    p = g["phase"][:]
    return float(g["misses"][:][${phases ? '(p >= 3) & (p <= 5)' : 'p >= 0'}].sum())
print(json.dumps([misses("lu.h5"), misses("lu2.h5")]))`,
                    ),
                );
                const totals = Object.values(await page.evaluate('cachetally.current.totals()'));
                t.equal(totals.join(), [...sums, sums[1] - sums[0]].join(), `misses in phases '${phases}'`);
                const rows = await saved(t, page);
                t.equal(rows.reduce((sum, row) => sum + Number(row['B − A sum']), 0), sums[1] - sums[0], 'the difference in the table');
                await t.choose(page, /^Show a Python/);
                const code = await page.locator('dialog pre').textContent();
                await t.press(page, 'Close');
                t.equal(Number(/difference (-?[\d.]+)/.exec(t.script('-c', code))[1]), sums[1] - sums[0], 'the difference in Python');
            }
        },
    ],
    [
        'two files: tables and details of B − A are those of B less those of A',
        async (t, page) => {
            for (const [name, layout] of [['caused1.h5', 'noncontiguous'], ['caused2.h5', 'contiguous']])
                t.run('run', 'lu', 'n=64', `layout=${layout}`, '-m', 'schulz2002', '--causes', '-o', name);
            await both(t, page, 'caused1.h5', 'caused2.h5', 'show=misses&level=L1');
            const column = async (caption, heads, state) => {
                await page.evaluate(`cachetally.set(${JSON.stringify({ phases: '', ...state })})`);
                await t.quiet(page);
                const [head, ...rows] = await tableRows(page, caption);
                const places = heads.map((name) => head.findIndex((each) => each.startsWith(name)));
                t.check(places.every((place) => place > 0), `${heads} in ${head}`);
                return new Map(rows.map((row) => [row.slice(0, caption.startsWith('What') ? 2 : 1).join(), places.map((place) => number(row[place]))]));
            };
            for (const [caption, name] of [['Data structures', 'L1 misses'], ['What evicts what', 'lines']]) {
                const [a, b] = [await column(caption, [name], { file: '' }), await column(caption, [name], { file: 'b' })];
                const found = await column(caption, ['A: ', 'B: ', 'B − A'], { file: 'difference' });
                t.check(found.size > 0 && [...a.keys(), ...b.keys()].every((key) => found.has(key)), `${caption}: ${[...found.keys()]}`);
                for (const [key, shown] of found) {
                    const [x, y] = [a, b].map((each) => each.get(key)?.[0] ?? 0);
                    t.equal(shown.join(), [x, y, y - x].join(), `${caption}: ${key}`);
                }
                const changes = [...found.values()].map(([, , change]) => Math.abs(change));
                t.equal(changes.join(), [...changes].sort((p, q) => q - p).join(), 'what differs most is first');
            }
            const counts = new Map((await tableRows(page, 'Counts')).slice(1).map(([name, ...values]) => [name, values.map(number)]));
            const [own, theirs] = ['caused1.h5', 'caused2.h5'].map((name) => misses(t.json('show', name).levels.L1));
            t.equal(counts.get('misses').join(), [theirs - own, own, theirs].join(), 'misses in the details');
            const causes = ['first use', 'invalidated', 'capacity', 'conflict'].map((name) => counts.get(name));
            t.equal(causes.reduce((sum, [change]) => sum + change, 0), theirs - own, 'causes in the details');
            // of a cause, and of it in a data structure
            let all;
            for (const [state, name] of [[{ structure: '', cause: 'conflict' }, null], [{ structure: 'A', cause: 'conflict' }, 'conflict']]) {
                const wanted = [];
                for (const file of ['', 'b']) {
                    const rows = await column('Data structures', [name ?? 'conflict'], { sel: '', ...state, file });
                    wanted.push(name ? rows.get('A')[0] : [...rows.values()].reduce((sum, [each]) => sum + each, 0));
                }
                const found = await column('Data structures', ['A: ', 'B: ', 'B − A'], { sel: '', ...state, file: 'difference' });
                if (name) t.equal(found.get('A').join(), [...wanted, wanted[1] - wanted[0]].join(), 'A in the details');
                const totals = Object.values(await page.evaluate('cachetally.current.totals()'));
                if (!state.structure) all = wanted; // the field has all, of which the structure is selected
                t.equal(totals.join(), [...all, all[1] - all[0]].join(), JSON.stringify(state));
                if (!t.python) continue;
                await t.choose(page, /^Show a Python/);
                const code = await page.locator('dialog pre').textContent();
                await t.press(page, 'Close');
                const sums = /^sums (\S+) (\S+) difference /m.exec(t.script('-c', code)).slice(1).map(Number);
                t.equal(sums.join(), wanted.join(), `Python of ${JSON.stringify(state)}`);
            }
            t.run('run', 'lu', 'n=64', 'layout=contiguous', '-m', 'schulz2002', '-o', 'caused3.h5');
            await both(t, page, 'caused1.h5', 'caused3.h5', 'show=misses&level=L1&cause=conflict');
            t.check((await t.saved(page, 'SVG')).includes('Not subtracted: this is of A'), 'causes that the second file does not know');
            await page.evaluate(`cachetally.set({ cause: '' })`);
            await t.quiet(page);
            t.equal((await tableRows(page, 'What evicts what')).length, 0, 'evictions that the second file does not know');
            t.check((await tableRows(page, 'Data structures')).length > 0, 'what both know is subtracted');
            await t.press(page, 'B');
            t.check(!(await t.saved(page, 'SVG')).includes('subtracted'), 'the second file alone');
        },
    ],
    [
        'two files: a level and its counterpart of another name, by key',
        async (t, page) => {
            t.run('run', 'lu', 'n=32', '-m', 'generic3', '-o', 'named-otherwise.h5');
            await both(t, page, 'lu.h5', 'named-otherwise.h5');
            await page.evaluate(`cachetally.set({ view: 'workbench', file: '', show: 'misses', level: 'L1' })`);
            for (const [file, level] of [['b', 'L1D'], ['difference', 'L1'], ['a', 'L1'], ['b', 'L1D']]) {
                await page.keyboard.press('b');
                await t.quiet(page);
                t.equal(await page.evaluate('`${cachetally.state.file ?? ""} ${cachetally.state.level}`'), `${file} ${level}`, 'what is shown');
            }
            await t.press(page, 'A');
            const link = await page.evaluate('location.href.split("#")[1]');
            await both(t, page, 'lu.h5', 'named-otherwise.h5', link);
            t.equal(await page.evaluate('cachetally.state.file'), 'a', 'what a link to the first shows');
            await t.press(page, 'B');
            await page.evaluate(`cachetally.set({ level: 'L3' })`);
            await page.keyboard.press('b');
            t.equal(await page.evaluate('cachetally.state.level'), 'L3', 'a level without counterpart keeps its name');
        },
    ],
    [
        'two files: the one and the other have one scale of colours, histogram and counts by phase, and say so',
        async (t, page) => {
            const scales = async () => {
                const texts = [...(await t.saved(page, 'SVG')).matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
                const at = texts.findIndex((text) => text.startsWith('misses per line of'));
                const key = texts.indexOf('0', texts.indexOf('0', at) + 1); // behind the 0 of the histogram
                return { ticks: texts.slice(at + 1, key).join(), said: texts[at], end: texts[key + 1], phases: texts[texts.indexOf('phase') + 1] };
            };
            const hash = 'show=misses&level=L1&scale=linear';
            for (const [name, n] of [['few.h5', 32], ['many.h5', 96]]) t.run('run', 'lu', `n=${n}`, '-m', 'schulz2002', '-o', name);
            const alone = [];
            for (const name of ['few.h5', 'many.h5']) {
                await t.open(page, t.file(name), hash);
                alone.push(await scales());
            }
            t.check(alone.every(({ said }) => !said.includes('A and B')), 'one file has no other');
            for (const key of ['ticks', 'end', 'phases']) t.check(alone[0][key] !== alone[1][key], `${key} of either: ${alone[0][key]}`);
            await both(t, page, 'few.h5', 'many.h5', hash);
            for (const [file, zoom] of [['', ''], ['b', ''], ['', '0-1024'], ['b', '0-1024']]) {
                await page.evaluate(`cachetally.set({ file: '${file}', x: '${zoom}' })`);
                await t.quiet(page);
                const found = await scales();
                t.equal(found.said, 'misses per line of 16 B, one scale for A and B', 'what the histogram says');
                if (zoom === '') for (const key of ['ticks', 'phases']) t.equal(found[key], alone[1][key], `${key} of file '${file}'`);
                if (zoom === '') t.equal(found.end, `${alone[1].end} for A and B`, `legend of file '${file}'`);
                else if (file === '') alone.push(found);
                else t.equal(JSON.stringify(found), JSON.stringify(alone.at(-1)), 'what is zoomed');
            }
        },
    ],
    [
        'two files: search finds what only the other has, and shows that file',
        async (t, page) => {
            for (const cores of [1, 2]) t.run('run', 'lu', 'n=32', `processors=${cores}`, '-m', 'coherent8', '-o', `cores${cores}.h5`);
            await both(t, page, 'cores1.h5', 'cores2.h5');
            for (const [file, query, found, shown] of [['difference', 'stack1', 'data structure of B', 'b'], ['', 'stack1', 'data structure of B', 'b'], ['b', 'stack1', 'data structure', 'b'], ['b', 'stack0', 'data structure', 'b']]) {
                await page.evaluate(`cachetally.set({ view: 'workbench', file: '${file}', structure: '' })`);
                await t.quiet(page);
                await page.keyboard.press('/');
                await page.getByRole('combobox', { name: 'Search' }).fill(query);
                t.equal(await page.locator('#found li').first().innerText().then((text) => text.replace(/\s+/g, ' ')), `${query} ${found}`, `what is found from '${file}'`);
                await page.keyboard.press('Enter');
                await t.quiet(page);
                t.equal(await page.evaluate('[cachetally.state.file, cachetally.state.structure].join()'), [shown, query].join(), 'what is shown');
            }
        },
    ],
    [
        'two files: differences of percentages are in points',
        async (t, page) => {
            await both(t, page, 'lu.h5', 'lu2.h5');
            await page.evaluate(`cachetally.set({ file: 'difference', show: 'missrate', level: 'L1' })`);
            await t.quiet(page);
            const svg = await t.saved(page, 'SVG');
            t.check(/>0, −[\d.]+ points</.test(svg) && />±[\d.]+ points?</.test(svg) && svg.includes('difference of the rates in points'), 'legend, counts by phase and histogram');
            await page.evaluate(`cachetally.set({ view: 'compare' })`);
            const rows = (await tableRows(page, 'Caches: what differs')).filter((row) => row[1] === 'miss %');
            t.check(rows.length > 0, 'miss rates differ');
            for (const [, , a, b, change] of rows) {
                t.check(/ points?$/.test(change), change);
                t.near(parseFloat(change.replace('−', '-')), number(b) - number(a), 'the difference', 0.02);
            }
        },
    ],
    [
        'two files: sweeps by cell, and the difference of each metric',
        async (t, page) => {
            const sweep = (name, n, counters) => t.run('sweep', 'lu', `n=${n}`, '-m', 'schulz2002', '--counters', counters, '--granularity', '1,4', '--eviction', 'fifo,random', '-o', name);
            sweep('two1.h5', 32, '4,8');
            sweep('two2.h5', 48, '8,16');
            const cells = ['two1.h5', 'two2.h5'].map((name) => t.json('show', name).rows);
            const of = (list, eviction, granularity, counters) =>
                list.find((row) => row.eviction === eviction && String(row.granularity) === String(granularity) && row.counters === counters);
            await both(t, page, 'two1.h5', 'two2.h5');
            await page.evaluate(`cachetally.set({ view: 'sweep' })`);
            for (const eviction of ['fifo', 'random'])
                for (const [metric, column, key] of [['swapouts', 'Swap-outs, B − A', 'swapouts'], ['bytes', 'Bytes per event, B − A', 'bytes_per_event'], ['error', 'Error, B − A points', 'error']]) {
                    await page.evaluate(`cachetally.set({ file: 'difference', metric: '${metric}', eviction: '${eviction}' })`);
                    await t.quiet(page);
                    const rows = await saved(t, page);
                    t.equal(rows.length, 4, 'cells of the first');
                    for (const row of rows) {
                        const [a, b] = cells.map((list) => of(list, eviction, row.granularity, Number(row.counters)));
                        if (!b) t.check(row[column] === 'NaN', `a cell that the second does not have: ${row[column]}`);
                        else t.near(Number(row[column]), (key === 'error' ? 100 : 1) * (b[key] - a[key]), `${key} of ${eviction} ${row.granularity} ${row.counters}`);
                    }
                }
            await t.picture(page, 'sweep-difference');
            await t.press(page, 'B');
            const rows = await saved(t, page);
            t.equal(rows.map((row) => row['swap-outs']).join(), cells[1].filter((row) => row.eviction === 'random').map((row) => row.swapouts).join(), 'swap-outs of the second');
        },
    ],
    [
        'two files: intrusion experiments, and by how much the second costs more',
        async (t, page) => {
            t.run('intrusion', 'lu', 'n=48', '-m', 'generic3-timed', '--counters', '16,64', '--granularity', '1,4', '--drain', 'full', '--link', 'core-L1D', '-o', 'intrusion2.h5');
            const [a, b] = ['intrusion.h5', 'intrusion2.h5'].map((name) => t.json('show', name).rows.filter((row) => row.link === 'core-L1D'));
            await both(t, page, 'intrusion.h5', 'intrusion2.h5');
            await page.evaluate(`cachetally.set({ view: 'intrusion', level: 'core-L1D', file: 'difference' })`);
            await t.quiet(page);
            const totals = await page.evaluate('cachetally.current.totals()');
            for (const { granularity, drain, counters, extra_cycles } of a) {
                const twin = b.find((row) => String(row.granularity) === String(granularity) && row.counters === counters && row.drain === drain);
                const found = totals[`${granularity},${drain},${counters}`];
                if (twin) t.equal(found, twin.extra_cycles - extra_cycles, `extra cycles of ${granularity} ${drain} ${counters}`);
                else t.check(found === null || Number.isNaN(found), `a configuration that the second does not have: ${found}`);
            }
            t.check(b.length === 4, 'configurations of both');
            await t.press(page, 'B');
            t.equal((await page.evaluate('cachetally.current.totals()'))['4,full,64'], b.find((row) => String(row.granularity) === '4' && row.counters === 64).extra_cycles, 'of the second');
        },
    ],
    [
        'elements of two-dimensional arrays are named by row and column',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('matmul.h5'), 'show=misses&level=L1D');
            const expected = JSON.parse(
                t.script(
                    '-c',
                    `import h5py, json
f = h5py.File("matmul.h5", "r")
s = f["structures"]
places = list(zip(s["name"].asstr()[:], s["base"][:].tolist(), s["bytes"][:].tolist()))
def named(address):
    for name, base, size in places:
        if base <= address < base + size:
            element = (address - base) // 8
            return f"{name} [{element // 32}][{element % 32}] +{hex(address - base)}" if name in "ABC" else name
print(json.dumps([named(address) for address in sorted(set(f["combined/L1D/address"][:].tolist()))]))`,
                ),
            );
            const rows = (await tableRows(page, 'Lines with most')).slice(1).map(([name]) => name);
            t.check(rows.length > 5 && rows.some((name) => name.includes('][')), rows.join('|'));
            for (const name of rows) if (/^[ABC] /.test(name)) t.check(expected.includes(name), `${name} is a line of the file`);
        },
    ],
];
