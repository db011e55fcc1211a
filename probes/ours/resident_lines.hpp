// SPDX-License-Identifier: BSD-3-Clause
// Lines resident in a level at a time: its capacity; those congruent to a further line: its ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

struct ResidentLines {
    double capacity = 0, low = 0, high = 0;  ///< bytes
    unsigned ways = 0;                       ///< 0 = not asked for, or rejected lines differ
    std::string why_not = {};                ///< the reason if nothing is known
};

/// What is asked of a level besides its capacity.
enum class Asked : std::uint8_t { capacity, ways };

/// Lines on any pages are added to a set of lines that all hit in the level (by its counted misses), in groups and then
/// one by one; a line that makes any of them miss is rejected. When many in a row are rejected, the set fills the
/// level. A rejected line hits if a resident congruent to it is left out: halving finds all of these, which are the
/// ways. (ours; the inverse of reducing an eviction set by group testing, Vila, Koepf and Morales 2019)
ResidentLines find_resident_lines(Meter& meter, const L1Geometry& l1, unsigned level, Asked asked,
                                  std::vector<std::string>& decisions);

/// Capacities of lower levels by resident lines: added if the report has none. An interval in the report that they
/// contradict is refused, or, with `all`, replaced, as is a single value. (ours)
void add_resident_capacities(Meter& meter, const L1Geometry& l1, bool all, TestReport& report);

}  // namespace cachetally
