// SPDX-License-Identifier: BSD-3-Clause
// The workbench: what it answers first, what a selection filters, where outliers are cut; compared with h5py and with cases by hand.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { box, number, tableRows } from './screen.mjs';

/** What a page needs of a file for its answer, made by hand. */
const made = (change = '') => `(() => {
    const column = (...values) => Float64Array.from(values);
    const info = {
        components: [{ name: 'L1', group: 'levels', totals: {}, accesses: column(40, 60), misses: column(4, 16) }],
        links: [{ name: 'core-L1', from: 'core', to: 'L1' }],
        machine: { cores: 1 },
        phases: { names: ['phase 0', 'phase 1'], cycles: column(10, 30), references: column(50, 50), pageWalks: column(0, 0) },
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

/** Sums of misses and accesses over addresses and phases, and by phase, with h5py. */
const sums = `
import h5py, json, sys
import numpy as np
g = h5py.File(sys.argv[1], "r")["combined/" + sys.argv[2]]
at, phase, a, m = (g[name][:] for name in ("address", "phase", "accesses", "misses"))
out = []
for first, last, phases in json.loads(sys.argv[3]):
    here = (at >= first) & (at < last)
    own = here if phases is None else here & np.isin(phase, phases)
    lines = np.unique(at[own])
    by = [float(m[own & (at == line)].sum()) for line in lines]
    sets = np.bincount(lines.astype(np.int64) // 16 % 512, minlength=512).tolist()
    out.append([len(lines), float(a[own].sum()), float(m[own].sum()), max(by, default=0), [float(m[here & (phase == p)].sum()) for p in range(int(phase.max()) + 1)], sets])
print(json.dumps(out))`;

export const workbenchCases = [
    [
        'answer: sentence and tiles of a file by hand',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const told = await page.evaluate(made());
            t.equal(told[0], 'L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, 60.00 % of those are conflicts, all in phase 1.', 'sentence');
            t.equal(told.slice(1, 5).join(' | '), '20.00 %: L1 misses 20 of 100 | A: 75.00 % of the misses of L1 | phase 1: all of its conflict misses, in 75.00 % of the time | conflict: 60.00 % of its misses', 'tiles');
            t.check(told[5].startsWith('move it, or pad: B evicts it though the cache has room'), told[5]);
            t.check(told[5].includes(' 33.33 % are first uses: prefetch, longer lines.'), `the next cause: ${told[5]}`);
            const equal = await page.evaluate(made(`info.structureLevels[0].misses.set([8, 7 + 1]); info.causes = [];`));
            t.equal(equal[3], 'in all phases: none has 1.25 times the mean of all', 'two phases with equal misses');
            t.check(equal[0].endsWith('; no phase stands out.'), equal[0]);
            for (const [some, end] of [[[5, 3], ', worst in phase 0.'], [[49, 31], '; no phase stands out.']]) {
                const uneven = await page.evaluate(made(`info.structureLevels[0].misses.set([${some}]); info.causes = [];`));
                t.check(uneven[0].endsWith(end), `${some}: ${uneven[0]}`);
            }
            const many = (count) => made(`info.phases = { names: [], cycles: column(), references: column(), pageWalks: column() }; info.causes = [];
                info.structureLevels[0] = { name: 'L1', structure: column(...Array(${2 * count}).fill(0)), phase: column(...Array(${2 * count}).keys()), accesses: column(...Array(${2 * count}).fill(9)), misses: column(...Array(${count}).fill(8), ...Array(${count}).fill(1)) };`);
            t.check((await page.evaluate(many(8)))[0].endsWith(', worst in phases 0, 1, 2, 3, 4, 5, 6, 7.'), 'eight phases alike');
            const more = await page.evaluate(many(10));
            t.check(more[0].endsWith(', worst in phases 0, 1, 2, 3, 4, 5, 6, 7 and 2 more.') && more[3].startsWith('10 phases: '), more.join());
            const several = await page.evaluate(many(10).replace('names: []', `names: ['build', ...Array(19).fill('solve')]`));
            t.check(several[0].endsWith(', worst in 10 phases (build, solve).'), several[0]);
            const named = await page.evaluate(made(`info.phases.names = ['build', 'solve'];`));
            t.check(named[0].endsWith(', all in phase 1 (solve).') && named[3].startsWith('phase 1 (solve): '), named[0]);
            const twice = await page.evaluate(made(`info.structureLevels[0].misses.set([8, 7 + 1]); info.causes = []; info.phases = { names: ['solve', 'solve', 'rest'], cycles: column(10, 30, 0), references: column(50, 50, 0), pageWalks: column(0, 0, 0) };`));
            t.check(twice[0].endsWith(', worst in phases 0, 1 (solve).'), twice[0]);
            const again = await page.evaluate(made(`info.phases.names = ['solve', 'reduce, correct', 'solve', 'rest']; info.causes = [];
                info.structureLevels[0] = { name: 'L1', structure: column(0, 0, 0, 0), phase: column(0, 1, 2, 3), accesses: column(90, 90, 90, 9), misses: column(100, 92, 94, 1) };`));
            t.check(again[0].endsWith(', worst in 3 phases (solve; reduce, correct).'), again[0]);
            const alone = await page.evaluate(made(`info.causes[0].evictions.by[0] = 0;`));
            t.check(alone[5].startsWith('pad rows, or block it: A evicts itself'), alone[5]);
            const without = await page.evaluate(made(`info.causes = [];`));
            t.equal(without[0], 'L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, worst in phase 1.', 'without causes');
            t.check(without[5].includes('--causes'), without[5]);
            const none = await page.evaluate(made(`info.components[0].misses.fill(0); info.structureLevels[0].misses.fill(0); info.causes = [];`));
            t.equal(none[0], 'L1 misses nothing: all 100 accesses hit.', 'no misses');
            t.equal(await page.evaluate(made(`info.components[0].accesses.fill(0);`)), null, 'no accesses');
            const inPhase = await page.evaluate(made().replace('answerOf(info)', `answerOf(info, 'L1', [1])`));
            t.equal(inPhase[0], 'L1 misses 26.67 % of 60 accesses in phase 1; A causes 68.75 % of them, 81.82 % of those are conflicts.', 'of a phase');
            t.equal(inPhase.slice(1, 4).join(' | '), '26.67 %: L1 misses 16 of 60 | A: 68.75 % of the misses of L1 | phase 1: as chosen: 80.00 % of the misses of all phases, in 75.00 % of the time', 'tiles of a phase');
            const program = await page.evaluate(
                made(`info.phases = { names: ['phase 0'], cycles: column(40), references: column(100), pageWalks: column(0) };
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
            t.check(shared[5].startsWith('pad to lines: 75.00 % is false sharing'), shared[5]);
            t.equal(shared[4], 'false sharing: 85.71 % of its misses come after invalidations, 75.00 % of these by false sharing', 'why');
            const truly = await page.evaluate(
                made(`info.causes[0].misses.counts[1][1] = 90;
                info.sharing = { levels: ['L1'], lineBytes: 64, level: column(0), phase: column(0), core: column(0), by_core: column(1), address: column(4096), true_sharing: column(3), false_sharing: column(1) };`),
            );
            t.equal(truly[4], 'invalidated: 85.71 % of its misses', 'why, true sharing');
            t.check(truly[5].startsWith('share less: 75.00 % is true sharing'), truly[5]);
            const pages = await page.evaluate(
                made(`info.components = [{ name: 'TLB', group: 'tlbs', totals: {}, accesses: column(40, 60), misses: column(4, 16) }];
                Object.assign(info.causes[0], { name: 'L9' }); info.structureLevels[0].name = 'TLB';`).replace('answerOf(info)', `answerOf(info, 'TLB')`),
            );
            t.check(pages[4] === 'not known: causes are known of caches alone' && pages[5].startsWith('larger pages: '), pages.join(' | '));
            const goes = (change) => page.evaluate(made(change).replace(`tile.value + ': ' + tile.note`, 'tile.go.structure'));
            t.equal((await goes(''))[2], 'A', 'the tile leads to its structure');
            t.equal((await goes(`info.structures[0].bytes = 0;`))[2], '', 'to all, if that has no addresses');
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
                    for (const name of ['accesses', 'misses']) t.equal(found[name], expected[name], `${name} of ${level} in ${file}`);
                    for (const name of ['structure', 'phase', 'cause', 'evictor']) {
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
            for (const [tile, expected] of [
                ['where', 'A,,'],
                ['when', 'A,4,capacity'],
                // now of the phase alone, until the tile of the phase is pressed again
                ['why', 'A,4,capacity'],
                ['level', ',4,'],
                ['when', 'A,,'],
            ]) {
                await page.locator(`[data-tile=${tile}]`).click();
                await t.quiet(page);
                await new Promise((resolve) => setTimeout(resolve, 250)); // choices in quick succession are one step
                t.equal(await state(), expected, `what the tile '${tile}' shows`);
                t.equal(await page.evaluate('document.activeElement.dataset.tile'), tile, 'the focus');
            }
            for (const expected of [',4,', 'A,4,capacity', 'A,,']) {
                await page.keyboard.press('u');
                await t.until(page, `['structure', 'phases', 'cause'].map((key) => cachetally.state[key] ?? '').join() === '${expected}'`, `${expected} again`, 3000);
            }
        },
    ],
    [
        'brush: addresses and phases filter details, tables and counts over time as h5py does',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu2.h5'));
            const field = page.locator('canvas.field');
            await field.scrollIntoViewIfNeeded();
            const { x, y, width } = await box(page, 'canvas.field');
            await page.mouse.move(x + width * 0.3, y + 180);
            await page.mouse.down();
            await page.mouse.move(x + width * 0.5, y + 260, { steps: 3 });
            await page.mouse.up();
            await t.quiet(page);
            const [from, to, phases] = await page.evaluate(`[...cachetally.state.sel.split('-').map(Number), cachetally.state.phases]`);
            const [first, last] = phases.split('-').map(Number);
            t.check(last > first && to - from > 10000, `what is selected: ${from} to ${to}, phases ${phases}`);
            const list = Array.from({ length: last - first + 1 }, (_, i) => first + i);
            const [[lines, accesses, misses, worst]] = JSON.parse(t.script('-c', sums, t.file('lu2.h5'), 'L1', JSON.stringify([[from, to, list]])));
            const shown = await page.evaluate(`[...document.querySelectorAll('.numbers dd')].map((each) => each.textContent)`);
            t.equal(shown.map((each) => number(each.split(' ')[0])).join(), [lines, accesses, misses].join(), 'lines, accesses, misses');
            const rows = await tableRows(page, 'Lines with most');
            t.equal(number(rows[1][1]), worst, 'misses of the worst line');
        },
    ],
    [
        'selections of any lines and phases hold what h5py adds up, also by set and by phase',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('lu.h5'));
            let random = 11;
            const next = (below) => (random = (random * 48271) % 2147483647) % below;
            const asked = Array.from({ length: 24 }, (_, i) => {
                const first = 0x10000020 + 16 * next(4000) + (i % 4 === 1 ? 8 : 0); // some begin within a line, which is not theirs
                return [first, first + 16 * (1 + next(i < 12 ? 40 : 4000)), i % 3 === 0 ? null : [...new Set([next(17), next(17), 4])].sort((a, b) => a - b)];
            });
            const expected = JSON.parse(t.script('-c', sums, t.file('lu.h5'), 'L1', JSON.stringify(asked)));
            const found = await page.evaluate(`(async () => {
                const { source } = cachetally;
                const axis = await source.axis(source.info.series.filter((each) => each.kind === 'level').map((each) => each.id));
                const base = Number(axis.segments[0].base);
                return Promise.all(${JSON.stringify(asked)}.map(async ([from, to, phases]) => {
                    const part = await source.ask('selected', 'combined/L1', 'misses', phases, axis, from - base, to - base, 5, 512);
                    const time = await source.ask('phaseSums', 'combined/L1', axis, [from - base, to - base]);
                    return [part.lines, part.first, part.second, part.worst[0]?.second ?? 0, [...time.second], [...part.sets]];
                })); })()`);
            found.forEach(([lines, accesses, misses, worst, time, sets], i) => {
                const [a, b, c, d, by, inSets] = expected[i];
                t.equal([lines, accesses, misses, worst].join(), [a, b, c, d].join(), `lines ${asked[i]}`);
                t.equal(time.slice(0, by.length).join(), by.join(), `by phase: ${asked[i]}`);
                t.equal(sets.join(), inSets.join(), `lines by set: ${asked[i]}`);
            });
        },
    ],
    [
        'sets: rows of a matrix that are a way apart share sets',
        async (t, page) => {
            // 64 sets of 64 bytes: every 4096 bytes the same set; generic3 moves pages, but the set lies within a page
            const lines = Array.from({ length: 6000 }, (_, i) => `0 ${(0x400000 + 4096 * (i % 40)).toString(16)} 8\n`);
            writeFileSync(t.file('sets.din'), lines.join(''));
            writeFileSync(t.file('sets.names'), '0x400000 163840 8 columns\n');
            t.run('replay', t.file('sets.din'), '--structures', t.file('sets.names'), '-m', 'generic3', '--causes', '-o', 'sets.h5');
            await t.open(page, t.file('sets.h5'));
            await t.press(page, 'columns');
            const text = await page.locator('.sets').getAttribute('aria-label');
            t.equal(text, '40 lines in 1 of 64 sets of 8 ways; 1 sets have more lines than ways.', 'the sets');
            await t.open(page, t.file('sets.h5'), 'level=L2');
            await t.press(page, 'columns');
            t.equal(await page.locator('.sets').count(), 0, 'a picture of sets that moved pages choose');
        },
    ],
    [
        'causes, functions: what is known of whole structures is spread over them, and adds up',
        async (t, page) => {
            const { L1 } = t.json('show', 'lu2.h5').causes;
            for (const cause of ['first_use', 'capacity', 'conflict']) {
                await t.open(page, t.file('lu2.h5'), `cause=${cause.replace('_', ' ')}`);
                const count = L1.misses.reduce((all, row) => all + row[cause], 0);
                t.equal(await page.evaluate('cachetally.current.totals().L1'), count, cause);
                const [head, ...rows] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
                t.near(rows.reduce((all, row) => all + Number(row[head.indexOf('sum')]), 0), count, `${cause} in the CSV file`, 1e-6);
                t.check((await t.saved(page, 'SVG')).includes('spread over each data structure'), 'what the picture says of it');
            }
        },
    ],
    [
        'axis: whether its addresses are virtual or physical; a molecule of WATER has words of its own',
        async (t, page) => {
            t.run('run', 'water', 'molecules=8', 'steps=1', '-m', 'schulz2002', '-o', 'water-8.h5');
            for (const [file, hash, kind] of [
                ['matmul.h5', 'show=misses', 'virtual'],
                ['matmul.h5', 'show=link:load&level=L1D-L2', 'virtual'],
                ['water-8.h5', 'show=link:load&level=L1-L2', 'physical'],
                ['water-8.h5', 'show=misses&structure=molecules&level=L1', 'virtual'],
            ]) {
                await t.open(page, t.file(file), hash);
                const found = [...(await t.saved(page, 'SVG')).matchAll(/>(virtual|physical)</g)].map(([, each]) => each);
                t.equal(found.join(), kind, `addresses of ${file}, ${hash}`);
            }
            const lines = (await tableRows(page, 'Worst lines')).slice(1).map(([line]) => /^molecules \[(\d+)\]\[(\d+)\] /.exec(line));
            t.check(lines.length > 0 && lines.every((each) => each && each[1] < 8 && each[2] < 84), `molecules and words: ${lines}`);
        },
    ],
    [
        'outliers are cut, counted and marked; a chosen scale shows all',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const address = (i) => 0x400000 + 64 * i;
            const lines = Array.from({ length: 1000 }, (_, i) => `0 ${address(i).toString(16)} 8\n`);
            lines.push(...Array.from({ length: 5000 }, () => `0 ${address(17).toString(16)} 8\n`));
            writeFileSync(t.file('outlier.din'), lines.join(''));
            t.run('replay', t.file('outlier.din'), '-m', 'generic3', '-o', 'outlier.h5');
            await t.open(page, t.file('outlier.h5'), 'show=accesses');
            const svg = await t.saved(page, 'SVG');
            t.check(svg.includes('>1 line up to 5k<') && svg.includes('>1 cell up to '), svg.match(/>[^<]* up to [^<]*</g)?.join());
            await t.open(page, t.file('outlier.h5'), 'show=accesses&scale=linear');
            t.check(!(await t.saved(page, 'SVG')).includes(' up to '), 'nothing is cut');
        },
    ],
    [
        'cells of a large run come from its grid, and are those of its rows',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'stream', 'n=400000', 'repetitions=8', '-m', 'generic3', '--monitor', 'none', '-o', 'grid.h5');
            await t.open(page, t.file('grid.h5'), 'show=misses');
            const rows = await page.evaluate('cachetally.source.info.series[0].rows');
            t.check(rows > 2_000_000, `${rows} rows`);
            const [head, ...table] = (await t.saved(page, 'CSV')).trim().split('\n').map((line) => line.split(','));
            const first = head.indexOf('lines');
            const byPhase = JSON.parse(t.script('-c', 'import h5py, json, numpy as np, sys\ng = h5py.File(sys.argv[1], "r")["combined/L1D"]\nprint(json.dumps(np.bincount(g["phase"][:], g["misses"][:]).tolist()))', t.file('grid.h5')));
            byPhase.forEach((misses, phase) => {
                const drawn = table.reduce((all, row) => all + Number(row[first]) * Number(row[first + 1 + phase]), 0);
                t.near(drawn, misses, `misses in phase ${phase}`, 1e-6);
            });
            // a part that is too narrow for the grid, and what the grid says of the same columns
            const same = await page.evaluate(`(async () => {
                const { source } = cachetally;
                const axis = await source.axis(source.info.series.filter((each) => each.kind === 'level').map((each) => each.id));
                const ask = (x0, x1, columns) => source.ask('heat', 'combined/L1D', 'misses', axis, x0, x1, columns, source.info.series.find(({ id }) => id === 'combined/L1D').phases, 256);
                const wide = await ask(0, 4096 * 512, 512), narrow = await ask(0, 4096 * 64, 4096);
                const sum = (heat, of, to) => { let all = 0; for (let row = 0; row < heat.rows; ++row) for (let c = 0; c < to; ++c) all += heat[of][row * heat.columns + c]; return all; };
                return ['sum', 'weight'].flatMap((of) => [sum(wide, of, 64), sum(narrow, of, 4096)]); })()`);
            t.near(same[0], same[1], 'misses of the first 64 columns, by grid and by rows', 1e-9);
            t.check(same[3] > 1000, `${same[3]} lines and phases`);
            t.near(same[2], same[3], 'lines and phases of the first 64 columns, by grid and by rows', 1e-9);
        },
    ],
    [
        'search finds, keys work everywhere, the list of keys opens',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            const search = async (words) => {
                await page.keyboard.press('/');
                await page.keyboard.type(words);
                await page.keyboard.press('Enter');
                await t.quiet(page);
            };
            await search('stack0');
            t.equal(await page.evaluate('cachetally.state.structure'), 'stack0', 'the structure that was searched');
            t.check(await page.evaluate(`document.activeElement.matches('canvas.field')`), 'the focus is on the field');
            await search('p'); // names that begin so come before those that have it within, as Topology
            t.equal(await page.evaluate('cachetally.state.phases'), '0', 'the first phase');
            await search('phase 12');
            t.equal(await page.evaluate('cachetally.state.phases'), '12', 'the phase');
            await search('L2 level');
            t.equal(await page.evaluate('cachetally.state.level'), 'L2', 'the level');
            await page.keyboard.press('2');
            t.equal(await page.evaluate('cachetally.shown'), 'topology', 'the second view');
            await search('workbench');
            t.equal(await page.evaluate('cachetally.shown'), 'workbench', 'the view that was searched');
            await page.keyboard.press('?');
            t.check((await page.locator('dialog[open]').textContent()).includes('undo the last choice'), 'the list of keys');
            await page.keyboard.press('Escape');
            t.equal(await page.locator('dialog[open]').count(), 0, 'dialogs');
            await page.getByLabel(/^Phases, as in/).fill('');
            await page.keyboard.press('2');
            t.equal(await page.evaluate('cachetally.shown'), 'workbench', 'who writes goes nowhere');
        },
    ],
    [
        'by keyboard alone: the cursor selects a structure and a phase, the menu saves',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'));
            const field = page.locator('canvas.field');
            await field.focus();
            for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
            await t.quiet(page);
            t.equal(await page.evaluate(`cachetally.state.structure + ' ' + cachetally.state.phases`), 'A 2', 'what Enter selects');
            const told = await page.evaluate(`(({ textContent, ariaLive }) => ariaLive + ' ' + textContent)(document.querySelector('.readout'))`);
            t.check(/^polite phase 2 \(diagonal\) · A \[/.test(told), `what is said of it: ${told}`);
            await page.keyboard.press('Escape');
            await t.quiet(page);
            t.equal(await page.evaluate(`(cachetally.state.structure ?? '') + (cachetally.state.phases ?? '')`), '', 'what Escape leaves');
            await page.locator('.menu > .tool').first().focus();
            await page.keyboard.press('Enter');
            t.check(await page.getByLabel('Save the picture as SVG').first().isVisible(), 'the menu opens');
            const focused = () => page.evaluate('document.activeElement.textContent');
            for (const expected of ['CSV', 'SVG']) {
                await page.keyboard.press('ArrowDown');
                t.equal(await focused(), expected, 'arrow keys in the menu');
            }
            await page.keyboard.press('ArrowUp');
            await page.keyboard.press('Escape');
            t.check(!(await page.getByLabel('Save the picture as SVG').first().isVisible()), 'the menu closes');
            for (const list of ['ul', 'tbody']) {
                const focused = `(() => {
                    window.lists = [...document.querySelectorAll('#view ${list}, main ${list}')].map((each) => [...each.querySelectorAll('button, a[href]')].filter((one) => one.offsetParent));
                    window.pressed = window.lists.find((each) => each.length > 1);
                    window.pressed?.[0].focus();
                    return window.pressed?.length ?? 0; })()`;
                const count = await page.evaluate(focused);
                t.check(count > 1, `${list} has things to press`);
                for (const [key, at] of [['ArrowDown', 1], ['ArrowUp', 0], ['ArrowUp', count - 1], ['ArrowDown', 0]]) {
                    await page.keyboard.press(key);
                    t.equal(await page.evaluate('window.pressed.indexOf(document.activeElement)'), at, `${key} in a ${list}`);
                }
            }
            const heads = await page.evaluate(`[...document.querySelectorAll('h1, h2, h3')].map((each) => each.tagName + each.textContent.length)`);
            t.check(heads.filter((each) => each.startsWith('H1')).length === 1 && heads.filter((each) => each.startsWith('H2')).length >= 3 && !heads.some((each) => each.endsWith(' 0')), `headings: ${heads}`);
        },
    ],
    [
        'details: of a cause the lines and cache sets of its structure, of all causes',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'), 'structure=A');
            const shown = async () => [await page.locator('.details .sets').getAttribute('aria-label'), await page.locator('.details dl.numbers').innerText()];
            const [sets, numbers] = await shown();
            await page.evaluate(`cachetally.set({ cause: 'conflict' })`);
            await t.quiet(page);
            const [again, more] = await shown();
            t.equal(again, sets, 'cache sets');
            t.check(more.startsWith(numbers) && /conflict/.test(more), `numbers: ${more}`);
            t.check((await page.innerText('.details')).includes('Lines and sets are of misses of all causes.'), 'the note');
        },
    ],
    [
        'details: a line that two data structures share counts once for each access',
        async (t, page) => {
            const [trace, names, file] = ['one-line.lackey', 'one-line.txt', 'one-line.h5'].map((each) => join(t.directory, each));
            const load = (address, times) => Array(times).fill(` L ${address.toString(16)},8`);
            writeFileSync(trace, ['I  00401000,4', ...load(0x10000000, 3), ...load(0x10000020, 5), ...load(0x10000040, 2)].join('\n') + '\n');
            writeFileSync(names, '0x10000000 32 8 first\n0x10000020 64 8 second\n');
            t.run('replay', trace, '--structures', names, '-m', 'generic3', '-o', file);
            await t.open(page, file, 'show=accesses&level=L1D&structure=first');
            const shown = async () => [await page.locator('.details dl.numbers').innerText(), await page.locator('.details dl.numbers + p').allInnerTexts()].flat().join(' ').replace(/\s+/g, ' ');
            t.check(/^lines 1 of 64 B accesses 3 misses 1 · 33\.33 % Other data lie in these lines, too: accesses with them 8, misses 1\./.test(await shown()), await shown());
            await page.evaluate(`cachetally.set({ structure: '', sel: '0x10000000-0x10000040' })`);
            await t.quiet(page);
            t.check(/^lines 1 of 64 B accesses 8 misses 1 · 12\.50 % Causes, code and cores are of first, second as a whole\.$/.test(await shown()), `addresses: ${await shown()}`);
        },
    ],
    [
        'a cause that is chosen sorts tables and counts code',
        async (t, page) => {
            await t.open(page, t.file('lu2.h5'), 'show=misses&level=L1&cause=capacity');
            const [head, ...rows] = await tableRows(page, 'Data structures, all phases');
            const values = rows.map((row) => number(row[head.indexOf('capacity')]));
            t.check(values.length > 1 && values.every((each, i) => i === 0 || each <= values[i - 1]), `capacity misses, the most first: ${values}`);
        },
    ],
    [
        'addresses in the address of the page that cannot be read are told',
        async (t, page) => {
            for (const [sel, words] of [
                ['zz', `'zz' is no range of addresses; write e.g. 0x1000-0x2000. Shown: all addresses.`],
                ['0x2000-0x1000', `'0x2000-0x1000' ends before it begins. Shown: all addresses.`],
                ['0x10000000-0x10000100,4096-8192', `'4096-8192' is no range of addresses; write e.g. 0x1000-0x2000.`],
                ['0x10000000-0x10000100', ''],
            ]) {
                await t.open(page, t.file('lu.h5'), `sel=${sel}`);
                t.equal(await page.locator('.chips .note.bad:visible').allTextContents().then((all) => all.join()), words, sel);
            }
            await t.open(page, t.file('lu.h5'), 'sel=zz');
            await page.getByLabel('Take away zz').click();
            await t.quiet(page);
            t.equal(await page.evaluate('cachetally.state.sel'), '', 'what is left once it is taken away');
        },
    ],
    [
        'of more than 256 data structures, selected, the table has wholes, and says so',
        async (t, page) => {
            const [trace, names, file] = ['wholes.lackey', 'wholes.txt', 'wholes.h5'].map((each) => join(t.directory, each));
            const places = Array.from({ length: 257 }, (_, i) => 0x10000000 + 64 * i);
            const load = (address) => ` L ${address.toString(16)},8`;
            writeFileSync(trace, ['I  00401000,4', ...[...places, 0x20000000, 0x20000040].map(load)].join('\n') + '\n');
            writeFileSync(names, [...places.map((place, i) => `0x${place.toString(16)} 64 8 s${i}`), '0x20000000 12345 8 odd'].join('\n') + '\n');
            t.run('replay', trace, '--structures', names, '-m', 'generic3', '-o', file);
            const caption = async (last) => {
                await t.open(page, file, `level=L1D&sel=0x10000000-0x${(places[last] + 64).toString(16)}`);
                const [table] = await page.locator('.table-box[aria-label^="Data structures, "]').all();
                return table.getAttribute('aria-label');
            };
            t.equal(await caption(255), 'Data structures, the whole run, selected lines alone', 'of 256');
            t.equal(await caption(256), 'Data structures, the whole run, of data structures as wholes', 'of 257');
            const [, ...rows] = await tableRows(page, 'Data structures, the whole run, of data');
            t.check(rows.length <= 257, `${rows.length} rows`);
            await t.open(page, file, 'level=L1D');
            const odd = (await tableRows(page, 'Data structures, the whole run')).find(([name]) => name === 'odd');
            t.equal(odd?.[1], '12345 B', 'a size in whole bytes');
        },
    ],
    [
        'names in the address of the page that the file does not have are told',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'view=nope&level=XX&structure=NOPE');
            t.check((await page.locator('.facts').textContent()).endsWith('there is no view “nope” of it'), 'the view');
            t.check((await t.saved(page, 'SVG')).includes('Not in this file: XX, NOPE.'), 'the names');
            await page.evaluate(`cachetally.set({ level: '', structure: 'Q', cause: 'zz' })`);
            await t.quiet(page);
            t.check((await t.saved(page, 'SVG')).includes('Not in this file: zz, Q.'), 'a cause and a data structure');
            await page.evaluate(`cachetally.set({ view: 'tables', level: '', structure: '', cause: '' })`);
            t.check(!(await page.locator('.facts').textContent()).includes('there is no view'), 'a view that there is');
        },
    ],
];
