// SPDX-License-Identifier: BSD-3-Clause
// What the page says of one thing in several places agrees: under the pointer, after a click, in CSV, in Python.
import { box, number, tableRows } from './screen.mjs';

async function savedRows(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
    return { head, rows, sum: (name) => rows.reduce((all, row) => all + Number(row[head.indexOf(name)]), 0) };
}

/** What the Python snippet of a picture prints. */
async function snippetSays(t, page, picture = page) {
    await picture.getByLabel(/^Show a Python/).first().click();
    const code = await page.locator('dialog pre').textContent();
    await t.press(page, 'Close');
    return t.script('-c', code);
}

const found = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

export const agreementCases = [
    [
        'agreement: the lines under the pointer are those that a click lists',
        async (t, page) => {
            for (const x of ['', 'x=20000-60000', 'x=1000-1500']) {
                await t.open(page, t.file('lu.h5'), `show=accesses&off=L2&${x}`);
                await new Promise((resolve) => setTimeout(resolve, 150));
                await t.quiet(page);
                const place = await box(page, 'canvas.zooms');
                for (const share of [0.21, 0.5, 0.77]) {
                    const at = [Math.round(place.x + place.width * share), place.y + 90];
                    await page.mouse.move(...at);
                    await t.quiet(page);
                    const told = /L1: ([\d.]+k?)/.exec(await page.locator('.readout').first().textContent())?.[1];
                    await page.mouse.click(...at);
                    await t.until(page, `document.querySelector('.lines table')`, 'the lines behind a column');
                    const [head, ...rows] = await tableRows(page, 'Counts of the lines');
                    const counts = rows.map((row) => number(row[head.indexOf('L1 accesses')])).filter((each) => each > 0);
                    const mean = counts.reduce((sum, each) => sum + each, 0) / counts.length;
                    t.near(parseFloat(mean.toPrecision(3)), Number(told), `mean of ${counts.length} lines at ${share} of ${x}`);
                    await page.evaluate(`document.querySelector('.lines').replaceChildren()`);
                }
            }
        },
    ],
    [
        'agreement: CSV of a structure has all of its lines',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'show=misses');
            const [head, ...rows] = await tableRows(page, 'Data structures');
            const column = head.indexOf('L1 misses');
            await t.press(page, 'A');
            await new Promise((resolve) => setTimeout(resolve, 150));
            await t.quiet(page);
            const { sum } = await savedRows(t, page);
            t.equal(sum('L1 sum'), number(rows.find((row) => row[0] === 'A')[column]), 'misses in A');
        },
    ],
    [
        'agreement: Python reads what is shown',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&off=L2&x=2048-32768&phases=3-6');
            await new Promise((resolve) => setTimeout(resolve, 150));
            await t.quiet(page);
            const zoomed = await savedRows(t, page);
            t.check(zoomed.sum('L1 sum') > 0, 'misses in sight');
            t.equal(found(await snippetSays(t, page), /sum ([\d.]+)/), zoomed.sum('L1 sum'), 'zoomed histogram');

            await t.open(page, t.file('lu.h5'), 'view=phases&mode=heat&show=misses&level=L1&x=2048-32768');
            const heat = await savedRows(t, page);
            const all = heat.rows.reduce((sum, [, lines, ...means]) => sum + lines * means.reduce((a, b) => a + Number(b), 0), 0);
            t.near(found(await snippetSays(t, page), /sum ([\d.]+)/), all, 'zoomed heat map', 1e-6);

            await t.open(page, t.file('lu.h5'), 'view=phases&mode=difference&show=misses&level=L1&phases=3,5');
            const phases = await savedRows(t, page);
            t.equal(found(await snippetSays(t, page), /difference (-?[\d.]+)/), phases.sum('phase 5 − phase 3 sum'), 'difference of phases');

            await t.open(page, t.file('lu.h5'), 'show=misses&level=L1');
            await t.compare(page, t.file('lu2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await t.quiet(page);
            const files = await savedRows(t, page);
            t.equal(found(await snippetSays(t, page), /difference (-?[\d.]+)/), files.sum('second − first sum'), 'difference of files');

            await t.open(page, t.file('sweep.h5'), 'view=sweep&over=area');
            const front = await snippetSays(t, page, page.locator('.figure:visible').nth(2));
            const { rows } = t.json('show', 'sweep.h5');
            t.equal(front.trim().split('\n').length, rows.length, 'cells');
            rows.forEach(({ granularity, counters, error, area }) => {
                const line = front.split('\n').find((each) => each.startsWith(`G = ${granularity} C = ${counters} `));
                t.near(found(line, /error ([\d.e-]+)/), error, `error of ${granularity}, ${counters}`);
                t.near(found(line, /area ([\d.e+]+)/), area, `area of ${granularity}, ${counters}`);
            });
        },
    ],
];
