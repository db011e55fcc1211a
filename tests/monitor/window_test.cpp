// SPDX-License-Identifier: BSD-3-Clause
// Dynamic granularity: windows worked out by hand from the rule of docs/monitors.md.
#include <gtest/gtest.h>

#include "monitor/counter_array.hpp"

namespace cachetally {
namespace {

std::vector<SwapOut> records(std::uint32_t lines, std::uint32_t counters, const std::vector<std::uint64_t>& units) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.counters = counters;
    spec.granularity = {Granularity::Mode::dynamic, lines};
    const auto array = make_counter_array(spec);
    std::vector<SwapOut> out;
    for (const std::uint64_t unit : units) array->add(unit, 1, out);
    array->flush(out);
    return out;
}

using Out = std::vector<SwapOut>;

TEST(Windows, GrowToTheirLargestSizeWithoutFixedBoundaries) {
    EXPECT_EQ(records(4, 8, {6, 7, 8, 9, 10}), (Out{{6, 4, 1, 4}, {10, 1, 1, 1}}));
}

TEST(Windows, GrowDownwardsToo) { EXPECT_EQ(records(4, 8, {9, 8, 7, 6, 5}), (Out{{6, 4, 1, 4}, {5, 1, 1, 1}})); }

TEST(Windows, CoverGaps) {
    // 10 and 13 span 4 units; 11 and 12 then lie inside.
    EXPECT_EQ(records(4, 8, {10, 13, 11, 12}), (Out{{10, 4, 1, 4}}));
}

TEST(Windows, DoNotReachBeyondTheirLimit) { EXPECT_EQ(records(4, 8, {10, 14}), (Out{{10, 1, 1, 1}, {14, 1, 1, 1}})); }

TEST(Windows, TheNearerOfTwoGrows) {
    // Windows [10,10] and [16,16], at most 6 units: 14 is 4 from the lower, 2 from the upper.
    EXPECT_EQ(records(6, 8, {10, 16, 14}), (Out{{10, 1, 1, 1}, {14, 3, 1, 2}}));
}

TEST(Windows, TheLowerOfEquallyNearOnesGrows) {
    EXPECT_EQ(records(4, 8, {10, 14, 12}), (Out{{10, 3, 1, 2}, {14, 1, 1, 1}}));
}

TEST(Windows, AFullNearWindowLetsTheOtherSideGrow) {
    // [10,13] is full; [16,16] takes 14 although 13 is nearer.
    EXPECT_EQ(records(4, 8, {10, 11, 12, 13, 18, 16, 14}), (Out{{10, 4, 1, 4}, {16, 3, 1, 2}, {14, 1, 1, 1}}));
    EXPECT_EQ(records(4, 8, {10, 11, 12, 13, 16, 14}), (Out{{10, 4, 1, 4}, {14, 3, 1, 2}}));
}

TEST(Windows, NeverReachOverAnotherWindow) {
    // At most 3 units: [10,12] is full. 13 could not belong to it; [14,14] takes it. 9 begins anew below.
    EXPECT_EQ(records(3, 8, {10, 11, 12, 14, 13, 9}), (Out{{10, 3, 1, 3}, {13, 2, 1, 2}, {9, 1, 1, 1}}));
}

TEST(Windows, AVictimFreesItsUnits) {
    // FIFO, 2 counters: 30 swaps [10,11] out; 11 then begins a window of its own and swaps [20,20] out.
    EXPECT_EQ(records(2, 2, {10, 11, 20, 30, 11}), (Out{{10, 2, 1, 2}, {20, 1, 1, 1}, {30, 1, 1, 1}, {11, 1, 1, 1}}));
}

TEST(Windows, WorkAtBothEndsOfTheAddressSpace) {
    const std::uint64_t top = ~std::uint64_t{0};
    EXPECT_EQ(records(4, 4, {0, 1, top, top - 1}), (Out{{0, 2, 1, 2}, {top - 1, 2, 1, 2}}));
}

}  // namespace
}  // namespace cachetally
