// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of several workloads and links, two of them, and trackers beside them: what the page shows is what h5py reads and the program tells.
import { readFileSync } from 'node:fs';
import { number, tableRows } from './screen.mjs';

const csvOf = async (t, page, picture) =>
    (await t.saved(page, 'CSV', picture))
        .trim()
        .split('\n')
        .map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((each) => each.replace(/,$/, '').replace(/^"|"$/g, '')));

/** Columns of a table of a file, read with h5py. */
const rowsOf = (t, file, path) =>
    JSON.parse(
        t.script('-c', `import h5py, json
rows = h5py.File("${file}", "r")["${path}"]
columns = {name: (rows[name].asstr()[:] if h5py.check_string_dtype(rows[name].dtype) else rows[name][:]).tolist() for name in rows if rows[name].ndim == 1}
print(json.dumps([dict(zip(columns, row)) for row in zip(*columns.values())]).replace("NaN", "null"))`),
    );

const grid = ['-m', 'generic3', '--link', 'core-L1D,L1D-L2', '--vary', 'ways=2,4', '--counters', '16,64', '--granularity', '1,2,4', '--eviction', 'fifo,lru'];
const asked = ['--objectives', 'error,bits', '--where', 'error<5', '--tolerance', '5'];
const made = new Set();
function make(t, name, ...words) {
    if (!made.has(name)) t.run(...words, '-o', name);
    made.add(name);
    return t.file(name);
}
const many = (t) => make(t, 'parts.h5', 'sweep', '--workload', 'fft,n=1024', '--workload', 'lu,n=32', ...grid, ...asked);
const larger = (t) => make(t, 'larger.h5', 'sweep', '--workload', 'fft,n=4096', '--workload', 'lu,n=48', ...grid, ...asked);
const tracked = (t, name, link, ...words) => make(t, name, 'trackers', 'lu', 'n=32', '-m', 'generic3', '--link', link, ...words);

/** Picture with a title, as a part of the page. */
const figure = (page, title) => page.locator('.figure', { has: page.locator('h3', { hasText: title }) });
const options = (page, label) => page.evaluate(`[...document.querySelectorAll('label.field')].filter((each) => each.textContent.startsWith('${label}')).flatMap((each) => [...each.querySelectorAll('option')].map((option) => option.value))`);
const mark = (row) => (row.remains ? '*' : row.front ? '.' : '');
const texts = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);

/** Rows of the picture beside those of a file, in their order; of each the part, policy, numbers and marks. */
function compareFront(t, csv, told, part, cost) {
    const column = (name) => csv[0].indexOf(name);
    const rows = csv.filter((row) => told.some((each) => row[0] === part(each)));
    t.equal(rows.length, told.length, 'cells of the picture');
    const places = new Map(rows.map((row) => [row.slice(0, 4).join('|'), row]));
    for (const each of told) {
        const key = [part(each), `${each.eviction}, ${each.settings}`, each.granularity, each.counters].join('|');
        const row = places.get(key);
        t.check(row, `${key} is not among ${[...places.keys()].slice(0, 3)}`);
        t.near(Number(row[column('error %')]), 100 * each.error, `error of ${key}`);
        t.equal(Number(row[column(cost)]), each[cost], `${cost} of ${key}`);
        t.equal(row[column('admitted')], each.admitted ? 'yes' : '', `admitted, ${key}`);
        t.equal(row[column('mark')], mark(each), `mark of ${key}`);
    }
}

