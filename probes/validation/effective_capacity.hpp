// SPDX-License-Identifier: BSD-3-Clause
// What of a level a program gets before loads take longer: the truth that Cooper and Xu's capacities are about.
#pragma once

#include "probes/validation/truth.hpp"

namespace cachetally {

/// `effective_capacity` of each cache level: "the amount of memory at each level that an application can use before the
/// access latency begins to rise" (Cooper and Xu 2018, 1). It begins where loads of so many pages in a circle take half
/// a cycle more, which rounding shows; from `value`, of the average placement of pages, to `high`, of the best of 208.
/// It is less than the capacity
/// * where pages are placed at random and a way is longer than a page: pages meet in classes of sets, and of a class
///   with more pages than ways all miss (LRU), or as many as are too many (other policies, at best);
/// * where no TLB reaches so far: entries of page tables, 8 bytes for each page, take room.
/// Of coloured pages and hashed sets the least is that of random ones, and the most the capacity. (ours)
std::vector<Fact> effective_capacity_facts(const MachineDescription& machine);

}  // namespace cachetally
