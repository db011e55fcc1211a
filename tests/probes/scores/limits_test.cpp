// SPDX-License-Identifier: BSD-3-Clause
// What times or counts alone leave open is refused, with the reason, rather than told wrong.
#include <fmt/format.h>

#include "cachetally/probe_strings.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

struct Few {
    std::string l1 = "size: 32 KiB, ways: 8, latency: 4", l2 = "size: 256 KiB, ways: 8, latency: 12";
    std::string tlb = "entries: 64, ways: 4", pages = "size: 4 KiB, mapping: contiguous", memory = "latency: 200";
};

MachineDescription machine_of_few(const Few& parts) {
    return read_machine(fmt::format("name: few\nclock: 1 GHz\ncaches:\n"
                                    "  - {{name: L1, next: L2, serves: data, virtually_indexed: true, {}}}\n"
                                    "  - {{name: L2, next: memory, {}}}\n"
                                    "tlbs:\n  - {{name: DTLB, serves: data, {}}}\n"
                                    "pages: {{{}}}\nmemory: {{{}}}\n",
                                    parts.l1, parts.l2, parts.tlb, parts.pages, parts.memory),
                        "few.yaml");
}

SimulatedOptions without_events() {
    SimulatedOptions options;
    options.no_events = "none here";
    return options;
}

/// A third level of 4 MiB that takes so much longer than the second.
MachineDescription with_third_level(unsigned cycles) {
    MachineDescription machine = machine_of_few({});
    machine.caches[1].latency = 46;
    machine.caches[1].next = "L3";
    CacheConfig third = machine.caches[1];
    third.name = "L3";
    third.next = "memory";
    third.size = 4 << 20;
    third.latency = cycles;
    machine.caches.push_back(third);
    return machine;
}

// 50 cycles, and 51 to 55.
TEST(Limits, LevelsOfNearlyTheSameLatencyAreNotTakenForOne) {
    for (const unsigned cycles : {1, 2, 4, 5}) {
        const TestReport report = robust(with_third_level(cycles), "levels", without_events());
        expect_none_wrong(report);
        EXPECT_FALSE(finding(report, "", "levels").value);
        for (const char* parameter : {"capacity", "latency"})
            EXPECT_NE(finding(report, "L2", parameter).reason.find("of nearly the same latency"), std::string::npos);
        EXPECT_EQ(finding(report, "memory", "latency").verdict, Verdict::right);
        expect_none_wrong(robust(with_third_level(cycles), "change_points", without_events()));
        expect_none_wrong(robust(with_third_level(cycles), "l2", without_events()));
    }
    const TestReport clear = robust(with_third_level(20), "levels", without_events());
    EXPECT_EQ(finding(clear, "", "levels").verdict, Verdict::right);
}

TEST(Limits, ALevelThatIsNearlyAsSlowAsMemory) {
    MachineDescription machine = machine_of_few({});
    machine.caches[1].latency = 196;
    machine.memories.front().latency = 12;
    const TestReport report = robust(machine, "levels", without_events());
    expect_none_wrong(report);
    EXPECT_FALSE(finding(report, "", "levels").value);
    EXPECT_NE(finding(report, "memory", "latency").reason.find("too little for a level"), std::string::npos);
}

// 72 KiB in sets that are three times a power of two: of the lines that L1 adds some do not stay.
TEST(Limits, AnExclusiveSecondLevelOfOddSets) {
    Few parts;
    parts.l1 = "size: 16 KiB, ways: 8, latency: 1";
    parts.l2 = "size: 72 KiB, ways: 6, latency: 4, inclusion: exclusive";
    const TestReport report = robust(machine_of_few(parts), "l2");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "ways").low, 6);
    EXPECT_EQ(finding(report, "L2", "capacity").low, 72 << 10);
}

