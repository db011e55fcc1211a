// SPDX-License-Identifier: BSD-3-Clause
// CounterArray: the associative counters of a monitor. Counts events per key and swaps counters out to make room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "monitor/spec.hpp"

namespace cachetally {

/// `times` equal records of a counter for the units (or keys) [first, first + span).
struct SwapOut {
    std::uint64_t first = 0;
    std::uint32_t span = 1;
    std::uint64_t times = 1;
    std::uint64_t count = 0;

    friend bool operator==(const SwapOut&, const SwapOut&) = default;
};

/// Schulz et al. 2002, section 3.1. An event whose key has a counter increments it; else a free counter is taken, else
/// a victim is swapped out. A counter that reaches its largest value is swapped out at once and keeps its key. A
/// counter that holds 0 gives no record. docs/monitors.md defines each eviction policy.
class CounterArray {
public:
    virtual ~CounterArray() = default;

    /// `count` events (at least 1) for a key: the same as that many single ones. Records are appended to `out`.
    void add(std::uint64_t key, std::uint64_t count, std::vector<SwapOut>& out) {
        if (key == last_key_ && last_count_ != nullptr) [[likely]] {
            *last_count_ += count;
            if (*last_count_ >= full_) [[unlikely]]
                overflow(out);
            return;
        }
        add_other(key, count, out);
    }

    /// Events for one key.
    struct KeyCount {
        std::uint64_t key = 0;
        std::uint64_t count = 0;
    };

    /// add() for each.
    virtual void add_all(std::span<const KeyCount> events, std::vector<SwapOut>& out) {
        for (const KeyCount& event : events) add(event.key, event.count, out);
    }

    /// Swaps all counters out, lowest set and counter first; all are free afterwards.
    virtual void flush(std::vector<SwapOut>& out) = 0;

    /// Sum of the counts in the counters; number of counters that hold one.
    std::uint64_t resident_events() const { return std::reduce(counts_.begin(), counts_.end()); }
    std::uint32_t resident_counters() const {
        return static_cast<std::uint32_t>(
            std::ranges::count_if(counts_, [](std::uint64_t count) { return count != 0; }));
    }

protected:
    CounterArray(std::uint64_t full, std::uint32_t counters) : full_(full), counts_(counters) {}

    /// A key other than the last one.
    virtual void add_other(std::uint64_t key, std::uint64_t count, std::vector<SwapOut>& out) = 0;

    /// Swaps out full counts of the last counter.
    [[gnu::noinline]] void overflow(std::vector<SwapOut>& out);

    std::uint64_t full_;
    std::vector<std::uint64_t> counts_;  ///< 0 of those that are free
    std::uint64_t last_key_ = 0;
    std::uint64_t* last_count_ = nullptr;  ///< of last_key_; null: no key is the last one
    std::uint64_t last_first_ = 0;         ///< what a record of the last counter says
    std::uint32_t last_span_ = 1;
};

/// Builds the array of a spec: keys are groups for aligned and mask granularity, units for dynamic granularity.
/// `copy` distinguishes the random draws of the copies of a link.
std::unique_ptr<CounterArray> make_counter_array(const MonitorSpec& spec, unsigned copy = 0);

/// What is known of an eviction policy; its number in the span is its enumerator.
struct EvictionRow {
    std::string_view name;
    std::unique_ptr<CounterArray> (*make)(const MonitorSpec& spec, std::uint64_t seed);
    void (*add_cost)(HardwareCost& cost, const CounterShape& shape);
};

/// The rows of monitor/eviction/table.hpp.
std::span<const EvictionRow> built_in_evictions();

/// The policies of the program. A source of its own, so that a program may link another with more rows.
std::span<const EvictionRow> eviction_rows();
inline const EvictionRow& row_of(Eviction eviction) { return eviction_rows()[static_cast<std::size_t>(eviction)]; }

}  // namespace cachetally
