// SPDX-License-Identifier: BSD-3-Clause
// Every view: what it shows is what the file holds.
import { box, number, tableRows } from './screen.mjs';

const levelSum = (level, names) => names.reduce((sum, name) => sum + level[name], 0);
const accesses = (level) => levelSum(level, ['loads', 'stores', 'fetches']);
const misses = (level) => levelSum(level, ['load_misses', 'store_misses', 'fetch_misses']);

export const viewCases = [
    [
        'field: accesses, misses and rates of every level, what monitors counted, events on links',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'));
            const total = async (name) => (await page.evaluate('cachetally.current.totals()'))[name];
            for (const level of ['L1', 'L2']) {
                await t.press(page, level);
                await t.press(page, 'Misses');
                t.equal(await total(level), misses(told.levels[level]), `misses of ${level}`);
                await t.press(page, 'Accesses');
                t.equal(await total(level), accesses(told.levels[level]), `accesses of ${level}`);
                await t.press(page, 'Hits');
                t.equal(await total(level), accesses(told.levels[level]) - misses(told.levels[level]), `hits of ${level}`);
                await t.press(page, 'Miss rate');
                t.near(await total(level), misses(told.levels[level]) / accesses(told.levels[level]), `miss rate of ${level}`);
            }
            for (const [name, monitor] of Object.entries(told.monitors)) {
                await page.evaluate(`cachetally.set({ show: 'monitor', level: '${name}' })`);
                await t.quiet(page);
                t.equal(await total(name), monitor.events - monitor.lost, `events of monitor ${name}`);
            }
            await t.open(page, t.file('lu.h5'), 'show=link:write_back');
            t.equal(await total('L1-L2'), told.levels.L1.writebacks_out, 'write-backs of L1');
        },
    ],
    [
        'field: one phase, and where its misses went',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'phases=4');
            const rows = await tableRows(page, 'Data structures');
            const a = rows.find((row) => row[0] === 'A');
            const column = rows[0].indexOf('L1 misses');
            const total = await page.evaluate('cachetally.current.totals().L1');
            t.equal(total, rows.slice(1).reduce((sum, row) => sum + number(row[column]), 0), 'misses of L1 in phase 4');
            const phase = told.phases[4];
            const shown = phase.levels?.L1 ?? phase.L1;
            if (shown) t.equal(total, misses(shown), 'misses of L1 in phase 4');
            const alone = t.json('show', 'lu.h5', '--level', 'L1', '--structure', 'A', '--phase', '4', '--what', 'misses');
            if (alone.histogram?.sum !== undefined) t.equal(number(a[column]), alone.histogram.sum, 'misses in A');
            t.check(number(a[column]) > 40000, 'the matrix misses most');
            if (!t.pictures) return;
            t.run('run', 'lu', 'n=128', '-m', 'schulz2002', '--causes', '--reuse', '-o', 'why.h5');
            await t.open(page, t.file('why.h5'));
            await t.picture(page, 'workbench');
            await page.evaluate(`cachetally.set({ phases: '4' })`);
            await t.press(page, 'A');
            await t.picture(page, 'phase4');
        },
    ],
    [
        'field: zoom by wheel and keys, select by drag and click; the URL keeps both',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const { x, y, width } = await box(page, 'canvas.field');
            const hash = async () => {
                await t.quiet(page);
                await new Promise((resolve) => setTimeout(resolve, 250));
                return page.evaluate('location.hash');
            };
            const place = async () => (/[#&]x=([0-9]+)-([0-9]+)/.exec(await hash()) ?? []).slice(1).map(Number);
            const selected = async () => (/[#&]sel=(0x[0-9a-f]+)-(0x[0-9a-f]+)/.exec(await hash()) ?? []).slice(1).map(Number);
            await page.mouse.move(x + width / 2, y + 100);
            await page.mouse.wheel(0, -200);
            const first = await place();
            t.check(first.length === 2 && first[1] - first[0] < 100000, `the wheel zooms: ${first}`);
            await page.mouse.move(x + width * 0.3, y + 100);
            await page.mouse.down();
            await page.mouse.move(x + width * 0.5, y + 100, { steps: 2 });
            await page.mouse.up();
            const dragged = await selected();
            t.check(dragged.length === 2 && dragged[1] - dragged[0] < (first[1] - first[0]) * 0.4, `dragging selects: ${dragged}`);
            t.equal((await place()).join(), first.join(), 'what is in sight stays');
            await page.locator('canvas.field').press('Shift+ArrowRight');
            const third = await place();
            t.check(third[0] > first[0] && Math.abs(third[1] - third[0] - (first[1] - first[0])) <= 2, `Shift and arrows move: ${third}`);
            await page.locator('canvas.field').press('z');
            const zoomed = await place();
            t.near(zoomed[1] - zoomed[0], dragged[1] - dragged[0], 'z zooms to what is selected', 1e-3);
            await page.locator('canvas.field').press('0');
            t.equal((await place()).length, 0, 'all is shown');
            await page.mouse.click(x + width / 2, y + 100);
            const clicked = await selected();
            t.check(clicked.length === 2 && clicked[1] - clicked[0] <= 16 * 16, `a click selects the lines of a column: ${clicked}`);
            await page.locator('canvas.field').press('Escape');
            t.equal((await selected()).length, 0, 'nothing is selected');
            await t.press(page, 'A');
            await page.waitForFunction(() => /[#&]structure=A/.test(location.hash), null, { timeout: 10000 }).catch(() => undefined);
            await page.locator('canvas.field').press('z');
            const matrix = await place();
            t.near(matrix[1] - matrix[0], 131072, 'bytes of the matrix', 1e-3);
            await page.locator('canvas.field').press('0');
            t.equal((await place()).length, 0, 'all is shown again');
        },
    ],
    [
        'what TLBs and monitors count has words of its own',
        async (t, page) => {
            t.run('run', 'water', '-m', 'generic3', '-f', '-o', 'pages.h5');
            for (const [state, drawn, listed] of [
                ['level=DTLB', 'misses per page of 4 KiB', 'Pages with most misses'],
                ['level=L1D', 'misses per line of 64 B', 'Lines with most misses'],
                ['level=L1D&show=missrate', 'L1D', 'Lines with the highest miss rate'],
                ['show=monitor&level=core-L1D', 'events counted by monitors per line of 64 B', 'Lines with most events counted by monitors'],
            ]) {
                await t.open(page, t.file('pages.h5'), `show=misses&x=0-8192&${state}`);
                const svg = await t.saved(page, 'SVG');
                t.check(svg.includes(drawn), `${state}: ${drawn}`);
                t.check((await tableRows(page, listed)).length > 1, `${state}: ${listed}`);
            }
        },
    ],
    [
        'field: table, CSV and SVG say the same, phases too',
        async (t, page) => {
            const told = t.json('show', 'lu.h5');
            await t.open(page, t.file('lu.h5'), 'show=misses');
            const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
            const sum = (name) => rows.reduce((all, row) => all + Number(row[head.indexOf(name)]), 0);
            t.equal(sum('sum'), misses(told.levels.L1), 'sum of the CSV file');
            const means = rows.reduce((all, row) => all + Number(row[head.indexOf('lines')]) * row.slice(head.indexOf('lines') + 1).reduce((a, b) => a + Number(b), 0), 0);
            t.near(means, misses(told.levels.L1), 'lines times means of all phases', 1e-6);
            const svg = await t.saved(page, 'SVG');
            t.check(svg.startsWith('<svg') && svg.includes('misses per line of 16 B') && svg.trimEnd().endsWith('</svg>'), 'SVG');
            t.check(
                await page.evaluate(`new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') === null`),
                'SVG is well-formed',
            );
            await t.press(page, 'Table');
            t.check((await page.locator('.behind tbody tr').count()) > 100, 'rows behind the picture');
        },
    ],
    [
        'field: the Python snippet reads the same numbers',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&phases=3-5');
            const total = await page.evaluate('cachetally.current.totals().L1');
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            const [, sum] = /combined\/L1 sum ([0-9.]+)/.exec(t.script('-c', code));
            t.equal(Number(sum), total, 'sum that Python finds');
            await t.press(page, 'Close');
        },
    ],
    [
        'phases: a list that is none is told',
        async (t, page) => {
            const { phases, phases: { length: count } } = t.json('show', 'lu.h5');
            const diagonal = phases.filter(({ name }) => name === 'diagonal').length;
            await t.open(page, t.file('lu.h5'));
            const field = page.getByLabel('Phases, as in 4 or 3,5-7 or a name; empty for all');
            for (const [text, words] of [
                ['99', `'99': there are ${count} phases, numbered from 0. Shown: all phases.`],
                ['x', `'x' is no phase; write e.g. 4 or 3,5-7, or a name. Shown: all phases.`],
                ['7-3', `'7-3' ends before it begins. Shown: all phases.`],
                ['-1', `'-1' is no phase; write e.g. 4 or 3,5-7, or a name. Shown: all phases.`],
                ['3, 5-99', `'5-99': there are ${count} phases, numbered from 0.`],
                ['3,5-7', '4 of'],
                ['diagonal,0', `${diagonal + 1} of`],
            ]) {
                await field.fill(text);
                await field.press('Enter');
                await t.quiet(page);
                const note = await page.locator('#phases-note').textContent();
                t.check(note.startsWith(words), `${text}: ${note}`);
                t.equal(await field.getAttribute('aria-invalid'), String(!['3,5-7', 'diagonal,0'].includes(text)), `${text} is marked`);
            }
            await field.focus();
            await page.keyboard.type('/'); // it is written, but after Enter a key
            t.equal(await page.locator('dialog[open]').count(), 0, 'no search while people write');
            await field.fill('2');
            await field.press('Enter');
            await t.quiet(page);
            t.equal(await page.evaluate('[document.activeElement.tagName, cachetally.state.phases].join()'), 'BODY,2', 'Enter applies and leaves');
            await page.keyboard.press('Tab');
            t.check((await page.evaluate('document.activeElement.ariaLabel')).startsWith('Phases to subtract'), 'Tab goes on from there');
            await field.focus();
            await field.press('Enter');
            await page.keyboard.press('/');
            t.equal(await page.locator('dialog[open]').count(), 1, 'search, also where nothing has changed');
            await page.keyboard.press('Escape');
            await t.open(page, t.file('lu.h5'), 'phases=99');
            t.equal(await field.inputValue(), '99', 'what the URL says stays');
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
        'topology: traffic on the links, and from a link to the workbench',
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
            t.equal(await page.evaluate('cachetally.shown'), 'workbench', 'view');
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), 'L1D-L2', 'panels');
        },
    ],
    [
        'topology: links and caches by the keyboard alone',
        async (t, page) => {
            await t.open(page, t.file('matmul.h5'), 'view=topology');
            for (const name of ['L1D-L2', 'L2']) {
                await page.evaluate(`cachetally.set({ view: 'topology' })`);
                await t.quiet(page);
                await page.getByRole('button', { name, exact: true }).press('Enter');
                await t.quiet(page);
                t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), name, 'panels');
            }
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
            await t.until(page, 'cachetally.others.length === 1', 'the comparison');
            await t.quiet(page);
            const [a, b] = ['lu.h5', 'lu2.h5'].map((name) => misses(t.json('show', name).levels.L1));
            const totals = Object.values(await page.evaluate('cachetally.current.totals()'));
            t.equal(totals[0], a, 'misses of the first');
            t.equal(totals[1], b, 'misses of the second');
            t.equal(totals[2], b - a, 'difference');
            await t.picture(page, 'difference');
            await page.evaluate(`cachetally.set({ view: 'compare' })`);
            await t.quiet(page);
            const differing = await tableRows(page, 'what differs');
            t.check(differing.length > 3, `rows that differ: ${differing.length}`);
            await t.picture(page, 'compare');
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
