// SPDX-License-Identifier: BSD-3-Clause
// A monitor's sums, switch, filters, phases and functions on small cases worked out by hand.
#include "monitor/monitor.hpp"

#include <gtest/gtest.h>

#include "tests/monitor/steps.hpp"

namespace cachetally {
namespace {

TEST(Monitor, SumsPartialCountsPerLine) {
    // One counter: lines 0, 1, 0 give three records.
    const MonitorResult result = run(plain(1), {at(0), at(8), at(64), at(4)});
    EXPECT_EQ(result.events, 4U);
    EXPECT_EQ(result.swapouts, 3U);
    EXPECT_EQ(result.resident, 1U);
    EXPECT_EQ(result.bytes, 3U * 16);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 3}, {64, 1, 0, no_function, 1}}));
}

TEST(Monitor, BarriersSwapOutAndBeginPhases) {
    const MonitorResult result =
        run(plain(4), {at(0), at(64), notify(Control::Kind::barrier), at(0), notify(Control::Kind::barrier)});
    EXPECT_EQ(result.swapouts_per_phase, (std::vector<std::uint64_t>{2, 1, 0}));
    EXPECT_EQ(result.histogram.phases(), 3U);
    EXPECT_EQ(rows(result.histogram),
              (Rows{{0, 1, 0, no_function, 1}, {64, 1, 0, no_function, 1}, {0, 1, 1, no_function, 1}}));
}

TEST(Monitor, BarriersMayBeIgnored) {
    MonitorSpec spec = plain(4);
    spec.barriers = false;
    const MonitorResult result = run(spec, {at(0), notify(Control::Kind::barrier), at(0)});
    EXPECT_EQ(result.swapouts, 1U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 2}}));
}

TEST(Monitor, FunctionsHaveHistogramsOfTheirOwn) {
    MonitorSpec spec = plain(4);
    spec.functions = true;
    using K = Control::Kind;
    const MonitorResult result = run(
        spec, {at(0), notify(K::enter_function, 5), at(0), notify(K::enter_function, 2), at(0),
               notify(K::leave_function), at(0), notify(K::leave_function), at(0), notify(K::leave_function), at(0)});
    // Swapped out at each of the four changes and at the end; leaving what was never entered changes nothing.
    EXPECT_EQ(result.swapouts, 5U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, 2, 1}, {0, 1, 0, 5, 2}, {0, 1, 0, no_function, 3}}));
}

TEST(Monitor, TheSwitchKeepsCountersAndIgnoresEvents) {
    MonitorSpec spec = plain(4);
    spec.start = false;
    using K = Control::Kind;
    const MonitorResult result =
        run(spec, {at(0), notify(K::monitor_on), at(0), notify(K::monitor_off), at(0), notify(K::monitor_on), at(0)});
    EXPECT_EQ(result.events, 2U);
    EXPECT_EQ(result.swapouts, 1U);
}

TEST(Monitor, FiltersByKindRangeAndCore) {
    MonitorSpec spec = plain(4);
    spec.kinds = bit(EventKind::store);
    spec.ranges = {{0x100, 0x200}, {0x400, 0x440}};
    spec.cores = {1, 3};
    std::vector<Step> steps;
    for (const Address address : {0xffU, 0x100U, 0x1ffU, 0x200U, 0x400U, 0x43fU, 0x440U})
        for (const EventKind kind : {EventKind::load, EventKind::store})
            for (const std::uint8_t core : {0, 1, 2, 3}) {
                steps.push_back(at(address, kind));
                steps.back().event.core = core;
            }
    EXPECT_EQ(run(spec, steps).events, 4U * 2);
}

TEST(Monitor, MasksFinerThanALineCountParts) {
    MonitorSpec spec = plain(8);
    spec.granularity = {Granularity::Mode::mask, 3};
    const MonitorResult result = run(spec, {at(0), at(7), at(8)});
    EXPECT_EQ(result.histogram.unit_bytes(), 8U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 2}, {8, 1, 0, no_function, 1}}));
}

