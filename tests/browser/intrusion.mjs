// SPDX-License-Identifier: BSD-3-Clause
// What monitors cost, and what coherence did: what the page shows is what the program tells.
import { number, tableRows } from './screen.mjs';


const fields = (csv) =>
    csv
        .trim()
        .split('\n')
        .map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((each) => each.replace(/,$/, '').replace(/^"|"$/g, '')));

export const intrusionCases = [
    [
        'intrusion: every cost of every configuration, the traffic of one, and what Python reads',
        async (t, page) => {
            const told = t.json('show', 'intrusion.h5');
            t.equal(told.rows.length, 16, 'configurations');
            await t.open(page, t.file('intrusion.h5'), 'cell=4,full,16');
            const csv = fields(await t.saved(page, 'CSV'));
            const column = (name) => csv[0].indexOf(name);
            told.rows.forEach((row, i) => {
                const found = (name) => Number(csv[i + 1][column(name)]);
                for (const key of ['counters', 'extra_cycles', 'stall_cycles', 'swapouts', 'bytes', 'ring_high_water'])
                    t.equal(found(key.replace(/_/g, ' ')), row[key], `${key} of row ${i}`);
                t.near(found('slowdown %'), 100 * row.slowdown, `slowdown of row ${i}`);
                for (const [link, extra] of Object.entries(row.extra_traffic)) {
                    t.equal(found(`extra events ${link}`), extra.events, `events on ${link}, row ${i}`);
                    t.equal(found(`extra bytes ${link}`), extra.bytes, `bytes on ${link}, row ${i}`);
                }
                for (const [level, misses] of Object.entries(row.extra_misses))
                    t.equal(found(`extra misses ${level}`), misses, `misses of ${level}, row ${i}`);
            });
            const chosen = told.rows.find((row) => row.granularity === 4 && row.drain === 'full' && row.counters === 16);
            const totals = await page.evaluate('cachetally.current.totals()');
            t.equal(Object.keys(totals).length, 8, 'cells of the link');
            t.equal(totals['4,full,16'], chosen.extra_cycles, 'extra cycles of the cell');
            const traffic = await tableRows(page, 'Traffic');
            const core = traffic.find((row) => row[0] === 'core-L1D');
            t.equal(number(core[1]), told.traffic['core-L1D'].events, 'events without monitor');
            t.equal(number(core[2]), chosen.extra_traffic['core-L1D'].events, 'extra events');
            await t.picture(page, 'intrusion');
            for (const title of ['Slowdown', 'Stalled cycles', 'Lost records', 'Extra misses', 'Records'])
                await t.press(page, title);
            const svg = await t.saved(page, 'SVG', page.locator('.figure').first());
            const cells = [...svg.matchAll(/text-anchor="middle"[^>]*>([^<]*)</g)].map(([, text]) => text);
            for (const { swapouts } of told.rows.filter((row) => row.link === 'core-L1D'))
                t.check(cells.includes(swapouts.toLocaleString('en')), `${swapouts} records in full, as in tables: ${cells}`);
            if (t.python) {
                await t.choose(page, /^Show a Python/);
                const code = await page.locator('dialog pre').textContent();
                const [, sum] = /sum (\d+)/.exec(t.script('-c', code));
                t.equal(
                    Number(sum),
                    told.rows.reduce((all, row) => all + row.swapouts, 0),
                    'sum that Python finds',
                );
                await t.press(page, 'Close');
            }
            await page.evaluate(`cachetally.set({ level: 'L1D-L2', cell: '1,full,64', metric: '' })`);
            await t.quiet(page);
            const below = told.rows.find((row) => row.link === 'L1D-L2' && row.counters === 64 && row.drain === 'full');
            t.equal((await page.evaluate('cachetally.current.totals()'))['1,full,64'], below.extra_cycles, 'of the other link');
        },
    ],
    [
        'intrusion: a click chooses a cell; a report holds all; it is compared with other experiments alone',
        async (t, page) => {
            t.run('report', 'intrusion.h5', '-o', 'intrusion.html');
            await page.goto(`file://${t.file('intrusion.html')}`);
            await t.until(page, '!!cachetally.current', 'the embedded result');
            await t.quiet(page);
            const { x, y, width } = await page.locator('canvas.clickable').first().boundingBox();
            await page.mouse.click(x + width * 0.95, y + 34 + 23);
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.cell'), '1,full,64', 'the cell that was clicked');
            await page.evaluate(`cachetally.purpose = 'compare'; document.querySelector('input[type=file]').value = ''`);
            await page.setInputFiles('input[type=file]', t.file('lu.h5'));
            const message = await t.until(page, `document.querySelector('.notice.error')?.textContent`, 'a message');
            t.equal(await page.evaluate('cachetally.others.length'), 0, 'files beside it');
            t.check(/intrusion\.h5 is of an intrusion experiment, which is compared with others alone/.test(message), message);
        },
    ],
    [
        'coherence: what nodes asked of each other, in the tables and at the point of coherence',
        async (t, page) => {
            t.run('run', 'radix', 'keys=2000', 'processors=8', '--machine', 'coherent8', '-o', 'coherent.h5');
            const told = t.json('show', 'coherent.h5').coherence;
            const [point] = Object.keys(told);
            t.check(told[point].messages > 0 && told[point].invalidations > 0, 'cores share lines');
            await t.open(page, t.file('coherent.h5'), 'view=tables');
            const rows = await tableRows(page, 'Coherence');
            t.equal(rows[0][1], point, 'point of coherence');
            t.equal(rows.length - 1, Object.keys(told[point]).length, 'counters');
            for (const [name, value] of rows.slice(1)) t.equal(number(value), told[point][name], name);
            await page.evaluate(`cachetally.set({ view: 'topology' })`);
            await t.quiet(page);
            const svg = await t.saved(page, 'SVG');
            t.check(svg.includes(`${(told[point].messages / 1000).toFixed(1)}k coherence messages`), 'messages in the picture');
            await t.picture(page, 'coherence');
        },
    ],
];
