// SPDX-License-Identifier: BSD-3-Clause
// clock: the first counter behind the hand that was not used since it passed.
#pragma once

#include <vector>

#include "monitor/eviction/policy.hpp"

namespace cachetally {

/// A reference bit per slot, set by the insertion and every use; the hand clears bits until it finds one cleared.
class ClockOrder {
public:
    static constexpr bool clears_all = false;
    ClockOrder(std::uint32_t slots, Random*) : referenced_(slots, 0) {}
    void inserted(std::uint32_t slot) { referenced_[slot] = 1; }
    void used(std::uint32_t slot) { referenced_[slot] = 1; }
    std::uint32_t victim(const std::uint64_t*) {
        while (referenced_[hand_] != 0) {
            referenced_[hand_] = 0;
            advance();
        }
        const std::uint32_t slot = hand_;
        advance();
        return slot;
    }
    void reset() { hand_ = 0; }
    static void add_cost(HardwareCost& cost, const CounterShape& shape) {
        cost.order_bits += shape.counters + shape.sets * shape.age_bits;
        cost.event_energy += 1;
        cost.swapout_energy += shape.ways + shape.age_bits;
    }

private:
    void advance() { hand_ = hand_ + 1 == referenced_.size() ? 0 : hand_ + 1; }

    std::vector<std::uint8_t> referenced_;
    std::uint32_t hand_ = 0;
};

}  // namespace cachetally
