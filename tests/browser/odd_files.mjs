// SPDX-License-Identifier: BSD-3-Clause
// Files that are not as they should be: a clear message or a sensible picture, never a blank page.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Gives a file to the page that is open; the message that it shows. */
async function messageOf(t, page, name, hash = '') {
    await page.goto('about:blank');
    await page.goto(`file://${t.page}#${hash}`);
    await t.give(page, t.file(name));
    return t.until(page, `document.querySelector('.notice.error')?.textContent`, 'a message');
}

async function refused(t, page, name, words) {
    const message = await messageOf(t, page, name);
    t.check(words.test(message), `${name}: ${message}`);
    t.check(
        (await page.innerText('body')).includes('Drop a result file here'),
        'the page still invites files',
    );
}

const python = (t, code) => t.script('-c', `import h5py, numpy as np, shutil\n${code}`);

export const oddFileCases = [
    [
        'text, JSON, nothing at all',
        async (t, page) => {
            writeFileSync(t.file('text.h5'), 'hello, world; this is no HDF5 file');
            writeFileSync(t.file('json.h5'), '{"levels": {}}');
            writeFileSync(t.file('empty.h5'), '');
            await refused(t, page, 'text.h5', /text\.h5 is no HDF5 file/);
            await refused(t, page, 'json.h5', /looks like JSON/);
            await refused(t, page, 'empty.h5', /is empty/);
        },
    ],
    [
        'cut off, at many places',
        async (t, page) => {
            const whole = readFileSync(t.file('lu.h5'));
            for (const share of [0.0001, 0.1, 0.5, 0.999]) {
                writeFileSync(t.file('cut.h5'), whole.subarray(0, Math.floor(whole.length * share)));
                await refused(t, page, 'cut.h5', /cut off/);
            }
        },
    ],
    [
        'damaged inside: a byte changed, inserted, left out',
        async (t, page) => {
            const whole = readFileSync(t.file('lu.h5'));
            const damages = [
                (at) => [whole.subarray(0, at), [whole[at] ^ 4], whole.subarray(at + 1)],
                (at) => [whole.subarray(0, at), [0], whole.subarray(at)],
                (at) => [whole.subarray(0, at), whole.subarray(at + 1)],
            ];
            for (const share of [0.001, 0.97])
                for (const damage of damages) {
                    const parts = damage(Math.floor(share * (whole.length - 60)));
                    writeFileSync(t.file('damaged.h5'), Buffer.concat(parts.map((part) => Buffer.from(part))));
                    await refused(t, page, 'damaged.h5', /damaged\.h5 is damaged: .*copy it again/);
                }
        },
    ],
    [
        'the table of all objects tells what the objects tell',
        async (t, page) => {
            const facts = `JSON.stringify(cachetally.source.info, (_, value) => typeof value === 'bigint' ? value + 'n' : value)`;
            const infoOf = async (name) => {
                await t.open(page, t.file(name));
                const { name: named, bytes, ...told } = JSON.parse(await page.evaluate(facts));
                t.equal(named, name, 'the file');
                return JSON.stringify(told);
            };
            for (const name of ['lu2.h5', 'sweep.h5', 'intrusion.h5', 'probe.h5']) {
                const whole = readFileSync(t.file(name));
                // without its digests it may have been changed, and is asked object by object
                writeFileSync(t.file('trusted.h5'), whole.subarray(0, Number(whole.readBigUInt64LE(whole.length - 16))));
                t.equal(await infoOf(name), await infoOf('trusted.h5'), name);
            }
        },
    ],
    [
        'a table that the objects do not agree with is not believed where digests are missing',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            python(t, `shutil.copy('lu.h5', 'changed.h5')\nwith h5py.File('changed.h5', 'r+') as f: f['input'].attrs['name'] = 'another'`);
            await t.open(page, t.file('changed.h5'));
            t.equal(await page.evaluate('cachetally.source.info.input'), 'another', 'the name of what ran');
        },
    ],
    [
        'large files are verified where they are read',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            let random = 1; // the low bits of each are left out
            const next = () => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0) >>> 9;
            const loads = Array.from({ length: 200000 }, () => `0 ${(next() * 64).toString(16)}\n`);
            writeFileSync(join(t.directory, 'scattered.din'), loads.join(''));
            t.run('replay', 'scattered.din', '-m', 'schulz2002', '-o', 'big.h5');
            const damaged = (column, copy) =>
                python(
                    t,
                    `shutil.copy("big.h5", "${copy}")
with h5py.File("${copy}", "r") as f:
    data = f["${column}"].id
    chunk = data.get_chunk_info(data.get_num_chunks() // 2)
with open("${copy}", "r+b") as f:
    f.seek(chunk.byte_offset + chunk.size // 2)
    byte = f.read(1)
    f.seek(-1, 1)
    f.write(bytes([byte[0] ^ 1]))`,
                );
            t.check(readFileSync(t.file('big.h5')).length > 8 << 20, 'a file that is verified block by block');
            damaged('combined/L1/accesses', 'big2.h5');
            const message = await messageOf(t, page, 'big2.h5', 'phases=0');
            t.check(/bytes \d+ to \d+ are not what was written/.test(message), message);
            await t.open(page, t.file('big.h5'));
            t.equal(await page.evaluate('document.querySelector(".notice.error")?.innerText ?? null'), null, 'errors');
        },
    ],
    [
        'data that cannot be read are named, whatever asks for them',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            for (const column of ['accesses', 'phase']) {
                python(
                    t,
                    `shutil.copy("lu.h5", "unreadable.h5")
with h5py.File("unreadable.h5", "r+") as f:  # without digests
    chunk = f["combined/L1/${column}"].id.get_chunk_info(0)
    f.attrs["changed"] = 1
with open("unreadable.h5", "r+b") as f:
    f.seek(chunk.byte_offset + chunk.size // 4)
    f.write(b"Z" * (chunk.size // 2))`,
                );
                for (const hash of ['phases=4', 'show=accesses', 'show=missrate']) {
                    const message = await messageOf(t, page, 'unreadable.h5', hash);
                    t.equal(message, `/combined/L1/${column} cannot be read: the file is damaged.`, hash);
                }
                try {
                    t.run('report', 'unreadable.h5', '-o', 'unreadable.html');
                } catch (error) {
                    t.check(error.message.includes('has no digests of its blocks'), error.message);
                    continue;
                }
                t.check(false, 'report refuses what it cannot verify');
            }
        },
    ],
    [
        'columns that are too short, and numbers that are none',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            python(
                t,
                `shutil.copy("lu.h5", "short.h5")
with h5py.File("short.h5", "r+") as f:
    g = f["combined/L1"]
    misses = g["misses"][:100]
    del g["misses"]
    g["misses"] = misses
shutil.copy("sweep.h5", "nan.h5")
with h5py.File("nan.h5", "r+") as f:
    f["sweep/rows/error"][:] = np.nan`,
            );
            await refused(t, page, 'short.h5', /short\.h5: \/combined\/L1: the column 'misses' has 100 rows instead of \d+; the file is damaged/);
            await refused(t, page, 'nan.h5', /nan\.h5: \/sweep\/rows: the column 'error' has NaN, which is no number; the file is damaged/);
        },
    ],
    [
        'a trace',
        async (t, page) => {
            writeFileSync(t.file('t.din'), '0 1000\n1 1008\n2 400\n');
            t.run('trace', 'convert', 't.din', 't.ct.h5', '--format', 'din');
            await refused(t, page, 't.ct.h5', /is a trace, not a result|not a result/);
        },
    ],
    [
        'foreign HDF5, and other versions of the format',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            python(
                t,
                `f = h5py.File("foreign.h5", "w"); f["x"] = np.arange(3); f.close()
for name, version in (("newer.h5", 2), ("older.h5", 0)):
    shutil.copy("lu.h5", name)
    with h5py.File(name, "r+") as f: f.attrs["format_version"] = np.uint64(version)`,
            );
            await refused(t, page, 'foreign.h5', /HDF5 file, but not a result/);
            await refused(t, page, 'newer.h5', /format version 2/);
            await refused(t, page, 'older.h5', /format version 0/);
        },
    ],
    [
        'an interrupted run is shown, and marked',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            python(
                t,
                `shutil.copy("lu.h5", "partial.h5")
with h5py.File("partial.h5", "r+") as f:
    f.attrs["complete"] = np.uint64(0)
    f.attrs["incomplete"] = "interrupted"`,
            );
            await t.open(page, t.file('partial.h5'));
            t.check(
                (await page.evaluate('document.querySelector(".notices").textContent')).includes(
                    'did not come to its end: interrupted',
                ),
                'notice',
            );
            t.check(await page.evaluate('cachetally.current.totals().L1 > 0'), 'what it has is shown');
        },
    ],
    [
        'empty histograms',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(`${t.here}/make_large.py`, 'tiny.h5', '300', '1', 'nosweep');
            python(
                t,
                `with h5py.File("tiny.h5", "r+") as f:
    for level in f["combined"].values():
        for name in list(level):
            del level[name]
        for name, kind in (("address", "u8"), ("phase", "u4"), ("accesses", "f8"), ("misses", "f8"), ("hits", "f8"), ("miss_rate", "f8")):
            level[name] = np.zeros(0, kind)`,
            );
            for (const view of ['workbench', 'tables']) {
                await t.open(page, t.file('tiny.h5'), `view=${view}`);
                t.check((await page.evaluate('document.querySelector("main").children.length')) > 0, `${view} is not blank`);
            }
        },
    ],
    [
        'one phase',
        async (t, page) => {
            t.run('run', 'gups', 'table=1024', '--machine', 'schulz2002', '-o', 'one.h5', '--force');
            for (const view of ['workbench', 'topology'])
                await t.open(page, t.file('one.h5'), `view=${view}`);
        },
    ],
    [
        'names that turn the direction of text are shown without that',
        async (t, page) => {
            writeFileSync(t.file('turned.din'), Array.from({ length: 200 }, (_, i) => `0 ${(0x400000 + 64 * i).toString(16)} 8\n`).join(''));
            writeFileSync(t.file('turned.names'), '0x400000 12800 8 safe\u202egnp.\u2066x\n');
            t.run('replay', t.file('turned.din'), '--structures', t.file('turned.names'), '-m', 'generic3', '-o', 'turned.h5', '--force');
            await t.open(page, t.file('turned.h5'));
            t.check((await page.locator('.sentence').textContent()).includes('safe?gnp.?x causes'), await page.locator('.sentence').textContent());
            t.check(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.locator('body').textContent()), 'such a character is on the page');
        },
    ],
    [
        'ten thousand phases',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            t.script(`${t.here}/make_large.py`, 'many.h5', '40', '10000', 'nosweep');
            await t.open(page, t.file('many.h5'));
            const whole = await page.evaluate('cachetally.current.totals().L1');
            await page.evaluate(`cachetally.set({ phases: '100-9999' })`);
            await t.quiet(page);
            const part = await page.evaluate('cachetally.current.totals().L1');
            t.check(part > 0 && part < whole, `${part} of ${whole}`);
            await t.picture(page, 'many-phases');
        },
    ],
    [
        'no links, no exact counts',
        async (t, page) => {
            t.run(
                'run',
                'lu',
                'n=32',
                '--machine',
                'schulz2002',
                '--no-exact',
                '--monitor',
                'none',
                '-o',
                'bare.h5',
                '--force',
            );
            await t.open(page, t.file('bare.h5'));
            t.check((await page.innerText('body')).includes('Caches'), 'tables');
        },
    ],
    [
        'probes: no curves, damaged curves',
        async (t, page) => {
            t.run('probe', 'l1', '--robust', '--machine', 'generic3', '-o', 'l1.h5', '--force');
            await t.open(page, t.file('l1.h5'), 'view=curves');
            t.equal(await page.evaluate('cachetally.shown'), 'tables', 'view');
            t.check((await page.innerText('body')).includes('compact sets'), 'findings');
            if (!t.python) return;
            python(
                t,
                `shutil.copy("probe.h5", "bad.h5")
with h5py.File("bad.h5", "r+") as f:
    del f["curves"][sorted(f["curves"])[0]]["value"]`,
            );
            await refused(t, page, 'bad.h5', /has no points, or not as many values; the file is damaged/);
        },
    ],
    [
        'a kind of result that the page does not know',
        async (t, page) => {
            if (!t.python) return 'python3-h5py is not there';
            python(
                t,
                `with h5py.File("kind.h5", "w") as f:
    f.attrs["format"], f.attrs["kind"] = "cachetally result", "survey"
    f.attrs["format_version"] = f.attrs["complete"] = np.uint64(1)`,
            );
            await t.open(page, t.file('kind.h5'));
            t.check((await page.innerText('body')).includes("of the kind 'survey'"), 'notice');
        },
    ],
    [
        'a run that was killed',
        async (t, page) => {
            const child = spawn(t.program, ['run', 'lu', 'n=512', '--machine', 'schulz2002', '-o', 'killed.h5'], {
                cwd: t.directory,
                stdio: 'ignore',
            });
            const part = t.file('killed.h5.part');
            for (let i = 0; i < 200 && !existsSync(part); ++i) await new Promise((resolve) => setTimeout(resolve, 20));
            child.kill('SIGKILL');
            if (!existsSync(part)) return 'the run had written nothing when it was killed';
            await refused(t, page, 'killed.h5.part', /cut off|damaged|is empty|not a result|still being written/);
        },
    ],
];
