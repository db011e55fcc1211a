// SPDX-License-Identifier: BSD-3-Clause
// Random programs that provoke conflicts: bursts of references in few lines, strides, hops over pages, straddling.
#pragma once

#include <vector>

#include "tests/differential/reference_simulator.hpp"

namespace cachetally::differential {

/// A burst of references by a rule; plain numbers, so that shrinking works.
struct Burst {
    unsigned pattern = 0;  ///< 0 few lines, 1 stride, 2 way conflicts, 3 straddling, 4 pages, 5 one line, else mixed
    unsigned base = 0;     ///< number of a base address
    unsigned count = 0;
    unsigned stride = 1;
    unsigned seed = 0;
    unsigned kinds = 0;    ///< which mix of loads, stores and fetches
    bool barrier = false;  ///< a barrier follows, or a meeting without one
};

/// "pattern 1 base 2 count 7 ..."
std::string to_text(const Burst& burst);

/// `way_bytes` is the distance of conflicting lines.
CoreProgram expand(const std::vector<Burst>& bursts, std::uint64_t way_bytes);

}  // namespace cachetally::differential
