// SPDX-License-Identifier: BSD-3-Clause
// Response curves of probes: what is drawn, told and exported is what the file holds.

/** Rows of a CSV text; fields in quotes may have commas. */
const fields = (text) =>
    text
        .trim()
        .split('\n')
        .map((line) => [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map((match) => match[2] ?? match[1]));

const findingsOn = (page) =>
    page.evaluate(
        `[...document.querySelectorAll('[aria-label="Findings"] table tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
    );

export const curveCases = [
    [
        'curves: points, edges and findings of a probe',
        async (t, page) => {
            const told = t.json('show', 'probe.h5');
            await t.open(page, t.file('probe.h5'));
            t.equal(await page.evaluate('cachetally.shown'), 'curves', 'view');
            const rows = await findingsOn(page);
            t.equal(rows.length - 1, told.results.length, 'findings');
            told.results.forEach((each, i) => {
                t.equal(rows[i + 1][0], each.test, 'test');
                t.equal(rows[i + 1][8], each.verdict, `verdict of ${each.test} ${each.parameter}`);
            });
            const capacityBy = (test) => rows.find((row) => row[0] === test && row[1] === 'robust' && row[2] === 'L2');
            t.equal(capacityBy('levels')[4], '512 KiB', 'capacity of L2');
            t.equal(capacityBy('levels')[5], '', 'interval of what is exact');
            const capacity = capacityBy('change_points');
            const [low, high] = capacity[5].split(' … ').map((number) => Number(number.replaceAll(',', '')));
            t.check(low <= 524288 && 524288 <= high && high < 1.1 * low, `interval ${capacity[5]}`);
            await t.picture(page, 'curves');
            const totals = await page.evaluate('JSON.stringify(cachetally.current.totals())');
            t.run('report', 'probe.h5', '-o', 'probe.html', '-f');
            await page.goto(`file://${t.file('probe.html')}`);
            await t.until(page, '!!cachetally.current', 'the embedded result');
            t.equal(await page.evaluate('JSON.stringify(cachetally.current.totals())'), totals, 'curves in the report');
            await t.open(page, t.file('probe.h5'));
            const label = await page.locator('canvas').first().getAttribute('aria-label');
            t.check(label.includes('levels robust, times'), label);
        },
    ],
    [
        'curves: what the CSV file has is what h5py reads; knocked-out points, plateaus and residuals',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('probe.h5'), 'residuals=plateaus');
            const csv = fields(await t.saved(page, 'CSV'));
            const column = (name) => csv[0].findIndex((each) => each.startsWith(name));
            const mine = csv.slice(1).filter((row) => row[0] === 'levels published, times');
            const file = JSON.parse(
                t.script(
                    '-c',
                    `import h5py, json
f = h5py.File("probe.h5", "r")["curves"]
g = [g for g in f.values() if g.attrs["test"] == b"levels" and g.attrs["variant"] == b"published" or (g.attrs["test"], g.attrs["variant"]) == ("levels", "published")][0]
print(json.dumps([g[name][:].tolist() for name in ("x", "value", "knocked_out")]))`,
                ),
            );
            t.equal(mine.length, file[0].length, 'points');
            mine.forEach((row, i) => {
                t.equal(Number(row[1]), file[0][i], 'size');
                t.equal(Number(row[2]), file[1][i], 'cycles');
                t.equal(row[column('knocked out')], file[2][i] ? 'yes' : '', `knocked out at ${row[1]}`);
            });
            t.check(
                file[2].some((each) => each === 1),
                'some points were knocked out',
            );
            const level = mine.find((row) => row[column('knocked out')] === '' && row[column('plateau')] === '20');
            t.equal(Number(level[column('plateau')]), 20, 'plateau of L2');
            t.near(Number(level[column('residual')]), 100 * (Number(level[2]) / 20 - 1), 'residual', 1e-9);
            await t.picture(page, 'curves-residuals');
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            const [, sum] = /levels_published_times .* sum ([0-9.]+)/.exec(t.script('-c', code));
            const expected = file[1].reduce((a, b) => a + b, 0);
            t.near(Number(sum), expected, 'sum that Python finds');
            await t.press(page, 'Close');
        },
    ],
    [
        'curves: latencies of single loads, misses, pages; zoom; a curve less',
        async (t, page) => {
            await t.open(page, t.file('probe.h5'), 'curves=loads:cycles');
            const csv = fields(await t.saved(page, 'CSV'));
            const small = csv.slice(1).filter((row) => row[0].endsWith('ping-pong of 8 KiB'));
            t.equal(
                small.reduce((sum, row) => sum + Number(row[2]), 0),
                1000,
                'single loads',
            );
            t.equal(small[0][1], '2', 'the latency of L1');
            await t.picture(page, 'latencies');
            for (const group of ['misses:bytes', 'cycles:pages']) {
                await page.evaluate(`cachetally.set({ curves: ${JSON.stringify(group)} })`);
                await t.quiet(page);
                t.equal(await page.evaluate(`document.querySelector('select').value`), group, 'curves');
            }
            await page.evaluate(`cachetally.set({ curves: 'cycles:bytes' })`);
            await t.quiet(page);
            await page.locator('canvas.zooms').first().press('+');
            await t.until(page, '/x=[0-9.]+-[0-9.]+/.test(location.hash)', 'the zoom in the URL');
            const [from, to] = await page.evaluate(`/x=([0-9.]+)-([0-9.]+)/.exec(location.hash).slice(1).map(Number)`);
            t.check(from > 1024 && to < 4 << 20 && from < to, `${from} to ${to}`);
            const before = Object.keys(await page.evaluate('cachetally.current.totals()')).length;
            await page.locator('.checks input').first().click();
            await t.quiet(page);
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).length, before - 1, 'curves');
        },
    ],
    [
        'curves: two machines over each other',
        async (t, page) => {
            await t.open(page, t.file('probe.h5'));
            await t.compare(page, t.file('probe2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ residuals: 'first' })`);
            await t.quiet(page);
            const csv = fields(await t.saved(page, 'CSV'));
            const labels = [...new Set(csv.slice(1).map((row) => row[0]))];
            t.check(
                labels.some((each) => each.startsWith('2 xray-athlonmp: levels robust')),
                labels.join(),
            );
            const of = (prefix) => csv.slice(1).filter((row) => row[0] === `${prefix}: levels robust, times`);
            const mine = of('2 xray-athlonmp');
            const first = of('1 xray-pentium4xeon');
            const row = mine.find((each) => first.some((other) => other[1] === each[1]));
            const twin = first.find((each) => each[1] === row[1]);
            t.near(Number(row[6]), 100 * (Number(row[2]) / Number(twin[2]) - 1), `residual at ${row[1]}`, 1e-9);
            t.equal(first[0][6], 'NaN', 'the first file has no residuals against itself');
            await t.picture(page, 'curves-two');
            await t.compare(page, t.file('lu.h5'));
            const message = await t.until(page, `document.querySelector('.notice.error')?.textContent`, 'a message');
            t.check(/lu\.h5 cannot be compared with probe\.h5: it has no curves of probes/.test(message), message);
        },
    ],
];
