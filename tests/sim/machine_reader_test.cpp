// SPDX-License-Identifier: BSD-3-Clause
// Machine files that are good: what every key means to the description.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sim/model/indexing/table.hpp"
#include "sim/model/prefetch/table.hpp"
#include "sim/model/replacement/table.hpp"
#include "tests/sim/machine_text.hpp"

namespace cachetally {
namespace {

constexpr const char* everything = R"(name: full
description: "a value for every key"
source: 'ours'
clock: 2.5 GHz
cores: 4
caches:
  - {name: D, next: V, serves: data, shared_by: 2, size: 48 KiB, ways: 12, line: 64, latency: 5,
     replacement: tree_plru, seed: 9, empty_way: policy, indexing: sliced, virtually_indexed: true, write: write_through,
     slices: 4, write_allocate: false, write_back_first: true, write_back_miss: fetch, write_back_traffic: true,
     store_hit_refreshes: false, write_back_refreshes: false,
     prefetch: {kind: stream, degree: 2, distance: 4, entries: 8}, outstanding_misses: 10, write_buffer: 6,
     bus: {latency: 3, bytes_per_cycle: 32, shared: true}}
  - name: V
    next: dram
    shared_by: all
    size: 4K
    ways: full
    line: 128
    sector: 64
    inclusion: inclusive
tlbs:
  - {name: DT, next: ST, serves: both, shared_by: 1, entries: 64, ways: 4, latency: 1, replacement: nru, seed: 0x10,
     indexing: xor_hash, page_sizes: [4 KiB, 2 MiB], granule: 16 KiB}
  - {name: ST, shared_by: all, entries: 1536, ways: full, coalesces: 4}
pages:
  size: 8 KiB
  mapping: coloured
  colours: 16
  seed: 3
  ranges:
    - {from: 0x40000000, to: 2 GiB, size: 2 MiB}
  walk: {through: D, latency: 3, references: true, caches: [2, 0, 32]}
memories:
  - {name: dram, size: 16 GiB, latency: 200, banks: 8, interleave: 256, bank_busy: 30}
monitors:
  - {link: core-D, counters: 128, kinds: [load, store]}
)";

TEST(MachineReader, ReadsEveryKeyOfACache) {
    const MachineDescription machine = read_machine(everything, "full.yaml");
    ASSERT_EQ(machine.caches.size(), 2U);
    CacheConfig expected;
    expected.name = "D";
    expected.next = "V";
    expected.serves = Serves::data;
    expected.shared_by = 2;
    expected.size = 49152;
    expected.ways = 12;
    expected.line = 64;
    expected.latency = 5;
    expected.replacement = replacements::tree_plru;
    expected.seed = 9;
    expected.indexing = indexings::sliced;
    expected.slices = 4;
    expected.empty_way = EmptyWay::policy;
    expected.virtually_indexed = true;
    expected.write = WritePolicy::write_through;
    expected.write_allocate = false;
    expected.write_back_first = true;
    expected.write_back_miss = WriteBackMiss::fetch;
    expected.store_hit_refreshes = false;
    expected.write_back_refreshes = false;
    expected.prefetch = {prefetchers::stream, 2, 4, 8};
    expected.bus = {.latency = 3, .bytes_per_cycle = 32, .shared = true};
    expected.outstanding_misses = 10;
    expected.write_buffer = 6;
    CacheConfig read = machine.caches[0];
    EXPECT_EQ(read.mark, (Mark{7, 5}));
    EXPECT_EQ(read.keys.at("size"), (Mark{7, 58}));
    EXPECT_EQ(read.keys.at("replacement"), (Mark{8, 19}));
    read.mark = {};
    read.keys.clear();
    EXPECT_EQ(read, expected);
    EXPECT_EQ(machine.caches[1].shared_by, 0U);
    EXPECT_EQ(machine.caches[1].size, 4096U);
    EXPECT_EQ(machine.caches[1].ways, 0U);
    EXPECT_EQ(machine.caches[1].line, 128U);
    EXPECT_EQ(machine.caches[1].sector, 64U);
    EXPECT_EQ(machine.caches[1].inclusion, Inclusion::inclusive);
}

TEST(MachineReader, ReadsEveryKeyOfTlbsAndPages) {
    const MachineDescription machine = read_machine(everything, "full.yaml");
    ASSERT_EQ(machine.tlbs.size(), 2U);
    const TlbConfig& tlb = machine.tlbs[0];
    EXPECT_EQ(tlb.name, "DT");
    EXPECT_EQ(tlb.next, "ST");
    EXPECT_EQ(tlb.serves, Serves::both);
    EXPECT_EQ(tlb.shared_by, 1U);
    EXPECT_EQ(tlb.entries, 64U);
    EXPECT_EQ(tlb.ways, 4U);
    EXPECT_EQ(tlb.latency, 1U);
    EXPECT_EQ(tlb.replacement, replacements::nru);
    EXPECT_EQ(tlb.seed, 16U);
    EXPECT_EQ(tlb.indexing, indexings::xor_hash);
    EXPECT_EQ(tlb.page_sizes, (std::vector<std::uint64_t>{4096, 2097152}));
    EXPECT_EQ(tlb.granule, 16384U);
    EXPECT_EQ(tlb.coalesces, 1U);
    EXPECT_EQ(machine.tlbs[1].coalesces, 4U);
    EXPECT_EQ(machine.tlbs[1].shared_by, 0U);
    EXPECT_EQ(machine.tlbs[1].ways, 0U);
    EXPECT_EQ(machine.tlbs[1].next, "");
    const PagesConfig& pages = machine.pages;
    EXPECT_EQ(pages.size, 8192U);
    EXPECT_EQ(pages.mapping, Mapping::coloured);
    EXPECT_EQ(pages.colours, 16U);
    EXPECT_EQ(pages.seed, 3U);
    EXPECT_EQ(pages.ranges, (std::vector<PageRange>{{0x40000000, 0x80000000, 2097152, {31, 7}}}));
    EXPECT_EQ(pages.walk_through, "D");
    EXPECT_EQ(pages.walk_latency, 3U);
    EXPECT_TRUE(pages.walk_references);
    EXPECT_EQ(pages.walk_caches, (std::vector<unsigned>{2, 0, 32}));
}

TEST(MachineReader, ReadsTheMachineItself) {
    const MachineDescription machine = read_machine(everything, "full.yaml");
    EXPECT_EQ(machine.name, "full");
    EXPECT_EQ(machine.description, "a value for every key");
    EXPECT_EQ(machine.source, "ours");
    EXPECT_EQ(machine.period, 400U);
    EXPECT_EQ(machine.cores, 4U);
    EXPECT_EQ(machine.file, "full.yaml");
    EXPECT_EQ(machine.text, everything);
    ASSERT_EQ(machine.memories.size(), 1U);
    EXPECT_EQ(machine.memories[0].name, "dram");
    EXPECT_EQ(machine.memories[0].size, std::uint64_t{16} << 30);
    EXPECT_EQ(machine.memories[0].latency, 200U);
    EXPECT_EQ(machine.memories[0].banks, 8U);
    EXPECT_EQ(machine.memories[0].interleave, 256U);
    EXPECT_EQ(machine.memories[0].bank_busy, 30U);
    EXPECT_EQ(complaints(everything), "");
}

TEST(MachineReader, KeepsMonitorsAsTheyStand) {
    const MachineDescription machine = read_machine(everything, "full.yaml");
    ASSERT_EQ(machine.monitors.size(), 1U);
    EXPECT_EQ(machine.monitors[0].mark, (Mark{36, 5}));
    EXPECT_EQ(machine.monitors[0].settings,
              (std::vector<MonitorEntry::Setting>{
                  {"link", "core-D", {36, 12}}, {"counters", "128", {36, 30}}, {"kinds", "load+store", {36, 42}}}));
}

TEST(MachineReader, WhatIsNotGivenHasADefault) {
    const MachineDescription machine = read_machine(
        "caches: [{name: L1, next: memory, size: 1 KiB, ways: 2}]\ntlbs: [{name: T, entries: 4, ways: 2}]", "");
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 1024;
    cache.ways = 2;
    cache.mark = machine.caches.at(0).mark;
    cache.keys = machine.caches[0].keys;
    EXPECT_EQ(machine.caches[0], cache);
    EXPECT_EQ(cache.line, 64U);
    EXPECT_EQ(machine.tlbs.at(0).shared_by, 1U);
    EXPECT_EQ(machine.pages, PagesConfig{});
    EXPECT_EQ(machine.memories, std::vector{MemoryConfig{}});
    EXPECT_EQ(machine.period, 1000U);
    EXPECT_EQ(machine.cores, 1U);
    EXPECT_EQ(machine.name, "");
}

TEST(MachineReader, OneMemoryNeedsNoListAndNoName) {
    const MachineDescription machine = read_machine("memory: {latency: 50}", "m");
    ASSERT_EQ(machine.memories.size(), 1U);
    EXPECT_EQ(machine.memories[0].name, "memory");
    EXPECT_EQ(machine.memories[0].latency, 50U);
}

TEST(MachineReader, TakesAPrefetcherByItsKind) {
    const auto read = [](const std::string& prefetch) {
        return read_machine("caches: [{name: L1, next: memory, size: 1K, ways: 2, prefetch: " + prefetch + "}]", "m")
            .caches.at(0)
            .prefetch;
    };
    EXPECT_EQ(read("next_line"), (PrefetchConfig{prefetchers::next_line, 1, 1, 16}));
    EXPECT_EQ(read("none"), PrefetchConfig{});
    EXPECT_EQ(read("{kind: stride, entries: 64}"), (PrefetchConfig{prefetchers::stride, 1, 1, 64}));
}

TEST(MachineReader, TakesJson) {
    const MachineDescription machine = read_machine(R"({
        "name": "j", "clock": "2 GHz",
        "caches": [{"name": "L1", "next": "memory", "size": 1024, "ways": 2, "write_allocate": false}]
    })",
                                                    "j.json");
    EXPECT_EQ(machine.name, "j");
    EXPECT_EQ(machine.period, 500U);
    EXPECT_EQ(machine.caches.at(0).size, 1024U);
    EXPECT_FALSE(machine.caches[0].write_allocate);
}

