// SPDX-License-Identifier: BSD-3-Clause
// Campaigns and sweeps by any two parameters: every cell's number and colour is what numpy makes of the file; filters, keys, links, exports.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchFirefox, openPage } from './browsers.mjs';

const yaml = `name: small
machines: [generic3, {machine: generic3, set: {L2.size: [256 KiB, 1 MiB], L1D.ways: [4, 8]}}]
workloads: [{run: lu, set: {n: [32, 64], block: 8}}, {run: radix, set: {keys: 4K}}]
monitors: [none, {set: {counters: [16, 32], granularity: 1-2}}]
seeds: 1-2
`;
const result = 'small.campaign/result.h5';

/** Made once. */
function campaign(t) {
    if (!existsSync(join(t.directory, result))) {
        writeFileSync(join(t.directory, 'small.yaml'), yaml);
        t.run('campaign', 'run', 'small.yaml');
    }
    return t.file(result);
}

const expected = (t, file, choice) => JSON.parse(t.script(join(t.here, 'medians.py'), file, join(t.here, '../../viewer/drawing.json'), JSON.stringify({ group: 'campaign', facet: null, where: {}, ...choice })));

const hashOf = ({ across, down, facet, value, where = {} }) =>
    Object.entries({ view: 'pivot', across, down, facet, metric: value, where: Object.entries(where).map((each) => each.flat().join('|')).join(';') })
        .filter(([, text]) => text)
        .map(([key, text]) => `${key}=${encodeURIComponent(text)}`)
        .join('&');

/** The number that a cell shows. */
function shown(text) {
    const [, digits, suffix] = /^([\d.]+)(?: ?([kMG%]))?$/.exec(text.replace(/,/g, '')) ?? [];
    return Number(digits) * ({ k: 1e3, M: 1e6, G: 1e9, '%': 0.01 }[suffix] ?? 1);
}

/** What the picture has of each cell, in order: its box, the colour of its pixels, its text. */
const cellsOnScreen = (page) =>
    page.evaluate(`(() => {
        const canvas = document.querySelector('.pivot canvas');
        const scale = canvas.width / canvas.clientWidth;
        const boxes = cachetally.current.boxes();
        const { width, data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height); // at once: browsers warn of many
        return boxes.map(({ x, y, height }) => {
            const at = 4 * (Math.round((y + height - 4) * scale) * width + Math.round((x + 7) * scale));
            return { pixel: [...data.subarray(at, at + 4)] };
        });
    })()`);

async function compare(t, page, file, choice) {
    const what = JSON.stringify(choice);
    await t.open(page, file, hashOf(choice));
    const cells = expected(t, file, choice);
    const totals = await page.evaluate('cachetally.current.totals()');
    t.equal(Object.keys(totals).join('; '), cells.map(({ name }) => name).join('; '), `cells, ${what}`);
    const drawn = await cellsOnScreen(page);
    t.equal(drawn.length, cells.length, `cells that are drawn, ${what}`);
    cells.forEach(({ name, median, colour }, i) => {
        if (median === null) return t.check(Number.isNaN(totals[name]) || totals[name] === null, `${name}, ${what}: ${totals[name]} is not known`);
        t.near(totals[name], median, `median of ${name}, ${what}`, 1e-12);
        const { pixel } = drawn[i];
        t.check(pixel[3] === 255 && colour.every((part, k) => Math.abs(part - pixel[k]) <= 1.01), `colour of ${name}, ${what}: ${pixel}, expected ${colour}`);
    });
    return cells;
}

/** Texts of the picture as SVG; those of cells are the numbers in it. */
async function compareTexts(t, page, cells, what) {
    const svg = await t.saved(page, 'SVG');
    const texts = [...svg.matchAll(/<text[^>]*text-anchor="middle"[^>]*>([^<]*)</g)].map(([, text]) => text);
    const numbers = texts.slice(-cells.length);
    cells.forEach(({ name, median }, i) => {
        if (median === null) t.equal(numbers[i], '-', `text of ${name}, ${what}`);
        else t.near(shown(numbers[i]), median, `text of ${name}, ${what}`, Math.max(numbers[i].endsWith('%') ? 6e-5 : 0, 0.006 * median) / Math.max(1, median));
    });
}

