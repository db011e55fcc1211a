// SPDX-License-Identifier: BSD-3-Clause
// Heat maps: a cell is the mean per line and phase, at every zoom and of any number of phases.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { box } from './screen.mjs';

const make = (t, file, ...words) => t.script(join(t.here, 'make_phases.py'), t.file(file), ...words.map(String));
const shown = (what, x = '') => `show=${what}&level=L1${x && `&x=${x}`}`;
/** What stands before the columns of phases in the table of the field. */
const before = 6;

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed) {
    let state = seed;
    return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Another stretch of the axis; returns when it is drawn. */
async function look(t, page, x) {
    await page.evaluate(`cachetally.set({ x: '${x}' })`);
    await t.quiet(page);
    await t.quiet(page);
}

/** The colours of the cells, and the texts, of the picture as SVG. */
async function picture(t, page) {
    const svg = await t.saved(page, 'SVG');
    const colours = new Set([...svg.matchAll(/fill="([^"]+)" shape-rendering="crispEdges"/g)].map(([, colour]) => colour));
    return { colours, texts: [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text) };
}

const expected = `
import json, sys
import h5py
import numpy as np
file, cells = json.load(open(sys.argv[1]))
g = h5py.File(file, "r")["combined/L1"]
counts = {name: g[name][:] for name in ("accesses", "misses")}
at, phase = g["address"][:].astype(float) - 0x10000, g["phase"][:]
lines = np.unique(at)
def part(begin, low, high):
    return np.clip(np.minimum(begin + 64, high) - np.maximum(begin, low), 0, None) / 64
for what, columns, x0, x1, column, first, behind in cells:
    low, high = (x0 + (x1 - x0) * (column + i) / columns for i in (0, 1))
    own = (phase >= first) & (phase < behind)
    share = part(at[own], low, high)
    if what == "missrate":
        sums = [(counts[name][own] * share).sum() for name in ("misses", "accesses")]
    else:
        sums = [(counts[what][own] * share).sum(), part(lines, low, high).sum() * (behind - first)]
    print(sums[0] / sums[1] if sums[1] > 0 else "nan")
`;

export const heatCases = [
    [
        'heat map: rows hold the phases that their labels name, of 20, 257 and 10,000 phases',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            for (const phases of [20, 257, 10000]) {
                make(t, 'diagonal.h5', 'diagonal', phases, 10000);
                await t.open(page, t.file('diagonal.h5'), shown('accesses'));
                const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
                t.equal(head.length, before + Math.min(256, phases), 'columns of the table');
                let next = 0;
                head.slice(before).forEach((name, i) => {
                    const [from, to = from] = name.match(/\d+/g).map(Number);
                    t.equal(from, next, `first phase of row ${i}`);
                    next = to + 1;
                    let counted = 0;
                    for (let line = 0; line < 10000; ++line) {
                        const phase = Math.floor((line * phases) / 10000);
                        if (phase >= from && phase <= to) counted += 1 + (line % 7);
                    }
                    const drawn = rows.reduce((sum, row) => sum + Number(row[before - 1]) * Number(row[before + i]), 0);
                    t.near(drawn * (to + 1 - from), counted, `accesses in ${name} of ${phases}`, 1e-6);
                });
                t.equal(next, phases, 'phases');
            }
        },
    ],
    [
        'heat map: lines of equal counts have one colour and one number at 30 zooms',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            make(t, 'uniform.h5', 'uniform', 3, 700);
            await t.open(page, t.file('uniform.h5'), shown('accesses'));
            const random = numbers(17);
            for (let i = 0; i < 30; ++i) {
                const size = Math.round(64 * 700 ** random() + 64 * random());
                const from = Math.round(random() * Math.max(0, 700 * 64 - size));
                const x = i === 0 ? '' : `${from}-${Math.min(700 * 64, from + size)}`;
                await look(t, page, x);
                const { colours, texts } = await picture(t, page);
                t.equal(colours.size, 1, `colours of ${x}`);
                t.check(texts.includes('64') && texts.includes('accesses per line of 64 B'), `${x}: ${texts.join('|')}`);
            }
        },
    ],
    [
        'heat map: random cells are what h5py and numpy make of the file',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            make(t, 'random.h5', 'random', 300, 900);
            await t.open(page, t.file('random.h5'), shown('accesses'));
            const random = numbers(5);
            const axis = await page.evaluate('cachetally.source.axis(cachetally.source.info.series.map((each) => each.id)).then(({ segments, bytes }) => [segments.length, Number(segments[0].base), bytes])');
            t.equal(axis.join(), `1,${0x10000},${900 * 64}`, 'the axis');
            const asked = [];
            const found = [];
            for (const what of ['accesses', 'misses', 'missrate'])
                for (let i = 0; i < 8; ++i) {
                    const columns = 32 + Math.floor(random() * 500);
                    const x0 = Math.floor(random() * 30000);
                    const x1 = x0 + 64 + Math.floor(random() * 27000);
                    const cells = Array.from({ length: 40 }, () => [Math.floor(random() * columns), Math.floor(random() * 256)]);
                    found.push(...(await page.evaluate(`(async () => {
                        const { source } = cachetally;
                        const axis = await source.axis(source.info.series.map((each) => each.id));
                        const { sum, weight, edges } = await source.ask('heat', source.info.series[0].id, '${what}', axis, ${x0}, ${x1}, ${columns}, source.info.series[0].phases, 256);
                        return ${JSON.stringify(cells)}.map(([column, row]) => [sum[row * ${columns} + column] / weight[row * ${columns} + column], edges[row], edges[row + 1]]);
                    })()`)));
                    asked.push(...cells.map(([column], at) => [what, columns, x0, x1, column, ...found.at(at - cells.length).slice(1)]));
                }
            writeFileSync(t.file('cells.json'), JSON.stringify([t.file('random.h5'), asked]));
            const told = t.script('-c', expected, t.file('cells.json')).trim().split('\n');
            t.equal(told.length, found.length, 'cells');
            found.forEach(([mean], at) => {
                if (told[at] === 'nan') t.check(Number.isNaN(mean), `where no line is: ${mean}`);
                else t.near(mean, Number(told[at]), `cell ${asked[at]}`);
            });
            t.check(told.filter((each) => Number(each) > 0).length > 200, 'cells with counts');
        },
    ],
    [
        'many phases: sums of lines and rows of several phases are those of the rows of the file',
        async (t, page) => {
            t.run('run', 'lu', 'n=96', '--phase-every', '2K', '-o', 'cut-phases.h5');
            await t.open(page, t.file('cut-phases.h5'), 'show=accesses&level=L1D');
            const found = await page.evaluate(`(async () => {
                const { source } = cachetally;
                const of = source.info.series.find(({ path }) => path === 'combined/L1D');
                const axis = await source.axis([of.id]);
                const all = Array.from({ length: of.phases }, (_, i) => i);
                const stretch = { x0: 0, x1: axis.bytes, count: 300, sight: [0, axis.bytes] };
                const columns = await Promise.all([null, all].map((phases) => source.ask('buckets', of.id, 'misses', phases, axis, stretch)));
                const worst = await Promise.all([null, all].map((phases) => source.ask('selected', of.id, 'misses', phases, axis, [[0, axis.bytes]], 20, 64)));
                return { phases: of.phases, columns, worst };
            })()`);
            t.equal(found.phases, 639, 'phases');
            const text = (value) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
            for (const [what, [summed, rows]] of Object.entries({ columns: found.columns, worst: found.worst }))
                t.equal(text(summed), text(rows), what);
            t.check(found.worst[0].second > 6000, `misses: ${found.worst[0].second}`);
        },
    ],
    [
        'heat map: the line under the picture is of what is shown, also after a zoom',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), shown('accesses'));
            await page.locator('canvas.field').focus(); // scrolls it into sight
            const { x, y, width } = await box(page, 'canvas.zooms');
            const text = () => page.locator('.readout').first().textContent();
            await page.mouse.move(x + width * 0.4, y + 200);
            const first = await text();
            t.check(/(per line of 16 B and phase|nothing counted)$/.test(first), first);
            for (let i = 0; i < 3; ++i) await page.locator('canvas.zooms').first().press('+');
            await new Promise((resolve) => setTimeout(resolve, 300));
            await t.quiet(page);
            const zoomed = await text();
            await page.mouse.move(x + width * 0.4 + 40, y + 200);
            await page.mouse.move(x + width * 0.4, y + 200);
            t.equal(await text(), zoomed, 'the line after the pointer has moved there again');
            await page.mouse.move(x + width * 0.4, y - 60);
            t.check((await text()).startsWith('Drag selects'), 'the line without a pointer');
        },
    ],
];
