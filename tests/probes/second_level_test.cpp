// SPDX-License-Identifier: BSD-3-Clause
// Tests of the second level, of TLBs by counts and of hashed levels, on machines whose truth is known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"
#include "sim/model/prefetch/table.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

struct Chosen {
    std::string l1_policy = "lru", l2_policy = "lru", inclusion = "nine", mapping = "random", indexing = "modulo";
    unsigned l2_kib = 256, l2_ways = 16;
};

MachineDescription machine_of(const Chosen& chosen) {
    return read_machine(
        fmt::format(
            "name: two\nclock: 1 GHz\ncores: 1\ncaches:\n"
            "  - {{name: L1, next: L2, serves: data, shared_by: 1, size: 32 KiB, ways: 8, line: 64, latency: 3, "
            "replacement: {}, virtually_indexed: true}}\n"
            "  - {{name: L2, next: memory, size: {} KiB, ways: {}, line: 64, latency: 9, replacement: {}, "
            "inclusion: {}, indexing: {}}}\n"
            "tlbs:\n  - {{name: DTLB, next: STLB, serves: data, entries: 32, ways: full}}\n"
            "  - {{name: STLB, entries: 512, ways: 4, latency: 6}}\n"
            "pages: {{size: 4 KiB, mapping: {}, walk: {{through: L1}}}}\n"
            "memory: {{name: memory, size: 4 GiB, latency: 150}}\n",
            chosen.l1_policy, chosen.l2_kib, chosen.l2_ways, chosen.l2_policy, chosen.inclusion, chosen.indexing,
            chosen.mapping),
        "two.yaml");
}

TestReport probe(const MachineDescription& machine, const std::string& test, SimulatedOptions options = {}) {
    SimulatedTarget target(machine, std::move(options));
    SuiteOptions suite;
    suite.tests = {test};
    suite.published = false;
    return run_suite(target, suite).back();
}

double number_found(const TestReport& report, const std::string& level, const std::string& parameter) {
    const Finding* finding = report.find(level, parameter);
    return finding == nullptr ? -1 : finding->value->number;
}

std::string word(const TestReport& report, const std::string& parameter) {
    const Finding* finding = report.find("L2", parameter);
    return finding == nullptr ? "nothing" : finding->value->word;
}

TEST(SecondLevel, WaysCapacityAndInclusionAreFound) {
    for (const char* inclusion : {"nine", "inclusive", "exclusive"})
        for (const char* policy : {"lru", "fifo"}) {
            Chosen chosen;
            chosen.inclusion = inclusion;
            chosen.l2_policy = policy;
            const TestReport report = probe(machine_of(chosen), "l2");
            EXPECT_EQ(number_found(report, "L2", "ways"), 16) << inclusion << ' ' << policy;
            EXPECT_EQ(number_found(report, "L2", "capacity"), 256 << 10) << inclusion << ' ' << policy;
            EXPECT_EQ(word(report, "inclusion"), inclusion) << policy;
        }
}

// Of 8 and 12 lines that meet an L1 of 8 ways that does not replace its oldest line keeps some. (768 KiB: 12 lines fill
// three sets.)
TEST(SecondLevel, FewWaysAreFoundWhileL1IsFlushed) {
    for (const char* policy : {"tree_plru", "random"})
        for (const auto& [kib, ways] :
             {std::pair{256U, 8U}, std::pair{384U, 12U}, std::pair{512U, 4U}, std::pair{768U, 4U}}) {
            Chosen chosen;
            chosen.l1_policy = policy;
            chosen.l2_kib = kib;
            chosen.l2_ways = ways;
            const TestReport report = probe(machine_of(chosen), "l2");
            EXPECT_EQ(number_found(report, "L2", "ways"), ways) << policy;
            EXPECT_EQ(number_found(report, "L2", "capacity"), kib << 10) << policy;
        }
}

// Without counts, which tell what L2 holds wherever pages lie.
TEST(SecondLevel, PagesThatMayLieAnywhereTellNoWays) {
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        SimulatedOptions options;
        options.seed = seed;
        options.large_pages.clear();
        Chosen chosen;
        chosen.l1_policy = "fifo";
        chosen.l2_kib = 80;
        chosen.l2_ways = 10;
        if (seed <= 2) {  // takes long
            EXPECT_EQ(number_found(probe(machine_of(chosen), "l2", options), "L2", "ways"), 10) << seed;
        }
        options.no_events = "hidden";
        EXPECT_EQ(number_found(probe(machine_of(chosen), "l2", options), "L2", "ways"), -1) << seed;
    }
}

TEST(SecondLevel, SetsMayBeThreeTimesAPowerOfTwo) {
    Chosen chosen;
    chosen.l2_kib = 384;
    chosen.l2_ways = 16;  // ways of 24 KiB
    const TestReport report = probe(machine_of(chosen), "l2");
    EXPECT_EQ(number_found(report, "L2", "ways"), 16);
    EXPECT_EQ(number_found(report, "L2", "capacity"), 384 << 10);
}

TEST(SecondLevel, ReplacementBehindL1IsFound) {
    for (const char* policy : {"lru", "tree_plru", "fifo", "random"}) {
        Chosen chosen;
        chosen.l2_policy = policy;
        EXPECT_EQ(word(probe(machine_of(chosen), "l2"), "replacement"), policy);
    }
}

TEST(SecondLevel, WithoutEventCountsInclusionIsNotTold) {
    SimulatedOptions options;
    options.no_events = "hidden";
    const TestReport report = probe(machine_of({}), "l2", options);
    EXPECT_EQ(number_found(report, "L2", "ways"), 16);  // times tell it
    EXPECT_EQ(word(report, "inclusion"), "nothing");
    for (const Finding& finding : probe(machine_of({}), "physical", options).findings) {
        EXPECT_FALSE(finding.value);
        EXPECT_FALSE(finding.reason.empty());
    }
}

