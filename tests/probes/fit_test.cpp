// SPDX-License-Identifier: BSD-3-Clause
// Machines fitted to curves: those of a machine that is known give it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cachetally/topology.hpp"
#include "probes/fit/fit.hpp"
#include "probes/fit/measured.hpp"
#include "probes/fit/response_model.hpp"
#include "probes/recording/recorder.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

MachineDescription machine_with(const std::string& l1, const std::string& l2, const std::string& tlb,
                                const std::string& pages, const std::string& memory) {
    return read_machine("caches:\n  - {name: L1, next: L2, " + l1 + "}\n  - {name: L2, next: memory, " + l2 +
                            "}\ntlbs:\n  - {name: TLB, " + tlb + "}\npages: {" + pages +
                            "}\nmemory: {latency: " + memory + "}\n",
                        "fit_test");
}

MachineDescription known_machine() {
    return machine_with("size: 4 KiB, ways: 4, latency: 3", "size: 48 KiB, ways: 12, latency: 11",
                        "entries: 24, ways: 24", "mapping: random, walk: {references: false, latency: 17}", "90");
}

/// Of the test `response`, on pages of 4 KiB and 2 MiB.
std::vector<TestReport> response_of_machine(const MachineDescription& machine) {
    SimulatedOptions options;
    options.largest_arena = 2 << 20;
    SimulatedTarget target(machine, options);
    SuiteOptions suite;
    suite.tests = {"response"};
    return run_suite(target, suite);
}

const FittedKey& key_of(const FitResult& result, const std::string& component, const std::string& key) {
    const auto found = std::ranges::find_if(
        result.keys, [&](const FittedKey& each) { return each.component == component && each.key == key; });
    if (found == result.keys.end()) throw std::runtime_error("no key " + component + ' ' + key);
    return *found;
}

TEST(Fit, LatenciesAreSolvedFor) {
    const MachineDescription known = known_machine();
    const ResponseModel model(response_of_machine(known), known.pages.size, 2 << 20);
    MachineDescription other = known;
    for (const PathLatency& latency : latencies_on_path(other)) *latency.cycles = 50;
    std::vector<ModelPoint> points = model.points_of(other);
    EXPECT_GT(model.error(points), 0.5);
    model.solve_latencies(other, points);
    EXPECT_EQ(other, known);
    EXPECT_LT(model.error(points), 0.02) << "the seeds of orders and placements are others";
}

TEST(Fit, AKnownMachineComesBack) {
    const MachineDescription known = known_machine();
    const MachineDescription start =
        machine_with("size: 8 KiB, ways: 8, latency: 1", "size: 64 KiB, ways: 16, latency: 30", "entries: 32, ways: 32",
                     "mapping: contiguous, walk: {references: true, latency: 3}", "30");
    const FitResult result = fit(start, response_of_machine(known), {.jobs = 2});
    EXPECT_LT(result.error, 0.02);
    EXPECT_GT(result.error_before, 0.4);
    EXPECT_EQ(result.machine.caches[0].size, known.caches[0].size);
    EXPECT_EQ(result.machine.caches[0].latency, 3U);
    EXPECT_EQ(result.machine.caches[1].size, known.caches[1].size);
    EXPECT_EQ(result.machine.caches[1].replacement, known.caches[1].replacement);
    EXPECT_EQ(result.machine.caches[1].latency, 11U);
    EXPECT_EQ(result.machine.memories[0].latency, 90U);
    EXPECT_EQ(result.machine.tlbs[0].entries, 24U);
    EXPECT_FALSE(result.machine.pages.walk_references);
    EXPECT_EQ(result.machine.pages.walk_latency, 17U);
    EXPECT_EQ(key_of(result, "L1", "latency").value, "3");
    EXPECT_TRUE(key_of(result, "L1", "size").determined());
}

// By ways and sets alone 24 entries in one set are not reached from 64 sets.
TEST(Fit, ATlbOfOneSetIsFoundFromOneOfMany) {
    const MachineDescription known = known_machine();
    MachineDescription start = known;
    start.tlbs[0].entries = 128;
    start.tlbs[0].ways = 2;
    const FitResult result = fit(start, response_of_machine(known), {.jobs = 2});
    EXPECT_EQ(result.machine.tlbs[0].entries, 24U);
    EXPECT_LT(result.error, 0.02);
}

TEST(Fit, ReplacementThatIsNotLruShows) {
    MachineDescription known = known_machine();
    known.caches[1].replacement = read_machine(
                                      "caches: [{name: L1, next: memory, size: 4 KiB, ways: 4, "
                                      "replacement: random}]\nmemory: {}\n",
                                      "random")
                                      .caches[0]
                                      .replacement;
    const FitResult result = fit(known_machine(), response_of_machine(known), {.jobs = 2});
    const FittedKey& key = key_of(result, "L2", "replacement");
    std::vector<std::string> possible = key.as_good;
    possible.push_back(key.value);
    EXPECT_EQ(std::ranges::count(possible, "random"), 1) << "lines in random order tell few policies apart";
    EXPECT_EQ(std::ranges::count(possible, "lru"), 0);
    EXPECT_LT(result.error, 0.02);
}

