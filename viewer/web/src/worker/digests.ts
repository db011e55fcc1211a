// SPDX-License-Identifier: BSD-3-Clause
// Digests of a file's blocks, in the trailer behind HDF5's end of file (docs/format.md): bytes are verified before the
// HDF5 library sees them, as it may run for ever on damaged ones.
import { createXXHash3 } from 'hash-wasm';
import { FileError, NoDigests } from '../protocol';
import { rememberedLast } from '../remembered';

const blockBytes = 1 << 20;
const footerBytes = 32;
const remedy = 'copy it again, or make it anew';

const bytesOf = async (blob: Blob, begin: number, end: number): Promise<Uint8Array> => new Uint8Array(await blob.slice(begin, end).arrayBuffer());

type Hash = Awaited<ReturnType<typeof makeHash>>;

/** XXH3, 64 bits. */
async function makeHash() {
    const hasher = await createXXHash3();
    return (...parts: Uint8Array[]): bigint => {
        hasher.init();
        parts.forEach((part) => hasher.update(part));
        return BigInt(`0x${hasher.digest('hex')}`);
    };
}

/** The size of the HDF5 part, and the digests of its blocks; null where there are none. */
async function trailerOf(name: string, blob: Blob, hash: Hash): Promise<{ size: number; digests: BigUint64Array } | null> {
    if (blob.size < footerBytes) return null;
    const before = blob.size - footerBytes;
    const footer = await bytesOf(blob, before, blob.size);
    if (new TextDecoder('latin1').decode(footer.subarray(0, 8)) !== 'CTDIGEST') return null;
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
export type Piece = { bytes: ArrayBuffer; size: number };
/** So many blocks are kept, the ones used last. */
const mostBlocks = 64;
export type BlockFile = Awaited<ReturnType<typeof blockFile>>;

/** A file read in blocks, verified when first asked for; for the worker's file system a Blob. `refuse` makes what reading a damaged block throws; `trust`: unverified. */
export async function blockFile(name: string, blob: Blob, refuse: () => Error, trust: boolean) {
    const hash = await makeHash();
    const trailer = trust ? null : await trailerOf(name, blob, hash);
    if (!trust && !trailer) {
        if (wholeSize(await bytesOf(blob, 0, 96)) < blob.size) throw new FileError(`${name} is damaged: it does not end in its digests; ${remedy}.`);
        throw new NoDigests(`${name} has no digests of its blocks, as files have that cachetally wrote: it is of an earlier version or of another program, or was changed by one.`);
    }
    const size = trailer?.size ?? blob.size;
    const verified = new Set<number>();
    const kept = new Map<number, Uint8Array>();
    let fault = '';

    const boundsOf = (block: number): [number, number] => [block * blockBytes, Math.min(size, (block + 1) * blockBytes)];

    function verify(block: number, bytes: Uint8Array): boolean {
        if (!trailer || verified.has(block)) return true;
        const [begin, end] = boundsOf(block);
        const good = hash(bytes) === trailer.digests[block];
        if (good) verified.add(block);
        else fault = `bytes ${begin} to ${end - 1} are not what was written; ${remedy}.`;
        return good;
    }

    function read(block: number): Uint8Array {
        const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob.slice(...boundsOf(block))));
        if (!verify(block, bytes)) throw refuse();
        return bytes;
    }

    /** All bytes, verified. Throws where a block is damaged. */
    async function whole(): Promise<Uint8Array> {
        const bytes = await bytesOf(blob, 0, size);
        for (let block = 0; block * blockBytes < size; ++block)
            if (!verify(block, bytes.subarray(...boundsOf(block)))) throw new FileError(`${name} is damaged: ${fault}`);
        return bytes;
    }

    function slice(begin: number, end: number): Piece {
        const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - begin));
        for (let at = begin; at < begin + bytes.length; ) {
            const number = Math.floor(at / blockBytes);
            const block = rememberedLast(kept, number, () => read(number), ({ size }) => size > mostBlocks);
            const part = block.subarray(at - number * blockBytes, begin + bytes.length - number * blockBytes);
            bytes.set(part, at - begin);
            at += part.length;
        }
        return { bytes: bytes.buffer, size: bytes.length };
    }

    /** `fault`: what was wrong with the bytes asked for last; empty where nothing was. */
    return { size, whole, slice, fault: () => fault };
}

/** How many bytes an HDF5 file has, by its superblock; NaN where that is cut off. */
export function wholeSize(head: Uint8Array): number {
    const at = head[8] < 2 ? 40 : 28;
    return head.byteLength < at + 8 ? NaN : Number(new DataView(head.buffer, head.byteOffset).getBigUint64(at, true));
}
