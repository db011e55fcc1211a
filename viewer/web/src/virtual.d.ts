// SPDX-License-Identifier: BSD-3-Clause
/// <reference types="vite/client" />
declare module 'virtual:core' {
    /** The drawing core as WebAssembly: gzip, base64. */
    const packed: string;
    export default packed;
}
declare module 'virtual:worker' {
    /** The worker's program: gzip, base64. */
    const packed: string;
    export default packed;
}
