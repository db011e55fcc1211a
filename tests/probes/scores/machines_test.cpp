// SPDX-License-Identifier: BSD-3-Clause
// Whole tests on machines whose truth is known.
#include <gtest/gtest.h>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/random_machine.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"

namespace cachetally {
namespace {

std::vector<TestReport> probe(ProbeTarget& target, std::vector<std::string> tests, bool published,
                              const Budget& budget = {}) {
    SuiteOptions options;
    options.tests = std::move(tests);
    options.published = published;
    options.robust = !published;
    options.budget = budget;
    return run_suite(target, options);
}

double number(const TestReport& report, const std::string& level, const std::string& parameter) {
    const Finding* finding = report.find(level, parameter);
    return finding == nullptr ? -1 : finding->value->number;
}

// X-Ray, Table 2: the lower level of AMD's exclusive caches is found with what L1 adds.
TEST(Machines, XRayFindsTheAthlonsLevelsAsPublished) {
    SimulatedTarget target(load_machine("xray-athlonmp"));
    const auto reports = probe(target, {"l1", "lower"}, true);
    EXPECT_EQ(number(reports[0], "L1", "capacity"), 65536);
    EXPECT_EQ(number(reports[0], "L1", "ways"), 2);
    EXPECT_EQ(number(reports[0], "L1", "line"), 64);
    EXPECT_EQ(number(reports[1], "L2", "capacity"), 576 * 1024);
    EXPECT_EQ(number(reports[1], "L2", "ways"), 18);
}

TEST(Machines, XRayFindsTheOpteronsLevelsAsPublished) {
    SimulatedTarget target(load_machine("xray-opteron240"));
    const auto reports = probe(target, {"l1", "lower"}, true);
    EXPECT_EQ(number(reports[1], "L2", "capacity"), 1088 * 1024);
    EXPECT_EQ(number(reports[1], "L2", "ways"), 17);
}

// X-Ray, 4.5.1: 64 KiB in 2 ways over 256 KiB in 16, whose ways are half as long.
TEST(Machines, XRayFindsAWayShorterThanThatOfTheLevelAbove) {
    const auto found = [](const std::string& second) {
        SimulatedTarget target(
            read_machine("name: athlon\ncaches:\n  - {name: L1, size: 64 KiB, ways: 2, latency: 3, next: L2}\n"
                         "  - {name: L2, " +
                             second + ", latency: 14, next: memory}\nmemory: {latency: 200}\n",
                         "athlon.yaml"));
        const TestReport report = probe(target, {"lower"}, true).back();
        return std::tuple(number(report, "L2", "capacity"), number(report, "L2", "ways"), number(report, "L2", "line"));
    };
    EXPECT_EQ(found("size: 256 KiB, ways: 16"), std::tuple(256 << 10, 16, 64));
    EXPECT_EQ(found("size: 256 KiB, ways: 32"), std::tuple(256 << 10, 32, 64));
    // L1 adds its two ways, and all that it holds.
    EXPECT_EQ(found("size: 256 KiB, ways: 16, inclusion: exclusive"), std::tuple(320 << 10, 18, 64));
}

// Dongarra et al. 2004: Itanium 2, counted.
TEST(Machines, TheItaniumIsFoundByItsEvents) {
    SimulatedTarget target(load_machine("xray-itanium2"));
    const auto report = probe(target, {"events"}, false).back();
    const auto expect = [&](const std::string& level, std::initializer_list<std::pair<const char*, double>> all) {
        for (const auto& [parameter, value] : all)
            EXPECT_EQ(number(report, level, parameter), value) << level << parameter;
    };
    expect("L1", {{"capacity", 16 << 10}, {"line", 64}, {"ways", 4}});
    expect("L2", {{"capacity", 256 << 10}, {"line", 128}, {"ways", 8}});
    expect("L3", {{"capacity", 6 << 20}, {"line", 128}, {"ways", 24}});
    expect("TLB1", {{"entries", 32}, {"page", 4096}});
    expect("TLB2", {{"entries", 128}, {"page", 16384}});
}

TEST(Machines, TheGapTestTakesTheNextPowerOfTwo) {
    SimulatedOptions options;
    SimulatedTarget target(load_machine("x86-server"), options);
    const auto gap = probe(target, {"gap"}, true).back();
    EXPECT_NE(number(gap, "L1", "capacity"), 49152);  // 48 KiB in 12 ways is beyond it
    const auto l1 = probe(target, {"l1"}, false).back();
    EXPECT_EQ(number(l1, "L1", "capacity"), 49152);
    EXPECT_EQ(number(l1, "L1", "ways"), 12);
    EXPECT_EQ(number(l1, "L1", "line"), 64);
}

// Drongowski 2013: 3, 56 and 116 cycles.
TEST(Machines, TheRaspberryPisPeaksAreFound) {
    SimulatedTarget target(load_machine("bcm2835"));
    const auto report = probe(target, {"latency"}, true).back();
    EXPECT_NEAR(number(report, "L1", "latency"), 3, 0.5);
    EXPECT_NEAR(number(report, "memory", "latency"), 56, 0.5);
    EXPECT_NEAR(number(report, "walk", "latency"), 116, 0.5);
}

TEST(Machines, WithoutEventCountsTheReasonIsTheAnswer) {
    SimulatedOptions options;
    options.no_events = "a virtual machine hides them";
    SimulatedTarget target(load_machine("bcm2835"), options);
    const auto report = probe(target, {"events"}, false).back();
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_FALSE(report.findings[0].value);
    EXPECT_NE(report.findings[0].reason.find("a virtual machine hides them"), std::string::npos);
}

TEST(Machines, WithoutTlbNoneIsFound) {
    MachineDescription machine = load_machine("bcm2835");
    machine.tlbs.clear();
    machine.pages = {};
    SimulatedTarget target(machine);
    EXPECT_EQ(number(probe(target, {"tlb"}, false).back(), "", "tlb_levels"), 0);
}

TEST(Machines, AFullyAssociativeL1HidesNoTlb) {
    MachineDescription machine = read_machine(
        "name: full\ncaches:\n  - {name: L1, next: memory, size: 4 KiB, ways: full, latency: 4}\n"
        "tlbs:\n  - {name: TLB, entries: 32, ways: 4}\nmemory: {latency: 180}\n",
        "full");
    SimulatedTarget target(std::move(machine));
    const auto report = probe(target, {"tlb"}, false).back();
    EXPECT_EQ(number(report, "TLB1", "entries"), 32);
    EXPECT_EQ(number(report, "TLB1", "ways"), 4);
}

TEST(Machines, OneLevelIsOneLevel) {
    SimulatedTarget target(load_machine("bcm2835"));
    const auto report = probe(target, {"levels"}, false).back();
    EXPECT_EQ(number(report, "", "levels"), 1);
    EXPECT_NEAR(number(report, "memory", "latency"), 56, 1);
}

TEST(Machines, ACacheLargerThanTheArenaIsRefused) {
    SimulatedOptions options;
    options.largest_arena = 16 << 10;
    SimulatedTarget target(load_machine("intel-t9600"), options);
    for (const TestReport& report : probe(target, {"l1", "levels", "tlb"}, false))
        for (const Finding& finding : report.findings) {
            EXPECT_TRUE(finding.parameter == "latency" || !finding.value) << finding.test << " " << finding.parameter;
        }
}

// An L3 of victims, and a hashed one.
TEST(Machines, LowerLevelsAreFoundWithoutLargePages) {
    for (const char* name : {"x86-desktop", "x86-server"}) {
        SimulatedOptions options;
        options.large_pages.clear();
        const MachineDescription machine = load_machine(name);
        SimulatedTarget target(machine, options);
        TestReport report = probe(target, {"levels"}, false).back();
        judge(report, facts_of(machine, Reading::as_built, evidence_of(target.capabilities())));
        unsigned right = 0;
        for (const Finding& finding : report.findings) right += finding.verdict == Verdict::right ? 1 : 0;
        EXPECT_EQ(right, 5U) << name << ": capacities and latencies of L2 and L3, and the number of levels";
    }
}

TEST(Machines, ABudgetIsKept) {
    SimulatedTarget target(load_machine("intel-t9600"));
    Budget budget;
    budget.most_references = 100'000;
    const auto reports = probe(target, {"levels", "tlb"}, false, budget);
    EXPECT_LT(target.cost().references, 2'000'000U);
    for (const TestReport& report : reports) EXPECT_EQ(report.find("", "levels"), nullptr);
}

TEST(Machines, OffsetsBeyondTheArenaAreRefused) {
    SimulatedTarget target(load_machine("bcm2835"));
    const Arena arena = target.make_arena(4096, 4096);
    const Offsets beyond{0, 4096};
    EXPECT_THROW(target.run(arena, {beyond}, {}), ProbeError);
    EXPECT_THROW(target.make_arena(4096, 12345), ProbeError);
    EXPECT_THROW(target.run(arena, {Offsets{}}, {}), ProbeError);
}

TEST(Campaign, TheNumberOfJobsChangesNothing) {
    ValidationOptions options;
    options.machines = 6;
    options.suite.tests = {"l1"};
    const ValidationResult one = run_validation(options);
    options.jobs = 3;
    const ValidationResult three = run_validation(options);
    ASSERT_EQ(one.scores.size(), three.scores.size());
    for (std::size_t i = 0; i < one.scores.size(); ++i) {
        EXPECT_EQ(one.scores[i].parameter, three.scores[i].parameter);
        EXPECT_EQ(one.scores[i].right, three.scores[i].right);
        EXPECT_EQ(one.scores[i].wrong, three.scores[i].wrong);
    }
    EXPECT_EQ(one.cost.references, three.cost.references);
    EXPECT_EQ(one.cost.cycles, three.cost.cycles);
}

TEST(Campaign, TheFirstLevelIsNeverWrong) {
    ValidationOptions options;
    options.machines = 20;
    options.suite.tests = {"l1"};
    options.suite.published = false;
    for (const Score& score : run_validation(options).scores) {
        EXPECT_EQ(score.wrong, 0U) << score.parameter;
        EXPECT_EQ(score.right, 20U) << score.parameter;
    }
}

TEST(Campaign, UnknownTestsAreNamed) {
    ValidationOptions options;
    options.machines = 1;
    options.suite.tests = {"l9"};
    EXPECT_THROW(run_validation(options), std::invalid_argument);
}

}  // namespace
}  // namespace cachetally
