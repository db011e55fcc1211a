// SPDX-License-Identifier: BSD-3-Clause
// lru: the counter used last longest ago.
#pragma once

#include <bit>
#include <vector>

#include "monitor/eviction/policy.hpp"

namespace cachetally {

/// Keeps no list: uses are appended to a log, and the victim is the first entry that is still its slot's last use.
class LruOrder {
public:
    static constexpr bool clears_all = false;
    LruOrder(std::uint32_t slots, Random*)
        : log_(std::bit_ceil(std::uint64_t{slots} * 8)), mask_(log_.size() - 1), last_(slots) {}
    void inserted(std::uint32_t slot) { used(slot); }
    void used(std::uint32_t slot) {
        if (end_ - begin_ == log_.size()) [[unlikely]]
            compact();
        append(slot);
    }
    std::uint32_t victim(const std::uint64_t*) {
        while (last_[log_[begin_ & mask_]] != begin_) ++begin_;
        return log_[begin_++ & mask_];
    }
    void reset() { begin_ = end_; }
    static void add_cost(HardwareCost& cost, const CounterShape& shape) {
        add_ages(cost, shape);
        cost.event_energy += 2 * shape.ways * shape.age_bits;
    }

private:
    void append(std::uint32_t slot) {
        log_[end_ & mask_] = slot;
        last_[slot] = end_++;
    }
    /// Appends the entries that are still current once more; each is read before its place is written.
    void compact() {
        for (const std::uint64_t stop = end_; begin_ != stop; ++begin_)
            if (const std::uint32_t slot = log_[begin_ & mask_]; last_[slot] == begin_) append(slot);
    }

    std::vector<std::uint32_t> log_;
    std::uint64_t mask_;
    std::vector<std::uint64_t> last_;  ///< position of each slot's last use
    std::uint64_t begin_ = 0, end_ = 0;
};

}  // namespace cachetally
