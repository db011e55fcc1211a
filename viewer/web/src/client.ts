// SPDX-License-Identifier: BSD-3-Clause
// The page's side of the worker: requests as promises; a request that is superseded is given up.
import packed from 'virtual:worker';
import { FileError, replyKinds, type AddressRange, type Axis, type FileInfo, type Reply } from './protocol';
import type { Answers } from './worker/worker';
import { axisOf } from './axis';
import { remembered } from './remembered';

/** The worker's program as an address that workers can be made from. */
async function unpacked(): Promise<string> {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type: 'text/javascript' }));
}

const program = unpacked();
const newWorker = (): Promise<Worker> => program.then((url) => new Worker(url));
/** Started before there is a file, so that the library is ready when one comes. */
const idle = [newWorker()];

/** What a request takes beside its token, and gives. */
type Asked<M extends keyof Answers> = Parameters<Answers[M]> extends [unknown, ...infer Rest] ? Rest : never;
type Answer<M extends keyof Answers> = Promise<Awaited<ReturnType<Answers[M]>>>;

const open = new Set<Source>();

/** A result file, open in a worker of its own. */
export class Source {
    info!: FileInfo;
    private next = 1;
    private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
    private readonly latest = new Map<string, number>();
    private readonly known = new Map<string, Promise<AddressRange[]>>();
    private readonly axes = new Map<string, Promise<Axis>>();

    private constructor(private readonly worker: Worker) {
        open.add(this);
        worker.onmessage = ({ data: { id, result, error, kind } }: MessageEvent<Reply>) => {
            const waiting = this.waiting.get(id);
            this.waiting.delete(id);
            if (!waiting) return;
            if (error === undefined) return waiting.resolve(result);
            const Kind = replyKinds[kind!] ?? Error;
            if (Kind === FileError) window.dispatchEvent(new CustomEvent('filefault', { detail: error }));
            waiting.reject(new Kind(error));
        };
        worker.onerror = (event) => {
            event.preventDefault();
            const error = new Error(event.message || 'The reader of HDF5 files could not be started in this browser.');
            this.waiting.forEach((each) => each.reject(error));
            this.waiting.clear();
        };
    }

    static async open(file: File, trust: boolean): Promise<Source> {
        const source = new Source(await (idle.pop() ?? newWorker()));
        try {
            source.info = await source.ask('open', file, trust);
        } catch (error) {
            source.close();
            throw error;
        }
        return source;
    }

    close(): void {
        this.worker.terminate();
        open.delete(this);
    }

    /** Whether an answer of an open file is awaited. */
    static asks = (): boolean => [...open].some(({ waiting }) => waiting.size > 0);

    ask<M extends keyof Answers>(method: M, ...args: Asked<M>): Answer<M> {
        const id = this.next++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
            this.worker.postMessage({ id, method, args });
        });
    }

    /** Like ask(), but a request of the same name that is still running is given up. */
    askLatest<M extends keyof Answers>(name: string, method: M, ...args: Asked<M>): Answer<M> {
        const before = this.latest.get(name);
        if (before !== undefined && this.waiting.has(before)) this.worker.postMessage({ cancel: before });
        this.latest.set(name, this.next);
        return this.ask(method, ...args);
    }

    /** Where some series have counts. */
    extents = (ids: string[]): Promise<AddressRange[]> => remembered(this.known, `extents ${ids}`, () => this.ask('extents', ids));

    /** The axis that shows all addresses of some series. */
    axis(ids: string[]): Promise<Axis> {
        const unit = Math.max(1, ...this.info.series.filter((each) => ids.includes(each.id)).map((each) => each.unit));
        return remembered(this.axes, `axis ${ids}`, async () => axisOf(await this.extents(ids), unit));
    }
}
