// SPDX-License-Identifier: BSD-3-Clause
// What the page says of one thing in several places agrees: under the pointer, after a click, in CSV, in Python.
import { readFileSync } from 'node:fs';
import { box, found, number, snippetSays, tableRows } from './screen.mjs';

async function savedRows(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
    return { head, rows, sum: (name) => rows.reduce((all, row) => all + Number(row[head.indexOf(name)]), 0) };
}

export const agreementCases = [
    [
        'agreement: the lines under the pointer are those that a click selects',
        async (t, page) => {
            for (const x of ['', 'x=20000-60000', 'x=1000-1500'])
                for (const share of [0.21, 0.5, 0.77]) {
                    await t.open(page, t.file('lu.h5'), `show=accesses&${x}`);
                    await new Promise((resolve) => setTimeout(resolve, 150));
                    await t.quiet(page);
                    const place = await box(page, 'canvas.field');
                    const at = [Math.round(place.x + place.width * share), place.y + 90];
                    await page.mouse.move(...at);
                    await t.quiet(page);
                    const text = await page.locator('.readout').first().textContent();
                    const told = /Accesses of L1: ([\d.]+k?)/.exec(text)?.[1];
                    await page.mouse.click(...at);
                    await t.quiet(page);
                    const [lines, accesses] = await page.evaluate(`[...document.querySelectorAll('.numbers dd')].map((each) => Number(each.textContent.split(' ')[0].replace(/,/g, '')))`);
                    const mean = accesses / lines;
                    const shown = /k$/.test(told) ? 1000 * parseFloat(told) : Number(told);
                    t.near(Number(mean.toPrecision(3)), shown, `mean of ${lines} lines at ${share} of '${x}' (${text})`);
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
            await t.press(page, 'Zoom');
            await new Promise((resolve) => setTimeout(resolve, 150));
            await t.quiet(page);
            const { sum } = await savedRows(t, page);
            t.equal(sum('sum'), number(rows.find((row) => row[0] === 'A')[column]), 'misses in A');
        },
    ],
    [
        'agreement: Python reads what is shown',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&x=2048-32768&phases=3-6');
            await new Promise((resolve) => setTimeout(resolve, 150));
            await t.quiet(page);
            const zoomed = await savedRows(t, page);
            t.check(zoomed.sum('sum') > 0, 'misses in sight');
            t.equal(found(await snippetSays(t, page), /sum ([\d.]+)/), zoomed.sum('sum'), 'the field, zoomed');

            await t.open(page, t.file('lu2.h5'), 'cause=conflict&phases=3-6&structure=A');
            const [head, ...rows] = await tableRows(page, 'Data structures');
            t.equal(found(await snippetSays(t, page), /sum (\d+)/), number(rows.find((row) => row[0] === 'A')[head.indexOf('conflict')]), 'conflicts of A');

            await t.open(page, t.file('lu.h5'), 'show=misses&level=L1');
            await t.compare(page, t.file('lu2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await t.quiet(page);
            const files = await savedRows(t, page);
            t.equal(found(await snippetSays(t, page), /difference (-?[\d.]+)/), files.sum('B − A sum'), 'difference of files');

            await t.open(page, t.file('sweep.h5'), 'view=sweep&over=area');
            const front = await snippetSays(t, page, page.locator('.figure:visible').nth(2));
            const cells = t.json('show', 'sweep.h5').rows;
            t.equal(front.trim().split('\n').length, cells.length, 'cells');
            cells.forEach(({ granularity, counters, error, area }) => {
                const line = front.split('\n').find((each) => each.startsWith(`G = ${granularity} C = ${counters} `));
                t.near(found(line, /error ([\d.e-]+)/), error, `error of ${granularity}, ${counters}`);
                t.near(found(line, /area ([\d.e+]+)/), area, `area of ${granularity}, ${counters}`);
            });
        },
    ],
    [
        'agreement: figures for print have the addresses and holes of the page at their axis',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'lu', 'n=64', '-m', 'generic3', '-o', 'axis.h5');
            t.run('figure', 'histogram', 'axis.h5', '-o', 'axis.svg', '--force');
            await t.open(page, t.file('axis.h5'), 'show=accesses');
            const drawn = [await t.saved(page, 'SVG'), readFileSync(t.file('axis.svg'), 'utf8')].map((svg) => ({
                addresses: [...String(svg).matchAll(/>(0x[0-9a-f]+)</g)].map(([, address]) => address).join(),
                holes: new Set([...String(svg).matchAll(/stroke-dasharray[=:]["' ]*\d/g)].map(([text]) => text)).size,
            }));
            t.equal(drawn[0].addresses, '0x10000000,0x10004000,0x10008000,0x7fff0000', 'the page');
            t.equal(JSON.stringify(drawn[1]), JSON.stringify(drawn[0]), 'the figure');
        },
    ],
];
