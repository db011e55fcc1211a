// SPDX-License-Identifier: BSD-3-Clause
// Scales of values: by hand, and what holds for all.
#include "viewer/core/value_scale.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace cachetally {
namespace {

using Ticks = std::vector<double>;

ValueExtent extent_of(const std::vector<double>& values) {
    ValueExtent extent;
    for (const double value : values) {
        extent.least = std::min(extent.least, value);
        extent.most = std::max(extent.most, value);
        if (value == 0) continue;
        extent.small = std::min(extent.small, std::abs(value));
        extent.large = std::max(extent.large, std::abs(value));
    }
    return extent;
}

ValueScale scale_of(const std::vector<double>& values, const ValueScaleOptions& options = {}) {
    return value_scale(extent_of(values), options);
}

TEST(ValueScale, IsLinearFromZeroWithRoomAbove) {
    const ValueScale scale = scale_of({3, 9});
    EXPECT_EQ(scale.spread, ValueSpread::linear);
    EXPECT_DOUBLE_EQ(scale.bottom, 0);
    EXPECT_DOUBLE_EQ(scale.top, 9 / 0.94);
    EXPECT_EQ(scale.ticks, (Ticks{0, 2, 4, 6, 8}));
    EXPECT_EQ(scale_of({0.1, 0.3}).ticks, (Ticks{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}));
    const ValueScale below = scale_of({-3, 5});
    EXPECT_DOUBLE_EQ(below.bottom, -3 - 0.06 * 8 / 0.88);
    EXPECT_DOUBLE_EQ(below.top, 5 + 0.06 * 8 / 0.88);
    EXPECT_EQ(below.ticks, (Ticks{-2, 0, 2, 4}));
    EXPECT_EQ(scale_of({0, 0}).top, 1 / 0.94);
}

TEST(ValueScale, IsLogarithmicIfValuesAreFarApart) {
    EXPECT_EQ(scale_of({1, 30}).spread, ValueSpread::linear);
    EXPECT_EQ(scale_of({1, 31}).spread, ValueSpread::logarithmic);
    EXPECT_EQ(scale_of({1, 31}, {DrawnScale::linear}).spread, ValueSpread::linear);
    EXPECT_EQ(scale_of({1, 2}, {DrawnScale::logarithmic}).spread, ValueSpread::logarithmic);
    const ValueScale scale = scale_of({1, 1000});
    const double room = 0.06 * std::log(1000) / 0.88;
    EXPECT_NEAR(scale.bottom, std::exp(-room), 1e-12);
    EXPECT_NEAR(scale.top, 1000 * std::exp(room), 1e-9);
    EXPECT_EQ(scale.ticks, (Ticks{1, 10, 100, 1000}));
    EXPECT_EQ(scale_of({1, 1e9}).ticks, (Ticks{1, 1e3, 1e6, 1e9}));
    EXPECT_EQ(scale_of({12, 60}, {DrawnScale::logarithmic}).ticks, (Ticks{20, 50})) << "fewer than two powers";
    const ValueScale alone = scale_of({8}, {DrawnScale::logarithmic});  // from 4 to 16
    EXPECT_NEAR(std::log2(alone.top) - std::log2(alone.bottom), 2 / 0.88, 1e-12);
    EXPECT_EQ(alone.ticks, (Ticks{5, 10}));
}

TEST(ValueScale, IsSymmetricLogarithmicIfNotAllAreAboveZero) {
    const ValueScale scale = scale_of({-10, 0, 1, 1000});
    EXPECT_EQ(scale.spread, ValueSpread::symmetric_logarithmic);
    EXPECT_EQ(scale.unit, 1);
    EXPECT_EQ(scale.ticks, (Ticks{-10, 0, 10, 1000})) << "of powers 0 to 3 each second, from the largest down";
    const double whole = (std::log(1001) + std::log(11)) / 0.88;
    EXPECT_NEAR(std::log1p(scale.top), std::log(1001) + 0.06 * whole, 1e-12);
    EXPECT_NEAR(std::log1p(-scale.bottom), std::log(11) + 0.06 * whole, 1e-12);
    EXPECT_EQ(scale_of({0, 0.05, 9}).unit, 0.01);
    EXPECT_EQ(scale_of({0, 1, 1e9}).unit, 1000) << "six powers below the largest";
    EXPECT_EQ(scale_of({0, 7, 900}).bottom, 0);
    const ValueScale centred = scale_of({1, 99}, {DrawnScale::logarithmic, true});
    EXPECT_EQ(centred.spread, ValueSpread::symmetric_logarithmic);
    EXPECT_EQ(centred.bottom, -centred.top);
}

TEST(ValueScale, EndsAtItsValuesIfTightAndHasZeroInTheMiddleIfCentred) {
    const ValueScale tight = scale_of({3, 9}, {DrawnScale::automatic, false, true});
    EXPECT_EQ(tight.bottom, 3);
    EXPECT_EQ(tight.top, 9);
    EXPECT_EQ(scale_of({5}, {DrawnScale::automatic, false, true}).top, 6) << "of one value";
    const ValueScale centred = scale_of({-2, 1}, {DrawnScale::automatic, true});
    EXPECT_DOUBLE_EQ(centred.top, 2 / 0.88);
    EXPECT_DOUBLE_EQ(centred.bottom, -2 / 0.88);
    EXPECT_EQ(scale_of({-2, 1}, {DrawnScale::automatic, true, true}).top, 2);
    EXPECT_EQ(scale_of({0, 9}, {DrawnScale::automatic, false, false, 2}).ticks, (Ticks{0, 5}));
}

TEST(ValueScale, OfNoOrStrangeValuesEnds) {
    EXPECT_EQ(scale_of({}).ticks, scale_of({0}).ticks);
    EXPECT_EQ(scale_of({}, {DrawnScale::logarithmic, true, true}).top, 1);
    for (const std::vector<double>& values :
         {std::vector{5e-324}, {1e300, std::nextafter(1e300, 2e300)}, {-1e308, 1e308}})
        for (const bool tight : {false, true})
            EXPECT_LE(scale_of(values, {DrawnScale::automatic, false, tight}).ticks.size(), 100U);
}

// All values are on the scale; ticks ascend and are on it.
RC_GTEST_PROP(ValueScale, HoldsItsValuesAndTicks, ()) {
    const auto value = rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'000), [](int each) { return each / 1000.0; });
    const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(value));
    const auto wanted = *rc::gen::element(DrawnScale::automatic, DrawnScale::linear, DrawnScale::logarithmic);
    const ValueScale scale = scale_of(values, {wanted, *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()});
    const double rounding = 1e-9 * (scale.top - scale.bottom);
    for (const double each : values) RC_ASSERT(scale.bottom - rounding <= each && each <= scale.top + rounding);
    RC_ASSERT(std::ranges::is_sorted(scale.ticks, std::ranges::less_equal()) || scale.ticks.size() < 2);
    for (const double each : scale.ticks) RC_ASSERT(scale.bottom - rounding <= each && each <= scale.top + rounding);
}

}  // namespace
}  // namespace cachetally
