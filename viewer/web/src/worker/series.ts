// SPDX-License-Identifier: BSD-3-Clause
// A series in the file: sorted columns (phase, address, counts), read in blocks, and the pyramid over them.
import { joined } from '../numbers';
import type { Axis, SeriesInfo } from '../protocol';
import { firstThat } from './addresses';
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

/** Rows of a series as columns: addresses as halves; `second` are the misses of levels, else 0. */
export interface Rows {
    count: number;
    address: Uint32Array;
    span: Uint32Array;
    phase: Uint32Array | null;
    func: Uint32Array | null;
    first: Float64Array;
    second: Float64Array;
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
        return this.store.has(path) ? this.readFrom(path, 'address', 0, this.store.rows(`${path}/address`), true, false) : null;
    }

    private path(column: string): string {
        return `${this.info.path}/${column}`;
    }

    private readFrom(path: string, address: string, first: number, last: number, withPhase: boolean, withFunction: boolean): Rows {
        const { store, isLevel } = this;
        const words = (column: string, wanted: boolean) => (wanted ? store.words(`${path}/${column}`, first, last) : null);
        return {
            count: last - first,
            address: store.halves(`${path}/${address}`, first, last),
            span: words('span', store.has(`${path}/span`)) ?? new Uint32Array(last - first).fill(1),
            phase: words('phase', withPhase),
            func: words('function', withFunction && this.hasFunctions),
            first: store.numbers(`${path}/${isLevel ? 'accesses' : 'count'}`, first, last),
            second: isLevel ? store.numbers(`${path}/misses`, first, last) : new Float64Array(last - first),
        };
    }

    /** Visits rows of the ranges block by block. */
    async visit(ranges: [number, number][], token: Token, see: (rows: Rows) => void, withPhase = false, withFunction = false): Promise<void> {
        for (const [from, to] of ranges) {
            for (let at = from; at < to;) {
                const end = Math.min(to, (Math.floor(at / block) + 1) * block);
                see(this.readFrom(this.info.path, this.addressColumn, at, end, withPhase, withFunction));
                at = end;
                if (at < to) await breathe(token);
            }
        }
        await breathe(token);
    }

    /** The block of a column that a row lies in, from a small cache, for searches; and the row's place in it. */
    private cached(column: string, row: number, halves: boolean): [Uint32Array, number] {
        const index = Math.floor(row / cachedBlock);
        const key = `${column}:${index}`;
        let found = this.cache.get(key);
        if (!found) {
            const to = Math.min(this.rows, (index + 1) * cachedBlock);
            found = halves ? this.store.halves(this.path(column), index * cachedBlock, to) : this.store.words(this.path(column), index * cachedBlock, to);
            if (this.cache.size >= 64) this.cache.delete(this.cache.keys().next().value as string);
            this.cache.set(key, found);
        }
        return [found, row % cachedBlock];
    }

    /** Row where each phase begins, and one behind the last. */
    phaseStarts(): Float64Array {
        if (this.starts) return this.starts;
        const { phases } = this.info;
        const starts = new Float64Array(phases + 1).fill(this.rows);
        starts[0] = 0;
        for (let phase = 1; phase < phases; ++phase)
            starts[phase] = firstThat(starts[phase - 1], this.rows, (row) => this.phaseOf(row) >= phase);
        this.starts = starts;
        return starts;
    }

    private phaseOf(row: number): number {
        const [phases, at] = this.cached('phase', row, false);
        return phases[at];
    }

    private addressOf(row: number): bigint {
        const [halves, at] = this.cached(this.addressColumn, row, true);
        return (BigInt(halves[2 * at + 1]) << 32n) | BigInt(halves[2 * at]);
    }

    /** Ranges of rows of these phases; adjacent ones are united. */
    ranges(phases: number[] | null): [number, number][] {
        if (phases === null) return [[0, this.rows]];
        const starts = this.phaseStarts();
        const some = [...phases].sort((a, b) => a - b).filter((phase) => starts[phase] < starts[phase + 1]);
        return joined(some.map((phase) => [starts[phase], starts[phase + 1]]));
    }

    /** Whether rows of some phases are found by searching: they ascend, and the phases are few. */
    findsRows(phases: number[] | null): boolean {
        return this.sorted && (phases?.length ?? this.info.phases) <= 64;
    }

    /** Rows of each of these phases on an axis. Only where they are found by searching. */
    windows(phases: number[] | null, { segments }: Axis): [number, number][] {
        const starts = this.phaseStarts();
        const chosen = (phases ?? Array.from({ length: this.info.phases }, (_, i) => i)).filter((phase) => phase >= 0 && phase < this.info.phases);
        // a count for several lines may begin before
        const lead = BigInt(this.info.unit) * (this.hasSpan ? 4096n : 1n);
        const found = segments.flatMap(({ base, bytes }) =>
            chosen.flatMap((phase): [number, number][] => {
                const first = firstThat(starts[phase], starts[phase + 1], (row) => this.addressOf(row) >= base - lead);
                const last = firstThat(first, starts[phase + 1], (row) => this.addressOf(row) >= base + BigInt(bytes));
                return first < last ? [[first, last]] : [];
            }),
        );
        // windows of segments that lie near each other overlap: each row is read once
        return joined(found.sort((a, b) => a[0] - b[0]));
    }
}
