// SPDX-License-Identifier: BSD-3-Clause
// Builds one self-contained page; the worker with the HDF5 library is packed into it, compressed.
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** `virtual:worker`: the worker's program, gzip and base64: a third of the bytes that it would take as text. */
function packedWorker(): Plugin {
    const name = 'virtual:worker';
    return {
        name: 'packed-worker',
        resolveId: (id) => (id === name ? '\0' + name : undefined),
        async load(id) {
            if (id !== '\0' + name) return undefined;
            const entry = fileURLToPath(new URL('src/worker/worker.ts', import.meta.url));
            const bundle = await build({
                entryPoints: [entry],
                bundle: true,
                minify: true,
                format: 'iife',
                target: 'es2022',
                write: false,
                legalComments: 'none',
                define: { 'import.meta.url': '""' },
                logLevel: 'error',
            });
            const packed = gzipSync(bundle.outputFiles[0].contents, { level: 9 });
            return `export default ${JSON.stringify(packed.toString('base64'))};`;
        },
    };
}

export default defineConfig({
    plugins: [packedWorker(), viteSingleFile()],
    build: { target: 'es2022', chunkSizeWarningLimit: 8000, reportCompressedSize: false },
});
