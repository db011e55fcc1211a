// SPDX-License-Identifier: BSD-3-Clause
// Loads on the machine that runs the tests. Shared machines have their moods: only what holds anywhere is asserted.
#include "probes/targets/native.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "cachetally/probe_strings.hpp"
#include "probes/suite.hpp"
#include "probes/targets/core_clock.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t ki = 1024;

class Native : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            target.emplace(NativeOptions{64 << 20, true});
        } catch (const ProbeError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    /// Of a chase in random order through so many KiB.
    double cycles(std::uint64_t kib, std::uint64_t page) {
        return target->run(target->make_arena(kib * ki, page), {random_string(kib * ki, 64, 1)}, {2, 2, 1e5}).cycles;
    }
    std::uint64_t page() const { return target->capabilities().page_sizes.front(); }
    std::optional<NativeTarget> target;
};

TEST(ClockRate, AgreesWhereAMultiplicationTakesAWholeNumberOfAdditions) {
    for (const double cycles : {3.0, 2.95, 3.05, 4.07, 5.0}) EXPECT_TRUE((ClockRate{1, cycles, 0}.agrees())) << cycles;
    for (const double cycles : {0.0, 1.0, 2.86, 3.12, 3.5}) EXPECT_FALSE((ClockRate{1, cycles, 0}.agrees())) << cycles;
}

TEST_F(Native, LoadsOfMemoryTakeLongerThanThoseOfTheFirstLevel) {
    for (const std::uint64_t size : target->capabilities().page_sizes)
        EXPECT_LT(2 * cycles(4, size), cycles(64 * ki, size)) << size;
}

TEST_F(Native, LapsAreAtLeastThoseAskedFor) {
    const Offsets offsets = random_string(4 * ki, 64, 1);
    const Arena arena = target->make_arena(4 * ki, page());
    EXPECT_GE(target->run(arena, {offsets}, {1, 40, 0}).laps, 40U);
    EXPECT_GT(target->run(arena, {offsets}, {1, 1, 1e6}).laps, 40U) << "laps that fill up the time";
}

TEST_F(Native, ColdLoadsTakeLongerThanWarmOnes) {
    const Offsets offsets = random_string(4 * ki, 64, 1);
    const Arena arena = target->make_arena(4 * ki, page());
    const double warm = target->run(arena, {offsets}, {4, 4, 1e5}).cycles;
    const double cold = target->run(arena, {offsets}, {0, 1}).cycles;
    EXPECT_GT(cold, 2 * warm);
}

TEST_F(Native, ABudgetEndsARunWithinItsLaps) {
    const Arena arena = target->make_arena(32 * ki * ki, page());
    const Offsets offsets = random_string(arena.bytes, 64, 1);
    target->keep_to({target->cost().cycles + 1e7});
    EXPECT_THROW(target->run(arena, {offsets}, {1, 1'000'000}), BudgetSpent);
    target->keep_to({.go_on = [] { return false; }});
    EXPECT_THROW(target->run(arena, {offsets}, {1, 1}), ProbingEnded);
}

TEST_F(Native, ArenasThatWereGivenBackAreMadeAgain) {
    std::vector<Arena> arenas;
    for (unsigned i = 0; i < 4; ++i) arenas.push_back(target->make_arena(64 << 20, page()));
    for (const Arena& arena : arenas) EXPECT_GT(target->run(arena, {Offsets{0, 32 << 20}}, {1, 8}).cycles, 0);
}

TEST_F(Native, SamplesOfSingleLoadsHoldTheClocksCost) {
    if (!target->capabilities().latencies) GTEST_SKIP() << "the clock of this processor is too coarse";
    const auto cycles = target->latencies(target->make_arena(4 * ki, page()), {Offsets{0, 64, 128}}, 4, 50);
    ASSERT_EQ(cycles.size(), 50U);
    for (const double each : cycles) EXPECT_GT(each, 1);
}

TEST_F(Native, WhatAPrimeTakesAwayTakesLonger) {
    const std::uint64_t bytes = 32 << 20;
    const Arena arena = target->make_arena(bytes, page());
    const Offsets few = random_string(4 * ki, 64, 1), many = random_string(bytes, 64, 1), probe = moved(few, 32);
    const auto after = [&](const Offsets& prime, unsigned chains) {
        return target->prime_and_probe(arena, {{prime, false, chains}, {probe}, 2, 2, Renewal::loaded, 8 * ki}, {1, 3});
    };
    const Measurement stays = after(few, 1), gone = after(many, 1), together = after(many, 8);
    EXPECT_LT(2 * stays.cycles, gone.cycles);
    EXPECT_LT(2 * stays.cycles, together.cycles);
    EXPECT_GE(stays.laps, 6U);
    EXPECT_EQ(stays.parts.size(), 2U);
    EXPECT_THROW(target->prime_and_probe(arena, {{few}, {random_string(4 * ki, 64, 2)}}, {1, 1}), ProbeError)
        << "the same words";
}

