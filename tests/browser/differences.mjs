// SPDX-License-Identifier: BSD-3-Clause
// Differences of phases and of files: their sums are those of the lines in the files.
import { number, tableRows } from './screen.mjs';

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
        'differences: details and tables of two phases, as the file has them',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu2.h5'), 'show=misses&level=L1&phases=5&minus=3&structure=A');
            const [lines, misses, conflicts, evicted] = JSON.parse(
                t.script(
                    '-c',
                    `import h5py, json
f = h5py.File("lu2.h5", "r")
names = f["structures/name"].asstr()[:].tolist()
own, by = names.index("A"), f["structures/levels/L1/phases"]
of = lambda group, column, phase, **keys: int(sum(v for v, s, p in zip(group[column][:].tolist(), group[keys.get("key", "structure")][:], group["phase"][:]) if s == own and p == phase))
c = f["combined/L1"]
first, last = int(f["structures/base"][own]), int(f["structures/base"][own] + f["structures/bytes"][own])
inside = [sum(1 for a, p in zip(c["address"][:].tolist(), c["phase"][:]) if p == phase and first - first % 16 <= a < last) for phase in (3, 5)]
causes = f["causes/L1"]
evictions = {}
for b, v, p, n in zip(*(causes["evictions"][k][:].tolist() for k in ("by", "victim", "phase", "count"))):
    if v == own and p in (3, 5): evictions.setdefault(names[b], [0, 0])[p == 5] += n
print(json.dumps([inside, [of(by, "misses", p) for p in (3, 5)], [of(causes["misses"], "conflict", p) for p in (3, 5)], evictions]))`,
                ),
            );
            const rows = new Map((await tableRows(page, 'Counts')).slice(1).map(([name, ...values]) => [name, values.map(number)]));
            const told = ([first, second]) => [first, second, second - first].join();
            const detail = ([first, second]) => [second - first, first, second].join();
            t.equal(rows.get('lines').join(), detail(lines), 'lines');
            t.equal(rows.get('misses').join(), detail(misses), 'misses');
            t.equal(rows.get('conflict').join(), detail(conflicts), 'conflicts');
            const structures = await tableRows(page, 'Data structures, phase 5 (perimeter) minus phase 3 (perimeter)');
            t.equal(structures[0].slice(1).join(), 'phase 3: L1 misses,phase 5: L1 misses,phase 5 − phase 3', 'columns');
            t.equal(structures.find(([name]) => name === 'A').slice(1).map(number).join(), told(misses), 'A in the table');
            const shown = (await tableRows(page, 'What evicts A in L1')).slice(1);
            t.equal(shown.map(([of, by, ...values]) => `${of} ${by} ${values.map(number)}`).sort().join('; '), Object.entries(evicted).map(([by, values]) => `A ${by} ${told(values)}`).sort().join('; '), 'what evicts it');
        },
    ],
    [
        'differences: of large counts, too, the details have what differs in sight',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const grown = ['lu.h5', 'lu2.h5'].map((name) => [name, `large-${name}`]);
            for (const [name, large] of grown)
                t.script('-c', `import h5py, shutil
shutil.copy("${name}", "${large}")
level = h5py.File("${large}", "r+")["combined/L1"]
for each in ("accesses", "misses"): level[each][:] = 1e6 * level[each][:]`);
            await page.setViewportSize({ width: 1400, height: 900 });
            await t.open(page, t.file(grown[0][1]), 'show=misses&level=L1');
            await t.compare(page, t.file(grown[1][1]));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await t.quiet(page);
            const places = await page.evaluate(`(() => {
                const box = document.querySelector('.details [aria-label="Counts"]');
                const heads = [...box.querySelectorAll('th')].map((each) => [each.textContent, each.getBoundingClientRect().right - box.getBoundingClientRect().right]);
                return [box.scrollWidth > box.clientWidth, Object.fromEntries(heads)];
            })()`);
            await page.setViewportSize({ width: 1280, height: 900 });
            t.check(places[0] && places[1]['B − A'] <= 0, `columns end so far right of the box that shows them: ${JSON.stringify(places)}`);
        },
    ],
    [
        'differences: what a core misses in two runs of unequal numbers of phases',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const runs = [[64, 'short'], [96, 'long']];
            for (const [n, name] of runs) t.run('run', 'lu', `n=${n}`, 'processors=2', '--cores', '2', '-m', 'coherent8', '--per-core', '-o', `cores-${name}.h5`);
            const [a, b] = runs.map(([, name]) =>
                JSON.parse(
                    t.script(
                        '-c',
                        `import h5py, json
f = h5py.File("cores-${name}.h5", "r")
g, placed = f["cores"], f["structures/bytes"][:] > 0
level = g.attrs["levels"].tolist().index("L1D")
print(json.dumps([len(f["phases/name"]), int(sum(m for l, s, c, m in zip(*(g[each][:] for each in ("level", "structure", "core", "misses"))) if l == level and c == 1 and placed[s]))]))`,
                    ),
                ),
            );
            t.check(a[0] < b[0] && a[1] > 0, `phases and misses: ${a} and ${b}`);
            await t.open(page, t.file('cores-short.h5'), 'show=misses&level=L1D');
            await t.compare(page, t.file('cores-long.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ view: 'workbench', show: 'misses', level: 'L1D', file: 'difference', core: 'core 1' })`);
            await t.quiet(page);
            const { head, rows } = await savedTable(t, page);
            const sums = ['A: ', 'B: ', 'B − A'].map((title) => {
                const column = head.findIndex((each) => each.startsWith(title) && each.endsWith(' sum'));
                return rows.reduce((all, row) => all + Number(row[column]), 0);
            });
            [a[1], b[1], b[1] - a[1]].forEach((expected, i) => t.near(sums[i], expected, ['A', 'B', 'B − A'][i], 1e-9));
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
