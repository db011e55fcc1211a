// SPDX-License-Identifier: BSD-3-Clause
// The counter array: hand-worked evictions, and agreement with the slow model record for record.
#include "monitor/counter_array.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/monitor/slow_counters.hpp"
#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

MonitorSpec spec_of(Eviction eviction, std::uint32_t counters, std::uint32_t width = 32) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.eviction = eviction;
    spec.counters = counters;
    spec.width = width;
    return spec;
}

/// Keys in order of their swap-outs, without the final flush.
std::vector<std::uint64_t> victims(const MonitorSpec& spec, const std::vector<std::uint64_t>& keys) {
    const auto array = make_counter_array(spec);
    std::vector<SwapOut> out;
    for (const std::uint64_t key : keys) array->add(key, 1, out);
    std::vector<std::uint64_t> order;
    for (const SwapOut& record : out) order.push_back(record.first);
    return order;
}

using Keys = std::vector<std::uint64_t>;

TEST(CounterArray, FifoGivesUpTheOldestWhetherUsedOrNot) {
    EXPECT_EQ(victims(spec_of(Eviction::fifo, 3), {1, 2, 3, 1, 4, 1, 2}), (Keys{1, 2, 3}));
}

TEST(CounterArray, LruGivesUpTheLeastRecentlyUsed) {
    EXPECT_EQ(victims(spec_of(Eviction::lru, 3), {1, 2, 3, 1, 4, 1, 2, 5}), (Keys{2, 3, 4}));
}

TEST(CounterArray, ClockSparesWhatWasUsedSinceTheHandPassed) {
    // 4 finds all bits set: clears them, takes 1's place. 2 is used again. 5: the hand stands at 2 (bit set, cleared),
    // takes 3.
    EXPECT_EQ(victims(spec_of(Eviction::clock, 3), {1, 2, 3, 4, 2, 5}), (Keys{1, 3}));
}

TEST(CounterArray, LfuGivesUpTheSmallestCountAndTheOldestOfEqualOnes) {
    EXPECT_EQ(victims(spec_of(Eviction::lfu, 3), {1, 1, 2, 3, 3, 4, 5, 5, 5, 6}), (Keys{2, 4, 1}));
}

TEST(CounterArray, ClearAllSwapsOutEverythingWhenFull) {
    EXPECT_EQ(victims(spec_of(Eviction::clear_all, 3), {1, 2, 3, 2, 4, 1, 5, 6}), (Keys{1, 2, 3, 4, 1, 5}));
}

TEST(CounterArray, RandomDrawsFromTheDocumentedGenerator) {
    // Worked out apart from this program: the draws of 4 for seed 1 are 1, 3, 1, 0, 3.
    EXPECT_EQ(victims(spec_of(Eviction::random, 4), {0, 1, 2, 3, 10, 11, 12, 13, 14}), (Keys{1, 3, 10, 0, 11}));
}

TEST(CounterArray, AFullCounterIsSwappedOutAndKeepsItsPlace) {
    const auto array = make_counter_array(spec_of(Eviction::fifo, 2, 2));  // at most 3
    std::vector<SwapOut> out;
    for (const std::uint64_t key : {7, 7, 7, 8, 7, 9}) array->add(key, 1, out);
    // 7 is full at its third event; its fourth begins anew; 9 evicts 7, the oldest, with a count of 1.
    EXPECT_EQ(out, (std::vector<SwapOut>{{7, 1, 1, 3}, {7, 1, 1, 1}}));
}

TEST(CounterArray, ACounterOfZeroGivesNoRecord) {
    const auto array = make_counter_array(spec_of(Eviction::fifo, 1, 1));
    std::vector<SwapOut> out;
    for (const std::uint64_t key : {7, 8}) array->add(key, 1, out);
    array->flush(out);
    EXPECT_EQ(out, (std::vector<SwapOut>{{7, 1, 1, 1}, {8, 1, 1, 1}}));
    EXPECT_EQ(array->resident_counters(), 0U);
}

TEST(CounterArray, SetsAreKeysModuloTheirNumber) {
    MonitorSpec spec = spec_of(Eviction::fifo, 6);
    spec.ways = 2;  // 3 sets
    EXPECT_EQ(victims(spec, {0, 3, 1, 6, 4, 2, 9, 7}), (Keys{0, 3, 1}));
}

std::vector<SlowRecord> unrolled(const std::vector<SwapOut>& out) {
    std::vector<SlowRecord> records;
    for (const SwapOut& record : out)
        for (std::uint64_t i = 0; i < record.times; ++i)
            records.push_back({record.first, record.first + record.span - 1, record.count});
    return records;
}

RC_GTEST_PROP(CounterArrayProperty, AgreesWithTheSlowModelRecordForRecord, ()) {
    const MonitorSpec spec = *spec_gen();
    RC_PRE(SlowCounters::knows(spec.eviction));
    const auto keys = *units_gen();
    const auto flushes =
        *rc::gen::container<std::vector<bool>>(keys.size(), rc::gen::weightedElement<bool>({{40, false}, {1, true}}));
    const auto array = make_counter_array(spec);
    SlowCounters slow(spec);
    std::vector<SwapOut> out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        array->add(keys[i], 1, out);
        slow.event(keys[i]);
        if (flushes[i]) {
            array->flush(out);
            slow.flush();
        }
        RC_ASSERT(array->resident_events() == slow.resident());
    }
    array->flush(out);
    slow.flush();
    RC_ASSERT(unrolled(out) == slow.records);
}

RC_GTEST_PROP(CounterArrayProperty, ManyEventsAtOnceEqualSingleOnes, ()) {
    const MonitorSpec spec = *spec_gen();
    const auto keys = *units_gen();
    const auto all = make_counter_array(spec), single = make_counter_array(spec);
    std::vector<SwapOut> all_out, single_out;
    for (const std::uint64_t key : keys) {
        const auto count = *rc::gen::inRange<std::uint64_t>(1, 20);
        all->add(key, count, all_out);
        for (std::uint64_t i = 0; i < count; ++i) single->add(key, 1, single_out);
    }
    all->flush(all_out);
    single->flush(single_out);
    RC_ASSERT(unrolled(all_out) == unrolled(single_out));
}

/// Long streams make logs and tables wrap around many times.
TEST(CounterArray, AgreesWithTheSlowModelOnLongStreams) {
    for (unsigned eviction = 0; eviction < eviction_names().size(); ++eviction) {
        const MonitorSpec spec = spec_of(static_cast<Eviction>(eviction), 24);
        if (!SlowCounters::knows(spec.eviction)) continue;
        const auto array = make_counter_array(spec);
        SlowCounters slow(spec);
        std::vector<SwapOut> out;
        Random random(eviction + 1);
        for (int i = 0; i < 60000; ++i) {
            const std::uint64_t key = random.below(random.below(2) == 0 ? 20 : 64) * 0x10000001U;
            array->add(key, 1, out);
            slow.event(key);
        }
        array->flush(out);
        slow.flush();
        EXPECT_EQ(unrolled(out), slow.records) << to_string(spec.eviction);
    }
}

}  // namespace
}  // namespace cachetally
