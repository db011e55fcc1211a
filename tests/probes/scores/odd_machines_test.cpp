// SPDX-License-Identifier: BSD-3-Clause
// Machines on which something else than the level in question is in the times: refused, or judged by what times show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

MachineDescription odd_machine(const std::string& parts) { return read_machine("name: odd\n" + parts, "odd.yaml"); }

SimulatedOptions by_times_alone() {
    SimulatedOptions options;
    options.no_events = "none here";
    return options;
}

MachineDescription with_free_second_tlb() {
    return odd_machine(
        "caches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 4, next: L2}\n"
        "  - {name: L2, size: 1 MiB, ways: 16, latency: 12, next: memory}\n"
        "tlbs:\n  - {name: T1, entries: 16, ways: 4, next: T2}\n  - {name: T2, entries: 64, ways: 4}\n"
        "memory: {latency: 150}\n");
}

// A hit in the second costs nothing: to times there is one TLB, of 64 entries; counts show both.
TEST(OddMachine, ATlbBeforeOneThatCostsNothing) {
    for (const bool counted : {true, false}) {
        const TestReport report =
            robust(with_free_second_tlb(), "tlb", counted ? SimulatedOptions{} : by_times_alone());
        expect_none_wrong(report);
        EXPECT_EQ(finding(report, "TLB1", "entries").value->number, counted ? 16 : 64);
        EXPECT_EQ(finding(report, "", "tlb_levels").value->number, counted ? 2 : 1);
        EXPECT_EQ(finding(report, "", "tlb_levels").truth->number, counted ? 2 : 1);
    }
}

// Of three the first and the second are told apart, the second and the third are not.
TEST(OddMachine, TlbsThatTakeTimeAreNotMerged) {
    MachineDescription machine = with_free_second_tlb();
    machine.tlbs[1].latency = 5;
    EXPECT_EQ(facts_of(machine).size(), facts_of(machine, Reading::as_built, Evidence::times_alone).size());
    machine.tlbs.push_back(machine.tlbs[1]);
    machine.tlbs[1].next = machine.tlbs[2].name = "T3";
    machine.tlbs[2].entries = 512;
    machine.tlbs[2].latency = 0;
    std::vector<std::pair<std::string, double>> entries;
    for (const Fact& fact : facts_of(machine, Reading::as_built, Evidence::times_alone))
        if (fact.parameter == "entries") entries.emplace_back(fact.level, fact.value.number);
    EXPECT_THAT(entries, ::testing::ElementsAre(std::pair("TLB1", 16.0), std::pair("TLB2", 512.0)));
}

// On pages of 2 MiB the first TLB holds pieces of 4 KiB, and is full before L1 is.
TEST(OddMachine, ATlbOfPiecesIsNotL1) {
    for (const char* entries : {"8", "16"}) {
        const MachineDescription machine =
            odd_machine(std::string("caches:\n  - {name: L1, size: 48 KiB, ways: 12, latency: 5, next: L2}\n"
                                    "  - {name: L2, size: 2 MiB, ways: 16, latency: 10, next: memory}\n"
                                    "tlbs:\n  - {name: T1, ways: full, granule: 4 KiB, next: T2, entries: ") +
                        entries + "}\n  - {name: T2, entries: 512, ways: 4, latency: 7}\nmemory: {latency: 200}\n");
        const TestReport l1 = robust(machine, "l1");
        expect_none_wrong(l1);
        EXPECT_THAT(finding(l1, "L1", "line").reason, HasSubstr("pieces of 4 KiB, longer than any line"));
        expect_none_wrong(robust(machine, "levels"));
    }
}

// Loads on large pages pass the first TLB by: 1 + 4 cycles; those on the machine's own take 3 + 4.
TEST(OddMachine, LargePagesThatPassTheFirstTlbBy) {
    MachineDescription machine = odd_machine(
        "caches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 4, next: L2, virtually_indexed: true}\n"
        "  - {name: L2, size: 512 KiB, ways: 8, latency: 14, next: memory}\n"
        "tlbs:\n  - {name: A, entries: 64, ways: 4, latency: 3, page_sizes: [4 KiB], next: B}\n"
        "  - {name: B, entries: 256, ways: 8, latency: 1}\nmemory: {latency: 150}\n");
    const TestReport report = robust(machine, "levels");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "latency").truth->number, 19);
    EXPECT_EQ(finding(report, "L2", "latency").truth_high, 21);
    TestReport told;
    told.answer("L1", "latency", 5, 5, 5, "cycles", "");
    told.answer("L1", "latency", 7, 7, 7, "cycles", "");
    told.answer("L1", "latency", 6, 6, 6, "cycles", "");  // neither
    judge(told, machine);
    EXPECT_EQ(told.findings[0].verdict, Verdict::right);
    EXPECT_EQ(told.findings[1].verdict, Verdict::right);
    EXPECT_EQ(told.findings[2].verdict, Verdict::wrong);
    machine.tlbs[1].latency = 9;  // slower: tests do not prefer large pages
    judge(told, machine);
    EXPECT_EQ(told.findings[1].truth_high, 0);
    EXPECT_EQ(told.findings[1].verdict, Verdict::right);
}

