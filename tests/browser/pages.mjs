// SPDX-License-Identifier: BSD-3-Clause
// The page itself: reports, dark, small screens, accessible names, the file kept in place.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const pageCases = [
    [
        'tabs: one is in the order of Tab, arrows move among them, Enter shows one',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'));
            const names = await page.locator('[role=tab]').allTextContents();
            t.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1, 'tabs that Tab stops at');
            await page.locator('[role=tab][tabindex="0"]').focus();
            const focused = () => page.evaluate('document.activeElement.textContent');
            for (const [key, at] of [['ArrowRight', 1], ['ArrowRight', 2], ['ArrowLeft', 1], ['ArrowLeft', 0], ['ArrowLeft', names.length - 1], ['ArrowRight', 0], ['ArrowRight', 1]]) {
                await page.keyboard.press(key);
                t.equal(await focused(), names[at], `the focus after ${key}`);
            }
            t.equal(await page.locator('[role=tab][aria-selected=true]').textContent(), names[0], 'what is shown until then');
            await page.keyboard.press('Enter');
            await t.quiet(page);
            t.equal(await page.locator('[role=tab][aria-selected=true]').textContent(), names[1], 'what Enter shows');
            t.equal(await focused(), names[1], 'the focus stays');
        },
    ],
    [
        'report: the page with the result inside',
        async (t, page) => {
            t.run('report', 'lu.h5', '-o', 'lu.html', '-f');
            await page.goto(`file://${t.file('lu.html')}#show=misses`, { waitUntil: 'load' });
            t.check(await page.evaluate('cachetally.current?.totals().L1 > 0'), 'it is shown when it is loaded: browsers that take pictures wait no longer');
            const told = t.json('show', 'lu.h5').levels.L1;
            t.equal(
                await page.evaluate('cachetally.current.totals().L1'),
                told.load_misses + told.store_misses + told.fetch_misses,
                'misses of L1',
            );
            t.equal(await page.title(), 'lu n=128 on schulz2002 – cachetally', 'title');
        },
    ],
    [
        'report: a reduced copy keeps the sums and says what it is',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(`${t.here}/make_large.py`, 'large.h5', '100000', '8', 'nosweep');
            t.run('report', 'large.h5', '-o', 'large.html', '-f', '--trust');
            await page.goto(`file://${t.file('large.html')}`);
            await t.until(page, '!!cachetally.current', 'the embedded result');
            await t.quiet(page);
            const totals = async () => {
                const found = {};
                for (const level of ['L1', 'L2', 'L3']) {
                    await page.evaluate(`cachetally.set({ level: '${level}', show: 'accesses' })`);
                    await t.quiet(page);
                    Object.assign(found, await page.evaluate('cachetally.current.totals()'));
                }
                return found;
            };
            const reduced = await totals();
            t.check((await page.innerText('body')).includes('reduced copy of large.h5'), 'notice');
            t.script(
                '-c',
                `import h5py, numpy as np
f = h5py.File("large.h5", "r")["combined/L1"]
i = np.argmax(f["misses"])
print(hex(f["address"][i]), int(f["phase"][i]), f["misses"][i], file=open("top.txt", "w"))`,
            );
            const [top, topPhase, most] = readFileSync(t.file('top.txt'), 'utf8').trim().split(' ');
            await page.evaluate(`cachetally.set({ phases: '${topPhase}', show: 'misses' })`);
            await t.quiet(page);
            const lines = await page.evaluate(`(async () => {
                const axis = await cachetally.source.axis(['combined/L1', 'combined/L2', 'combined/L3']);
                const { worst } = await cachetally.source.ask('selected', 'combined/L1', 'misses', [${topPhase}], axis, [[0, axis.bytes]], 1, 0);
                return worst.map((row) => [String(row.address), row.second]);
            })()`);
            t.equal(
                JSON.stringify(lines),
                JSON.stringify([[String(BigInt(top)), Number(most)]]),
                'the line that misses most',
            );
            await page.evaluate(`cachetally.set({ phases: '2' })`);
            const phase = await totals();
            await t.open(page, t.file('large.h5'));
            const whole = await totals();
            await page.evaluate(`cachetally.set({ phases: '2' })`);
            const wholePhase = await totals();
            for (const level of ['L1', 'L2', 'L3']) {
                t.near(reduced[level], whole[level], `accesses of ${level}`);
                t.near(phase[level], wholePhase[level], `accesses of ${level} in phase 2`);
            }
        },
    ],
    [
        'report: a reduced copy of lines far from each other is drawn',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            const lines = 100000;
            t.script(
                '-c',
                `import random
r = random.Random(5)
open("far.din", "w").write("".join(f"0 {r.getrandbits(47) & ~63:x}\\n" for _ in range(${lines})))`,
            );
            t.run('replay', 'far.din', '-m', 'schulz2002', '-o', 'far.h5', '-f');
            t.run('report', 'far.h5', '-o', 'far.html', '-f');
            await page.goto(`file://${t.file('far.html')}`);
            await t.until(page, '!!cachetally.current', 'the embedded result');
            await t.quiet(page);
            t.check((await page.innerText('body')).includes('reduced copy of far.h5'), 'notice');
            await t.press(page, 'Accesses');
            t.equal((await page.evaluate('cachetally.current.totals()')).L1, lines, 'accesses of L1');
        },
    ],
    [
        'report: counts of blocks in stretches near each other are counted once',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(join(t.here, 'make_phases.py'), t.file('blocks.h5'), 'blocks', '2', '640');
            await t.open(page, t.file('blocks.h5'));
            const [segments, total, first] = await page.evaluate(`(async () => {
                const axis = await cachetally.source.axis(['combined/L1']);
                const { first } = await cachetally.source.ask('selected', 'combined/L1', 'accesses', null, axis, [[0, axis.bytes]], 1, 0);
                return [axis.segments.length, cachetally.answers.answerOf(cachetally.source.info).accesses, first];
            })()`);
            t.equal(segments, 4, 'stretches of the axis');
            t.near(first, total, 'accesses of all that is selected');
        },
    ],
    [
        'first paint and frames of a large file',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            await t.open(page, t.file('large.h5'));
            const times = await page.evaluate(`(async () => {
            const canvas = document.querySelector('canvas.zooms');
            const frames = cachetally.frames;
            frames.length = 0;
            for (let i = 0; i < 60; ++i) {
                canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 20 < 10 ? -60 : 60, clientX: 500, clientY: 300, cancelable: true, bubbles: true }));
                await new Promise((resolve) => requestAnimationFrame(resolve));
            }
            return [...frames].sort((a, b) => a - b);
        })()`);
            const most = times[Math.floor(times.length * 0.95)];
            t.check(times.length >= 50, `${times.length} frames`);
            t.check(most < 100, `drawing takes ${most} ms at the 95th percentile`); // 20 are the aim; other work may share the machine
        },
    ],
    [
        'dark, and on a small screen',
        async (t, page) => {
            await page.emulateMedia({ colorScheme: 'dark' });
            await t.open(page, t.file('lu.h5'));
            t.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark', 'theme');
            await t.picture(page, 'dark');
            await page.emulateMedia({ colorScheme: 'light' });
            const phone = await t.newPage({ viewport: { width: 800, height: 390 }, isMobile: true, colorScheme: 'dark' });
            await t.open(phone, t.file('lu.h5'));
            await phone.setViewportSize({ width: 390, height: 800 });
            await t.quiet(phone);
            t.check(
                await phone.evaluate('document.documentElement.scrollWidth <= innerWidth + 1'),
                'the page is not wider than the screen',
            );
            await t.picture(phone, 'small');
            await phone.close();
        },
    ],
    [
        'every control has a name',
        async (t, page) => {
            for (const [file, views] of [
                ['matmul.h5', ['workbench', 'topology', 'tables']],
                ['sweep.h5', ['sweep']],
                ['probe.h5', ['curves', 'tables']],
            ])
                for (const view of views) {
                    await t.open(page, t.file(file), `view=${view}`);
                    const nameless =
                        await page.evaluate(`[...document.querySelectorAll('button, input:not([hidden]), select, canvas, [role=region]')].filter((each) => {
                    if (each.closest('[hidden]')) return false;
                    const label = each.getAttribute('aria-label') ?? each.closest('label')?.textContent ?? each.textContent;
                    return !label || !label.trim(); }).map((each) => each.outerHTML.slice(0, 120))`);
                    t.check(nameless.length === 0, `${view}: ${nameless.join(' ')}`);
                }
        },
    ],
    [
        'state in the URL: a link shows the same',
        async (t, page) => {
            await t.open(page, t.file('lu.h5'), 'show=misses&phases=4,6&level=L1&scale=log');
            t.equal(Object.keys(await page.evaluate('cachetally.current.totals()')).join(), 'L1', 'panels');
            t.equal(await page.evaluate(`document.querySelector('.phases input').value`), '4,6', 'phases');
            await t.open(page, t.file('lu.h5'), 'view=nonsense&phases=99-,x&x=5-1&show=what&scale=%E0%A4%A');
            t.check(await page.evaluate('cachetally.current.totals().L1 > 0'), 'nonsense in the URL is passed over');
        },
    ],
    [
        'the page in the tree is that of the sources',
        async (t) => {
            const web = join(t.here, '../../viewer/web');
            if (spawnSync('clang++-14', ['--version']).status !== 0 || !existsSync('/usr/include/wasm32-wasi')) return 'clang or its libraries for wasm32 are not there';
            const copy = mkdtempSync(join(tmpdir(), 'cachetally-page-'));
            const place = join(copy, 'viewer/web');
            try {
                for (const part of ['answer.json', 'drawing.json', 'core']) cpSync(join(web, '..', part), join(copy, 'viewer', part), { recursive: true });
                for (const part of [
                    'src',
                    'index.html',
                    'package.json',
                    'package-lock.json',
                    'tsconfig.json',
                    'vite.config.ts',
                ])
                    cpSync(join(web, part), join(place, part), { recursive: true });
                if (existsSync(join(web, 'node_modules')))
                    symlinkSync(join(web, 'node_modules'), join(place, 'node_modules'));
                else if (spawnSync('npm', ['--version']).status !== 0)
                    return 'viewer/web has no node_modules and there is no npm';
                else if (
                    spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
                        cwd: place,
                        timeout: 120000,
                    }).status !== 0
                )
                    return 'npm could not install the packages';
                const vite = join(place, 'node_modules/vite/bin/vite.js');
                execFileSync('node', [vite, 'build', '--logLevel', 'error'], { cwd: place });
                t.check(
                    readFileSync(join(place, 'dist/index.html'), 'utf8') ===
                        readFileSync(join(web, 'dist/index.html'), 'utf8'),
                    'viewer/web/dist/index.html is not that of the sources: npm run build there',
                );
            } finally {
                rmSync(copy, { recursive: true, force: true });
            }
        },
    ],
];