// A bank that is busy for 200 cycles: chains take that, or half of it by turns, but a load alone takes 66.
TEST(Limits, MemoryThatIsBusyWithTheLoadBefore) {
    for (const char* memory : {"latency: 50, banks: 2, bank_busy: 200", "latency: 50, bank_busy: 120",
                               "latency: 50, banks: 8, bank_busy: 900"})
        for (const char* noise : {"none", "realistic"}) {
            Few parts;
            parts.memory = memory;
            SimulatedOptions options;
            options.noise = noise_named(noise);
            const TestReport report = robust(machine_of_few(parts), "levels", options);
            expect_none_wrong(report);
            EXPECT_NE(finding(report, "memory", "latency").reason.find("still busy"), std::string::npos) << memory;
            expect_none_wrong(robust(machine_of_few(parts), "prefetcher", options));
        }
    Few quick;
    quick.memory = "latency: 100, banks: 2, bank_busy: 100";
    EXPECT_EQ(finding(robust(machine_of_few(quick), "levels"), "memory", "latency").verdict, Verdict::right);
}

// 64 lines ahead is beyond the page, and 60 nearly so; but not so many halves of lines, nor the last lines.
TEST(Limits, PrefetchersThatLookFarAhead) {
    for (const auto& [kind, distance] : {std::pair{"stride", 1},
                                         {"stride", 16},
                                         {"stride", 64},
                                         {"next_line", 48},
                                         {"next_line", 56},
                                         {"next_line", 60},
                                         {"next_line", 63},
                                         {"stream", 56},
                                         {"stream", 61}})
        for (const char* no_events : {"", "none here"}) {
            Few parts;
            parts.l1 += fmt::format(", prefetch: {{kind: {}, degree: 8, distance: {}}}", kind, distance);
            SimulatedOptions options;
            options.no_events = no_events;
            const TestReport report = robust(machine_of_few(parts), "prefetcher", options);
            EXPECT_EQ(finding(report, "", "prefetcher").value->word, "present") << kind << distance << no_events;
            EXPECT_EQ(finding(report, "", "prefetcher").verdict, Verdict::right) << kind << distance << no_events;
        }
    EXPECT_EQ(finding(robust(machine_of_few({}), "prefetcher"), "", "prefetcher").verdict, Verdict::right);
}

// No line of 4 KiB is 64 lines ahead of another.
TEST(Limits, APrefetcherThatNeverBringsALineIsNone) {
    for (const char* prefetch : {"kind: next_line, distance: 64", "kind: stream, distance: 62"}) {
        Few parts;
        parts.l1 += fmt::format(", prefetch: {{{}}}", prefetch);
        EXPECT_EQ(finding(robust(machine_of_few(parts), "prefetcher"), "", "prefetcher").verdict, Verdict::right);
    }
}

// Lines a page apart meet in so few sets of these caches that they leave as pages of 12 ways would.
TEST(Limits, WaysOfATlbBesideASmallL1) {
    Few parts;
    parts.l1 = "size: 1536, ways: 3, line: 32, latency: 3";
    parts.l2 = "size: 192 KiB, ways: 3, line: 32, latency: 12";
    parts.tlb = "entries: 48, ways: full";
    parts.memory = "latency: 400";
    for (const char* no_events : {"", "none here"}) {
        SimulatedOptions options;
        options.no_events = no_events;
        const TestReport report = robust(machine_of_few(parts), "tlb", options);
        expect_none_wrong(report);
        EXPECT_EQ(finding(report, "TLB1", "ways").low, 48);
    }
}

