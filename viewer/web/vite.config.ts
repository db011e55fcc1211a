// SPDX-License-Identifier: BSD-3-Clause
// Builds one self-contained page; the drawing core as WebAssembly, and the worker with the HDF5 library, are packed into it, compressed.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';
import { runInNewContext } from 'node:vm';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** Bytes in the source, gzip and base64: a third of those that they would take as text. */
const packed = (bytes: Uint8Array): string => JSON.stringify(gzipSync(bytes, { level: 9 }).toString('base64'));

const flags = '--target=wasm32-wasi -mexec-model=reactor -std=c++20 -O2 -fno-exceptions -fno-rtti -fvisibility=hidden -Wall -Wextra -Werror -Wl,--strip-all -Wl,--max-memory=4294901760';

/** viewer/core as WebAssembly. */
function core(): Uint8Array {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const directory = join(root, 'viewer/core');
    const sources = readdirSync(directory).filter((name) => name.endsWith('.cpp')).sort().map((name) => join(directory, name));
    try {
        return execFileSync('clang++-14', [...flags.split(' '), `-I${root}`, ...sources, join(directory, 'wasm/exports.cpp'), '-o', '-'], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
    } catch (error) {
        throw new Error(`The drawing core could not be compiled; it needs the packages that scripts/setup installs (${(error as Error).message}).`);
    }
}

/** What the page and the worker have. */
const packedCore = packed(core());

/** The HDF5 library's program with its WebAssembly packed, which is a text of 4 MB in it: 0.6 s until a browser has read that. */
function library(path: string): string {
    const whole = readFileSync(path, 'utf8');
    const found = /function findWasmBinary\(\)\{return binaryDecode\(('(?:[^'\\]|\\[^])*')\)\}/.exec(whole);
    if (!found) throw new Error(`${path}: h5wasm holds its WebAssembly otherwise than known; vite.config.ts is to follow it.`);
    // as binaryDecode: character 256 is a byte of 0
    const bytes = Uint8Array.from(runInNewContext(found[1]) as string, (character) => character.charCodeAt(0));
    return `import { unpacked } from 'core'; ${whole.replace(found[0], () => `function findWasmBinary(){return unpacked(${packed(bytes)})}`)}`;
}

/** The worker's program, in which plugins of Vite have no say. */
const worker = await build({
    entryPoints: ['src/worker/worker.ts'],
    absWorkingDir: import.meta.dirname,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    legalComments: 'none',
    alias: { core: './src/core.ts' },
    define: { 'import.meta.url': '""', packedCore },
    logLevel: 'error',
    plugins: [{ name: 'library', setup: (bundler) => bundler.onLoad({ filter: /hdf5_util\.js$/ }, ({ path }) => ({ contents: library(path) })) }],
});

export default defineConfig({
    plugins: [viteSingleFile()],
    define: { packedCore, packedWorker: packed(worker.outputFiles[0].contents) },
    build: { target: 'es2022', chunkSizeWarningLimit: 8000, reportCompressedSize: false },
});
