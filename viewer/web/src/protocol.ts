// SPDX-License-Identifier: BSD-3-Clause
// What the page and its worker say to each other: facts of a file, and counts over addresses.

/** A column of numbers, one per phase or structure. */
export type Column = Float64Array;

/** A cache, TLB or memory with its counters; what coherence did at a component; a link that takes time. */
export interface Component {
    name: string;
    group: 'levels' | 'tlbs' | 'memories' | 'coherence' | 'buses' | 'numa';
    /** Sums over the run. */
    totals: Record<string, number>;
}

export interface Structure {
    name: string;
    base: bigint;
    bytes: number;
    elementBytes: number;
}

/** Accesses and misses of a level by structure and phase, as columns. */
export interface StructureLevel {
    name: string;
    exact: boolean;
    structure: Uint32Array;
    phase: Uint32Array;
    accesses: Column;
    misses: Column;
}

export interface MonitorInfo {
    group: string;
    name: string;
    link: string;
    spec: string;
    counters: number;
    granularity: string;
    eviction: string;
    numbers: Record<string, number>;
    events: Column;
    swapouts: Column;
    functions: { name: string; events: number }[];
}

export interface LinkInfo {
    name: string;
    from: string;
    to: string;
    virtual: boolean;
    kinds: { kind: string; events: number }[];
}

/** Something counted over addresses: a level's accesses and misses, the events of a link, what a monitor gave. */
export interface SeriesInfo {
    id: string;
    /** Path of the group in the file. */
    path: string;
    kind: 'level' | 'link' | 'monitor' | 'exact';
    /** Of the level, link or monitor. */
    owner: string;
    /** For links: the kind of event. */
    event: string;
    /** Bytes of a line. */
    unit: number;
    rows: number;
    phases: number;
    /** True where addresses are not those of the program and no column has these. */
    physical: boolean;
    /** Of a reduced copy: rows are blocks, the pyramid knows the least and most of the lines. */
    reduced: boolean;
}

export interface SweepCell {
    eviction: string;
    granularity: string;
    counters: number;
    swapouts: number;
    error: number;
    bytesPerEvent: number;
    /** What the monitor takes in hardware, and what else the file has of its cells: by column. */
    more: Record<string, number>;
    published?: { swapouts: number; error: number; misprint: boolean };
}

export interface SweepInfo {
    link: string;
    monitor: string;
    references: number;
    events: number;
    cells: SweepCell[];
}

/** What a monitor of one configuration cost the program (docs/intrusion.md). */
export interface IntrusionRow {
    link: string;
    counters: number;
    granularity: string;
    /** Records that the ring has room for. */
    capacity: number;
    drain: string;
    /** By column of /intrusion/rows. */
    numbers: Record<string, number>;
    /** More than without monitor: by link, by link, by level. */
    events: Column;
    bytes: Column;
    misses: Column;
}

export interface IntrusionInfo {
    references: number;
    /** Without monitor, as the next three. */
    cycles: number;
    events: Column;
    bytes: Column;
    misses: Column;
    links: string[];
    levels: string[];
    rows: IntrusionRow[];
}

/** Points of a response curve, or (unit "loads") how many single loads took so many cycles. */
export interface ProbeCurve {
    path: string;
    test: string;
    variant: string;
    name: string;
    xName: string;
    xUnit: string;
    /** Of the values: cycles and misses are per load. */
    unit: string;
    x: Column;
    value: Column;
    trials: Column | null;
    knockedOut: Column | null;
}

/** What a probe says of a level, and what is true. */
export interface ProbeFinding {
    test: string;
    variant: string;
    level: string;
    parameter: string;
    /** NaN where there is none, or a word. */
    value: number;
    low: number;
    high: number;
    word: string;
    unit: string;
    method: string;
    reason: string;
    truth: number;
    truthHigh: number;
    truthWord: string;
    verdict: string;
}

export interface ProbeTest {
    name: string;
    runs: number;
    references: number;
    cycles: number;
    decisions: string[];
}

export interface ProbeInfo {
    curves: ProbeCurve[];
    findings: ProbeFinding[];
    tests: ProbeTest[];
}

/** Why a level misses, and what evicts what in it (docs/causes.md): rows of structures and phases. */
export interface CauseLevel {
    name: string;
    /** Names of structures. */
    structures: string[];
    /** `counts`: first use, invalidated, capacity, conflict. */
    misses: { structure: Column; phase: Column; counts: Column[] };
    evictions: { by: Column; victim: Column; phase: Column; count: Column };
}

/** What rows of sites are put together by: the number of a name by site; -1: none. */
export interface Grouping {
    id: 'structures' | 'fields' | 'functions' | 'lines';
    title: string;
    of: Int32Array;
    names: string[];
}

/** Which code and data of a program miss (docs/programs.md): a row per site and phase (and core). */
export interface AttributionInfo {
    site: Column;
    phase: Column;
    /** With --per-core. */
    core: Column | null;
    counts: { title: string; values: Column }[];
    /** Of levels whose causes are known: first use, invalidated, capacity, conflict. */
    causes: { level: string; counts: Column[] }[];
    groupings: Grouping[];
}

/** Misses after invalidations by stores of other cores (docs/causes.md, "Sharing"): a row per line, who missed and who stored. */
export interface SharingInfo {
    levels: string[];
    lineBytes: number;
    level: Column;
    phase: Column;
    core: Column;
    byCore: Column;
    /** Of the line; exact below 2^53. */
    address: Column;
    trueSharing: Column;
    falseSharing: Column;
}

