// SPDX-License-Identifier: BSD-3-Clause
// Installs playwright-core beside the tests, as package-lock.json has it, where it is not there yet. `node install.mjs` does it ahead of the tests.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const integrity = (lock) =>
    JSON.parse(readFileSync(join(here, lock), 'utf8')).packages['node_modules/playwright-core'].integrity;

/** npm writes its own lock file into node_modules when all is there. */
function installed() {
    try {
        return integrity('node_modules/.package-lock.json') === integrity('package-lock.json');
    } catch {
        return false;
    }
}

const npm = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

/**
 * Null where playwright-core is there, if need be after npm ci; else why it is not. Processes side by side wait for each other at a
 * lock on this directory; who comes second finds it installed.
 */
export function install() {
    if (installed()) return null;
    if (spawnSync('npm', ['--version']).status !== 0) return 'there is no npm (Debian: npm) to install playwright-core';
    const itself = [process.execPath, fileURLToPath(import.meta.url), '--locked'];
    const { status, stderr } = spawnSync('flock', ['--timeout', '300', here, ...itself], { encoding: 'utf8', timeout: 400000 });
    if (status === 0) return null;
    const [, code] = /npm (?:error|ERR!) code (\S+)/.exec(stderr) ?? [];
    const told = stderr.split('\n').filter((line) => /^npm (error|ERR!)/.test(line));
    // these are mistakes in the tree, not of the network
    if (['EUSAGE', 'EINTEGRITY', 'EJSONPARSE'].includes(code)) throw new Error(`npm ci in tests/browser: ${told.join('\n')}`);
    return `there is no playwright-core, and npm ci in tests/browser could not fetch it (${code ?? 'it did not end'}); run that with a network`;
}

if (process.argv[2] === '--locked') {
    const { status, stderr } = installed() ? { status: 0 } : spawnSync(npm[0], npm.slice(1), { cwd: here, encoding: 'utf8', timeout: 120000 });
    process.stderr.write(stderr ?? '');
    process.exitCode = status ?? 1;
} else if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    const missing = install();
    if (missing) console.log(missing);
    process.exitCode = missing ? 1 : 0;
}
