// SPDX-License-Identifier: BSD-3-Clause
// Objectives, bounds and fronts of sweeps, against every pair of points.
#include "viewer/sweep_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

/// Few values, so that points often are equal or close.
std::vector<Point> points_gen() {
    const auto objectives = *rc::gen::inRange<std::size_t>(1, 5);
    const auto number = *rc::gen::inRange<std::size_t>(0, 25);
    std::vector<Point> points;
    for (std::size_t i = 0; i < number; ++i) {
        Point point;
        for (std::size_t k = 0; k < objectives; ++k) point.push_back(*rc::gen::inRange(-2, 40));
        points.push_back(point);
    }
    return points;
}

bool at_least_as_good(const Point& a, const Point& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] > b[k]) return false;
    return true;
}

/// The range of an objective.
double range_of(const std::vector<Point>& points, std::size_t objective) {
    double range = 0;
    for (const Point& a : points)
        for (const Point& b : points) range = std::max(range, a[objective] - b[objective]);
    return range;
}

bool stands_for(const Point& a, const Point& b, const std::vector<Point>& front, double tolerance, double least) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] > b[k] && a[k] - b[k] > tolerance * std::max(range_of(front, k), least) + 1e-12) return false;
    return true;
}

RC_GTEST_PROP(SweepChoice, TheFrontIsWhatNoOtherBeats, ()) {
    const std::vector<Point> points = points_gen();
    const std::vector<bool> front = front_of(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool beaten = false;
        for (const Point& other : points) beaten |= at_least_as_good(other, points[i]) && other != points[i];
        RC_ASSERT(front[i] == !beaten);
    }
}

// All are stood for, none is superfluous, and with no tolerance only equal points are left out.
RC_GTEST_PROP(SweepChoice, WhatRemainsStandsForAll, ()) {
    std::vector<Point> front;
    const std::vector<Point> points = points_gen();
    const std::vector<bool> on_front = front_of(points);
    for (std::size_t i = 0; i < points.size(); ++i)
        if (on_front[i]) front.push_back(points[i]);
    const double tolerance = *rc::gen::element(0.0, 0.0625, 0.25, 1.0);
    const double least = *rc::gen::element(0.0, 4.0, 64.0);
    const Point least_ranges(front.empty() ? 0 : front.front().size(), least);
    const std::vector<bool> remain = remaining(front, tolerance, least_ranges);
    const auto all_stood_for = [&](std::size_t without) {
        for (const Point& point : front) {
            bool found = false;
            for (std::size_t i = 0; i < front.size(); ++i)
                found |= i != without && remain[i] && stands_for(front[i], point, front, tolerance, least);
            if (!found) return false;
        }
        return true;
    };
    RC_ASSERT(all_stood_for(front.size()));
    for (std::size_t i = 0; i < front.size(); ++i) RC_ASSERT(!remain[i] || !all_stood_for(i));
    if (tolerance == 0)
        for (std::size_t i = 0; i < front.size(); ++i) {
            std::size_t equal = 0;
            for (std::size_t j = 0; j < front.size(); ++j) equal += remain[j] && front[j] == front[i] ? 1 : 0;
            RC_ASSERT(equal == 1);
        }
}

SweepCell cell_with(double error, std::optional<double> slowdown, std::uint64_t bits) {
    return {"fifo", "1", 16, 100, error, 2.0, SweepCost{bits, 16, 900, 7.5}, {}, slowdown, {}, {}, {}, 90};
}

// Ranges on the front are 9.4 %, 0.3 % and 500 bits: the second differs from the first by 0.031 %, less than a
// twentieth of the first range, and is better otherwise; the fourth is beaten.
TEST(SweepChoices, SmallDifferencesDoNotCount) {
    const std::vector<SweepCell> cells{cell_with(0.0060, 0.0030, 1000), cell_with(0.00631, 0.00004, 999),
                                       cell_with(0.1, 0.0, 500), cell_with(0.2, 0.0, 800)};
    const auto found = standings_of(cells, parse_choice("error,slowdown,bits", ""));
    EXPECT_EQ(found, (std::vector<Standing>{
                         {true, true, false}, {true, true, true}, {true, true, true}, {true, false, false}}));
    const auto strict = standings_of(cells, parse_choice("error,slowdown,bits", "", 0));
    EXPECT_TRUE(strict[0].remains && strict[1].remains && strict[2].remains);
    const auto cheapest = standings_of(cells, parse_choice("bits", "error<1"));
    EXPECT_EQ(cheapest, (std::vector<Standing>{{true, false, false}, {true, true, true}, {}, {}}));
}

