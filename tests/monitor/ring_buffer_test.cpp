// SPDX-License-Identifier: BSD-3-Clause
// The ring buffer: what it writes where, when the software empties it, and what a full one costs. Times by hand.
#include "monitor/ring_buffer.hpp"

#include <gtest/gtest.h>

namespace cachetally {
namespace {

constexpr Tick cycle = 1000;

RingSpec ring_of(std::uint64_t capacity) {
    RingSpec ring;
    ring.capacity = capacity;
    ring.base = 0x10000;
    return ring;
}

TEST(RingBuffer, WrapsRoundInMemory) {
    RingBuffer ring(ring_of(3), cycle);
    Injector injector;
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ring.write(0, injector));
    const Address expected[] = {0x10000, 0x10010, 0x10020, 0x10000, 0x10010};
    ASSERT_EQ(injector.writes().size(), 5U);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(injector.writes()[i].address, expected[i]);
        EXPECT_EQ(injector.writes()[i].bytes, 16U);
        EXPECT_TRUE(injector.writes()[i].bypass);
    }
    EXPECT_EQ(ring.high_water(), 3U);
    EXPECT_EQ(injector.stall(), 0U);
}

TEST(RingBuffer, SendsRecordsIntoTheComponentBelowWhenToldSo) {
    RingSpec spec = ring_of(3);
    spec.path = RingSpec::Path::link;
    RingBuffer ring(spec, cycle);
    Injector injector;
    ring.write(0, injector);
    EXPECT_FALSE(injector.writes()[0].bypass);
}

TEST(RingBuffer, AFullOneMakesTheCoreWaitForAPlace) {
    // 2 records, 10 cycles each to take. Full at 5 cycles: records leave at 15 and 25.
    RingSpec spec = ring_of(2);
    spec.drain_cost = 10;
    RingBuffer ring(spec, cycle);
    Injector injector;
    ring.write(0, injector);
    ring.write(5 * cycle, injector);
    EXPECT_EQ(injector.stall(), 0U);
    ring.write(7 * cycle, injector);  // waits from 7 to 15
    EXPECT_EQ(ring.stall(), 8 * cycle);
    ring.write(7 * cycle, injector);  // the same reference, now at 15: waits to 25
    EXPECT_EQ(ring.stall(), 18 * cycle);
    EXPECT_EQ(injector.stall(), 18 * cycle);
    ring.write(60 * cycle, injector);  // at 35 and 45 the ring was emptied
    EXPECT_EQ(ring.stall(), 18 * cycle);
    EXPECT_EQ(ring.fill(), 1U);
}

TEST(RingBuffer, AFullOneMayDropRecords) {
    RingSpec spec = ring_of(2);
    spec.drain_cost = 10;
    spec.overflow = RingSpec::Overflow::drop;
    RingBuffer ring(spec, cycle);
    Injector injector;
    EXPECT_TRUE(ring.write(0, injector));
    EXPECT_TRUE(ring.write(0, injector));
    EXPECT_FALSE(ring.write(9 * cycle, injector));
    EXPECT_TRUE(ring.write(10 * cycle, injector));
    EXPECT_FALSE(ring.write(19 * cycle, injector));
    EXPECT_EQ(ring.lost(), 2U);
    EXPECT_EQ(ring.written(), 3U);
    EXPECT_EQ(injector.stall(), 0U);
    EXPECT_EQ(injector.writes().size(), 3U);
}

TEST(RingBuffer, DrainsFromTheWatermarkOn) {
    RingSpec spec = ring_of(8);
    spec.drain = RingSpec::Drain::watermark;
    spec.watermark = 3;
    spec.drain_cost = 10;
    RingBuffer ring(spec, cycle);
    Injector injector;
    ring.write(0, injector);
    ring.write(50 * cycle, injector);
    EXPECT_EQ(ring.fill(), 2U);
    ring.write(100 * cycle, injector);  // begins: 110, 120, 130
    ring.write(119 * cycle, injector);  // one was taken
    EXPECT_EQ(ring.fill(), 3U);
    ring.write(139 * cycle, injector);  // 120, 130 taken; the next leaves at 140
    EXPECT_EQ(ring.fill(), 2U);
    ring.write(200 * cycle, injector);
    EXPECT_EQ(ring.fill(), 1U);
    EXPECT_EQ(ring.high_water(), 3U);
}

TEST(RingBuffer, DrainsPeriodically) {
    RingSpec spec = ring_of(4);
    spec.drain = RingSpec::Drain::periodic;
    spec.period = 100;
    spec.drain_cost = 10;
    RingBuffer ring(spec, cycle);
    Injector injector;
    ring.write(20 * cycle, injector);
    ring.write(30 * cycle, injector);
    ring.write(115 * cycle, injector);  // began at 100: one taken at 110
    EXPECT_EQ(ring.fill(), 2U);
    ring.write(150 * cycle, injector);  // 120, 130 taken, then idle
    EXPECT_EQ(ring.fill(), 1U);
    ring.write(1000 * cycle, injector);  // taken at 210; nothing begins at 1000 before the write
    EXPECT_EQ(ring.fill(), 1U);
}

