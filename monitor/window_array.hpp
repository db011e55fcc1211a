// SPDX-License-Identifier: BSD-3-Clause
// WindowArray: counters of dynamic granularity, for windows of neighbouring units without fixed boundaries.
#pragma once

#include <vector>

#include "monitor/counter_array.hpp"
#include "monitor/eviction/policy.hpp"
#include "monitor/slot_table.hpp"

namespace cachetally {

/// Schulz et al. 2002, section 3.2; the rule is ours (docs/monitors.md). A counter is for units [low, high]. An event
/// at unit x belongs to the counter whose window holds x; else the nearest window that can be extended to x without
/// covering more than `amount` units or another window is extended (of two equally near ones the lower); else a new
/// window [x, x] begins.
template <EvictionPolicy Order>
class WindowArray final : public CounterArray {
public:
    WindowArray(const MonitorSpec& spec, std::uint64_t seed)
        : CounterArray(spec.full()),
          most_(spec.granularity.amount),
          random_(seed),
          order_(spec.counters, &random_),
          slots_(std::uint64_t{spec.counters} * most_),
          windows_(spec.counters),
          counts_(spec.counters) {}

    void flush(std::vector<SwapOut>& out) override {
        for (std::uint32_t slot = 0; slot < taken_; ++slot) {
            swap_out(slot, out);
            forget(windows_[slot]);
        }
        taken_ = 0;
        order_.reset();
        last_count_ = nullptr;
    }

    std::uint64_t resident_events() const override {
        std::uint64_t sum = 0;
        for (std::uint32_t slot = 0; slot < taken_; ++slot) sum += counts_[slot];
        return sum;
    }
    std::uint32_t resident_counters() const override {
        std::uint32_t number = 0;
        for (std::uint32_t slot = 0; slot < taken_; ++slot) number += counts_[slot] != 0 ? 1 : 0;
        return number;
    }

private:
    struct Window {
        std::uint64_t low = 0, high = 0;
    };

    void add_other(std::uint64_t unit, std::uint64_t count, std::vector<SwapOut>& out) override {
        std::uint32_t slot = slots_.find(unit);
        if (slot == SlotTable::none) slot = extend(unit);
        if (slot != SlotTable::none) {
            order_.used(slot);
        } else {
            slot = free_slot(out);
            windows_[slot] = {unit, unit};
            counts_[slot] = 0;
            slots_.insert(unit, slot);
            order_.inserted(slot);
        }
        counts_[slot] += count;
        last_key_ = unit;
        last_count_ = &counts_[slot];
        last_first_ = windows_[slot].low;
        last_span_ = span(windows_[slot]);
        if (counts_[slot] >= full_) overflow(out);
    }

    /// Extends the window that x belongs to, where there is one. Looks outwards from x; behind a window that cannot be
    /// extended lie only windows that would overlap it.
    std::uint32_t extend(std::uint64_t x) {
        bool below_open = true, above_open = true;
        for (std::uint64_t distance = 1; distance < most_ && (below_open || above_open); ++distance) {
            if (below_open && x >= distance) {
                if (const std::uint32_t slot = slots_.find(x - distance); slot != SlotTable::none) {
                    if (x - windows_[slot].low < most_) return grow(slot, windows_[slot].high + 1, x);
                    below_open = false;
                }
            }
            if (above_open && x + distance > x) {
                if (const std::uint32_t slot = slots_.find(x + distance); slot != SlotTable::none) {
                    if (windows_[slot].high - x < most_) return grow(slot, x, windows_[slot].low - 1);
                    above_open = false;
                }
            }
        }
        return SlotTable::none;
    }

    /// Adds units [from, to], which adjoin the window.
    std::uint32_t grow(std::uint32_t slot, std::uint64_t from, std::uint64_t to) {
        Window& window = windows_[slot];
        if (from < window.low) {
            window.low = from;
        } else {
            window.high = to;
        }
        for (std::uint64_t unit = from;; ++unit) {
            slots_.insert(unit, slot);
            if (unit == to) return slot;
        }
    }

    std::uint32_t free_slot(std::vector<SwapOut>& out) {
        if (taken_ == windows_.size() && Order::clears_all) flush(out);
        if (taken_ < windows_.size()) return taken_++;
        const std::uint32_t slot = order_.victim(counts_.data());
        swap_out(slot, out);
        forget(windows_[slot]);
        return slot;
    }

    void swap_out(std::uint32_t slot, std::vector<SwapOut>& out) {
        if (counts_[slot] != 0) out.push_back({windows_[slot].low, span(windows_[slot]), 1, counts_[slot]});
    }

    void forget(const Window& window) {
        for (std::uint64_t unit = window.low;; ++unit) {
            slots_.remove(unit);
            if (unit == window.high) return;
        }
    }

    static std::uint32_t span(const Window& window) { return static_cast<std::uint32_t>(window.high - window.low + 1); }

    std::uint64_t most_;
    Random random_;
    Order order_;
    SlotTable slots_;  ///< for every unit of every window
    std::vector<Window> windows_;
    std::vector<std::uint64_t> counts_;
    std::uint32_t taken_ = 0;
};

}  // namespace cachetally
