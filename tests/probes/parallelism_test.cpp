// SPDX-License-Identifier: BSD-3-Clause
// Chases of several chains, and the test that runs them: times worked out by hand from docs/timing.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "probes/suite.hpp"
#include "probes/targets/native.hpp"
#include "probes/targets/native_arena.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t mib = 1 << 20;
const std::string no_bounds = "";

/// A load takes 4 cycles in L1, 16 in L2, 116 in memory, and what `keys` of L1's link add.
MachineDescription overlapping(const std::string& keys, unsigned memory = 100) {
    return read_machine("name: overlapping\ncaches:\n  - {name: L1, size: 4 KiB, ways: 4, latency: 4, next: L2" + keys +
                            "}\n  - {name: L2, size: 128 KiB, ways: 8, latency: 12, next: memory}\n"
                            "memory: {latency: " +
                            std::to_string(memory) + "}\n",
                        "overlapping.yaml");
}

/// Of lines that L2 has and L1 has not.
double cycles_of(ProbeTarget& target, unsigned chains) {
    const Arena arena = target.make_arena(mib, 4096);
    return target.run(arena, {random_string(480 * 64, 64, 1), false, chains}, {2, 8}).cycles;
}

TEST(Chains, OverlapUntilPlacesAreTaken) {
    SimulatedTarget target(overlapping(", outstanding_misses: 6"));
    ASSERT_EQ(target.capabilities().most_chains, 32U);
    // 12 of the 16 cycles are spent in one of six places: two cycles per load at best, which eight chains reach.
    for (const unsigned chains : {1U, 2U, 4U, 6U, 8U}) EXPECT_NEAR(cycles_of(target, chains), 16.0 / chains, 0.02);
    for (const unsigned chains : {10U, 16U, 32U}) EXPECT_NEAR(cycles_of(target, chains), 2, 0.02) << chains;
}

TEST(Chains, ShareABus) {
    // Of eight cycles per line; one load alone takes 4 + 12 + 8.
    SimulatedTarget target(overlapping(", outstanding_misses: 32, bus: {bytes_per_cycle: 8}"));
    EXPECT_NEAR(cycles_of(target, 1), 24, 0.02);
    EXPECT_NEAR(cycles_of(target, 2), 12, 0.02);
    for (const unsigned chains : {3U, 4U, 32U}) EXPECT_NEAR(cycles_of(target, chains), 8, 0.03) << chains;
}

TEST(Chains, OneLoadBeginsEachCycle) {
    SimulatedTarget target(overlapping(", outstanding_misses: 32"));
    EXPECT_NEAR(cycles_of(target, 32), 1, 0.02);
}

TEST(Chains, MissTheSameLinesAsOne) {
    SimulatedTarget target(overlapping(", outstanding_misses: 6"));
    const Arena arena = target.make_arena(mib, 4096);
    const Offsets string = random_string(480 * 64, 64, 1);
    for (const unsigned chains : {1U, 5U, 32U}) {
        const Measurement found = target.run(arena, {string, false, chains}, {2, 4});
        EXPECT_EQ(found.cache_misses, (std::vector<double>{1, 0})) << chains;
        EXPECT_EQ(found.laps, 4U);
    }
}

TEST(Chains, WhatCannotBeDoneIsRefused) {
    SimulatedTarget target(overlapping(", outstanding_misses: 6")), alone(overlapping(no_bounds));
    const Arena arena = target.make_arena(mib, 4096), other = alone.make_arena(mib, 4096);
    const Offsets string = random_string(66 * 64, 64, 1);
    EXPECT_THROW(target.run(arena, {string, false, 0}, {}), ProbeError);
    EXPECT_THROW(target.run(arena, {string, false, 4}, {}), ProbeError) << "66 loads are not four equal chains";
    EXPECT_THROW(target.run(arena, {string, false, 33}, {}), ProbeError);
    EXPECT_THROW(target.latencies(arena, {string, false, 2}, 1, 1), ProbeError);
    EXPECT_THROW(alone.run(other, {string, false, 2}, {}), ProbeError);
    EXPECT_NE(alone.capabilities().no_chains.find("outstanding_misses"), std::string::npos);
    SimulatedOptions heavy;
    heavy.noise = noise_named("heavy");
    EXPECT_EQ(SimulatedTarget(overlapping(", outstanding_misses: 6"), heavy).capabilities().most_chains, 1U);
}