TEST(RingBuffer, WhoWouldWaitBeyondTheLongestTimeWaitsForAllOfIt) {
    RingSpec spec = ring_of(4);
    spec.write_cost = 1'000'000;
    RingBuffer ring(spec, 1'000'000);  // 1 s per record
    const Tick second = 1'000'000'000'000;
    Injector injector;
    EXPECT_TRUE(ring.write((Tick{1} << 62) - second, injector));
    EXPECT_EQ(ring.stall(), second);
    EXPECT_EQ(injector.take().stall, second);
    EXPECT_TRUE(ring.write((Tick{1} << 62) - second + 1, injector));  // the ring is at 2^62 already
    EXPECT_EQ(injector.stall(), Tick{1} << 62);
    EXPECT_EQ(ring.stall(), second);
    for (int more = 0; more < 100; ++more) ring.write(0, injector);
    EXPECT_GE(injector.stall(), Tick{1} << 62);
    EXPECT_LT(injector.stall(), Tick{1} << 63);
}

TEST(RingBuffer, ARecordForWhichThereIsNoTimeIsLost) {
    RingSpec spec = ring_of(1);
    spec.drain_cost = 1'000'000;
    RingBuffer ring(spec, 1'000'000);
    Injector injector;
    EXPECT_TRUE(ring.write((Tick{1} << 62) - 1, injector));  // and the drain begins
    EXPECT_FALSE(ring.write((Tick{1} << 62) - 1, injector));
    EXPECT_EQ(ring.lost(), 1U);
    EXPECT_EQ(ring.high_water(), 1U);
}

/// Of one place, drained every 100 cycles.
RingSpec small_periodic(std::uint64_t drain_cost) {
    RingSpec spec = ring_of(1);
    spec.drain = RingSpec::Drain::periodic;
    spec.period = 100;
    spec.drain_cost = drain_cost;
    return spec;
}

TEST(RingBuffer, AFullPeriodicOneBeginsToDrainAtOnceWhenTheCoreWaits) {
    RingBuffer ring(small_periodic(10), cycle);
    Injector injector;
    ring.write(20 * cycle, injector);
    ring.write(30 * cycle, injector);
    EXPECT_EQ(ring.stall(), 10 * cycle);
}

TEST(RingBuffer, APeriodThatBeganWhileTheCoreWaitedIsOver) {
    RingBuffer ring(small_periodic(50), cycle);
    Injector injector;
    ring.write(80 * cycle, injector);
    ring.write(90 * cycle, injector);   // waits to 140; what began at 100 found a drain under way
    ring.write(150 * cycle, injector);  // so the record of 140 is still there: waits to 200
    EXPECT_EQ(ring.stall(), 100 * cycle);
}

TEST(RingBuffer, WritesMayCostTheCoreTime) {
    RingSpec spec = ring_of(100);
    spec.write_cost = 3;
    RingBuffer ring(spec, 500);
    Injector injector;
    ring.write(0, injector);
    ring.write(0, injector);
    EXPECT_EQ(injector.stall(), 2U * 3 * 500);
}

TEST(RingBuffer, ARecordIsThereWhenItsWriteIsComplete) {
    // Written from 98 to 103: the drain that would begin at 100 finds an empty ring.
    RingSpec spec = ring_of(4);
    spec.drain = RingSpec::Drain::periodic;
    spec.period = 100;
    spec.drain_cost = 10;
    spec.write_cost = 5;
    RingBuffer ring(spec, cycle);
    Injector injector;
    ring.write(98 * cycle, injector);
    ring.write(150 * cycle, injector);
    EXPECT_EQ(ring.fill(), 2U);
    ring.write(214 * cycle, injector);  // began at 200: the first is taken at 210
    EXPECT_EQ(ring.fill(), 2U);
}

TEST(RingBuffer, AFullOneDrainsFromTheEndOfTheWriteThatFilledIt) {
    // Written from 0 to 5 and from 5 to 10: records leave at 20 and 30.
    RingSpec spec = ring_of(2);
    spec.overflow = RingSpec::Overflow::drop;
    spec.drain_cost = 10;
    spec.write_cost = 5;
    RingBuffer ring(spec, cycle);
    Injector injector;
    EXPECT_TRUE(ring.write(0, injector));
    EXPECT_TRUE(ring.write(0, injector));
    EXPECT_FALSE(ring.write(19 * cycle, injector));
    EXPECT_TRUE(ring.write(20 * cycle, injector));
}

TEST(RingBuffer, KnowsWhereTimeMatters) {
    RingSpec spec;
    EXPECT_TRUE(RingBuffer::timeless(spec));
    spec.overflow = RingSpec::Overflow::drop;
    EXPECT_TRUE(RingBuffer::timeless(spec));
    spec.drain_cost = 1;
    EXPECT_FALSE(RingBuffer::timeless(spec));
    spec = {};
    spec.drain = RingSpec::Drain::periodic;
    EXPECT_FALSE(RingBuffer::timeless(spec));
}

}  // namespace
}  // namespace cachetally
