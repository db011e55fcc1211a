// SPDX-License-Identifier: BSD-3-Clause
// Trackers: streams worked out by hand, the laws that their papers prove, and slow versions written from
// docs/trackers.md.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.hpp"
#include "monitor/trackers/tracker.hpp"

namespace cachetally {
namespace {

using KeyStream = std::vector<std::uint64_t>;
using KeySums = std::map<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t one_line = 64;

/// All that a tracker reports of a stream, to the end of its phase.
TrackerReports reports_of(std::string_view spec, const KeyStream& keys, std::uint64_t key_bytes = one_line) {
    const auto tracker = make_tracker(parse_tracker(spec), key_bytes);
    TrackerReports reports;
    for (const std::uint64_t key : keys) tracker->add(key, 1, reports);
    tracker->end_phase(reports);
    return reports;
}

KeySums sums_of(const TrackerReports& reports) {
    KeySums sums;
    for (const TrackerReport& report : reports) sums[report.key] += report.count;
    return sums;
}

KeySums truth_of(const KeyStream& keys) {
    KeySums sums;
    for (const std::uint64_t key : keys) ++sums[key];
    return sums;
}

/// Few keys often, many seldom.
KeyStream skewed_keys(std::uint64_t seed, std::size_t length) {
    Random random(seed);
    KeyStream keys;
    for (std::size_t i = 0; i < length; ++i)
        keys.push_back(random.below(4) != 0 ? random.below(8) : 100 + random.below(400));
    return keys;
}

TEST(SpaceSaving, TakesOverTheSmallestCount) {
    EXPECT_EQ(reports_of("kind=space_saving,counters=2", {7, 7, 8, 9}), (TrackerReports{{7, 2}, {9, 2}}));
    // of equal counts the one that changed longest ago: 8 is older than 7
    EXPECT_EQ(sums_of(reports_of("kind=space_saving,counters=2", {8, 7, 9})), (KeySums{{7, 1}, {9, 2}}));
}

TEST(SpaceSaving, CountersStopAtTheirLargestValue) {
    EXPECT_EQ(reports_of("kind=space_saving,counters=2,width=2", {7, 7, 7, 7, 7}), (TrackerReports{{7, 3}}));
}

RC_GTEST_PROP(SpaceSaving, KeepsTheLawsOfThePaper, ()) {
    const std::uint64_t counters = *rc::gen::inRange(1, 40);
    const KeyStream keys = skewed_keys(*rc::gen::arbitrary<std::uint64_t>(), 1000);
    const KeySums truth = truth_of(keys);
    const KeySums found = sums_of(reports_of("kind=space_saving,counters=" + std::to_string(counters), keys));
    std::uint64_t total = 0;
    for (const auto& [key, count] : found) {
        total += count;
        RC_ASSERT(count >= truth.at(key));
        RC_ASSERT(count - truth.at(key) <= keys.size() / counters);
    }
    RC_ASSERT(total == keys.size());
    RC_ASSERT(found.size() == std::min<std::size_t>(counters, truth.size()));
    for (const auto& [key, count] : truth) RC_ASSERT(count * counters <= keys.size() || found.contains(key));
}

TEST(CountMin, WithOneCounterEveryEstimateIsTheTotal) {
    EXPECT_EQ(reports_of("kind=count_min,counters=2,rows=1,columns=1", {5, 6, 5}), (TrackerReports{{6, 2}, {5, 3}}));
}

TEST(CountMin, AKeyEntersTheTableWhenItsEstimateIsLarger) {
    const std::string_view spec = "kind=count_min,counters=1,rows=4,columns=4096";
    EXPECT_EQ(reports_of(spec, {5, 6}), (TrackerReports{{5, 1}}));
    EXPECT_EQ(reports_of(spec, {5, 6, 6}), (TrackerReports{{6, 2}}));
}

RC_GTEST_PROP(CountMin, AgreesWithASlowOne, ()) {
    const KeyStream keys = skewed_keys(*rc::gen::arbitrary<std::uint64_t>(), 400);
    const std::uint64_t seed = *rc::gen::inRange(0, 100), rows = 3, bits = 5;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> cells;
    const auto column = [&](std::uint64_t row, std::uint64_t key) {
        return key * (splitmix64(splitmix64(seed) + row) | 1U) >> (64 - bits);
    };
    for (const std::uint64_t key : keys)
        for (std::uint64_t row = 0; row < rows; ++row) ++cells[{row, column(row, key)}];
    const KeySums truth = truth_of(keys);
    for (const auto& [key, count] :
         sums_of(reports_of("kind=count_min,counters=1000,rows=3,columns=32,seed=" + std::to_string(seed), keys))) {
        RC_ASSERT(count >= truth.at(key));
        std::uint64_t least = ~std::uint64_t{0};
        for (std::uint64_t row = 0; row < rows; ++row) least = std::min(least, cells[{row, column(row, key)}]);
        RC_ASSERT(count <= least);  // the table has the estimate of the key's last event
    }
}

TEST(Sampling, EveryThirdEventStandsForThree) {
    EXPECT_EQ(reports_of("kind=sampling,period=3", {1, 2, 3, 4, 5, 6, 7}), (TrackerReports{{3, 3}, {6, 3}}));
    EXPECT_EQ(sums_of(reports_of("kind=sampling,period=1", {1, 2, 1})), (KeySums{{1, 2}, {2, 1}}));
}

TEST(Sampling, DrawnIntervalsHaveThePeriodAsTheirMean) {
    KeyStream keys(100'000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
    const TrackerReports reports = reports_of("kind=sampling,period=10,random=on,seed=3", keys);
    EXPECT_NEAR(static_cast<double>(reports.size()), 10'000, 200);
    std::vector<unsigned> seen(20);
    for (std::size_t i = 1; i < reports.size(); ++i) ++seen.at(reports[i].key - reports[i - 1].key);
    EXPECT_EQ(seen[0], 0U);
    for (std::size_t interval = 1; interval < 20; ++interval) EXPECT_NEAR(seen[interval], 526, 120) << interval;
    EXPECT_EQ(reports_of("kind=sampling,period=10,random=on,seed=3", keys), reports);
    EXPECT_NE(reports_of("kind=sampling,period=10,random=on,seed=4", keys), reports);
}

TEST(Hotness, EpochsReportWhatReachedTheThreshold) {
    const auto unit = make_tracker(parse_tracker("kind=hotness,counters=2,threshold=2,list=4,watermark=3"), one_line);
    TrackerReports reports;
    for (const std::uint64_t key : {1U, 1U, 2U, 3U, 3U}) unit->add(key, 1, reports);  // 3 takes the counter of 2
    unit->end_epoch(reports);
    EXPECT_EQ(reports, TrackerReports());  // the list has two entries
    for (const std::uint64_t key : {4U, 5U, 5U, 5U}) unit->add(key, 1, reports);
    unit->end_epoch(reports);
    EXPECT_EQ(reports, (TrackerReports{{1, 2}, {3, 2}, {5, 3}}));
    unit->add(9, 2, reports);
    unit->end_phase(reports);
    EXPECT_EQ(reports.back(), (TrackerReport{9, 2}));
    EXPECT_EQ(reports.size(), 4U);
}

TEST(Hotness, TheUnitWithTheSmallestCountGivesItsCounterAway) {
    // 1 has 2 events, 2 has 1: 3 takes the counter of 2, whose event is forgotten
    EXPECT_EQ(sums_of(reports_of("kind=hotness,counters=2,threshold=1", {1, 2, 1, 3})), (KeySums{{1, 2}, {3, 1}}));
    EXPECT_EQ(sums_of(reports_of("kind=hotness,counters=2,threshold=1", {1, 2, 3})), (KeySums{{2, 1}, {3, 1}}));
}

TEST(Hotness, AlwaysOnFreesTheCounterAtTheThreshold) {
    const KeyStream keys{1, 1, 2, 1, 1, 1, 2};
    EXPECT_EQ(reports_of("kind=hotness,counters=4,always_on=on,threshold=2,list=8", keys),
              (TrackerReports{{1, 2}, {1, 2}, {2, 2}}));
}

TEST(Hotness, AFullListLosesEntriesUntilTheSoftwareHasReadIt) {
    const auto unit =
        make_tracker(parse_tracker("kind=hotness,counters=4,always_on=on,threshold=1,list=1,delay=10"), one_line);
    TrackerReports reports;
    for (std::uint64_t key = 0; key < 10; ++key) unit->add(key, 1, reports);
    EXPECT_EQ(reports, TrackerReports());
    EXPECT_EQ(unit->lost(), 9U);
    unit->add(10, 1, reports);  // ten events later
    EXPECT_EQ(reports, (TrackerReports{{0, 1}}));
    unit->end_phase(reports);
    EXPECT_EQ(reports, (TrackerReports{{0, 1}, {10, 1}}));
    EXPECT_EQ(unit->lost(), 9U);
}

TEST(Hotness, DownSamplingAndBlocks) {
    const KeyStream eight(8, 5);
    EXPECT_EQ(reports_of("kind=hotness,threshold=2,down_sampling=4", eight), (TrackerReports{{5, 8}}));
    EXPECT_EQ(reports_of("kind=hotness,threshold=3,down_sampling=4", eight), TrackerReports());
    EXPECT_EQ(sums_of(reports_of("kind=hotness,threshold=1,blocks=1+3", {0, 1, 2, 3, 3}, 1U << 28)),
              (KeySums{{1, 1}, {3, 2}}));
}

RC_GTEST_PROP(Trackers, ManyEventsAtOnceAreThatManySingleOnes, ()) {
    const auto spec = *rc::gen::element(
        std::string("kind=space_saving,counters=5,width=6"), std::string("kind=count_min,counters=3,rows=2,columns=8"),
        std::string("kind=sampling,period=7"), std::string("kind=sampling,period=7,random=on"),
        std::string("kind=hotness,counters=4,threshold=3,list=3,down_sampling=2"),
        std::string("kind=hotness,counters=4,threshold=3,list=2,always_on=on,delay=9"),
        std::string("kind=hotness,counters=4,threshold=3,list=2,always_on=on,random=on,down_sampling=4"),
        std::string("kind=hotness,counters=4,threshold=3,width=4"));
    const auto at_once = make_tracker(parse_tracker(spec), one_line),
               singly = make_tracker(parse_tracker(spec), one_line);
    TrackerReports together, single;
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t key = random.below(9), count = 1 + random.below(6);
        at_once->add(key, count, together);
        for (std::uint64_t n = 0; n < count; ++n) singly->add(key, 1, single);
        if (random.below(40) != 0) continue;
        at_once->end_epoch(together);
        singly->end_epoch(single);
    }
    at_once->end_phase(together);
    singly->end_phase(single);
    RC_ASSERT(together == single);
    RC_ASSERT(at_once->lost() == singly->lost());
}

TEST(TrackerSpecs, TakeNumbersAsMonitorsDo) {
    EXPECT_EQ(parse_tracker("kind=sampling,period=1K"), parse_tracker("kind=sampling,period=1024"));
    EXPECT_EQ(parse_tracker("kind=sampling,period=0x400"), parse_tracker("kind=sampling,period=1024"));
    EXPECT_THROW(parse_tracker("kind=sampling,period=1-2"), SpecError);
}

}  // namespace
}  // namespace cachetally
