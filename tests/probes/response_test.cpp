// SPDX-License-Identifier: BSD-3-Clause
// Response curves: what a machine with known times must show at fixed sizes.
#include <gtest/gtest.h>

#include <algorithm>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

/// L1: 1 cycle, 4 KiB; memory: 11 in all. TLB: 16 pages, 20 cycles a walk.
MachineDescription two_plateaus() {
    return read_machine(
        "caches:\n  - {name: L1, next: memory, size: 4 KiB, line: 64, ways: 64, latency: 1}\n"
        "tlbs:\n  - {name: TLB, entries: 16, ways: 16, latency: 0}\n"
        "pages: {walk: {references: false, latency: 20}}\nmemory: {latency: 10}\n",
        "two_plateaus");
}

const Curve* curve_named(const TestReport& report, const std::string& name) {
    const auto found = std::ranges::find(report.curves, name, &Curve::name);
    return found == report.curves.end() ? nullptr : &*found;
}

TestReport response_of(const Budget& budget) {
    SimulatedOptions options;
    options.largest_arena = 4 << 20;
    SimulatedTarget target(two_plateaus(), options);
    SuiteOptions suite;
    suite.tests = {"response"};
    suite.budget = budget;
    return run_suite(target, suite).front();
}

TEST(Response, HasThePlateausOfTheMachine) {
    const TestReport report = response_of({});
    EXPECT_TRUE(report.findings.empty());
    ASSERT_EQ(report.curves.size(), 3U);
    const Curve* latency = curve_named(report, "latency");
    ASSERT_NE(latency, nullptr);
    ASSERT_EQ(latency->x.size(), 49U) << "12 octaves of 4 sizes, up to 4 MiB";
    for (std::size_t i = 0; i < latency->x.size(); ++i)  // in random order through LRU: all of it or nothing
        EXPECT_EQ(latency->cycles[i], latency->x[i] <= 4096 ? 1 : 11) << latency->x[i];
    const Curve* translation = curve_named(report, "translation");
    ASSERT_NE(translation, nullptr);
    for (std::size_t i = 0; i < translation->x.size(); ++i) {
        EXPECT_EQ(translation->cycles[i], translation->x[i] <= 16 ? 1 : translation->x[i] <= 64 ? 21 : 31);
        EXPECT_LE(translation->low[i], translation->cycles[i]);
        EXPECT_GE(translation->high[i], translation->cycles[i]);
    }
}

TEST(Response, KeepsThePointsThatABudgetAllowed) {
    Budget budget;
    budget.most_cycles = 2e6;
    const TestReport report = response_of(budget);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().reason, "its share of the budget is spent");
    const TestReport all = response_of({});
    ASSERT_FALSE(report.curves.empty());
    ASSERT_LT(report.curves.back().x.size(), all.curves.back().x.size());
    for (std::size_t i = 0; i < report.curves.size(); ++i) {
        EXPECT_EQ(report.curves[i].x.size(), report.curves[i].cycles.size());
        EXPECT_TRUE(std::ranges::equal(report.curves[i].cycles,
                                       std::span(all.curves[i].cycles).first(report.curves[i].cycles.size())));
    }
}

TEST(Response, IsRunOnlyWhereItIsAskedFor) {
    SimulatedOptions options;
    options.largest_arena = 4 << 20;
    SuiteOptions suite;
    suite.published = false;
    suite.cheap = true;
    for (const bool curves : {false, true}) {
        suite.curves = curves;
        SimulatedTarget target(two_plateaus(), options);
        const auto reports = run_suite(target, suite);
        EXPECT_EQ(std::ranges::count(reports, "response", &TestReport::test), curves ? 1 : 0);
    }
}

}  // namespace
}  // namespace cachetally
