// SPDX-License-Identifier: BSD-3-Clause
// Curves laid over one another, by hand.
#include <gtest/gtest.h>

#include <stdexcept>

#include "probes/curve_comparison.hpp"

namespace cachetally {
namespace {

Curve curve_through(std::vector<double> x, std::vector<double> cycles) {
    Curve curve;
    curve.test = "response";
    curve.variant = "robust";
    curve.name = "latency";
    curve.x = std::move(x);
    curve.cycles = std::move(cycles);
    return curve;
}

TEST(CurveComparison, IsByPlateauAndEdge) {
    const Curve before = curve_through({1, 2, 3, 4, 5, 6, 7}, {4, 4, 4.1, 8, 12, 12, 12}),
                after = curve_through({1, 2, 3, 4, 5, 6, 7}, {4, 4.2, 4.1, 6, 12, 12, 9});
    const CurveComparison found = compared(before, after);
    ASSERT_EQ(found.segments.size(), 3U);
    EXPECT_FALSE(found.segments[0].edge);
    EXPECT_EQ(found.segments[0].first, 1);
    EXPECT_EQ(found.segments[0].last, 2);
    EXPECT_EQ(found.segments[0].differences.points, 2U);
    EXPECT_DOUBLE_EQ(found.segments[0].differences.median, (4.2 / 4 - 1) / 2);
    EXPECT_DOUBLE_EQ(found.segments[0].differences.worst, 4.2 / 4 - 1);
    EXPECT_TRUE(found.segments[1].edge) << "from 4.1 to 12";
    EXPECT_EQ(found.segments[1].first, 3);
    EXPECT_EQ(found.segments[1].last, 5);
    EXPECT_EQ(found.segments[1].before, 8);
    EXPECT_EQ(found.segments[1].after, 6);
    EXPECT_EQ(found.segments[1].differences.worst, -0.25);
    EXPECT_EQ(found.segments[1].differences.worst_at, 4);
    EXPECT_FALSE(found.segments[2].edge);
    EXPECT_EQ(found.segments[2].differences.worst, -0.25);
    EXPECT_EQ(found.all.points, 7U);
    EXPECT_EQ(found.all.median, 0) << "of 0, 0, 0, 0, 5, 25 and 25 %";
}

TEST(CurveComparison, IsOfPointsThatBothHave) {
    const CurveComparison found =
        compared(curve_through({1, 2, 4, 8}, {1, 1, 1, 0}), curve_through({2, 3, 4, 8, 9}, {2, 5, 1.5, 7, 7}));
    EXPECT_EQ(found.x, (std::vector<double>{2, 4})) << "at 8 one has no time";
    EXPECT_EQ(found.only_before, 1U);
    EXPECT_EQ(found.only_after, 2U);
    EXPECT_EQ(found.all.worst, 1);
    EXPECT_EQ(found.all.median, 0.75);
    EXPECT_TRUE(compared(curve_through({1}, {1}), curve_through({2}, {1})).segments.empty());
}

TEST(ProbeComparison, PairsCurvesAndFindings) {
    TestReport before;
    before.test = "l1";
    before.variant = "robust";
    TestReport after = before;
    before.answer("L1", "capacity", 32768, "bytes", "");
    before.answer("L1", "latency", 4.0, 3.9, 4.1, "cycles", "");
    before.answer("L1", "replacement", "lru", "");
    before.refuse("L1", "ways", "unclear");
    before.curves = {curve_through({1}, {1})};
    after.answer("L1", "capacity", 49152, "bytes", "");
    after.answer("L1", "latency", 4.05, 4.0, 4.1, "cycles", "");
    after.answer("L1", "replacement", "fifo", "");
    after.curves = {curve_through({1}, {2})};
    after.curves.front().name = "translation";
    const ProbeComparison found = compared(std::span(&before, 1), std::span(&after, 1));
    ASSERT_EQ(found.findings.size(), 3U);
    EXPECT_FALSE(found.findings[0].same);
    EXPECT_TRUE(found.findings[1].same) << "within the interval";
    EXPECT_FALSE(found.findings[2].same);
    EXPECT_TRUE(found.curves.empty());
    EXPECT_EQ(found.only_before, std::vector<std::string>{"response robust, latency"});
    EXPECT_EQ(found.only_after, std::vector<std::string>{"response robust, translation"});
    EXPECT_THROW(compared(std::span(&before, 1), std::span<const TestReport>()), std::invalid_argument);
}

}  // namespace
}  // namespace cachetally
