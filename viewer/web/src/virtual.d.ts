// SPDX-License-Identifier: BSD-3-Clause
/// <reference types="vite/client" />
declare module 'virtual:*' {
    /** The drawing core as WebAssembly (`core`), the worker's program (`worker`): gzip, base64. */
    const packed: string;
    export default packed;
}
