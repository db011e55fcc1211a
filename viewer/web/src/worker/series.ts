// SPDX-License-Identifier: BSD-3-Clause
// A series in the file: sorted columns (phase, address, counts), read in blocks, and the pyramid over them.
import type { SeriesInfo } from '../protocol';
import type { Store } from './h5';

/** A request that may be given up meanwhile. */
export interface Token {
    cancelled: boolean;
}

export class Cancelled extends Error {}

const block = 262144;
const cachedBlock = 65536;
const channel = new MessageChannel();
let wake: (() => void)[] = [];
channel.port1.onmessage = () => {
    const waiting = wake;
    wake = [];
    waiting.forEach((resume) => resume());
};

/** Lets messages in; throws where the request was given up. */
export async function breathe(token: Token): Promise<void> {
    await new Promise<void>((resolve) => {
        wake.push(resolve);
        channel.port2.postMessage(0);
    });
    if (token.cancelled) throw new Cancelled();
}

/** Rows of a series as columns: addresses as halves; `second` are the misses of levels. */
export interface Rows {
    count: number;
    address: Uint32Array;
    span: Uint32Array | null;
    phase: Uint32Array | null;
    func: Uint32Array | null;
    first: Float64Array;
    second: Float64Array | null;
}

export interface PyramidLevel {
    /** Lines per block. */
    units: number;
    path: string;
    rows: number;
}

export class Series {
    readonly isLevel: boolean;
    readonly hasFunctions: boolean;
    /** True where rows of a phase ascend by address: no functions, addresses as written. */
    readonly sorted: boolean;
    /** Coarsest last; empty where it cannot serve. */
    readonly pyramid: PyramidLevel[] = [];
    private readonly addressColumn: string;
    private readonly hasSpan: boolean;
    private starts: Float64Array | null = null;
    private readonly cache = new Map<string, Uint32Array>();

    constructor(
        readonly store: Store,
        readonly info: SeriesInfo,
    ) {
        const children = store.children(info.path);
        this.isLevel = info.kind === 'level';
        const mapped = children.includes('virtual_address');
        this.addressColumn = mapped ? 'virtual_address' : 'address';
        this.hasFunctions = children.includes('function');
        this.hasSpan = children.includes('span');
        this.sorted = !mapped && !this.hasFunctions;
        if (children.includes('pyramid') && !mapped) {
            for (let i = 1; store.has(`${info.path}/pyramid/level${i}`); ++i) {
                const path = `${info.path}/pyramid/level${i}`;
                const units = Number(store.attributes(path).units);
                this.pyramid.push({ units, path, rows: store.rows(`${path}/address`) });
            }
        }
    }

    get rows(): number {
        return this.info.rows;
    }

    /** Of reduced copies: the rows with the highest counts, as they were. */
    topRows(): Rows | null {
        const path = `${this.info.path}/top`;
        const { store } = this;
        if (!store.has(path)) return null;
        const count = store.rows(`${path}/address`);
        return {
            count,
            address: store.halves(`${path}/address`, 0, count),
            span: store.words(`${path}/span`, 0, count),
            phase: store.words(`${path}/phase`, 0, count),
            func: null,
            first: store.numbers(`${path}/${this.isLevel ? 'accesses' : 'count'}`),
            second: this.isLevel ? store.numbers(`${path}/misses`) : null,
        };
    }

    private path(column: string): string {
        return `${this.info.path}/${column}`;
    }

    /** Rows first .. last - 1. */
    read(first: number, last: number, withPhase: boolean, withFunction: boolean): Rows {
        const { store } = this;
        return {
            count: last - first,
            address: store.halves(this.path(this.addressColumn), first, last),
            span: this.hasSpan ? store.words(this.path('span'), first, last) : null,
            phase: withPhase ? store.words(this.path('phase'), first, last) : null,
            func: withFunction && this.hasFunctions ? store.words(this.path('function'), first, last) : null,
            first: store.numbers(this.path(this.isLevel ? 'accesses' : 'count'), first, last),
            second: this.isLevel ? store.numbers(this.path('misses'), first, last) : null,
        };
    }

