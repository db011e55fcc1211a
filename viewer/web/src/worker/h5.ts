// SPDX-License-Identifier: BSD-3-Clause
// Reading HDF5 in the worker: large files are mounted, not loaded, so that gigabytes are read in place, slice by slice.
import h5wasm, { type Dataset, type File as H5File, type Group } from 'h5wasm';
import { parameterOf } from '../points';
import { FileError, type Columns } from '../protocol';
import { remembered } from '../remembered';
import { blockFile, wholeSize, type BlockFile, type Piece } from './digests';

/** What an attribute says, in one text or several, without what would turn its direction; empty where it is not there. */
export const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value).replace(/[\u202a-\u202e\u2066-\u2069]/g, '?'));
export const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : value === undefined ? [] : [text(value)]);

/** Of at most this many bytes, a file is read into memory: the HDF5 library asks for a few bytes at a time, each a request to the browser. */
const smallFile = 8 << 20;
const signature = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];

/** What is wrong with the first bytes of a file, if anything: the library's own messages do not help people. */
function headFault(name: string, head: Uint8Array, size: number): string {
    if (size === 0) return `${name} is empty.`;
    const begins = (at: number) => signature.every((byte, i) => head[at + i] === byte);
    if (!begins(0)) {
        const text = new TextDecoder().decode(head.slice(0, 64));
        if (/^\s*<(!doctype|html)/i.test(text)) return `${name} is a page, not a result file: open it in a browser.`;
        if (/^\s*[{[]/.test(text)) return `${name} looks like JSON. The viewer takes HDF5 files: run with -o FILE.h5.`;
        return `${name} is no HDF5 file. The viewer takes what cachetally run, replay, sweep, intrusion, trackers and probe write with -o FILE.h5.`;
    }
    const whole = wholeSize(head);
    if (Number.isNaN(whole)) return `${name} is cut off: it has only ${size} bytes.`;
    if (whole > size)
        return `${name} is cut off: it should have ${whole.toLocaleString('en')} bytes and has ${size.toLocaleString('en')}. Was it copied to its end, or is it still being written?`;
    return '';
}

/** Where it cannot read the library gives what its memory held, and says so in a number that nobody looks at. */
function refuseWhatCannotBeRead(library: { get_dataset_data(file: bigint, path: string, ...rest: unknown[]): number }, blob: BlockFile): void {
    const read = library.get_dataset_data;
    library.get_dataset_data = (file, path, ...rest) => {
        const status = read(file, path, ...rest);
        const fault = blob.fault() || 'the file is damaged.';
        if (status < 0) throw new FileError(`/${path.replace(/^\//, '')} cannot be read: ${fault}`);
        return status;
    };
}

/** H5T_STRING: texts of fixed and of variable length. */
const stringClass = 3;

export type Store = ReturnType<typeof storeOf>;

/** What the library, or the file's own table of all objects, says of one. Of groups: what is in it; of datasets: how large they are. */
interface Described {
    attributes: Record<string, unknown>;
    members?: string[];
    shape?: number[];
}

/** An open file; paths are from its root. `written`: nothing has changed it since. `fault`: what was found damaged while something was read; or empty. */
function storeOf(file: H5File, written: boolean, fault: () => string) {
    // where the file has one, and is as it was written, its table of all objects (docs/format.md): opening each takes a millisecond
    const told = written && (file.get('consolidated_metadata') as Dataset | null)?.value;
    const objects: [string, Described][] = typeof told === 'string' ? Object.entries(JSON.parse(told, (_, value) => value ?? NaN)) : []; // what is no number is null there
    // what the library said of an object: it looks up every path from the root anew
    const datasets = new Map<string, Dataset | null>();
    const known = new Map<string, Described | null>(objects);

    const entity = (path: string): Group | Dataset | null => (path === '/' ? file : file.get(path)) as Group | Dataset | null;

    function fromLibrary(path: string): Described | null {
        const object = entity(path);
        if (!object) return null;
        let known: Described['attributes'] | null = null;
        const read = () => {
            const names = Object.keys(object.attrs ?? {}).filter((name) => name !== 'DIMENSION_LIST' && name !== 'REFERENCE_LIST');
            const values = names.map((name) => object.get_attribute(name, false));
            return Object.fromEntries(values.map((value, i) => [names[i], typeof value === 'bigint' ? Number(value) : value]));
        };
        return {
            members: 'keys' in object ? object.keys() : undefined,
            shape: object.type === 'Dataset' ? ((object as Dataset).shape ?? []) : undefined,
            get attributes() { return (known ??= read()); }, // which takes as long again
        };
    }

    /** null: it is not there. */
    function object(path: string): Described | null {
        return remembered(known, path, () => {
            const at = path.lastIndexOf('/');
            const [group, name] = at < 0 ? ['/', path] : [path.slice(0, at), path.slice(at + 1)];
            return path === '/' || object(group)?.members?.includes(name) ? fromLibrary(path) : null;
        });
    }

    const has = (path: string): boolean => object(path) !== null;
    const children = (path: string): string[] => object(path)?.members ?? [];
    /** All attributes of an object but what scales of axes have; whole numbers as numbers. */
    const attributes = (path: string): Record<string, unknown> => object(path)?.attributes ?? {};

    const dataset = (path: string): Dataset | null => remembered(datasets, path, () => (object(path)?.shape ? (entity(path) as Dataset) : null));

    const rows = (path: string): number => object(path)?.shape?.[0] ?? 0;

    /** Throws where columns of a table are not equally long, or one is missing. */
    function requireColumns(path: string, names: string[]): void {
        const count = rows(`${path}/${names[0]}`);
        for (const name of names) {
            const found = rows(`${path}/${name}`);
            if (!object(`${path}/${name}`)?.shape) throw new FileError(`/${path} has no column '${name}'; the file is damaged.`);
            if (found !== count) throw new FileError(`/${path}: the column '${name}' has ${found} rows instead of ${count}; the file is damaged.`);
        }
    }

    /** Columns of numbers that are equally long, by their names. */
    function columns<N extends string>(path: string, ...names: N[]): Record<N, Float64Array> {
        requireColumns(path, names);
        return Object.fromEntries(names.map((name) => [name, numbers(`${path}/${name}`)])) as Record<N, Float64Array>;
    }

    /** Elements first .. last - 1 as the library gives them. */
    function elements(path: string, first: number, last: number): ArrayBufferView {
        const found = dataset(path);
        if (!found) throw new FileError(`The file has no dataset /${path}; it is damaged.`);
        if (last <= first) return new Float64Array(0);
        const shape = found.shape ?? [];
        const value = found.slice([[first, last], ...shape.slice(1).map(() => [] as [])]);
        if (!ArrayBuffer.isView(value)) throw new FileError(`/${path} does not hold numbers; the file is damaged.`);
        return value;
    }

    /** Numbers of any type as doubles, exact below 2^53; of tables row by row. */
    function numbers(path: string, first = 0, last = rows(path)): Float64Array {
        const raw = elements(path, first, last);
        if (raw instanceof Float64Array) return raw;
        if (raw instanceof BigInt64Array) return Float64Array.from(raw, Number);
        if (!(raw instanceof BigUint64Array)) return new Float64Array(raw as unknown as ArrayLike<number>);
        const halves = new Uint32Array(raw.buffer, raw.byteOffset, raw.length * 2);
        const values = new Float64Array(raw.length);
        for (let i = 0; i < values.length; ++i) values[i] = halves[2 * i] + halves[2 * i + 1] * 4294967296;
        return values;
    }

    function addresses(path: string, first = 0, last = rows(path)): BigUint64Array {
        const raw = elements(path, first, last);
        if (last <= first) return new BigUint64Array(0);
        if (!(raw instanceof BigUint64Array)) throw new FileError(`/${path} does not hold addresses; the file is damaged.`);
        return raw;
    }

    function words(path: string, first = 0, last = rows(path)): Uint32Array {
        const raw = elements(path, first, last);
        return raw instanceof Uint32Array ? raw : Uint32Array.from(numbers(path, first, last));
    }

    /** Columns of texts and numbers; throws where one of `needed` is missing or they are not equally long. */
    function table(path: string, needed: string[]): Columns {
        const found: Columns = { count: rows(`${path}/${needed[0]}`), texts: {}, numbers: {} };
        if (has(path)) requireColumns(path, needed);
        for (const name of children(path)) {
            const shape = object(`${path}/${name}`)?.shape;
            if (name === 'row' || shape?.length !== 1 || shape[0] !== found.count) continue;
            if (isText(`${path}/${name}`)) found.texts[name] = parameterOf(name, texts(`${path}/${name}`));
            else found.numbers[name] = numbers(`${path}/${name}`);
        }
        return found;
    }

    const isText = (path: string): boolean => dataset(path)?.metadata.type === stringClass;

    const texts = (path: string): string[] => [dataset(path)?.value].flatMap((value) => (Array.isArray(value) ? value.map(text) : []));

    return { fault, has, children, attributes, dataset, rows, requireColumns, columns, numbers, addresses, words, table, isText, texts };
}

/** `trust`: as it is, whether it has digests or not. */
export async function openStore(name: string, blob: Blob, trust: boolean): Promise<Store> {
    const head = new Uint8Array(await blob.slice(0, 96).arrayBuffer());
    const fault = headFault(name, head, blob.size);
    if (fault !== '') throw new FileError(fault);
    const library = await h5wasm.ready;
    const fs = library.FS as unknown as {
        ErrnoError: new (number: number) => Error;
        mkdir(path: string): void;
        writeFile(path: string, bytes: Uint8Array, options: object): void;
        mount(kind: unknown, options: unknown, path: string): void;
        filesystems: { WORKERFS: { reader: { readAsArrayBuffer(piece: Piece): ArrayBuffer } } };
    };
    const inputOutputError = 29;
    const data = await blockFile(name, blob, () => new fs.ErrnoError(inputOutputError), trust);
    refuseWhatCannotBeRead(library as never, data);
    fs.mkdir('/in');
    if (data.size <= smallFile) fs.writeFile('/in/data.h5', await data.whole(), { canOwn: true });
    else {
        fs.mount(fs.filesystems.WORKERFS, { blobs: [{ name: 'data.h5', data }] }, '/in');
        fs.filesystems.WORKERFS.reader = { readAsArrayBuffer: ({ bytes }) => bytes };
    }
    let file: H5File | null = null;
    try {
        file = new h5wasm.File('/in/data.h5', 'r');
    } catch {} // told below
    if (!file || file.file_id <= 0n) throw new FileError(`${name} is damaged: ${data.fault() || 'the HDF5 library cannot read it.'}`);
    return storeOf(file, !trust, data.fault);
}
