// SPDX-License-Identifier: BSD-3-Clause
// Ground truth of what levels do with stores, and what they prefetch.
#pragma once

#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/probe_test.hpp"

namespace cachetally {

/// Whether there is a prefetcher that ever brings a line: none goes beyond 4 KiB, and some look farther ahead.
bool prefetches_lines(const CacheConfig& cache);

/// Of each level: `write`, `write_allocate`, `prefetch` (`none` of one that never brings a line), `prefetch_degree` and
/// `prefetch_distance`, as in machine files. A level of victims fetches no line for a store (docs/counting.md).
std::vector<Fact> behaviour_facts(const MachineDescription& machine);

}  // namespace cachetally
