// SPDX-License-Identifier: BSD-3-Clause
// What cannot be told is refused, and capacities that can be are told to the byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/model/indexing/table.hpp"
#include "sim/model/prefetch/table.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

MachineDescription three_levels() {
    return read_machine(
        "name: three\nclock: 1 GHz\ncores: 1\ncaches:\n"
        "  - {name: L1, next: L2, serves: data, size: 24 KiB, ways: 6, latency: 3, virtually_indexed: true}\n"
        "  - {name: L2, next: L3, size: 96 KiB, ways: 6, latency: 9, replacement: tree_plru}\n"
        "  - {name: L3, next: memory, size: 3 MiB, ways: 24, latency: 30, inclusion: inclusive}\n"
        "tlbs:\n  - {name: DTLB, serves: data, entries: 32, ways: full}\n"
        "pages: {size: 4 KiB, mapping: contiguous, walk: {through: L1}}\n"
        "memory: {name: memory, size: 4 GiB, latency: 150}\n",
        "three.yaml");
}

TEST(Exact, CapacitiesOnContiguousPages) {
    for (const char* test : {"levels", "events"}) {
        const TestReport report = robust(three_levels(), test);
        for (const auto& [level, bytes] : {std::pair{"L2", 96 << 10}, std::pair{"L3", 3 << 20}}) {
            const Finding& capacity = finding(report, level, "capacity");
            EXPECT_EQ(capacity.low, bytes) << test << ' ' << level;
            EXPECT_EQ(capacity.high, bytes) << test << ' ' << level;
        }
    }
}

TEST(Exact, CapacitiesFromTimesAlone) {
    SimulatedOptions options;
    options.no_events = "none here";
    const TestReport report = robust(three_levels(), "levels", options);
    EXPECT_EQ(finding(report, "L3", "capacity").low, 3 << 20);
    EXPECT_EQ(finding(report, "L3", "capacity").high, 3 << 20);
}

// With and without counts: times of lines that nobody has used tell that memory was not reached.
TEST(Unclear, AnArenaThatLiesInACache) {
    for (const char* no_events : {"", "none here"}) {
        SimulatedOptions options;
        options.largest_arena = 2 << 20;
        options.no_events = no_events;
        const TestReport report = robust(three_levels(), "levels", options);
        expect_none_wrong(report);
        EXPECT_FALSE(finding(report, "", "levels").value);
        EXPECT_FALSE(finding(report, "memory", "latency").value);
        EXPECT_NE(finding(report, "", "levels").reason.find("a level holds them"), std::string::npos);
        EXPECT_EQ(finding(report, "L2", "capacity").low, 96 << 10);
    }
}

TEST(Unclear, ALargerArenaIsUsedWhereALevelHoldsTheUsualOne) {
    MachineDescription machine = three_levels();
    machine.caches[2].size = std::uint64_t{96} << 20;
    const TestReport report = robust(machine, "levels");
    EXPECT_EQ(finding(report, "L3", "capacity").low, 96 << 20);
    EXPECT_EQ(finding(report, "", "levels").verdict, Verdict::right);
}

// Latencies of 10, 11 and 12 cycles are no levels to times; counts say that there are more.
TEST(Unclear, LevelsThatTimesDoNotShow) {
    MachineDescription machine = three_levels();
    machine.caches[0].latency = 10;
    machine.caches[1].latency = 1;
    machine.caches[2].latency = 1;
    const TestReport report = robust(machine, "levels");
    expect_none_wrong(report);
    EXPECT_NE(finding(report, "", "levels").reason.find("misses of 3 are counted"), std::string::npos);
}

TEST(Unclear, LinesThatComeTogetherByPrefetching) {
    for (const auto& [level, kind, distance] :
         {std::tuple{0U, prefetchers::next_line, 1U}, {0U, prefetchers::stream, 2U}, {1U, prefetchers::stream, 1U}}) {
        MachineDescription machine = three_levels();
        machine.caches.pop_back();
        machine.caches[1].next = "memory";
        machine.caches[level].prefetch.kind = kind;
        machine.caches[level].prefetch.degree = 2 * distance;
        machine.caches[level].prefetch.distance = distance;
        expect_none_wrong(robust(machine, "events"));
    }
}

