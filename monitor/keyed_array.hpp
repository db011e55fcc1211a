// SPDX-License-Identifier: BSD-3-Clause
// KeyedArray: counters for fixed keys, in sets.
#pragma once

#include <vector>

#include "monitor/counter_array.hpp"
#include "monitor/eviction/policy.hpp"
#include "monitor/slot_table.hpp"
#include "monitor/window_array.hpp"

namespace cachetally {

/// The counters of one set.
template <EvictionPolicy Order>
class CounterSet {
public:
    CounterSet(std::uint32_t ways, Random* random) : order_(ways, random), slots_(ways), keys_(ways), counts_(ways) {}

    /// The counter of a key, after making it the key's where it is not.
    std::uint64_t& counter(std::uint64_t key, std::vector<SwapOut>& out) {
        if (const std::uint32_t slot = slots_.find(key); slot != SlotTable::none) {
            order_.used(slot);
            return counts_[slot];
        }
        return take(key, out);
    }

    void flush(std::vector<SwapOut>& out) {
        for (std::uint32_t slot = 0; slot < taken_; ++slot) swap_out(slot, out);
        taken_ = 0;
        slots_.clear();
        order_.reset();
    }

    std::uint64_t events() const {
        std::uint64_t sum = 0;
        for (std::uint32_t slot = 0; slot < taken_; ++slot) sum += counts_[slot];
        return sum;
    }
    std::uint32_t occupied() const {
        std::uint32_t number = 0;
        for (std::uint32_t slot = 0; slot < taken_; ++slot) number += counts_[slot] != 0 ? 1 : 0;
        return number;
    }

private:
    /// Kept out of the way of hits.
    [[gnu::noinline]] std::uint64_t& take(std::uint64_t key, std::vector<SwapOut>& out) {
        const std::uint32_t slot = free_slot(out);
        keys_[slot] = key;
        counts_[slot] = 0;
        slots_.insert(key, slot);
        order_.inserted(slot);
        return counts_[slot];
    }

    std::uint32_t free_slot(std::vector<SwapOut>& out) {
        if (taken_ == keys_.size() && Order::clears_all) flush(out);
        if (taken_ < keys_.size()) return taken_++;
        const std::uint32_t slot = order_.victim(counts_.data());
        swap_out(slot, out);
        slots_.remove(keys_[slot]);
        return slot;
    }

    void swap_out(std::uint32_t slot, std::vector<SwapOut>& out) {
        if (counts_[slot] != 0) out.push_back({keys_[slot], 1, 1, counts_[slot]});
    }

    Order order_;
    SlotTable slots_;
    std::vector<std::uint64_t> keys_, counts_;
    std::uint32_t taken_ = 0;
};

/// Counters for fixed keys; set = key modulo sets.
template <EvictionPolicy Order>
class KeyedArray final : public CounterArray {
public:
    KeyedArray(const MonitorSpec& spec, std::uint64_t seed) : CounterArray(spec.full()), random_(seed) {
        const std::uint32_t ways = spec.ways == 0 ? spec.counters : spec.ways;
        sets_.reserve(spec.counters / ways);
        for (std::uint32_t set = 0; set < spec.counters / ways; ++set) sets_.emplace_back(ways, &random_);
    }

    void add_all(std::span<const KeyCount> events, std::vector<SwapOut>& out) override {
        for (const KeyCount& event : events) KeyedArray::add_other(event.key, event.count, out);
    }

    void flush(std::vector<SwapOut>& out) override {
        for (CounterSet<Order>& set : sets_) set.flush(out);
        last_count_ = nullptr;
    }

    std::uint64_t resident_events() const override {
        std::uint64_t sum = 0;
        for (const CounterSet<Order>& set : sets_) sum += set.events();
        return sum;
    }
    std::uint32_t resident_counters() const override {
        std::uint32_t number = 0;
        for (const CounterSet<Order>& set : sets_) number += set.occupied();
        return number;
    }

private:
    void add_other(std::uint64_t key, std::uint64_t count, std::vector<SwapOut>& out) override {
        std::uint64_t& counter = sets_[sets_.size() == 1 ? 0 : key % sets_.size()].counter(key, out);
        counter += count;
        last_key_ = last_first_ = key;
        last_count_ = &counter;
        if (counter >= full_) [[unlikely]]
            overflow(out);
    }

    Random random_;
    std::vector<CounterSet<Order>> sets_;
};

/// What is known of a policy, by its class.
template <EvictionPolicy Order>
constexpr EvictionRow eviction_row(std::string_view name) {
    const auto make = [](const MonitorSpec& spec, std::uint64_t seed) -> std::unique_ptr<CounterArray> {
        if (spec.is_dynamic()) return std::make_unique<WindowArray<Order>>(spec, seed);
        return std::make_unique<KeyedArray<Order>>(spec, seed);
    };
    return {name, make, Order::add_cost};
}

}  // namespace cachetally
