// SPDX-License-Identifier: BSD-3-Clause
// Random machines that Topology accepts, over everything that a machine description offers. For tests of any room.
#pragma once

#include <functional>

#include "cachetally/machine.hpp"

namespace cachetally::differential {

/// Draws a number from 0 to bound - 1. Smaller numbers choose simpler machines, so that shrinking works.
using Chooser = std::function<std::uint64_t(std::uint64_t bound)>;

/// What a random machine may have.
struct MachineLimits {
    unsigned cores = 4;
    unsigned levels = 4;
    unsigned sets = 8, ways = 24;  ///< of a cache
    bool tlbs = true;
    bool prefetchers = true;
    bool no_cache = true;        ///< sometimes a core directly at memory
    bool other_policies = true;  ///< all replacement, inclusion, write and order options; else the defaults
    bool link_timing = true;     ///< sometimes buses, bounded misses, write buffers, banks
    bool coherence = false;      ///< caches that are kept coherent, where some are private
    bool numa = false;           ///< sometimes nodes with memories of their own
    bool any_row = false;        ///< all policies, indexing functions and prefetchers; else those of the slow simulator
    bool mappings = true;        ///< all frame mappings and page sizes; else identity
};

MachineDescription random_machine(const Chooser& choose, const MachineLimits& limits = {});

/// For some of the caches that may have them; first levels only where that is wished.
void add_sectors(MachineDescription& machine, const Chooser& choose, bool first_levels = true);

}  // namespace cachetally::differential
