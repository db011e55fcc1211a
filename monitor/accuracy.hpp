// SPDX-License-Identifier: BSD-3-Clause
// How well a histogram from a monitor matches the exact one.
#pragma once

#include <span>
#include <vector>

#include "monitor/histogram.hpp"

namespace cachetally {

/// Events of one unit; fractional where a count for several units was spread.
struct UnitShare {
    Address address = 0;
    double count = 0;
};

/// Events per unit, all phases and functions summed, ascending: each count spread evenly over its units.
std::vector<UnitShare> spread_over_units(const Histogram& histogram);

/// Sum |exact - measured| / sum exact over the units in `data` (all units where it is empty), all phases and functions
/// summed. A count for several units is spread evenly over them. A fraction: 0 = exact. 0 where `exact` has no events
/// there. Both have the same unit, else std::invalid_argument. (Schulz et al. 2002, section 4.4; the even spread over
/// all lines of a group is ours.)
double histogram_error(const Histogram& exact, const Histogram& measured, std::span<const AddressRange> data = {},
                       const AddressMap& map = {});

/// The ranges of regions, ascending and united, for the functions that take ranges.
std::vector<AddressRange> ranges_of(std::span<const Region> regions);

}  // namespace cachetally
