// SPDX-License-Identifier: BSD-3-Clause
// Lines that a level holds: as many as it has room for, and those of them that meet in a set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

struct HeldLines {
    double capacity = 0, low = 0, high = 0;  ///< bytes
    unsigned ways = 0;                       ///< 0 = lines that are too many do not all meet as many, or none was asked
    std::string why_not = {};                ///< not empty: the reason why nothing is known
};

/// What is asked of a level besides its capacity.
enum class Asked : std::uint8_t { capacity, ways };

/// To lines that all stay in a level, as its misses are counted, others are added, in groups and at last one by one,
/// wherever their pages lie. When many in a row are too many, those held fill it. One that is too many stays in the
/// place of any of those that it meets, which are found by halves: the ways. (ours; after group testing by Vila, Koepf
/// and Morales 2019, turned round)
HeldLines find_held_lines(Meter& meter, const L1Geometry& l1, unsigned level, Asked asked,
                          std::vector<std::string>& decisions);

/// Capacities of lower levels by the lines that they hold, where the report has none, or, if `all` may mislead, in
/// place of those that it has. (ours)
void add_held_capacities(Meter& meter, const L1Geometry& l1, bool all, TestReport& report);

}  // namespace cachetally
