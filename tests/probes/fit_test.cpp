// SPDX-License-Identifier: BSD-3-Clause
// Machines fitted to curves: those of a machine that is known give it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cachetally/topology.hpp"
#include "probes/fit/fit.hpp"
#include "probes/fit/response_model.hpp"
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
    const ResponseModel model(response_of_machine(known), known.pages.size);
    MachineDescription other = known;
    for (unsigned* latency : latencies_on_path(other)) *latency = 50;
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

TEST(Fit, NeedsResponseCurves) {
    const MachineDescription known = known_machine();
    EXPECT_THROW(fit(known, {}), std::invalid_argument);
    EXPECT_THROW(fit(known, response_of_machine(known), {.go_on = [] { return false; }}), ProbingEnded);
}

}  // namespace
}  // namespace cachetally
