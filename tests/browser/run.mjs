// SPDX-License-Identifier: BSD-3-Clause
// Clicks through the viewer in Chromium, on files made by the real program; compares numbers on the screen with what the program
// prints of the same file; fails on any error in the console.
// Usage: node run.mjs CACHETALLY [--pictures DIRECTORY] [--part PART | --cases GROUP,...] [--name PART OF THE NAMES OF CASES]
// Exit status 77: skipped, with the reason.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { launchChromium, openPage, until } from './browsers.mjs';
import { agreementCases } from './agreement.mjs';
import { answerCases } from './answers.mjs';
import { apartCases } from './apart.mjs';
import { campaignCases } from './campaigns.mjs';
import { causeCases } from './causes.mjs';
import { compareCases } from './compare.mjs';
import { curveCases } from './curves.mjs';
import { brushCases } from './brush.mjs';
import { differenceCases } from './differences.mjs';
import { exportCases } from './exports.mjs';
import { firefoxCases } from './firefox_cases.mjs';
import { frontCases } from './fronts.mjs';
import { heatCases } from './heat.mjs';
import { install } from './install.mjs';
import { intrusionCases } from './intrusion.mjs';
import { oddFileCases } from './odd_files.mjs';
import { narrowCases } from './narrow.mjs';
import { paperCases } from './paper.mjs';
import { pageCases } from './pages.mjs';
import { reuseCases } from './reuse.mjs';
import { scaleCases } from './scales.mjs';
import { scoreCases } from './scores.mjs';
import { slowdownCases } from './slowdown.mjs';
import { sweepCases } from './sweeps.mjs';
import { twoFileCases } from './two_files.mjs';
import { viewCases } from './views.mjs';
import { workbenchCases } from './workbench.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const groups = {
    views: viewCases,
    answers: answerCases,
    brush: brushCases,
    workbench: workbenchCases,
    differences: differenceCases,
    compare: compareCases,
    agreement: agreementCases,
    heat: heatCases,
    scales: scaleCases,
    sweeps: sweepCases,
    fronts: frontCases,
    campaigns: campaignCases,
    causes: causeCases,
    reuse: reuseCases,
    slowdown: slowdownCases,
    narrow: narrowCases,
    curves: curveCases,
    apart: apartCases,
    two_files: twoFileCases,
    intrusion: intrusionCases,
    scores: scoreCases,
    exports: exportCases,
    pages: pageCases,
    paper: paperCases,
    odd_files: oddFileCases,
    firefox: firefoxCases,
};
/** What runs side by side (tests/CMakeLists.txt): every group is in one of them. */
const parts = {
    views: ['views', 'differences', 'compare', 'agreement', 'apart', 'pages'],
    scales: ['answers', 'brush', 'heat', 'scales', 'sweeps', 'campaigns', 'curves'],
    files: ['odd_files', 'causes', 'reuse', 'fronts', 'workbench', 'intrusion'],
    paper: ['slowdown', 'two_files', 'narrow', 'scores', 'exports', 'paper', 'firefox'],
};
const { values: wanted, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        pictures: { type: 'string' },
        part: { type: 'string' },
        cases: { type: 'string', default: Object.keys(groups).join() },
        name: { type: 'string', default: '' },
    },
});
const { pictures } = wanted;
if (positionals.length !== 1) throw new Error('run it with the path of cachetally (build/release/app/cachetally)');
const program = resolve(positionals[0]);
const inParts = Object.values(parts).flat().sort().join();
if (inParts !== Object.keys(groups).sort().join()) throw new Error(`the parts have ${inParts}, and not all groups once`);
const chosen = wanted.part ? parts[wanted.part] : wanted.cases.split(',');
const unknown = chosen ? chosen.find((group) => !groups[group]) : wanted.part;
if (unknown) throw new Error(`there is no '${unknown}'; parts are ${Object.keys(parts)}, cases ${Object.keys(groups)}`);
const cases = chosen
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

