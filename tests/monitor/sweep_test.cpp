// SPDX-License-Identifier: BSD-3-Clause
// Sweeps agree with single monitors cell for cell, and LRU cells with stack distances computed the obvious way.
#include "monitor/sweep.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "monitor/monitor.hpp"
#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

void play(LinkListener& listener, const std::vector<std::uint64_t>& units, const std::vector<std::size_t>& barriers) {
    Injector injector;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (std::ranges::find(barriers, i) != barriers.end())
            listener.on_control({Control::Kind::barrier, 0}, 0, injector);
        listener.on_event({.address = units[i] * 64 + i % 64}, injector);
    }
}

SweepSpec sweep_of(std::vector<std::uint32_t> counters, std::vector<Granularity> granularities,
                   std::vector<Eviction> evictions) {
    SweepSpec spec;
    spec.base.link = "core-L1";
    spec.base.line = 64;
    spec.counters = std::move(counters);
    spec.granularities = std::move(granularities);
    spec.evictions = std::move(evictions);
    return spec;
}

std::vector<SweepRow> rows_of(const SweepSpec& spec, const std::vector<std::uint64_t>& units,
                              const std::vector<std::size_t>& barriers) {
    Sweep sweep(spec);
    play(sweep, units, barriers);
    sweep.finish();
    const Sweep* const copies[] = {&sweep};
    return sweep_rows(copies);
}

SweepRow row_of_monitor(const SweepSpec& sweep, const SweepRow& cell, const std::vector<std::uint64_t>& units,
                        const std::vector<std::size_t>& barriers) {
    MonitorSpec spec = sweep.base;
    spec.counters = cell.counters;
    spec.granularity = cell.granularity;
    spec.eviction = cell.eviction;
    Monitor monitor(spec);
    play(monitor, units, barriers);
    monitor.finish();
    const MonitorResult result = monitor.result();
    std::vector<HistogramRow> truth;
    for (const std::uint64_t unit : units) truth.push_back({unit * 64, 1, 0, no_function, 1});
    return {cell.counters,
            cell.granularity,
            cell.eviction,
            result.swapouts,
            histogram_error(Histogram(64, truth), result.histogram),
            result.bytes_per_event()};
}

void expect_agreement(const SweepSpec& spec, const std::vector<std::uint64_t>& units,
                      const std::vector<std::size_t>& barriers) {
    for (const SweepRow& row : rows_of(spec, units, barriers)) {
        const SweepRow other = row_of_monitor(spec, row, units, barriers);
        RC_LOG() << row.counters << " " << to_string(row.granularity) << " " << to_string(row.eviction) << std::endl;
        RC_ASSERT(row.swapouts == other.swapouts);
        RC_ASSERT(std::abs(row.error - other.error) < 1e-12);
        RC_ASSERT(std::abs(row.bytes_per_event - other.bytes_per_event) < 1e-12);
    }
}

RC_GTEST_PROP(Sweep, AgreesWithSingleMonitors, ()) {
    const auto number = *rc::gen::inRange<std::size_t>(1, 8);
    const auto counters = *rc::gen::container<std::vector<std::uint32_t>>(number, rc::gen::inRange(1U, 20U));
    SweepSpec spec = sweep_of(
        counters,
        {{Granularity::Mode::aligned, 1},
         {Granularity::Mode::aligned, 3},
         {Granularity::Mode::mask, 7},
         {Granularity::Mode::dynamic, 4}},
        {Eviction::fifo, Eviction::lru, Eviction::random, Eviction::clock, Eviction::lfu, Eviction::clear_all});
    spec.base.width = *rc::gen::element(2U, 8U, 32U, 64U);
    const auto units = *units_gen();
    const auto barriers =
        *rc::gen::container<std::vector<std::size_t>>(3, rc::gen::inRange<std::size_t>(0, units.size() + 1));
    expect_agreement(spec, units, barriers);
}

/// Long enough for logs to wrap round many times, at sizes that are not powers of two.
TEST(SweepLong, AgreesWithSingleMonitors) {
    const SweepSpec spec =
        sweep_of({1, 7, 128, 16, 16, 300}, {{Granularity::Mode::aligned, 1}, {Granularity::Mode::aligned, 5}},
                 {Eviction::fifo, Eviction::lru});
    Random random(3);
    std::vector<std::uint64_t> units;
    while (units.size() < 60000) {
        const std::uint64_t start = random.below(1500), length = random.below(40);
        for (std::uint64_t i = 0; i < length; ++i) units.insert(units.end(), {start + i, random.below(10), start + i});
    }
    const std::vector<std::size_t> barriers = {100, 101, 20000, 50000};
    for (const SweepRow& row : rows_of(spec, units, barriers))
        EXPECT_EQ(row.swapouts, row_of_monitor(spec, row, units, barriers).swapouts)
            << row.counters << " " << to_string(row.granularity) << " " << to_string(row.eviction);
}

