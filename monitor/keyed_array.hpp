// SPDX-License-Identifier: BSD-3-Clause
// SlotTable: a small hash from keys to the numbers of the counters that hold them.
// KeyedArray: counters for fixed keys, in sets, or for windows of neighbouring units without fixed boundaries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "monitor/counter_array.hpp"
#include "monitor/eviction/policy.hpp"

namespace cachetally {

/// Buckets of eight keys that are compared at once; a quarter full on average, so that what a search does depends
/// little on the keys and is predicted well. Keys that find their bucket full (rarely) are kept in a list.
class SlotTable {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit SlotTable(std::uint64_t most_keys) {
        const std::uint64_t buckets = std::max<std::uint64_t>(std::bit_ceil(most_keys) / 2, 2);
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(buckets));
        buckets_.resize(buckets);
        clear();
    }

    std::uint32_t find(std::uint64_t key) const {
        const Bucket& bucket = buckets_[home(key)];
        if (const unsigned lanes = matches(bucket, key); lanes != 0) return bucket.slots[std::countr_zero(lanes)];
        return bucket.spilled == 0 ? none : find_spilled(key);
    }

    /// The key is not there.
    void insert(std::uint64_t key, std::uint32_t slot) {
        Bucket& bucket = buckets_[home(key)];
        const unsigned lanes = matches(bucket, bucket.empty);
        if (lanes == 0) [[unlikely]] {
            ++bucket.spilled;
            spilled_.push_back({key, slot});
            return;
        }
        const int lane = std::countr_zero(lanes);
        bucket.keys[lane] = key;
        bucket.slots[lane] = slot;
    }

    /// The key is there.
    void remove(std::uint64_t key) {
        Bucket& bucket = buckets_[home(key)];
        if (const unsigned lanes = matches(bucket, key); lanes != 0) {
            bucket.keys[std::countr_zero(lanes)] = bucket.empty;
            return;
        }
        --bucket.spilled;
        std::erase_if(spilled_, [&](const auto& spilled) { return spilled.first == key; });
    }

    void clear() {
        // An empty lane holds a key that belongs to another bucket, so that all 2^64 keys can be told from it.
        const std::uint64_t one_home = home(1);
        std::uint64_t other = 2;
        while (home(other) == one_home) ++other;
        for (std::uint64_t number = 0; number < buckets_.size(); ++number) {
            Bucket& bucket = buckets_[number];
            bucket.empty = number == one_home ? other : 1;
            bucket.spilled = 0;
            std::ranges::fill(bucket.keys, bucket.empty);
        }
        spilled_.clear();
    }

private:
    static constexpr unsigned lanes_per_bucket = 8;
    struct alignas(64) Bucket {
        std::uint64_t keys[lanes_per_bucket];
        std::uint32_t slots[lanes_per_bucket];
        std::uint64_t empty = 0;
        std::uint32_t spilled = 0;  ///< keys of this bucket in the list
    };

    std::uint64_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15U) >> shift_; }

    static unsigned matches(const Bucket& bucket, std::uint64_t key) {
        unsigned lanes = 0;
        for (unsigned lane = 0; lane < lanes_per_bucket; ++lane) lanes |= (bucket.keys[lane] == key ? 1U : 0U) << lane;
        return lanes;
    }

    std::uint32_t find_spilled(std::uint64_t key) const {
        for (const auto& [spilled, slot] : spilled_)
            if (spilled == key) return slot;
        return none;
    }

    std::vector<Bucket> buckets_;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> spilled_;
    unsigned shift_ = 0;
};

/// Set = key modulo sets. With windows (Schulz et al. 2002, section 3.2; the rule is ours, docs/monitors.md) there is
/// one set, and a counter is for `span` units from its key on. An event at unit x belongs to the counter whose window
/// holds x; else the nearest window that can be extended to x without covering more than `amount` units or another
/// window is extended (of two equally near ones the lower); else a new window of x alone begins.
template <EvictionPolicy Order, bool windows>
class KeyedArray final : public CounterArray {
public:
    KeyedArray(const MonitorSpec& spec, std::uint64_t seed)
        : CounterArray(spec.full(), spec.counters),
          most_(windows ? spec.granularity.amount : 1),
          ways_(spec.ways == 0 ? spec.counters : spec.ways),
          random_(seed),
          keys_(spec.counters),
          spans_(windows ? spec.counters : 0) {
        sets_.reserve(spec.counters / ways_);
        for (std::uint32_t first = 0; first < spec.counters; first += ways_)
            sets_.push_back({Order(ways_, &random_), SlotTable(ways_ * most_), first});
    }

