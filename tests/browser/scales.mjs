// SPDX-License-Identifier: BSD-3-Clause
// Scales: "auto" is one rule on the page, in the terminal and in figures, and what is compared has one scale.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Texts of a picture in the order in which they are drawn, panel by panel: "title" to the next panel's. */
async function textsByPanel(t, page, titles, picture = page) {
    const svg = await t.saved(page, 'SVG', picture);
    const texts = await page.evaluate(
        `[...new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelectorAll('text')].map((each) => each.textContent)`,
    );
    const begins = titles.map((title) => texts.indexOf(title));
    t.check(begins.every((each) => each >= 0), `${titles} among ${texts.join(' | ')}`);
    return begins.map((begin, i) => texts.slice(begin + 1, begins[i + 1] ?? texts.length));
}

/** What the tool hands Python to paint: an interpreter that copies it in place of the figure. */
function paintedFrom(t, ...words) {
    const copy = join(t.directory, 'copy-data');
    if (!existsSync(copy)) {
        const lines = ['#!/bin/sh', 'for word; do', 'case $word in --data=*) from=${word#*=} ;; --output=*) to=${word#*=} ;; esac', 'done', 'cp "$from" "$to"'];
        writeFileSync(copy, `${lines.join('\n')}\n`, { mode: 0o755 });
    }
    execFileSync(t.program, ['figure', ...words, '-f', '-o', 'painted.svg'], { cwd: t.directory, env: { ...process.env, CACHETALLY_PYTHON: copy }, stdio: ['ignore', 'ignore', 'inherit'] });
    return join(t.directory, 'painted.svg');
}

const sizes = { '': 1, k: 1e3, M: 1e6, G: 1e9 };
/** Numbers at a y axis from the least up, and how far up they stand (shares of the way from the least to the largest). */
function named(found) {
    const rows = found.map(([text, y]) => [text.replace(/\u2212/, '-').match(/^(-?[\d.]+)([kMG]?)/), Number(y)]);
    const all = rows.map(([[, digits, size], y]) => [Number(digits) * sizes[size], y]).sort((a, b) => a[0] - b[0]);
    const [from, to] = [all[0][1], all.at(-1)[1]];
    return all.map(([value, y]) => `${Number(value.toPrecision(3))} at ${((y - from) / (to - from)).toFixed(2)}`).join(', ');
}
const namedInFigure = (svg, axes) => named([...svg.split(`id="axes_${axes}"`)[1].split('id="legend')[0].matchAll(/id="ytick_\d+">[^]*?<use [^>]* y="([\d.]+)"[^]*?<text [^>]*>([^<]+)</g)].map(([, y, text]) => [text, y]));
/** `last`: of several axes the one that is drawn last, of so many numbers. */
const namedOnPage = (svg, last) => named([...svg.matchAll(/<text [^>]*y="([\d.]+)"[^>]*text-anchor="end"[^>]*>(-?[\d.]+ ?[kMG%]?)</g)].slice(-last).map(([, y, text]) => [text, y]));

const says = (text) => text.includes('logarithmic');