TEST(MachineReader, WaysAndSizesNeedNotBePowersOfTwo) {
    for (const char* geometry : {"size: 48 KiB, ways: 12", "size: 3K, ways: 3", "size: 36 MiB, ways: 24",
                                 "size: 448, ways: 7", "size: 192, ways: full", "size: 64, ways: 1"})
        EXPECT_EQ(complaints(std::string("caches: [{name: L1, next: memory, ") + geometry + "}]"), "") << geometry;
}

TEST(MachineReader, AMachineMayServeNoFetchesOrHaveNoCaches) {
    EXPECT_EQ(complaints("caches: [{name: L1, next: memory, size: 1K, ways: 2, serves: data}]"), "");
    EXPECT_EQ(complaints("name: bare"), "");
    EXPECT_EQ(complaints("tlbs: [{name: T, entries: 4, ways: full, serves: data}]\npages: {walk: {latency: 20}}"), "");
}

TEST(Names, Sizes) {
    EXPECT_EQ(parse_size("32 KiB"), 32768U);
    EXPECT_EQ(parse_size("48K"), 49152U);
    EXPECT_EQ(parse_size("48KB"), 49152U);
    EXPECT_EQ(parse_size("48k"), 49152U);
    EXPECT_EQ(parse_size("1 byte"), 1U);
    EXPECT_EQ(parse_size("1 MiB"), 1048576U);
    EXPECT_EQ(parse_size("1.5 MiB"), 1572864U);
    EXPECT_EQ(parse_size(" 2 GiB "), 2147483648U);
    EXPECT_EQ(parse_size("16T"), std::uint64_t{1} << 44);
    EXPECT_EQ(parse_size("100"), 100U);
    EXPECT_EQ(parse_size("100 B"), 100U);
    for (const char* bad : {"", "K", "-1", "-0", "1.3", "1e3", "nan", "inf", "inf K", "32 KiBs", "32 kib", "1 2",
                            "99999999999999999999", "0x10"})
        EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1023), "1023");
    EXPECT_EQ(format_size(49152), "48 KiB");
    EXPECT_EQ(format_size(1536 * 1024), "1536 KiB");
    EXPECT_EQ(format_size(std::uint64_t{1} << 41), "2 TiB");
}