TEST(Monitor, MasksCoarserThanALineCountGroups) {
    MonitorSpec spec = plain(8);
    spec.granularity = {Granularity::Mode::mask, 8};
    EXPECT_EQ(rows(run(spec, {at(0), at(255), at(256)}).histogram),
              (Rows{{0, 4, 0, no_function, 2}, {256, 4, 0, no_function, 1}}));
}

TEST(Monitor, GroupsNeedNotBePowersOfTwo) {
    MonitorSpec spec = plain(8);
    spec.granularity.amount = 3;
    EXPECT_EQ(
        rows(run(spec, {at(0), at(191), at(192), at(~Address{0})}).histogram),
        (Rows{
            {0, 3, 0, no_function, 2}, {192, 3, 0, no_function, 1}, {~Address{0} / 192 * 192, 3, 0, no_function, 1}}));
}

TEST(Monitor, RefusesWhatContradictsItself) {
    MonitorSpec spec = plain(8);
    spec.line = 0;
    EXPECT_THROW(Monitor{spec}, SpecError);
    spec = plain(8);
    spec.ways = 3;
    EXPECT_THROW(Monitor{spec}, SpecError);
}

/// Enough events that the log of uses is put in order many times.
TEST(Monitor, CountsLongStreamsOfRecordsAsTheyAreWritten) {
    for (const Eviction eviction : {Eviction::fifo, Eviction::lru}) {
        MonitorSpec spec = plain(48);
        spec.eviction = eviction;
        MonitorSpec slow = spec;
        slow.ring.write_cost = 1;
        Monitor counted(spec), blocks(spec), written(slow);
        Injector injector;
        std::uint64_t state = 1;
        std::vector<BlockEvent> some;
        for (int i = 0; i < 200000; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const Address block = (state >> 40) % (i % 3 == 0 ? 200 : 30) * 64;
            counted.on_event({.address = block}, injector);
            written.on_event({.address = block}, injector);
            some.emplace_back(block, EventKind::load);
            if (some.size() <= (state >> 50) % 1500) continue;
            blocks.on_blocks(some, 0, injector);
            some.clear();
        }
        blocks.on_blocks(some, 0, injector);
        for (Monitor* monitor : {&counted, &blocks, &written}) monitor->finish();
        const MonitorResult a = counted.result(), b = blocks.result(), c = written.result();
        EXPECT_EQ(a.swapouts, c.swapouts);
        EXPECT_EQ(b.swapouts, c.swapouts);
        EXPECT_EQ(a.histogram, c.histogram);
        EXPECT_EQ(b.histogram, c.histogram);
        EXPECT_EQ(b.resident, c.resident);
        EXPECT_EQ(b.ring_high_water, c.ring_high_water);
    }
}

TEST(Monitor, AcceptsMergedEventsOnlyWhereNothingIsLost) {
    MonitorSpec spec = plain(8);
    EXPECT_TRUE(Monitor(spec).accepts_merged(64));
    EXPECT_FALSE(Monitor(spec).accepts_merged(128));
    spec.granularity.amount = 2;
    EXPECT_TRUE(Monitor(spec).accepts_merged(128));
    spec.granularity = {Granularity::Mode::mask, 3};
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec.granularity = {Granularity::Mode::dynamic, 4};
    EXPECT_FALSE(Monitor(spec).accepts_merged(128));
    spec = plain(8);
    spec.ranges = {{0x20, 0x1000}};
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec = plain(8);
    spec.ring.path = RingSpec::Path::link;
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec = plain(8);
    spec.ring.write_cost = 1;
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
}

// By hand: a ring of 3 records of 16 bytes takes a page, so that the third copy's begins two pages behind the first's.
TEST(Monitor, CopiesHaveRingsOfTheirOwn) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.counters = 1;
    spec.ring.capacity = 3;
    spec.ring.base = 0x10000;
    for (const std::uint64_t cost : {0U, 1U}) {
        spec.ring.write_cost = cost;
        Monitor monitor(spec, 2);
        Injector injector;
        for (const Address address : {0x40, 0x80}) monitor.on_event({.address = address}, injector);
        ASSERT_EQ(injector.writes().size(), 1U);
        EXPECT_EQ(injector.writes().front().address, 0x12000U);
    }
}

}  // namespace
}  // namespace cachetally
