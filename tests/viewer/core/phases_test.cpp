// SPDX-License-Identifier: BSD-3-Clause
// Which phases are worst: by hand, and laws that hold for all.
#include "viewer/core/phases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Phases = std::vector<std::uint32_t>;

constexpr PhaseBounds bounds{.alike = 0.9, .stands_out = 1.25, .majority = 0.5};

Phases first(std::size_t count) {
    Phases phases(count);
    std::iota(phases.begin(), phases.end(), 0U);
    return phases;
}

/// Of all phases, each with a name of its own.
WorstPhases worst_of_all(const std::vector<double>& misses, const std::vector<double>& accesses) {
    const Phases all = first(misses.size());
    return worst_phases(all, {misses, accesses, all}, bounds);
}

TEST(PhasesOfMisses, AreThoseWithMostAtAboutTheRateOfAllOrMore) {
    const WorstPhases most = worst_of_all({50, 45, 44, 1}, {100, 100, 100, 100});
    EXPECT_THAT(most.phases, ElementsAre(0, 1)) << "45 of 50 is as bad, 44 is not";
    EXPECT_THAT(most.others, IsEmpty());
    const WorstPhases rate = worst_of_all({60, 50, 10}, {1000, 50, 50});
    EXPECT_THAT(rate.phases, ElementsAre(1));
    EXPECT_THAT(rate.others, ElementsAre(0)) << "more misses, at 6 % of 10.9 %";
    EXPECT_FALSE(rate.others_higher);
    const WorstPhases majority = worst_of_all({61, 53, 7}, {1000, 50, 50});
    EXPECT_THAT(majority.phases, ElementsAre(0)) << "61 of 121, at any rate";
    EXPECT_THAT(majority.others, ElementsAre(1));
    EXPECT_TRUE(majority.others_higher);
}

TEST(PhasesOfMisses, StandOutFromOneAndAQuarterOfTheMean) {
    EXPECT_THAT(worst_of_all({5, 3}, {10, 10}).phases, ElementsAre(0));
    EXPECT_THAT(worst_of_all({49, 31}, {100, 100}).phases, IsEmpty());
    EXPECT_TRUE(worst_of_all({49, 31}, {100, 100}).several);
    EXPECT_THAT(worst_of_all({0, 0}, {10, 10}).phases, IsEmpty());
    EXPECT_FALSE(worst_of_all({5}, {10}).several);
}

TEST(PhasesOfMisses, PhasesWithoutCountsAreNone) {
    const std::vector<double> misses{1, 9}, accesses{10, 10}, none;
    const Phases chosen{0, 1, 2, 7}, names{0, 1}, no_names;
    EXPECT_THAT(worst_phases(chosen, {misses, accesses, names}, bounds).phases, ElementsAre(1));
    EXPECT_THAT(worst_phases(chosen, {none, none, no_names}, bounds).phases, IsEmpty());
}

// Steps 0 and 1 by turns: of the worse step the phases above the mean of all, and the peak among them.
TEST(PhasesOfMisses, OfOneNameCountTogether) {
    const std::vector<double> misses{30, 10, 60, 10, 30, 10, 2, 10}, accesses(8, 100);
    const Phases all = first(8), names{0, 1, 0, 1, 0, 1, 0, 1};
    const WorstPhases worst = worst_phases(all, {misses, accesses, names}, bounds);
    EXPECT_THAT(worst.phases, ElementsAre(0, 2, 4)) << "122 of 162; the mean is 20.25";
    EXPECT_THAT(worst.peaks, ElementsAre(2));
    const Phases chosen{0, 2, 6}, one_name(8, 0);
    EXPECT_THAT(worst_phases(chosen, {misses, accesses, names}, bounds).phases, ElementsAre(2))
        << "of one name: each alone";
    EXPECT_THAT(worst_phases(all, {misses, accesses, one_name}, bounds).phases, ElementsAre(2));
}