TEST(Names, WholeNumbers) {
    EXPECT_EQ(parse_whole("128"), 128U);
    EXPECT_EQ(parse_whole("0x80"), 128U);
    EXPECT_EQ(parse_whole("18446744073709551615"), ~std::uint64_t{0});
    EXPECT_EQ(parse_whole("1.5K"), 1536U);
    EXPECT_EQ(parse_whole("4 KiB"), 4096U);
    for (const char* bad : {"", "K", " 1", "-1", "1.0", "1e3", "0x", "0x10K", "16-20", "inf K"})
        EXPECT_EQ(parse_whole(bad), std::nullopt) << bad;
}

TEST(Names, ClocksAreWholePicoseconds) {
    EXPECT_EQ(parse_period("1 GHz"), 1000U);
    EXPECT_EQ(parse_period("3 GHz"), 333U);    // 333.3
    EXPECT_EQ(parse_period("2.2 GHz"), 455U);  // 454.5
    EXPECT_EQ(parse_period("900 MHz"), 1111U);
    EXPECT_EQ(parse_period("2200 MHz"), 455U);
    EXPECT_EQ(parse_period("1000000 Hz"), 1000000U);
    EXPECT_EQ(parse_period("1 THz"), 1U);
    for (const char* bad :
         {"", "GHz", "0 GHz", "-1 GHz", "nan GHz", "inf GHz", "3", "3 ghz", "999 kHz", "2.5 THz", "3 GHz!"})
        EXPECT_EQ(parse_period(bad), std::nullopt) << bad;
    EXPECT_EQ(format_frequency(1000), "1 GHz");
    EXPECT_EQ(format_frequency(333), "3 GHz");
    EXPECT_EQ(format_frequency(455), "2.2 GHz");
    EXPECT_EQ(format_frequency(10000), "100 MHz");
    EXPECT_EQ(format_frequency(1000000), "1 MHz");
}