    /** Visits rows of the ranges block by block. */
    async visit(
        ranges: [number, number][],
        token: Token,
        see: (rows: Rows) => void,
        withPhase = false,
        withFunction = false,
    ): Promise<void> {
        for (const [from, to] of ranges) {
            for (let at = from; at < to;) {
                const end = Math.min(to, (Math.floor(at / block) + 1) * block);
                see(this.read(at, end, withPhase, withFunction));
                at = end;
                if (at < to) await breathe(token);
            }
        }
        await breathe(token);
    }

    /** A block of a column from a small cache, for searches. */
    private cached(column: string, index: number, halves: boolean): Uint32Array {
        const key = `${column}:${index}`;
        let found = this.cache.get(key);
        if (!found) {
            const from = index * cachedBlock;
            const to = Math.min(this.rows, from + cachedBlock);
            const path = this.path(column);
            found = halves ? this.store.halves(path, from, to) : this.store.words(path, from, to);
            if (this.cache.size >= 64) this.cache.delete(this.cache.keys().next().value as string);
            this.cache.set(key, found);
        }
        return found;
    }

    /** Row where each phase begins, and one behind the last. */
    phaseStarts(): Float64Array {
        if (this.starts) return this.starts;
        const { phases } = this.info;
        const starts = new Float64Array(phases + 1).fill(this.rows);
        starts[0] = 0;
        if (phases <= 64) {
            for (let phase = 1; phase < phases; ++phase) {
                starts[phase] = this.search(starts[phase - 1], this.rows, (row) => this.phaseOf(row) >= phase);
            }
        } else {
            let next = 0;
            for (let at = 0; at < this.rows; at += block) {
                const column = this.store.words(this.path('phase'), at, Math.min(this.rows, at + block));
                for (let i = 0; i < column.length; ++i)
                    while (next <= column[i] && next <= phases) starts[next++] = at + i;
            }
        }
        this.starts = starts;
        return starts;
    }

    private phaseOf(row: number): number {
        return this.cached('phase', Math.floor(row / cachedBlock), false)[row % cachedBlock];
    }

    private addressOf(row: number): bigint {
        const halves = this.cached(this.addressColumn, Math.floor(row / cachedBlock), true);
        const at = (row % cachedBlock) * 2;
        return (BigInt(halves[at + 1]) << 32n) | BigInt(halves[at]);
    }

    /** The first row in from .. to for which `after` holds, or `to`; rows for which it holds come last. */
    private search(from: number, to: number, after: (row: number) => boolean): number {
        while (from < to) {
            const middle = Math.floor((from + to) / 2);
            if (after(middle)) to = middle;
            else from = middle + 1;
        }
        return from;
    }

    /** Ranges of rows of these phases; adjacent ones are united. */
    ranges(phases: number[] | null): [number, number][] {
        if (phases === null) return [[0, this.rows]];
        const starts = this.phaseStarts();
        const ranges: [number, number][] = [];
        for (const phase of [...phases].sort((a, b) => a - b)) {
            if (phase < 0 || phase >= this.info.phases || starts[phase] === starts[phase + 1]) continue;
            const last = ranges.at(-1);
            if (last && last[1] === starts[phase]) last[1] = starts[phase + 1];
            else ranges.push([starts[phase], starts[phase + 1]]);
        }
        return ranges;
    }

    /** Rows of each of these phases with addresses in from .. to. Only where rows are sorted. */
    window(phases: number[] | null, from: bigint, to: bigint): [number, number][] {
        const starts = this.phaseStarts();
        const chosen = phases ?? Array.from({ length: this.info.phases }, (_, i) => i);
        const ranges: [number, number][] = [];
        for (const phase of chosen) {
            if (phase < 0 || phase >= this.info.phases) continue;
            // a count for several lines may begin before
            const lead = this.hasSpan ? BigInt(this.info.unit) * 4096n : BigInt(this.info.unit);
            const early = from > lead ? from - lead : 0n;
            const first = this.search(starts[phase], starts[phase + 1], (row) => this.addressOf(row) >= early);
            const last = this.search(first, starts[phase + 1], (row) => this.addressOf(row) >= to);
            if (first < last) ranges.push([first, last]);
        }
        return ranges;
    }
}
