// SPDX-License-Identifier: BSD-3-Clause
// The page's side of the worker: requests as promises; a request that is superseded is given up.
import { FileError, replyKinds, type AddressRange, type Axis, type FileInfo, type Reply } from './protocol';
import type { Answers } from './worker/worker';
import { axisOf, coreReady, unpacked } from './core';
import { firstLevels, forgetCubes } from './cube';
import { remembered } from './remembered';

/** Gzip, base64. */
declare const packedWorker: string;
/** The worker's program as an address that workers can be made from. */
const program = unpacked(packedWorker).then((bytes) => URL.createObjectURL(new Blob([bytes], { type: 'text/javascript' })));
const newWorker = (): Promise<Worker> => program.then((url) => new Worker(url));
/** Started before there is a file, so that the library is ready when one comes. */
const idle = [newWorker()];
/** What a request takes beside its token, and gives. */
type Asked<M extends keyof Answers> = Parameters<Answers[M]> extends [unknown, ...infer Rest] ? Rest : never;
type Answer<M extends keyof Answers> = Promise<Awaited<ReturnType<Answers[M]>>>;
type Waiting = Map<number, { resolve(value: unknown): void; reject(error: Error): void }>;
const open = new Set<Waiting>();
export const isReading = (): boolean => [...open].some(({ size }) => size > 0);
export type Source = Awaited<ReturnType<typeof openSource>>;

/** A result file, open in a worker of its own. Of a program misses of one level are there at once, by default of the worst first one; `rest`: those of all. */
export async function openSource(file: File, trust: boolean, level = '') {
    await coreReady;
    const worker = await (idle.pop() ?? newWorker());
    const waiting: Waiting = new Map();
    const ranges = new Map<string, Promise<AddressRange[]>>();
    const axes = new Map<string, Promise<Axis>>();
    let next = 1;
    open.add(waiting);
    worker.onmessage = ({ data: { id, result, error, kind } }: MessageEvent<Reply>) => {
        const asked = waiting.get(id);
        waiting.delete(id);
        if (!asked) return;
        if (error === undefined) return asked.resolve(result);
        const Kind = replyKinds[kind!] ?? Error;
        if (Kind === FileError) window.dispatchEvent(new CustomEvent('filefault', { detail: error }));
        asked.reject(new Kind(error));
    };
    worker.onerror = (event) => {
        event.preventDefault();
        const error = new Error(event.message || 'The reader of HDF5 files could not be started in this browser.');
        waiting.forEach((each) => each.reject(error));
        waiting.clear();
    };

    const close = (): void => void (worker.terminate(), open.delete(waiting));

    /** A request of the same name that is still running is given up. */
    function askLatest<M extends keyof Answers>(name: string, method: M, ...args: Asked<M>): Answer<M> {
        const id = next++;
        return new Promise((resolve, reject) => {
            waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
            worker.postMessage({ id, name, method, args });
        });
    }

    const ask = <M extends keyof Answers>(method: M, ...args: Asked<M>): Answer<M> => askLatest('', method, ...args);

    const readMisses = async ({ attribution }: FileInfo, levels: string[]): Promise<void> => void (levels.length && Object.assign(attribution!.columns, await ask('misses', levels)));
    async function openFile(): Promise<[FileInfo, string[]]> {
        const found: FileInfo = await ask('open', file, trust), levels = found.attribution?.levels ?? [];
        const first = levels.includes(level) ? level : firstLevels(found)[0];
        await readMisses(found, levels.filter((each) => each === first));
        return [found, levels.filter((each) => each !== first)];
    }
    const [info, others] = await openFile().catch((error: unknown) => (close(), Promise.reject(error)));
    const rest = others.length ? readMisses(info, others).then(() => forgetCubes(info)) : null;

    /** Where some series have counts. */
    const extents = (ids: string[]): Promise<AddressRange[]> => remembered(ranges, `${ids}`, () => ask('extents', ids));

    /** The axis that shows all addresses of some series. */
    function axis(ids: string[]): Promise<Axis> {
        const unit = Math.max(1, ...info.series.filter((each) => ids.includes(each.id)).map((each) => each.unit));
        return remembered(axes, `${ids}`, async () => axisOf(await extents(ids), unit));
    }
    return { info, rest, close, ask, askLatest, extents, axis };
}
