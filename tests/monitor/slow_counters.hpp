// SPDX-License-Identifier: BSD-3-Clause
// An obvious model of the counter array, written from docs/monitors.md alone: lists, single events, linear search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

struct SlowRecord {
    std::uint64_t first = 0, last = 0, count = 0;
    friend bool operator==(const SlowRecord&, const SlowRecord&) = default;
};

class SlowCounters {
public:
    static bool knows(Eviction eviction) { return eviction <= Eviction::clear_all; }

    SlowCounters(const MonitorSpec& spec, unsigned copy = 0)
        : spec_(spec), random_(spec.seed + copy), sets_(spec.ways == 0 ? 1 : spec.counters / spec.ways) {}

    void event(std::uint64_t key) {
        ++now_;
        Set& set = sets_[key % sets_.size()];
        Counter* counter = counter_of(set, key);
        if (counter != nullptr) {
            counter->first = std::min(counter->first, key);
            counter->last = std::max(counter->last, key);
        } else {
            counter = place(set);
            *counter = {key, key, 0, now_, now_, true};
        }
        counter->used = now_;
        counter->referenced = true;
        if (++counter->count == spec_.full()) {
            records.push_back({counter->first, counter->last, counter->count});
            counter->count = 0;
        }
    }

    void flush() {
        for (Set& set : sets_) flush(set);
    }

    std::uint64_t resident() const {
        std::uint64_t sum = 0;
        for (const Set& set : sets_)
            for (const Counter& counter : set.counters) sum += counter.count;
        return sum;
    }

    std::vector<SlowRecord> records;

private:
    struct Counter {
        std::uint64_t first, last, count, inserted, used;
        bool referenced;
    };
    struct Set {
        std::vector<Counter> counters;
        std::size_t hand = 0;
    };

    std::size_t ways() const { return spec_.ways == 0 ? spec_.counters : spec_.ways; }

    Counter* counter_of(Set& set, std::uint64_t key) {
        for (Counter& counter : set.counters)
            if (counter.first <= key && key <= counter.last) return &counter;
        return spec_.is_dynamic() ? extendable(set, key) : nullptr;
    }

    /// Tries every window: would the window with the key added be short enough and free of others? The nearest wins.
    Counter* extendable(Set& set, std::uint64_t key) {
        Counter* best = nullptr;
        for (Counter& counter : set.counters) {
            const std::uint64_t first = std::min(counter.first, key), last = std::max(counter.last, key);
            if (last - first >= spec_.granularity.amount) continue;
            const bool overlaps = std::ranges::any_of(set.counters, [&](const Counter& other) {
                return &other != &counter && other.first <= last && first <= other.last;
            });
            if (overlaps) continue;
            const auto distance = [&](const Counter& c) { return key > c.last ? key - c.last : c.first - key; };
            if (best == nullptr || distance(counter) < distance(*best) ||
                (distance(counter) == distance(*best) && counter.first < best->first))
                best = &counter;
        }
        return best;
    }

    Counter* place(Set& set) {
        if (set.counters.size() == ways() && spec_.eviction == Eviction::clear_all) flush(set);
        if (set.counters.size() < ways()) return &set.counters.emplace_back();
        Counter& victim = set.counters[victim_of(set)];
        swap_out(victim);
        return &victim;
    }

    std::size_t victim_of(Set& set) {
        const auto least = [&](auto rank) {
            const auto found = std::ranges::min_element(set.counters, {}, rank);
            return static_cast<std::size_t>(found - set.counters.begin());
        };
        switch (spec_.eviction) {
            case Eviction::fifo: return least([](const Counter& c) { return c.inserted; });
            case Eviction::lru: return least([](const Counter& c) { return c.used; });
            case Eviction::lfu: return least([](const Counter& c) { return std::pair(c.count, c.inserted); });
            case Eviction::random: return random_.below(set.counters.size());
            default: break;
        }
        while (true) {  // clock
            const std::size_t at = set.hand;
            set.hand = (set.hand + 1) % set.counters.size();
            if (!set.counters[at].referenced) return at;
            set.counters[at].referenced = false;
        }
    }

    void flush(Set& set) {
        for (const Counter& counter : set.counters) swap_out(counter);
        set.counters.clear();
        set.hand = 0;
    }

    void swap_out(const Counter& counter) {
        if (counter.count != 0) records.push_back({counter.first, counter.last, counter.count});
    }

    MonitorSpec spec_;
    Random random_;
    std::vector<Set> sets_;
    std::uint64_t now_ = 0;
};

}  // namespace cachetally
