// SPDX-License-Identifier: BSD-3-Clause
// A series in the file: sorted columns (phase, address, counts), read in blocks, and the pyramid over them.
import { range } from 'd3-array';
import { call } from '../core';
import { joined } from '../numbers';
import { causes, Superseded, type Axis, type SeriesInfo } from '../protocol';
import { rememberedLast } from '../remembered';
import type { Store } from './h5';

/** A request that may be given up meanwhile. */
export type Token = { cancelled: boolean };

const [readAtOnce, cachedBlock] = [262144, 65536];

/** Lets messages in, sooner than a timer would; throws where the request was given up. */
async function breathe(token: Token): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
        port1.onmessage = resolve;
        port2.postMessage(0);
    });
    port1.close();
    if (token.cancelled) throw new Superseded();
}

/** The first number in from .. to for which something holds, or `to`; it holds for all behind it, too. */
function firstThat(from: number, to: number, holds: (at: number) => boolean): number {
    let [first, last] = [from, to];
    while (first < last) {
        const middle = Math.floor((first + last) / 2);
        if (holds(middle)) last = middle;
        else first = middle + 1;
    }
    return first;
}

const none = new Uint32Array();

export type Series = ReturnType<typeof seriesIn>;
export type PyramidLevel = Series['pyramid'][number];

