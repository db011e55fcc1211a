// SPDX-License-Identifier: BSD-3-Clause
// random: a counter drawn by a seeded generator.
#pragma once

#include "monitor/eviction/policy.hpp"

namespace cachetally {

class RandomOrder {
public:
    static constexpr bool clears_all = false;
    RandomOrder(std::uint32_t slots, Random* random) : slots_(slots), random_(random) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) { return static_cast<std::uint32_t>(random_->below(slots_)); }
    void reset() {}
    static void add_cost(HardwareCost& cost, const CounterShape&) {
        cost.order_bits += 64;
        cost.swapout_energy += 64;
    }

private:
    std::uint32_t slots_;
    Random* random_;  ///< one for all sets
};

}  // namespace cachetally
