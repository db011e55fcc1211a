// SPDX-License-Identifier: BSD-3-Clause
// Narrow screens: nothing lies over anything else, and what does not fit can be scrolled to and says so. Empty and uneven panels.

/** Controls and texts of the page that lie over each other, by what they say. */
const overlaps = (page) =>
    page.evaluate(`(() => {
        const seen = [...document.querySelectorAll('button, select, input, h3, .note, .check, .field > span, .readout, td, th')].filter((each) => each.offsetParent && !each.closest('.table-box, details:not([open]) > div'));
        const boxes = seen.map((each) => each.getBoundingClientRect());
        const found = [];
        for (let i = 0; i < seen.length; ++i)
            for (let j = i + 1; j < seen.length; ++j) {
                if (seen[i].contains(seen[j]) || seen[j].contains(seen[i])) continue;
                const [a, b] = [boxes[i], boxes[j]];
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 2 && high > 2) found.push((seen[i].textContent || seen[i].value).slice(0, 30) + ' / ' + (seen[j].textContent || seen[j].value).slice(0, 30));
            }
        for (const [i, box] of boxes.entries()) if (box.right > innerWidth + 1) found.push(seen[i].textContent.slice(0, 30) + ' / the edge of the screen');
        return found; })()`);

const textsOf = async (t, page) => {
    const svg = await t.saved(page, 'SVG');
    return [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
};

export const narrowCases = [
    [
        'narrow: no control lies over another',
        async (t, page) => {
            for (const [file, views] of [
                ['matmul.h5', ['workbench', 'workbench&phases=1&sel=0x10000000-0x10000800', 'topology', 'tables']],
                ['sweep.h5', ['sweep&cell=2,64']],
                ['intrusion.h5', ['intrusion']],
                ['probe.h5', ['curves']],
            ])
                for (const view of views) {
                    await page.setViewportSize({ width: 600, height: 900 });
                    await t.open(page, t.file(file), `view=${view}`);
                    for (const width of [600, 800, 390]) {
                        await page.setViewportSize({ width, height: 900 });
                        await t.quiet(page);
                        const found = await overlaps(page);
                        t.check(found.length === 0, `${view} at ${width} pixels: ${found.join('; ')}`);
                    }
                }
            await page.setViewportSize({ width: 1280, height: 900 });
        },
    ],
    [
        'narrow: names of files of 170 letters make no view wider, and lie under nothing',
        async (t, page) => {
            const [first, second] = ['n', 'm'].map((letter) => `${letter.repeat(167)}.h5`);
            for (const [file, size] of [[first, 'n=32'], [second, 'n=48']]) t.run('run', 'lu', size, '--machine', 'schulz2002', '-o', file);
            await page.setViewportSize({ width: 400, height: 900 });
            await t.open(page, t.file(first));
            const look = async (which) => {
                for (const view of await page.evaluate(`[...document.querySelectorAll('[role=tab]')].map((each) => each.dataset.view)`)) {
                    await page.evaluate(`cachetally.set({ view: '${view}' })`);
                    await t.quiet(page);
                    t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), 400, `width of ${view}, ${which}`);
                    const found = await overlaps(page);
                    t.check(found.length === 0, `${view}, ${which}: ${found.join('; ')}`);
                }
            };
            await look('one file');
            await t.compare(page, t.file(second));
            await look('two files');
            await page.setViewportSize({ width: 1280, height: 900 });
        },
    ],
    [
        'wide: the workbench takes the width of a large screen, with details and tables in two columns',
        async (t, page) => {
            t.run('run', 'lu', 'n=96', '--machine', 'schulz2002', '--causes', '-o', 'wide.h5');
            await t.open(page, t.file('wide.h5'), 'view=workbench');
            await page.setViewportSize({ width: 3840, height: 2160 });
            await t.quiet(page);
            const widths = await page.evaluate(`['#view', 'canvas.field', '.details'].map((each) => document.querySelector(each).clientWidth)`);
            t.check(widths[0] > 3600 && widths[1] > 2800 && widths[2] > 600, `widths of the view, the field and details: ${widths}`);
            const lefts = (selector) => page.evaluate(`new Set([...document.querySelectorAll('${selector}')].map((each) => Math.round(each.getBoundingClientRect().left))).size`);
            t.equal(await lefts('.details > .detail:not([hidden])'), 2, 'columns of details');
            t.equal(await lefts('.middle .view > .card'), 2, 'columns of tables');
            const found = await overlaps(page);
            t.check(found.length === 0, found.join('; '));
            await page.setViewportSize({ width: 1280, height: 900 });
        },
    ],
    [
        'narrow: the machine says that it scrolls, where it does',
        async (t, page) => {
            const hint = () => page.evaluate(`!document.querySelector('.scrolls').hidden`);
            await page.setViewportSize({ width: 600, height: 900 });
            await t.open(page, t.file('matmul.h5'), 'view=topology');
            t.equal(await hint(), true, 'hint at 600 pixels');
            await page.setViewportSize({ width: 1400, height: 900 });
            await t.quiet(page);
            await t.until(page, `document.querySelector('.scrolls').hidden`, 'no hint at 1400 pixels', 5000);
            await page.setViewportSize({ width: 1280, height: 900 });
        },
    ],
    [
        'narrow: tables that are wider than their box say that they scroll',
        async (t, page) => {
            const signs = `[...document.querySelectorAll('.table-box')].map((each) => [each.scrollWidth > each.clientWidth + 8, each.previousSibling?.getClientRects().length > 0 && each.previousSibling.textContent.includes('scroll sideways')])`;
            await t.open(page, t.file('matmul.h5'), 'view=tables');
            const wider = [];
            for (const width of [400, 1900]) {
                await page.setViewportSize({ width, height: 900 });
                await t.quiet(page);
                await t.until(page, `${signs}.every(([wide, said]) => wide === said)`, `signs at ${width} pixels, where tables are wider`, 5000);
                wider.push(await page.evaluate(`${signs}.filter(([wide]) => wide).length`));
            }
            t.check(wider[0] > 4 && wider[1] < wider[0], `so many tables are wider: ${wider}`);
            await page.setViewportSize({ width: 1280, height: 900 });
        },
    ],
    [
        'tables that are longer than their box tell how many rows they have',
        async (t, page) => {
            const rows = t.json('show', 'probe.h5').results.length;
            t.check(rows > 20, `${rows} findings`);
            await t.open(page, t.file('probe.h5'));
            const caption = await page.locator('[aria-label="Findings"] caption').textContent();
            t.check(caption.includes(`${rows} rows`), caption);
        },
    ],
    [
        'an empty histogram has no axis',
        async (t, page) => {
            const { phases } = t.json('show', 'matmul.h5');
            t.equal(phases[2].references, 0, 'references of the last phase');
            await t.open(page, t.file('matmul.h5'), 'phases=2');
            const empty = await textsOf(t, page);
            t.check(empty.includes('nothing here') || empty.includes('0 everywhere'), empty.join('|'));
            t.check(!empty.some((text) => text === '0.5'), `an axis without counts: ${empty.join('|')}`);
        },
    ],
];
