// SPDX-License-Identifier: BSD-3-Clause
// Capacities and ways by resident lines are those of the machine file, wherever pages lie.
#include "probes/ours/resident_lines.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cachetally/machine.hpp"
#include "probes/targets/simulated.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

struct Levels {
    std::string l1 = "size: 16 KiB, ways: 4", l2 = "size: 128 KiB, ways: 8", l3 = "size: 1 MiB, ways: 16";
    std::string l1_policy = "lru", l2_policy = "lru", inclusion = "nine", page = "4 KiB";
};

MachineDescription machine_of_levels(const Levels& levels) {
    return read_machine(
        fmt::format("name: any\ncaches:\n"
                    "  - {{name: L1, {}, latency: 3, replacement: {}, next: L2}}\n"
                    "  - {{name: L2, {}, latency: 9, replacement: {}, inclusion: {}, next: L3}}\n"
                    "  - {{name: L3, {}, latency: 30, replacement: tree_plru, next: memory}}\n"
                    "pages: {{size: {}, mapping: random}}\ntlbs:\n  - {{name: T, entries: 1024, ways: full}}\n"
                    "memory: {{latency: 100}}\n",
                    levels.l1, levels.l1_policy, levels.l2, levels.l2_policy, levels.inclusion, levels.l3, levels.page),
        "any.yaml");
}

ResidentLines residents_of(const Levels& levels, unsigned level, SimulatedOptions options = {},
                           const L1Geometry& l1 = {.capacity = 16 << 10, .line = 64, .ways = 4, .latency = 3}) {
    const std::uint64_t seed = options.seed;
    SimulatedTarget target(machine_of_levels(levels), std::move(options));
    Meter meter(target, seed);
    std::vector<std::string> decisions;
    return find_resident_lines(meter, l1, level, Asked::ways, decisions);
}

SimulatedOptions on_small_pages() {
    SimulatedOptions options;
    options.large_pages.clear();
    return options;
}

struct ResidentSecond {
    Levels levels;
    double kib;
    unsigned ways;
};

// L1 hides some lines of the level: as many ways, policies that keep lines, ways of L2 that are shorter or no power of
// two, pages longer than a way.
TEST(ResidentLines, FillTheSecondLevel) {
    for (const auto& [levels, kib, ways] : std::vector<ResidentSecond>{
             {{}, 128, 8},
             {{.l2 = "size: 64 KiB, ways: 4"}, 64, 4},
             {{.l2 = "size: 48 KiB, ways: 16"}, 48, 16},
             {{.l2 = "size: 96 KiB, ways: 8"}, 96, 8},
             {{.l1_policy = "random", .l2_policy = "random"}, 128, 8},
             {{.l1_policy = "tree_plru", .l2_policy = "fifo", .inclusion = "inclusive"}, 128, 8},
             {{.l2_policy = "bit_plru", .page = "64 KiB"}, 128, 8}})
        for (const bool small : {false, true}) {
            const ResidentLines found = residents_of(levels, 2, small ? on_small_pages() : SimulatedOptions{});
            EXPECT_EQ(found.why_not, "") << levels.l2 << levels.l1_policy << small;
            EXPECT_LE(found.low, kib * 1024) << levels.l2 << levels.l1_policy << small;
            EXPECT_GE(found.high, kib * 1024) << levels.l2 << levels.l1_policy << small;
            EXPECT_LE(found.high - found.low, 0.1 * kib * 1024);
            if (levels.l1_policy == "random" && found.ways == 0) continue;  // which L1 keeps is not the same each time
            EXPECT_EQ(found.ways, ways) << levels.l2 << levels.l1_policy << small;
        }
}

TEST(ResidentLines, FillTheThirdLevel) {
    const ResidentLines found = residents_of({}, 3, on_small_pages());
    EXPECT_EQ(found.why_not, "");
    EXPECT_LE(found.low, 1 << 20);
    EXPECT_GE(found.high, 1 << 20);
    EXPECT_EQ(found.ways, 16);
}

// An exclusive level holds what L1 does besides.
TEST(ResidentLines, MayIncludeThoseOfL1) {
    const ResidentLines found = residents_of({.inclusion = "exclusive"}, 2, on_small_pages());
    EXPECT_EQ(found.why_not, "");
    EXPECT_LE(found.low, (128 + 16) << 10);
    EXPECT_GE(found.high, 128 << 10);
}

// The first lines of each set of L1 always hit there, and more of them than L2 has ways may share a set of it, where
// no other line fits then: 50 of 64 KiB.
// All lines that meet in one set of L1 and of L2 meet in one of L3, which includes both and has fewer ways.
TEST(ResidentLines, ThatTheNextLevelTakesTellNoWays) {
    const Levels levels{.l1 = "size: 4 KiB, ways: 1, line: 32, serves: data",
                        .l2 = "size: 24 KiB, ways: 16, line: 32",
                        .l3 = "size: 72 KiB, ways: 6, line: 32, inclusion: inclusive"};
    const L1Geometry l1{.capacity = 4 << 10, .line = 32, .ways = 1, .latency = 3};
    EXPECT_EQ(residents_of(levels, 2, {}, l1).ways, 0U);
}

TEST(ResidentLines, DoNotRestOnL1) {
    const Levels levels{.l1 = "size: 32 KiB, ways: 8", .l2 = "size: 64 KiB, ways: 2", .l1_policy = "bit_plru"};
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        SimulatedOptions options = on_small_pages();
        options.seed = seed;
        const ResidentLines found =
            residents_of(levels, 2, options, {.capacity = 32 << 10, .line = 64, .ways = 8, .latency = 3});
        EXPECT_TRUE(!found.why_not.empty() || (found.low <= 64 << 10 && found.high >= 64 << 10))
            << found.capacity << ' ' << seed;
    }
}

