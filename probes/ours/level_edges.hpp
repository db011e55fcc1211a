// SPDX-License-Identifier: BSD-3-Clause
// Where levels end, in times over spans.
#pragma once

#include <string>
#include <vector>

#include "probes/ours/sweep.hpp"

namespace cachetally {

constexpr double clear_rise = 0.015;  ///< share of a time that is a rise beyond doubt

/// An end of a level.
struct LevelEdge {
    std::uint64_t low = 0, high = 0;
    std::uint64_t quiet = 0;  ///< the last quiet span
    double latency = 0;       ///< there: of the level that ends here
    bool settled = true;      ///< times before the edge did not rise any more
};

/// A rise of times that is too small for a level of its own, unless two levels take nearly the same time.
struct SmallRise {
    std::size_t edges = 0;    ///< so many levels end before it
    std::uint64_t bytes = 0;  ///< where it is seen
    double from = 0, to = 0;  ///< cycles
};

struct LevelEdges {
    std::vector<LevelEdge> edges;
    std::vector<SmallRise> small;
};

/// Ends of levels: rises above what quiet points foretell. What was taken for less than a level is reported, too.
LevelEdges find_level_edges(SpanSweep& sweep, double noise, std::vector<std::string>& decisions);

}  // namespace cachetally
