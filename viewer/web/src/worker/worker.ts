// SPDX-License-Identifier: BSD-3-Clause
// The worker: has the file open and answers the page.
import './quiet';
import { rangeOf } from '../axis';
import { coreReady, cut } from '../core';
import { FileError, messageOf, replyKinds, type Axis, type FileInfo, type Phases, type Quantity, type Reply, type Stretch } from '../protocol';
import { remembered } from '../remembered';
import * as counts from './counts';
import { factsOf, missesBySite } from './facts';
import { openStore, type Store } from './h5';
import { reuseIn } from './tables';
import { seriesIn, type Series, type Token } from './series';

/** The last request of each name, which gives way to the next. */
const latest = new Map<string, Token>();
let store: Store;
let info: FileInfo;
let reuse: ReturnType<typeof reuseIn>;
const series = new Map<string, Series>();

/** "combined/L1@256,16#conflict": in blocks as a reduced copy has them, with misses of a cause. */
const seriesOf = (id: string): Series =>
    remembered(series, id, () => {
        const [whole, cause] = id.split('#');
        const [path, blocks] = whole.split('@');
        const facts = info.series.find((each) => each.id === path);
        if (!facts) throw new FileError(`The file has no series ${id}.`);
        return seriesIn(store, { ...facts, id, reduced: blocks ?? facts.reduced }, blocks, cause);
    });

async function open(source: File, trust: boolean): Promise<FileInfo> {
    await coreReady;
    store = await openStore(source.name, source, trust);
    try {
        info = factsOf(store, source.name, source.size);
        reuse = reuseIn(store, info.reuse);
    } catch (error) {
        if (error instanceof FileError && error.message.startsWith(source.name)) throw error;
        if (error instanceof FileError) throw new FileError(`${source.name}: ${error.message}`);
        const why = store.fault() || messageOf(error);
        throw new FileError(`${source.name} is damaged: ${why}`);
    }
    return info;
}

/** The addresses that errors of sweeps are about: all structures but stacks and the heap. */
const dataRanges = () => info.structures.filter((each) => each.bytes > 0 && !each.heap && !each.name.startsWith('stack')).map(rangeOf);

/** What the page may ask; the first argument is a token of the request. */
const answers = {
    open: (_: Token, source: File, trust: boolean) => open(source, trust),
    /** Of a program: misses in some levels by row of sites, and these by cause. */
    misses: (_: Token, levels: string[]) => missesBySite(store, info, levels),
    extents: (token: Token, ids: string[]) => counts.extents(ids.map(seriesOf), token),
    buckets: (token: Token, id: string, quantity: Quantity, phases: Phases, axis: Axis, stretch: Stretch) =>
        counts.buckets({ series: seriesOf(id), phases, axis, token }, quantity, stretch),
    heat: (token: Token, id: string, quantity: Quantity, axis: Axis, x0: number, x1: number, columns: number, phases: number) =>
        counts.heatOf(seriesOf(id), quantity, axis, x0, x1, columns, phases, token),
    /** Of stretches of the axis: so many lines, and sets of a cache (0: none). */
    selected: (token: Token, id: string, quantity: Quantity, phases: Phases, axis: Axis, stretches: [number, number][], most: number, sets: number) =>
        counts.selected({ series: seriesOf(id), phases, axis: { ...axis, segments: stretches.flatMap((each) => cut(axis, ...each).segments) }, token }, quantity, most, sets, info.functions),
    /** Of x0 .. x1 of the axis; null: of all. */
    phaseSums: (token: Token, id: string, axis: Axis, stretch: [number, number] | null) => counts.phaseSums(seriesOf(id), axis, stretch, token),
    /** Exact counts of a sweep, and those in groups of so many lines. */
    coarse: (token: Token, id: string, group: number, axis: Axis, stretch: Stretch) =>
        counts.coarse({ series: seriesOf(id), phases: null, axis, token }, group, dataRanges(), stretch),
    /** Reuse distances of structures by name and phases; null: of all. */
    reuse: (_: Token, structures: string[] | null, phases: Phases) => reuse(structures, phases),
};

export type Answers = typeof answers;

/** `name`: empty where a request gives way to none. */
self.onmessage = async ({ data: { id, name, method, args } }: MessageEvent<{ id: number; name: string; method: keyof Answers; args: unknown[] }>) => {
    const token: Token = { cancelled: false };
    Object.assign(latest.get(name) ?? {}, { cancelled: true });
    if (name) latest.set(name, token);
    try {
        const result = await (answers[method] as (token: Token, ...args: unknown[]) => unknown)(token, ...args);
        // rows of sites, the longest of what is told at once, are the page's alone: not copied
        const columns = method === 'open' ? info.attribution?.columns : method === 'misses' ? (result as Record<string, Float64Array>) : {};
        self.postMessage({ id, result }, Object.values(columns ?? {}).map(({ buffer }) => buffer));
    } catch (thrown) {
        // where bytes are damaged the library says that, and names nothing
        const error = thrown instanceof FileError || !store?.fault() ? thrown : new FileError(store.fault());
        const kind = replyKinds.findIndex((each) => error instanceof each);
        self.postMessage({ id, error: messageOf(error), kind } satisfies Reply);
    }
};