TEST(Chains, ABudgetEndsThem) {
    SimulatedTarget target(overlapping(", outstanding_misses: 6"));
    target.keep_to({.most_cycles = 5000});
    EXPECT_THROW(cycles_of(target, 8), BudgetSpent);
    EXPECT_LE(target.cost().cycles, 5000);
    target.keep_to({.go_on = [] { return false; }});
    const Arena arena = target.make_arena(64 * mib, 4096);
    EXPECT_THROW(target.run(arena, {random_string(64 * mib, 64, 1), false, 8}, {}), ProbingEnded);
}

TestReport parallelism(ProbeTarget& target) {
    SuiteOptions suite;
    suite.tests = {"parallelism"};
    suite.published = false;
    return run_suite(target, suite).back();
}

TEST(Parallelism, IsWhatPlacesAndBusesAllow) {
    struct Case {
        const char* keys;
        double of_l2, of_memory;
    };
    // 16 / max(1, 12 / m, bus) and 116 / max(1, 112 / m, bus), with the bus in the latency
    const Case cases[] = {{", outstanding_misses: 6", 8, 116 / (112 / 6.0)},
                          {", outstanding_misses: 3", 4, 116 / (112 / 3.0)},
                          {", outstanding_misses: 20, bus: {bytes_per_cycle: 8}", 3, 124 / 8.0}};
    for (const Case& each : cases) {
        const MachineDescription machine = overlapping(each.keys);
        SimulatedTarget target(machine);
        TestReport report = parallelism(target);
        judge(report, machine);
        ASSERT_EQ(report.findings.size(), 2U) << each.keys;
        for (const Finding& finding : report.findings) {
            EXPECT_EQ(finding.verdict, Verdict::right) << each.keys << finding.level << ' ' << found_in_words(finding)
                                                       << ", " << truth_in_words(finding) << finding.reason;
            EXPECT_NEAR(finding.truth->number, finding.level == "L2" ? each.of_l2 : each.of_memory, 1e-9);
        }
    }
}

// A directory is asked before L2: loads of L2 take 4 + 8 + 12 cycles, 20 of them in one of six places.
TEST(Parallelism, OfACoreAmongSeveralHasTheDirectoryInIt) {
    const MachineDescription machine = read_machine(
        "name: two\ncores: 2\ncaches:\n"
        "  - {name: L1, size: 4 KiB, ways: 4, latency: 4, next: L2, shared_by: 1, outstanding_misses: 6}\n"
        "  - {name: L2, size: 128 KiB, ways: 8, latency: 12, next: memory, shared_by: all}\n"
        "coherence: {protocol: mesi, by: directory, latency: 8}\nmemory: {latency: 100}\n",
        "two.yaml");
    SimulatedTarget target(machine);
    TestReport report = parallelism(target);
    judge(report, machine);
    for (const auto& [level, loads] : {std::pair("L2", 24 / (20 / 6.0)), std::pair("memory", 124 / (120 / 6.0))}) {
        const Finding* found = report.find(level, "parallelism");
        ASSERT_NE(found, nullptr) << level;
        EXPECT_EQ(found->verdict, Verdict::right) << found_in_words(*found) << ", " << truth_in_words(*found);
        EXPECT_NEAR(found->truth->number, loads, 1e-9) << level;
    }
}

TEST(Parallelism, IsRefusedWhereMoreChainsWouldGain) {
    SimulatedTarget target(overlapping(", outstanding_misses: 64", 1000));
    const TestReport report = parallelism(target);
    EXPECT_EQ(report.find("memory", "parallelism"), nullptr);
    EXPECT_NE(report.find("L2", "parallelism"), nullptr);
    EXPECT_NE(report.findings.back().reason.find("at least 32.0 loads"), std::string::npos)
        << report.findings.back().reason;
}

TEST(Parallelism, IsRefusedWhereNothingBoundsIt) {
    SimulatedTarget target(overlapping(no_bounds));
    const TestReport report = parallelism(target);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().reason, target.capabilities().no_chains);
}

TEST(Parallelism, IsFoundInNoise) {
    SimulatedOptions options;
    options.noise = noise_named("realistic");
    options.no_events = "none";
    const MachineDescription machine = overlapping(", outstanding_misses: 6");
    SimulatedTarget target(machine, options);
    TestReport report = parallelism(target);
    judge(report, machine);
    ASSERT_NE(report.find("memory", "parallelism"), nullptr);
    EXPECT_EQ(report.find("memory", "parallelism")->verdict, Verdict::right);
}

