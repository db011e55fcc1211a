// SPDX-License-Identifier: BSD-3-Clause
// The answer that a run's page begins with: sentence and tiles, of all and of what is chosen; compared with cases by hand, h5py and the terminal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a page needs of a file for its answer, made by hand. */
const made = (change = '') => `(() => {
    const column = (...values) => Float64Array.from(values);
    const info = {
        components: [{ name: 'L1', group: 'levels', totals: {}, accesses: column(40, 60), misses: column(4, 16) }],
        links: [{ name: 'core-L1', from: 'core', to: 'L1' }],
        machine: { cores: 1 },
        phases: { names: ['phase 0', 'phase 1'], cycles: column(10, 30), references: column(50, 50), pageWalks: column(0, 0), hitCycles: column(9, 12) },
        structures: [{ name: 'A', base: 4096n, bytes: 640 }, { name: 'B', base: 8192n, bytes: 64 }],
        structureLevels: [{ name: 'L1', structure: [0, 0, 1], phase: [0, 1, 1], accesses: column(40, 30, 30), misses: column(4, 11, 5) }],
        causes: [{ name: 'L1', structures: ['A', 'B'],
            misses: { structure: column(0, 0, 1), phase: column(0, 1, 1), counts: [column(4, 1, 1), column(0, 0, 0), column(0, 1, 4), column(0, 9, 0)] },
            evictions: { by: column(1, 0), victim: column(0, 1), phase: column(1, 1), count: column(9, 4) } }],
        attribution: null, sharing: null,
    };
    ${change}
    const answer = cachetally.answers.answerOf(info);
    return answer && [cachetally.answers.sentenceOf(answer, info), ...cachetally.answers.tilesOf(answer, info).map((tile) => tile.value + ': ' + tile.note)]; })()`;

/** Accesses and misses (of a cause) of L1D to a structure of a core in some phases, and all that it misses in these. */
const partSums = `
import h5py, json, sys
import numpy as np
f, chosen = h5py.File(sys.argv[1], "r"), json.loads(sys.argv[2])
names = list(f["structures/name"].asstr()[:])
phases = [int(each) for each in chosen["phases"].split(",")] if "phases" in chosen else None

def part(table, column, all=False):
    own = np.ones(len(table[column]), bool) if "level" not in table else table["level"][:] == list(f["cores"].attrs["levels"]).index("L1D")
    if phases:
        own &= np.isin(table["phase"][:], phases)
    if not all and "structure" in chosen:
        own &= table["structure"][:] == names.index(chosen["structure"])
    if not all and "core" in chosen:
        own &= table["core"][:] == int(chosen["core"])
    return int(table[column][:][own].sum())

cause = chosen.get("cause")
misses = part(f["causes/L1D/misses"], cause) if cause else part(f["cores"], "misses")
print(json.dumps([part(f["cores"], "accesses"), misses, part(f["cores"], "misses", True)]))`;

