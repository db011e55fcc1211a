// SPDX-License-Identifier: BSD-3-Clause
// Builds one self-contained page; the drawing core as WebAssembly, and the worker with the HDF5 library, are packed into it, compressed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';
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

/** The worker's program, in which plugins of Vite have no say. */
async function worker(): Promise<Uint8Array> {
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
                name: 'core',
                setup(bundler) {
                    bundler.onResolve({ filter: /^virtual:core$/ }, ({ path }) => ({ path, namespace: 'core' }));
                    bundler.onLoad({ filter: /.*/, namespace: 'core' }, () => ({ contents: coreModule }));
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