    void add_all(std::span<const KeyCount> events, std::vector<SwapOut>& out) override {
        for (const KeyCount& event : events) KeyedArray::add_other(event.key, event.count, out);
    }

    void flush(std::vector<SwapOut>& out) override {
        for (Set& set : sets_) flush(set, out);
        last_count_ = nullptr;
    }

private:
    struct Set {
        Order order;
        SlotTable slots;  ///< by key, or by every unit of every window
        std::uint32_t first;
        std::uint32_t taken = 0;
    };

    void add_other(std::uint64_t key, std::uint64_t count, std::vector<SwapOut>& out) override {
        Set& set = sets_[sets_.size() == 1 ? 0 : key % sets_.size()];
        std::uint32_t slot = set.slots.find(key);
        if (windows && slot == SlotTable::none) slot = extend(set, key);
        if (slot != SlotTable::none) {
            set.order.used(slot);
        } else {
            slot = take(set, key, out);
        }
        const std::size_t place = set.first + slot;
        std::uint64_t& counter = counts_[place];
        counter += count;
        last_key_ = key;
        last_count_ = &counter;
        last_first_ = keys_[place];
        last_span_ = span(place);
        if (counter >= full_) [[unlikely]]
            overflow(out);
    }

    std::uint32_t span(std::size_t place) const { return windows ? spans_[place] : 1; }

    /// A counter for a new key. Kept out of the way of hits.
    [[gnu::noinline]] std::uint32_t take(Set& set, std::uint64_t key, std::vector<SwapOut>& out) {
        if (set.taken == ways_ && Order::clears_all) flush(set, out);
        std::uint32_t slot = set.taken;
        if (slot < ways_) {
            ++set.taken;
        } else {
            slot = set.order.victim(counts_.data() + set.first);
            swap_out(set, slot, out);
        }
        keys_[set.first + slot] = key;
        if (windows) spans_[slot] = 1;
        set.slots.insert(key, slot);
        set.order.inserted(slot);
        return slot;
    }

    void flush(Set& set, std::vector<SwapOut>& out) {
        for (std::uint32_t slot = 0; slot < set.taken; ++slot) swap_out(set, slot, out);
        set.taken = 0;
        set.order.reset();
    }

    void swap_out(Set& set, std::uint32_t slot, std::vector<SwapOut>& out) {
        const std::size_t place = set.first + slot;
        if (counts_[place] != 0) out.push_back({keys_[place], span(place), 1, counts_[place]});
        counts_[place] = 0;
        for (std::uint32_t unit = 0; unit < span(place); ++unit) set.slots.remove(keys_[place] + unit);
    }

    /// Extends the window that x belongs to, where there is one. Looks outwards from x; behind a window that cannot be
    /// extended lie only windows that would overlap it.
    std::uint32_t extend(Set& set, std::uint64_t x) {
        bool below_open = true, above_open = true;
        for (std::uint64_t distance = 1; distance < most_ && (below_open || above_open); ++distance) {
            if (below_open && x >= distance) {
                if (const std::uint32_t slot = set.slots.find(x - distance); slot != SlotTable::none) {
                    if (x - keys_[slot] < most_) return grow(set, slot, x - distance + 1, x);
                    below_open = false;
                }
            }
            if (above_open && x + distance > x) {
                if (const std::uint32_t slot = set.slots.find(x + distance); slot != SlotTable::none) {
                    if (keys_[slot] + spans_[slot] - x <= most_) return grow(set, slot, x, x + distance - 1);
                    above_open = false;
                }
            }
        }
        return SlotTable::none;
    }

    /// Adds units [from, to], which adjoin the window.
    std::uint32_t grow(Set& set, std::uint32_t slot, std::uint64_t from, std::uint64_t to) {
        keys_[slot] = std::min(keys_[slot], from);
        for (std::uint64_t unit = from;; ++unit) {
            ++spans_[slot];
            set.slots.insert(unit, slot);
            if (unit == to) return slot;
        }
    }

    std::uint64_t most_;  ///< units of a window
    std::uint32_t ways_;
    Random random_;
    std::vector<std::uint64_t> keys_;  ///< by counter
    std::vector<std::uint32_t> spans_;
    std::vector<Set> sets_;
};

/// What is known of a policy, by its class.
template <EvictionPolicy Order>
constexpr EvictionRow eviction_row(std::string_view name) {
    const auto make = [](const MonitorSpec& spec, std::uint64_t seed) -> std::unique_ptr<CounterArray> {
        if (spec.is_dynamic()) return std::make_unique<KeyedArray<Order, true>>(spec, seed);
        return std::make_unique<KeyedArray<Order, false>>(spec, seed);
    };
    return {name, make, Order::add_cost};
}

}  // namespace cachetally
