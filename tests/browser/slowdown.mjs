// SPDX-License-Identifier: BSD-3-Clause
// Sweeps with the slowdown of each cell: what the page shows is what the program tells, also where some were not run.

const csvOf = async (t, page) =>
    (await t.saved(page, 'CSV'))
        .trim()
        .split('\n')
        .map((line) => line.split(','));

/** Cells that no other beats in error and slowdown, worked out apart from the page. */
function frontOf(rows) {
    const known = rows.filter((row) => row.slowdown != null);
    const beats = (a, b) =>
        a.error <= b.error && a.slowdown <= b.slowdown && (a.error < b.error || a.slowdown < b.slowdown);
    return known.filter((row) => !known.some((other) => beats(other, row)));
}

/** As the page writes percentages. */
const percent = (fraction) => {
    const value = fraction * 100;
    return `${value === 0 ? '0' : value < 0.1 ? value.toPrecision(2) : value.toFixed(2)} %`;
};

/** The rows of one policy as CSV, as table and in the matrix beside those that the program tells. */
async function compare(t, page, told, what, all = told) {
    const [head, ...rows] = await csvOf(t, page);
    const column = (name) => head.indexOf(name);
    t.check(column('slowdown %') > 0, `${what}: columns are ${head}`);
    t.equal(rows.length, told.length, `${what}: rows`);
    const front = frontOf(all); // of all policies
    told.forEach((row, i) => {
        const where = `${what}: row ${i}`;
        t.equal(rows[i][column('eviction')], row.eviction, `eviction, ${where}`);
        t.equal(Number(rows[i][column('counters')]), row.counters, `counters, ${where}`);
        const found = Number(rows[i][column('slowdown %')]);
        if (row.slowdown == null) t.check(Number.isNaN(found), `${where} was not run, and has ${found}`);
        else t.near(found, 100 * row.slowdown, `slowdown, ${where}`);
        t.equal(rows[i][column('on the front of error and slowdown')], front.includes(row) ? 'yes' : '', `front, ${where}`);
    });
    const svg = await t.saved(page, 'SVG');
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    const expected = told.map((row) => (row.slowdown == null ? 'not known' : percent(row.slowdown)));
    for (const text of new Set(expected))
        t.check(
            texts.filter((each) => each === text).length >= expected.filter((each) => each === text).length,
            `${what}: '${text}' is not in the matrix: ${texts.join('|')}`,
        );
    return texts;
}

const sweep = (t, keys, file, ...words) =>
    t.run('sweep', 'radix', `keys=${keys}`, '-m', 'generic3-timed', '--slowdown', '--monitor', 'drain_cost=20', ...words, '-o', file);
const few = ['--counters', '16,64', '--granularity', '1,2,4'];

export const slowdownCases = [
    [
        'slowdown: table, CSV and matrix are what the file has; the front against it',
        async (t, page) => {
            sweep(t, 20000, 'slow.h5');
            const told = t.json('show', 'slow.h5').rows;
            t.check(told.length === 24 && new Set(told.map((row) => row.slowdown)).size > 12, 'slowdowns differ');
            await t.open(page, t.file('slow.h5'), 'metric=slowdown&over=slowdown&cell=2,64');
            const texts = await compare(t, page, told, 'one policy');
            t.check(texts.some((text) => text.endsWith(', logarithmic')), `colours of 0.2 to 30 % are logarithmic: ${texts.join('|')}`);
            await t.picture(page, 'slowdown');
            await t.press(page, 'Table');
            const rows = await page.evaluate(
                `[...document.querySelectorAll('.behind:not([hidden]) tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
            );
            const column = rows[0].indexOf('slowdown %');
            told.forEach((row, i) =>
                t.near(Number(rows[i + 1][column]), 100 * row.slowdown, `slowdown in the table, row ${i}`, 0.0051),
            );
            const cell = told.find((row) => row.granularity === 2 && row.counters === 64);
            const heads = await page.locator('h3').allTextContents();
            t.check(heads.some((head) => head.includes('Granularity 2, 64') && head.endsWith(`slowdown ${percent(cell.slowdown)}`)), heads.join('|'));
            t.check(
                (await page.innerText('body')).includes(`Error worked out from these two: ${percent(cell.error)}`),
                'pages are mapped, but groups of 2 lines do not cross them',
            );
        },
    ],
    [
        'slowdown: a sweep of two policies, each by itself',
        async (t, page) => {
            sweep(t, 5000, 'policies.h5', ...few, '--eviction', 'fifo,random');
            const told = t.json('show', 'policies.h5').rows;
            for (const eviction of ['fifo', 'random']) {
                await t.open(page, t.file('policies.h5'), `metric=slowdown&over=slowdown&eviction=${eviction}`);
                await compare(t, page, told.filter((row) => row.eviction === eviction), eviction, told);
            }
        },
    ],
    [
        'slowdown: cells that were not run are told from those that were; none at all is said',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            sweep(t, 5000, 'partial.h5', ...few);
            const cut = (first) =>
                t.script('-c', `import h5py
with h5py.File("partial.h5", "r+") as f:
    f["sweep/rows/slowdown"][${first}:] = float("nan")
    f["sweep/matrices/fifo/slowdown"][:] = f["sweep/rows/slowdown"][:].reshape(3, 2)`);
            cut(3);
            const told = t.json('show', 'partial.h5', '--trust').rows;
            t.equal(told.filter((row) => row.slowdown == null).length, 3, 'cells that were not run');
            await t.open(page, t.file('partial.h5'), 'metric=slowdown&over=slowdown&cell=4,64');
            await compare(t, page, told, 'partial');
            t.check((await t.saved(page, 'SVG', page.locator('.figure', { hasText: 'Pareto' }))).includes('slowdown not known of 3 of 6 cells'), 'how many were not run');
            cut(0);
            await t.open(page, t.file('partial.h5'), 'metric=slowdown&over=slowdown&cell=4,64');
            const texts = await compare(t, page, t.json('show', 'partial.h5', '--trust').rows, 'none');
            t.equal(texts.filter((text) => text === 'not known').length, 6, 'cells without slowdown');
        },
    ],
];