TEST(Names, FrequenciesAreTakenBackToTheirPeriod) {
    for (std::uint64_t period = 1; period <= 1000000; period += 1 + period / 50)
        ASSERT_EQ(parse_period(format_frequency(period)), period) << format_frequency(period);
}

TEST(Names, NearestIsWhatWasMeant) {
    const std::string_view known[] = {"size", "ways", "line", "latency"};
    EXPECT_EQ(nearest("wais", known), "ways");
    EXPECT_EQ(nearest("SIZE", known), "size");
    EXPECT_EQ(nearest("latancy", known), "latency");
    EXPECT_EQ(nearest("replacement", known), "");
    EXPECT_EQ(nearest(std::string(100000, 's'), known), "");
    EXPECT_EQ(advice("wais", known), "; did you mean 'ways'? known are: size, ways, line, latency");
    EXPECT_EQ(advice("replacement", known), "; known are: size, ways, line, latency");
}

TEST(Names, WordsAreShownWithoutControlsAndCut) {
    EXPECT_EQ(shown("L1"), "L1");
    EXPECT_EQ(shown("a\x1b[31mb\n"), "a?[31mb?");
    EXPECT_EQ(shown("gr\xc3\xb6\xc3\x9f"
                    "e"),
              "gr\xc3\xb6\xc3\x9f"
              "e");
    EXPECT_EQ(shown(std::string(65, 'x')), std::string(64, 'x') + "...");
    EXPECT_EQ(shown(std::string(63, 'x') + "\xc3\xb6y"), std::string(63, 'x') + "...");
}

}  // namespace
}  // namespace cachetally