// Two hashed sets of 4 ways look like one of 8, as many draws of lines fill them evenly.
TEST(OddMachine, TwoHashedSetsAreNoSetOfTwiceTheWays) {
    const MachineDescription machine = odd_machine(
        "caches:\n  - {name: L1, size: 512, ways: 4, latency: 4, indexing: xor_hash, next: L2}\n"
        "  - {name: L2, size: 256 KiB, ways: 8, latency: 12, next: memory}\nmemory: {latency: 150}\n");
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SimulatedTarget target(machine);
        SuiteOptions suite;
        suite.tests = {"l1"};
        suite.published = false;
        suite.seed = seed;
        TestReport report = run_suite(target, suite).back();
        judge(report, machine);
        expect_none_wrong(report);
    }
}

// One set that is none of two: all draws of lines stay.
TEST(OddMachine, OneSetIsFound) {
    const MachineDescription machine = odd_machine(
        "caches:\n  - {name: L1, size: 2 KiB, ways: 32, latency: 4, next: L2}\n"
        "  - {name: L2, size: 256 KiB, ways: 8, latency: 12, next: memory}\nmemory: {latency: 150}\n");
    EXPECT_EQ(finding(robust(machine, "l1"), "L1", "ways").verdict, Verdict::right);
}

// L1 with bits for a policy overflows by and by; and what is left of it below is taken for less of L2.
TEST(OddMachine, HowL1OverflowsIsNoLevel) {
    const std::string l1 = "caches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 4, replacement: bit_plru, next: ";
    const MachineDescription one = odd_machine(l1 + "memory}\nmemory: {latency: 150}\n");
    const TestReport report = robust(one, "levels", by_times_alone());
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "", "levels").reason, HasSubstr("how the one above it overflows"));
    const MachineDescription two = odd_machine(
        l1 + "L2}\n  - {name: L2, size: 64 KiB, ways: 2, latency: 12, next: memory}\nmemory: {latency: 150}\n");
    expect_none_wrong(robust(two, "levels"));
}

// Lines that L1 gives up take the link as long as those that it gets.
TEST(OddMachine, LoadsThatWaitForALinkAreNoLatency) {
    const MachineDescription machine = odd_machine(
        "caches:\n  - {name: L1, size: 16 KiB, ways: 2, line: 128, latency: 1, bus: {bytes_per_cycle: 16}, next: L2}\n"
        "  - {name: L2, size: 64 KiB, ways: 16, line: 128, latency: 4, inclusion: exclusive, next: memory}\n"
        "memory: {latency: 150}\n");
    const TestReport report = robust(machine, "levels");
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "L2", "latency").reason, HasSubstr("busy with those before"));
    MachineDescription wide = machine;
    wide.caches[0].bus.bytes_per_cycle = 0;
    EXPECT_EQ(finding(robust(wide, "levels"), "L2", "latency").verdict, Verdict::right);
}

// A second core takes all lines of an inclusive L2, and with them those of L1.
TEST(OddMachine, L1ThatOthersTakeLinesFrom) {
    const MachineDescription machine = odd_machine(
        "clock: 2 GHz\ncaches:\n"
        "  - {name: L1, size: 11264, ways: 11, line: 16, latency: 3, virtually_indexed: true, next: L2}\n"
        "  - {name: L2, size: 22528, ways: 8, line: 16, latency: 2, replacement: fifo, inclusion: inclusive, next: "
        "memory}\n"
        "pages: {size: 4096, mapping: coloured, colours: 2, seed: 201}\nmemory: {latency: 300, size: 16 GiB}\n");
    SimulatedOptions heavy;
    heavy.noise = noise_named("heavy");
    const TestReport report = robust(machine, "l1", heavy);
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "L1", "capacity").reason, HasSubstr("others may take lines away"));
}

// A second core keeps a part of the last level; interrupts alone, beside which nothing is counted either, do not.
TEST(OddMachine, ALastLevelThatOthersTakeLinesFrom) {
    const MachineDescription machine = load_machine("arm-cortex-a9");
    SimulatedOptions options = by_times_alone();
    options.noise = noise_named("heavy");
    const TestReport shared = robust(machine, "levels", options);
    expect_none_wrong(shared);
    EXPECT_THAT(finding(shared, "L2", "capacity").reason,
                ::testing::AnyOf(HasSubstr("others take lines"), HasSubstr("how the one above it overflows")));
    options.noise = noise_named("realistic");
    EXPECT_EQ(finding(robust(machine, "levels", options), "L2", "capacity").verdict, Verdict::right);
}

// A test that ends without an answer is told by a parameter that there is: in some tests of the same name.
TEST(OddMachine, ASpentShareIsToldByAParameter) {
    const std::set<std::string> alike{"levels", "prefetcher", "replacement", "latency", "parallelism", "bandwidth"};
    SuiteOptions suite;
    suite.budget.most_cycles = 10;
    SimulatedTarget target(with_free_second_tlb());
    for (const TestReport& report : run_suite(target, suite)) {
        ASSERT_EQ(report.findings.size(), 1U) << report.test;
        EXPECT_EQ(report.findings[0].parameter == report.test, alike.contains(report.test)) << report.test;
    }
}

}  // namespace
}  // namespace cachetally
