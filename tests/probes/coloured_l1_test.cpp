// SPDX-License-Identifier: BSD-3-Clause
// First levels whose sets are chosen by more of the physical address than a page keeps; what other tests make of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cachetally/machine.hpp"
#include "probes/ours/coloured_l1.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

struct Coloured {
    unsigned kib = 32, ways = 2, line = 64;
    const char* policy = "lru";
    const char* more = "";
};

std::ostream& operator<<(std::ostream& out, const Coloured& l1) {
    return out << l1.kib << " KiB in " << l1.ways << ' ' << l1.policy << l1.more;
}

MachineDescription with_coloured(const Coloured& l1) {
    return read_machine(fmt::format("name: any\ncaches:\n  - {{name: L1, size: {} KiB, ways: {}, line: {}, latency: 4, "
                                    "replacement: {}{}, next: L2}}\n"
                                    "  - {{name: L2, size: 512 KiB, ways: 8, line: {}, latency: 12, next: memory}}\n"
                                    "pages: {{size: 4 KiB, mapping: random, seed: 3}}\n"
                                    "tlbs:\n  - {{name: T, entries: 64, ways: full}}\nmemory: {{latency: 100}}\n",
                                    l1.kib, l1.ways, l1.line, l1.policy, l1.more, l1.line),
                        "any.yaml");
}

void expect_found(const Coloured& l1, const TestReport& report) {
    for (const auto& [parameter, right] :
         {std::pair("capacity", l1.kib << 10), std::pair("ways", l1.ways), std::pair("line", l1.line)}) {
        const Finding& found = finding(report, "L1", parameter);
        ASSERT_TRUE(found.value) << l1 << ' ' << parameter << ": " << found.reason;
        EXPECT_EQ(found.value->number, right) << l1 << ' ' << parameter;
    }
    EXPECT_FALSE(finding(report, "L1", "indexing").value) << l1;
}

TEST(ColouredL1, IsFoundOnSmallPages) {
    for (const Coloured& l1 : std::vector<Coloured>{{},
                                                    {.kib = 32, .ways = 1, .line = 128},
                                                    {.kib = 40, .ways = 5},
                                                    {.kib = 64, .ways = 8, .line = 32, .policy = "fifo"},
                                                    {.kib = 64, .ways = 4, .policy = "tree_plru"},
                                                    {.kib = 64, .ways = 2, .policy = "nru"},
                                                    {.kib = 32, .ways = 4, .policy = "bit_plru"},
                                                    {.kib = 96, .ways = 12, .policy = "random"}})
        expect_found(l1, robust(with_coloured(l1), "l1", small_pages()));
}

TEST(ColouredL1, IsNoneOnPagesThatHoldIt) {
    const TestReport report = robust(with_coloured({}), "l1");
    EXPECT_EQ(finding(report, "L1", "capacity").value->number, 32 << 10);
    EXPECT_EQ(finding(report, "L1", "indexing").value->word, "modulo");

    SimulatedTarget target(with_coloured({.kib = 32, .ways = 8}), small_pages());
    Meter meter(target, 1);
    CompactTest compact(meter, true, 1);
    std::vector<std::string> decisions;
    EXPECT_EQ(coloured_l1(compact, decisions).why_not, "all pages are of one colour");
}

// A hash of the place of a page and of lines within pages: pages are of as many colours as there are sets.
TEST(ColouredL1, HashedSetsAreNoColours) {
    for (const char* ways : {"2", "8"})
        for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
            const Coloured l1{.ways = static_cast<unsigned>(ways[0] - '0'), .more = ", indexing: xor_hash"};
            const TestReport report = robust(with_coloured(l1), "l1", small_pages(seed));
            expect_none_wrong(report);
            SimulatedTarget target(with_coloured(l1), small_pages(seed));
            Meter meter(target, seed);
            CompactTest compact(meter, true, seed);
            std::vector<std::string> decisions;
            EXPECT_NE(coloured_l1(compact, decisions).why_not, "") << l1;
        }
}

// Lines of L1 leave it with those of L2, of which pages have four colours: 17 of one colour do not stay.
TEST(ColouredL1, ALevelThatIncludesItIsNotTakenForIt) {
    const MachineDescription machine = read_machine(
        "name: any\ncaches:\n"
        "  - {name: L1, size: 20 KiB, ways: 5, latency: 4, indexing: xor_hash, next: L2}\n"
        "  - {name: L2, size: 256 KiB, ways: 16, latency: 8, replacement: random, inclusion: inclusive, next: memory}\n"
        "pages: {size: 4 KiB, mapping: random}\ntlbs:\n  - {name: T, entries: 64, ways: full}\n"
        "memory: {latency: 100}\n",
        "any.yaml");
    SimulatedTarget target(machine, small_pages());
    Meter meter(target, 1);
    CompactTest compact(meter, true, 1);
    std::vector<std::string> decisions;
    EXPECT_THAT(coloured_l1(compact, decisions).why_not, HasSubstr("of a lower level"));
}

TEST(ColouredL1, LowerLevelsAndTlbsAreFoundBehindIt) {
    const TestReport levels = robust(with_coloured({}), "levels", small_pages()),
                     tlb = robust(with_coloured({}), "tlb", small_pages());
    expect_none_wrong(levels);
    EXPECT_TRUE(finding(levels, "L2", "capacity").value);
    expect_none_wrong(tlb);
    EXPECT_EQ(finding(tlb, "TLB1", "entries").value->number, 64);
}

TEST(ColouredL1, TestsOfLinesThatMeetRefuse) {
    for (const char* test : {"replacement", "l2"}) {
        const TestReport report = robust(with_coloured({}), test, small_pages());
        ASSERT_FALSE(report.findings.empty());
        expect_none_wrong(report);
        EXPECT_TRUE(std::ranges::any_of(report.findings, [](const Finding& each) {
            return each.reason.find("no stride makes lines meet in L1") != std::string::npos;
        })) << test;
    }
}

TEST(ColouredL1, IsRightOrRefusedInNoise) {
    unsigned found = 0;
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        SimulatedOptions options = small_pages(seed);
        options.noise = noise_named("realistic");
        const TestReport report = robust(with_coloured({.kib = 48, .ways = 3}), "l1", options);
        expect_none_wrong(report);
        found += finding(report, "L1", "capacity").value ? 1 : 0;
    }
    EXPECT_GE(found, seeds(6) * 2 / 3);
}

}  // namespace
}  // namespace cachetally
