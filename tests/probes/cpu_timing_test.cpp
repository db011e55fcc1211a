// SPDX-License-Identifier: BSD-3-Clause
// Repetitions, trials, and copies side by side, on times that were written down.
#include "probes/cpu/timing.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cachetally {
namespace {

TEST(CpuTiming, RoundsDoubleUntilTheTimeIsReached) {
    std::vector<std::uint64_t> asked;
    const auto time = [&](std::uint64_t rounds) {
        asked.push_back(rounds);
        return 30.0 * static_cast<double>(rounds);
    };
    EXPECT_EQ(rounds_for(time, 200), 8U);  // 240 ns; 4 rounds take 120
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 2, 4, 8, 8}));
    EXPECT_EQ(rounds_for(time, 30), 1U);
}

TEST(CpuTiming, RoundsThatWereInterruptedAreNotEnough) {
    unsigned calls = 0;
    const auto time = [&](std::uint64_t rounds) {
        return (++calls == 2 ? 4e6 : 0) + 30.0 * static_cast<double>(rounds);  // of 2 rounds, once
    };
    EXPECT_EQ(rounds_for(time, 200), 8U);
}

TEST(CpuTiming, RoundsEndWhereNothingTakesTime) {
    EXPECT_LT(rounds_for([](std::uint64_t) { return 0.0; }, 100), std::numeric_limits<std::uint64_t>::max());
}

/// Times and clocks in the order in which they are asked for, the last of them for ever.
struct Script {
    std::vector<double> values;
    std::size_t asked = 0;
    double next() { return values[std::min(asked++, values.size() - 1)]; }
};

constexpr TrialOptions four_trials{.least_ns = 1, .trials = 4, .most_trials = 12, .tolerance = 0.01};

TEST(CpuTiming, TheLeastOfTheTrialsCounts) {
    Script times{{50, 50, /* the trials: */ 48, 40, 40, 44}}, clocks{{0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5}};
    const Timing found =
        least_time([&](std::uint64_t) { return times.next(); }, [&] { return clocks.next(); }, 10, four_trials);
    EXPECT_EQ(found, (Timing{4, 0.25, 0}));
    EXPECT_DOUBLE_EQ(found.cycles(), 16);
    EXPECT_EQ(times.asked, 6U);  // two for the rounds, four trials: they agree
}

TEST(CpuTiming, TrialsGoOnUntilHalvesAgree) {
    // Halves of 40 and 44 after four trials; after eight of 40 and 40.2.
    Script times{{50, 50, 40, 45, 41, 44, 43, 46, 42, 40.2}}, clocks{{1}};
    const Timing found =
        least_time([&](std::uint64_t) { return times.next(); }, [&] { return clocks.next(); }, 1, four_trials);
    EXPECT_EQ(times.asked, 10U);
    EXPECT_DOUBLE_EQ(found.ns, 40);
    EXPECT_NEAR(found.spread, 0.005, 1e-9);
}

TEST(CpuTiming, TrialsThatNeverAgreeEndWithTheirSpread) {
    bool odd = false;
    unsigned asked = 0;
    const auto time = [&](std::uint64_t) {
        ++asked;
        odd = !odd;
        return odd ? 40.0 : 50.0;
    };
    const Timing found = least_time(
        time, [] { return 1.0; }, 1, four_trials);
    EXPECT_EQ(asked, 14U);
    EXPECT_DOUBLE_EQ(found.spread, 0.25);
}

TEST(CpuTiming, TrialsInWhichTheClockChangesDoNotCount) {
    Script times{{50, 50, /* the trials: */ 40, 36, 36, 40}}, clocks{{1, 1, 0.9, 1, 1, 0.9, 1, 1}};
    const Timing found =
        least_time([&](std::uint64_t) { return times.next(); }, [&] { return clocks.next(); }, 1, four_trials);
    EXPECT_EQ(found, (Timing{40, 1, 0}));
}

TEST(CpuTiming, NothingIsFoundWhereItAlwaysChanges) {
    unsigned asked = 0;
    const auto clock = [&] { return ++asked % 2 == 0 ? 1.0 : 1.1; };
    EXPECT_EQ(least_time([](std::uint64_t) { return 40.0; }, clock, 1, four_trials).spread, 1);
    EXPECT_EQ(asked, 24U);
}

TEST(CpuTiming, HalvesAgreeInCyclesToo) {
    unsigned asked = 0;
    const auto clock = [&] { return asked++ / 2 % 2 == 0 ? 1.0 : 1.1; };  // one by trials of the other half
    EXPECT_NEAR(least_time([](std::uint64_t) { return 40.0; }, clock, 1, four_trials).spread, 0.1, 1e-9);
}

/// Windows of 100 ns from `begin` on.
std::vector<Window> windows(double begin, unsigned count, double ns, double cycle_ns = 1) {
    std::vector<Window> made;
    for (unsigned i = 0; i < count; ++i)
        made.push_back({begin + 100.0 * i, begin + 100.0 * i + 98, ns, cycle_ns, true});
    return made;
}

using Copies = std::vector<std::vector<Window>>;

TEST(CpuCopies, WindowsInWhichAllRanCount) {
    const Copies both{windows(0, 10, 2), windows(50, 10, 3, 0.5)};
    EXPECT_EQ(least_side_by_side(both), (std::vector<double>{2, 6}));
}

TEST(CpuCopies, ACopyThatRanAloneForAWhileIsNotTakenForUndisturbed) {
    Copies copies{windows(0, 20, 2), windows(0, 10, 2)};
    for (std::size_t i = 10; i < 20; ++i) copies[0][i].ns = 1;  // the other had left
    EXPECT_EQ(least_side_by_side(copies), (std::vector<double>{2, 2}));
}

TEST(CpuCopies, NorOneBesideWhichTheOtherLostItsCore) {
    Copies copies{windows(0, 20, 2), windows(0, 20, 2)};
    copies[1][7].kept_core = false;
    copies[0][7].ns = 1;
    copies[1][12].end = copies[1][12].begin + 900;  // it was away without being told
    copies[1].erase(copies[1].begin() + 13, copies[1].end());
    for (std::size_t i = 12; i < 20; ++i) copies[0][i].ns = 1;
    EXPECT_EQ(least_side_by_side(copies), (std::vector<double>{2, 2}));
}

TEST(CpuCopies, TooFewWindowsAreNoAnswer) {
    EXPECT_FALSE(least_side_by_side(Copies{windows(0, 10, 2), windows(5000, 10, 2)}));
    EXPECT_FALSE(least_side_by_side(Copies{windows(0, 2, 2), windows(0, 2, 2)}));
    EXPECT_TRUE(least_side_by_side(Copies{windows(0, 3, 2), windows(0, 3, 2)}));
    EXPECT_FALSE(least_side_by_side(Copies{{}}));
}

TEST(CpuCopies, OneAloneNeedsNobody) {
    EXPECT_EQ(least_side_by_side(Copies{windows(0, 5, 4)}), std::vector<double>{4});
}

}  // namespace
}  // namespace cachetally
