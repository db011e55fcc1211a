// SPDX-License-Identifier: BSD-3-Clause
// The page in Firefox: it opens files, shows what they hold, and is used by mouse and keys; the same numbers, no errors.
import { existsSync } from 'node:fs';
import { launchFirefox, openPage } from './browsers.mjs';

const misses = (level) => level.load_misses + level.store_misses + level.fetch_misses;
const program = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find(
    (each) => each && existsSync(each),
);

export const firefoxCases = [
    [
        'Firefox: the workbench, sweeps, topology, curves, reports, refusals',
        async (t) => {
            if (!program) return 'there is no Firefox (Debian: firefox-esr)';
            const firefox = await launchFirefox(program, t.directory);
            try {
                const errors = [];
                const page = await openPage(firefox, errors);
                const fine = (what) => t.check(errors.length === 0, `${what}: errors in the console: ${errors.join('; ')}`);
                await t.open(page, t.file('lu.h5'), 'show=misses');
                const told = t.json('show', 'lu.h5').levels;
                const totals = await page.evaluate('window.cachetally.current.totals()');
                t.equal(totals.L1, misses(told.L1), 'misses of L1');
                const drawn = await page.evaluate(
                    `(() => { const canvas = document.querySelector('canvas.zooms'); return new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size; })()`,
                );
                t.check(drawn > 8, `the field is drawn: ${drawn} shades`);
                await page.locator('canvas.zooms').first().hover();
                await page.mouse.wheel(0, -300);
                await t.until(page, '/x=[0-9]/.test(location.hash)', 'the zoom in the URL');
                fine('workbench');
                await t.picture(page, 'firefox');
                for (const [file, view] of [
                    ['lu.h5', 'workbench'],
                    ['lu.h5', 'topology'],
                    ['lu.h5', 'tables'],
                    ['sweep.h5', 'sweep'],
                    ['probe.h5', 'curves'],
                ]) {
                    await t.open(page, t.file(file), `view=${view}`);
                    t.equal(await page.evaluate('window.cachetally.shown'), view, 'view');
                    fine(view);
                }
                t.run('report', 'lu.h5', '-o', 'firefox.html', '-f');
                await page.goto(`file://${t.file('firefox.html')}#show=misses`);
                await t.until(page, '!!window.cachetally?.current', 'the embedded result');
                await t.quiet(page);
                t.equal(
                    (await page.evaluate('window.cachetally.current.totals()')).L1,
                    misses(told.L1),
                    'misses of L1 in the report',
                );
                await page.goto('about:blank');
                await page.goto(`file://${t.page}`);
                await page.setInputFiles('input[type=file]', t.page);
                const message = await t.until(page, `document.querySelector('.notice.error')?.textContent`, 'a message');
                t.check(/is a page, not a result file/.test(message), message);
                fine('refusal');
            } finally {
                await firefox.close();
            }
        },
    ],
];
