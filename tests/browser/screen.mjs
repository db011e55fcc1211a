// SPDX-License-Identifier: BSD-3-Clause
// What is on the screen, read by the cases.
import { copyFileSync } from 'node:fs';

/** Texts of the cells of the first table whose caption or label has a text. */
export const tableRows = (page, label) =>
    page.evaluate(`(() => { const box = [...document.querySelectorAll('[aria-label]')].find((each) => each.getAttribute('aria-label').includes(${JSON.stringify(label)}) && each.querySelector('table'));
        return box ? [...box.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim())) : []; })()`);

/** As people read it: with commas, and a minus sign. */
export const number = (text) => Number(text.replace(/,/g, '').replace('−', '-'));

/** Where a canvas is on the screen. */
export const box = (page, selector) => page.locator(selector).first().boundingBox();

/** What the Python snippet of a picture prints. */
export async function snippetSays(t, page, picture = page) {
    await t.choose(page, /^Show a Python/, picture);
    const code = await page.locator('dialog pre').textContent();
    await t.press(page, 'Close');
    return t.script('-c', code);
}

/** The number that a pattern finds in a text. */
export const found = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

/** A copy of a file as older ones are: causes of misses are known of data structures alone. */
export function withoutLines(t, file, copy) {
    copyFileSync(t.file(file), t.file(copy));
    t.script('-c', `
import h5py, sys
with h5py.File(sys.argv[1], "a") as f:
    for level in f["combined"].values():
        for cause in ("first_use", "invalidated", "capacity", "conflict"):
            if cause in level:
                del level[cause]`, t.file(copy));
}
