// SPDX-License-Identifier: BSD-3-Clause
// Builds one self-contained page; the drawing core as WebAssembly, and the worker with the HDF5 library, are packed into it, compressed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';
import { runInNewContext } from 'node:vm';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** A module that gives bytes, gzip and base64: a third of those that they would take as text. */
const packed = (bytes: Uint8Array): string => `export default ${JSON.stringify(gzipSync(bytes, { level: 9 }).toString('base64'))};`;

const flags = '--target=wasm32-wasi -mexec-model=reactor -std=c++20 -O2 -fno-exceptions -fno-rtti -fvisibility=hidden -Wall -Wextra -Werror -Wl,--strip-all -Wl,--max-memory=4294901760';

/** viewer/core as WebAssembly. */
function core(): Uint8Array {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const place = mkdtempSync(join(tmpdir(), 'cachetally-core-'));
    try {
        const directory = join(root, 'viewer/core');
        const sources = readdirSync(directory).filter((name) => name.endsWith('.cpp')).sort().map((name) => join(directory, name));
        execFileSync('clang++-14', [...flags.split(' '), `-I${root}`, ...sources, join(directory, 'wasm/exports.cpp'), '-o', join(place, 'core.wasm')], { stdio: 'inherit' });
        return readFileSync(join(place, 'core.wasm'));
    } catch (error) {
        throw new Error(`The drawing core could not be compiled; it needs the packages that scripts/setup installs (${(error as Error).message}).`);
    } finally {
        rmSync(place, { recursive: true, force: true });
    }
}

/** `virtual:core`, which the page and the worker have. */
const coreModule = packed(core());

/** The HDF5 library's program without its WebAssembly, which is a text of 4 MB in it: 0.6 s until a browser has read that; and these bytes. */
function library(path: string): { program: string; bytes: Uint8Array } {
    const whole = readFileSync(path, 'utf8');
    const found = /function findWasmBinary\(\)\{return binaryDecode\(('(?:[^'\\]|\\[^])*')\)\}/.exec(whole);
    if (!found) throw new Error(`${path}: h5wasm holds its WebAssembly otherwise than known; vite.config.ts is to follow it.`);
    // as binaryDecode: character 256 is a byte of 0
    const bytes = Uint8Array.from(runInNewContext(found[1]) as string, (character) => character.charCodeAt(0));
    const program = `import packedBytes from 'virtual:hdf5'; import { unpacked } from 'virtual:unpacked'; ${whole.replace(found[0], () => 'function findWasmBinary(){return unpacked(packedBytes)}')}`;
    return { program, bytes };
}

/** The worker's program, in which plugins of Vite have no say. */
async function worker(): Promise<Uint8Array> {
    const { program, bytes } = library(fileURLToPath(new URL('node_modules/h5wasm/dist/esm/hdf5_util.js', import.meta.url)));
    const bundle = await build({
        entryPoints: [fileURLToPath(new URL('src/worker/worker.ts', import.meta.url))],
        bundle: true,
        minify: true,
        format: 'iife',
        target: 'es2022',
        write: false,
        legalComments: 'none',
        define: { 'import.meta.url': '""' },
        logLevel: 'error',
        plugins: [
            {
                name: 'packed',
                setup(bundler) {
                    bundler.onResolve({ filter: /^virtual:unpacked$/ }, () => ({ path: fileURLToPath(new URL('src/core.ts', import.meta.url)) }));
                    bundler.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'packed' }));
                    bundler.onLoad({ filter: /core$/, namespace: 'packed' }, () => ({ contents: coreModule }));
                    bundler.onLoad({ filter: /hdf5$/, namespace: 'packed' }, () => ({ contents: packed(bytes) }));
                    bundler.onLoad({ filter: /hdf5_util\.js$/ }, () => ({ contents: program }));
                },
            },
        ],
    });
    return bundle.outputFiles[0].contents;
}

function packedModules(): Plugin {
    const modules: Record<string, () => string | Promise<string>> = { 'virtual:core': () => coreModule, 'virtual:worker': async () => packed(await worker()) };
    return {
        name: 'packed-modules',
        resolveId: (id) => (id in modules ? '\0' + id : undefined),
        load: (id) => modules[id.replace('\0', '')]?.(),
    };
}

export default defineConfig({
    plugins: [packedModules(), viteSingleFile()],
    build: { target: 'es2022', chunkSizeWarningLimit: 8000, reportCompressedSize: false },
});