/** How often a test was right about a parameter, over all levels of all machines. */
export interface Score {
    test: string;
    variant: string;
    parameter: string;
    right: number;
    wrong: number;
    notIdentifiable: number;
}

/** Probes on random machines (docs/probes.md). */
export interface CampaignInfo {
    machines: number;
    seed: number;
    noise: string;
    references: number;
    /** Tests that have no such variant, in words. */
    leftOut: string;
    scores: Score[];
    worst: { machine: number; wrong: number; notIdentifiable: number; findings: string }[];
}

export interface FileInfo {
    name: string;
    bytes: number;
    kind: 'run' | 'sweep' | 'probe' | 'intrusion' | 'validate';
    complete: boolean;
    incomplete: string;
    failure: string;
    /** For copies in reports: what was left out, in words; else empty. */
    reduced: string;
    input: string;
    settings: string[];
    machine: { name: string; cores: number; period: number; yaml: string };
    check: { passed: boolean; meaning: string; residual: number; bound: number } | null;
    run: { references: number; cycles: number; pageWalks: number } | null;
    phases: { names: string[]; references: Column; cycles: Column; pageWalks: Column };
    components: Component[];
    links: LinkInfo[];
    monitors: MonitorInfo[];
    structures: Structure[];
    structureLevels: StructureLevel[];
    /** Empty where the run did not look for them. */
    causes: CauseLevel[];
    /** Of programs and their recordings. */
    attribution: AttributionInfo | null;
    /** Of coherent machines, with --causes. */
    sharing: SharingInfo | null;
    functions: string[];
    sweep: SweepInfo | null;
    probe: ProbeInfo | null;
    intrusion: IntrusionInfo | null;
    campaign: CampaignInfo | null;
    series: SeriesInfo[];
    provenance: [string, string][];
    warnings: string[];
}

/** A stretch of addresses that the axis shows. Offsets on the axis are bytes without the holes between stretches. */
export interface Segment {
    base: bigint;
    bytes: number;
    /** Where it begins on the axis. */
    start: number;
}

/** The axis of addresses: stretches with a gap between each two. */
export interface Axis {
    segments: Segment[];
    bytes: number;
}

/** Runs of pages of 4 KiB that have counts: the first page, and its first byte that may; the last page, and its last such byte. */
export interface Extents {
    page: Float64Array;
    first: Uint16Array;
    lastPage: Float64Array;
    last: Uint16Array;
}

/** Which phases: null = all. */
export type Phases = number[] | null;

/** What is asked for of an axis: columns of x0 .. x1, of which `sight` is what can be seen. */
export interface Stretch {
    x0: number;
    x1: number;
    count: number;
    sight: [number, number];
}

/** Counts per column of an axis: the lines in it that have any, their sum, least and most. */
export interface Buckets {
    x0: number;
    x1: number;
    /** Lines per column with counts. */
    touched: Float64Array;
    sum: Float64Array;
    min: Float64Array;
    max: Float64Array;
    /** Sum over all that the series has in these phases, on the axis or not. */
    total: number;
    /** Bytes of the blocks that it was made of: a line, or a block of a pyramid. */
    grain: number;
    /** What all but a hundredth of the lines in sight reach, and how many lie above it; of pyramids columns instead of lines. */
    clip: number;
    above: number;
    /** Of a difference: the two whose sums it is of, the second less the first; least and most are of the means by column. */
    parts?: [Buckets, Buckets];
}

/** What of a series is asked for. Hits, misses and rates are of levels alone. */
export type Quantity = 'accesses' | 'misses' | 'hits' | 'missrate' | 'count';

/** Sums by phase: of levels accesses and misses, else the count and 0. */
export interface PhaseSums {
    first: Column;
    second: Column;
}

export interface LineCount {
    address: bigint;
    first: number;
    second: number;
}

/** What a stretch of the axis holds: the lines with most of what is shown, lines by cache set, events by function. */
export interface Selected {
    /** NaN: too many to look at each. */
    lines: number;
    first: number;
    second: number;
    /** Most first. */
    worst: LineCount[];
    /** Lines of the stretch that have counts, by set; empty where it was not asked for. */
    sets: Column;
    functions: { name: string; count: number }[];
}

/** Means per line and phase, by phase (rows) and column of the axis: sums over weights, so that cells can be put together. */
export interface Heat {
    rows: number;
    columns: number;
    sum: Float64Array;
    /** Lines that have any counts, times phases; of rates accesses. A line that lies in a cell in part counts by that part. */
    weight: Float64Array;
    /** First phase of each row, and one behind the last. */
    edges: number[];
}

export interface Requests {
    open: { args: [File | { name: string; bytes: ArrayBuffer }, boolean]; result: FileInfo };
    extents: { args: [string[]]; result: Extents };
    buckets: { args: [string, Quantity, Phases, Axis, Stretch]; result: Buckets };
    heat: { args: [string, Quantity, Axis, number, number, number, number]; result: Heat };
    /** Of x0 .. x1 of the axis: so many lines, and sets of a cache (0: none). */
    selected: { args: [string, Quantity, Phases, Axis, number, number, number, number]; result: Selected };
    counters: { args: [string, string]; result: Column };
    /** Of x0 .. x1 of the axis; null: of all. */
    phaseSums: { args: [string, Axis, [number, number] | null]; result: PhaseSums };
    /** Exact and coarsened counts of a sweep, and by how much they differ. */
    coarse: { args: [string, number, Axis, Stretch]; result: Coarse };
}

export interface Coarse {
    exact: Buckets;
    approximate: Buckets;
    /** |exact - approximate| of the lines. */
    difference: Buckets;
    /** The error over the data structures, a fraction. */
    error: number;
}
