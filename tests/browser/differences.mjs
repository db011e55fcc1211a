// SPDX-License-Identifier: BSD-3-Clause
// Differences of phases and of files: their sums are those of the lines in the files.

/** What a picture saves as CSV: its columns by name, and the rows as texts. */
async function savedTable(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
    return { head, rows };
}

/** Misses of L1 by address, in a phase or in all, with h5py. */
const missesByLine = (t, file, phase) =>
    JSON.parse(
        t.script(
            '-c',
            `import h5py, json, collections
g, sums = h5py.File("${file}", "r")["combined/L1"], collections.Counter()
for a, p, m in zip(g["address"][:].tolist(), g["phase"][:].tolist(), g["misses"][:].tolist()):
    if ${phase} in (-1, p): sums[a] += m
print(json.dumps(sorted(sums.items())))`,
        ),
    );

/** Each row of the table stands for the lines from its address to that of the next. */
function checkRows(t, { head, rows }, name, first, second) {
    t.equal(head.filter((each) => /least|most/.test(each)).length, 4, 'least and most, which differences do not have');
    const column = head.indexOf(name);
    const begins = rows.map((row) => Number(row[0]));
    const sum = (lines, from, to) => lines.reduce((all, [address, misses]) => (address >= from && address < to ? all + misses : all), 0);
    t.check(rows.length > 50, `${rows.length} rows`);
    rows.forEach((row, i) => {
        const [from, to] = [begins[i], begins[i + 1] ?? Infinity];
        t.equal(Number(row[column]), sum(second, from, to) - sum(first, from, to), `${name} from ${row[0]}`);
    });
}

export const differenceCases = [
    [
        'differences: sums of two phases, line by line, on the page and in Python',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&level=L1&phases=5&minus=3');
            const table = await savedTable(t, page);
            t.equal(table.head.filter((each) => each.endsWith(' sum')).join(), 'phase 5 (perimeter) sum,phase 3 (perimeter) sum,phase 5 (perimeter) − phase 3 (perimeter) sum', 'the panels');
            const [three, five] = [3, 5].map((phase) => missesByLine(t, 'lu.h5', phase));
            checkRows(t, table, 'phase 5 (perimeter) − phase 3 (perimeter) sum', three, five);
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            await t.press(page, 'Close');
            const sum = (lines) => lines.reduce((all, [, misses]) => all + misses, 0);
            t.equal(Number(/difference (-?[\d.]+)/.exec(t.script('-c', code))[1]), sum(five) - sum(three), 'what Python says');
        },
    ],
    [
        'differences: sums of two files, line by line',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'), 'show=misses&level=L1');
            await t.compare(page, t.file('lu2.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await t.quiet(page);
            checkRows(
                t,
                await savedTable(t, page),
                'B − A sum',
                missesByLine(t, 'lu.h5', -1),
                missesByLine(t, 'lu2.h5', -1),
            );
        },
    ],
];
