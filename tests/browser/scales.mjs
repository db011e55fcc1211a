// Scales: "auto" is one rule on the page, in the terminal and in figures, and what is compared has one scale.
import { readFileSync } from 'node:fs';

/** Texts of a picture in the order in which they are drawn, panel by panel: "title" to the next panel's. */
async function textsByPanel(t, page, titles, picture = page) {
    const svg = await t.saved(page, 'SVG', picture);
    const texts = await page.evaluate(
        `[...new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelectorAll('text')].map((each) => each.textContent)`,
    );
    const begins = titles.map((title) => texts.indexOf(title));
    t.check(begins.every((each) => each >= 0), `${titles} among ${texts.join(' | ')}`);
    return begins.map((begin, i) => texts.slice(begin + 1, begins[i + 1] ?? texts.length));
}

const says = (text) => text.includes('logarithmic');

export const scaleCases = [
    [
        'scales: auto is the same on the page, in the terminal and in figures',
        async (t, page) => {
            t.run('run', 'radix', '-m', 'generic3', '-o', 'radix.h5');
            for (const [file, level, what, expected] of [
                ['lu.h5', 'L1', 'accesses', true],
                ['lu.h5', 'L2', 'misses', false],
                ['radix.h5', 'L1D', 'accesses', true],
                ['radix.h5', 'L1D', 'misses', false],
            ]) {
                const [where, chosen] = [`${what} of ${level} in ${file}`, ['--level', level, '--what', what]];
                await t.open(page, t.file(file), `show=${what}`);
                const titles = await page.evaluate('Object.keys(cachetally.current.totals())');
                const panels = await textsByPanel(t, page, titles);
                t.equal(says(panels[titles.indexOf(level)][0]), expected, `${where}: the page`);
                await t.open(page, t.file(file), `view=phases&mode=heat&level=${level}&show=${what}`);
                const heat = says(await t.saved(page, 'SVG'));
                t.equal(says(t.run('show', file, ...chosen)), expected, `${where}: the terminal`);
                t.equal(says(t.run('show', file, ...chosen, '--heat')), heat, `${where}: the heat map in the terminal`);
                if (!t.python || what !== 'accesses') continue; // figures take long
                for (const [kind, log] of [['histogram', expected], ['heat', heat]]) {
                    t.run('figure', kind, file, ...chosen, '-o', 'scale.svg', '--force');
                    t.equal(says(readFileSync(t.file('scale.svg'), 'utf8')), log, `${where}: the figure, ${kind}`);
                }
            }
        },
    ],
    [
        'scales: a cell of a sweep has the exact counts and those of its groups on one scale',
        async (t, page) => {
            t.run('sweep', 'lu', 'n=32', '-m', 'schulz2002', '--counters', '16', '--granularity', '8,64', '-o', 'coarse.h5');
            for (const granularity of [8, 64]) {
                await t.open(page, t.file('coarse.h5'), `cell=${granularity},16`);
                const picture = page.locator('.figure:visible').last();
                const [exact, groups] = await textsByPanel(
                    t,
                    page,
                    ['exact', `in groups of ${granularity}`, '|difference|'],
                    picture,
                );
                t.equal(groups.join(' | '), exact.join(' | '), `scale with groups of ${granularity}`);
            }
        },
    ],
];