/** Files of several cases, by the words that make each; made when a case first speaks of one. */
const recipes = {
    'lu.h5': 'run lu n=128 --machine schulz2002',
    'lu2.h5': 'run lu n=128 layout=contiguous --machine schulz2002 --causes',
    'matmul.h5': 'run matmul n=32 --machine generic3',
    'sweep.h5': 'sweep lu --preset paper-2002',
    'intrusion.h5': 'intrusion lu n=32 -m generic3-timed --counters 16,64 --granularity 1,4 --drain full,periodic:10000 --link core-L1D,L1D-L2',
    'probe.h5': 'probe l1 levels change_points tlb chase latency --machine xray-pentium4xeon --arena 4',
    'probe2.h5': 'probe levels --robust --noise realistic --machine xray-athlonmp --arena 4',
};
const directory = mkdtempSync(join(tmpdir(), 'cachetally-browser-'));
const python = '/usr/bin/python3';
const called = (command, words) =>
    execFileSync(command, words, { encoding: 'utf8', cwd: directory, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
function make(...words) {
    for (const [name, recipe] of Object.entries(recipes)) {
        if (!words.some((word) => word.includes(name))) continue;
        delete recipes[name];
        called(program, [...recipe.split(' '), '-o', name]);
    }
}
const tests = {
    directory,
    program,
    pictures,
    page: join(here, '../../viewer/web/dist/index.html'),
    colours: JSON.parse(readFileSync(join(here, '../../viewer/drawing.json'), 'utf8')),
    python: spawnSync(python, ['-c', 'import h5py, numpy']).status === 0 ? python : null,
    /** Runs the program; its standard output. */
    run: (...words) => (make(...words), called(program, words)),
    json: (...words) => JSON.parse(tests.run(...words, '--json')),
    script: (...words) => (make(...words), called(python, words)),
    file: (name) => (make(name), join(directory, name)),
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
async function trustIfAsked(page) {
    const trust = page.locator('.notice button.trust');
    if ((await trust.count()) !== 0) await trust.click();
}
/** Gives the page a file, as a person would; what a test changed with h5py has no digests and is read as it is. */
tests.give = async (page, file) => {
    await page.setInputFiles('input[type=file]', file);
    await until(page, '!!cachetally.current || !!document.querySelector(".notice.error")', `${file} to be read`);
    await trustIfAsked(page);
};
/**
 * Whether a page shows this file alone, with nothing to tell of it; then it is given the URL, and makes its view anew. To begin with an empty
 * page costs twenty times as much.
 */
const showAgain = (page, mark, hash) =>
    page.evaluate(
        ([mark, hash]) => {
            const page = window.cachetally;
            if (window.openedByTest !== mark || page.others.length || document.querySelector('.notice, dialog[open]')) return false;
            clearTimeout(page.keeping); // the URL of what was shown until now
            document.activeElement?.blur();
            scrollTo(0, 0);
            /** false: the page wrote just that, and is told of no change. */
            const go = (to) =>
                new Promise((resolve) => {
                    const before = location.hash;
                    addEventListener('hashchange', () => resolve(true), { once: true });
                    page.shown = '';
                    location.hash = to;
                    if (location.hash === before) resolve(false);
                });
            return go('again')
                .then((changed) => changed && go(hash))
                .then((changed) => changed && location.hash === (hash && `#${hash}`));
        },
        [mark, hash],
    );
/** Opens the page on a file, as a person would; returns when all is drawn. */
tests.open = async (page, file, hash = '') => {
    const { mtimeMs, size } = statSync(file);
    const mark = `${file} ${mtimeMs} ${size}`;
    if (!(await showAgain(page, mark, hash))) {
        await page.goto('about:blank');
        await page.goto(`file://${tests.page}${hash ? `#${hash}` : ''}`);
        await tests.give(page, file);
        await until(page, '!!cachetally.current', `${file} to be shown`);
        await page.evaluate((mark) => void (window.openedByTest = mark), mark);
    }
    await tests.quiet(page);
};
/** Lays a second file beside the one that is shown. */
tests.compare = async (page, file) => {
    const before = await page.evaluate('cachetally.others.length');
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: 'Compare …' }).click(),
    ]);
    await chooser.setFiles(file);
    const told = `[...document.querySelectorAll('.notice.error')].some((each) => each.textContent.includes(${JSON.stringify(basename(file))}))`;
    await until(page, `cachetally.others.length > ${before} || ${told}`, `${file} to be read`);
    await trustIfAsked(page);
};
tests.quiet = async (page) => {
    await page.evaluate(`(async () => {
        for (let i = 0; i < 2; ++i) {
            await cachetally.quiet();
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        }
    })()`);
};
/** Presses the first button with this text that can be seen. */
tests.press = async (page, text) => {
    const words = text.replace(/[^\w\s]/g, '\\$&');
    await page.locator('button:visible', { hasText: new RegExp(`^\\s*${words}\\s*$`) }).first().click();
    await tests.quiet(page);
};
/** Chooses from a picture's menu of exports; without a picture, from that of the page's first. */
tests.choose = async (page, name, picture = page) => {
    const menu = picture.locator('.menu:visible').first();
    await menu.getByRole('button', { name: 'Export' }).click();
    await menu.getByLabel(name).click();
};
/** What the button of a picture saves as CSV, SVG or PNG; without a picture, that of the page's first. */
tests.saved = async (page, kind, picture = page) => {
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        tests.choose(page, new RegExp(`^Save the .* as ${kind}$`), picture),
    ]);
    return readFileSync(await download.path(), kind === 'PNG' ? null : 'utf8');
};
tests.picture = async (page, name) => {
    const clip = { x: 0, y: 0, width: 1280, height: 2400 };
    if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true, clip });
};

/** Many times what the longest takes on a busy machine. */
const mostMilliseconds = 400_000;

let failed = 0;
const begin = Date.now();
const browser = await launchChromium(chromium);
try {
    const errors = [];
    tests.newPage = (options) => openPage(browser, errors, { colorScheme: 'light', ...options });
    const page = await tests.newPage();
    for (const [name, test] of cases) {
        errors.length = 0;
        const start = Date.now();
        const took = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
        try {
            const late = new Promise((_, reject) => setTimeout(() => reject(new Error('it stands still')), mostMilliseconds));
            const skipped = await Promise.race([test(tests, page), late]);
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
