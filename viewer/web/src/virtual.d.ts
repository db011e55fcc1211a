declare module 'virtual:worker' {
    /** The worker's program: gzip, base64. */
    const packed: string;
    export default packed;
}
declare module '*.css';
