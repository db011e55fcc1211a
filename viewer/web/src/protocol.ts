// SPDX-License-Identifier: BSD-3-Clause
// What the page and its worker say to each other: facts of a file, and counts over addresses.
import { range } from 'd3-array';
import type { Parameter } from './points';
import { once } from './remembered';
import type { factsOf } from './worker/facts';
import type { intrusionOf, probeOf, reuseIn, validationOf } from './worker/tables';

/** Something is wrong with a file; the message is for people, to whom the page tells it ("filefault"). */
export class FileError extends Error {}

/** A file that has no digests; it can be read as it is. */
export class NoDigests extends FileError {}

/** A request was given up, as another takes its place. */
export class Superseded extends Error {}

/** What a request may fail by, the most special first. */
export const replyKinds = [Superseded, NoDigests, FileError, Error];
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
/** What the worker answers; `kind`: of the error. */
export type Reply = { id: number; result?: unknown; error?: string; kind?: number };
/** A column of numbers, one per phase or structure. */
export type Column = Float64Array;

/** A cache, TLB or memory with its counters; what coherence did at a component; a link that takes time. */
export interface Component {
    name: string; group: 'levels' | 'tlbs' | 'memories' | 'coherence' | 'buses' | 'numa';
    /** Sums over the run. */
    totals: Record<string, number>;
    /** Of caches loads, stores and fetches, of TLBs accesses, and how many missed, by phase; null: of others. */
    accesses: Column | null; misses: Column | null;
}

export interface Structure {
    name: string; base: bigint; bytes: number; elementBytes: number;
    /** Of two-dimensional arrays: elements of a row; 0: it is none. `heap`: it is a block of an allocation. */
    rowElements: number; heap: boolean;
}

/** Something counted over addresses: a level's accesses and misses, the events of a link, what a monitor gave. */
export interface SeriesInfo {
    /** `path`: of the group in the file. `owner`: the level, link or monitor. */
    id: string; path: string; owner: string;
    kind: 'level' | 'link' | 'monitor' | 'exact';
    /** For links: the kind of event. `unit`: bytes of a line. */
    event: string; unit: number;
    rows: number; phases: number;
    /** True where addresses are not those of the program and no column has these. */
    physical: boolean;
    /** Of a reduced copy: lines of its rows, which are blocks, and of the finest of its pyramid, which knows the least and most of lines; else empty. */
    reduced: string;
    /** Of levels: rows tell misses by cause. */
    causes: boolean;
}

/** A row of a table of the file, or the attributes of a group: by the names that docs/format.md gives. */
export type TableRow = { texts: Record<string, string>; numbers: Record<string, number> };
/** A table of the file, by columns. */
export type Columns = { count: number; texts: Record<string, Parameter>; numbers: Record<string, Float64Array> };

/** The rows of a table. What they have is looked up when it is asked for: there may be hundreds of thousands. */
export const rowsIn = once((table: Columns): TableRow[] => {
    const texts = lookUp(table.texts, ({ values, of }, row) => String(values[of[row]] ?? ''));
    const numbers = lookUp(table.numbers, (column, row) => column[row]);
    return range(table.count).map((row) => ({ texts: texts(row), numbers: numbers(row) }));
});

function lookUp<C, V>(columns: Record<string, C>, at: (column: C, row: number) => V): (row: number) => Record<string, V> {
    class Row { constructor(readonly row: number) {} }
    for (const [name, column] of Object.entries(columns)) Object.defineProperty(Row.prototype, name, { get: function (this: Row) { return at(column, this.row); } });
    return (row) => new Row(row) as unknown as Record<string, V>;
}

/** Causes of misses as columns of the file are named by them (docs/causes.md). */
export const causes = ['first_use', 'invalidated', 'capacity', 'conflict'];
/** What rows of sites are put together by: the number of a name by site; -1: none. */
export type Grouping = { id: 'structures' | 'fields' | 'functions' | 'lines'; of: Int32Array; names: string[] };

/** All that the page knows of a file before it draws. */
export type FileInfo = ReturnType<typeof factsOf>;
export type LinkInfo = FileInfo['links'][number];
export type IntrusionInfo = ReturnType<typeof intrusionOf>;
export type ProbeInfo = ReturnType<typeof probeOf>;
export type ProbeCurve = ProbeInfo['curves'][number];
export type ValidationInfo = ReturnType<typeof validationOf>;
export type ReuseSums = ReturnType<ReturnType<typeof reuseIn>>[number];
/** Addresses: from, and one behind the last. */
export type AddressRange = [bigint, bigint];

/** A stretch of addresses that the axis shows. Offsets on the axis are bytes without the holes between stretches. */
export interface Segment {
    base: bigint; bytes: number;
    /** Where it begins on the axis. */
    start: number;
    /** It is the rest of one: a line in which it begins belongs to what was before. */
    rest?: boolean;
}

/** The axis of addresses: stretches with a gap between each two. */
export type Axis = { segments: Segment[]; bytes: number };
/** Which phases: null = all. */
export type Phases = number[] | null;
/** What is asked for of an axis: columns of x0 .. x1, of which `sight` is what can be seen. */
export type Stretch = { x0: number; x1: number; count: number; sight: [number, number] };

/** Counts per column of an axis: the lines in it that have any, their sum, least and most. */
export interface Buckets {
    x0: number; x1: number;
    /** Lines per column with counts. */
    touched: Float64Array;
    sum: Float64Array; min: Float64Array; max: Float64Array;
    /** Sum over all that the series has in these phases, on the axis or not. */
    total: number;
    /** Bytes of the blocks that it was made of: a line, or a block of a pyramid. */
    grain: number;
    /** What all but a hundredth of the lines in sight reach, and how many lie above it; of pyramids columns instead of lines. */
    clip: number; above: number;
    /** Of a difference: the two whose sums it is of, the second less the first; least and most are of the means by column. */
    parts?: [Buckets, Buckets];
}

export function emptyBuckets(x0: number, x1: number, count: number, grain: number): Buckets {
    const [touched, sum, min, max] = [0, 0, Infinity, 0].map((each) => new Float64Array(count).fill(each));
    return { x0, x1, touched, sum, min, max, total: 0, grain, clip: Infinity, above: 0 };
}

/** Up to here rows are simply read; above, pyramids and searches serve as far as they can. */
export const fewRows = 2_000_000;
/** What of a series is asked for. Hits, misses and rates are of levels alone. */
export type Quantity = 'accesses' | 'misses' | 'hits' | 'missrate' | 'count';

/** What a stretch of the axis holds: the lines with most of what is shown, lines by cache set, events by function. */
export interface Selected {
    /** `lines`: NaN: too many to look at each. */
    lines: number; first: number; second: number;
    /** Most first. */
    worst: { address: bigint; first: number; second: number }[];
    /** Lines of the stretch that have counts, by set; empty where it was not asked for. */
    sets: Column; functions: { name: string; count: number }[];
    /** Misses by cause; empty where rows do not tell it. */
    causes: number[];
}

/** Means per line and phase, by phase (rows) and column of the axis: sums over weights, so that cells can be put together. */
export interface Heat {
    rows: number; columns: number;
    sum: Float64Array;
    /** Lines that have any counts, times phases, below 0: not accessed; of rates accesses. A line that lies in a cell in part counts by that part. */
    weight: Float64Array;
    /** First phase of each row, and one behind the last. */
    edges: number[];
    /** Differences of such means. */
    signed?: boolean;
}