/** Places (shares of the box) and colours of cells, and numbers at the axes, of the fronts of a figure, without its trackers. */
function drawnInFigure(svg) {
    const [axes] = svg.split('id="axes_1"')[1].split('id="legend_1"');
    const [x0, y1, x1, , , y0] = axes.match(/<path d="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+)/).slice(1).map(Number);
    const uses = [...axes.matchAll(/<use [^>]*x="([\d.]+)" y="([\d.]+)" style="(?:fill: (#\w+))?[^"]*stroke: (#\w+)/g)];
    const cells = uses.filter(([, , , , stroke]) => !/#333333|#000000/.test(stroke)).map(([, x, y, , stroke]) => [(x - x0) / (x1 - x0), (y1 - y) / (y1 - y0), stroke]);
    const ticks = [...axes.matchAll(/id="ytick_\d+">[^]*?>([\d.kM]+)<\/text>/g)].map(([, text]) => text);
    return { cells, ticks };
}

/** The same of the picture of one panel on the page. */
function drawnOnPage(svg) {
    const [, x0, y1, x1] = svg.match(/<path d="M([\d.]+),([\d.]+)L([\d.]+),\2" fill="none" stroke="[^"]+" stroke-width="1"[^>]*\/>\s*<text [^>]*>error</).map(Number);
    const dots = [...svg.matchAll(/<path transform="translate\(([\d.]+) ([\d.]+)\)" d="[^"]*" fill="(#\w{6})"/g)].map(([, x, y, fill]) => [Number(x), Number(y), fill]);
    const cells = dots.filter(([x]) => x < x1).map(([x, y, fill]) => [(x - x0) / (x1 - x0), (y1 - y) / (y1 - 14), fill]);
    const ticks = [...svg.matchAll(/<text [^>]*text-anchor="end"[^>]*>([\d.kM]+)</g)].map(([, text]) => text);
    return { cells, ticks };
}

/** Marks of the picture of one panel, on the page or for print: what they look like (on the page without their size), where, and, in the legend, whose they are. */
function kindsOnPage(svg) {
    const shape = (d) => d.match(/[A-Z]/gi).join('');
    const [, x0, y1, x1] = svg.match(/<path d="M([\d.]+),([\d.]+)L([\d.]+),\2" fill="none" stroke="[^"]+" stroke-width="1"[^>]*\/>\s*<text [^>]*>error</).map(Number);
    const marks = [...svg.matchAll(/<path transform="translate\(([\d.]+) ([\d.]+)\)" d="([^"]*)" fill="(#\w+|none)"(?: stroke="(#\w+)")?[^>]*\/>(?:\s*<text [^>]*>([^<]*)<)?/g)];
    return marks.map(([, x, y, d, fill, stroke, text]) => ({ shape: shape(d), text: x > x1 && text, colour: fill === 'none' ? stroke : fill, at: [(x - x0) / (x1 - x0), (y1 - y) / (y1 - 14)] })).filter(({ colour }) => colour !== '#1c2430'); // rings
}

function kindsInFigure(svg) {
    const shapes = new Map([...svg.matchAll(/<path id="(\w+)" d="([^"]*)"/g)].map(([, id, d]) => [id, d]));
    const [axes, legend] = svg.split('id="axes_1"')[1].split('id="legend_2"');
    const [x0, y1, x1, , , y0] = axes.match(/<path d="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+)/).slice(1).map(Number);
    const cells = [...axes.matchAll(/<use xlink:href="#(\w+)" x="([\d.]+)" y="([\d.]+)" style="[^"]*stroke: (#\w+)/g)].filter(([, , , , stroke]) => !/#333333|#000000/.test(stroke));
    const named = [...legend.matchAll(/<use xlink:href="#(\w+)"[^>]*>[^]*?<text [^>]*>([^<]*)</g)].map(([, id, text]) => ({ shape: shapes.get(id), text }));
    return [...named, ...cells.map(([, id, x, y, colour]) => ({ shape: shapes.get(id), colour, at: [(x - x0) / (x1 - x0), (y1 - y) / (y1 - y0)] }))];
}

/** Those that others have none of at the same place in the same colour. */
const without = (cells, others) => cells.filter(([x, y, colour]) => !others.some((each) => Math.hypot(each[0] - x, each[1] - y) < 0.004 && each[2] === colour));

export const frontCases = [
    [
        'fronts: beside trackers of what both have first; what has no place on an axis is said; each file by its own objectives',
        async (t, page) => {
            const sweep = (name, ...words) => make(t, name, 'sweep', 'lu', 'n=32', '-m', 'generic3', '--link', 'core-L1D', '--counters', '16,64', '--granularity', '1,2', ...words);
            const slow = sweep('front-slow.h5', '--slowdown', '--objectives', 'error,slowdown,bits');
            await t.open(page, slow, 'over=slowdown');
            const texts_ = async () => texts(await t.saved(page, 'SVG', figure(page, 'Pareto')));
            t.check((await texts_()).includes('100 %'), 'slowdowns that are all 0');
            t.run('figure', 'front', 'front-slow.h5', '--metric', 'slowdown', '-o', 'front-slow.svg', '--force');
            t.equal(drawnInFigure(readFileSync(t.file('front-slow.svg'), 'utf8')).ticks.at(-1), '100', 'the same axis in the figure');
            await t.open(page, slow);
            await t.compare(page, tracked(t, 'tracked.h5', 'core-L1D'));
            await t.until(page, 'cachetally.others.length === 1', 'the trackers');
            await t.quiet(page);
            t.check((await texts_()).includes('bits') && (await texts_()).includes('◇ trackers'), `bits, as trackers have no slowdown: ${await texts_()}`);
            t.run('figure', 'front', 'front-slow.h5', 'tracked.h5', '-o', 'both.svg', '--force');
            t.check(readFileSync(t.file('both.svg'), 'utf8').includes('>front in error, bits<'), 'and in the figure');
            await page.evaluate(`cachetally.set({ over: 'slowdown' })`);
            await t.quiet(page);
            t.check((await texts_()).some((text) => /^slowdown not known of \d+ of \d+ trackers$/.test(text)), `trackers that are not drawn: ${await texts_()}`);
            await t.compare(page, sweep('bounded.h5', '--objectives', 'error,bytes', '--where', 'error<5'));
            await t.until(page, `cachetally.others.some(({ info }) => info.name === 'bounded.h5')`, 'another sweep');
            await t.quiet(page);
            const said = await page.innerText('body');
            t.check(said.includes('slowdown, bits within 5 % (front-slow.h5)') && said.includes('error, bytes within 5 %, pale: beyond error<5 (bounded.h5)'), said);
        },
    ],
    [
        'fronts: a figure for print has the cells of the page at the same places, in the same colours, and the same numbers at its axis',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            for (const [name, counters, metric] of [['few-counters.h5', '8,32', 'bits'], ['counters.h5', '8,12,16,24,32,48,64,96,128,192', 'bytes'], ['narrow.h5', '60,62,64', 'bits']]) {
                const file = make(t, name, 'sweep', 'lu', 'n=16', '-m', 'generic3', '--link', 'core-L1D', '--counters', counters, '--granularity', '1,2,4');
                t.run('figure', 'front', name, '--metric', metric, '-o', `${name}.svg`, '--force');
                await t.open(page, file, `over=${metric}`);
                const [drawn, shown] = [drawnInFigure(readFileSync(t.file(`${name}.svg`), 'utf8')), drawnOnPage(await t.saved(page, 'SVG', figure(page, 'Pareto')))];
                t.check(shown.cells.length > 3 && shown.ticks.length > 1, `${name}: ${shown.cells.join('|')} ${shown.ticks}`);
                t.equal([...without(drawn.cells, shown.cells), ...without(shown.cells, drawn.cells)].join('|'), '', `cells of ${name} that one has alone`);
                t.equal(drawn.ticks.sort().join(), shown.ticks.sort().join(), `numbers at the axis of ${name}`);
            }
        },
    ],
    [
        'fronts: shapes tell policies and settings apart as in a figure for print',
        async (t, page) => {
            const file = make(t, 'shapes.h5', 'sweep', 'lu', 'n=16', '-m', 'generic3', '--link', 'core-L1D', '--vary', 'ways=2,4', '--counters', '8,32', '--granularity', '1,2', '--eviction', 'fifo,lru', '--objectives', 'error,bits');
            const varied = ['--vary', 'ways=2,4', '--vary', 'width=8,16', '--counters', '8,16', '--granularity', '1,2', '--eviction', 'fifo,lru'];
            const more = make(t, 'shapes-more.h5', 'sweep', 'lu', 'n=16', '-m', 'generic3', '--link', 'core-L1D', ...varied, '--objectives', 'error,bits');
            for (const [path, count, rest] of [[file, 4, ''], [more, 1, '7 other settings']]) {
                const name = path.split('/').at(-1);
                t.run('figure', 'front', name, '--metric', 'bits', '-o', `${name}.svg`, '--force');
                await t.open(page, path, 'over=bits');
                const svg = await t.saved(page, 'SVG', figure(page, 'Pareto'));
                const [drawn, shown] = [kindsInFigure(readFileSync(t.file(`${name}.svg`), 'utf8')), kindsOnPage(svg)];
                const legend = (marks) => marks.filter(({ text }) => text && !text.startsWith('C = ') && !text.includes('other')).map(({ text, shape }) => ({ text, shape }));
                const [own, theirs] = [shown, drawn].map(legend);
                t.equal(own.map(({ text }) => text).join(' | '), theirs.map(({ text }) => text).join(' | '), `kinds of ${name}`);
                t.check(own.length >= count && new Set(own.map(({ shape }) => shape)).size === own.length, `shapes of ${name}: ${own.map(({ shape }) => shape)}`);
                t.equal(texts(svg).find((each) => each.includes('other settings')) ?? '', rest && `· ${rest}`, 'what has no shape');
                for (const [i, { text, shape }] of own.entries()) {
                    const [here, there] = [[shown, shape], [drawn, theirs[i].shape]].map(([marks, of]) => marks.filter((each) => each.at && !each.text && each.shape === of).map(({ at, colour }) => [...at, colour]));
                    t.check(here.length > 1 && there.length > 1, `${text}: ${here.length} and ${there.length} marks`);
                    if (!rest) t.equal([...without(here, there), ...without(there, here)].join('|'), '', `cells of ${text} that one has alone`);
                }
            }
        },
    ],
    [
        'fronts: cells that count other events have a panel of their own, and the front in it',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const file = make(t, 'kinds.h5', 'sweep', 'lu', 'n=32', '-m', 'generic3', '--vary', 'ways=0,4', '--vary', 'kinds=load,store', '--counters', '16,64', '--granularity', '1,2');
            await t.open(page, file, 'over=bits');
            const rows = rowsOf(t, 'kinds.h5', 'sweep/rows');
            const csv = await csvOf(t, page, figure(page, 'Pareto'));
            compareFront(t, csv, rows, ({ workload, link, settings }) => `${workload}, ${link}, ${/kinds=\w+/.exec(settings)[0]}`, 'bits');
            const titles = ['kinds=load', 'kinds=store'].map((kind) => `lu n=32, core-L1D, ${kind}`);
            t.equal([...new Set(csv.slice(1).map(([part]) => part))].join('|'), titles.join('|'), 'the panels');
            const fronts = titles.map((title) => csv.filter((row) => row[0] === title && row[csv[0].indexOf('on the front of both')] === 'yes').length);
            const beaten = (a, b) => b.error <= a.error && b.bits <= a.bits && (b.error < a.error || b.bits < a.bits);
            const expected = ['load', 'store'].map((kind) => rows.filter((row) => row.settings.includes(kind))).map((own) => own.filter((a) => !own.some((b) => beaten(a, b))).length);
            t.equal(fronts.join(), expected.join(), 'cells on the fronts');
            // what titles tell is not told by shapes, too
            t.run('figure', 'front', 'kinds.h5', '--metric', 'bits', '-o', 'kinds.svg', '--force');
            const svg = await t.saved(page, 'SVG', figure(page, 'Pareto'));
            for (const marks of [kindsInFigure(readFileSync(t.file('kinds.svg'), 'utf8')), kindsOnPage(svg)])
                t.equal(marks.map(({ text }) => text).filter((text) => typeof text === 'string' && text.includes('=') && !text.startsWith('C =')).join(), 'ways=0,ways=4', 'shapes');
        },
    ],
    [
        'fronts: parts of a sweep one at a time, the first of the file first; marks of h5py; the worst of all as the program tells it',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const file = many(t);
            const rows = rowsOf(t, 'parts.h5', 'sweep/rows');
            await t.open(page, file, 'over=bits');
            const order = [...new Set(rows.map(({ workload }) => workload))];
            t.equal((await options(page, 'Workload')).join(), [...order, 'worst of all workloads'].join(), 'workloads');
            t.equal(await page.locator('label', { hasText: 'Workload' }).locator('select').inputValue(), 'fft n=1024', 'the first that was asked for is shown');
            t.equal((await options(page, 'Settings')).length, 2, 'settings');
            for (const workload of order)
                for (const link of ['core-L1D', 'L1D-L2'])
                    for (const settings of ['ways=2', 'ways=4']) {
                        await page.evaluate(`cachetally.set(${JSON.stringify({ workload, level: link, settings, eviction: 'lru', metric: 'swapouts' })})`);
                        await t.quiet(page);
                        const own = rows.filter((row) => row.workload === workload && row.link === link && row.settings === settings && row.eviction === 'lru');
                        const csv = await csvOf(t, page);
                        const at = (name) => csv[0].indexOf(name);
                        t.equal(csv.length - 1, own.length, `cells of ${workload}, ${link}, ${settings}`);
                        own.forEach((row, i) => {
                            const found = csv[i + 1];
                            t.equal([at('workload'), at('link'), at('settings')].map((column) => found[column]).join(), [workload, link, settings].join(), 'part');
                            t.equal(Number(found[at('swap-outs')]), row.swapouts, 'swap-outs');
                            t.equal(found[at('admitted')] === 'yes', row.admitted === 1, 'admitted');
                            t.equal(found[at('mark')], mark(row), 'mark');
                        });
                        t.equal(await page.locator('canvas').first().getAttribute('aria-label'), 'Counters by granularity: Swap-outs of 6 cells of fft n=1024, lu n=32 on generic3', 'cells in the matrix');
                    }
            const front = await csvOf(t, page, figure(page, 'Pareto'));
            compareFront(t, front, rows, ({ workload, link }) => `${workload}, ${link}`, 'bits');
            const { worst } = t.json('show', 'parts.h5');
            t.check(worst.some((row) => row.front && !row.remains) || worst.some((row) => row.remains), 'the worst of all have a front');
            compareFront(t, front, worst, ({ workload, link }) => `${workload}, ${link}`, 'bits');
            t.equal(front.length - 1, rows.length + worst.length, 'points');
            const text = await page.innerText('body');
            t.check(text.includes('within 5 %') && text.includes('beyond error<5') && text.includes('front of error, bits'), 'objectives, bounds and tolerance are told');
            t.check(!text.includes('/sweep/'), 'no words of the file format');
            for (const [title, count, words] of [['Pareto', rows.length, 'error'], ['Counters by granularity', 6, 'swapouts']]) {
                await t.choose(page, /^Show a Python/, figure(page, title));
                const lines = t.script('-c', await page.locator('dialog pre').textContent()).trim().split('\n');
                await t.press(page, 'Close');
                t.check(lines.length === count && lines.every((line) => line.includes(words)), `${title}: Python reads ${lines.length} cells: ${lines[0]}`);
            }
            await t.picture(page, 'fronts');
            const reach = await page.evaluate(([svg]) => {
                const box = document.createElement('div');
                box.innerHTML = svg;
                document.body.append(box);
                const all = [...box.querySelectorAll('text')].map((text) => ({ text: text.textContent, from: text.getBBox().x, to: text.getBBox().x + text.getBBox().width }));
                box.remove();
                const legend = Math.min(...all.filter(({ text }) => /^C = /.test(text)).map(({ from }) => from));
                return all.filter(({ text, to }) => /^G /.test(text) && to > legend).map(({ text }) => text);
            }, [await t.saved(page, 'SVG', figure(page, 'Pareto'))]);
            t.equal(reach.join(), '', 'names of cells that run over the legend');
            await page.evaluate(`cachetally.set({ workload: 'worst of all workloads', cell: '2,64' })`);
            await t.quiet(page);
            t.check((await page.innerText('body')).includes('kept only by a sweep of one workload, link and setting'), 'no exact counts');
        },
    ],
    [
        'fronts: objectives by default, several, and bounds of others; three workloads',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const file = make(t, 'three.h5', 'sweep', '--workload', 'lu,n=32', '--workload', 'fft,n=1024', '--workload', 'radix,keys=2K', ...grid, '--where', 'bits<=4687,bytes>0.1', '--tolerance', '20');
            await t.open(page, file, 'over=bytes');
            const { rows, worst } = t.json('show', 'three.h5');
            t.check(worst.some((row) => row.front && !row.remains) && worst.some((row) => !row.admitted), 'all marks among the worst');
            t.check(worst.some(({ bits, admitted }) => bits === 4687 && admitted), 'a cell on the bound');
            const front = await csvOf(t, page, figure(page, 'Pareto'));
            const named = front.map((row) => row.map((each) => (each === 'bytes per event' ? 'bytes_per_event' : each)));
            compareFront(t, named, [...rows, ...worst], ({ workload, link }) => `${workload}, ${link}`, 'bytes_per_event');
        },
    ],
    [
        'fronts: two sweeps side by side, with one scale; a click goes to the part',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, many(t));
            const before = texts(await t.saved(page, 'SVG', figure(page, 'Pareto')));
            t.check(before.includes('lu n=32, core-L1D') && before.includes('worst of all workloads, L1D-L2'), `panels: ${before.join('|')}`);
            await t.compare(page, larger(t));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ view: 'sweep', over: 'bits' })`);
            await t.quiet(page);
            const both = [...rowsOf(t, 'parts.h5', 'sweep/rows').map((row) => ({ ...row, file: 'parts.h5' })), ...rowsOf(t, 'larger.h5', 'sweep/rows').map((row) => ({ ...row, file: 'larger.h5' }))];
            compareFront(t, await csvOf(t, page, figure(page, 'Pareto')), both, ({ file, workload, link }) => `${file}, ${workload}, ${link}`, 'bits');
            const svg = await t.saved(page, 'SVG', figure(page, 'Pareto'));
            const ticks = texts(svg).filter((text) => /^[\d.]+ %$/.test(text));
            const times = [...new Set(ticks)].map((tick) => ticks.filter((each) => each === tick).length);
            t.check(times.length > 1 && times.every((each) => each === 12), `each of 12 panels has the same errors under it: ${ticks.join('|')}`);
            await t.picture(page, 'fronts-two');
            // labels stand at their cells, or at a line from one, above the numbers of the axis; titles are whole
            const [labels, dots] = [/<text x="([\d.]+)" y="([\d.]+)" [^>]*>(G = \d, C = [^<]*)</g, /<path transform="translate\(([\d.]+) ([\d.]+)\)"/g].map((pattern) => [...svg.matchAll(pattern)].map(([, x, y, text]) => [Number(x), Number(y), text]));
            const ends = [...svg.matchAll(/<text [^>]*y="([\d.]+)" [^>]*>0 %</g)].map(([, y]) => Number(y) - 14);
            t.check(labels.length > 6, `labels: ${labels.length}`);
            const leaders = [...svg.matchAll(/<path d="M([\d.]+)[ ,]([\d.]+)[L ]+([\d.]+)[ ,]([\d.]+)"[^>]*stroke-width="0.7"/g)].map(([, ...ends]) => ends.map(Number));
            for (const [x, y, text] of labels) {
                const beside = ([left, at], apart) => Math.abs(at - y) < apart && left > x - 12 && left < x + 7 * text.length + 12;
                const near = dots.some((dot) => beside(dot, 25)) || leaders.some(([fromX, fromY, ...end]) => beside(end, 7) && dots.some(([left, at]) => Math.hypot(left - fromX, at - fromY) < 0.1));
                t.check(near && ends.some((end) => end > y && end - y < 236), `${text} at ${x}, ${y} stands at a cell`);
            }
            t.check(texts(svg).includes('larger.h5, worst of all workloads, L1D-L2') || texts(svg).includes('larger.h5, worst of all workloads'), `titles: ${texts(svg).join('|')}`);
            // the matrix has one scale for both: colours of equal numbers are equal, so its key is the same of both
            const keyOf = async (file) => {
                await page.evaluate(`cachetally.set({ file: '${file}', metric: 'swapouts', workload: 'worst of all workloads', level: 'core-L1D', settings: 'ways=2', eviction: 'fifo' })`);
                await t.quiet(page);
                return texts(await t.saved(page, 'SVG', figure(page, 'Counters by granularity'))).slice(-2).join();
            };
            t.equal(await keyOf('b'), await keyOf(''), 'key of the colours');
            await page.evaluate(`cachetally.set({ workload: 'lu n=32', level: 'L1D-L2', settings: 'ways=4', eviction: 'lru' })`);
            await t.quiet(page);
            const canvas = figure(page, 'Pareto').locator('canvas');
            const { width } = await canvas.boundingBox();
            for (let y = 40; y < 230 && !(await page.evaluate(`cachetally.state.workload === 'fft n=1024'`)); y += 8)
                for (let x = 80; x < Math.min(width, 300); x += 12) {
                    await canvas.click({ position: { x, y } });
                    if (await page.evaluate(`cachetally.state.workload === 'fft n=1024'`)) break;
                }
            await t.quiet(page);
            t.equal(await page.evaluate(`cachetally.state.workload + ', ' + cachetally.state.level`), 'fft n=1024, core-L1D', 'part of the cell that was clicked');
        },
    ],
    [
        'fronts: of two sweeps what both have is subtracted; what the second lacks is said',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const words = (...workloads) => workloads.flatMap((each) => ['--workload', each]);
            const partly = make(t, 'partly.h5', 'sweep', ...words('lu,n=32', 'radix,keys=2K'), ...grid, ...asked);
            const none = make(t, 'none.h5', 'sweep', ...words('fft,n=4096'), ...grid, ...asked);
            for (const other of [partly, none]) {
                await t.open(page, many(t), 'view=sweep');
                await t.compare(page, other);
                await t.until(page, 'cachetally.others.length === 1', 'the second file');
                await page.evaluate(`cachetally.set({ view: 'sweep', file: 'difference', workload: 'fft n=1024' })`);
                await t.quiet(page);
                const text = await page.innerText('.view');
                const values = (await csvOf(t, page)).slice(1).map((row) => Number(row[2]));
                if (other === partly) {
                    // the worst of all workloads are those of other workloads
                    t.equal((await options(page, 'Workload')).join(), '', 'there is nothing to choose: both have one');
                    t.check(values.length === 6 && values.every((each) => each === 0), `the same sweep twice: ${values}`);
                    t.check(!text.includes('Nothing is subtracted'), 'it is subtracted');
                } else {
                    t.check(text.includes('Nothing is subtracted: none.h5 does not have the workload fft n=1024; these are cells of '), text);
                    const [head, ...found] = await csvOf(t, page);
                    const of = (row, name) => row[head.indexOf(name)];
                    const own = t.json('show', 'parts.h5').rows.filter(({ workload }) => workload === 'fft n=1024');
                    const keys = ['link', 'settings', 'eviction', 'granularity', 'counters'];
                    const same = (row) => own.find((each) => keys.every((key) => String(each[key]) === of(row, key)));
                    t.check(found.length === 6 && found.every((row) => same(row)?.bits === Number(of(row, 'bits'))), `cells of the first: ${found[0]}`);
                }
            }
        },
    ],
    [
        'fronts: settings of several keys in short, which the legend explains',
        async (t, page) => {
            await t.open(page, make(t, 'keys.h5', 'sweep', 'lu', 'n=16', '-m', 'generic3', '--vary', 'ways=2,4', '--vary', 'width=8,16', '--vary', 'record=8', '--counters', '8,16', '--granularity', '1,2', '--objectives', 'error,bits'));
            const svg = await t.saved(page, 'SVG', figure(page, 'Pareto front'));
            const found = texts(svg);
            t.check(found.includes('bits') || found.some((each) => each.startsWith('bits')), `the front is that of the sweep's objectives: ${found.join(' | ')}`);
            const fronts = [...svg.matchAll(/<path d="M([\d.,L-]+)" fill="none" stroke="[^"]+" stroke-width="1.5"/g)].map(([, path]) => path.split('L').map((point) => point.split(',').map(Number)));
            t.check(fronts.some((points) => points.length > 2), 'a front of several cells');
            for (const points of fronts) t.check(points.every(([x, y], i) => i === 0 || x === points[i - 1][0] || y === points[i - 1][1]), `a staircase: ${points.join(' ')}`);
            t.check(found.includes('G, C, ways/width') && found.some((each) => /^G = [12], C = (8|16), [24]\/(8|16)$/.test(each)) && !found.some((each) => each.includes('=8')), found.join(' | '));
        },
    ],
    [
        'fronts: three sweeps in one report side by side, with one scale; the switch shows each',
        async (t, page) => {
            const sweep = (name, ...words) => make(t, name, 'sweep', ...words, '-m', 'generic3', '--link', 'core-L1D', '--counters', '8,32', '--granularity', '1,2,4', '--objectives', 'error,bits');
            const files = [sweep('of_lu.h5', 'lu', 'n=16'), sweep('of_radix.h5', 'radix', 'keys=512'), sweep('of_fft.h5', 'fft', 'n=256')].map((each) => each.split('/').at(-1));
            t.run('report', ...files, '-o', 'of_three.html', '--force');
            await page.goto(`file://${t.file('of_three.html')}`);
            await t.until(page, 'window.cachetally?.others.length === 2', 'three files');
            await t.quiet(page);
            const found = texts(await t.saved(page, 'SVG', figure(page, 'Pareto front')));
            const titles = found.filter((each) => each.endsWith(', core-L1D') || each.endsWith('…'));
            t.equal(titles.map((each) => each.split(',')[0]).join(), files.join(), 'a panel per file');
            const ticks = found.filter((each) => /^[\d.]+ %$/.test(each));
            t.check(ticks.length > 6 && ticks.length === 3 * new Set(ticks).size, `one scale: ${ticks}`);
            // two files of which one has a workload less: those of a workload are side by side
            const both = (name, ...workloads) => sweep(name, ...workloads.flatMap((each) => ['--workload', each]));
            const [first, second] = [both('of_both.h5', 'lu,n=16', 'radix,keys=512'), both('of_radix_first.h5', 'radix,keys=512', 'lu,n=16', 'fft,n=256')];
            const beside = await t.newPage({ viewport: { width: 1400, height: 900 } });
            await t.open(beside, first);
            await t.compare(beside, second);
            await t.until(beside, 'cachetally.others.length === 1', 'the second');
            await t.quiet(beside);
            const csv = (await t.saved(beside, 'CSV', figure(beside, 'Pareto front'))).split('\n').slice(1).map((line) => line.split('","')[0].split(', '));
            const order = csv.map(([file, workload]) => `${file} ${workload}`.replaceAll('"', '')).filter((each, i, all) => !/worst|undefined/.test(each) && each !== all[i - 1]);
            t.equal(order.join('|'), ['of_both.h5 lu n=16', 'of_radix_first.h5 lu n=16', 'of_both.h5 radix keys=512', 'of_radix_first.h5 radix keys=512', 'of_radix_first.h5 fft n=256'].join('|'), 'panels by workload');
            await beside.close();
            const head = () => page.locator('header h1').textContent();
            for (const [name, title] of [['C', 'fft'], ['B', 'radix'], ['A', 'lu']]) {
                await t.press(page, name);
                t.check((await head()).startsWith(title), `${name} is ${title}`);
            }
            await page.keyboard.press('b');
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.file'), 'b', 'the next file');
        },
    ],
    [
        'trackers: table and points, alone and on the front of a sweep',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, tracked(t, 'tracked.h5', 'core-L1D'));
            const told = rowsOf(t, 'tracked.h5', 'trackers/rows');
            const check = async () => {
                const rows = await tableRows(page, 'Trackers on core-L1D');
                t.equal(rows.length - 1, told.length, 'trackers');
                const by = (a, b) => b.error - a.error;
                [...told].sort(by).forEach((row, i) => {
                    const found = rows[i + 1];
                    t.equal(found[0], row.tracker, `place ${i}, the worst first`);
                    t.equal(number(found[1]), row.bits, `bits of ${row.tracker}`);
                    t.equal(number(found[4]), row.reports, `reports of ${row.tracker}`);
                    t.near(number(found[7]), 100 * row.error, `error of ${row.tracker}`, 0.0051);
                    t.near(number(found[8]), 100 * row.recall, `recall of ${row.tracker}`, 0.0051);
                });
            };
            await check();
            const points = async () => (await csvOf(t, page, figure(page, 'Error against'))).slice(1);
            const alone = await points();
            told.forEach((row, i) => {
                t.equal(alone[i][1], row.tracker, 'point');
                t.near(Number(alone[i][4]), 100 * row.error, 'error of the point');
                t.equal(Number(alone[i][5]), row.bytes_per_event, 'bytes per event of the point');
            });
            await t.compare(page, many(t));
            await t.until(page, 'cachetally.others.length === 1', 'the sweep');
            await t.quiet(page);
            t.equal(await page.evaluate(`cachetally.source.info.name + ' ' + (cachetally.state.view ?? '')`), 'parts.h5 ', 'opened on the sweep');
            t.check(!(await page.innerText('body')).includes('Nothing is subtracted'), 'nothing is said of differences');
            const fronts = texts(await t.saved(page, 'SVG', figure(page, 'Pareto')));
            t.check(fronts.includes('◇ trackers') && fronts.includes('sampling'), `trackers on the fronts: ${fronts.join('|')}`);
            await t.press(page, 'Trackers');
            await new Promise((resolve) => setTimeout(resolve, 300));
            const link = await page.evaluate('location.hash');
            await page.keyboard.press('b');
            await new Promise((resolve) => setTimeout(resolve, 300));
            t.equal(await page.evaluate('location.hash'), link, 'b means nothing where all files are shown');
            await check();
            t.equal(await page.getByLabel('Error against', { exact: true }).inputValue(), 'bits', 'the objective of the sweep that trackers have, too');
            await page.evaluate(`cachetally.set({ over: 'bytes' })`);
            await t.quiet(page);
            const own = rowsOf(t, 'parts.h5', 'sweep/rows').filter((row) => row.workload === 'lu n=32' && row.link === 'core-L1D');
            const beside = await points();
            t.equal(beside.length, own.length + told.length, 'cells of the same workload and link, and trackers');
            const all = beside.map((row) => ({ name: row[1], error: Number(row[4]), other: Number(row[5]), admitted: row[6] === 'yes', front: row[8] === 'yes' }));
            const beats = (a, b) => a.error <= b.error && a.other <= b.other && (a.error < b.error || a.other < b.other);
            for (const each of all) t.equal(each.front, each.admitted && !all.some((other) => other.admitted && beats(other, each)), `${each.name} on the common front`);
            for (const { tracker, error: of } of told) t.equal(all.find(({ name }) => name === tracker).admitted, of < 0.05, `${tracker} within the bound of the sweep`);
            t.check(told.some(({ error: of }) => of >= 0.05), 'a tracker beyond it');
            t.check(told.some(({ tracker }) => all.find(({ name }) => name === tracker).front), 'a tracker on the front');
            await t.picture(page, 'trackers');
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            t.check(t.script('-c', code).startsWith(`counter_array error ${told[0].error}`), 'what Python reads');
            await t.press(page, 'Close');
            await t.open(page, many(t));
            await t.compare(page, tracked(t, 'below.h5', 'L1D-L2', '--bits', '2000'));
            await t.until(page, 'cachetally.others.length === 1', 'the trackers of a second file');
            await t.press(page, 'Trackers');
            t.check((await points()).some((row) => row[0] === 'parts.h5, lu n=32, L1D-L2' && row[1] === 'counter_array'), 'on the front of their own link');
            for (const view of ['Sweep', 'Tables', 'Compare']) await t.press(page, view);
            await t.open(page, many(t), 'view=sweep&metric=bits');
            await t.compare(page, t.file('below.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the trackers of a second file');
            await t.quiet(page);
            t.equal(await page.evaluate(`cachetally.state.view + ' ' + cachetally.state.metric`), 'sweep bits', 'what a link says stays');
            await t.open(page, make(t, 'other.h5', 'trackers', 'fft', 'n=256', '-m', 'generic3', '--link', 'core-L1D'));
            await t.compare(page, many(t));
            await t.press(page, 'Trackers');
            t.check((await page.innerText('body')).includes('none that is open has cells of this workload, link and machine: other.h5, fft n=256, core-L1D'), 'no common front is said');
            await t.open(page, t.file('lu.h5'));
            await t.compare(page, t.file('tracked.h5'));
            t.check((await page.innerText('body')).includes('tracked.h5 is of trackers, which are compared with others and with sweeps alone'), 'runs have no front');
        },
    ],
];