// Without phase 3 the mean is 30, with it 22.5.
TEST(PhasesOfMisses, WithoutAccessesAreNotCompared) {
    EXPECT_THAT(worst_of_all({35, 30, 25}, {100, 100, 100}).phases, IsEmpty());
    EXPECT_THAT(worst_of_all({35, 30, 25, 0, 0}, {100, 100, 100, 0, 0}).phases, IsEmpty()) << "most are accessed";
    EXPECT_THAT(worst_of_all({35, 30, 25, 0, 0, 0}, {100, 100, 100, 0, 0, 0}).phases, ElementsAre(0, 1, 2))
        << "all are there";
    EXPECT_THAT(worst_of_all({35, 30, 25, 0}, {100, 100, 100, 9}).phases, ElementsAre(0));
    EXPECT_THAT(worst_of_all({35, 30, 25, 0}, {0, 0, 0, 0}).phases, ElementsAre(0)) << "accesses are not known";
}

// Of one step, some phases have half as many misses again as the others.
TEST(PhasesOfMisses, MoreThanEightPeaksAreNone) {
    for (const std::size_t peaks : {8U, 9U}) {
        std::vector<double> misses(60, 20), accesses(60, 100);
        Phases names(60, 0);
        for (std::size_t i = 0; i < peaks; ++i) misses[i] = 30;
        for (std::size_t i = 40; i < 60; ++i) misses[i] = 1, names[i] = 1;
        const WorstPhases worst = worst_phases(first(60), {misses, accesses, names}, bounds);
        EXPECT_EQ(worst.phases, first(40));
        EXPECT_EQ(worst.peaks.size(), peaks == 8 ? 8U : 0U) << peaks;
    }
}

TEST(PhasesOfMisses, BelowTheMeanStayWhereAllAre) {
    const std::vector<double> misses{40, 10, 10, 10, 10, 10, 10}, accesses{400, 10, 10, 10, 10, 10, 10};
    const Phases all = first(7), names{0, 1, 1, 1, 1, 1, 1};
    const WorstPhases worst = worst_phases(all, {misses, accesses, names}, bounds);
    EXPECT_THAT(worst.phases, IsEmpty()) << "60 of a mean of 50 by step";
    const std::vector<double> less{20, 10, 10, 10, 10, 10, 10};
    EXPECT_THAT(worst_phases(all, {less, accesses, names}, bounds).phases, ElementsAre(1, 2, 3, 4, 5, 6));
}

RC_GTEST_PROP(PhasesOfMisses, HaveTheMeanAllOrNone, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 30);
    const auto numbers = [&](int end) {
        return *rc::gen::container<std::vector<double>>(
            count, rc::gen::map(rc::gen::inRange(0, end), [](int each) { return static_cast<double>(each); }));
    };
    const std::vector<double> misses = numbers(1000), accesses = numbers(5000);
    const auto names = *rc::gen::container<Phases>(count, rc::gen::inRange<std::uint32_t>(0, 5));
    const Phases all = first(count);
    const WorstPhases worst = worst_phases(all, {misses, accesses, names}, bounds);
    for (const Phases* each : {&worst.phases, &worst.peaks, &worst.others}) {
        RC_ASSERT(std::is_sorted(each->begin(), each->end()));
        RC_ASSERT(std::adjacent_find(each->begin(), each->end()) == each->end());
    }
    RC_ASSERT(std::includes(worst.phases.begin(), worst.phases.end(), worst.peaks.begin(), worst.peaks.end()));
    if (worst.phases.empty()) return;
    RC_ASSERT(worst.several);
    const double sum = std::accumulate(misses.begin(), misses.end(), 0.0);
    const auto has_mean = [&](std::uint32_t phase) { return misses[phase] * static_cast<double>(count) >= sum; };
    const auto with_mean = std::count_if(worst.phases.begin(), worst.phases.end(), has_mean);
    RC_ASSERT(with_mean == 0 || with_mean == std::ssize(worst.phases));
}

}  // namespace
}  // namespace cachetally
