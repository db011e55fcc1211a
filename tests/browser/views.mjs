// SPDX-License-Identifier: BSD-3-Clause
// Every view: what it shows is what the file holds.
import { box, number, tableRows } from './screen.mjs';

const levelSum = (level, names) => names.reduce((sum, name) => sum + level[name], 0);
const accesses = (level) => levelSum(level, ['loads', 'stores', 'fetches']);
const misses = (level) => levelSum(level, ['load_misses', 'store_misses', 'fetch_misses']);

export const viewCases = [
    [
        'histogram: accesses, misses and rates of every level',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'));
            let totals = await page.evaluate('cachetally.current.totals()');
            for (const name of ['L1', 'L2']) t.equal(totals[name], accesses(told.levels[name]), `accesses of ${name}`);
            await t.picture(page, 'histogram');
            await t.press(page, 'Misses');
            totals = await page.evaluate('cachetally.current.totals()');
            for (const name of ['L1', 'L2']) t.equal(totals[name], misses(told.levels[name]), `misses of ${name}`);
            await t.press(page, 'Miss rate');
            totals = await page.evaluate('cachetally.current.totals()');
            t.near(totals.L1, misses(told.levels.L1) / accesses(told.levels.L1), 'miss rate of L1');
            await t.press(page, 'Counted by monitors');
            totals = await page.evaluate('cachetally.current.totals()');
            for (const [name, monitor] of Object.entries(told.monitors))
                t.equal(totals[name], monitor.events - monitor.lost, `events of monitor ${name}`);
        },
    ],
    [
        'histogram: one phase, and where its misses went',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'show=misses&phases=4');
            const rows = await tableRows(page, 'Data structures');
            const a = rows.find((row) => row[0] === 'A');
            const column = rows[0].indexOf('L1 misses');
            const [total] = [await page.evaluate('cachetally.current.totals().L1')];
            t.equal(
                total,
                rows.slice(1).reduce((sum, row) => sum + number(row[column]), 0),
                'misses of L1 in phase 4',
            );
            const phase = told.phases[4];
            const shown = phase.levels?.L1 ?? phase.L1;
            if (shown) t.equal(total, misses(shown), 'misses of L1 in phase 4');
            const alone = t.json(
                'show',
                'lu.h5',
                '--level',
                'L1',
                '--structure',
                'A',
                '--phase',
                '4',
                '--what',
                'misses',
            );
            if (alone.histogram?.sum !== undefined) t.equal(number(a[column]), alone.histogram.sum, 'misses in A');
            t.check(number(a[column]) > 40000, 'the matrix misses most');
            await t.picture(page, 'phase4');
        },
    ],
    [
        'histogram: zoom by wheel, drag, keys and click; the URL keeps the place',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const { x, y, width } = await box(page, 'canvas.zooms');
            const place = async () => {
                await t.quiet(page);
                await new Promise((resolve) => setTimeout(resolve, 250));
                return page.evaluate('(/x=([0-9]+)-([0-9]+)/.exec(location.hash) ?? []).slice(1).map(Number)');
            };
            await page.mouse.move(x + width / 2, y + 100);
            await page.mouse.wheel(0, -200);
            const first = await place();
            t.check(first.length === 2 && first[1] - first[0] < 100000, `the wheel zooms: ${first}`);
            await page.mouse.move(x + width * 0.3, y + 100);
            await page.mouse.down();
            await page.mouse.move(x + width * 0.5, y + 100, { steps: 2 });
            await page.mouse.up();
            const second = await place();
            t.check(second[1] - second[0] < (first[1] - first[0]) * 0.3, `dragging selects: ${second}`);
            await page.locator('canvas.zooms').first().press('ArrowRight');
            const third = await place();
            t.check(
                third[0] > second[0] && Math.abs(third[1] - third[0] - (second[1] - second[0])) <= 2,
                `arrows move: ${third}`,
            );
            await page.mouse.click(x + width / 2, y + 60);
            await t.until(page, `document.querySelector('.lines table')`, 'the lines behind a column');
            const rows = await page.locator('.lines tbody tr').count();
            t.check(rows > 0 && rows <= 200, `${rows} lines`);
            await t.picture(page, 'lines');
            await page.locator('canvas.zooms').first().press('0');
            t.equal((await place()).length, 0, 'all is shown');
            await t.press(page, 'A');
            const matrix = await place();
            t.near(matrix[1] - matrix[0], 131072, 'width of the matrix', 1e-3);
        },
    ],
    [
        'histogram: table, CSV and SVG say the same',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'show=misses');
            const csv = (await t.saved(page, 'CSV'))
                .trim()
                .split('\n')
                .map((line) => line.split(','));
            const column = csv[0].indexOf('L1 sum');
            t.equal(
                csv.slice(1).reduce((sum, row) => sum + Number(row[column]), 0),
                misses(told.levels.L1),
                'sum of the CSV file',
            );
            const svg = await t.saved(page, 'SVG');
            t.check(
                svg.startsWith('<svg') && svg.includes('misses per line of 16 B') && svg.trimEnd().endsWith('</svg>'),
                'SVG',
            );
            t.check(
                await page.evaluate(
                    `new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') === null`,
                ),
                'SVG is well-formed',
            );
            await t.press(page, 'Table');
            t.check(
                (await page.locator('.behind tbody tr').count()) > 100,
                'rows behind the picture',
            );
        },
    ],
    [
        'histogram: the Python snippet reads the same numbers',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&phases=3-5');
            const total = await page.evaluate('cachetally.current.totals().L1');
            await t.press(page, 'Python');
            const code = await page.locator('dialog pre').textContent();
            const [, sum] = /combined\/L1 sum ([0-9.]+)/.exec(t.script('-c', code));
            t.equal(Number(sum), total, 'sum that Python finds');
            await t.press(page, 'Close');
        },
    ],
    [
        'histogram: events on links',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'show=link:write_back');
            t.equal(
                await page.evaluate(`cachetally.current.totals()['L1-L2']`),
                told.levels.L1.writebacks_out,
                'write-backs of L1',
            );
        },
    ],
    [
        'phases: a list that is none is told',
        async (t, page) => {
            const count = t.json('show', 'lu.h5').phases.length;
            await t.open(page, t.file('lu.h5'));
            const field = page.getByLabel('Phases, as in 4 or 3,5-7; empty for all');
            for (const [text, words] of [
                ['99', `'99': there are ${count} phases, numbered from 0. Shown: all phases.`],
                ['x', `'x' is no phase; write e.g. 4 or 3,5-7. Shown: all phases.`],
                ['7-3', `'7-3' ends before it begins. Shown: all phases.`],
                ['-1', `'-1' is no phase; write e.g. 4 or 3,5-7. Shown: all phases.`],
                ['3, 5-99', `'5-99': there are ${count} phases, numbered from 0.`],
                ['3,5-7', '4 of'],
            ]) {
                await field.fill(text);
                await field.press('Enter');
                await t.quiet(page);
                const note = await page.locator('#phases-note').textContent();
                t.check(note.startsWith(words), `${text}: ${note}`);
                t.equal(await field.getAttribute('aria-invalid'), String(text !== '3,5-7'), `${text} is marked`);
            }
            await t.open(page, t.file('lu.h5'), 'phases=99');
            t.equal(await field.inputValue(), '99', 'what the URL says stays');
        },
    ],
    [
        'phases: sum check, small multiples',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'view=phases&show=misses&level=L1');
            const told = t.json('show', 'lu.h5');
            const text = await t.until(
                page,
                `/✓|✗/.test(document.querySelector('.sum-check').textContent) && document.querySelector('.sum-check').textContent`,
                'the sum check',
            );
            t.check(text.includes('✓') && text.includes(misses(told.levels.L1).toLocaleString('en')), text);
            await t.picture(page, 'phases');
        },
    ],
    [
        'phases: heat map and difference',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'view=phases&mode=heat&show=misses&level=L1');
            const told = t.json('show', 'lu.h5');
            const csv = (await t.saved(page, 'CSV'))
                .trim()
                .split('\n')
                .slice(1)
                .map((line) => line.split(','));
            t.near(
                csv.reduce((sum, [, lines, ...means]) => sum + lines * means.reduce((a, b) => a + Number(b), 0), 0),
                misses(told.levels.L1),
                'means times lines of the heat map',
                1e-6,
            );
            await t.picture(page, 'heat');
            await t.press(page, 'Difference');
            await t.picture(page, 'difference');
            t.check(
                (await page.locator('canvas.zooms').first().getAttribute('aria-label')).includes(
                    'difference',
                ),
                'accessible name',
            );
        },
    ],
    [
        'fingers: one moves, two zoom',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'x=20000-60000');
            const { x, y, width } = await box(page, 'canvas.zooms');
            const protocol = await page.context().newCDPSession(page); // playwright-core has one finger only
            const touch = (type, ...points) =>
                protocol.send('Input.dispatchTouchEvent', {
                    type,
                    touchPoints: points.map(([share, id]) => ({ x: x + width * share, y: y + 90, id })),
                });
            const place = async () => {
                await t.quiet(page);
                await new Promise((resolve) => setTimeout(resolve, 250));
                return page.evaluate('(/x=([0-9]+)-([0-9]+)/.exec(location.hash) ?? []).slice(1).map(Number)');
            };
            await touch('touchStart', [0.6, 0]);
            for (const share of [0.55, 0.5, 0.45, 0.4]) await touch('touchMove', [share, 0]);
            await touch('touchEnd');
            const [from, to] = await place();
            t.check(from > 24000 && Math.abs(to - from - 40000) <= 2, `one finger moves: ${from} to ${to}`);
            await touch('touchStart', [0.45, 0]);
            await touch('touchStart', [0.45, 0], [0.55, 1]);
            for (const apart of [0.08, 0.12, 0.18, 0.25]) await touch('touchMove', [0.5 - apart, 0], [0.5 + apart, 1]);
            await touch('touchEnd', [0.25, 0]);
            await touch('touchEnd');
            const [nearer, farther] = await place();
            t.check(farther - nearer < 20000 && farther > nearer, `two zoom: ${nearer} to ${farther}`);
        },
    ],
    [
        'topology: traffic on the links, and from a link to its histogram',
        async (t, page) => {
            const told = t.json('show', 'matmul.h5');
            await t.open(page, t.file('matmul.h5'), 'view=topology');
            await t.press(page, 'Table');
            const rows = await page.evaluate(
                `[...document.querySelectorAll('.behind table tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
            );
            const link = rows.find((row) => row[0] === 'L1D-L2');
            t.equal(number(link[rows[0].indexOf('loads')]), told.levels.L2.loads, 'loads from L1D to L2');
            await t.press(page, 'Table');
            await t.picture(page, 'topology');
            await t.press(page, 'L1D-L2');
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.view'), 'histogram', 'view');
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), 'L1D-L2', 'panels');
        },
    ],
    [
        'topology: arrows and Enter, and buttons for caches',
        async (t, page) => {
            await t.open(page, t.file('matmul.h5'), 'view=topology');
            const machine = page.getByLabel('Machine', { exact: true }).locator('canvas');
            for (const name of ['L1D', 'L1D-L2']) {
                await page.evaluate(`cachetally.set({ view: 'topology' })`);
                await t.quiet(page);
                await machine.focus();
                const marked = () => page.evaluate(`document.activeElement.closest('.view').querySelector('.note[role=status]').textContent`);
                for (let i = 0; i < 20 && (i === 0 || (await marked()) !== name); ++i) await machine.press('ArrowRight');
                t.equal(await marked(), name, 'what is marked');
                await machine.press('Enter');
                await t.quiet(page);
                t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), name, 'panels');
            }
            await page.evaluate(`cachetally.set({ view: 'topology' })`);
            await t.press(page, 'L2');
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), 'L2', 'panels of the button');
        },
    ],
    [
        'tables: counters as the program tells them',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'view=tables');
            const rows = await tableRows(page, 'All counters of caches');
            const expected = rows.slice(1);
            t.check(expected.length >= 15, `${expected.length} counters`);
            for (const [name, l1, l2] of expected)
                for (const [level, text] of [
                    ['L1', l1],
                    ['L2', l2],
                ])
                    if (name in told.levels[level])
                        t.equal(number(text), told.levels[level][name], `${name} of ${level}`);
            await t.picture(page, 'tables');
        },
    ],
    [
        'compare: two layouts of the matrix',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'show=misses&level=L1');
            await t.compare(page, t.file('lu2.h5'));
            await t.until(page, 'cachetally.others.length === 1 && cachetally.state.view === "compare"', 'the comparison');
            await t.quiet(page);
            const [a, b] = ['lu.h5', 'lu2.h5'].map((name) => misses(t.json('show', name).levels.L1));
            const totals = Object.values(await page.evaluate('cachetally.current.totals()'));
            t.equal(totals[0], a, 'misses of the first');
            t.equal(totals[1], b, 'misses of the second');
            t.equal(totals[2], b - a, 'difference');
            await t.picture(page, 'compare');
        },
    ],
    [
        'a link of the topology tells of all its kinds of events',
        async (t, page) => {
            await t.open(page, t.file('matmul.h5'), 'view=topology');
            await t.press(page, 'L1D-L2');
            const kinds = await page.evaluate(
                `[...document.querySelectorAll('[aria-label="All that is on L1D-L2"] button')].map((each) => [each.textContent.split(' ')[0], each.getAttribute('aria-pressed')])`,
            );
            t.check(kinds.length > 1 && kinds.filter(([, pressed]) => pressed === 'true').length === 1, JSON.stringify(kinds));
            t.check(kinds.every(([name]) => /^[A-Z]/.test(name)), `names of kinds: ${JSON.stringify(kinds)}`);
        },
    ],
    [
        'NUMA: requests of the own node and of others, and how many cores',
        async (t, page) => {
            t.run('run', 'lu', 'n=32', 'processors=8', '-m', 'numa4', '-o', 'numa.h5');
            const { numa } = t.json('show', 'numa.h5');
            await t.open(page, t.file('numa.h5'), 'view=tables');
            const [head, ...rows] = await page.evaluate(
                `[...[...document.querySelectorAll('.view table')].find((each) => /^NUMA/.test(each.caption?.textContent)).rows].map((row) => [...row.cells].map((cell) => cell.textContent))`,
            );
            for (const [memory, counts] of Object.entries(numa))
                for (const [counter, count] of Object.entries(counts))
                    t.equal(number(rows.find(([name]) => name === counter)[head.indexOf(memory)]), count, `${counter} of ${memory}`);
            await t.open(page, t.file('numa.h5'), 'view=topology');
            const drawn = await page.evaluate(
                `(() => { const texts = []; const before = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { texts.push(text); return before.call(this, text, ...rest); }; cachetally.current.update(); return new Promise((resolve) => setTimeout(() => { CanvasRenderingContext2D.prototype.fillText = before; resolve(texts); }, 300)); })()`,
            );
            t.check(drawn.includes('8 cores'), `the number of cores: ${drawn.join('|')}`);
            const sum = (where) => ['reads', 'writes', 'page_walks'].reduce((all, kind) => all + numa.M0[where + kind], 0);
            const [local, remote] = [sum('local_'), sum('remote_')];
            t.check(0 < local && local < 1000 && 0 < remote && remote < 1000, 'counts of M0 that are drawn in full');
            t.check(drawn.includes(String(local + remote)), 'the traffic on the link of M0 is both');
            t.check(drawn.includes(`local ${local}, remote ${remote} requests`), `requests of M0: ${drawn.join('|')}`);
            await t.picture(page, 'numa');
        },
    ],
];