// Entries of 4 and 8 KiB for pages of 64 and 16 KiB, in sets that single pages do not fill evenly.
TEST(Limits, EntriesThatHoldPartsOfPages) {
    for (const auto& [tlb, kib] : {std::pair{"entries: 192, ways: 4, granule: 4 KiB", 64},
                                   {"entries: 128, ways: 4, granule: 4 KiB", 64},
                                   {"entries: 48, ways: 4, granule: 4 KiB", 8},
                                   {"entries: 64, ways: 4, granule: 8 KiB", 16},
                                   {"entries: 24, ways: 3, granule: 8 KiB", 64},
                                   {"entries: 32, ways: full, granule: 4 KiB", 16}})
        for (const char* no_events : {"", "none here"}) {
            Few parts;
            parts.tlb = tlb;
            parts.pages = fmt::format("size: {} KiB, mapping: contiguous", kib);
            SimulatedOptions options;
            options.no_events = no_events;
            const TestReport report = robust(machine_of_few(parts), "tlb", options);
            expect_none_wrong(report);
            if (options.no_events.empty()) {
                EXPECT_EQ(finding(report, "TLB1", "entries").verdict, Verdict::right) << tlb;
            }
            expect_none_wrong(robust(machine_of_few(parts), "events", options));
        }
}

// As many pages stay as an entry for each would hold, or fewer: those in a row share entries, or sets.
TEST(Limits, PagesThatTlbsCoalesce) {
    for (const char* tlb : {"entries: 64, ways: 4, coalesces: 4", "entries: 32, ways: full, coalesces: 2",
                            "entries: 48, ways: 3, coalesces: 2", "entries: 24, ways: 3, coalesces: 16",
                            "next: STLB, entries: 40, ways: 8}\n"
                            "  - {name: STLB, latency: 7, entries: 384, ways: 6, coalesces: 4"})
        for (const char* mapping : {"contiguous", "random"})
            for (const char* no_events : {"", "none here"}) {
                Few parts;
                parts.tlb = tlb;
                parts.pages = fmt::format("size: 4 KiB, mapping: {}", mapping);
                SimulatedOptions options;
                options.no_events = no_events;
                for (const char* test : {"tlb", "events"})
                    expect_none_wrong(robust(machine_of_few(parts), test, options));
            }
    Few parts;
    parts.tlb = "entries: 64, ways: 4, coalesces: 4";
    const TestReport report = robust(machine_of_few(parts), "tlb");
    EXPECT_NE(finding(report, "TLB1", "entries").reason.find("coalesce"), std::string::npos);
    const TestReport counted = robust(machine_of_few(parts), "events");
    EXPECT_EQ(finding(counted, "TLB1", "entries").low, 64);
    EXPECT_EQ(finding(counted, "TLB1", "page").low, 16384);
}

// 192 entries of 4 KiB hold 768 KiB of large pages: little less than the level of 1 MiB.
TEST(Limits, ATlbThatHoldsNearlyAsMuchAsALevel) {
    Few parts;
    parts.l2 = "size: 1 MiB, ways: 16, latency: 12";
    parts.tlb = "entries: 192, ways: 4, granule: 4 KiB";
    parts.pages = "size: 64 KiB, mapping: contiguous";
    const TestReport report = robust(machine_of_few(parts), "levels");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "capacity").low, 1 << 20);
    for (const char* test : {"levels", "change_points"})
        expect_none_wrong(robust(machine_of_few(parts), test, without_events()));
}

// The first TLB keeps whole pages from the second.
TEST(Limits, PartsOfPagesBehindATlbOfWholeOnes) {
    for (const char* second : {"entries: 128, ways: 8", "entries: 256, ways: 4", "entries: 384, ways: 12"})
        for (const char* no_events : {"", "none here"}) {
            Few parts;
            parts.tlb = fmt::format(
                "next: STLB, entries: 40, ways: 8}}\n  - {{name: STLB, latency: 7, granule: 4 KiB, {}", second);
            parts.pages = "size: 64 KiB, mapping: contiguous";
            SimulatedOptions options;
            options.no_events = no_events;
            for (const char* test : {"tlb", "events"}) expect_none_wrong(robust(machine_of_few(parts), test, options));
        }
}

