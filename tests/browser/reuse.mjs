// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances in the details: curves and distances of what is selected are what h5py adds up.
import { writeFileSync } from 'node:fs';

const detail = '.detail[aria-label="Reuse distances"]';

/** Misses at the capacities of the file's curve, which for all are those of the curve, and between them, where the lower edge counts. */
const expectedOf = `
import h5py, json, sys
def edge(c):  # eighths of powers of two: the highest four bits
    drop = max(0, c.bit_length() - 4)
    return c >> drop << drop
f = h5py.File(sys.argv[1], "r")
found = {}
for name in f["reuse"].attrs["groups"]:
    g = f["reuse"][name]
    names = g["structures"].asstr()[:]
    rows = list(zip(*(g["distances"][each][:].tolist() for each in ("structure", "phase", "distance", "count"))))
    for structures, phases in json.loads(sys.argv[2]):
        some = [(d, n) for s, p, d, n in rows if (structures is None or names[s] in structures) and (phases is None or p in phases)]
        uses = {}
        for d, n in some:
            uses[str(float(d))] = uses.get(str(float(d)), 0) + n
        capacities = g["curve/capacity"][:].tolist()
        capacities += [c - 1 for c in capacities if c > 1] + [1, 7, 17, 97, 2559]
        misses = [(c, sum(n for d, n in some if d >= edge(c))) for c in capacities]
        found.setdefault(name, []).append({"uses": uses, "misses": misses, "all": sum(n for d, n in some), "line": int(g.attrs["line_bytes"])})
    curve = found[name][0]["misses"][:len(g["curve/capacity"])]
    assert [m for _, m in curve] == g["curve/misses"][:].tolist()
print(json.dumps(found))
`;

/** Rows of the table as CSV: numbers, but for the link. */
async function rowsOf(t, page) {
    const [head, ...rows] = (await t.saved(page, 'CSV', page.locator(detail))).trim().split('\n').map((line) => line.split(','));
    return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, name === 'link' ? row[i] : Number(row[i])])));
}

function checkRows(t, rows, expected, what) {
    const { uses, misses, all, line } = expected;
    const first = 2 ** 64;
    const known = Object.fromEntries(Object.entries(uses).map(([distance, count]) => [Number(distance) === first ? Infinity : Number(distance), count]));
    t.equal(rows.length, Object.keys(known).length, `${what}: distances`);
    for (const row of rows) {
        t.equal(row.uses, known[row.distance], `${what}: uses at ${row.distance}`);
        t.equal(row['line bytes'], line, `${what}: bytes of lines`);
        t.near(row['miss ratio'], row.misses / all, `${what}: miss ratio at ${row['capacity in lines']}`);
    }
    for (const [capacity, count] of misses) {
        const shown = rows.filter((row) => row['capacity in lines'] <= capacity).at(-1)?.misses ?? all;
        t.equal(shown, count, `${what}: misses of ${capacity} lines`);
    }
}

