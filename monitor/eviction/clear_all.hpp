// SPDX-License-Identifier: BSD-3-Clause
// clear_all: all counters of a full set.
#pragma once

#include "monitor/eviction/policy.hpp"

namespace cachetally {

/// Never asked for a victim: a full set is swapped out whole.
class ClearOrder {
public:
    static constexpr bool clears_all = true;
    ClearOrder(std::uint32_t, Random*) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) { return 0; }
    void reset() {}
    static void add_cost(HardwareCost&, const CounterShape&) {}
};

}  // namespace cachetally
