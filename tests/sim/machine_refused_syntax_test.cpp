// SPDX-License-Identifier: BSD-3-Clause
// Machine files that cannot be read: no YAML, unknown keys, values of the wrong kind.
#include <fmt/ranges.h>

#include "sim/topology/names.hpp"
#include "tests/sim/machine_refusal.hpp"

namespace cachetally {
namespace {

template <class Enum>
std::string known() {
    return fmt::format("{}", fmt::join(names_of<Enum>(), ", "));
}

class MachineSyntaxRefused : public testing::TestWithParam<Refusal> {};

TEST_P(MachineSyntaxRefused, InTheseWords) { EXPECT_EQ(complaints(GetParam().text), GetParam().messages); }

INSTANTIATE_TEST_SUITE_P(
    Syntax, MachineSyntaxRefused,
    testing::Values(
        Refusal{"UnclosedList", "caches: [\n", "m:2:1: error: this is not valid YAML: end of sequence flow not found"},
        Refusal{"UnclosedQuote", "name: \"a\n",
                "m:1:7: error: this is not valid YAML: the quotation that begins here does not end"},
        Refusal{"UnclosedSingleQuote", "name: 'a '' b\n",
                "m:1:7: error: this is not valid YAML: the quotation that begins here does not end"},
        Refusal{"Tab",
                "cores: 1\n"
                "\tname: a\n",
                "m:2:1: error: this is not valid YAML: a tab in the indentation; write spaces"},
        Refusal{"NotAMapping", "- 1\n", "m:1:1: error: a machine is a mapping of keys to values, as in 'cores: 4'"},
        Refusal{"JustAWord", "hello\n", "m:1:1: error: a machine is a mapping of keys to values, as in 'cores: 4'"},
        Refusal{"Empty", "", "m:1:1: error: a machine is a mapping of keys to values, as in 'cores: 4'"},
        Refusal{"SecondDocument",
                "name: a\n"
                "---\n"
                "name: b\n",
                "m:2:1: error: a second document begins here; a machine file is one document, without ---"},
        Refusal{"Anchor", "name: &n a\n",
                "m:1:7: error: anchors (&name) are not for machine files; write the value out where it is needed"},
        Refusal{"Alias",
                "caches:\n"
                "  - *a\n",
                "m:2:5: error: this is not valid YAML: the referenced anchor is not defined"},
        Refusal{"Tag", "cores: !!int 2\n", "m:1:8: error: tags (!type) are not for machine files; remove it"},
        Refusal{"KeyIsAList", "[a, b]: 1\n", "m:1:1: error: a key of a machine is a word, as in 'cores: 4'"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Keys, MachineSyntaxRefused,
    testing::Values(
        Refusal{"Unknown", "core: 2\n",
                "m:1:1: error: unknown key 'core' in a machine; did you mean 'cores'? known are: name, description, "
                "source, clock, cores, caches, coherence, tlbs, pages, numa, memory, memories, monitors"},
        Refusal{"UnknownFar", "frequency: 2\n",
                "m:1:1: error: unknown key 'frequency' in a machine; known are: name, description, source, clock, "
                "cores, caches, coherence, tlbs, pages, numa, memory, memories, monitors"},
        Refusal{"UnknownInCache",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, wais: 2, ways: 2}\n",
                "m:2:40: error: unknown key 'wais' in a cache; did you mean 'ways'? known are: name, next, serves, "
                "shared_by, size, ways, line, sector, latency, replacement, seed, empty_way, indexing, slices, "
                "virtually_indexed, "
                "inclusion, "
                "write, write_allocate, write_back_first, write_back_miss, write_back_traffic, store_hit_refreshes, "
                "write_back_refreshes, prefetch, bus, outstanding_misses, write_buffer"},
        Refusal{"UnknownInTlb",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, size: 3}\n",
                "m:2:36: error: unknown key 'size' in a TLB; known are: name, next, serves, shared_by, entries, ways, "
                "latency, replacement, seed, indexing, page_sizes, granule, coalesces"},
        Refusal{"UnknownInPages", "pages: {sizes: 4K}\n",
                "m:1:9: error: unknown key 'sizes' in 'pages'; did you mean 'size'? known are: size, mapping, colours, "
                "seed, ranges, walk"},
        Refusal{"UnknownInRange", "pages: {ranges: [{from: 0, to: 4K, size: 4K, until: 1}]}\n",
                "m:1:46: error: unknown key 'until' in a page range; known are: from, to, size"},
        Refusal{"UnknownInWalk",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2}\n"
                "pages: {walk: {trough: L1}}\n",
                "m:3:16: error: unknown key 'trough' in a page walk; did you mean 'through'? known are: through, "
                "latency, references, caches"},
        Refusal{
            "UnknownInMemory", "memory: {latencies: 1}\n",
            "m:1:10: error: unknown key 'latencies' in a memory; did you mean 'latency'? known are: name, node, size, "
            "latency, banks, interleave, bank_busy"},
        Refusal{"UnknownInPrefetch",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {kind: stride, dept: 1}}\n",
                "m:2:74: error: unknown key 'dept' in a prefetcher; known are: kind, degree, distance, entries"},
        Refusal{"Twice",
                "name: a\n"
                "name: b\n",
                "m:2:1: error: key 'name' of a machine is given twice; keep one"},
        Refusal{"TwiceInMonitor",
                "monitors:\n"
                "  - {link: core-L1, link: L1-memory}\n",
                "m:2:21: error: key 'link' of a monitor is given twice; keep one"},
        Refusal{"Missing",
                "caches:\n"
                "  - {name: L1}\n",
                "m:2:5: error: a cache needs 'next', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
                "m:2:5: error: a cache needs 'size', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
                "m:2:5: error: a cache needs 'ways', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'"},
        Refusal{"MissingInTlb",
                "tlbs:\n"
                "  - {ways: 2}\n",
                "m:2:5: error: a TLB needs 'name', as in '{name: DTLB, entries: 64, ways: 4}'\n"
                "m:2:5: error: a TLB needs 'entries', as in '{name: DTLB, entries: 64, ways: 4}'"},
        Refusal{"MissingKind",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {degree: 2}}\n",
                "m:2:59: error: a prefetcher needs 'kind', as in '{kind: next_line, degree: 2}'"},
        Refusal{"MissingInRange", "pages: {ranges: [{from: 0}]}\n",
                "m:1:18: error: a page range needs 'to', as in '{from: 0x40000000, to: 0x80000000, size: 2 MiB}'\n"
                "m:1:18: error: a page range needs 'size', as in '{from: 0x40000000, to: 0x80000000, size: 2 MiB}'"},
        Refusal{"MemoryTwice",
                "memory: {name: a}\n"
                "memories: [{name: b}]\n",
                "m:2:11: error: 'memory' and 'memories' are both given; put all into 'memories'"},
        Refusal{"MemoryInListWithoutName", "memories: [{latency: 5}]\n",
                "m:1:12: error: a memory needs 'name', as in '{name: memory, size: 16 GiB, latency: 200}'"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Values, MachineSyntaxRefused,
    testing::Values(
        Refusal{"CoresWord", "cores: many\n",
                "m:1:8: error: 'many' is not a value of 'cores'; write a whole number from 1 to 256"},
        Refusal{"CoresNull", "cores:\n",
                "m:1:1: error: key 'cores' of a machine has no value; write one after the colon, or remove the key"},
        Refusal{"CoresTooMany", "cores: 257\n",
                "m:1:8: error: '257' is not a value of 'cores'; write a whole number from 1 to 256"},
        Refusal{"CoresNone", "cores: 0\n",
                "m:1:8: error: '0' is not a value of 'cores'; write a whole number from 1 to 256"},
        Refusal{"CoresNegative", "cores: -1\n",
                "m:1:8: error: '-1' is not a value of 'cores'; write a whole number from 1 to 256"},
        Refusal{"CoresList", "cores: [1, 2]\n", "m:1:8: error: 'cores' is a single value, as in 'cores: 1'"},
        Refusal{"CachesMapping", "caches: {}\n",
                "m:1:9: error: 'caches' is a list: one '- ...' per element, or '[..., ...]'"},
        Refusal{"CacheScalar", "caches: [L1]\n",
                "m:1:10: error: a cache is a mapping of keys to values, as in '{name: L1, next: memory, size: 32 KiB, "
                "ways: 8}'"},
        Refusal{"ClockWord", "clock: fast\n",
                "m:1:8: error: 'fast' is not a frequency from 1 MHz to 1 THz; write a number with a unit, as in 3 GHz"},
        Refusal{
            "ClockNan", "clock: nan GHz\n",
            "m:1:8: error: 'nan GHz' is not a frequency from 1 MHz to 1 THz; write a number with a unit, as in 3 GHz"},
        Refusal{"ClockWithoutUnit", "clock: 3\n",
                "m:1:8: error: '3' is not a frequency from 1 MHz to 1 THz; write a number with a unit, as in 3 GHz"},
        Refusal{"Size",
                "caches:\n"
                "  - {name: L1, next: memory, size: big, ways: 2}\n",
                "m:2:36: error: 'big' is not a size for 'size'; write whole bytes, or a number with KiB, MiB, GiB or "
                "TiB, as in 32 KiB"},
        Refusal{"SizeFraction",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1.3, ways: 2}\n",
                "m:2:36: error: '1.3' is not a size for 'size'; write whole bytes, or a number with KiB, MiB, GiB or "
                "TiB, as in 32 KiB"},
        Refusal{"Ways0",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 0}\n",
                "m:2:46: error: '0' is not a value of 'ways'; write a whole number from 1 to 65536, or full for fully "
                "associative"},
        Refusal{"SharedBy",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, shared_by: some}\n",
                "m:2:60: error: 'some' is not a value of 'shared_by'; write a whole number from 1 to 256, or all"},
        Refusal{"Replacement",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, replacement: lrv}\n",
                "m:2:62: error: 'lrv' is not a value of 'replacement'; did you mean 'lru'? known are: " +
                    known<Replacement>()},
        Refusal{"ReplacementFar",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, replacement: plru}\n",
                "m:2:62: error: 'plru' is not a value of 'replacement'; did you mean 'lru'? known are: " +
                    known<Replacement>()},
        Refusal{"Flag",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, write_allocate: yes}\n",
                "m:2:65: error: 'yes' is not a value of 'write_allocate'; write true or false"},
        Refusal{"Latency",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, latency: 1.5}\n",
                "m:2:58: error: '1.5' is not a value of 'latency'; write a whole number from 0 to 1000000"},
        Refusal{"LatencyTooLong", "memory: {latency: 1000001}\n",
                "m:1:19: error: '1000001' is not a value of 'latency'; write a whole number from 0 to 1000000"},
        Refusal{"SeedTooLarge", "pages: {seed: 18446744073709551616}\n",
                "m:1:15: error: '18446744073709551616' is not a value of 'seed'; write a whole number from 0 to "
                "18446744073709551615"},
        Refusal{"Prefetch",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: nextline}\n",
                "m:2:59: error: 'nextline' is not a value of 'prefetch'; did you mean 'next_line'? known are: " +
                    known<PrefetchKind>()},
        Refusal{"PrefetchDegree",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {kind: stride, degree: 65}}\n",
                "m:2:82: error: '65' is not a value of 'degree'; write a whole number from 1 to 64"},
        Refusal{"PrefetchEntries",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {kind: next_line, entries: 4}}\n",
                "m:2:86: error: a next_line prefetcher has no entries; remove 'entries'"},
        Refusal{"DegreeOfAdjacentLine",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {kind: adjacent_line, degree: 2}}\n",
                "m:2:89: error: an adjacent_line prefetcher has no degree; remove 'degree'"},
        Refusal{"DistanceOfAdjacentLine",
                "caches:\n"
                "  - {name: L1, next: memory, size: 1K, ways: 2, prefetch: {kind: adjacent_line, distance: 2}}\n",
                "m:2:91: error: an adjacent_line prefetcher has no distance; remove 'distance'"},
        Refusal{"Mapping", "pages: {mapping: colored}\n",
                "m:1:18: error: 'colored' is not a value of 'mapping'; did you mean 'coloured'? known are: identity, "
                "contiguous, random, coloured"},
        Refusal{"Address", "pages: {ranges: [{from: 0xZ, to: 4K, size: 4K}]}\n",
                "m:1:25: error: '0xZ' is not an address for 'from'; write bytes, as in 0x40000000 or 1 GiB"},
        Refusal{"PageSizesScalar",
                "tlbs:\n"
                "  - {name: T, entries: 4, ways: 2, page_sizes: 4K}\n",
                "m:2:48: error: 'page_sizes' is a list: one '- ...' per element, or '[..., ...]'"},
        Refusal{"MonitorScalar", "monitors: [core-L1]\n",
                "m:1:12: error: a monitor is a mapping of keys to values, as in '{link: L1-L2, counters: 64}'"},
        Refusal{"MonitorMapping",
                "monitors:\n"
                "  - {link: {a: b}}\n",
                "m:2:12: error: 'link' of a monitor is a value or a list of values, as in '64' or '[load, store]'"},
        Refusal{"MonitorNull",
                "monitors:\n"
                "  - {link: , counters: [a, [b]]}\n",
                "m:2:12: error: 'link' of a monitor is a value or a list of values, as in '64' or '[load, store]'\n"
                "m:2:24: error: 'counters' of a monitor is a value or a list of values, as in '64' or '[load, store]'"},
        Refusal{"NameMapping", "name: {a: b}\n", "m:1:7: error: 'name' is a single value, as in 'name: mine'"},
        Refusal{"ControlCharacters", "cores: \"\\e[31m\\n\"\n",
                "m:1:8: error: '?[31m?' is not a value of 'cores'; write a whole number from 1 to 256"}),
    case_name);

}  // namespace
}  // namespace cachetally
