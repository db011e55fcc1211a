// SPDX-License-Identifier: BSD-3-Clause
// Scales: "auto" is one rule on the page, in the terminal and in figures, and what is compared has one scale.
import { readFileSync, writeFileSync } from 'node:fs';
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

/** The script of figures up to some of its parts, as viewer/figures/figure.cpp puts it together. */
const partsOfFigures = (t, ...parts) => {
    const read = (file) => readFileSync(join(t.here, '../../viewer', file), 'utf8');
    return [`DRAWING = ${read('drawing.json')}`, ...['figure', ...parts].map((part) => read(`figures/${part}.py`))];
};

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
            const parts = partsOfFigures(t, 'figure_axis', 'figure_lines');
            const asked = `
import json
for name, levels in json.loads(sys.argv[1]):
    found = lines_of(Result(name + ".h5"), levels, "")
    axis = Axis(np.concatenate([each.address for each in found]), np.concatenate([np.full(len(each.address), each.line) for each in found]))
    print(";".join([*(f"{base} {size} {start}" for base, size, start in zip(axis.base, map(int, axis.bytes), map(int, axis.start))), str(int(axis.length))]))`;
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
                    chosen.push([name, levels.map(([owner]) => owner)]);
                    shown.push(axis.join(';'));
                }
            }
            const drawn = t.script('-c', [...parts, asked].join('\n'), JSON.stringify(chosen)).trim().split('\n');
            chosen.forEach((each, i) => t.equal(drawn[i], shown[i], `the axis of ${each}`));
        },
    ],
    [
        'scales: cells of the field have the values and colours of those of a figure',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.run('run', 'fft', 'n=4096', '-m', 'generic3', '-o', 'cells.h5');
            const parts = partsOfFigures(t, 'figure_axis', 'figure_lines', 'figure_heat');
            const asked = `
import base64, json
name, level, what, log, linear, count = json.loads(sys.argv[1])
result = Result(name)
lines = one_of(result, argparse.Namespace(level=level, structure=""))
value = heat_cells(lines, Axis(lines.address, lines.line), what, phase_edges(result.phases()), count)
shades = Shades(value, argparse.Namespace(log=log, linear=linear))
coded = lambda array: base64.b64encode(array.tobytes()).decode()
print(json.dumps([coded(value), coded(shades.cells), shades.end]))`;
            let compared = 0;
            for (const [file, level, what, scale, count] of [
                ['lu.h5', 'L1', 'accesses', 'auto', 600],
                ['lu.h5', 'L2', 'misses', 'linear', 601],
                ['cells.h5', 'L1D', 'misses', 'auto', 333],
                ['cells.h5', 'L1D', 'missrate', 'auto', 600],
                ['cells.h5', 'L2', 'hits', 'log', 97],
            ]) {
                await t.open(page, t.file(file), `show=${what}&level=${level}&theme=light`);
                const [value, cells, end] = await page.evaluate(
                    async ([level, what, scale, count]) => {
                        document.documentElement.dataset.theme = 'light';
                        const { id } = cachetally.source.info.series.find((each) => each.kind === 'level' && each.owner === level);
                        const axis = await cachetally.source.axis([id]);
                        const heat = await cachetally.source.ask('heat', id, what, axis, 0, axis.bytes, count, cachetally.source.info.series.find((each) => each.id === id).phases, 256);
                        const shaded = cachetally.shade(heat, scale);
                        return [Array.from(heat.sum, (each, i) => (heat.weight[i] > 0 ? each / heat.weight[i] : null)), [...new Uint8Array(shaded.cells.buffer)], shaded.end];
                    },
                    [level, what, scale, count],
                );
                const said = JSON.parse(t.script('-c', [...parts, asked].join('\n'), JSON.stringify([t.file(file), level, what, scale === 'log', scale === 'linear', count])));
                const drawn = new Float64Array(Uint8Array.from(Buffer.from(said[0], 'base64')).buffer);
                const colours = Buffer.from(said[1], 'base64');
                const where = `${what} of ${level} in ${file}, ${scale}`;
                t.equal(drawn.length, value.length, `cells of ${where}`);
                t.near(said[2], end, `end of the scale of ${where}`);
                let [unlike, off] = [0, 0];
                value.forEach((each, i) => {
                    const other = drawn[i];
                    if (each === null ? !Number.isNaN(other) : Math.abs(each - other) > 1e-9 * Math.max(1, Math.abs(each))) ++unlike;
                    const seen = each !== null;
                    if ([0, 1, 2].some((c) => seen && cells[4 * i + c] !== colours[4 * i + c]) || (cells[4 * i + 3] > 0) !== (colours[4 * i + 3] > 0)) ++off;
                    if (seen) ++compared;
                });
                t.equal(unlike, 0, `values of ${where} that differ`);
                t.equal(off, 0, `colours of ${where} that differ`);
            }
            t.check(compared > 1000, `${compared} cells`);
        },
    ],
];
