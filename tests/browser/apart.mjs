// SPDX-License-Identifier: BSD-3-Clause
// Curves can be told apart: colours, names at their ends, and curves that lie on each other.
import { join } from 'node:path';

const edited = (t, file, code) => t.script('-c', `import h5py\nwith h5py.File(${JSON.stringify(t.file(file))}, "r+") as f:\n${code}`);

/** Texts and lines of a picture as SVG. */
async function drawn(t, page, nth) {
    const svg = await t.saved(page, 'SVG', page.locator('.figure:visible').nth(nth));
    const attribute = (text, name) => new RegExp(` ${name}="([^"]*)"`).exec(text)?.[1] ?? '';
    const texts = [...svg.matchAll(/<text([^>]*)>([^<]*)</g)].map(([, head, text]) => ({
        text,
        x: Number(attribute(head, 'x')),
        y: Number(attribute(head, 'y')),
        colour: attribute(head, 'fill'),
    }));
    const lines = [...svg.matchAll(/<path( d="M[^"hvaz]*" fill="none"[^>]*)>/g)].map(([, head]) => ({
        points: attribute(head, 'd').slice(1).split('L').map((each) => each.split(',').map(Number)),
        colour: attribute(head, 'stroke'),
        width: attribute(head, 'stroke-width'),
    }));
    return { texts, lines };
}

/** How many pixels of a picture have each of some colours. */
const pixels = (page, nth, colours) =>
    page.evaluate(`(() => {
        const canvas = [...document.querySelectorAll('.figure canvas')].filter((each) => each.clientWidth > 0)[${nth}];
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return ${JSON.stringify(colours)}.map((colour) => {
            const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
            let found = 0;
            for (let i = 0; i < data.length; i += 4) found += data[i] === r && data[i + 1] === g && data[i + 2] === b;
            return found;
        });
    })()`);

export const apartCases = [
    [
        'curves: each of 8 granularities and 12 numbers of counters has a colour of its own, and each name is joined to its own end',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(join(t.here, 'make_large.py'), t.file('wide.h5'), '2000', '1');
            for (const theme of ['light', 'dark']) {
                await t.open(page, t.file('wide.h5'), `view=sweep&metric=error&theme=${theme}`);
                await t.picture(page, `apart-${theme}`);
                const lines = await drawn(t, page, 1);
                const names = lines.texts.filter(({ text }) => text.startsWith('G = '));
                t.equal(new Set(names.map(({ colour }) => colour)).size, 8, 'colours of granularities');
                for (const { text, x, y, colour } of names) {
                    const leader = lines.lines.find(({ points, colour: own, width }) => own === colour && Number(width || 1) === 1 && points.length === 2 && Math.abs(points[1][0] - x) < 5);
                    t.check(leader && Math.abs(leader.points[1][1] - y) < 6, `${text} is joined to something`);
                    const curve = lines.lines.find(({ colour: own, width }) => own === colour && width === '2');
                    t.equal(leader.points[0].join(), curve.points.at(-1).join(), `the end that ${text} is joined to`);
                }
                const ys = names.map(({ y }) => y).sort((a, b) => a - b);
                for (let i = 1; i < ys.length; ++i) t.check(ys[i] - ys[i - 1] > 12, 'names do not lie over each other');
                const front = await drawn(t, page, 2);
                const counters = front.texts.filter(({ text }) => text.startsWith('C = '));
                t.equal(new Set(counters.map(({ colour }) => colour)).size, 12, 'colours of counters');
            }
        },
    ],
    [
        'curves: equal ones show all their colours',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(join(t.here, 'make_large.py'), t.file('equal.h5'), '2000', '1');
            edited(t, 'equal.h5', '    f["sweep/rows/swapouts"][12:36] = list(f["sweep/rows/swapouts"][:12]) * 2');
            await t.open(page, t.file('equal.h5'), 'view=sweep&metric=swapouts');
            const { texts } = await drawn(t, page, 1);
            const colours = texts.filter(({ text }) => text.startsWith('G = ')).map(({ colour }) => colour);
            const found = await pixels(page, 1, colours);
            await t.picture(page, 'apart-equal');
            t.check(Math.min(...found) > 100 && Math.min(...found) > Math.max(...found) / 6, `pixels of each colour: ${found}`);
            await t.open(page, t.file('probe.h5'), 'view=curves');
            await t.compare(page, t.file('probe.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await t.quiet(page);
            const swatches = await page.evaluate(`[...document.querySelectorAll('.checks .swatch')].map((each) => getComputedStyle(each).backgroundColor)`);
            const hex = swatches.map((each) => `#${each.match(/\d+/g).map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`);
            t.equal(new Set(hex).size, hex.length, 'colours of curves');
            const seen = await pixels(page, 0, hex);
            t.check(Math.min(...seen) > 50, `pixels of each curve, of the same file twice: ${seen}`);
        },
    ],
];
