// SPDX-License-Identifier: BSD-3-Clause
// Trackers on a link: phases, epochs, filters and traffic; their specifications and cost; how well the hottest lines
// are found.
#include "monitor/trackers/tracker_listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"
#include "monitor/hardware_cost.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

MonitorSpec tracked_link(std::string_view settings = "line=64") {
    return parse_monitor("link=core-L1," + std::string(settings));
}

void touch(TrackerListener& listener, Address address, std::uint32_t count = 1) {
    Injector injector;
    listener.on_event({.address = address, .count = count}, injector);
}
void control(TrackerListener& listener, Control::Kind kind) {
    Injector injector;
    listener.on_control({kind, 0}, 0, injector);
}

TEST(TrackerListener, EpochsEndInTheMiddleOfARun) {
    TrackerListener listener(tracked_link(), parse_tracker("kind=space_saving,counters=2,epoch=4"));
    touch(listener, 0x40, 10);  // two epochs and two events
    touch(listener, 0x80, 1);
    const TrackerResult result = listener.finish();
    EXPECT_EQ(result.events, 11U);
    EXPECT_EQ(result.reports, 4U);
    EXPECT_EQ(result.bytes, 64U);
    EXPECT_EQ(result.histogram, Histogram(64, {{0x40, 1, 0, no_function, 10}, {0x80, 1, 0, no_function, 1}}));
    EXPECT_DOUBLE_EQ(result.bytes_per_event(), 64.0 / 11);
}

TEST(TrackerListener, PhasesSwitchAndFilters) {
    TrackerListener listener(tracked_link("line=64,range=0-0x1000,granularity=2"), parse_tracker("kind=space_saving"));
    touch(listener, 0x40, 3);
    touch(listener, 0x1000, 5);  // outside
    control(listener, Control::Kind::barrier);
    control(listener, Control::Kind::monitor_off);
    touch(listener, 0x40, 7);
    control(listener, Control::Kind::monitor_on);
    touch(listener, 0xbf, 2);
    control(listener, Control::Kind::barrier);
    const TrackerResult result = listener.finish();
    EXPECT_EQ(result.events, 5U);
    EXPECT_EQ(result.histogram.phases(), 3U);
    EXPECT_TRUE(std::ranges::equal(result.histogram.rows(),
                                   std::vector<HistogramRow>{{0, 2, 0, no_function, 3}, {0x80, 2, 1, no_function, 2}}));
}

TEST(TrackerListener, CopiesAddUpAndEntriesOfAHotListAreSmall) {
    TrackerListener a(tracked_link(), parse_tracker("kind=hotness,threshold=1"));
    TrackerListener b(tracked_link(), parse_tracker("kind=hotness,threshold=1"), 1);
    touch(a, 0x40, 3);
    touch(b, 0x40, 4);
    touch(b, 0x80, 1);
    const TrackerResult result = merged({a.finish(), b.finish()});
    EXPECT_EQ(result.bytes, 3U * 8);
    EXPECT_EQ(result.histogram, Histogram(64, {{0x40, 1, 0, no_function, 7}, {0x80, 1, 0, no_function, 1}}));
}

TEST(TrackerListener, WhatCannotBeTrackedIsRefused) {
    const TrackerSpec spec;
    EXPECT_THROW(TrackerListener(tracked_link("line=64,granularity=dynamic:2"), spec), SpecError);
    EXPECT_THROW(TrackerListener(tracked_link("line=64,functions=on"), spec), SpecError);
    EXPECT_THROW(TrackerListener(tracked_link("counters=4"), spec), SpecError);
}

RC_GTEST_PROP(TrackerListener, SpaceSavingLosesNoEvent, ()) {
    const auto epoch = *rc::gen::inRange(0, 50);
    TrackerListener listener(tracked_link(),
                             parse_tracker("kind=space_saving,counters=6,epoch=" + std::to_string(epoch)));
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    std::uint64_t events = 0;
    for (int i = 0; i < 300; ++i) {
        const auto count = static_cast<std::uint32_t>(1 + random.below(20));
        touch(listener, random.below(4096), count);
        events += count;
        if (random.below(30) == 0) control(listener, Control::Kind::barrier);
    }
    const TrackerResult result = listener.finish();
    RC_ASSERT(result.events == events);
    RC_ASSERT(result.histogram.total() == events);
}

TEST(TrackerSpec, IsReadAsItIsWritten) {
    for (const char* text : {"kind=space_saving", "kind=count_min,counters=7,width=8,rows=2,columns=64,epoch=5,seed=9",
                             "kind=sampling,period=3,random=on",
                             "kind=hotness,counters=9,always_on=on,threshold=5,list=7,watermark=2,delay=8,"
                             "down_sampling=16,blocks=0+12,seed=4"}) {
        EXPECT_EQ(to_string(parse_tracker(text)), text);
        EXPECT_EQ(parse_tracker(to_string(parse_tracker(text))), parse_tracker(text));
    }
}

