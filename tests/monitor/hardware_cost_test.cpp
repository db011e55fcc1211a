// SPDX-License-Identifier: BSD-3-Clause
// The cost model against sums worked out by hand from docs/cost.md, and laws that any such model has to keep.
#include "monitor/hardware_cost.hpp"
#include "monitor/spec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

namespace cachetally {
namespace {

MonitorSpec spec_of(std::string_view text) { return parse_monitor("link=core-L1," + std::string(text)); }

TEST(HardwareCost, BitsThatTellValuesApart) {
    EXPECT_EQ(bits_for(0), 0U);
    EXPECT_EQ(bits_for(1), 0U);
    EXPECT_EQ(bits_for(2), 1U);
    EXPECT_EQ(bits_for(4096), 12U);
    EXPECT_EQ(bits_for(4097), 13U);
}

TEST(HardwareCost, FullyAssociativeFifo) {
    // 48 - 6 = 42 bits of tag in a CAM; a pointer of 7 bits; registers: switch 1, kinds 13, group 12, base 48, size 13,
    // head and tail 12 each.
    const HardwareCost cost = hardware_cost(spec_of("line=64"));
    EXPECT_EQ(cost.counter_bits, 128U * 32);
    EXPECT_EQ(cost.tag_bits, 128U * 43);
    EXPECT_EQ(cost.order_bits, 7U);
    EXPECT_EQ(cost.register_bits, 111U);
    EXPECT_EQ(cost.bits(), 9718U);
    EXPECT_EQ(cost.comparators, 128U);
    EXPECT_EQ(cost.comparator_bits, 128U * 42);
    EXPECT_EQ(cost.area, 9600U * 6 + 5376 * 4 + 118 * 24);
    EXPECT_EQ(cost.event_energy, 5376U + 64);
    EXPECT_EQ(cost.swapout_energy, 74U + 75 + 7 + 12 + 128 * 130);
    EXPECT_DOUBLE_EQ(cost.energy_per_event(10, 2), 8801.6);
    EXPECT_DOUBLE_EQ(cost.energy_per_event(0, 0), 5440.0);
}

TEST(HardwareCost, SetAssociativeLru) {
    // keys of 128 bytes: 41 bits, of which 4 choose among 16 sets
    const HardwareCost cost = hardware_cost(
        spec_of("line=32,counters=64,ways=4,eviction=lru,width=16,granularity=mask:7,capacity=1000,drain=watermark,"
                "watermark=100,overflow=drop"));
    EXPECT_EQ(cost.counter_bits, 1024U);
    EXPECT_EQ(cost.tag_bits, 64U * 38);
    EXPECT_EQ(cost.order_bits, 128U);
    EXPECT_EQ(cost.register_bits, 1U + 13 + 48 + (48 + 10 + 20) + 10 + 64);
    EXPECT_EQ(cost.comparators, 4U + 4);
    EXPECT_EQ(cost.comparator_bits, 4U * 37 + 4 * 2);
    EXPECT_EQ(cost.area, 27360U);
    EXPECT_EQ(cost.event_energy, 4U * 38 + 148 + 32 + 16);
    EXPECT_EQ(cost.swapout_energy, 107U + 10 + 16640);
}

TEST(HardwareCost, WindowsWithFilters) {
    const HardwareCost cost = hardware_cost(
        spec_of("line=64,counters=2,eviction=lfu,width=8,granularity=dynamic:4,capacity=1,record=4,range=0-4096,"
                "cores=0"));
    EXPECT_EQ(cost.counter_bits, 16U);
    EXPECT_EQ(cost.tag_bits, 2U * 85);
    EXPECT_EQ(cost.order_bits, 2U);
    EXPECT_EQ(cost.register_bits, 1U + 13 + 12 + 2 * 48 + 8 + 48 + 1);
    EXPECT_EQ(cost.comparators, 4U + 2 + 1 + 2 + 1);
    EXPECT_EQ(cost.comparator_bits, 168U + 2 + 8 + 96 + 8);
    EXPECT_EQ(cost.area, 9876U);
    EXPECT_EQ(cost.event_energy, 288U);
    EXPECT_EQ(cost.swapout_energy, 185U + 4 + 8 + 32 * 130);
}

TEST(HardwareCost, OrderOfEachPolicy) {
    const auto order = [](const char* text) { return hardware_cost(spec_of(text)).order_bits; };
    EXPECT_EQ(order("counters=8,eviction=fifo"), 3U);
    EXPECT_EQ(order("counters=8,eviction=lru"), 24U);
    EXPECT_EQ(order("counters=8,eviction=random"), 64U);
    EXPECT_EQ(order("counters=8,eviction=clock"), 11U);
    EXPECT_EQ(order("counters=8,eviction=lfu"), 24U);
    EXPECT_EQ(order("counters=8,eviction=clear_all"), 0U);
    EXPECT_EQ(order("counters=8,ways=2,eviction=fifo"), 4U);
    EXPECT_EQ(order("counters=8,ways=2,eviction=clock"), 12U);
    EXPECT_EQ(order("counters=8,ways=1,eviction=lru"), 0U);
}

TEST(HardwareCost, GroupsThatAreNoPowerOfTwo) {
    // 2^42 lines in threes: the last group is number (2^42 - 1) / 3, which takes 41 bits; in sets of 3: 40
    EXPECT_EQ(hardware_cost(spec_of("line=64,counters=6,granularity=3")).tag_bits, 6U * 42);
    EXPECT_EQ(hardware_cost(spec_of("line=64,counters=6,ways=2,granularity=3")).tag_bits, 6U * 40);
}

TEST(HardwareCost, PeriodicDrainHasAClock) {
    const auto registers = [](const char* text) { return hardware_cost(spec_of(text)).register_bits; };
    EXPECT_EQ(registers("drain=periodic,period=1000") - registers("drain=full"), 20U);
}

TEST(HardwareCost, WideAddresses) {
    EXPECT_EQ(hardware_cost(spec_of("line=1,counters=1"), 64).tag_bits, 65U);
    EXPECT_EQ(hardware_cost(spec_of("line=64,counters=1"), 32).tag_bits, 27U);
    EXPECT_THROW(hardware_cost(spec_of("line=64"), 31), std::invalid_argument);
    EXPECT_THROW(hardware_cost(spec_of("line=64"), 65), std::invalid_argument);
    MonitorSpec wrong = spec_of("line=64");
    wrong.counters = 0;
    EXPECT_THROW(hardware_cost(wrong), SpecError);
}

RC_GTEST_PROP(HardwareCost, MoreOfAnythingIsNeverSmaller, ()) {
    MonitorSpec spec = spec_of("line=64");
    spec.counters = *rc::gen::inRange<std::uint32_t>(1, 2000);
    spec.width = *rc::gen::inRange<std::uint32_t>(1, 64);
    spec.eviction = static_cast<Eviction>(*rc::gen::inRange<std::size_t>(0, eviction_names().size()));
    spec.granularity = {*rc::gen::element(Granularity::Mode::aligned, Granularity::Mode::dynamic),
                        *rc::gen::inRange<std::uint32_t>(1, 64)};
    const HardwareCost cost = hardware_cost(spec);
    MonitorSpec more = spec;
    ++more.counters;
    RC_ASSERT(hardware_cost(more).bits() > cost.bits());
    RC_ASSERT(hardware_cost(more).area > cost.area);
    RC_ASSERT(hardware_cost(more).event_energy >= cost.event_energy);
    more = spec;
    ++more.width;
    RC_ASSERT(hardware_cost(more).bits() == cost.bits() + spec.counters);
    more = spec;
    more.ranges.push_back({0, 64});
    RC_ASSERT(hardware_cost(more).comparators == cost.comparators + 2);
    RC_ASSERT(hardware_cost(spec, 64).bits() > cost.bits());
}

RC_GTEST_PROP(HardwareCost, SetsSaveComparators, ()) {
    MonitorSpec spec = spec_of("line=64");
    const std::uint32_t ways = 1U << *rc::gen::inRange(0, 6);
    spec.counters = ways << *rc::gen::inRange(1, 8);
    const HardwareCost full = hardware_cost(spec);
    spec.ways = ways;
    const HardwareCost sets = hardware_cost(spec);
    RC_ASSERT(sets.comparators == ways);
    RC_ASSERT(sets.area < full.area);
    RC_ASSERT(sets.counter_bits == full.counter_bits);
}

}  // namespace
}  // namespace cachetally
