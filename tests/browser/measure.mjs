// SPDX-License-Identifier: BSD-3-Clause
// Measures what people wait for: the answer, the first picture of a file, and all of it (cells, details), frames while zooming and brushing; and the
// page's size.
// Usage: node measure.mjs FILE.h5 [REPETITIONS [PAGE.html ...]]. Large files: make_large.py. Of several pages each is taken in
// turn, so that noise of the machine meets all alike.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium, openPage, until } from './browsers.mjs';
import { install } from './install.mjs';

const [file, repetitions = '5', ...others] = process.argv.slice(2);
const built = join(dirname(fileURLToPath(import.meta.url)), '../../viewer/web/dist/index.html');
const pages = others.length ? others.map((each) => resolve(each)) : [built];
const sealed = (() => {
    const [end, size] = [Buffer.alloc(8), statSync(file).size];
    const descriptor = openSync(file);
    readSync(descriptor, end, 0, 8, size - 32);
    closeSync(descriptor);
    return end.toString('latin1') === 'CTDIGEST';
})();
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];

// from the moment that the file is given until the frame in which all panels have their numbers
const watch = `document.querySelector('input[type=file]').addEventListener('change', () => {
    window.begin = performance.now();
    const look = () => {
        if (cachetally.source) window.opened ??= performance.now();
        const totals = Object.entries(cachetally.current?.totals?.() ?? {}).filter(([name]) => name !== '|difference|').map(([, value]) => value);
        if (document.querySelector('.sentence')) window.answered ??= performance.now();
        if (totals.length && totals.every((each) => !Number.isNaN(each))) {
            window.painted = performance.now();
            cachetally.quiet().then(() => (window.cells = performance.now()));
        } else setTimeout(look, 2);
    };
    look();
}, true)`;

const zoom = `(async () => {
    const canvas = document.querySelector('canvas.zooms');
    const drawn = cachetally.frames ?? cachetally.current.frames?.() ?? [];
    drawn.length = 0;
    const frames = [];
    for (let i = 0, last = performance.now(); i < 200; ++i) {
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 50 < 25 ? -60 : 60, clientX: 400 + i, clientY: 300, cancelable: true, bubbles: true }));
        await new Promise((done) => requestAnimationFrame(done));
        frames.push(performance.now() - last);
        last = performance.now();
    }
    // a brush over the field
    const { left, top, width } = canvas.getBoundingClientRect();
    const brushed = [];
    const pointer = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, buttons: 1, clientX: left + x, clientY: top + y, bubbles: true }));
    canvas.setPointerCapture = () => {};
    pointer('pointerdown', 100, 200);
    for (let i = 0, last = performance.now(); i < 200; ++i) {
        pointer('pointermove', 100 + (i * (width - 300)) / 200, 200 + i / 4);
        await new Promise((done) => requestAnimationFrame(done));
        brushed.push(performance.now() - last);
        last = performance.now();
    }
    canvas.dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1 }));
    // the same without anything to draw: what the browser and the machine make of it
    const idle = [];
    for (let i = 0, last = performance.now(); i < 200; ++i) {
        await new Promise((done) => requestAnimationFrame(done));
        idle.push(performance.now() - last);
        last = performance.now();
    }
    return { drawn: drawn.length ? drawn : [NaN], frames, brushed, idle };
})()`;

const views = ['view=workbench', 'view=sweep&cell=3,64'];
const missing = install();
if (missing) throw new Error(missing);
const browser = await launchChromium(process.env.CHROMIUM ?? '/usr/bin/chromium');
const kinds = views.flatMap((view) => pages.map((page) => ({ view, page, runs: [] })));
try {
    for (let i = 0; i < Number(repetitions); ++i)
        for (const { view, page, runs } of kinds) {
            const tab = await openPage(browser, []);
            await tab.goto(`file://${page}#${view}`);
            await new Promise((done) => setTimeout(done, 800));
            await tab.evaluate(watch);
            // without digests it is to be read as it is
            if (!sealed) await tab.evaluate('cachetally.take = ((take) => (file, use) => take(file, use, true))(cachetally.take.bind(cachetally))');
            await tab.setInputFiles('input[type=file]', resolve(file));
            await until(
                tab,
                `window.painted > 0 || (window.opened && cachetally.current && !cachetally.current.totals)`,
                'the first picture',
            );
            const since = (name) => tab.evaluate(`(window.${name} ?? NaN) - begin`);
            await tab.evaluate('cachetally.quiet()');
            await new Promise((done) => setTimeout(done, 50));
            const [paint, answered, cells] = [await since('painted'), await since('answered'), await since('cells')];
            const opened = await tab.evaluate('opened - begin');
            await tab.evaluate('cachetally.quiet()');
            const shown = await tab.evaluate('cachetally.shown');
            if (view.includes(shown)) runs.push({ opened, answered, paint, cells, ...(await tab.evaluate(zoom)) });
            await tab.close();
        }
} finally {
    await browser.close();
}
const ms = (value) => (Number.isFinite(value) ? `${value.toFixed(1)} ms` : '–');
console.log(
    `load average ${loadavg()
        .map((each) => each.toFixed(1))
        .join(' ')}`,
);
for (const { view, page, runs } of kinds) {
    if (runs.length === 0) continue;
    const list = (value) => runs.map((run) => (Number.isFinite(value(run)) ? value(run).toFixed(0) : '–')).join(' ');
    const middle = (value) => ms(quantile(runs.map(value), 0.5));
    console.log(
        `${pages.length > 1 ? `${page}, ` : ''}${(statSync(page).size / 1e6).toFixed(2)} MB, ${view}, medians of ${runs.length}: ` +
            `opened ${middle((run) => run.opened)}, answer ${middle((run) => run.answered)}, cells ${middle((run) => run.cells)} (${list((run) => run.cells)}), first paint ${middle((run) => run.paint)} (${list((run) => run.paint)}); ` +
            `frames while zooming: median ${middle((run) => quantile(run.frames, 0.5))}, 95 % ${middle((run) => quantile(run.frames, 0.95))} (${list((run) => quantile(run.frames, 0.95))}); ` +
            `brushing: 95 % ${middle((run) => quantile(run.brushed, 0.95))} (${list((run) => quantile(run.brushed, 0.95))}); ` +
            `of these drawing: median ${middle((run) => quantile(run.drawn, 0.5))}, 95 % ${middle((run) => quantile(run.drawn, 0.95))}; ` +
            `idle frames: median ${middle((run) => quantile(run.idle, 0.5))}, 95 % ${middle((run) => quantile(run.idle, 0.95))}`,
    );
}