/// Runs of so many chains seem to take another time.
class Disturbing final : public ProbeTarget {
public:
    Disturbing(unsigned chains, double factor, unsigned runs = ~0U)
        : target_(overlapping(", outstanding_misses: 6")), chains_(chains), factor_(factor), left_(runs) {}
    const Capabilities& capabilities() const override { return target_.capabilities(); }
    void keep_to(const Budget& budget) override { target_.keep_to(budget); }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override { return target_.make_arena(bytes, page); }
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override {
        Measurement found = target_.run(arena, chase, effort);
        const bool of_memory = effort.warm_up == 0;
        if (of_memory && chase.chains == chains_ && left_ > 0) found.cycles *= factor_, --left_;
        return found;
    }
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override {
        return target_.latencies(arena, chase, warm_up, samples);
    }
    void release(const Arena& arena) override { target_.release(arena); }
    ProbeCost cost() const override { return target_.cost(); }

private:
    SimulatedTarget target_;
    unsigned chains_;
    double factor_;
    unsigned left_;  ///< runs
};

TEST(Parallelism, IsRefusedOfTimesThatCannotBe) {
    Disturbing quick(4, 0.8), slow(16, 1.3), little(16, 1.03);
    EXPECT_EQ(parallelism(quick).find("memory", "parallelism"), nullptr);
    EXPECT_EQ(parallelism(slow).find("memory", "parallelism"), nullptr);
    EXPECT_NE(parallelism(little).find("memory", "parallelism"), nullptr);
    Disturbing once(16, 1.5, 1);
    const TestReport report = parallelism(once);
    const Finding* found = report.find("memory", "parallelism");
    ASSERT_NE(found, nullptr) << "the second round is not disturbed";
    EXPECT_NEAR(found->value->number, 116 / (112 / 6.0), 0.1);
}

class NativeChains : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            target.emplace(NativeOptions{64 << 20, true});
        } catch (const ProbeError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    std::optional<NativeTarget> target;
};

TEST_F(NativeChains, FollowCirclesOfTheirOwn) {
    NativeArena arena(1 << 16, small_page());
    for (const unsigned chains : {1U, 2U, 3U, 13U, 14U, 24U, 32U}) {
        const std::vector<void**> begin = arena.write(random_string(8 * chains * 64, 64, chains), chains);
        ASSERT_EQ(begin.size(), chains);
        std::vector<void**> at = begin;
        for (unsigned loads = 1; loads <= 8; ++loads) {
            std::vector<void**> next(chains);
            for (unsigned i = 0; i < chains; ++i) next[i] = static_cast<void**>(*at[i]);
            follow_in_turn(at, 1);
            EXPECT_EQ(at, next);
            for (unsigned i = 0; i < chains; ++i) EXPECT_EQ(at[i] == begin[i], loads == 8) << chains << ' ' << loads;
        }
        follow_in_turn(at, 80'000);
        EXPECT_EQ(at, begin);
    }
}

/// Any processor overlaps loads beyond L1 that do not wait for each other. One that does not is in-order, and no
/// slower.
TEST_F(NativeChains, AreNoSlowerThanOne) {
    const Arena arena = target->make_arena(mib, target->capabilities().page_sizes.front());
    const Offsets string = random_string(480 * 4 * 64, 64, 1);
    const auto least = [&](unsigned chains) {
        double cycles = 1e9;
        for (unsigned i = 0; i < 9; ++i)
            cycles = std::min(cycles, target->run(arena, {string, false, chains}, {1, 1}).cycles);
        return cycles;
    };
    const double one = least(1);
    for (const unsigned chains : {2U, 8U, 32U}) EXPECT_LT(least(chains), 1.25 * one) << chains;
}

TEST_F(NativeChains, AnswersOrReasons) {
    SuiteOptions suite;
    suite.tests = {"parallelism"};
    suite.published = false;
    suite.budget.most_cycles = target->cost().cycles + 20 * target->frequency();
    for (const TestReport& report : run_suite(*target, suite)) {
        ASSERT_FALSE(report.findings.empty());
        for (const Finding& finding : report.findings) {
            EXPECT_NE(finding.value.has_value(), !finding.reason.empty());
            if (finding.value) {
                EXPECT_GE(finding.high, 1) << finding.level;
            }
        }
    }
}

}  // namespace
}  // namespace cachetally
