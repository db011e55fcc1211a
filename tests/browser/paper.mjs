// SPDX-License-Identifier: BSD-3-Clause
// What leaves the screen: print, and the browser's Back and Forward.
import { join } from 'node:path';
import { box } from './screen.mjs';

/** Pictures and tables as they are laid out on paper of 718 x 1000 pixels (A4 with Chromium's margins). */
const laidOut = `(() => {
    const seen = (each) => each.getClientRects().length > 0;
    const edges = (each) => { const { left, right, height } = each.getBoundingClientRect(); return { left, right, height }; };
    const pictures = [...document.querySelectorAll('.printed svg')].filter(seen).map((svg) => ({ ...edges(svg), texts: [...svg.querySelectorAll('text')].map((text) => text.textContent) }));
    const canvases = [...document.querySelectorAll('.figure canvas')].filter(seen).length;
    const cells = [...document.querySelectorAll('.view table')].filter(seen).map((table) => {
        const of = (row) => [...row.cells].map((cell) => ({ ...edges(cell), text: cell.textContent }));
        const clip = [...document.querySelectorAll('.table-box')].find((each) => each.contains(table));
        return { rows: [...table.rows].map(of), whole: !clip || (clip.scrollHeight <= clip.clientHeight + 1 && clip.scrollWidth <= clip.clientWidth + 1) };
    });
    const boxes = [...document.querySelectorAll('thead .sort')].filter((each) => getComputedStyle(each).display !== 'contents').length;
    return { pictures, canvases, cells, boxes };
})()`;

let pictures = 0;

async function paper(t, page) {
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 718, height: 1000 });
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    const found = await page.evaluate(laidOut);
    await t.picture(page, `paper-${++pictures}`);
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    await page.setViewportSize({ width: 1280, height: 900 });
    await t.quiet(page);
    return found;
}

export const paperCases = [
    [
        'print: every picture is whole',
        async (t, page) => {
            for (const view of ['workbench', 'workbench&phases=4&y=cycles', 'topology']) {
                await t.open(page, t.file('lu.h5'), `view=${view}`);
                const { pictures, canvases } = await paper(t, page);
                t.equal(canvases, 0, 'canvases on paper');
                t.check(pictures.length > 0, `pictures of ${view}`);
                for (const { left, right, height } of pictures)
                    t.check(left >= 0 && right <= 718 && height > 50 && height <= 1000, `${view}: ${left} to ${right}, ${height} high`);
            }
            t.equal(await page.evaluate(`document.querySelectorAll('.printed svg').length`), 0, 'pictures for paper after printing');
            await page.evaluate(`window.addEventListener('beforeprint', () => (window.onPaper = document.querySelectorAll('.printed svg').length))`);
            await page.pdf();
            t.check((await page.evaluate('window.onPaper')) > 0, 'the browser itself prints these');
        },
    ],
    [
        'print: a dark page is light on paper, and dark again',
        async (t, page) => {
            for (const hash of ['theme=dark&show=misses', 'theme=dark&structure=A']) {
                await t.open(page, t.file('lu2.h5'), hash);
                await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
                const [ground, svg] = await page.evaluate(`[getComputedStyle(document.documentElement).backgroundColor, document.querySelector('.printed svg').outerHTML.toLowerCase()]`);
                await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
                await t.quiet(page);
                t.equal(ground, 'rgb(246, 247, 249)', 'the paper');
                const drawn = ({ misses, causes }) => [misses, causes[0], causes[3]];
                const inks = [...drawn(t.colours.light), '#1c2430'].map((light, i) => [light, [...drawn(t.colours.dark), '#e6eaf0'][i]]);
                for (const [light, dark] of inks) {
                    t.check(svg.includes(light), `${hash}: something is ${light}`);
                    t.check(!svg.includes(dark), `${hash}: nothing is ${dark}`);
                }
                t.equal(await page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`), 'rgb(18, 22, 28)', 'the page behind it');
            }
        },
    ],
    [
        'print: tables have all their rows and columns on the paper',
        async (t, page) => {
            for (const [file, view] of [['lu.h5', 'tables'], ['matmul.h5', 'tables'], ['lu.h5', 'workbench'], ['intrusion.h5', 'tables']]) {
                await t.open(page, t.file(file), `view=${view}`);
                const headers = await page.evaluate(`[...document.querySelectorAll('.view table')].filter((each) => each.getClientRects().length > 0).flatMap((table) => [...table.rows[0].cells].map((cell) => cell.textContent))`);
                const { cells, boxes } = await paper(t, page);
                const there = new Set(cells.flatMap(({ rows }) => rows[0].map(({ text }) => text)));
                for (const header of headers) t.check(there.has(header), `column '${header}' of ${file} on paper`);
                t.check(cells.length > 0, `tables of ${file}`);
                t.equal(boxes, 0, `boxes in headings of ${file}, for which Chromium does not repeat them on the next page`);
                for (const { rows, whole } of cells) {
                    t.check(whole, `the table of ${rows[0].map(({ text }) => text)} is not cut`);
                    for (const row of rows)
                        for (const { left, right, text } of row) t.check(left >= 0 && right <= 718, `${file}: '${text}' reaches from ${left} to ${right}`);
                }
            }
        },
    ],
    [
        'print: a table of which rows are left out says how many',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(join(t.here, 'make_phases.py'), t.file('phases600.h5'), 'ramp', '600', '4');
            for (const columns of [[], ['one', 'two', 'three', 'four', 'five', 'six']]) {
                await t.open(page, t.file('phases600.h5'), 'view=tables');
                await page.evaluate(`cachetally.source.info.structureLevels = ${JSON.stringify(columns)}.map((name) => ({ name, structure: [0], phase: [0], accesses: Float64Array.of(1), misses: Float64Array.of(1) })); cachetally.shown = ''; cachetally.set({ level: '${columns}' })`);
                await page.emulateMedia({ media: 'print' });
                await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
                const said = await page.evaluate(`[...document.querySelectorAll('.view .note')].filter((each) => each.getClientRects().length > 0 && each.textContent === '100 more rows are in the CSV file.').length`);
                await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
                await page.emulateMedia({ media: 'screen' });
                t.equal(said, 1, `${columns.length} levels: how many rows are left out, on paper`);
            }
        },
    ],
    [
        'Back undoes what was chosen and stays on the page; Forward does it again',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const kept = () => new Promise((resolve) => setTimeout(resolve, 250));
            const state = () => page.evaluate(`[cachetally.source.info.name, cachetally.shown, cachetally.state.show ?? 'misses', cachetally.state.x ?? ''].join()`);
            await kept();
            await t.press(page, 'Hits');
            await kept();
            const { x, y, width } = await box(page, 'canvas.zooms');
            await page.mouse.move(x + width / 2, y + 100);
            for (let i = 0; i < 3; ++i) await page.mouse.wheel(0, -200);
            await kept();
            const zoomed = await state();
            t.check(/^lu\.h5,workbench,hits,\d+-\d+$/.test(zoomed), zoomed);
            await page.getByRole('tab', { name: 'Topology' }).click();
            await kept();
            const seen = [];
            for (const step of ['goBack', 'goBack', 'goForward', 'goForward']) {
                await page[step]();
                await t.quiet(page);
                seen.push(await state());
            }
            const x0 = zoomed.split(',')[3];
            t.equal(seen.join(' '), `${zoomed} lu.h5,workbench,misses, ${zoomed} lu.h5,topology,hits,${x0}`, 'what Back and Forward show');
        },
    ],
];
