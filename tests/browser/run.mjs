// Clicks through the viewer in Chromium, on files made by the real program; compares numbers on the screen with what the program
// prints of the same file; fails on any error in the console.
// Usage: node run.mjs CACHETALLY [--pictures DIRECTORY] [--cases GROUP,...] [--name PART OF THE NAMES OF CASES]
// Exit status 77: skipped, with the reason.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { launchChromium, openPage, until } from './browsers.mjs';
import { agreementCases } from './agreement.mjs';
import { causeCases } from './causes.mjs';
import { curveCases } from './curves.mjs';
import { differenceCases } from './differences.mjs';
import { exportCases } from './exports.mjs';
import { firefoxCases } from './firefox_cases.mjs';
import { install } from './install.mjs';
import { intrusionCases } from './intrusion.mjs';
import { oddFileCases } from './odd_files.mjs';
import { narrowCases } from './narrow.mjs';
import { pageCases } from './pages.mjs';
import { scaleCases } from './scales.mjs';
import { scoreCases } from './scores.mjs';
import { slowdownCases } from './slowdown.mjs';
import { sweepCases } from './sweeps.mjs';
import { viewCases } from './views.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const groups = {
    views: viewCases,
    differences: differenceCases,
    agreement: agreementCases,
    scales: scaleCases,
    sweeps: sweepCases,
    causes: causeCases,
    slowdown: slowdownCases,
    narrow: narrowCases,
    curves: curveCases,
    intrusion: intrusionCases,
    scores: scoreCases,
    exports: exportCases,
    pages: pageCases,
    odd_files: oddFileCases,
    firefox: firefoxCases,
};
const { values: wanted, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        pictures: { type: 'string' },
        cases: { type: 'string', default: Object.keys(groups).join() },
        name: { type: 'string', default: '' },
    },
});
const { pictures } = wanted;
const program = resolve(positionals[0]);
const cases = wanted.cases
    .split(',')
    .flatMap((group) => groups[group])
    .filter(([name]) => name.includes(wanted.name));
const chromium = [
    process.env.CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
].find((each) => each && existsSync(each));
if (!chromium) {
    console.log('skipped: there is no Chromium (Debian: chromium)');
    process.exit(77);
}
const missing = install();
if (missing) {
    console.log(`skipped: ${missing}`);
    process.exit(77);
}

const directory = mkdtempSync(join(tmpdir(), 'cachetally-browser-'));
const python = '/usr/bin/python3';
const tests = {
    directory,
    program,
    pictures,
    page: join(here, '../../viewer/web/dist/index.html'),
    python: spawnSync(python, ['-c', 'import h5py, numpy']).status === 0 ? python : null,
    /** Runs the program; its standard output. */
    run: (...words) =>
        execFileSync(program, words, {
            encoding: 'utf8',
            cwd: directory,
            maxBuffer: 1 << 28,
            stdio: ['ignore', 'pipe', 'pipe'],
        }),
    json: (...words) => JSON.parse(tests.run(...words, '--json')),
    script: (...words) => execFileSync(python, words, { encoding: 'utf8', cwd: directory }),
    file: (name) => join(directory, name),
    here,
};
if (pictures) mkdirSync(pictures, { recursive: true });

function check(condition, what) {
    if (!condition) throw new Error(what);
}
tests.check = check;
tests.equal = (found, expected, what) =>
    check(Object.is(found, expected), `${what}: ${found} on the screen, ${expected} in the file`);
tests.near = (found, expected, what, share = 1e-9) =>
    check(
        Math.abs(found - expected) <= share * Math.max(1, Math.abs(expected)),
        `${what}: ${found} on the screen, ${expected} in the file`,
    );

tests.until = until;
/** Gives the page a file, as a person would; what a test changed with h5py has no digests and is read as it is. */
tests.give = async (page, file) => {
    await page.setInputFiles('input[type=file]', file);
    await until(page, '!!cachetally.current || !!document.querySelector(".notice.error")', `${file} to be read`);
    const trust = page.locator('.notice button.trust');
    if ((await trust.count()) !== 0) await trust.click();
};
/** Opens the page on a file, as a person would; returns when all is drawn. */
tests.open = async (page, file, hash = '') => {
    await page.goto('about:blank');
    await page.goto(`file://${tests.page}${hash ? `#${hash}` : ''}`);
    await tests.give(page, file);
    await until(page, '!!cachetally.current', `${file} to be shown`);
    await tests.quiet(page);
};
/** Lays a second file beside the one that is shown. */
tests.compare = async (page, file) => {
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: 'Compare …' }).click(),
    ]);
    await chooser.setFiles(file);
};
tests.quiet = async (page) => {
    for (let i = 0; i < 2; ++i) {
        await page.evaluate('cachetally.current.quiet?.()');
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    }
};
/** Presses the first button with this text that can be seen. */
tests.press = async (page, text) => {
    const words = text.replace(/[^\w\s]/g, '\\$&');
    await page.locator('button:visible', { hasText: new RegExp(`^\\s*${words}\\s*$`) }).first().click();
    await tests.quiet(page);
};
/** What the button of a picture saves as CSV, SVG or PNG; without a picture, that of the page's first. */
tests.saved = async (page, kind, picture = page) => {
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        picture.locator(`[aria-label^="Save the"][aria-label$="as ${kind}"]:visible`).first().click(),
    ]);
    return readFileSync(await download.path(), kind === 'PNG' ? null : 'utf8');
};
tests.picture = async (page, name) => {
    const clip = { x: 0, y: 0, width: 1280, height: 2400 };
    if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true, clip });
};

let failed = 0;
const begin = Date.now();
const browser = await launchChromium(chromium);
try {
    const errors = [];
    tests.newPage = (options) => openPage(browser, errors, { colorScheme: 'light', ...options });
    const page = await tests.newPage();
    tests.prepare = () => {
        tests.run('run', 'lu', 'n=128', '--machine', 'schulz2002', '-o', 'lu.h5');
        tests.run('run', 'lu', 'n=128', 'layout=contiguous', '--machine', 'schulz2002', '--causes', '-o', 'lu2.h5');
        tests.run('run', 'matmul', 'n=32', '--machine', 'generic3', '-o', 'matmul.h5');
        tests.run('sweep', 'lu', '--preset', 'paper-2002', '-o', 'sweep.h5');
        const costs = '--counters 16,64 --granularity 1,4 --drain full,periodic:10000 --link core-L1D,L1D-L2';
        tests.run('intrusion', 'lu', 'n=32', '-m', 'generic3-timed', ...costs.split(' '), '-o', 'intrusion.h5');
        const probe = (machine, file, ...words) => tests.run('probe', ...words, '--on', machine, '-o', file);
        probe('xray-pentium4xeon', 'probe.h5', 'l1', 'levels', 'change_points', 'tlb', 'chase', 'latency', '--arena', '4');
        probe('xray-athlonmp', 'probe2.h5', 'levels', '--hardened', '--noise', 'realistic', '--arena', '4');
    };
    tests.prepare();
    for (const [name, test] of cases) {
        errors.length = 0;
        const start = Date.now();
        const took = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
        try {
            const skipped = await test(tests, page);
            check(errors.length === 0, `errors in the console: ${errors.join('; ')}`);
            console.log(skipped ? `skipped ${name}: ${skipped}` : `ok      ${name} (${took()})`);
        } catch (error) {
            ++failed;
            console.log(`FAILED  ${name}: ${stripVTControlCharacters(error.message)}`); // playwright's messages are in colours
        }
    }
    console.log(`${cases.length} cases, ${failed} failed, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
} finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
