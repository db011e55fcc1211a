// SPDX-License-Identifier: BSD-3-Clause
declare module 'virtual:worker' {
    /** The worker's program: gzip, base64. */
    const packed: string;
    export default packed;
}
declare module '*.css';

declare module '*.py?raw' {
    const program: string;
    export default program;
}