/** `blocks`: what rows are put together to, and the finest of the pyramid; `misses`: their column, of a cause or all. */
export function seriesIn(store: Store, info: SeriesInfo, blocks = '1,0', misses = 'misses') {
    const children = store.children(info.path);
    const [block, finest] = blocks.split(',').map(Number);
    const [isLevel, ofCause] = [info.kind === 'level', misses !== 'misses'];
    const mapped = children.includes('virtual_address');
    const addressColumn = mapped ? 'virtual_address' : 'address';
    const hasFunctions = children.includes('function');
    /** Whether rows of a phase ascend by address: no functions, addresses as written. */
    const sorted = !mapped && !hasFunctions && block === 1;
    /** Lines per block, and where they are: coarsest last; empty where it cannot serve. */
    const pyramid: { units: number; path: string; rows: number }[] = [];
    for (let i = 1; !mapped && store.has(`${info.path}/pyramid/level${i}`); ++i) {
        const path = `${info.path}/pyramid/level${i}`;
        const units = Number(store.attributes(path).units);
        if (units >= finest) pyramid.push({ path, units, rows: store.rows(`${path}/address`) });
    }
    let starts: Float64Array | null = null;
    const cache = new Map<string, Uint32Array | BigUint64Array>();
    const allPhases = range(info.phases);

    /** Rows as columns; empty: of one line each, not told apart, of levels alone. */
    function readFrom(path: string, address: string, first: number, last: number, withPhase: boolean, withFunction: boolean, columns = [misses]) {
        const words = (column: string, wanted: boolean) => (wanted ? store.words(`${path}/${column}`, first, last) : none);
        return {
            address: store.addresses(`${path}/${address}`, first, last),
            span: words('span', store.has(`${path}/span`)),
            phase: words('phase', withPhase),
            func: words('function', withFunction && hasFunctions),
            first: store.numbers(`${path}/${isLevel ? 'accesses' : 'count'}`, first, last),
            second: columns.map((column) => (isLevel ? store.numbers(`${path}/${column}`, first, last) : new Float64Array())),
        };
    }

    /** Of reduced copies: the rows with the highest counts, as they were. */
    function topRows() {
        const path = `${info.path}/top`;
        return store.has(path) ? readFrom(path, 'address', 0, store.rows(`${path}/address`), true, false) : null;
    }

    /** Adds rows of some phases and a part of an axis (see ranges()), block by block, to what the core holds; to several all misses and those of each cause. */
    async function visit(phases: number[] | null, part: Axis | null, token: Token, into: number[], withPhase = false, withFunction = false): Promise<void> {
        const columns = into.length > 1 ? ['misses', ...causes] : [misses];
        // of all phases the file may have sums
        const path = phases || withPhase || block > 1 || columns.length > 1 || ofCause || !store.has(`${info.path}/lines`) ? info.path : `${info.path}/lines`;
        for (const [from, to] of path === info.path ? ranges(phases, part) : [[0, store.rows(`${path}/address`)]]) {
            for (let at = from; at < to; ) {
                const end = Math.min(to, (Math.floor(at / readAtOnce) + 1) * readAtOnce);
                const { address, span, phase, func, first, second } = readFrom(path, addressColumn, at, end, withPhase, withFunction, columns);
                into.forEach((each, i) => call('add', each, address, span, phase, func, first, second[i], info.unit, block));
                at = end;
                if (at < to) await breathe(token);
            }
        }
        await breathe(token);
    }

    /** Adds where the blocks of a pyramid are. */
    function addBlocks({ path, units }: PyramidLevel, into: number): void {
        const counts = new Float64Array();
        call('add', into, store.addresses(`${path}/address`), none, none, none, counts, counts, units * info.unit, 1);
    }

    /** The block of a column that a row lies in, from a small cache, for searches; and the row's place in it. */
    function cached(column: string, row: number, read: 'addresses' | 'words') {
        const index = Math.floor(row / cachedBlock);
        const end = Math.min(info.rows, (index + 1) * cachedBlock);
        const make = () => store[read](`${info.path}/${column}`, index * cachedBlock, end);
        return rememberedLast(cache, `${column}:${index}`, make, ({ size }) => size > 64)[row % cachedBlock];
    }

    const phaseOf = (row: number): number => Number(cached('phase', row, 'words'));
    const addressOf = (row: number): bigint => BigInt(cached(addressColumn, row, 'addresses'));

    /** Row where each phase begins, and one behind the last. */
    function phaseStarts(): Float64Array {
        if (starts) return starts;
        starts = new Float64Array(info.phases + 1).fill(info.rows);
        starts[0] = 0;
        for (let phase = 1; phase < info.phases; ++phase) starts[phase] = firstThat(starts[phase - 1], info.rows, (row) => phaseOf(row) >= phase);
        return starts;
    }

    /** Ranges of rows of these phases, adjacent ones united; with an axis not many more than may lie on it, where these are found by searching. */
    function ranges(phases: number[] | null, part: Axis | null = null): [number, number][] {
        if (part && findsRows(phases) && part.segments.length <= 64) return windows(phases, part);
        if (phases === null) return [[0, info.rows]];
        const starts = phaseStarts();
        const some = [...phases].sort((a, b) => a - b).filter((phase) => starts[phase] < starts[phase + 1]);
        return joined(some.map((phase) => [starts[phase], starts[phase + 1]]));
    }

    /** Whether rows of some phases are found by searching: they ascend, and the phases are few. */
    const findsRows = (phases: number[] | null): boolean => sorted && (phases ?? allPhases).length <= 64;

    /** Rows of each of these phases on an axis. */
    function windows(phases: number[] | null, { segments }: Axis): [number, number][] {
        const starts = phaseStarts();
        const chosen = phases?.filter((phase) => phase >= 0 && phase < info.phases) ?? allPhases;
        // a count for several lines may begin before
        const lead = BigInt(info.unit) * (children.includes('span') ? 4096n : 1n);
        const found = segments.flatMap(({ base, bytes }) =>
            chosen.flatMap((phase): [number, number][] => {
                const first = firstThat(starts[phase], starts[phase + 1], (row) => addressOf(row) >= base - lead);
                const last = firstThat(first, starts[phase + 1], (row) => addressOf(row) >= base + BigInt(bytes));
                return first < last ? [[first, last]] : [];
            }),
        );
        // windows of segments that lie near each other overlap: each row is read once
        return joined(found.sort((a, b) => a[0] - b[0]));
    }

    return { store, info, ofCause, isLevel, hasFunctions, pyramid, topRows, visit, addBlocks, findsRows };
}