// Slowdowns of the first two differ by 0.04 of a percentage point, of the third by 0.06 from the first.
TEST(SweepChoices, HundredthsOfPercentagePointsDoNotCount) {
    const std::vector<SweepCell> cells{cell_with(0.1, 0.0, 1000), cell_with(0.1, 0.0004, 999),
                                       cell_with(0.1, 0.0006, 998)};
    const auto found = standings_of(cells, parse_choice("slowdown", ""));
    EXPECT_EQ(found, (std::vector<Standing>{{true, true, true}, {true, false, false}, {true, false, false}}));
    const auto half = standings_of(cells, parse_choice("error,slowdown,bits", "", 50));
    EXPECT_EQ(half, (std::vector<Standing>{{true, true, false}, {true, true, true}, {true, true, false}}));
    const auto all = standings_of(cells, parse_choice("error,slowdown,bits", "", 0));
    EXPECT_TRUE(all[0].remains && all[1].remains && all[2].remains);
}

// The first monitor saw nothing of the second program, whose other monitor did: the two have no worst in common.
TEST(SweepChoices, TheWorstOfAllAdmitsNoMonitorThatSawNothingSomewhere) {
    std::vector<SweepCell> cells{cell_with(0.0, 0.0, 500), cell_with(0.1, 0.1, 1000), cell_with(0.0, 0.0, 500),
                                 cell_with(0.2, 0.1, 1000)};
    for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i].workload = i < 2 ? "a" : "b";
        cells[i].counters = 1 + i % 2;
        cells[i].events = i == 2 ? 0 : 90;
    }
    const std::vector<SweepCell> worst = worst_of(cells);
    ASSERT_EQ(worst.size(), 2U);
    EXPECT_EQ(worst[0].events, 0U);
    EXPECT_EQ(worst[1].events, 90U);
    EXPECT_EQ(worst[1].error, 0.2);
    EXPECT_EQ(standings_of(worst, parse_choice("error,bits", "")), (std::vector<Standing>{{}, {true, true, true}}));
}

TEST(SweepChoices, MonitorsThatSawNothingAreNoBargain) {
    std::vector<SweepCell> cells{cell_with(0.0, 0.0, 500), cell_with(0.1, 0.1, 1000)};
    cells[0].events = 0;
    EXPECT_EQ(standings_of(cells, parse_choice("error,bits", "")), (std::vector<Standing>{{}, {true, true, true}}));
    cells[1].events = 0;
    EXPECT_EQ(standings_of(cells, parse_choice("error,bits", "")), (std::vector<Standing>{{}, {}})) << "none saw any";
}

TEST(SweepChoices, BoundsAreInPercentWhereTablesAre) {
    const SweepCell cell = cell_with(0.05, 0.01, 1000), untimed = cell_with(0.05, {}, 1000);
    for (const auto& [text, admitted] : {std::pair{"error<5", false},
                                         {"error<=5", true},
                                         {"error>4.9", true},
                                         {"error>5", false},
                                         {"error>=5", true},
                                         {"slowdown<1.5,bits<1001", true},
                                         {"slowdown<1.5, bits < 1000", false},
                                         {"bytes<=2,swapouts<=100", true},
                                         {"counters<16", false},
                                         {"error<=5%,bits<1K", true},
                                         {"bits>1K", false},
                                         {"area<901,energy<8,comparators<17", true}})
        EXPECT_EQ(parse_choice("", text).admits(cell), admitted) << text;
    EXPECT_FALSE(parse_choice("", "slowdown<100").admits(untimed)) << "what is not known keeps no bound";
    const SweepChoice choice = parse_choice("bits,error,bits", "error<5,bits>=1e3");
    EXPECT_EQ(choice.objectives_text(), "bits,error");
    EXPECT_EQ(choice.bounds_text(), "error<5,bits>=1000");
}

TEST(SweepChoices, ThatAreNoneAreRefused) {
    const auto message = [](const char* objectives, const char* where) -> std::string {
        try {
            (void)parse_choice(objectives, where);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("error,bit", ""),
                HasSubstr("'--objectives error,bit': there is no objective 'bit'; did you mean"));
    for (const char* where :
         {"error", "error<", "error<five", "error<5K", "bits<5%", "bits<5Q", "<5", "error=5", "error<inf", "error<5,"})
        EXPECT_THAT(message("", where), HasSubstr("--where")) << where;
}

TEST(SweepChoices, WithoutObjectivesTakeSlowdownWhereAllIsKnown) {
    const std::vector<SweepCell> timed{cell_with(0, 0.1, 10)}, some{timed[0], cell_with(0, {}, 10)};
    const auto names = [](const std::vector<SweepCell>& cells) {
        return SweepChoice{objectives_for(cells, {}), {}}.objectives_text();
    };
    EXPECT_EQ(names(timed), "error,slowdown,bytes,bits");
    EXPECT_EQ(names(some), "error,bytes,bits");
    const auto asked = standings_of(some, parse_choice("slowdown", ""));
    EXPECT_TRUE(asked[0].front);
    EXPECT_FALSE(asked[1].front);
}

}  // namespace
}  // namespace cachetally