TEST(Fit, TheNumberOfThreadsChangesNothing) {
    const MachineDescription known = known_machine();
    MachineDescription start = known;
    start.caches[1].latency = 40;
    start.tlbs[0].entries = start.tlbs[0].ways = 20;
    const auto measured = response_of_machine(known);
    const FitResult one = fit(start, measured, {.jobs = 1}), three = fit(start, measured, {.jobs = 3});
    EXPECT_EQ(one.machine, three.machine);
    EXPECT_EQ(one.error, three.error);
    ASSERT_EQ(one.keys.size(), three.keys.size());
    for (std::size_t i = 0; i < one.keys.size(); ++i) EXPECT_EQ(one.keys[i].as_good, three.keys[i].as_good);
}

/// Values between which the curves do not decide are named: pages that all lie in one set of L2's colours, say.
TEST(Fit, SaysWhatIsNotDetermined) {
    const MachineDescription known =
        machine_with("size: 4 KiB, ways: 64, latency: 3", "size: 8 KiB, ways: 128, latency: 11",
                     "entries: 24, ways: 24", "mapping: contiguous, walk: {references: false, latency: 17}", "90");
    const FitResult result = fit(known, response_of_machine(known), {.jobs = 2});
    const FittedKey& mapping = key_of(result, "pages", "mapping");
    EXPECT_EQ(mapping.value, "contiguous") << "as good as another: it stays";
    EXPECT_EQ(mapping.as_good, std::vector<std::string>{"random"}) << "caches of one set";
    EXPECT_EQ(result.machine, known);
}

/// A machine of three levels. `changed`: replaced in its file.
MachineDescription three_levels(const std::vector<std::pair<std::string, std::string>>& changed = {}) {
    std::string text =
        "caches:\n"
        "  - {name: L1, next: L2, size: 2 KiB, ways: 4, latency: 4}\n"
        "  - {name: L2, next: L3, size: 16 KiB, ways: 4, latency: 9}\n"
        "  - {name: L3, next: memory, size: 128 KiB, ways: 8, latency: 31}\n"
        "tlbs:\n"
        "  - {name: T1, next: T2, entries: 8, ways: 4}\n"
        "  - {name: T2, entries: 48, ways: 12, latency: 7}\n"
        "pages: {mapping: random, walk: {latency: 20}}\n"
        "memory: {size: 16 GiB, latency: 200}\n";
    for (const auto& [from, to] : changed) {
        const std::size_t at = text.find(from);
        if (at == std::string::npos) throw std::runtime_error("no " + from);
        text.replace(at, from.size(), to);
    }
    return read_machine(text, "three_levels");
}

/// Sizes that are fitted with the wrong mapping are wrong, and stay so where they are not fitted again.
TEST(Fit, SizesAreThoseOfTheMappingThatIsFound) {
    const MachineDescription start = three_levels({{"mapping: random, walk: {latency: 20}", "walk: {latency: 0}"},
                                                   {"16 KiB", "32 KiB"},
                                                   {"128 KiB, ways: 8, latency: 31", "256 KiB, ways: 8, latency: 50"},
                                                   {"entries: 48, ways: 12", "entries: 32, ways: 8"},
                                                   {"latency: 200", "latency: 100"}});
    const FitResult result = fit(start, response_of_machine(three_levels()), {.jobs = 2});
    EXPECT_LT(result.error, 0.03);
    EXPECT_EQ(result.machine.pages.mapping, Mapping::random);
    EXPECT_EQ(result.machine.caches[0].size, 2U << 10);
    EXPECT_EQ(result.machine.caches[1].size, 16U << 10);
    EXPECT_EQ(result.machine.caches[2].size, 128U << 10);
    EXPECT_EQ(result.machine.tlbs[0].entries, 8U);
    EXPECT_EQ(result.machine.tlbs[1].entries, 48U);
}

/// Without the curves on ordinary pages, of which large ones need few, nothing says how many T2 holds.
TEST(Fit, WhatNoCurveShowsIsNotDetermined) {
    std::vector<TestReport> measured = response_of_machine(three_levels());
    std::erase_if(measured.at(0).curves, [](const Curve& curve) { return curve.name != "latency"; });
    const FitResult result = fit(three_levels({{"entries: 48, ways: 12", "entries: 32, ways: 8"}}), measured);
    const FittedKey &entries = key_of(result, "T2", "entries"), &latency = key_of(result, "T2", "latency");
    EXPECT_EQ(entries.value, "32") << "that of the start";
    EXPECT_TRUE(entries.any_as_good);
    EXPECT_EQ(std::ranges::count(entries.as_good, "48"), 1) << "of the coarse steps";
    EXPECT_EQ(latency.value, "7");
    EXPECT_TRUE(latency.any_as_good);
    EXPECT_FALSE(key_of(result, "L1", "size").any_as_good);
    EXPECT_EQ(result.machine.caches[2].size, 128U << 10);
}

