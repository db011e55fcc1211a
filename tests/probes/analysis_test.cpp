// SPDX-License-Identifier: BSD-3-Clause
// Change points and set occupancy, against hand-made numbers, exhaustive search and enumeration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "probes/analysis.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;

TEST(Isotonic, ViolatorsArePooledByHand) {
    EXPECT_THAT(isotonic(std::vector<double>{1, 3, 2, 4}), ElementsAre(1, 2.5, 2.5, 4));
    EXPECT_THAT(isotonic(std::vector<double>{3, 2, 1}), ElementsAre(2, 2, 2));
    EXPECT_THAT(isotonic(std::vector<double>{5, 1, 6, 2, 7}), ElementsAre(3, 3, 4, 4, 7));
    EXPECT_TRUE(isotonic(std::vector<double>{}).empty());
}

RC_GTEST_PROP(Isotonic, NeverFallsAndKeepsTheSum, (const std::vector<int>& numbers)) {
    std::vector<double> values;
    for (const int number : numbers) values.push_back(number % 100);
    const std::vector<double> fitted = isotonic(values);
    RC_ASSERT(fitted.size() == values.size());
    RC_ASSERT(std::ranges::is_sorted(fitted));
    RC_ASSERT(std::abs(std::accumulate(fitted.begin(), fitted.end(), 0.0) -
                       std::accumulate(values.begin(), values.end(), 0.0)) < 1e-6);
}

TEST(ChangePoints, StepsAreFoundByHand) {
    EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 5, 5, 9, 9}, 1), ElementsAre(3, 5));
    EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 5, 5, 9, 9}, 1000), ElementsAre());
    EXPECT_THAT(change_points(std::vector<double>{2, 2, 2}, 1), ElementsAre());
}

double cost_of(const std::vector<double>& values, std::size_t from, std::size_t to) {
    const double mean = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                                        values.begin() + static_cast<std::ptrdiff_t>(to), 0.0) /
                        static_cast<double>(to - from);
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

/// All 2^(n-1) ways to cut.
double least_cost(const std::vector<double>& values, double penalty) {
    double least = 1e300;
    for (unsigned cuts = 0; cuts < 1U << (values.size() - 1); ++cuts) {
        double sum = 0;
        std::size_t from = 0;
        for (std::size_t i = 1; i <= values.size(); ++i) {
            if (i < values.size() && (cuts >> (i - 1) & 1U) == 0) continue;
            sum += cost_of(values, from, i) + (from > 0 ? penalty : 0);
            from = i;
        }
        least = std::min(least, sum);
    }
    return least;
}

RC_GTEST_PROP(ChangePoints, NoCutIsBetter, ()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 11);
    const auto numbers = *rc::gen::container<std::vector<int>>(size, rc::gen::inRange(0, 8));
    const double penalty = 0.25 * *rc::gen::inRange(1, 40);
    const std::vector<double> values(numbers.begin(), numbers.end());
    double sum = 0;
    std::size_t from = 0;
    std::vector<std::size_t> ends = change_points(values, penalty);
    RC_ASSERT(std::ranges::is_sorted(ends));
    ends.push_back(size);
    for (const std::size_t end : ends) {
        sum += cost_of(values, from, end) + (from > 0 ? penalty : 0);
        from = end;
    }
    RC_ASSERT(std::abs(sum - least_cost(values, penalty)) < 1e-9);
}

TEST(Plateaus, RampsBetweenThemAreNone) {
    const std::vector<double> times{4, 4, 4, 4, 7, 11, 14, 14.02, 14.01, 14.03, 60, 190, 200, 200, 200, 200};
    const std::vector<Plateau> found = plateaus(times, 0, 3);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].first, 0U);
    EXPECT_EQ(found[0].last, 3U);
    EXPECT_NEAR(found[1].value, 14, 0.1);
    EXPECT_EQ(found[2].last, times.size() - 1);
}

/// By going through all colours^pages placements.
double chance_by_enumeration(unsigned pages, unsigned colours, unsigned ways) {
    std::vector<unsigned> place(pages, 0);
    std::uint64_t fit = 0, all = 0;
    while (true) {
        std::vector<unsigned> held(colours, 0);
        for (const unsigned colour : place) ++held[colour];
        ++all;
        fit += std::ranges::all_of(held, [&](unsigned count) { return count <= ways; });
        std::size_t digit = 0;
        while (digit < pages && ++place[digit] == colours) place[digit++] = 0;
        if (digit == pages) break;
    }
    return static_cast<double>(fit) / static_cast<double>(all);
}

TEST(Occupancy, ChancesAreNearThoseOfAllPlacements) {
    for (const auto& [pages, colours, ways] :
         {std::array<unsigned, 3>{5, 4, 2}, {6, 4, 2}, {8, 4, 3}, {10, 4, 4}, {9, 3, 4}, {7, 8, 2}}) {
        EXPECT_NEAR(chance_that_all_fit(pages, colours, ways), chance_by_enumeration(pages, colours, ways), 0.06)
            << pages << " pages, " << colours << " colours, " << ways << " ways";
    }
    EXPECT_EQ(chance_that_all_fit(8, 4, 8), 1);
    EXPECT_EQ(chance_that_all_fit(33, 4, 8), 0);
}

std::uint64_t first_failure(Random& random, std::uint64_t colours, std::uint64_t ways) {
    std::vector<std::uint64_t> held(colours, 0);
    for (std::uint64_t pages = 1;; ++pages)
        if (++held[random.below(colours)] > ways) return pages;
}

TEST(Occupancy, ColoursOfRandomPagesAreFound) {
    Random random(7);
    for (const std::uint64_t colours : {4U, 12U, 64U, 256U}) {
        std::vector<std::uint64_t> failures;
        for (int i = 0; i < 24; ++i) failures.push_back(first_failure(random, colours, 16));
        const ColourEstimate found = estimate_colours(failures, 16);
        EXPECT_LE(found.low, colours);
        EXPECT_GE(found.high, colours);
        EXPECT_FALSE(found.contiguous);
        EXPECT_LE(static_cast<double>(found.high - found.low), 0.15 * static_cast<double>(colours)) << colours;
    }
}

TEST(Occupancy, ContiguousPagesFillAllSets) {
    const ColourEstimate found = estimate_colours(std::vector<std::uint64_t>{129, 129, 129, 129}, 16);
    EXPECT_TRUE(found.contiguous);
    EXPECT_EQ(found.colours, 8U);
    EXPECT_EQ(found.high, 8U);
}

TEST(Occupancy, NumbersThatDoNotScatterAreNotExplained) {
    const std::vector<std::uint64_t> failures{701, 702, 701, 702, 701, 702, 701, 702};
    EXPECT_EQ(estimate_colours(failures, 16).colours, 0U);
}

}  // namespace
}  // namespace cachetally
