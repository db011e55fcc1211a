// SPDX-License-Identifier: BSD-3-Clause
// The worker: has the file open and answers the page.
import './quiet';
import type { FileInfo, Quantity, Axis, Phases, Requests, Stretch } from '../protocol';
import { cut } from './buckets';
import { Counts } from './counts';
import { factsOf } from './facts';
import { NoDigests } from './digests';
import { FileError, Store } from './h5';
import { Cancelled, Series, type Token } from './series';

interface Request {
    id: number;
    method: string;
    args: unknown[];
}

const running = new Map<number, Token>();
const counts = new Counts();
let store: Store;
let info: FileInfo;
const series = new Map<string, Series>();

function seriesOf(id: string): Series {
    let found = series.get(id);
    if (!found) {
        const facts = info.series.find((each) => each.id === id);
        if (!facts) throw new FileError(`The file has no series ${id}.`);
        found = new Series(store, facts);
        series.set(id, found);
    }
    return found;
}

async function open(source: File | { name: string; bytes: ArrayBuffer }, trust: boolean): Promise<FileInfo> {
    const blob = source instanceof File ? source : new Blob([source.bytes]);
    store = await Store.open(source.name, blob, trust);
    try {
        info = factsOf(store, source.name, blob.size);
    } catch (error) {
        if (error instanceof FileError && error.message.startsWith(source.name)) throw error;
        if (error instanceof FileError) throw new FileError(`${source.name}: ${error.message}`);
        const why = store.fault || (error instanceof Error ? error.message : String(error));
        throw new FileError(`${source.name} is damaged: ${why}`);
    }
    return info;
}

/** The addresses that errors of sweeps are about: all structures but stacks. */
function dataRanges(): [bigint, bigint][] {
    return info.structures
        .filter((each) => each.bytes > 0 && !each.name.startsWith('stack'))
        .map(({ base, bytes }) => [base, base + BigInt(bytes)]);
}

async function answer(method: string, args: unknown[], token: Token): Promise<unknown> {
    switch (method) {
        case 'open':
            return open(args[0] as File, args[1] as boolean);
        case 'extents':
            return counts.extents((args[0] as string[]).map(seriesOf), token);
        case 'buckets': {
            const [id, quantity, phases, axis, stretch] = args as [string, Quantity, Phases, Axis, Stretch];
            return counts.buckets(seriesOf(id), quantity, phases, axis, stretch, token);
        }
        case 'heat': {
            const [id, quantity, axis, x0, x1, columns, most] = args as [
                string,
                Quantity,
                Axis,
                number,
                number,
                number,
                number,
            ];
            return counts.heat(seriesOf(id), quantity, axis, x0, x1, columns, most, token);
        }
        case 'phaseSums':
            return counts.phaseSums(seriesOf(args[0] as string), args[1] as Axis, args[2] as [number, number] | null, token);
        case 'selected': {
            const [id, quantity, phases, axis, x0, x1, most, sets] = args as Requests['selected']['args'];
            return counts.selected(seriesOf(id), quantity, phases, cut(axis, x0, x1), most, sets, info.functions, token);
        }
        case 'counters':
            return store.numbers(`${args[0] as string}/${args[1] as string}`);
        case 'coarse': {
            const [id, group, axis, stretch] = args as [string, number, Axis, Stretch];
            return counts.coarse(seriesOf(id), group, axis, dataRanges(), stretch, token);
        }
        default:
            throw new Error(`unknown request ${method}`);
    }
}

self.onmessage = async (event: MessageEvent<Request | { cancel: number }>) => {
    if ('cancel' in event.data) {
        const token = running.get(event.data.cancel);
        if (token) token.cancelled = true;
        return;
    }
    const { id, method, args } = event.data;
    const token: Token = { cancelled: false };
    running.set(id, token);
    try {
        self.postMessage({ id, result: await answer(method, args, token) });
    } catch (thrown) {
        // where bytes are damaged the library says that, and names nothing
        const error = thrown instanceof FileError || !store?.fault ? thrown : new FileError(store.fault);
        const cancelled = thrown instanceof Cancelled;
        const message = error instanceof Error ? error.message : String(error);
        const untrusted = error instanceof NoDigests;
        self.postMessage({ id, error: message, cancelled, fault: error instanceof FileError, untrusted });
    } finally {
        running.delete(id);
    }
};