/// Curves that a budget cut say so in their report.
TEST(Fit, RefusesCurvesThatABudgetCut) {
    const MachineDescription known = known_machine();
    SimulatedOptions options;
    options.largest_arena = 2 << 20;
    SimulatedTarget target(known, options);
    SuiteOptions suite;
    suite.tests = {"response"};
    suite.budget.most_cycles = 3e6;
    const std::vector<TestReport> cut = run_suite(target, suite);
    ASSERT_FALSE(cut.at(0).curves.empty());
    ASSERT_LT(cut.at(0).curves.size(), 3U);
    try {
        fit(known, cut);
        FAIL() << "it was fitted";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("'latency' ends at "), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("'translation' is missing (its share of the budget"),
                  std::string::npos)
            << error.what();
    }
}

/// Of a long string only the lines of some sets are run; the measured ones were run whole.
TEST(Fit, SomeSetsStandForAll) {
    const std::pair<std::string, double> policies[] = {{"lru", 0.01}, {"fifo", 0.02}, {"random", 0.1}, {"drrip", 0.1}};
    for (const auto& [policy, most] : policies) {
        const MachineDescription machine =
            three_levels({{"128 KiB, ways: 8", "128 KiB, ways: 8, replacement: " + policy}});
        const ResponseModel model(response_of_machine(machine), 4096, 2 << 20);
        unsigned compared = 0;
        for (const ModelPoint& point : model.points_of(machine)) {
            if (point.curve != 0) continue;  // on ordinary pages placements are others
            EXPECT_NEAR(point.simulated / point.measured, 1, most) << policy << ' ' << point.measured;
            ++compared;
        }
        EXPECT_GT(compared, 10U);
    }
}

/// The measured points were run with all of the last level.
TEST(Fit, LevelsBeyondAllPointsMayBeSmaller) {
    const MachineDescription machine =
        machine_with("size: 16 KiB, ways: 4, latency: 3", "size: 96 MiB, ways: 12, latency: 20", "entries: 64, ways: 4",
                     "mapping: contiguous, walk: {references: false, latency: 17}", "90");
    const ResponseModel model(response_of_machine(machine), 4096, 2 << 20);
    const std::vector<ModelPoint> points = model.points_of(machine);
    for (const ModelPoint& point : points)  // the seeds of orders are others
        EXPECT_NEAR(point.simulated / point.measured, 1, 0.02) << point.measured;
    MachineDescription larger = machine;
    larger.caches[1].size *= 1024;
    const std::vector<ModelPoint> same = model.points_of(larger);
    ASSERT_EQ(same.size(), points.size());
    for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i].simulated, points[i].simulated);
}

TEST(Fit, TheClockIsThatOfTheMeasurement) {
    const MachineDescription known = known_machine();
    FitOptions at_clock;
    at_clock.frequency = 3.7063e9;
    EXPECT_EQ(fit(known, response_of_machine(known), at_clock).machine.period, 270U) << "3.71 GHz";
    EXPECT_EQ(period_of(2e9), 500U);
    EXPECT_EQ(period_of(1), 100'000U) << "10 MHz at least";
}

TEST(Fit, CurvesOfTargetsWithoutLargePagesAreOfOrdinaryOnes) {
    const MachineDescription known = known_machine();
    SimulatedOptions options;
    options.largest_arena = 2 << 20;
    options.large_pages.clear();
    SimulatedTarget target(known, options);
    SuiteOptions suite;
    suite.tests = {"response"};
    Recorder recorder(target, "small");
    const auto measured = run_suite(recorder, suite);
    Recording recording = recorder.recording();
    recording.suite = suite;
    ASSERT_EQ(large_page_of(recording), 4096U);
    const auto off = [&](std::uint64_t large) {
        const ResponseModel model(measured, known.pages.size, large);
        return model.error(model.points_of(known));
    };
    EXPECT_LT(off(4096), 0.02);
    EXPECT_GT(off(2 << 20), 2 * off(4096));
}

TEST(Fit, NeedsResponseCurves) {
    const MachineDescription known = known_machine();
    EXPECT_THROW(fit(known, {}), std::invalid_argument);
    EXPECT_THROW(fit(known, response_of_machine(known), {.go_on = [] { return false; }}), ProbingEnded);
}

}  // namespace
}  // namespace cachetally
