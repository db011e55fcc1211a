// SPDX-License-Identifier: BSD-3-Clause
// Epochs and thresholds for a given traffic: which are tried, and which are taken.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "monitor/trackers/tracker_listener.hpp"
#include "monitor/trackers/tracker_spec.hpp"

namespace cachetally {
namespace {

/// What a run of 1,000,000 events would give: `bytes` of reports that tell of so many events.
TrackerResult run_that_gives(double bytes_per_event, std::uint64_t told = 0) {
    TrackerResult result;
    result.events = 1'000'000;
    result.bytes = static_cast<std::uint64_t>(std::round(bytes_per_event * 1e6));
    result.histogram = Histogram(64, {{0, 1, 0, no_function, told}});
    return result;
}

EpochSearch searched(const char* spec, double asked, const std::function<double(const TrackerSpec&)>& traffic) {
    EpochSearch search(parse_tracker(spec), asked);
    for (int runs = 0; !search.is_done(); ++runs) {
        EXPECT_LT(runs, 12);
        if (runs == 12) break;
        search.record(run_that_gives(traffic(search.next())));
    }
    return search;
}

TEST(EpochSearch, FindsTheEpochOfATableThatIsReadFull) {
    for (const double asked : {0.01, 0.3, 4.0}) {
        const EpochSearch search = searched("kind=space_saving,counters=100,epoch=20000", asked,
                                            [](const auto& spec) { return 1600.0 / static_cast<double>(spec.epoch); });
        EXPECT_LE(search.share(), 1.0);
        EXPECT_GE(search.share(), 0.9);
        EXPECT_DOUBLE_EQ(search.share() * asked, search.result().bytes_per_event());
    }
}

/// Short epochs send little because hardly any unit is hot; those are not what is looked for.
TEST(EpochSearch, PrefersTheLongOfTwoEpochs) {
    const EpochSearch search = searched("kind=hotness,epoch=100000,threshold=8", 0.2, [](const auto& spec) {
        const double epoch = static_cast<double>(spec.epoch);
        return epoch < 1000 ? epoch / 1000 : 1000 / epoch;
    });
    EXPECT_GE(search.spec().epoch, 5000U);
    EXPECT_LE(search.spec().epoch, 5556U);
}

TEST(EpochSearch, TakesTheNearestWhereNoneIsNear) {
    const auto jump = [](const auto& spec) { return spec.epoch < 500 ? 3.0 : 0.5; };
    EXPECT_DOUBLE_EQ(searched("kind=hotness,epoch=10000,threshold=1", 1.0, jump).share(), 0.5);
    const auto always_more = [](const auto&) { return 2.0; };
    EXPECT_DOUBLE_EQ(searched("kind=space_saving,epoch=100", 1.0, always_more).share(), 2.0);
    EXPECT_EQ(searched("kind=sampling,period=9", 1.0, always_more).spec(), parse_tracker("kind=sampling,period=9"));
    EXPECT_EQ(searched("kind=hotness,epoch=64,threshold=64", 1.0, [](const auto&) { return 0.0; }).spec().epoch, 64U);
}

TEST(EpochSearch, AHotnessUnitHasThresholdsOfPowersOfTwo) {
    std::vector<std::uint32_t> thresholds;
    for (const EpochSearch& search : searches_of(parse_tracker("kind=hotness,threshold=1,epoch=100"), 1.0))
        thresholds.push_back(search.next().threshold);
    EXPECT_EQ(thresholds, (std::vector<std::uint32_t>{1, 2, 4, 8}));  // 8 events for 8 bytes at most
    EXPECT_EQ(searches_of(parse_tracker("kind=hotness,threshold=1,epoch=100"), 0.0).size(), 1U);
    EXPECT_EQ(searches_of(parse_tracker("kind=count_min,epoch=100"), 0.1).size(), 1U);
}

TEST(EpochSearch, TheBestTellsOfMostEventsAtTheTrafficAskedFor) {
    std::vector<EpochSearch> searches = searches_of(parse_tracker("kind=hotness,threshold=1,epoch=100"), 1.0);
    const double traffic[] = {0.95, 0.92, 0.5, 1.3};
    const std::uint64_t told[] = {10, 20, 300, 400};
    for (std::size_t i = 0; i < searches.size(); ++i) searches[i].record(run_that_gives(traffic[i], told[i]));
    EXPECT_EQ(best_of(searches).spec().threshold, 2U);
    searches.erase(searches.begin(), searches.begin() + 2);
    EXPECT_EQ(best_of(searches).spec().threshold, 4U) << "less than asked for before more";
}

TEST(EpochSearch, NearIsWithinATenth) {
    EXPECT_TRUE(is_near_traffic(0.91, 1));
    EXPECT_TRUE(is_near_traffic(1.09, 1));
    EXPECT_FALSE(is_near_traffic(0.89, 1));
    EXPECT_FALSE(is_near_traffic(1.11, 1));
}

}  // namespace
}  // namespace cachetally