// Large pages of which a TLB holds none: every load on them would be translated anew.
TEST(Unclear, LargePagesThatNoTlbHolds) {
    MachineDescription machine = three_levels();
    machine.tlbs[0].page_sizes = {4096};
    machine.pages.walk_latency = 20;
    const TestReport l1 = robust(machine, "l1");
    EXPECT_EQ(finding(l1, "L1", "latency").verdict, Verdict::right);
    EXPECT_EQ(finding(l1, "L1", "capacity").verdict, Verdict::right);
    expect_none_wrong(robust(machine, "levels"));
}

// Lines and pages a power of two apart then fill several sets.
TEST(Exact, WaysWhereSetsAreAnOddMultipleOfAPowerOfTwo) {
    MachineDescription machine = three_levels();
    machine.caches.pop_back();
    machine.caches[1].next = "memory";
    machine.caches[1].size = 640 << 10;
    machine.caches[1].ways = 16;  // of 40 KiB
    machine.tlbs[0].entries = 60;
    machine.tlbs[0].ways = 6;
    for (const char* test : {"l2", "events", "tlb"}) expect_none_wrong(robust(machine, test));
    EXPECT_EQ(finding(robust(machine, "l2"), "L2", "ways").verdict, Verdict::right);
    EXPECT_EQ(finding(robust(machine, "tlb"), "TLB1", "ways").verdict, Verdict::right);
}

// By counts; by times, as pages that nobody has used take longer; and with interrupts, which make any TLB miss.
TEST(Unclear, ATlbThatHoldsTheArena) {
    MachineDescription machine = three_levels();
    TlbConfig second;
    second.name = "STLB";
    second.entries = 65536;
    second.ways = 4;
    second.latency = 7;
    machine.tlbs.push_back(second);
    machine.tlbs[0].next = "STLB";
    for (const auto& [noise, no_events] :
         {std::pair{"none", ""}, {"none", "none here"}, {"realistic", ""}, {"realistic", "none here"}}) {
        SimulatedOptions options;
        options.no_events = no_events;
        options.noise = noise_named(noise);
        const TestReport report = robust(machine, "tlb", options);
        expect_none_wrong(report);
        EXPECT_FALSE(finding(report, "", "tlb_levels").value) << noise << no_events;
        EXPECT_EQ(finding(report, "TLB1", "entries").verdict, Verdict::right) << noise << no_events;
    }
}

TEST(Unclear, NoTlbHoldsTheArenaWhereThereIsOneAlone) {
    SimulatedOptions options;
    options.no_events = "none here";
    EXPECT_EQ(finding(robust(three_levels(), "tlb", options), "", "tlb_levels").verdict, Verdict::right);
}

// A TLB of 4 KiB granules holds a page of 16 KiB in four parts.
TEST(Exact, EntriesOfPartsOfPages) {
    MachineDescription machine = three_levels();
    machine.tlbs[0].ways = 8;
    machine.tlbs[0].granule = 4096;
    machine.pages.size = 16384;
    EXPECT_EQ(finding(robust(machine, "tlb"), "TLB1", "entries").verdict, Verdict::right);
}

MachineDescription two_levels(const std::string& l1, const std::string& l2, const std::string& pages) {
    return read_machine("name: two\ncaches:\n  - {name: L1, next: L2, " + l1 + "}\n  - {name: L2, next: memory, " + l2 +
                            "}\npages: {" + pages + "}\nmemory: {latency: 150}\n",
                        "two.yaml");
}

// Caches that are full of lines are not taken for a TLB.
TEST(Unclear, MachinesWithoutATlb) {
    const MachineDescription machine = two_levels(
        "size: 16 KiB, ways: 8, latency: 4", "size: 128 KiB, ways: 16, latency: 12", "size: 4 KiB, mapping: random");
    for (const char* noise : {"none", "realistic"})
        for (const std::uint64_t seed : {1, 2, 3}) {
            SimulatedOptions options;
            options.seed = seed;
            options.noise = noise_named(noise);
            expect_none_wrong(robust(machine, "tlb", options));
        }
}

// Sets are looked at in places that no longer line lies across.
TEST(Exact, LongLines) {
    for (const char* line : {"256", "1024"}) {
        const MachineDescription machine =
            two_levels(std::string("size: 32 KiB, ways: 8, latency: 3, line: ") + line,
                       std::string("size: 512 KiB, ways: 8, latency: 12, line: ") + line, "size: 4 KiB");
        EXPECT_EQ(finding(robust(machine, "l1"), "L1", "line").low, std::stod(line));
        expect_none_wrong(robust(machine, "tlb"));
    }
}

