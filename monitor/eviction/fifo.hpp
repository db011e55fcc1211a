// SPDX-License-Identifier: BSD-3-Clause
// fifo: the counter inserted first (Schulz et al. 2002, section 3.1).
#pragma once

#include "monitor/eviction/policy.hpp"

namespace cachetally {

class FifoOrder {
public:
    static constexpr bool clears_all = false;
    FifoOrder(std::uint32_t slots, Random*) : slots_(slots) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) {
        const std::uint32_t slot = next_;
        next_ = next_ + 1 == slots_ ? 0 : next_ + 1;
        return slot;
    }
    void reset() { next_ = 0; }
    static void add_cost(HardwareCost& cost, const CounterShape& shape) {
        cost.order_bits += shape.sets * shape.age_bits;
        cost.swapout_energy += shape.age_bits;
    }

private:
    std::uint32_t slots_;
    std::uint32_t next_ = 0;
};

}  // namespace cachetally
