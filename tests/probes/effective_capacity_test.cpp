// SPDX-License-Identifier: BSD-3-Clause
// What pages that lie anywhere leave of a level, against chances by the binomial distribution.
#include "probes/validation/effective_capacity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

constexpr double mebibyte = 1024 * 1024;

const Fact& effective(const std::vector<Fact>& facts, const std::string& level) {
    for (const Fact& fact : facts)
        if (fact.level == level && fact.parameter == "effective_capacity") return fact;
    static const Fact none{};
    ADD_FAILURE() << "no fact of " << level;
    return none;
}

/// Chance that a page is in a class with more than `ways` of `pages` pages: that at least `ways` of the others are.
double chance_of_a_full_class(unsigned pages, unsigned classes, unsigned ways) {
    double at_most = 0;
    const double others = pages - 1, p = 1. / classes;
    for (unsigned k = 0; k < ways; ++k)
        at_most += std::exp(std::lgamma(others + 1) - std::lgamma(k + 1.) - std::lgamma(others - k + 1) +
                            k * std::log(p) + (others - k) * std::log1p(-p));
    return 1 - at_most;
}

TEST(EffectiveCapacity, OfContiguousPagesIsAllButPageTables) {
    const std::vector<Fact> facts = effective_capacity_facts(load_machine("intel-t9600"));
    EXPECT_EQ(effective(facts, "L1").value.number, 32 * 1024) << "its TLB reaches farther";
    // 1536 pages, whose entries of 8 bytes are 192 lines, and three lines above these.
    EXPECT_NEAR(effective(facts, "L2").value.number, (6 * mebibyte - 3 * 64) * 512 / 513, 1);
    EXPECT_EQ(effective(facts, "L2").high, 6 * mebibyte);
}

// L2 has 24 ways of 64 pages; a miss takes 186 cycles more.
TEST(EffectiveCapacity, OfRandomPagesIsWhatChanceLeaves) {
    MachineDescription machine = load_machine("intel-t9600");
    machine.pages.mapping = Mapping::random;
    const std::vector<Fact> facts = effective_capacity_facts(machine);
    unsigned pages = 1;
    while (186 * chance_of_a_full_class(pages + 1, 64, 24) < 0.5) ++pages;
    const Fact& second = effective(facts, "L2");
    EXPECT_NEAR(second.value.number, pages * 4096., 0.05 * pages * 4096);
    EXPECT_GT(second.high, 4 * mebibyte);
    EXPECT_LT(second.high, 5 * mebibyte);
    EXPECT_EQ(effective(facts, "L1").value.number, 32 * 1024) << "virtual addresses choose its set";
    machine.pages.mapping = Mapping::coloured;
    EXPECT_EQ(effective(effective_capacity_facts(machine), "L2").high, 6 * mebibyte);
}

TestReport published_levels(const MachineDescription& machine, unsigned stability) {
    SimulatedTarget target(machine);
    SuiteOptions suite;
    suite.tests = {"levels"};
    suite.robust = false;
    suite.sweep.sweep.stability = stability;
    TestReport report = run_suite(target, suite).back();
    judge(report, machine);
    return report;
}

Verdict verdict_of(const TestReport& report, const std::string& level, const std::string& parameter) {
    for (const Finding& each : report.findings)
        if (each.level == level && each.parameter == parameter) return each.verdict;
    return Verdict::unknown;
}

// Cooper and Xu, 3.3: "the softer rise that begins at 5 mb", of 6 MiB. Once stable, contiguous pages give the same each
// time.
TEST(EffectiveCapacity, OfTheT9600IsFoundAsPublished) {
    const TestReport report = published_levels(load_machine("intel-t9600"), 1);
    ASSERT_NE(report.find("L2", "capacity"), nullptr);
    EXPECT_EQ(report.find("L2", "capacity")->value->number, 5 * mebibyte);
    EXPECT_EQ(verdict_of(report, "L2", "capacity"), Verdict::wrong);
    EXPECT_EQ(verdict_of(report, "L2", "effective_capacity"), Verdict::right);
    EXPECT_EQ(verdict_of(report, "L1", "effective_capacity"), Verdict::right);
}

// 256 KiB in 4 ways of 16 pages.
TEST(EffectiveCapacity, OfRandomPagesIsFoundAsPublished) {
    const MachineDescription machine = read_machine(
        "name: m\ncaches:\n  - {name: L1, size: 16 KiB, ways: 4, latency: 3, next: L2}\n"
        "  - {name: L2, size: 256 KiB, ways: 4, latency: 11, next: memory}\n"
        "pages: {mapping: random}\nmemory: {latency: 100}\n",
        "m.yaml");
    const TestReport report = published_levels(machine, 25);
    ASSERT_NE(report.find("L2", "effective_capacity"), nullptr);
    EXPECT_LT(report.find("L2", "capacity")->value->number, 256 * 1024);
    EXPECT_EQ(verdict_of(report, "L2", "capacity"), Verdict::wrong);
    EXPECT_EQ(verdict_of(report, "L2", "effective_capacity"), Verdict::right);
}

TEST(EffectiveCapacity, OfALevelThatIsNotThereIsWrong) {
    TestReport report;
    report.answer("L2", "effective_capacity", 1 << 20, 1 << 20, 2 << 20, "bytes", "");
    report.answer("L4", "effective_capacity", 1 << 20, 1 << 20, 2 << 20, "bytes", "");
    judge(report, load_machine("intel-t9600"));
    EXPECT_EQ(report.findings[0].verdict, Verdict::wrong);
    EXPECT_EQ(report.findings[1].verdict, Verdict::wrong);
}

}  // namespace
}  // namespace cachetally
