// The page in Firefox: it opens files, shows what they hold, and is used by mouse and keys; the same numbers, no errors.
import { existsSync } from 'node:fs';
import { Firefox } from './firefox.mjs';

const misses = (level) => level.load_misses + level.store_misses + level.fetch_misses;
const program = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find(
    (each) => each && existsSync(each),
);

async function openIn(firefox, t, file, hash = '') {
    await firefox.open('about:blank');
    await firefox.open(`file://${t.page}${hash ? `#${hash}` : ''}`);
    await firefox.choose(file);
    await firefox.until('!!window.cachetally.current', `${file} to be shown`);
    await firefox.get('window.cachetally.current.quiet?.()');
}

export const firefoxCases = [
    [
        'Firefox: histograms, phases, sweeps, topology, curves, reports, refusals',
        async (t) => {
            if (!program) return 'there is no Firefox (Debian: firefox-esr)';
            const firefox = await Firefox.start(program);
            const fine = async (what) => {
                const errors = await firefox.errors();
                t.check(errors.length === 0, `${what}: errors in the console: ${errors.join('; ')}`);
            };
            try {
                await openIn(firefox, t, t.file('lu.h5'), 'show=misses');
                const told = t.json('show', 'lu.h5').levels;
                const totals = await firefox.get('window.cachetally.current.totals()');
                for (const level of ['L1', 'L2']) t.equal(totals[level], misses(told[level]), `misses of ${level}`);
                const drawn = await firefox.get(
                    `(() => { const canvas = document.querySelector('canvas.zooms'); return new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size; })()`,
                );
                t.check(drawn > 8, `the histogram is drawn: ${drawn} shades`);
                await firefox.get(
                    `(() => { const canvas = document.querySelector('canvas.zooms'); canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, clientX: 500, clientY: 300, cancelable: true, bubbles: true })); return true; })()`,
                );
                await firefox.until('/x=[0-9]/.test(location.hash)', 'the zoom in the URL');
                await fine('histogram');
                if (t.pictures) await firefox.screenshot(`${t.pictures}/firefox.png`);
                for (const [file, view] of [
                    ['lu.h5', 'phases'],
                    ['lu.h5', 'topology'],
                    ['lu.h5', 'tables'],
                    ['sweep.h5', 'sweep'],
                    ['probe.h5', 'curves'],
                ]) {
                    await openIn(firefox, t, t.file(file), `view=${view}`);
                    t.equal(await firefox.get('window.cachetally.shown'), view, 'view');
                    await fine(view);
                }
                t.run('report', 'lu.h5', '-o', 'firefox.html', '-f');
                await firefox.open(`file://${t.file('firefox.html')}#show=misses`);
                await firefox.until('!!window.cachetally?.current', 'the embedded result');
                await firefox.get('window.cachetally.current.quiet()');
                t.equal(
                    (await firefox.get('window.cachetally.current.totals()')).L1,
                    misses(told.L1),
                    'misses of L1 in the report',
                );
                await firefox.open('about:blank');
                await firefox.open(`file://${t.page}`);
                await firefox.choose(t.page);
                const message = await firefox.until(
                    `document.querySelector('.notice.error')?.textContent`,
                    'a message',
                );
                t.check(/is a page, not a result file/.test(message), message);
                await fine('refusal');
            } finally {
                await firefox.close();
            }
        },
    ],
];