export const reuseCases = [
    [
        'reuse: curves of all, of structures and of phases are what h5py adds up; what is drawn says so',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'lu', 'n=128', '-m', 'schulz2002', '--monitor', 'none', '--causes', '--reuse', '-o', 'reuse.h5');
            const [base, , size] = JSON.parse(t.script('-c', 'import h5py, json, sys\ns = h5py.File(sys.argv[1], "r")["structures"]\ni = s["name"].asstr()[:].tolist().index("A")\nprint(json.dumps([int(s[c][i]) for c in ("base", "element_bytes", "bytes")]))', t.file('reuse.h5')));
            const part = `0x${base.toString(16)}-0x${(base + size / 2).toString(16)}`;
            const looks = [
                ['', null, null],
                ['phases=4', null, [4]],
                ['structure=stack0&phases=0,3-5', ['stack0'], [0, 3, 4, 5]],
                [`sel=${part}`, ['A'], null],
                ['show=link:load&phases=2-6', null, [2, 3, 4, 5, 6]],
            ];
            const expected = JSON.parse(t.script('-c', expectedOf, t.file('reuse.h5'), JSON.stringify(looks.map(([, structures, phases]) => [structures, phases]))));
            const snippets = [];
            for (const [i, [hash]] of looks.entries()) {
                await t.open(page, t.file('reuse.h5'), hash);
                const rows = await rowsOf(t, page);
                checkRows(t, rows, expected['core-L1_16'][i], hash || 'all');
                t.equal((await page.locator(`${detail} > .note`).textContent()).includes('Of A as a whole.'), hash.startsWith('sel'), `${hash}: the note`);
                const svg = await t.saved(page, 'SVG', page.locator(detail));
                const ratio = rows.filter((row) => row['capacity in lines'] <= 1024).at(-1)['miss ratio'];
                const mark = Number(/>L1 ([\d.]+) %</.exec(svg)?.[1]);
                t.check(Math.abs(mark - 100 * ratio) <= 0.05 * Math.max(0.1, 100 * ratio) && !/NaN|Infinity/.test(svg), `${hash}: ${mark} % at the 16 KiB of L1, ${100 * ratio} %`);
                await t.choose(page, /^Show a Python/, page.locator(detail));
                snippets.push(await page.locator('dialog pre').textContent());
                await t.press(page, 'Close');
                const told = t.script('-c', `import os\nos.chdir(${JSON.stringify(t.directory)})\n${snippets.at(-1)}`);
                const lines = told.trim().split('\n').slice(1).map((line) => line.trim().split(/\s+/).slice(-2).map(Number));
                t.equal(lines.map(([uses]) => uses).join(), rows.map(({ uses }) => uses).join(), `${hash}: what the snippet prints`);
            }
            await t.open(page, t.file('reuse.h5'), 'structure=A');
            await t.picture(page, 'reuse');
        },
    ],
    [
        'reuse: structures add up to all, also those of programs; functions are not told apart, and the page says so',
        async (t, page) => {
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--per-core', '--reuse', '-o', 'reuse-cores.h5');
            await t.open(page, t.file('reuse-cores.h5'));
            await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
            const clips = await page.evaluate(`[...document.querySelectorAll('clipPath')].map((each) => [each.id, each.innerHTML])`);
            t.check(clips.length > 1, 'several printed pictures are clipped');
            t.equal(new Set(clips.map(([id]) => id)).size, new Set(clips.map(String)).size, 'each by a box of its own');
            await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
            await t.open(page, t.file('reuse-cores.h5'));
            const sum = (rows) => rows.reduce((all, { uses }) => all + uses, 0);
            const all = sum(await rowsOf(t, page));
            t.equal(all, await page.evaluate(`cachetally.source.info.components.filter(({ name }) => ['L1D', 'L1I'].includes(name)).reduce((sum, { totals: { loads, stores, fetches } }) => sum + loads + stores + fetches, 0)`), 'uses');
            const names = await page.evaluate(`cachetally.source.info.structures.map(({ name }) => name)`);
            let parts = 0;
            for (const name of [...new Set(names)]) {
                await page.evaluate(`cachetally.set({ structure: ${JSON.stringify(name)}, sel: '' })`);
                await t.quiet(page);
                if (await page.locator(detail).isVisible()) parts += sum(await rowsOf(t, page));
            }
            t.equal(parts, all, 'uses of all structures');
            // of a recording: two structures and code, whose distances follow from how it is made
            const lines = Array.from({ length: 800 }, (_, i) => `2 401000 4\n0 ${(0x400000 + 64 * (i % 100)).toString(16)} 8\n${i % 2 ? '' : '0 800000 8\n'}`);
            writeFileSync(t.file('reuse.din'), lines.join(''));
            writeFileSync(t.file('reuse.names'), '0x400000 6400 8 ring\n0x800000 8 8 one\n');
            t.run('replay', t.file('reuse.din'), '--structures', t.file('reuse.names'), '-m', 'generic3', '--reuse', '-o', 'reuse-trace.h5');
            await t.open(page, t.file('reuse-trace.h5'), 'level=L1D&func=(not known)');
            const told = async () => (await rowsOf(t, page)).map(({ link, distance, uses }) => `${link} ${distance} ${uses}`).join();
            t.equal(await told(), 'core-L1D 2 399,core-L1D 96 700,core-L1D Infinity 101,core-L1I 0 799,core-L1I Infinity 1', 'all');
            t.check((await page.locator(detail).textContent()).includes('Of all cores and functions.'), 'the note');
            for (const [name, expected] of [
                ['ring', 'core-L1D 96 700,core-L1D Infinity 100'],
                ['one', 'core-L1D 2 399,core-L1D Infinity 1'],
                ['(code)', 'core-L1I 0 799,core-L1I Infinity 1'],
            ]) {
                await page.evaluate(`cachetally.set({ structure: '${name}', sel: '', func: '' })`);
                await t.quiet(page);
                t.equal(await told(), expected, name);
                t.check(!(await page.locator(detail).textContent()).includes('Of all'), 'a note');
            }
        },
    ],
    [
        'reuse: files without distances say nothing; damaged ones what is wrong',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            t.equal(await page.locator(detail).isVisible(), false, 'reuse distances');
            if (!t.python) return;
            t.run('run', 'lu', 'n=32', '-m', 'schulz2002', '--monitor', 'none', '--reuse', '-o', 'reuse-whole.h5');
            for (const [change, words] of [
                ['g["distances/structure"][...] = 9', "/reuse/core-L1_16/distances has structures that /reuse/core-L1_16/structures does not name; the file is damaged."],
                ['del g["distances/count"]', "/reuse/core-L1_16/distances has no column 'count'; the file is damaged."],
                ['g.attrs["line_bytes"] = 0', '/reuse/core-L1_16 does not say how large its lines are; the file is damaged.'],
            ]) {
                t.script('-c', `import h5py, shutil\nshutil.copy("reuse-whole.h5", "reuse-odd.h5")\ng = h5py.File("reuse-odd.h5", "a")["reuse/core-L1_16"]\n${change}`);
                await page.goto('about:blank');
                await page.goto(`file://${t.page}`);
                await t.give(page, t.file('reuse-odd.h5'));
                t.equal(await t.until(page, `document.querySelector('.notice.error')?.textContent`, 'a message'), words, change);
            }
        },
    ],
];