TEST(Unclear, LoadsThatTakeNoTime) {
    const TestReport report = robust(
        two_levels("size: 32 KiB, ways: 8, latency: 0", "size: 256 KiB, ways: 8, latency: 9", "size: 4 KiB"), "l1");
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_NE(report.findings[0].reason.find("take no time"), std::string::npos);
}

// Lines find their places in sets of random replacement after many laps only.
TEST(Exact, CapacityOfAnL1OfRandomReplacement) {
    const MachineDescription machine = read_machine(
        "name: random\ncaches:\n"
        "  - {name: L1, next: L2, serves: data, size: 64 KiB, ways: 16, latency: 5, replacement: random, "
        "seed: 122937912, virtually_indexed: true}\n"
        "  - {name: L2, next: memory, size: 384 KiB, ways: 12, latency: 10}\n"
        "tlbs:\n  - {name: DTLB, serves: data, entries: 16, ways: full, replacement: fifo}\n"
        "pages: {mapping: random, walk: {through: L1, latency: 18}}\n"
        "memory: {name: memory, size: 16 GiB, latency: 375}\n",
        "random.yaml");
    const TestReport report = robust(machine, "events");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L1", "capacity").low, 64 << 10);
}

// 3072 sets: of pages of 2 MiB some pairs fill them unevenly, so that fewer lines stay than the level has room for.
TEST(Unclear, ALevelThatMostPagesFillUnevenly) {
    const MachineDescription machine = read_machine(
        "name: uneven\ncaches:\n"
        "  - {name: L1, next: L2, serves: data, size: 16 KiB, ways: 4, latency: 2, virtually_indexed: true}\n"
        "  - {name: L2, next: memory, size: 3 MiB, ways: 16, latency: 48, replacement: random, seed: 266503722}\n"
        "tlbs:\n  - {name: DTLB, serves: data, entries: 48, ways: 3}\n"
        "pages: {mapping: coloured, colours: 16, seed: 193321634, walk: {through: L1, latency: 10}}\n"
        "memory: {name: memory, size: 16 GiB, latency: 360}\n",
        "uneven.yaml");
    for (const std::uint64_t seed : {1, 2, 3}) {
        SimulatedOptions options;
        options.seed = seed;
        for (const char* test : {"events", "levels"}) expect_none_wrong(robust(machine, test, options));
    }
}

// With 257 pages some laps miss nothing: a page that the TLB above keeps by chance leaves room for the others.
TEST(Exact, EntriesBehindATlbOfRandomReplacement) {
    const MachineDescription machine = read_machine(
        "name: random first\ncaches:\n"
        "  - {name: L1, next: memory, serves: data, size: 8 KiB, ways: 4, latency: 4, virtually_indexed: true}\n"
        "tlbs:\n  - {name: DTLB, next: STLB, serves: data, entries: 64, ways: 4, replacement: random, seed: "
        "761474945}\n"
        "  - {name: STLB, entries: 256, ways: 4, latency: 7}\n"
        "pages: {size: 64 KiB, mapping: contiguous, walk: {through: L1, latency: 13}}\n"
        "memory: {name: memory, size: 16 GiB, latency: 240}\n",
        "random.yaml");
    const TestReport report = robust(machine, "events");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "TLB2", "entries").low, 256);
}

// L1 keeps lines that the exclusive level does not have: misses grow with the stride, but not as they do within a line.
TEST(Unclear, LinesOfASmallExclusiveLevel) {
    const MachineDescription machine = read_machine(
        "name: exclusive\ncaches:\n"
        "  - {name: L1, next: L2, serves: data, size: 10 KiB, ways: 5, latency: 2, virtually_indexed: true}\n"
        "  - {name: L2, next: memory, size: 40 KiB, ways: 20, latency: 4, replacement: tree_plru, inclusion: "
        "exclusive}\n"
        "tlbs:\n  - {name: DTLB, serves: data, entries: 16, ways: 2}\n"
        "pages: {size: 16 KiB, mapping: contiguous, walk: {through: L1, latency: 14}}\n"
        "memory: {name: memory, size: 16 GiB, latency: 24}\n",
        "exclusive.yaml");
    expect_none_wrong(robust(machine, "events"));
}

// 128 sets: lines that meet in them lie farther apart than the arena has pages.
TEST(Unclear, TlbsOfManySets) {
    MachineDescription machine = three_levels();
    machine.tlbs[0].entries = 512;
    machine.tlbs[0].ways = 2;
    const TestReport report = robust(machine, "tlb");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "TLB1", "entries").verdict, Verdict::right);
}

}  // namespace
}  // namespace cachetally
