// SPDX-License-Identifier: BSD-3-Clause
// Every picture of every view: its table, CSV, SVG and PNG, and Python that runs.
const places = [
    ['lu.h5', 'show=missrate&phases=4'],
    ['lu.h5', 'show=monitor'],
    ['lu.h5', 'show=link:load&scale=log'],
    ['lu.h5', 'y=cycles&sel=0x10000020-0x10008000'],
    ['lu.h5', 'view=topology'],
    ['lu2.h5', 'cause=conflict&structure=A'],
    ['sweep.h5', 'view=sweep&cell=3,64'],
    ['sweep.h5', 'view=workbench'],
    ['sweep.h5', 'view=pivot&facet=eviction'],
    ['probe.h5', 'view=curves&residuals=plateaus'],
    ['probe.h5', 'view=curves&curves=loads:cycles'],
    ['intrusion.h5', 'metric=records&cell=4,full,16'],
    ['lu.h5', 'show=misses', 'lu2.h5'],
];

async function checkPicture(t, page, picture, where) {
    const csv = await t.saved(page, 'CSV', picture);
    const lines = csv.trim().split('\n');
    t.check(lines.length > 1 && lines[0].includes(','), `${where}: CSV of ${lines.length} lines`);
    const svg = await t.saved(page, 'SVG', picture);
    const shapes = await page.evaluate(`(() => {
        const picture = new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml');
        return picture.querySelector('parsererror') || /NaN|Infinity|undefined/.test(picture.documentElement.outerHTML) ? 0 : picture.querySelectorAll('*').length; })()`);
    t.check(shapes > 5, `${where}: SVG of ${shapes} shapes`);
    const png = await t.saved(page, 'PNG', picture);
    t.equal(png.subarray(1, 4).toString(), 'PNG', `${where}: PNG`);
    t.check(png.readUInt32BE(16) > 200 && png.readUInt32BE(20) > 100, `${where}: size of the PNG`);
    await t.choose(page, /^Show a Python/, picture);
    const code = await page.locator('dialog pre').textContent();
    await t.press(page, 'Close');
    return code;
}

/** Runs each of the snippets, in one process: most of the time of each goes into h5py's beginning. */
const runner = `
import contextlib, io, sys
for code in sys.argv[1:]:
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(code, {'__name__': '__main__'})
    assert told.getvalue().strip(), 'says nothing:\\n' + code
`;

export const exportCases = [
    [
        'every picture: table, CSV, SVG, PNG, and Python that runs',
        async (t, page) => {
            const snippets = [];
            for (const [file, hash, second] of places) {
                await t.open(page, t.file(file), hash);
                if (second) {
                    await t.compare(page, t.file(second));
                    await t.until(page, 'cachetally.others.length === 1', 'the second file');
                    await t.quiet(page);
                }
                const pictures = await page.locator('.figure:visible').all();
                t.check(pictures.length > 0, `${file} ${hash}: no pictures`);
                for (const [n, picture] of pictures.entries())
                    snippets.push(await checkPicture(t, page, picture, `${file} ${hash}, picture ${n + 1}`));
            }
            if (t.python) t.script('-c', runner, ...snippets);
        },
    ],
];