TEST(SecondLevel, OneLevelHasNoSecond) {
    for (const char* test : {"l2", "physical"})
        for (const Finding& finding : probe(load_machine("bcm2835"), test).findings)
            EXPECT_FALSE(finding.value) << test << ' ' << finding.parameter;
}

TEST(Physical, EvictionSetsAndOccupancyOnOrdinaryPages) {
    for (const char* mapping : {"random", "contiguous"}) {
        Chosen chosen;
        chosen.mapping = mapping;
        SimulatedOptions options;
        options.large_pages.clear();
        const TestReport report = probe(machine_of(chosen), "physical", options);
        EXPECT_EQ(number_found(report, "L2", "ways"), 16) << mapping;
        const Finding* capacity = report.find("L2", "capacity");
        ASSERT_NE(capacity, nullptr) << mapping;
        EXPECT_LE(capacity->low, 256 << 10);
        EXPECT_GE(capacity->high, 256 << 10);
        EXPECT_LE(capacity->high - capacity->low, 0.1 * (256 << 10));
    }
}

TEST(Physical, ExclusiveLevelsAreNotTakenForLargerOnes) {
    Chosen chosen;
    chosen.inclusion = "exclusive";
    EXPECT_EQ(number_found(probe(machine_of(chosen), "physical"), "L2", "ways"), -1);
}

TEST(Levels, SmallHashedSetsAreSeenThrough) {  // a large one: test_scores
    Chosen chosen;
    chosen.indexing = "xor_hash";
    const TestReport report = probe(machine_of(chosen), "levels");
    EXPECT_EQ(number_found(report, "", "levels"), 2);
    EXPECT_NEAR(number_found(report, "memory", "latency"), 162, 8);
}

// Ways of 768 KiB on pages of 1 MiB that lie anywhere: some sets overflow long before the level is full.
TEST(Levels, PagesThatFillSetsUnevenlyArePacked) {
    Chosen chosen;
    chosen.l2_kib = 3072;
    chosen.l2_ways = 4;
    SimulatedOptions options;
    options.large_pages = {1 << 20};
    unsigned packed = 0;
    for (const std::uint64_t seed : {1U, 3U, 5U}) {
        options.seed = seed;
        const TestReport report = probe(machine_of(chosen), "levels", options);
        const Finding* capacity = report.find("L2", "capacity");
        ASSERT_NE(capacity, nullptr) << seed;
        packed += capacity->method == "pieces of pages, added while they fit" ? 1 : 0;
        EXPECT_LE(capacity->low, 3072 << 10) << seed;
        EXPECT_GE(capacity->high, 3072 << 10) << seed;
        EXPECT_LE(capacity->high - capacity->low, 0.1 * (3072 << 10)) << seed;
    }
    EXPECT_GE(packed, 2U);
}

TEST(Levels, ChangePointsAgreeWhereLevelsAreClear) {
    const TestReport report = probe(machine_of({}), "change_points");
    EXPECT_EQ(number_found(report, "", "levels"), 2);
    EXPECT_NEAR(number_found(report, "L2", "capacity"), 256 << 10, 0.05 * (256 << 10));
}

TEST(Tlb, CountsTellWhatTimesDoNot) {
    const TestReport counted = probe(machine_of({}), "tlb");
    EXPECT_EQ(number_found(counted, "TLB1", "entries"), 32);
    EXPECT_EQ(number_found(counted, "TLB2", "entries"), 512);
    EXPECT_EQ(number_found(counted, "", "tlb_levels"), 2);
}

TEST(Prefetcher, IsToldFromNone) {
    for (const auto& [level, kind, word] : {std::tuple{0U, prefetchers::next_line, "present"},
                                            {0U, prefetchers::stream, "present"},
                                            {1U, prefetchers::stream, "present"},
                                            {0U, PrefetchKind::none, "absent"}}) {
        MachineDescription machine = machine_of({});
        machine.caches[level].prefetch.kind = kind;
        const TestReport report = probe(machine, "prefetcher");
        ASSERT_NE(report.find("", "prefetcher"), nullptr);
        EXPECT_EQ(report.find("", "prefetcher")->value->word, word) << level;
    }
}

// L1 of FIFO fetches a line again before L2 forgets it: an inclusive L2 then takes none away.
TEST(SecondLevel, InclusionIsToldOnlyWhereL1KeepsALineForLong) {
    Chosen chosen;
    chosen.l1_policy = "fifo";
    chosen.inclusion = "inclusive";
    chosen.l2_kib = 192;
    chosen.l2_ways = 12;
    EXPECT_NE(word(probe(machine_of(chosen), "l2"), "inclusion"), "nine");
}

TEST(Savings, KnockOutAndConfirmationOnDemandAreCounted) {
    const MachineDescription machine = machine_of({});
    SimulatedOptions simulated;
    simulated.largest_arena = 1 << 20;
    SuiteOptions suite;
    suite.tests = {"levels", "tlb"};
    suite.robust = false;
    suite.sweep.sweep.stability = 3;
    SimulatedTarget saving(machine, simulated);
    const auto saved = run_suite(saving, suite);
    suite.sweep.sweep.knock_out = false;
    suite.sweep.on_demand = false;
    SimulatedTarget exhaustive(machine, simulated);
    const auto all = run_suite(exhaustive, suite);
    for (std::size_t i = 0; i < saved.size(); ++i) {
        EXPECT_GT(saved[i].saved.references, 0U);
        EXPECT_EQ(all[i].saved.references, 0U);
        EXPECT_LT(saved[i].cost.references, all[i].cost.references);
    }
}

}  // namespace
}  // namespace cachetally
