// SPDX-License-Identifier: BSD-3-Clause
// Digests of a file's blocks, in the trailer behind HDF5's end of file (docs/format.md): bytes are verified before the
// HDF5 library sees them, as it may run for ever on damaged ones.
import { createXXHash3 } from 'hash-wasm';

/** Something is wrong with a file; the message is for people. */
export class FileError extends Error {}

/** A file that has no digests: it can be read as it is. */
export class NoDigests extends FileError {}

const blockBytes = 1 << 20;
const footerBytes = 32;
const magic = 'CTDIGEST';
const remedy = 'copy it again, or make it anew';

const bytesOf = async (blob: Blob, begin: number, end: number): Promise<Uint8Array> =>
    new Uint8Array(await blob.slice(begin, end).arrayBuffer());

/** XXH3, 64 bits. */
type Hash = (...parts: Uint8Array[]) => bigint;

async function makeHash(): Promise<Hash> {
    const hasher = await createXXHash3();
    return (...parts) => {
        hasher.init();
        parts.forEach((part) => hasher.update(part));
        return BigInt(`0x${hasher.digest('hex')}`);
    };
}

interface Trailer {
    size: number; // of the HDF5 part
    digests: BigUint64Array;
}

/** Nothing where there is none. */
async function trailerOf(name: string, blob: Blob, hash: Hash): Promise<Trailer | null> {
    if (blob.size < footerBytes) return null;
    const before = blob.size - footerBytes;
    const footer = await bytesOf(blob, before, blob.size);
    if (new TextDecoder('latin1').decode(footer.subarray(0, 8)) !== magic) return null;
    const view = new DataView(footer.buffer);
    if (view.getUint32(8, true) !== 1 || view.getUint32(12, true) !== blockBytes)
        throw new FileError(`${name} has digests that only a later cachetally knows, or is damaged.`);
    const size = Number(view.getBigUint64(16, true));
    const blocks = Math.ceil(size / blockBytes);
    const damaged = (why: string) => new FileError(`${name} is damaged: ${why}; ${remedy}.`);
    if (size === 0 || before - size !== 8 * blocks)
        throw damaged(`it has ${blob.size} bytes, and by its digests an HDF5 file of ${size} alone`);
    const digests = await bytesOf(blob, size, before);
    if (hash(digests, footer.subarray(0, 24)) !== view.getBigUint64(24, true))
        throw damaged('its digests are not what was written');
    return { size, digests: new BigUint64Array(digests.buffer) };
}

/** What the HDF5 library's file system reads of a file: bytes instead of a Blob, each of which would be a request to the browser. */
export interface Piece {
    bytes: ArrayBuffer;
    size: number;
}

/** So many blocks are kept, the ones used last. */
const mostBlocks = 64;

/** A file that is read in blocks; they are verified when they are first asked for. What the worker's file system takes for a Blob. */
export class BlockFile {
    private readonly verified = new Set<number>();
    private readonly kept = new Map<number, Uint8Array>();
    /** What was wrong with the bytes asked for last; empty where nothing was. */
    fault = '';

    private constructor(
        private readonly blob: Blob,
        readonly size: number,
        private readonly digests: BigUint64Array | null,
        private readonly hash: Hash | null,
        private readonly refuse: () => Error,
    ) {}

    /** `refuse` makes what reading a block that is damaged throws; `trust`: as it is, whether it has digests or not. */
    static async open(name: string, blob: Blob, refuse: () => Error, trust: boolean): Promise<BlockFile> {
        if (trust) return new BlockFile(blob, blob.size, null, null, refuse);
        const hash = await makeHash();
        const trailer = await trailerOf(name, blob, hash);
        if (!trailer) throw new NoDigests(await faultWithoutTrailer(name, blob));
        return new BlockFile(blob, trailer.size, trailer.digests, hash, refuse);
    }

    /** All bytes, verified. Throws where a block is damaged. */
    async whole(name: string): Promise<Uint8Array> {
        const bytes = await bytesOf(this.blob, 0, this.size);
        for (let block = 0; block * blockBytes < this.size; ++block)
            if (!this.verify(block, bytes.subarray(...this.boundsOf(block))))
                throw new FileError(`${name} is damaged: ${this.fault}`);
        return bytes;
    }

    private boundsOf(block: number): [number, number] {
        return [block * blockBytes, Math.min(this.size, (block + 1) * blockBytes)];
    }

    private verify(block: number, bytes: Uint8Array): boolean {
        if (!this.digests || this.verified.has(block)) return true;
        const [begin, end] = this.boundsOf(block);
        const good = this.hash!(bytes) === this.digests[block];
        if (good) this.verified.add(block);
        else this.fault = `bytes ${begin} to ${end - 1} are not what was written; ${remedy}.`;
        return good;
    }

    private block(number: number): Uint8Array {
        const known = this.kept.get(number);
        if (known) this.kept.delete(number);
        const bytes = known ?? new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.blob.slice(...this.boundsOf(number))));
        if (!known && !this.verify(number, bytes)) throw this.refuse();
        this.kept.set(number, bytes);
        if (this.kept.size > mostBlocks) this.kept.delete(this.kept.keys().next().value as number);
        return bytes;
    }

    slice(begin: number, end: number): Piece {
        const last = Math.max(begin, Math.min(end, this.size));
        const bytes = new Uint8Array(last - begin);
        for (let at = begin; at < last; ) {
            const number = Math.floor(at / blockBytes);
            const stop = Math.min(last, (number + 1) * blockBytes);
            bytes.set(this.block(number).subarray(at - number * blockBytes, stop - number * blockBytes), at - begin);
            at = stop;
        }
        return { bytes: bytes.buffer, size: bytes.length };
    }
}

/** How many bytes an HDF5 file has, by its superblock; NaN where that is cut off. */
export function wholeSize(head: Uint8Array): number {
    const at = head[8] < 2 ? 40 : 28;
    return head.byteLength < at + 8 ? NaN : Number(new DataView(head.buffer, head.byteOffset).getBigUint64(at, true));
}

/** What is wrong with a file that has no trailer, as its superblock tells it. */
async function faultWithoutTrailer(name: string, blob: Blob): Promise<string> {
    const whole = wholeSize(await bytesOf(blob, 0, 96));
    if (whole < blob.size) throw new FileError(`${name} is damaged: it does not end in its digests; ${remedy}.`);
    return `${name} has no digests of its blocks, as files have that cachetally wrote: it is of an earlier version or of another program, or was changed by one.`;
}