// Of L2's lines the prefetcher brings most, but not where lines lie far apart.
TEST(Limits, LinesFetchedEarlyTellNoLatency) {
    Few parts;
    parts.l1 = "size: 16 KiB, ways: 8, latency: 1, replacement: tree_plru, indexing: xor_hash";
    parts.l2 = "size: 96 KiB, ways: 6, latency: 3, prefetch: {kind: next_line, degree: 1, distance: 4}";
    parts.memory = "latency: 60";
    MachineDescription machine = machine_of_few(parts);
    CacheConfig third = machine.caches[1];
    third.name = "L3";
    third.size = 384 << 10;
    third.latency = 8;
    third.prefetch = {};
    machine.caches[1].next = "L3";
    machine.caches.push_back(third);
    const TestReport report = robust(machine, "levels");
    expect_none_wrong(report);
    EXPECT_NE(finding(report, "L3", "latency").reason.find("fetched early"), std::string::npos);
    EXPECT_EQ(finding(report, "L3", "capacity").verdict, Verdict::right);
}

// 2304 KiB in ways of 384 KiB: lines of a second large page meet those of the first in full sets, at any offset.
TEST(Limits, ARiseAtTheEndOfALargePageIsNoCapacity) {
    SimulatedOptions options;
    options.seed = 7478505031062489095;  // of the pages' places
    const TestReport report = robust(
        read_machine(
            "name: odd\ncaches:\n"
            "  - {name: L1, next: L2, serves: data, size: 32 KiB, ways: 4, replacement: random}\n"
            "  - {name: L2, next: L3, size: 384 KiB, ways: 24, latency: 3, replacement: fifo, inclusion: inclusive}\n"
            "  - {name: L3, next: memory, size: 2304 KiB, ways: 6, latency: 8, inclusion: inclusive}\n"
            "tlbs:\n  - {name: DTLB, next: STLB, serves: data, entries: 16, ways: full}\n"
            "  - {name: STLB, entries: 128, ways: 4, latency: 10, replacement: tree_plru}\n"
            "pages: {mapping: coloured, colours: 4, seed: 807485752, walk: {through: L1, latency: 7}}\n"
            "memory: {size: 16 GiB, latency: 60}\n",
            "odd.yaml"),
        "levels", options);
    expect_none_wrong(report);
    EXPECT_NE(finding(report, "L3", "capacity").reason.find("2304 KiB by resident lines"), std::string::npos);
}

// Of a lap that takes longer than is left only so much is made, and others are told to end within it.
TEST(Limits, ABudgetEndsWithinALap) {
    SimulatedTarget target(machine_of_few({}));
    const Arena arena = target.make_arena(std::uint64_t{64} << 20, std::uint64_t{2} << 20);
    const Offsets lines = random_string(arena.bytes, 64, 1);
    Budget budget;
    budget.most_cycles = 50'000;
    target.keep_to(budget);
    EXPECT_THROW(target.run(arena, {lines}, {}), BudgetSpent);
    EXPECT_EQ(target.cost().cycles, 50'000);
    EXPECT_LT(target.cost().simulated, 1000U);
    EXPECT_THROW(target.latencies(arena, {lines}, 1, 4), BudgetSpent);
    EXPECT_EQ(target.cost().cycles, 50'000);
    unsigned asked = 0;
    target.keep_to({1e12, ~0ULL, [&] { return ++asked < 3; }});
    EXPECT_THROW(target.run(arena, {lines}, {}), ProbingEnded);
    EXPECT_LT(target.cost().simulated, lines.size());
}

TEST(Limits, ASuiteSpendsNoMoreThanItsBudget) {
    SimulatedTarget target(machine_of_few({}));
    SuiteOptions suite;
    suite.tests = {"l1", "levels", "tlb"};
    suite.budget.most_cycles = 3e6;
    for (const TestReport& report : run_suite(target, suite)) EXPECT_LE(report.cost.cycles, 3e6);
    EXPECT_LE(target.cost().cycles, 3e6);
}

}  // namespace
}  // namespace cachetally