const choices = [
    { across: 'counters', down: 'granularity', value: 'error' },
    { across: 'n', down: 'L2.size', facet: 'L1D.ways', value: 'swapouts' },
    { across: 'L1D.ways', down: 'L2.size', value: 'miss_rate_L1D', facet: 'workload' },
    { across: 'workload', down: 'monitor', value: 'swapouts' },
    { across: 'seed', down: 'keys', value: 'cycles', where: { 'L2.size': [262144, 1048576], counters: [32] } },
    { across: 'granularity', down: 'L2.size', value: 'misses_L1I' },
];

export const campaignCases = [
    [
        'campaign: numbers and colours of all cells are those of the file',
        async (t, page) => {
            if (!t.python) return 'there is no python3-h5py';
            const file = campaign(t);
            for (const choice of choices) await compareTexts(t, page, await compare(t, page, file, choice), JSON.stringify(choice));
        },
    ],
    [
        'campaign: of two files what the second has more, and one scale for both',
        async (t, page) => {
            if (!t.python) return 'there is no python3-h5py';
            const first = campaign(t);
            writeFileSync(join(t.directory, 'other.yaml'), yaml.replace('n: [32, 64]', 'n: [64, 96]').replace('1-2}', '1-3}'));
            if (!existsSync(t.file('other.campaign/result.h5'))) t.run('campaign', 'run', 'other.yaml');
            const second = t.file('other.campaign/result.h5');
            const choice = { across: 'n', down: 'L2.size', value: 'misses_L1D', facet: 'counters', where: { granularity: [1] } };
            const medians = [first, second].map((file) => Object.fromEntries(expected(t, file, choice).map(({ name, median }) => [name, median])));
            await t.open(page, first, hashOf(choice));
            await t.compare(page, second);
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            const show = async (file) => {
                await page.evaluate(`cachetally.set({ view: 'pivot', file: '${file}' })`);
                await t.quiet(page);
                return page.evaluate('cachetally.current.totals()');
            };
            const found = await show('difference');
            t.equal(Object.keys(found).join('; '), Object.keys(medians[0]).join('; '), 'cells of the first file');
            for (const [name, value] of Object.entries(found)) {
                const [a, b] = medians.map((each) => each[name]);
                t.check(b === undefined ? value === null || Number.isNaN(value) : Math.abs(value - (b - a)) < 1e-9, `${name}: ${value}, of ${a} and ${b}`);
            }
            t.check(Object.values(found).some((value) => value === 0) && Object.keys(found).length > 4, 'cells that both have');
            const ends = async () => (await t.saved(page, 'SVG')).match(/<text[^>]*>([^<]*)<\/text>/g).slice(-2).join(' ');
            await show('');
            const scale = await ends();
            await show('b');
            t.equal(await ends(), scale, 'the scale of colours of both');
        },
    ],
    [
        'campaign: filters, table, keys, tips, link, Python',
        async (t, page) => {
            if (!t.python) return 'there is no python3-h5py';
            const file = campaign(t);
            const choice = { across: 'counters', down: 'n', value: 'swapouts', facet: 'L2.size' };
            await t.open(page, file, hashOf(choice));
            await t.picture(page, 'campaign');
            await page.getByRole('group', { name: 'seed' }).getByRole('button', { name: '2', exact: true }).click();
            await page.getByRole('group', { name: 'L2.size' }).getByRole('button', { name: '1 MiB' }).click();
            await t.quiet(page);
            const filtered = { ...choice, where: { seed: [2], 'L2.size': [1048576] } };
            const cells = expected(t, file, filtered);
            const totals = () => page.evaluate('cachetally.current.totals()');
            t.equal(JSON.stringify(await totals()), JSON.stringify(Object.fromEntries(cells.map(({ name, median }) => [name, median]))), 'filtered cells');
            await t.until(page, 'location.hash.includes("where=seed%7C2")', 'the filters in the URL');
            const rows = () => page.evaluate(`[...document.querySelectorAll('.pivot > .view > .card table')].map((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))`);
            const sorted = [...cells].sort((a, b) => b.median - a.median);
            const [table] = await rows();
            sorted.forEach(({ name, median, points }, i) => {
                t.equal(table[i][0], name, `row ${i}, the worst first`);
                t.near(Number(table[i][1].replace(/,/g, '')), median, `median of row ${i}`, 1e-9);
                t.equal(Number(table[i][4]), points, `points of row ${i}`);
            });
            await page.getByRole('button', { name: sorted[0].name }).click();
            await t.quiet(page);
            t.equal((await rows())[1].length, sorted[0].points, 'the points of the cell');
            const boxes = await page.evaluate('cachetally.current.boxes()');
            const at = cells.findIndex(({ name }) => name === sorted[0].name);
            const { x, y } = await page.locator('.pivot canvas').boundingBox();
            await page.mouse.move(x + boxes[at].x + 9, y + boxes[at].y + 9);
            const tip = await page.evaluate(`document.querySelector('.pivot canvas').title`);
            t.equal(tip.split('\n').length, 1 + sorted[0].points, `a line for each point: ${tip}`);
            await page.locator('.pivot canvas').focus();
            const before = await page.evaluate('cachetally.state.cell');
            await page.keyboard.press('ArrowRight');
            await page.keyboard.press('ArrowUp');
            await t.quiet(page);
            t.check((await page.evaluate('cachetally.state.cell')) !== before, 'arrows go to another cell');
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            await t.press(page, 'Close');
            const told = t.script('-c', code.replace('"result.h5"', `"${result}"`)).trim().split('\n').map((line) => /median (\S+) of (\d+)/.exec(line).slice(1).map(Number));
            t.equal(JSON.stringify(told.map(([median]) => median).sort()), JSON.stringify(cells.map(({ median }) => median).sort()), 'medians by Python');
            const hash = (await page.evaluate('location.hash')).slice(1);
            await t.open(page, file, 'view=tables');
            await t.open(page, file, hash);
            t.equal(Object.keys(await totals()).length, cells.length, 'cells of the link');
            t.equal(await page.evaluate(`document.querySelectorAll('.pivot .chip[aria-pressed=true]').length`), 2, 'chips of the link');
        },
    ],
    [
        'campaign: every choice has a name, and a narrow page is no wider than it is',
        async (t) => {
            const page = await t.newPage({ viewport: { width: 400, height: 800 } });
            await t.open(page, campaign(t), hashOf({ across: 'monitor', down: 'L2.size', facet: 'workload', value: 'swapouts' }));
            t.check((await page.evaluate('document.documentElement.scrollWidth')) <= 400, 'nothing sticks out');
            t.equal(await page.evaluate(`[...document.querySelectorAll('.pivot select')].filter((each) => !each.getAttribute('aria-label')).length`), 0, 'choices without names');
            await page.close();
        },
    ],
    [
        'sweep: by any two parameters',
        async (t, page) => {
            if (!t.python) return 'there is no python3-h5py';
            await compare(t, page, t.file('sweep.h5'), { group: 'sweep/rows', across: 'counters', down: 'granularity', value: 'swapouts' });
            await compare(t, page, t.file('sweep.h5'), { group: 'sweep/rows', across: 'granularity', down: 'counters', value: 'error', where: { granularity: ['1', '3', '6'] } });
        },
    ],
    [
        'Firefox: numbers and colours of campaigns',
        async (t) => {
            const program = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find((each) => each && existsSync(each));
            if (!program || !t.python) return 'there is no Firefox (Debian: firefox-esr), or no python3-h5py';
            const firefox = await launchFirefox(program, t.directory);
            try {
                const errors = [];
                const page = await openPage(firefox, errors, { colorScheme: 'light' });
                for (const choice of choices) await compare(t, page, campaign(t), choice);
                t.equal(errors.join('; '), '', 'errors in the console');
            } finally {
                await firefox.close();
            }
        },
    ],
];