/// Swap-outs of LRU counters by stack distances (Mattson et al. 1970): an event at a distance of C or more, or to a key
/// not seen since the last barrier, needs a counter; every counter that was needed is swapped out once.
std::uint64_t by_stack_distance(const std::vector<std::uint64_t>& units, const std::vector<std::size_t>& barriers,
                                std::uint64_t lines, std::uint64_t counters) {
    std::uint64_t needed = 0;
    std::vector<std::uint64_t> stack;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (std::ranges::find(barriers, i) != barriers.end()) stack.clear();
        const std::uint64_t key = units[i] / lines;
        const auto found = std::ranges::find(stack, key);
        if (found == stack.end() || static_cast<std::uint64_t>(found - stack.begin()) >= counters) ++needed;
        if (found != stack.end()) stack.erase(found);
        stack.insert(stack.begin(), key);
    }
    return needed;
}

RC_GTEST_PROP(SweepLaw, LruSwapoutsFollowFromStackDistances, ()) {
    std::vector<std::uint32_t> counters;
    for (std::uint32_t number = 1; number <= 40; ++number) counters.push_back(number);
    const auto lines = *rc::gen::inRange(1U, 7U);
    const auto units = *units_gen();
    const std::vector<std::size_t> barriers = {units.size() / 2};
    for (const SweepRow& row :
         rows_of(sweep_of(counters, {{Granularity::Mode::aligned, lines}}, {Eviction::lru}), units, barriers))
        RC_ASSERT(row.swapouts == by_stack_distance(units, barriers, lines, row.counters));
}

TEST(SweepRows, ComeByEvictionThenGranularityThenCounters) {
    const auto rows = rows_of(sweep_of({4, 2}, {{Granularity::Mode::aligned, 1}, {Granularity::Mode::aligned, 2}},
                                       {Eviction::lru, Eviction::fifo}),
                              {0, 1, 2, 3, 0, 1, 2, 3}, {});
    ASSERT_EQ(rows.size(), 8U);
    // 4 lines: 4 counters hold all (4 records), 2 counters miss every time (8). Pairs (0,1) and (2,3): 2 of 4 counters
    // are used (2 records), and 2 suffice. Every line of a pair was used equally often: no error.
    const std::uint64_t expected[] = {4, 8, 2, 2, 4, 8, 2, 2};
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(rows[i].swapouts, expected[i]) << i;
        EXPECT_EQ(rows[i].error, 0.0);
        EXPECT_DOUBLE_EQ(rows[i].bytes_per_event, static_cast<double>(expected[i]) * 16 / 8);
    }
    EXPECT_EQ(rows[1].counters, 2U);
    EXPECT_EQ(rows[2].granularity.amount, 2U);
    EXPECT_EQ(rows[4].eviction, Eviction::fifo);
}

TEST(SweepRows, CopiesOfALinkAreAddedUp) {
    const SweepSpec spec = sweep_of({2}, {{Granularity::Mode::aligned, 2}}, {Eviction::fifo});
    Sweep one(spec, 0), two(spec, 1);
    play(one, {0}, {});
    play(two, {1}, {});
    one.finish();
    two.finish();
    const Sweep* const copies[] = {&one, &two};
    const auto rows = sweep_rows(copies);
    EXPECT_EQ(rows[0].swapouts, 2U);
    EXPECT_EQ(rows[0].error, 0.0);  // each copy alone would have an error of 1
    EXPECT_EQ(one.exact().total(), 1U);
}

TEST(SweepSpecs, ThatAreImpossibleAreRefused) {
    EXPECT_THROW(Sweep(sweep_of({}, {{}}, {Eviction::fifo})), SpecError);
    EXPECT_THROW(Sweep(sweep_of({16}, {{Granularity::Mode::mask, 3}}, {Eviction::fifo})), SpecError);
    EXPECT_THROW(Sweep(sweep_of(std::vector<std::uint32_t>(65, 1), {{}}, {Eviction::fifo})), SpecError);
    SweepSpec ways = sweep_of({16, 18}, {{}}, {Eviction::fifo});
    ways.base.ways = 4;
    EXPECT_THROW(Sweep{ways}, SpecError);
}

}  // namespace
}  // namespace cachetally
