// SPDX-License-Identifier: BSD-3-Clause
// An eviction policy of monitors: newest swaps out the counter that was inserted last. Belongs into monitor/eviction/;
// its row is ROW(newest, NewestOrder).
#pragma once

#include "monitor/eviction/policy.hpp"

namespace cachetally {

class NewestOrder {
public:
    static constexpr bool clears_all = false;
    NewestOrder(std::uint32_t, Random*) {}
    void inserted(std::uint32_t slot) { last_ = slot; }
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) { return last_; }
    void reset() { last_ = 0; }
    static void add_cost(HardwareCost& cost, const CounterShape& shape) {
        cost.order_bits += shape.sets * shape.age_bits;
        cost.swapout_energy += shape.age_bits;
    }

private:
    std::uint32_t last_ = 0;
};

}  // namespace cachetally
