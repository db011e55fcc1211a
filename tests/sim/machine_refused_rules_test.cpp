// SPDX-License-Identifier: BSD-3-Clause
// Machine files that can be read, but describe no machine.
#include "tests/sim/machine_refusal.hpp"

namespace cachetally {
namespace {

class MachineRulesRefused : public testing::TestWithParam<Refusal> {};

TEST_P(MachineRulesRefused, InTheseWords) { EXPECT_EQ(complaints(GetParam().text), GetParam().messages); }

INSTANTIATE_TEST_SUITE_P(
    Graph, MachineRulesRefused,
    testing::Values(
        Refusal{"Loop",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: L3, size: 2K, ways: 2}\n"
                "  - {name: L3, next: L2, size: 2K, ways: 2}\n",
                "m:4:5: error: the levels form a loop: L2 -> L3 -> L2; let the last one lead to memory"},
        Refusal{"LoopOfAll",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: L1, size: 2K, ways: 2}\n",
                "m:3:5: error: the levels form a loop: L1 -> L2 -> L1; let the last one lead to memory"},
        Refusal{"LoopOfOne",
                "caches:\n"
                "  - {name: L1, next: L1, size: 1K, ways: 2}\n",
                "m:2:5: error: the levels form a loop: L1 -> L1; let the last one lead to memory"},
        Refusal{"LoopOfTlbs",
                "tlbs:\n"
                "  - {name: T, next: U, entries: 4, ways: 2}\n"
                "  - {name: U, next: T, entries: 4, ways: 2}\n",
                "m:3:5: error: the levels form a loop: T -> U -> T; leave out 'next' of the last one, so that it leads "
                "to the walker"},
        Refusal{
            "UnknownNext",
            "caches:\n"
            "  - {name: L1, next: L3, size: 1K, ways: 2}\n"
            "  - {name: L2, next: memory, size: 2K, ways: 2}\n",
            "m:2:22: error: 'next' of 'L1' names 'L3', which is not there; did you mean 'L2'? known are: L2, memory"},
        Refusal{
            "UnknownNextOfTlb",
            "tlbs:\n"
            "  - {name: DTLB, next: STBL, entries: 4, ways: 2}\n"
            "  - {name: STLB, entries: 4, ways: 2}\n",
            "m:2:24: error: 'next' of 'DTLB' names 'STBL', which is not there; did you mean 'STLB'? known are: STLB"},
        Refusal{"EmptyWayByAnOrder",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, empty_way: policy}\n",
                "m:2:60: error: 'L1' replaces by lru, which fills empty ways first wherever they are; write "
                "'empty_way: lowest', or another 'replacement'"},
        Refusal{"NextOfCacheIsTlb",
                "caches:\n"
                "  - {name: L1, next: T, size: 1K, ways: 2}\n"
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n",
                "m:2:22: error: 'next' of 'L1' names 'T', which cannot be there; known are: memory"},
        Refusal{"NextIsCore",
                "caches:\n"
                "  - {name: L1, next: core, size: 1K, ways: 2}\n",
                "m:2:22: error: 'next' of 'L1' names 'core', which cannot be there; known are: memory"},
        Refusal{"EmptyNext",
                "caches:\n"
                "  - {name: L1, next: '', size: 1K, ways: 2}\n",
                "m:2:22: error: 'L1' leads nowhere; write 'next: memory', or the name of the level below"},
        Refusal{"UnreachedMemory",
                "caches:\n"
                "  - {name: L1, next: a, size: 1K, ways: 2}\n"
                "memories: [{name: a}, {name: b}]\n",
                "m:3:23: error: nothing leads to 'b'; name it in the 'next' of a level, or remove it"},
        Refusal{"SameName",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, serves: data}\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, serves: fetch}\n",
                "m:3:12: error: two components are named 'L1'; names must differ"},
        Refusal{"NameOfDefaultMemory",
                "caches:\n"
                "  - {name: memory, next: memory, size: 1K, ways: 2}\n",
                "m:2:5: error: 'memory' is the name of the memory unless the machine says otherwise; use another one, "
                "or write 'memory: {name: DRAM}'"},
        Refusal{"NameOfCore",
                "caches:\n"
                "  - {name: core, next: memory, size: 1K, ways: 2}\n",
                "m:2:12: error: the name 'core' is taken by the machine itself; use another one"},
        Refusal{"NameOfWalker",
                "tlbs:\n"
                "  - {name: walker, entries: 4, ways: 2}\n",
                "m:2:12: error: the name 'walker' is taken by the machine itself; use another one"},
        Refusal{"NameWithDash",
                "caches:\n"
                "  - {name: L-1, next: memory, size: 1K, ways: 2}\n",
                "m:2:12: error: 'L-1' is not a name; use letters, digits, '_' and '.'"},
        Refusal{"EmptyName",
                "caches:\n"
                "  - {name: '', next: memory, size: 1K, ways: 2}\n",
                "m:2:12: error: a component has no name; write 'name: L1', for instance"},
        Refusal{"LongName", "memory: {name: abcdefghijklmnopqrstuvwxyz0123456}\n",
                "m:1:16: error: the name 'abcdefghijklmnopqrstuvwxyz0123456' has 33 letters; use at most 32"},
        Refusal{"TwoServeData",
                "caches:\n"
                "  - {name: A, next: memory, size: 1K, ways: 2, serves: data}\n"
                "  - {name: B, next: memory, size: 2K, ways: 2, serves: data}\n",
                "m:3:5: error: 'A' and 'B' are both next to the core and serve data; give one of them another "
                "'serves', or name it in the 'next' of a level"},
        Refusal{"TwoFetch",
                "caches:\n"
                "  - {name: A, next: memory, size: 1K, ways: 2, serves: both}\n"
                "  - {name: B, next: memory, size: 2K, ways: 2, serves: fetch}\n",
                "m:3:5: error: 'A' and 'B' are both next to the core and serve fetches; give one of them another "
                "'serves', or name it in the 'next' of a level"},
        Refusal{"NobodyServesData",
                "caches:\n"
                "  - {name: A, next: memory, size: 1K, ways: 2, serves: fetch}\n",
                "m:2:56: error: no cache next to the core serves data; write 'serves: data' or 'serves: both'"},
        Refusal{"NoTlbServesData",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, serves: fetch}\n",
                "m:2:44: error: no TLB next to the core serves data; write 'serves: data' or 'serves: both'"},
        Refusal{"ServesBelow",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, serves: data}\n",
                "m:3:57: error: 'L2' is not next to a core and takes all that comes from above; remove 'serves'"},
        Refusal{"WalkThrough",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {through: L9}}\n",
                "m:3:25: error: 'through' of the page walk names 'L9', which is not there; known are: memory"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Geometry, MachineRulesRefused,
    testing::Values(
        Refusal{"Size",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1000, ways: 2}\n",
                "m:2:36: error: the size of 'L1' is 1000 bytes, which is not a multiple of ways x line = 2 x 64 = 128; "
                "write 896 or 1 KiB"},
        Refusal{"SizeTooSmall",
                "caches:\n"
                "  - {name: L1, next: memory, size: 64, ways: 2}\n",
                "m:2:36: error: the size of 'L1' is 64 bytes, which is not a multiple of ways x line = 2 x 64 = 128; "
                "write 128"},
        Refusal{"SizeZero",
                "caches:\n"
                "  - {name: L1, next: memory, size: 0, ways: full}\n",
                "m:2:36: error: the size of 'L1' is 0 bytes, which is not a multiple of its line, 64 bytes; write 64"},
        Refusal{"Line48",
                "caches:\n"
                "  - {name: L1, next: memory, size: 960, ways: 2, line: 48}\n",
                "m:2:56: error: the line of 'L1' is 48 bytes; write a power of two from 8 to 4096"},
        Refusal{"Line4",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, line: 4}\n",
                "m:2:55: error: the line of 'L1' is 4 bytes; write a power of two from 8 to 4096"},
        Refusal{"Line8K",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1M, ways: 2, line: 8K}\n",
                "m:2:55: error: the line of 'L1' is 8192 bytes; write a power of two from 8 to 4096"},
        Refusal{"XorHash",
                "caches:\n"
                "  - {name: L1, next: memory, size: 3K, ways: 2, indexing: xor_hash}\n",
                "m:2:59: error: 'L1' has 24 sets, but xor_hash needs a power of two; write modulo, which takes any "
                "number, or other ways or sizes"},
        Refusal{"SlicedWithoutSlices",
                "caches:\n"
                "  - {name: L1, next: memory, size: 3K, ways: 2, indexing: sliced}\n",
                "m:2:59: error: 'L1' is indexed by slices, but has none; write their number, as in 'slices: 6'"},
        Refusal{"SlicesDoNotDivideTheSets",
                "caches:\n"
                "  - {name: L1, next: memory, size: 3K, ways: 2, indexing: sliced, slices: 5}\n",
                "m:2:75: error: 'L1' has 24 sets, which 5 slices cannot share evenly; write a divisor of 24, or a size "
                "that is a multiple of 640 bytes"},
        Refusal{"SlicesWithoutSliced",
                "caches:\n"
                "  - {name: L1, next: memory, size: 3K, ways: 2, slices: 3}\n",
                "m:2:57: error: slices mean nothing with 'indexing: modulo'; write 'indexing: sliced', or remove them"},
        Refusal{"SlicedTlb",
                "tlbs:\n"
                "  - {name: T, entries: 12, ways: 4, indexing: sliced}\n",
                "m:2:47: error: 'T' is a TLB, which has no slices; write modulo or xor_hash"},
        Refusal{"FullTooWide",
                "caches:\n"
                "  - {name: L1, next: memory, size: 8M, ways: full}\n",
                "m:2:46: error: 'L1' has 131072 ways; at most 65536 can be simulated"},
        Refusal{"TooLarge",
                "caches:\n"
                "  - {name: L1, next: memory, size: 8G, ways: 16}\n",
                "m:2:36: error: all copies of all caches together have more than 67108864 lines (4 GiB of 64-byte "
                "lines), which is too much to simulate; make 'L1' smaller"},
        Refusal{"TooLargeInCopies",
                "cores: 256\n"
                "caches:\n"
                "  - {name: L1, next: L2, size: 32K, ways: 8, shared_by: 1}\n"
                "  - {name: L2, next: memory, size: 32M, ways: 8, shared_by: 1}\n",
                "m:4:36: error: all copies of all caches together have more than 67108864 lines (4 GiB of 64-byte "
                "lines), which is too much to simulate; make 'L2' smaller"},
        Refusal{"LinesShrink",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2, line: 64}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, line: 32}\n",
                "m:3:55: error: lines shrink from 64 bytes in 'L1' to 32 in 'L2'; write at least 64 here"},
        Refusal{"SharedBy",
                "cores: 6\n"
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, shared_by: 4}\n",
                "m:3:60: error: 'L1' is shared by 4 of 6 cores; write a divisor of 6, or all"},
        Refusal{"SharedByShrinks",
                "cores: 4\n"
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2, shared_by: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, shared_by: 1}\n",
                "m:4:60: error: 'L2' is shared by 1 core, but 'L1' above it by 2; write a multiple of 2, or all"},
        Refusal{"SharedByOfTlbsShrinks",
                "cores: 4\n"
                "tlbs:\n"
                "  - {name: T, next: U, entries: 4, ways: 2, shared_by: all}\n"
                "  - {name: U, entries: 4, ways: 2}\n",
                "m:4:5: error: 'U' is shared by 1 core, but 'T' above it by 4; write a multiple of 4, or all"},
        Refusal{"Entries",
                "tlbs:\n"
                "  - {name: T, entries: 10, ways: 4}\n",
                "m:2:24: error: 'T' has 10 entries, which is not a multiple of its 4 ways; write 8 or 12"},
        Refusal{"XorHashOfTlb",
                "tlbs:\n"
                "  - {name: T, entries: 12, ways: 4, indexing: xor_hash}\n",
                "m:2:47: error: 'T' has 3 sets, but xor_hash needs a power of two; write modulo, which takes any "
                "number, or other ways or sizes"},
        Refusal{"EntriesTooWide",
                "tlbs:\n"
                "  - {name: T, entries: 131072, ways: full}\n",
                "m:2:38: error: 'T' has 131072 ways; at most 65536 can be simulated"},
        Refusal{"ClockAndCores", "clock: 1 THz\n",
                "m:1:8: error: a cycle must be longer than one picosecond per core, since no two cores begin at the "
                "same time; with 1 core write a clock of at most 500 GHz"},
        Refusal{"ClockAndManyCores",
                "cores: 256\n"
                "clock: 5 GHz\n",
                "m:2:8: error: a cycle must be longer than one picosecond per core, since no two cores begin at the "
                "same time; with 256 cores write a clock of at most 3.89 GHz"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Policies, MachineRulesRefused,
    testing::Values(
        Refusal{"ExclusiveNextToCore",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, inclusion: exclusive}\n",
                "m:2:60: error: 'L1' is exclusive, but no level above hands victims to it; write 'inclusion: nine'"},
        Refusal{"ExclusiveLine",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2, line: 32}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: exclusive}\n",
                "m:3:5: error: 'L2' is exclusive, so its lines must be as long as those of 'L1'; write 32"},
        Refusal{"VictimFetches",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: victim, write_back_miss: fetch}\n",
                "m:3:85: error: 'L2' is a victim cache and takes all victims; write 'write_back_miss: allocate'"},
        Refusal{"VictimPrefetches",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: victim, prefetch: stride}\n",
                "m:3:78: error: 'L2' is a victim cache and filled by victims only; put the prefetcher on a level above "
                "or below it"},
        Refusal{
            "NoVictims",
            "caches:\n"
            "  - {name: L1, next: L2, size: 1K, ways: 2, write_back_traffic: false}\n"
            "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: exclusive}\n",
            "m:2:65: error: 'L1' must hand its victims to 'L2', which is exclusive; write 'write_back_traffic: true'"},
        Refusal{"VirtuallyIndexedBelow",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, virtually_indexed: true}\n",
                "m:3:68: error: 'L2' is not next to a core, so it cannot be virtually indexed; remove this"},
        Refusal{"WalksEnterVictimCache",
                "caches:\n"
                "  - {name: L1, next: L2, size: 1K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: victim}\n"
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {through: L2}}\n",
                "m:6:25: error: page walks cannot enter 'L2', which is filled by victims only; name a level above or "
                "below it"},
        Refusal{"WalkWithoutTlb", "pages: {walk: {latency: 3}}\n",
                "m:1:15: error: there are no TLBs, so there are no page walks; add 'tlbs', or remove 'walk'"},
        Refusal{"WalkCachesOfNothing",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {references: false, caches: [4]}}\n",
                "m:3:43: error: page walks without references read nothing that their caches could spare; remove "
                "'caches', or write 'references: true'"},
        Refusal{"WalkCachesWithoutEntries",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {caches: [0, 0]}}\n",
                "m:3:24: error: caches of page walks without entries spare nothing; write how many, as in [2, 4, 32], "
                "or remove 'caches'"},
        Refusal{"WalkCachesOfLevelsThatAreNone",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {caches: [1, 2, 4, 32]}}\n",
                "m:3:24: error: walks read at most 3 entries above the last; write at most 3 numbers, from the root "
                "down"},
        Refusal{"WalkThroughNothing",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {through: memory, references: false}}\n",
                "m:3:25: error: page walks without references enter nothing; remove 'through', or write 'references: "
                "true'"},
        Refusal{
            "ColoursOfRandom", "pages: {mapping: random, colours: 4}\n",
            "m:1:35: error: colours mean nothing with 'mapping: random'; write 'mapping: coloured', or remove them"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Pages, MachineRulesRefused,
    testing::Values(
        Refusal{
            "ColoursWithoutFrames",
            "pages: {mapping: coloured, colours: 300}\n"
            "memory: {size: 1 MiB}\n",
            "m:1:37: error: 300 colours need as many frames, but 'memory' holds 256 of the largest pages; write fewer"},
        Refusal{"Size5000", "pages: {size: 5000}\n",
                "m:1:15: error: the page size is 5000 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"Size2K", "pages: {size: 2K}\n",
                "m:1:15: error: the page size is 2048 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"Size2G", "pages: {size: 2G}\n",
                "m:1:15: error: the page size is 2147483648 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"Size0WithRange", "pages: {size: 0, ranges: [{from: 0, to: 4K, size: 4K}]}\n",
                "m:1:15: error: the page size is 0 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"RangeSize", "pages: {ranges: [{from: 0, to: 4K, size: 1000}]}\n",
                "m:1:18: error: the page size of a range is 1000 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"RangeCutsPages", "pages: {ranges: [{from: 0x1000, to: 0x200000, size: 2 MiB}]}\n",
                "m:1:18: error: the range from 0x1000 to 0x200000 cuts pages; its ends must be multiples of 2 MiB, the "
                "larger of the page sizes inside and outside"},
        Refusal{"RangeCutsPagesAround", "pages: {size: 2M, ranges: [{from: 0, to: 0x1000, size: 4K}]}\n",
                "m:1:28: error: the range from 0x0 to 0x1000 cuts pages; its ends must be multiples of 2 MiB, the "
                "larger of the page sizes inside and outside"},
        Refusal{"RangeEmpty", "pages: {ranges: [{from: 0x2000, to: 0x2000, size: 4K}]}\n",
                "m:1:18: error: the range from 0x2000 to 0x2000 is empty; 'to' is the first address after it"},
        Refusal{"RangesOverlap",
                "pages:\n"
                "  ranges:\n"
                "    - {from: 0x4000, to: 0x8000, size: 4K}\n"
                "    - {from: 0, to: 0x5000, size: 4K}\n",
                "m:3:7: error: this range overlaps the one from 0x0 to 0x5000; ranges are disjoint"},
        Refusal{"TlbPageSize",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, page_sizes: [4K, 3M]}\n",
                "m:2:48: error: a page size of 'T' is 3145728 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"Granule",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, granule: 1K}\n",
                "m:2:45: error: the granule of 'T' is 1024 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"CoalescedPages",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, coalesces: 6}\n",
                "m:2:47: error: 'T' coalesces 6 pages; write 1, 2, 4, 8 or 16"},
        Refusal{"CoalescedPagesInParts",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, granule: 4K, coalesces: 2}\n",
                "m:2:60: error: 'T' has entries for parts of pages ('granule'), so they do not map several; write one "
                "of the two"},
        Refusal{
            "MemorySmallerThanPage",
            "pages: {size: 2 MiB}\n"
            "memory: {size: 1 MiB}\n",
            "m:2:16: error: the size of 'memory' is 1048576 bytes; write at least a page (2 MiB) and at most 16 TiB"},
        Refusal{"MemoryTooLarge", "memory: {size: 17T}\n",
                "m:1:16: error: the size of 'memory' is 18691697672192 bytes; write at least a page (4 KiB) and at "
                "most 16 TiB"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    LinkTiming, MachineRulesRefused,
    testing::Values(
        Refusal{"SharedBusWithoutLimit", "caches: [{name: L1, next: memory, size: 1K, ways: 2, bus: {shared: true}}]",
                "m:1:59: error: the bus of 'L1' is shared, but carries any number of bytes at once; write "
                "'bytes_per_cycle', or remove 'shared'"},
        Refusal{"OddBanks", "memory: {banks: 3, bank_busy: 10}",
                "m:1:17: error: 'memory' has 3 banks; write a power of two"},
        Refusal{"OddInterleave", "memory: {banks: 2, interleave: 100, bank_busy: 10}",
                "m:1:32: error: banks of 'memory' take turns every 100 bytes; write a power of two of at least 8"},
        Refusal{"BanksThatAreNeverBusy", "memory: {banks: 2}",
                "m:1:17: error: banks of 'memory' are never busy, so they change nothing; write 'bank_busy', in "
                "cycles"},
        Refusal{"LongBus", "clock: 1 MHz\ncaches: [{name: L1, next: memory, size: 1K, ways: 2, bus: {latency: 1001}}]",
                "m:2:59: error: a latency of 1001 cycles is too long; write at most 1000, which are 1 ms"}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

}  // namespace
}  // namespace cachetally
