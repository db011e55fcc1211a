// SPDX-License-Identifier: BSD-3-Clause
// lfu: the counter with the smallest count.
#pragma once

#include <algorithm>
#include <vector>

#include "monitor/eviction/policy.hpp"

namespace cachetally {

/// The smallest count; of equal ones the one inserted first.
class LfuOrder {
public:
    static constexpr bool clears_all = false;
    LfuOrder(std::uint32_t slots, Random*) : inserted_(slots) {}
    void inserted(std::uint32_t slot) { inserted_[slot] = now_++; }
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t* counts) {
        std::uint64_t least = counts[0];
        for (std::size_t slot = 1; slot < inserted_.size(); ++slot) least = std::min(least, counts[slot]);
        std::uint64_t oldest = ~std::uint64_t{0};
        std::uint32_t victim = 0;
        for (std::uint32_t slot = 0; slot < inserted_.size(); ++slot) {
            if (counts[slot] != least || inserted_[slot] >= oldest) continue;
            oldest = inserted_[slot];
            victim = slot;
        }
        return victim;
    }
    void reset() {}
    static void add_cost(HardwareCost& cost, const CounterShape& shape) {
        const std::uint64_t between_counts = shape.ways - 1;
        add_ages(cost, shape);
        cost.comparators += between_counts;
        cost.comparator_bits += between_counts * shape.width;
        cost.area += between_counts * shape.width * transistors::magnitude_bit;
        cost.swapout_energy += 2 * shape.ways * shape.age_bits + between_counts * shape.width;
    }

private:
    std::vector<std::uint64_t> inserted_;  ///< when
    std::uint64_t now_ = 0;
};

}  // namespace cachetally
