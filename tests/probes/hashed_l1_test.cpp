// SPDX-License-Identifier: BSD-3-Clause
// First levels whose sets are chosen by a hash, as machine files state them; what other tests make of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cachetally/machine.hpp"
#include "probes/ours/hashed_l1.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

struct First {
    unsigned kib = 32, ways = 8, line = 64;
    const char* policy = "lru";
    const char* indexing = "xor_hash";
    const char* more = "";
};

std::ostream& operator<<(std::ostream& out, const First& l1) {
    return out << l1.kib << " KiB in " << l1.ways << ' ' << l1.policy << ' ' << l1.indexing;
}

MachineDescription with_l1(const First& l1, const std::string& l2 = "size: 512 KiB, ways: 8") {
    return read_machine(fmt::format("name: any\ncaches:\n  - {{name: L1, size: {} KiB, ways: {}, line: {}, latency: 4, "
                                    "replacement: {}, indexing: {}, virtually_indexed: true{}, next: L2}}\n"
                                    "  - {{name: L2, {}, line: {}, latency: 12, next: memory}}\n"
                                    "pages: {{size: 4 KiB, mapping: random}}\n"
                                    "tlbs:\n  - {{name: T, entries: 64, ways: full}}\nmemory: {{latency: 100}}\n",
                                    l1.kib, l1.ways, l1.line, l1.policy, l1.indexing, l1.more, l2, l1.line),
                        "any.yaml");
}

double number(const TestReport& report, const char* level, const char* parameter) {
    const Finding& found = finding(report, level, parameter);
    return found.value ? found.value->number : 0;
}

TEST(HashedL1, IsFound) {
    for (const First& l1 : std::vector<First>{{},
                                              {.kib = 8, .ways = 2},
                                              {.kib = 12, .ways = 3, .line = 128},
                                              {.kib = 48, .ways = 12, .policy = "tree_plru"},
                                              {.kib = 64, .ways = 16, .line = 32, .policy = "fifo"},
                                              {.kib = 16, .ways = 4, .policy = "nru"},
                                              {.kib = 16, .ways = 8, .policy = "random"}}) {
        const TestReport report = robust(with_l1(l1), "l1");
        EXPECT_EQ(number(report, "L1", "capacity"), l1.kib << 10) << l1;
        EXPECT_EQ(number(report, "L1", "ways"), l1.ways) << l1;
        EXPECT_EQ(number(report, "L1", "line"), l1.line) << l1;
        ASSERT_TRUE(finding(report, "L1", "indexing").value) << l1;
        EXPECT_EQ(finding(report, "L1", "indexing").value->word, "hashed") << l1;
    }
}

TEST(HashedL1, IsNoneWhereLinesAWayApartMeet) {
    const TestReport report = robust(with_l1({.indexing = "modulo"}), "l1");
    ASSERT_TRUE(finding(report, "L1", "indexing").value);
    EXPECT_EQ(finding(report, "L1", "indexing").value->word, "modulo");

    SimulatedTarget target(with_l1({.indexing = "modulo"}));
    Meter meter(target, 1);
    CompactTest compact(meter, true, 1);
    std::vector<std::string> decisions;
    EXPECT_THAT(hashed_l1(compact, decisions).why_not, HasSubstr("in spans no longer"));
}

// Of L2 25 lines 8 KiB apart are too many, and so, as it includes L1, for L1.
TEST(HashedL1, ALevelThatIncludesItIsNotTakenForIt) {
    const TestReport report = robust(with_l1({.kib = 24, .ways = 6, .policy = "random"},
                                             "size: 192 KiB, ways: 24, replacement: tree_plru, inclusion: inclusive"),
                                     "l1");
    EXPECT_EQ(number(report, "L1", "capacity"), 24 << 10);
    EXPECT_EQ(number(report, "L1", "ways"), 6);
}

TEST(HashedL1, LowerLevelsAndTlbsAreFoundBehindIt) {
    const MachineDescription machine = with_l1({});
    const TestReport levels = robust(machine, "levels"), tlb = robust(machine, "tlb");
    EXPECT_EQ(finding(levels, "L2", "capacity").verdict, Verdict::right);
    EXPECT_EQ(finding(levels, "L2", "latency").verdict, Verdict::right);
    EXPECT_EQ(finding(levels, "memory", "latency").verdict, Verdict::right);
    EXPECT_EQ(number(levels, "", "levels"), 2);
    expect_none_wrong(tlb);
    EXPECT_EQ(number(tlb, "TLB1", "entries"), 64);
}

// Four lines ahead: loads of all lines of a span take less than memory does, and so do those of every fourth.
TEST(HashedL1, LatencyOfMemoryIsNotThatOfLinesFetchedEarly) {
    const TestReport report =
        robust(with_l1({.more = ", prefetch: {kind: next_line, distance: 4}"}, "size: 256 KiB, ways: 8"), "levels");
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "memory", "latency").reason, HasSubstr("fetched early"));
}

TEST(HashedL1, TestsOfLinesThatMeetRefuse) {
    for (const char* test : {"replacement", "l2", "physical"}) {
        const TestReport report = robust(with_l1({}), test);
        ASSERT_FALSE(report.findings.empty());
        EXPECT_THAT(report.findings.front().reason, HasSubstr("no stride makes lines meet in L1")) << test;
    }
}

TEST(HashedL1, IsRightOrRefusedInNoise) {
    unsigned found = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SimulatedOptions options;
        options.seed = seed;
        options.noise = noise_named("realistic");
        const TestReport report = robust(with_l1({}), "l1", options);
        expect_none_wrong(report);
        found += finding(report, "L1", "capacity").value ? 1 : 0;
    }
    EXPECT_GE(found, 4U);
}

}  // namespace
}  // namespace cachetally
