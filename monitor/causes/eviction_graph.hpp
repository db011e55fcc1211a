// SPDX-License-Identifier: BSD-3-Clause
// The graph of what evicts what, and its strongest cycles (ours): what stands there makes room for each other in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/causes/miss_causes.hpp"

namespace cachetally {

/// Lines of `victim` that lines of `by` replaced in a set of a cache.
struct SetEvictions {
    std::uint32_t by = 0, victim = 0;
    std::uint64_t set = 0, count = 0;
    friend auto operator<=>(const SetEvictions&, const SetEvictions&) = default;
};

/// A cycle is as strong as the least of its evictions. Of those through each of the 64 most frequent pairs, the
/// strongest, and of these one of the fewest structures: at most 16 in all, the strongest first, each with at most 8
/// sets. In any order of `evictions`, of which there is one for each pair and set.
std::vector<EvictionCycle> strongest_cycles(std::vector<SetEvictions> evictions);

}  // namespace cachetally