TEST(TrackerSpec, WhatIsWrongIsTold) {
    const auto message = [](std::string_view text) -> std::string {
        try {
            parse_tracker(text);
            return "";
        } catch (const SpecError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(message("kind=sampling,counters=3"),
              "tracker: kind sampling has no 'counters'; known are: period, random, seed");
    EXPECT_THAT(message("kind=count_mim"), HasSubstr("count_min"));
    EXPECT_THAT(message("counters=3"), HasSubstr("write 'kind' first"));
    EXPECT_THAT(message(""), HasSubstr("write a kind"));
    EXPECT_THAT(message("kind=sampling,period"), HasSubstr("'period' is not a setting"));
    EXPECT_THAT(message("kind=sampling,period=0"), HasSubstr("period: 0 is out of range"));
    EXPECT_THAT(message("kind=sampling,period=x"), HasSubstr("'x' is not a whole number"));
    EXPECT_THAT(message("kind=sampling,period=3,period=4"), HasSubstr("given twice"));
    EXPECT_THAT(message("kind=sampling,random=maybe"), HasSubstr("write on or off"));
    EXPECT_THAT(message("kind=count_min,columns=3"), HasSubstr("not a power of two"));
    EXPECT_THAT(message("kind=hotness,down_sampling=3"), HasSubstr("down_sampling"));
    EXPECT_THAT(message("kind=hotness,watermark=65"), HasSubstr("a list of 64"));
    EXPECT_THAT(message("kind=hotness,always_on=on,epoch=3"), HasSubstr("leave 'epoch' out"));
    EXPECT_THAT(message("kind=hotness,width=4"), HasSubstr("threshold: 16 is more"));
}

TEST(TrackerCost, SumsMadeByHand) {
    const MonitorSpec base = tracked_link();  // keys of 42 bits, registers of 111
    const auto cost = [&](const char* text) { return tracker_cost(parse_tracker(text), base); };
    EXPECT_EQ(cost("kind=space_saving,counters=2,width=8"), (TrackerCost{111 + 102, 3, 3740}));
    EXPECT_EQ(cost("kind=count_min,counters=1,width=8,rows=2,columns=4,epoch=7"),
              (TrackerCost{111 + 51 + 6 + 64 + 128, 2, 6866}));
    EXPECT_EQ(cost("kind=sampling,period=100,random=on"), (TrackerCost{111 + 14 + 64 + 48, 0, 5688}));
    EXPECT_EQ(cost("kind=hotness,counters=1,width=8,list=2,down_sampling=4,blocks=0+3"),
              (TrackerCost{111 + 51 + 128 + 18, 2, 4466}));
}

RC_GTEST_PROP(TrackerCost, TrackersOfASizeFillIt, ()) {
    const auto kind = static_cast<TrackerKind>(*rc::gen::inRange(0, static_cast<int>(tracker_kind_count)));
    const std::uint64_t bits = *rc::gen::inRange(1500, 200'000);
    const MonitorSpec base = tracked_link();
    TrackerSpec spec = tracker_of_size(kind, bits, 0.25, base);
    RC_ASSERT(tracker_cost(spec, base).bits <= bits);
    if (kind == TrackerKind::sampling) {
        RC_ASSERT(spec.period == 64U);
        return;
    }
    RC_ASSERT(spec.epoch == spec.counters * spec.record() * std::uint64_t{4});
    spec.counters += 2;
    RC_ASSERT(tracker_cost(spec, base).bits > bits);
}

Histogram lines(std::vector<std::pair<Address, std::uint64_t>> counts, std::uint32_t span = 1) {
    std::vector<HistogramRow> rows;
    for (const auto& [address, count] : counts) rows.push_back({address, span, 0, no_function, count});
    return Histogram(64, rows);
}

TEST(TopKeys, CountsTiesAsRight) {
    const Histogram exact = lines({{0, 10}, {64, 8}, {128, 8}, {192, 1}});
    const auto of = [&](const Histogram& measured, std::size_t k) { return top_keys(exact, measured, k).at(0); };
    const TopKeys tie = of(lines({{192, 100}, {128, 5}}), 2);
    EXPECT_EQ(tie.wanted, 2U);
    EXPECT_EQ(tie.reported, 2U);
    EXPECT_EQ(tie.right, 1U);                         // 128 has as many as the second
    EXPECT_EQ(of(lines({{0, 18}}, 2), 2).right, 2U);  // spread over two lines
    EXPECT_EQ(of(exact, 100).wanted, 4U);
    EXPECT_DOUBLE_EQ(of(exact, 100).recall(), 1.0);
    const TopKeys few = of(lines({{0, 1}, {4096, 7}}), 4);
    EXPECT_DOUBLE_EQ(few.recall(), 0.25);
    EXPECT_DOUBLE_EQ(few.precision().value(), 0.5);
    const TopKeys untold = of(lines({}), 2);
    EXPECT_DOUBLE_EQ(untold.recall(), 0.0);
    EXPECT_FALSE(untold.precision());
    EXPECT_THROW(top_keys(exact, Histogram(128), 2), std::invalid_argument);
}

TEST(TopKeys, PhasesWithoutEventsAreLeftOut) {
    Histogram exact(64, {{0, 1, 0, no_function, 3}, {64, 1, 2, no_function, 3}});
    const Histogram measured(64, {{0, 1, 0, no_function, 2}});
    const std::vector<TopKeys> phases = top_keys(exact, measured, 1);
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[1].phase, 2U);
    const TopSummary summary = summary_of(phases);
    EXPECT_DOUBLE_EQ(summary.recall, 0.5);
    EXPECT_DOUBLE_EQ(summary.worst_recall, 0.0);
    EXPECT_DOUBLE_EQ(summary.precision.value(), 1.0);
    EXPECT_DOUBLE_EQ(summary_of({}).recall, 1.0);
}

}  // namespace
}  // namespace cachetally