/// Lines that were stored to come from a cache: no processor is known whose stores go to memory alone.
TEST_F(Native, WhatIsStoredStaysAndWhatIsTakenOutDoesNot) {
    const Arena arena = target->make_arena(64 * ki, page());
    const Offsets elsewhere{60 * ki}, lines{0, 5 * ki, 10 * ki, 15 * ki, 20 * ki, 25 * ki, 30 * ki, 35 * ki};
    const auto least = [&](Renewal renewed) {
        double cycles = 1e9;
        for (unsigned i = 0; i < 5; ++i)
            cycles =
                std::min(cycles, target->prime_and_probe(arena, {{elsewhere}, {lines}, 1, 1, renewed}, {0, 5}).cycles);
        return cycles;
    };
    const double gone = least(Renewal::taken_out);
    EXPECT_LT(2 * least(Renewal::loaded), gone);
    EXPECT_LT(2 * least(Renewal::stored), gone);
    EXPECT_GT(target->run(arena, {lines, false, 1, true}, {1, 8}).cycles, 0);
    EXPECT_LT(2 * target->prime_and_probe(arena, {{lines, false, 1, true}, {moved(lines, 32)}}, {1, 5}).cycles, gone);
}

TEST_F(Native, WhatCannotBeDoneIsRefused) {
    const Arena arena = target->make_arena(4 * ki, page());
    EXPECT_THROW(target->make_arena(4 * ki, 3 * ki), ProbeError);
    EXPECT_THROW(target->make_arena(65 << 20, page()), ProbeError);
    EXPECT_THROW(target->run(arena, {Offsets{}}, {}), ProbeError);
    EXPECT_THROW(target->run(arena, {Offsets{4}}, {}), ProbeError);
    EXPECT_THROW(target->run(arena, {Offsets{arena.bytes + 64 * ki}}, {}), ProbeError);
    EXPECT_THROW(target->run(arena, {Offsets{0, 64, 0}}, {}), ProbeError);
    EXPECT_THROW(target->run(arena, {Offsets{0}, true}, {}), ProbeError);
}

/// Answers, or reasons; a capacity is of whole ways.
TEST_F(Native, TheFirstLevelIsFoundOrRefused) {
    SuiteOptions options;
    options.tests = {"l1"};
    options.published = false;
    options.budget.most_cycles = 5 * target->frequency();
    for (const TestReport& report : run_suite(*target, options)) {
        EXPECT_FALSE(report.findings.empty());
        for (const Finding& finding : report.findings) EXPECT_NE(finding.value.has_value(), !finding.reason.empty());
        const Finding *capacity = report.find("L1", "capacity"), *ways = report.find("L1", "ways");
        if (capacity == nullptr || ways == nullptr) continue;
        EXPECT_EQ(std::fmod(capacity->value->number, ways->value->number), 0);
    }
}

/// Its sets are shifted by powers of two from the size of a location: less is no question for a real machine.
TEST_F(Native, ThePublishedTestAsksWhatCanBeAsked) {
    SuiteOptions options;
    options.tests = {"l1"};
    options.robust = false;
    options.budget.most_cycles = 2e10;
    for (const TestReport& report : run_suite(*target, options))
        for (const Finding& finding : report.findings)
            EXPECT_EQ(finding.reason.find("is no multiple of"), std::string::npos) << finding.reason;
}

TEST_F(Native, PagesLieWhereTheSystemSays) {
    const Arena arena = target->make_arena(64 * page(), page());
    std::vector<std::uint64_t> pages = target->physical_pages(arena);
    if (pages.empty()) GTEST_SKIP() << "the system tells physical addresses to root alone";
    EXPECT_EQ(pages.size(), 64U);
    for (const std::uint64_t address : pages) EXPECT_EQ(address % page(), 0U);
    std::ranges::sort(pages);
    EXPECT_EQ(std::ranges::adjacent_find(pages), pages.end()) << "each page has a frame of its own";
}

}  // namespace
}  // namespace cachetally
