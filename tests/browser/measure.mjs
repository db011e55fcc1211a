// Measures what people wait for: first paint of a file, frames while zooming, and how long until detail is there again.
// Usage: node measure.mjs FILE.h5 [REPETITIONS]. Large files: make_large.py.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Chrome } from './chrome.mjs';

const [file, repetitions = '3'] = process.argv.slice(2);
const page = join(dirname(fileURLToPath(import.meta.url)), '../../viewer/web/dist/index.html');
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];

const watch = `document.querySelector('input[type=file]').addEventListener('change', () => {
    window.begin = performance.now();
    const look = () => {
        const totals = Object.values(cachetally.current?.totals?.() ?? {});
        if (totals.length && totals.every((each) => !Number.isNaN(each))) requestAnimationFrame(() => (window.painted = performance.now()));
        else setTimeout(look, 2);
    };
    look();
}, true)`;

const zoom = `(async () => {
    const canvas = document.querySelector('canvas.zooms');
    const drawn = cachetally.current.frames();
    drawn.length = 0;
    const frames = [];
    for (let i = 0, last = performance.now(); i < 200; ++i) {
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 50 < 25 ? -60 : 60, clientX: 400 + i, clientY: 300, cancelable: true, bubbles: true }));
        await new Promise((done) => requestAnimationFrame(done));
        frames.push(performance.now() - last);
        last = performance.now();
    }
    return { drawn, frames };
})()`;

const chrome = new Chrome(process.env.CHROMIUM ?? '/usr/bin/chromium');
try {
    for (let i = 0; i < Number(repetitions); ++i) {
        const tab = await chrome.page();
        await tab.open(`file://${page}`);
        await new Promise((done) => setTimeout(done, 800));
        await tab.get(watch);
        await tab.choose(resolve(file));
        await tab.until('window.painted > 0', 'the first picture', 60000);
        const paint = await tab.get('painted - begin');
        await tab.get('cachetally.current.quiet()');
        const { drawn, frames } = await tab.get(zoom);
        const ms = (value) => `${value.toFixed(1)} ms`;
        console.log(
            `first paint ${ms(paint)}; frames while zooming: median ${ms(quantile(frames, 0.5))}, 95 % ${ms(quantile(frames, 0.95))}; of these drawing: median ${ms(quantile(drawn, 0.5))}, 95 % ${ms(quantile(drawn, 0.95))}`,
        );
        await tab.close();
    }
} finally {
    await chrome.close();
}