export const answerCases = [
    [
        'answer: sentence and tiles of a file by hand',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const told = await page.evaluate(made());
            t.equal(told[0], 'L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, 60.00 % of those are conflicts, worst in phase 1.', 'sentence');
            t.equal(told.slice(1, 5).join(' | '), '20.00 %: L1 misses 20 of 100; 47.50 % of the time is beyond hits of the first levels | A: 75.00 % of the misses of L1 | phase 1: 73.33 % of its misses, in 75.00 % of the time; 60.00 % of that is beyond hits | conflict: 60.00 % of its misses', 'tiles');
            t.check(told[5].startsWith('move it, or pad: B evicts its lines, which a fully associative cache would keep'), told[5]);
            t.check(told[5].includes(' 33.33 % are first uses: prefetch, longer lines.'), `the next cause: ${told[5]}`);
            const equal = await page.evaluate(made(`info.structureLevels[0].misses.set([8, 7 + 1]); info.causes = [];`));
            t.equal(equal[3], 'in all phases: none has 1.25 times the mean of all', 'two phases with equal misses');
            t.check(equal[0].endsWith('; no phase stands out.'), equal[0]);
            for (const [some, end] of [[[5, 3], ', worst in phase 0.'], [[49, 31], '; no phase stands out.']]) {
                const uneven = await page.evaluate(made(`info.structureLevels[0].misses.set([${some}]); info.causes = [];`));
                t.check(uneven[0].endsWith(end), `${some}: ${uneven[0]}`);
            }
            const many = (count) => made(`info.phases = { names: [], cycles: column(), references: column(), pageWalks: column(), hitCycles: column() }; info.causes = [];
                info.structureLevels[0] = { name: 'L1', structure: column(...Array(${2 * count}).fill(0)), phase: column(...Array(${2 * count}).keys()), accesses: column(...Array(${2 * count}).fill(9)), misses: column(...Array(${count}).fill(8), ...Array(${count}).fill(1)) };`);
            t.check((await page.evaluate(many(8)))[0].endsWith(', worst in phases 0-7.'), 'eight phases alike');
            // every second of 36, and the one after the last of these
            const scattered = (count) => many(count).replace(`column(...Array(${2 * count}).keys())`, `column(...Array.from({ length: ${2 * count} }, (_, i) => (i < ${count - 1} ? 2 * i : i < ${count} ? ${2 * count - 3} : 2 * (i - ${count}) + 1)))`);
            const more = await page.evaluate(scattered(18).replace('column(...Array(18).fill(8), ...Array(18).fill(1))', 'column(...Array(18).fill(8), ...Array(18).fill(0))'));
            t.check(more[0].endsWith(', all in phases 0, 2, 4, 6, 8, 10, 12, 14 and 10 more.') && more[3].startsWith('18 phases: '), more.join());
            const several = await page.evaluate(many(10).replace('names: []', `names: ['build', ...Array(19).fill('solve')]`));
            t.check(several[0].endsWith(', worst in phases 1-9 (solve).') && several[3].startsWith('phases 1-9 (solve): '), several[0]);
            const named = await page.evaluate(made(`info.phases.names = ['build', 'solve'];`));
            t.check(named[0].endsWith(', worst in phase 1 (solve).') && named[3].startsWith('phase 1 (solve): '), named[0]);
            const twice = await page.evaluate(made(`info.structureLevels[0].misses.set([8, 7 + 1]); info.causes = []; info.phases = { names: ['solve', 'solve', 'rest', 'rest'], cycles: column(10, 30, 0, 0), references: column(50, 50, 0, 0), pageWalks: column(0, 0, 0, 0), hitCycles: column() };`));
            t.check(twice[0].endsWith(', all in phases 0, 1 (solve).'), twice[0]);
            const again = await page.evaluate(made(`info.phases.names = ['solve', 'reduce, correct', 'solve', 'rest']; info.causes = [];
                info.structureLevels[0] = { name: 'L1', structure: column(0, 0, 0, 0), phase: column(0, 1, 2, 3), accesses: column(50, 96, 49, 9), misses: column(100, 192, 98, 1) };`));
            t.check(again[0].endsWith(', worst in phases 0-2 (solve; reduce, correct), most of all in phase 1.') && again[3].startsWith('phases 0-2 (solve; reduce, correct): '), again.join());
            const alone = await page.evaluate(made(`info.causes[0].evictions.by[0] = 0;`));
            t.check(alone[5].startsWith('pad rows or blocks, or another layout: A evicts its own'), alone[5]);
            const without = await page.evaluate(made(`info.causes = [];`));
            t.equal(without[0], 'L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, worst in phase 1.', 'without causes');
            t.check(without[5].includes('--causes'), without[5]);
            const none = await page.evaluate(made(`info.components[0].misses.fill(0); info.structureLevels[0].misses.fill(0); info.causes = [];`));
            t.equal(none[0], 'L1 has no misses in 100 accesses.', 'no misses');
            t.equal(await page.evaluate(made(`info.components[0].accesses.fill(0);`)), null, 'no accesses');
            const inPhase = await page.evaluate(made().replace('answerOf(info)', `answerOf(info, 'L1', [1])`));
            t.equal(inPhase[0], 'L1 misses 26.67 % of 60 accesses in phase 1; A causes 68.75 % of them, 81.82 % of those are conflicts.', 'of a phase');
            t.equal(inPhase.slice(1, 4).join(' | '), '26.67 %: L1 misses 16 of 60 | A: 68.75 % of the misses of L1 in this phase | phase 1: as chosen: 80.00 % of the misses of all phases, in 75.00 % of the time; 60.00 % of that is beyond hits', 'tiles of a phase');
            const program = await page.evaluate(
                made(`info.phases = { names: ['phase 0'], cycles: column(40), references: column(100), pageWalks: column(0), hitCycles: column() };
                info.attribution = { levels: ['L1'], caused: [], columns: { site: column(0, 1, 2), phase: column(0, 0, 0), accesses: column(50, 20, 30), misses_L1: column(9, 6, 5) },
                    groupings: [{ id: 'structures', of: [0, 0, 1], names: ['A', 'B'] }, { id: 'functions', of: [0, 1, 1], names: ['main', 'init'] }, { id: 'lines', of: [0, 1, 1], names: ['a.c:7', 'a.c:3'] }] };`),
            );
            t.equal(program[3], 'main: 60.00 % of its misses; most at a.c:7', 'which code, where there is one phase');
            const phased = await page.evaluate(
                made(`info.attribution = { levels: ['L1'], caused: [], columns: { site: column(0, 1, 2), phase: column(0, 1, 0), accesses: column(50, 20, 30), misses_L1: column(9, 6, 5) },
                    groupings: [{ id: 'structures', of: [0, 0, 1], names: ['A', 'B'] }, { id: 'functions', of: [0, 1, 1], names: ['main', 'init'] }, { id: 'lines', of: [0, 1, 1], names: ['a.c:7', 'a.c:3'] }] };`),
            );
            t.equal(phased[2], 'A: 75.00 % of the misses of L1, 60.00 % of these in main; most at a.c:7', 'which code, where there are phases');
            const shared = await page.evaluate(
                made(`info.causes[0].misses.counts[1][1] = 90;
                info.sharing = { levels: ['L1'], lineBytes: 64, level: column(0, 0), phase: column(0, 0), core: column(0, 1), by_core: column(1, 0), address: column(4096, 8192), true_sharing: column(1, 50), false_sharing: column(3, 0) };`),
            );
            t.check(shared[5].startsWith('pad to lines: 75.00 % of the misses after invalidations are false sharing'), shared[5]);
            t.equal(shared[4], 'false sharing: 85.71 % of its misses come after invalidations, 75.00 % of these by false sharing', 'why');
            const truly = await page.evaluate(
                made(`info.causes[0].misses.counts[1][1] = 90;
                info.sharing = { levels: ['L1'], lineBytes: 64, level: column(0), phase: column(0), core: column(0), by_core: column(1), address: column(4096), true_sharing: column(3), false_sharing: column(1) };`),
            );
            t.equal(truly[4], 'invalidated: 85.71 % of its misses', 'why, true sharing');
            t.check(truly[5].startsWith('share less: 75.00 % of the misses after invalidations are true sharing'), truly[5]);
            // 5 first uses beside 12 invalidations are more than a quarter, but longer lines would be shared by more
            const cold = await page.evaluate(made(`info.causes[0].misses.counts[1][1] = 12; info.causes[0].misses.counts[3][1] = 0;`));
            t.check(cold[4].startsWith('invalidated: 66.67 %') && !cold[5].includes('first uses'), cold.join(' | '));
            const pages = await page.evaluate(
                made(`info.components = [{ name: 'TLB', group: 'tlbs', totals: {}, accesses: column(40, 60), misses: column(4, 16) }];
                Object.assign(info.causes[0], { name: 'L9' }); info.structureLevels[0].name = 'TLB';`).replace('answerOf(info)', `answerOf(info, 'TLB')`),
            );
            t.check(pages[4] === 'not known: causes are known of caches alone' && pages[5].startsWith('larger pages: '), pages.join(' | '));
            const goes = (change) => page.evaluate(made(change).replace(`tile.value + ': ' + tile.note`, 'tile.go.structure'));
            t.equal((await goes(''))[2], 'A', 'the tile leads to its structure');
            t.equal((await goes(`info.structures[0].bytes = 0;`))[2], 'A', 'also if that has no addresses: it is in the tables');
        },
    ],
    [
        'answer: of what is chosen of a file by hand',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const byCore = `info.machine.cores = 2; info.structureLevels[0].core = column(0, 1, 1); info.causes[0].misses.core = column(0, 1, 1);`;
            const none = `info.structureLevels[0].misses.set([4, 16, 0]); info.causes = [];`;
            const fromB = `info.causes[0].misses.counts[3].set([0, 9, 0]);`;
            for (const [change, phases, state, sentence] of [
                ['', null, { structure: 'A' }, 'L1 misses 21.43 % of 70 accesses to A, 75.00 % of all misses of L1; 60.00 % of those are conflicts, worst in phase 1.'],
                ['', [1], { structure: 'A' }, 'L1 misses 36.67 % of 30 accesses to A in phase 1, 68.75 % of all misses of L1 in this phase; 81.82 % of those are conflicts.'],
                ['', null, { cause: 'first use' }, 'L1 has misses by first use in 6.00 % of 100 accesses, 30.00 % of all misses of L1; A causes 83.33 % of them, worst in phase 0.'],
                [fromB, null, { cause: 'conflict', structure: 'A' }, 'L1 has conflict misses in 12.86 % of 70 accesses to A, 45.00 % of all misses of L1, all in phase 1.'],
                ['', null, { cause: 'conflict', structure: 'B' }, 'L1 has no conflict misses in 30 accesses to B.'],
                ['', [0], { structure: 'B' }, 'L1 has no accesses to B in phase 0.'],
                [none, null, { structure: 'B' }, 'L1 has no misses in 30 accesses to B.'],
                [byCore, null, { core: 'core 1' }, 'L1 misses 26.67 % of 60 accesses by core 1, 80.00 % of all misses of L1; A causes 68.75 % of them, 81.82 % of those are conflicts, all in phase 1.'],
                [byCore, null, { core: 'core 1', structure: 'B' }, 'L1 misses 16.67 % of 30 accesses to B by core 1, 25.00 % of all misses of L1; 80.00 % of those are capacity misses, all in phase 1.'],
                ['', null, { structure: 'Q', core: '7', func: 'f', cause: 'zz' }, 'L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, 60.00 % of those are conflicts, worst in phase 1.'],
            ])
                t.equal((await page.evaluate(made(change).replace('answerOf(info)', `answerOf(info, 'L1', ${JSON.stringify(phases)}, ${JSON.stringify(state)})`)))[0], sentence, JSON.stringify([change, phases, state]));
            const tiles = await page.evaluate(made(byCore).replace('answerOf(info)', `answerOf(info, 'L1', null, { core: 'core 1', cause: 'conflict' })`));
            t.equal(tiles.slice(1, 5).join(' | '), '15.00 %: L1 has 9 conflict misses of 60 accesses by core 1 | A: 100.00 % of the conflict misses of L1 by core 1 | phase 1: all of its conflict misses, in 75.00 % of the time; 60.00 % of that is beyond hits | conflict: 81.82 % of its misses', 'tiles');
            const inPhase = await page.evaluate(made('').replace('answerOf(info)', `answerOf(info, 'L1', [1], { structure: 'A' })`));
            t.equal(inPhase[3], 'phase 1: as chosen: 73.33 % of the misses of all phases, in 75.00 % of the time; 60.00 % of that is beyond hits', 'tile of a chosen phase');
            const program = (state) => made(`info.attribution = { levels: ['L1'], caused: [], columns: { site: column(0, 1, 2), phase: column(0, 1, 0), accesses: column(50, 20, 30), misses_L1: column(9, 6, 5) },
                groupings: [{ id: 'structures', of: [0, 0, 1], names: ['A', 'B'] }, { id: 'functions', of: [0, 1, 1], names: ['main', 'init'] }] }; info.components[0].totals = { loads: 100, stores: 0, fetches: 0 };`).replace('answerOf(info)', `answerOf(info, 'L1', null, ${JSON.stringify(state)})`);
            t.equal((await page.evaluate(program({ func: 'init' })))[0], 'L1 misses 22.00 % of 50 accesses in init, 55.00 % of all misses of L1; A causes 54.55 % of them, all in phase 1.', 'of a function');
        },
    ],
    [
        'answer: of a structure, a core and phases what h5py works out',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--per-core', '-o', 'parts.h5');
            for (const state of ['structure=key_to', 'core=2', 'structure=key_to&core=1&phases=3', 'core=3&cause=invalidated', 'cause=conflict&phases=1,3']) {
                const chosen = Object.fromEntries(new URLSearchParams(state));
                await t.open(page, t.file('parts.h5'), `level=L1D&${state}`);
                const [accesses, misses, all] = JSON.parse(t.script('-c', partSums, t.file('parts.h5'), JSON.stringify(chosen)));
                const shown = await page.locator('.sentence').textContent();
                const begin = `${(100 * misses / accesses).toFixed(2)} % of ${accesses.toLocaleString('en-US')} accesses`;
                if (chosen.core) t.check((await page.locator('.chips').textContent()).includes(`core ${chosen.core}`), 'its chip');
                t.check(shown.includes(begin) && shown.includes(`, ${(100 * misses / all).toFixed(2)} % of all misses of L1`), `${state}: ${shown}; ${begin}, ${misses} of ${all}`);
            }
        },
    ],
    [
        'answer: of a core in selected lines that of the data structures as wholes, everywhere',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'water', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '--per-core', '-o', 'core-lines.h5');
            const [from, to, accesses, misses] = JSON.parse(
                t.script(
                    '-c',
                    `import h5py, json, sys
f = h5py.File(sys.argv[1], "r")
own = f["structures/name"].asstr()[:].tolist().index("molecules")
base, g = int(f["structures/base"][own]), f["cores"]
level = list(g.attrs["levels"]).index("L1D")
here = (g["level"][:] == level) & (g["structure"][:] == own) & (g["core"][:] == 1)
print(json.dumps([base, base + 4096, int(g["accesses"][:][here].sum()), int(g["misses"][:][here].sum())]))`,
                    t.file('core-lines.h5'),
                ),
            );
            await t.open(page, t.file('core-lines.h5'), `show=misses&level=L1D&sel=0x${from.toString(16)}-0x${to.toString(16)}&core=1`);
            const begin = `L1D misses ${((100 * misses) / accesses).toFixed(2)} % of ${accesses.toLocaleString('en-US')} accesses to molecules as a whole by core 1`;
            t.check((await page.locator('.sentence').textContent()).startsWith(begin), `${begin}: ${await page.locator('.sentence').textContent()}`);
            const details = await page.locator('.details').textContent();
            t.check(details.includes('All counts are of molecules as a whole.') && details.includes(misses.toLocaleString('en-US')), details.slice(0, 300));
            await t.choose(page, /^Show a Python/);
            const code = await page.locator('dialog pre').textContent();
            await t.press(page, 'Close');
            t.equal(Number(/sum ([\d.]+)/.exec(t.script('-c', code))[1]), misses, 'what Python says');
            for (const [show, value] of [['missrate', misses / accesses], ['hits', accesses - misses], ['accesses', accesses]]) {
                await t.open(page, t.file('core-lines.h5'), `show=${show}&level=L1D&structure=molecules&core=1`);
                await t.choose(page, /^Show a Python/);
                const [, found] = /(?:sum|rate) ([\d.]+)/.exec(t.script('-c', await page.locator('dialog pre').textContent()));
                t.near(Number(found), value, `${show} of a core in Python`, 1e-9);
            }
        },
    ],
    [
        'answer: of code without a name, and of what its structures are, Python says what the page does',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', '--report', t.file('named.txt'), '-m', 'generic3', '-o', 'code.h5', '--', '/bin/true');
            await t.open(page, t.file('code.h5'));
            const names = await page.evaluate(`(() => { const { functions } = Object.fromEntries(cachetally.source.info.attribution.groupings.map((each) => [each.id, each.names])); return [functions.find((each) => each.startsWith('(in ')) ?? '(not known)', functions.find((each) => !each.startsWith('('))]; })()`);
            for (const state of [...names.map((name) => `func=${encodeURIComponent(name)}&level=L1D`), 'structure=(code)&level=L1I'])
                for (const [show, what] of [['accesses', 'sum'], ['missrate', 'rate']]) {
                    await t.open(page, t.file('code.h5'), `show=${show}&${state}`);
                    const { accesses, misses } = await page.evaluate(`(() => { const { source: { info }, state } = cachetally; return cachetally.answers.answerOf(info, state.level, null, state); })()`);
                    await t.choose(page, /^Show a Python/);
                    const [, found] = new RegExp(`^${what} ([\\d.e-]+)`, 'm').exec(t.script('-c', await page.locator('dialog pre').textContent()));
                    t.near(Number(found), { misses, accesses, missrate: misses / (accesses || 1) }[show], `${show} of ${state} in Python`, 1e-9);
                }
        },
    ],
    [
        'answer: of two files one has no such core',
        async (t, page) => {
            for (const cores of ['1', '2']) t.run('run', 'lu', 'n=48', `processors=${cores}`, '--cores', cores, '-m', 'coherent8', '--per-core', '-o', `of-${cores}-cores.h5`);
            await t.open(page, t.file('of-1-cores.h5'), 'show=misses&level=L1D');
            await t.compare(page, t.file('of-2-cores.h5'));
            await t.until(page, 'cachetally.others.length === 1', 'the second file');
            await page.evaluate(`cachetally.set({ view: 'workbench', show: 'misses', level: 'L1D', file: 'difference', core: 'core 1' })`);
            await t.quiet(page);
            const [a, b] = await page.locator('.answer p').allTextContents();
            t.check(a.endsWith('has nothing of core 1.') && b.includes(' by core 1'), `${a} | ${b}`);
            t.equal(await page.locator('.chips .bad').count(), 0, 'nothing is said to be in neither');
            t.check((await page.locator('select[aria-label="Core"] option').allTextContents()).includes('core 1'), 'it can be chosen');
        },
    ],
    [
        'answer: what h5py works out of runs, programs and traces',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'water', '-m', 'generic3', '--causes', '-o', 'water.h5');
            t.run('run', 'water', '-m', 'schulz2002', '--causes', '-o', 'alike.h5');
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '-o', 'shared.h5');
            const lines = Array.from({ length: 4000 }, (_, i) => `${i % 5 === 0 ? 1 : 0} ${(0x400000 + 4096 * (i % 40)).toString(16)} 8\n0 ${(0x800000 + 64 * ((7 * i) % 500)).toString(16)} 8\n`);
            writeFileSync(t.file('answer.din'), lines.join(''));
            writeFileSync(t.file('answer.names'), '0x400000 163840 8 columns\n0x800000 32000 8 rows\n');
            t.run('replay', t.file('answer.din'), '--structures', t.file('answer.names'), '-m', 'generic3', '--causes', '-o', 'answer.h5');
            for (const [file, levels, chosen] of [['lu.h5', ['L1', 'L2']], ['lu.h5', ['L1', 'L2'], '2,4,5'], ['lu2.h5', ['L1', 'L2']], ['lu2.h5', ['L1'], '3,6'], ['water.h5', ['L1D', 'L2', 'L3']], ['water.h5', ['L1D'], '4'], ['alike.h5', ['L1', 'L2']], ['shared.h5', ['L1D', 'L2']], ['shared.h5', ['L1D'], '1,3'], ['answer.h5', ['L1D', 'L2']]])
                for (const level of levels) {
                    await t.open(page, t.file(file), `level=${level}&phases=${chosen ?? ''}`);
                    const expected = JSON.parse(t.script(join(t.here, 'answer.py'), t.file(file), level, ...(chosen ? [chosen] : [])));
                    const found = await page.evaluate(`cachetally.answers.answerOf(cachetally.source.info, '${level}', ${chosen ? `[${chosen}]` : null})`);
                    for (const name of ['accesses', 'misses', 'inPhases', 'ofPhases']) t.equal(found[name], expected[name], `${name} of ${level} in ${file}`);
                    for (const name of ['structure', 'cause', 'evictor']) {
                        const part = found[name] && [found[name].name, found[name].count, found[name].of];
                        t.equal(JSON.stringify(part), JSON.stringify(expected[name]), `${name} of ${level} in ${file}`);
                    }
                    t.equal(found.phases.join(), expected.phases.join(), `worst phases of ${level} in ${file}`);
                    const shown = await page.locator('.sentence').textContent();
                    if (expected.when) t.check(shown.endsWith(expected.when), `${shown}: ${expected.when}`);
                    t.check(shown.startsWith(`${level} misses`) && shown.includes(expected.structure[0]), shown);
                    t.equal(await page.locator('.tile').count(), 5, `tiles of ${level} in ${file}`);
                }
        },
    ],
    [
        'answer: sentence and remedy are those of the terminal',
        async (t, page) => {
            t.run('run', 'water', '-m', 'generic3', '--causes', '-f', '-o', 'water.h5');
            t.run('run', 'radix', 'keys=16384', 'processors=4', '--cores', '4', '-m', 'coherent8', '--causes', '-f', '-o', 'shared.h5');
            t.run('run', 'lu', 'n=32', '-o', 'lu32.h5');
            t.run('run', 'lu', 'n=32', '--no-exact', '-o', 'quick.h5');
            t.run('run', '--report', t.file('program.txt'), '--causes', '-o', 'program.h5', '--', '/bin/true');
            t.run('run', 'water', '-m', 'schulz2002', '--causes', '-f', '-o', 'alike.h5');
            for (const file of ['lu.h5', 'lu2.h5', 'water.h5', 'alike.h5', 'shared.h5', 'lu32.h5', 'quick.h5', 'program.h5']) {
                await t.open(page, t.file(file));
                const told = await page.evaluate(`(() => { const { info } = cachetally.source; return cachetally.answers.sentenceOf(cachetally.answers.answerOf(info), info); })()`);
                t.equal(told, JSON.parse(t.run('show', t.file(file), '--json')).answer, file);
                const shown = t.run('show', t.file(file), '--width', '400');
                t.check(shown.startsWith(`${told}\n`), `show ${file} begins with it`);
                const count = await page.evaluate('cachetally.source.info.phases.names.length');
                for (const phases of count > 4 ? [[1], [0, 2, 4], [2, 3]] : []) {
                    const ofThese = await page.evaluate(`(() => { const { info } = cachetally.source, found = cachetally.answers.answerOf(info, cachetally.answers.answerOf(info).level, [${phases}]); return found && cachetally.answers.sentenceOf(found, info); })()`);
                    const [first] = t.run('show', t.file(file), '--width', '400', '--phases', phases.join()).split('\n');
                    t.check(ofThese === null || ofThese === first, `${file}, phases ${phases}: ${ofThese} on the page, ${first} in the terminal`);
                }
                for (const name of await page.evaluate('[...new Set(cachetally.source.info.structures.filter((each) => each.bytes > 0).map((each) => each.name))].slice(0, 4)'))
                    for (const phases of count > 4 ? ['', '1,3'] : ['']) {
                        await t.open(page, t.file(file), `structure=${encodeURIComponent(name)}&phases=${phases}`);
                        const [first] = t.run('show', t.file(file), '--width', '400', '--structure', name, ...(phases ? ['--phases', phases] : [])).split('\n');
                        t.equal(await page.locator('.sentence').textContent(), first, `${file}, ${name}, phases ${phases}`);
                    }
                await t.open(page, t.file(file));
                // the page's words, and its reason up to what is to be done
                const [words, why] = await page.evaluate(`(() => { const { info } = cachetally.source, { value, note } = cachetally.answers.tilesOf(cachetally.answers.answerOf(info), info).find(({ id }) => id === 'remedy'); return [value, note]; })()`);
                const remedy = /^What to try: (.*?)\. (.*)\.$/.exec(shown.split('\n')[1]);
                t.equal(remedy !== null, words !== 'ask for causes', `${file}: a line with a remedy`);
                if (remedy) t.check(words === remedy[1] && why.startsWith(`${remedy[2]}: `), `${file}: ${remedy[0]} and ${words}: ${why}`);
            }
        },
    ],
    [
        'tiles lead to their pictures, and Undo comes back',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            const state = () => page.evaluate(`['structure', 'phases', 'cause'].map((key) => cachetally.state[key] ?? '').join()`);
            const steps = '4,6,8,10'; // of one step of the program, and one of them is the worst
            for (const [tile, expected] of [
                ['where', 'A,,'],
                ['when', `A,${steps},`],
                ['why', `A,${steps},capacity`],
                ['level', `A,${steps},capacity`],
                // of one step the worst turn, then all phases
                ['when', 'A,4,capacity'],
                ['when', 'A,,capacity'],
            ]) {
                await page.locator(`[data-tile=${tile}]`).click();
                await t.quiet(page);
                await new Promise((resolve) => setTimeout(resolve, 250)); // choices in quick succession are one step
                t.equal(await state(), expected, `what the tile '${tile}' shows`);
                t.equal(await page.evaluate('document.activeElement.dataset.tile'), tile, 'the focus');
            }
            for (const expected of ['A,4,capacity', `A,${steps},capacity`, `A,${steps},`]) {
                await page.keyboard.press('u');
                await t.until(page, `['structure', 'phases', 'cause'].map((key) => cachetally.state[key] ?? '').join() === '${expected}'`, `${expected} again`, 3000);
            }
        },
    ],
    [
        'answer: allocations of one name have lines only where the file has the blocks of all',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', '--report', t.file('blocks.txt'), '-m', 'generic3', '-o', 'one-name.h5', '--', '/usr/bin/sort', '/etc/services');
            const sized = `cachetally.source.info.structures.filter((each) => each.heap).map((each) => each.name)`;
            await t.open(page, t.file('one-name.h5'));
            const before = await page.evaluate(sized);
            // one that has none is named as the first
            const [name] = before;
            t.check(name, 'blocks');
            t.script('-c', `import h5py, sys
with h5py.File(sys.argv[1], "r+") as f:
    a = f["attribution"]
    of = a["blocks/object"][:]
    a["objects"][next(i for i in range(1, len(a["objects"])) if i not in of)] = sys.argv[2]`, t.file('one-name.h5'), name);
            await t.open(page, t.file('one-name.h5'));
            t.equal((await page.evaluate(sized)).join(), before.filter((each) => each !== name).join(), 'the others');
            t.equal(await page.evaluate(`cachetally.source.info.structures.some((each) => each.name === ${JSON.stringify(name)})`), false, name);
            // the field says so, and is of all data; details and counts over time are its own
            const all = (await page.evaluate('cachetally.current.totals()')).L1D;
            await page.evaluate(`cachetally.set({ structure: ${JSON.stringify(name)} })`);
            await t.quiet(page);
            t.equal((await page.evaluate('cachetally.current.totals()')).L1D, all, 'misses in the field');
            const svg = await t.saved(page, 'SVG');
            t.check(svg.includes('has no addresses of its own: the field is of all data.') && svg.includes('Misses of L1D, all data'), 'that it does');
            const own = t.script('-c', `import h5py, sys
with h5py.File(sys.argv[1]) as f:
    a = f["attribution"]
    names = [each.decode() for each in a["objects"][:]]
    rows = a["rows"]
    of = a["sites/object"][:]
    print(sum(int(m) for site, m in zip(rows["site"][:], rows["misses_L1D"][:]) if names[of[site]] == sys.argv[2]))`, t.file('one-name.h5'), name).trim();
            const shown = await page.evaluate(`[...document.querySelectorAll('.numbers dd')].at(-1).textContent`);
            t.equal(shown.split(' ')[0].replaceAll(',', ''), own, 'misses in the details');
            await page.evaluate(`cachetally.set({ structure: '' })`);
            await t.quiet(page);
            const func = await page.evaluate(`[...document.querySelectorAll('.switches label')].find((each) => each.textContent.startsWith('Function')).querySelector('option:nth-child(2)').value`);
            await page.evaluate(`cachetally.set({ func: ${JSON.stringify(func)} })`);
            await t.quiet(page);
            t.check(/>[\d.]+ % of this is of data without addresses of their own: it is in the tables\.</.test(await t.saved(page, 'SVG')), `data of ${func}`);
        },
    ],
];