export const scaleCases = [
    [
        'scales: where counts differ much page and figures cut outliers and say so; the terminal is logarithmic',
        async (t, page) => {
            t.run('run', 'radix', '-m', 'generic3', '-o', 'radix.h5');
            for (const [file, level, what, expected] of [
                ['lu.h5', 'L1', 'accesses', true],
                ['lu.h5', 'L2', 'misses', false],
                ['radix.h5', 'L1D', 'accesses', true],
                ['radix.h5', 'L1D', 'misses', false],
            ]) {
                const [where, chosen] = [`${what} of ${level} in ${file}`, ['--level', level, '--what', what]];
                await t.open(page, t.file(file), `show=${what}&level=${level}`);
                const svg = await t.saved(page, 'SVG');
                t.check(!says(svg), `${where}: a linear scale on the page`);
                if (expected && file === 'lu.h5') t.check(/\d+ lines? up to [\d.]+[kM]?</.test(svg), `${where}: outliers are marked`);
                await t.open(page, t.file(file), `show=${what}&level=${level}&scale=log`);
                t.check(says(await t.saved(page, 'SVG')), `${where}: logarithmic where people choose it`);
                t.equal(says(t.run('show', file, ...chosen)), expected, `${where}: the terminal`);
                if (!t.python || what !== 'accesses') continue; // figures take long
                const above = svg.match(/\d+ lines? up to [\d.]+[kM]?(?=<)/)?.[0] ?? '';
                for (const log of [false, true]) {
                    t.run('figure', 'histogram', file, ...chosen, ...(log ? ['--log'] : []), '-o', 'scale.svg', '--force');
                    const drawn = readFileSync(t.file('scale.svg'), 'utf8');
                    t.equal(says(drawn), log, `${where}: the figure`);
                    t.equal(drawn.match(/\d+ lines? up to [\d.]+[kM]?(?=<)/)?.[0] ?? '', log ? '' : above, `${where}: outliers of the figure`);
                }
            }
        },
    ],
    [
        'scales: a cell of a sweep has the exact counts and those of its groups on one scale',
        async (t, page) => {
            t.run('sweep', 'lu', 'n=32', '-m', 'schulz2002', '--counters', '16', '--granularity', '8,64', '-o', 'coarse.h5');
            for (const granularity of [8, 64]) {
                await t.open(page, t.file('coarse.h5'), `cell=${granularity},16`);
                const picture = page.locator('.figure:visible').last();
                const [exact, groups] = await textsByPanel(
                    t,
                    page,
                    ['exact', `in groups of ${granularity}`, '|difference|'],
                    picture,
                );
                const scale = (texts) => texts.filter((each) => !each.includes(' up to ')).join(' | ');
                t.equal(scale(groups), scale(exact), `scale with groups of ${granularity}`);
            }
        },
    ],
    [
        'scales: values of curves have the same numbers at the same heights on the page and in figures',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('sweep', 'lu', 'n=32', '-m', 'schulz2002', '--counters', '16,64', '--granularity', '1,8', '--slowdown', '-o', 'upright.h5', '--force');
            t.run('run', 'lu', 'n=32', '-m', 'generic3', '--reuse', '-o', 'upright-reuse.h5', '--force');
            t.run('intrusion', 'lu', 'n=32', '-m', 'generic3-timed', '--counters', '16,64', '--granularity', '1,4', '--link', 'core-L1D', '-o', 'upright-intrusion.h5', '--force');
            t.run('probe', 'levels', '-m', 'xray-pentium4xeon', '--arena', '4', '-o', 'upright-probe.h5', '--force');
            for (const [file, hash, axes, ...words] of [
                ...['swapouts', 'error', 'slowdown', 'bits'].map((metric) => ['upright.h5', `metric=${metric}`, 2, 'sweep', '--metric', metric]),
                ...['cycles', 'slowdown', 'records', 'bytes'].map((metric) => ['upright-intrusion.h5', `metric=${metric}`, 1, 'intrusion', '--metric', metric]),
                ...['', 'log', 'linear'].map((scale) => ['upright-reuse.h5', `structure=A&scale=${scale}`, 1, 'reuse', '--structure', 'A', ...(scale ? [`--${scale}`] : [])]),
                ['upright-probe.h5', '', 1, 'curves'],
            ]) {
                const where = `${words.join(' ')} of ${file}`;
                t.run('figure', words[0], file, ...words.slice(1), '-o', 'upright.svg', '--force');
                await t.open(page, t.file(file), hash);
                const picture = words[0] === 'reuse' ? page.locator('[aria-label="Reuse distances"]') : page.locator('.figure:visible').nth(words[0] === 'curves' ? 0 : 1);
                const drawn = namedInFigure(readFileSync(t.file('upright.svg'), 'utf8'), axes);
                const shown = namedOnPage(await t.saved(page, 'SVG', picture), words[0] === 'reuse' ? drawn.split(',').length : 0);
                t.check(drawn.includes(', '), `${where}: ${drawn}`);
                t.equal(drawn, shown, where);
            }
        },
    ],
    [
        'scales: the axis of addresses is the same on the page and in figures',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'radix', 'keys=5000', '-m', 'generic3', '-o', 'axes.h5');
            const traces = {
                // 400 stretches: of a page each, of one line each; 5000 lines, more stretches than an axis may have
                pages: [400, (i) => Array.from({ length: 64 }, (_, j) => 2 ** 28 + i * 2 ** 20 + j * 64)],
                lines: [400, (i) => [2 ** 28 + (i * 7919 + ((i * i) % 101) * 31) * 4096 + (i % 50) * 16]],
                many: [5000, (i) => [2 ** 28 + (i * i * 13 + 77 * i) * 4096 + (i % 50) * 16]],
            };
            for (const [name, [count, addresses]] of Object.entries(traces)) {
                const lines = Array.from({ length: count }, (_, i) => addresses(i)).flat();
                writeFileSync(t.file(`${name}.din`), lines.map((each) => `0 ${each.toString(16)}\n`).join(''));
                t.run('replay', `${name}.din`, '-m', 'schulz2002', '-o', `${name}.h5`);
            }
            // of each file that the tool hands over the axis; and, of the result, the rule of docs/viewer.md in a few lines of numpy
            const asked = `
import h5py, json, sys, numpy as np
def by_the_rule(levels):
    address, line = (np.concatenate(each) for each in zip(*((level["address"][:], np.full(len(level["address"]), int(level.attrs["line_bytes"]))) for level in levels)))
    unit, address = int(line.max()), address.astype(np.int64)
    pages = np.unique(np.concatenate([address // 4096, (address + line - 1) // 4096]))
    hole = max(4, len(pages) // 50)
    while (np.diff(pages) > hole).sum() >= 1000:
        hole *= 4
    group = np.cumsum(np.r_[0, np.diff(pages) > hole])[np.searchsorted(pages, address // 4096)]
    begin = [address[group == i].min() // unit * unit for i in range(group.max() + 1)]
    size = [((address + line)[group == i].max() - first + unit - 1) // unit * unit for i, first in enumerate(begin)]
    gap = int(np.ceil(min(sum(size) * 0.012, sum(size) * 0.12 / max(1, len(size) - 1))))
    start = np.cumsum([0] + [each + gap for each in size])
    return ";".join([*(f"{a} {b} {c}" for a, b, c in zip(begin, size, start)), str(start[-1] - gap)])
for name, levels, painted in json.loads(sys.argv[1]):
    with h5py.File(painted) as file, h5py.File(name + ".h5") as result:
        axis = file["axis"]
        print(";".join([*(f"{a} {int(b)} {int(c)}" for a, b, c in zip(axis["base"][:], axis["bytes"][:], axis["start"][:])), str(int(axis.attrs["bytes"]))]))
        print(by_the_rule([result["combined"][level] for level in levels]))`;
            const [chosen, shown] = [[], []];
            for (const [name, stretches] of [['lu', 2], ['axes', 0], ['pages', 400], ['lines', 400], ['many', 0]]) {
                await t.open(page, t.file(`${name}.h5`), 'show=accesses');
                const all = await page.evaluate(
                    `cachetally.source.info.series.filter((each) => each.kind === 'level' && each.rows > 0).map(({ owner, id }) => [owner, id])`,
                );
                t.check(all.length > 1, `levels of ${name}`);
                for (const levels of [all, ...all.map((each) => [each])]) {
                    const axis = await page.evaluate(async (ids) => {
                        const { segments, bytes } = await cachetally.source.axis(ids);
                        return [...segments.map((each) => `${each.base} ${each.bytes} ${each.start}`), `${bytes}`];
                    }, levels.map(([, id]) => id));
                    t.check(stretches === 0 || axis.length === stretches + 1, `${axis.length - 1} stretches of ${name}`);
                    const names = levels.map(([owner]) => owner);
                    const painted = `axis${chosen.length}.h5`;
                    copyFileSync(paintedFrom(t, 'histogram', `${name}.h5`, '--level', names.join()), join(t.directory, painted));
                    chosen.push([name, names, painted]);
                    shown.push(axis.join(';'));
                }
            }
            const told = t.script('-c', asked, JSON.stringify(chosen)).trim().split('\n');
            chosen.forEach((each, i) => {
                t.equal(told[2 * i], shown[i], `the axis of a figure of ${each}`);
                t.equal(told[2 * i + 1], shown[i], `the axis by the rule of ${each}`);
            });
        },
    ],
    [
        'scales: cells of the field have the values and colours of those of a figure',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'fft', 'n=4096', '-m', 'generic3', '-o', 'cells.h5');
            const asked = `
import base64, h5py, json, sys
with h5py.File(sys.argv[1]) as file:
    print(json.dumps([base64.b64encode(file["cells"][:].tobytes()).decode(), *(float(file.attrs[each]) for each in ("least", "end", "most", "above"))]))`;
            let compared = 0;
            for (const [file, level, what, scale] of [
                ['lu.h5', 'L1', 'accesses', 'auto'],
                ['lu.h5', 'L2', 'misses', 'linear'],
                ['cells.h5', 'L1D', 'misses', 'auto'],
                ['cells.h5', 'L1D', 'missrate', 'auto'],
                ['cells.h5', 'L2', 'hits', 'log'],
            ]) {
                await t.open(page, t.file(file), `show=${what}&level=${level}&theme=light`);
                const [cells, ...ends] = await page.evaluate(
                    async ([level, what, scale]) => {
                        document.documentElement.dataset.theme = 'light';
                        const { id, phases } = cachetally.source.info.series.find((each) => each.kind === 'level' && each.owner === level);
                        const axis = await cachetally.source.axis([id]);
                        const { cells, least, end, most, above } = cachetally.shade(await cachetally.source.ask('heat', id, what, axis, 0, axis.bytes, 512, phases), scale);
                        return [[...cells], least, end, most, above];
                    },
                    [level, what, scale],
                );
                const painted = paintedFrom(t, 'heat', file, '--level', level, '--what', what, ...(scale === 'auto' ? [] : [`--${scale}`]));
                const [coded, ...others] = JSON.parse(t.script('-c', asked, painted));
                const shades = Buffer.from(coded, 'base64');
                const where = `${what} of ${level} in ${file}, ${scale}`;
                t.equal(shades.length, cells.length, `cells of ${where}`);
                ['least', 'end', 'most', 'above'].forEach((name, i) => t.near(others[i], ends[i], `${name} of the scale of ${where}`));
                // one shade, one colour
                const colours = new Map();
                let unlike = 0;
                cells.forEach((colour, i) => {
                    if (!colours.has(shades[i])) colours.set(shades[i], colour);
                    if (colours.get(shades[i]) !== colour) ++unlike;
                    if (colour !== 0) ++compared;
                });
                t.equal(unlike, 0, `cells of ${where} that differ`);
                t.equal(new Set(colours.values()).size, colours.size, `colours of ${where}`);
            }
            t.check(compared > 1000, `${compared} cells`);
        },
    ],
];
