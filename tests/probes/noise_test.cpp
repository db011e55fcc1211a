// SPDX-License-Identifier: BSD-3-Clause
// Probing with noise, and probing that is ended early.
#include <gtest/gtest.h>

#include "probes/ours/sets.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"
#include "tests/probes/score_of.hpp"

namespace cachetally {
namespace {

TEST(Noise, TrialsDifferByNoiseAloneAndAreSimulatedOnce) {
    SimulatedOptions options;
    options.noise.jitter = 0.01;
    SimulatedTarget noisy(load_machine("generic3"), options), quiet(load_machine("generic3"));
    const Arena here = noisy.make_arena(1 << 20, 2 << 20), there = quiet.make_arena(1 << 20, 2 << 20);
    const Offsets offsets = random_string(1 << 18, 64, 3);
    const double exact = quiet.run(there, {offsets}, {1, 1}).cycles;
    const double first = noisy.run(here, {offsets}, {1, 1}).cycles;
    const std::uint64_t simulated = noisy.cost().simulated;
    const double second = noisy.run(here, {offsets}, {1, 1}).cycles;
    EXPECT_EQ(noisy.cost().simulated, simulated);
    EXPECT_EQ(noisy.cost().references, 4 * offsets.size());
    EXPECT_NE(first, second);
    for (const double cycles : {first, second}) {
        EXPECT_GE(cycles, exact);  // jitter lengthens, by 1 % on average
        EXPECT_LT(cycles, 1.15 * exact);
    }
    EXPECT_NE(noisy.run(here, {random_string(1 << 17, 64, 3)}, {1, 1}).cycles, second);  // another chase is another run
}

std::pair<std::optional<std::uint64_t>, bool> lines_that_stay(const std::string& second, const std::string& noise) {
    SimulatedOptions options;
    options.noise = noise_named(noise);
    SimulatedTarget target(
        read_machine(
            "name: early\ncaches:\n  - {name: L1, size: 4 KiB, ways: 2, latency: 2, next: L2}\n  - {name: L2, " +
                second + ", latency: 10, next: memory}\nmemory: {latency: 100}\n",
            "early.yaml"),
        options);
    Meter meter(target, 1);
    std::vector<std::string> decisions;
    CongruentLines lines(meter, {2, 210e3, 225e3, 0}, decisions);
    const auto capacity = lines.capacity();
    return {capacity, lines.beyond()};
}

// Long laps may seem to miss before a level ends; lines that meet in few sets are too few for an interrupt.
TEST(Noise, LinesBeyondAnIntervalThatEndsEarlyTellTheCapacity) {
    EXPECT_EQ(lines_that_stay("size: 256 KiB, ways: 8", "realistic"),
              std::pair(std::optional<std::uint64_t>(262144), false));
    EXPECT_EQ(lines_that_stay("size: 256 KiB, ways: 8", "none"), std::pair(std::optional<std::uint64_t>(), false));
    // More of them stay, but not half as far apart twice as many.
    EXPECT_EQ(lines_that_stay("size: 216 KiB, ways: full", "realistic"),
              std::pair(std::optional<std::uint64_t>(), true));
}

TEST(Noise, InterruptsAreInTheCounts) {
    SimulatedOptions options;
    options.noise.interrupt_period = 1e4;
    options.noise.interrupt_lines = 64;
    options.noise.interrupt_pages = 8;
    SimulatedTarget target(load_machine("generic3"), options);
    const Arena arena = target.make_arena(1 << 20, 2 << 20);
    const Measurement found = target.run(arena, {random_string(1 << 14, 64, 3)}, {4, 512});
    EXPECT_GT(found.cache_misses.front(), 0);  // 16 KiB fit into L1
    EXPECT_LT(found.cache_misses.front(), 0.5);
}

// Small, so that it can be walked through under sanitizers: what campaigns say is scored in test_scores.
TEST(Campaign, WalksThroughAllTests) {
    ValidationOptions options;
    options.machines = 1;
    options.noise = "realistic";
    options.suite.published = false;
    for (const std::uint64_t seed : {6U, 8U}) {
        options.seed = seed;
        const ValidationResult result = run_validation(options);
        for (const Score& score : result.scores) EXPECT_EQ(score.wrong, 0U) << score.test << ' ' << score.parameter;
        EXPECT_EQ(score_of(result, "l1", "capacity")->right, 1U);
        EXPECT_EQ(score_of(result, "prefetcher", "prefetcher")->right, 1U);
    }
    options.no_events = "hidden";
    options.suite.tests = {"tlb"};
    const ValidationResult result = run_validation(options);
    EXPECT_EQ(score_of(result, "tlb", "entries")->right, 1U);
}

TEST(Campaign, WhatIsNotSaidCountsAsNotIdentified) {
    ValidationOptions options;
    options.machines = 6;
    options.seed = 501;
    options.suite.tests = {"levels"};
    options.suite.published = false;
    options.suite.budget.most_references = 3'000'000;  // enough for some of them
    const ValidationResult result = run_validation(options);
    const Score* levels = score_of(result, "levels", "levels");
    const Score* latencies = score_of(result, "levels", "latency");
    ASSERT_NE(latencies, nullptr);
    EXPECT_GT(levels->not_identifiable, 0U);
    EXPECT_GT(levels->right, 0U);
    EXPECT_GE(latencies->not_identifiable, levels->not_identifiable);
}

TEST(Ended, TestsThatAreCompleteAreKept) {
    SimulatedTarget target(load_machine("generic3"));
    SuiteOptions options;
    options.tests = {"l1", "levels"};
    options.published = false;
    const auto all = run_suite(target, options);
    ASSERT_EQ(all.size(), 2U);
    unsigned left = static_cast<unsigned>(all.front().cost.runs) + 40;  // into the second test
    options.budget.go_on = [&left] { return left-- > 0; };
    SimulatedTarget again(load_machine("generic3"));
    const auto some = run_suite(again, options);
    ASSERT_EQ(some.size(), 1U);
    EXPECT_EQ(some.front().findings.size(), all.front().findings.size());
    left = 0;
    EXPECT_TRUE(run_suite(again, options).empty());
}

TEST(Ended, MachinesThatAreNotCompleteAreNotCounted) {
    ValidationOptions options;
    options.machines = 5;
    options.suite.tests = {"l1"};
    options.suite.published = false;
    bool go_on = true;
    options.suite.budget.go_on = [&go_on] { return go_on; };
    options.progress = [&go_on](std::uint64_t done) { return go_on = done < 2; };
    const ValidationResult result = run_validation(options);
    EXPECT_EQ(result.machines, 2U);
    EXPECT_EQ(score_of(result, "l1", "capacity")->right, 2U);
    options.progress = nullptr;
    go_on = false;
    EXPECT_EQ(run_validation(options).machines, 0U);
}

}  // namespace
}  // namespace cachetally
