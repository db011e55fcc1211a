// SPDX-License-Identifier: BSD-3-Clause
// Ground truth of what cores of a machine have in common.
#pragma once

#include <vector>

#include "probes/validation/truth.hpp"

namespace cachetally {

/// Cycles until a request that leaves the node of its core by this cache has been answered by the others, or the
/// directory has looked the line up; 0 where it asks nobody. (docs/coherence.md)
double asked_of_others(const MachineDescription& machine, const CacheConfig& cache);

/// Of lines that one core has written and another one loads: the latencies that pairs of cores have, ascending, those
/// that differ by less than a quarter as one; and which cores are at the least of them. None of machines with one core,
/// of caches that are not kept coherent, and where homes do not follow the first touch. (docs/coherence.md,
/// docs/numa.md)
std::vector<Fact> transfer_facts(const MachineDescription& machine);

}  // namespace cachetally