// A single order may always find a set too full that no other one does; all lines would be rejected.
TEST(ResidentLines, OfAnExclusiveLevelAreFoundInManyOrders) {
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        SimulatedOptions options = on_small_pages();
        options.seed = seed;
        const ResidentLines found =
            residents_of({.l1 = "size: 10 KiB, ways: 5",
                          .l2 = "size: 80 KiB, ways: 10",
                          .l1_policy = "tree_plru",
                          .l2_policy = "tree_plru",
                          .inclusion = "exclusive",
                          .page = "8 KiB"},
                         2, options, {.capacity = 10 << 10, .line = 64, .ways = 5, .latency = 3});
        EXPECT_EQ(found.why_not, "") << seed;
        EXPECT_LE(found.low, 90 << 10) << seed;
        EXPECT_GE(found.high, 80 << 10) << seed;
    }
}

// More lines than sets of both have room for stay in some orders. All others then seem too many, though most of the
// level is free.
TEST(ResidentLines, AreThoseThatStayInAnyOrder) {
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed)
        for (const bool small : {false, true}) {
            SimulatedOptions options = small ? on_small_pages() : SimulatedOptions{};
            options.seed = seed;
            const ResidentLines fifo =
                residents_of({.l1 = "size: 40 KiB, ways: 10",
                              .l2 = "size: 192 KiB, ways: 12",
                              .l2_policy = "fifo",
                              .inclusion = "exclusive"},
                             2, options, {.capacity = 40 << 10, .line = 64, .ways = 10, .latency = 3});
            const ResidentLines bits =
                residents_of({.l1 = "size: 8 KiB, ways: 2",
                              .l2 = "size: 96 KiB, ways: 6",
                              .l1_policy = "tree_plru",
                              .l2_policy = "bit_plru",
                              .inclusion = "exclusive"},
                             2, options, {.capacity = 8 << 10, .line = 64, .ways = 2, .latency = 3});
            EXPECT_TRUE(!fifo.why_not.empty() || (fifo.high >= (192 << 10) && fifo.low <= (232 << 10)))
                << fifo.capacity << ' ' << seed << small;
            EXPECT_TRUE(!bits.why_not.empty() || (bits.high >= (96 << 10) && bits.low <= (104 << 10)))
                << bits.capacity << ' ' << seed << small;
        }
}

// A hashed L1 holds lines wherever they lie: so many are used that it does not.
TEST(ResidentLines, PassAHashedL1) {
    const ResidentLines found =
        residents_of({.l1 = "size: 16 KiB, ways: 4, indexing: xor_hash"}, 2, on_small_pages(),
                     {.capacity = 16 << 10, .line = 64, .ways = 4, .latency = 3, .scattered = true});
    EXPECT_EQ(found.why_not, "");
    EXPECT_EQ(found.ways, 8);
    EXPECT_LE(found.low, 128 << 10);
    EXPECT_GE(found.high, 128 << 10);
}

TEST(ResidentLines, AreRefusedWithoutCounts) {
    SimulatedOptions options = on_small_pages();
    options.no_events = "hidden";
    EXPECT_NE(residents_of({}, 2, options).why_not, "");
    EXPECT_NE(residents_of({}, 4).why_not, "") << "a level that is not there";
}

// As users ask for them: small pages left most of it open.
TEST(ResidentLines, TellLevelsAndL2) {
    SimulatedTarget target(machine_of_levels({.l3 = "size: 512 KiB, ways: 16", .page = "16 KiB"}), on_small_pages());
    SuiteOptions suite;
    suite.tests = {"levels", "l2"};
    suite.published = false;
    for (TestReport& report : run_suite(target, suite)) {
        judge(report, facts_of(machine_of_levels({.l3 = "size: 512 KiB, ways: 16"})));
        expect_none_wrong(report);
        const bool of_l2 = report.test == "l2";
        EXPECT_EQ(report.find("L2", of_l2 ? "ways" : "capacity") != nullptr, true) << report.test;
        EXPECT_EQ(report.find("L3", "capacity") != nullptr, report.test == "levels") << report.test;
    }
}

// Lines are held after all else is found; what they cost beyond the budget takes nothing of that away.
TEST(ResidentLines, AreGivenUpWhereTheBudgetEnds) {
    const MachineDescription machine = machine_of_levels({.l3 = "size: 512 KiB, ways: 16", .page = "16 KiB"});
    SuiteOptions suite;
    suite.tests = {"levels"};
    suite.published = false;
    SimulatedTarget whole(machine, on_small_pages());
    const TestReport all = run_suite(whole, suite).back();
    ASSERT_NE(all.find("L2", "capacity"), nullptr);
    suite.budget.most_references = whole.cost().references - 1;
    SimulatedTarget cut(machine, on_small_pages());
    const TestReport some = run_suite(cut, suite).back();
    ASSERT_NE(some.find("L2", "capacity"), nullptr);
    EXPECT_EQ(some.find("L2", "capacity")->low, all.find("L2", "capacity")->low);
    EXPECT_EQ(some.find("L3", "capacity"), nullptr);
    EXPECT_LT(some.cost.references, all.cost.references);
    EXPECT_NE(some.decisions, all.decisions) << "all was afforded";
}

}  // namespace
}  // namespace cachetally
