// SPDX-License-Identifier: BSD-3-Clause
// Where levels end in times over spans, and how much they hold where pages fill their sets unevenly.
#pragma once

#include <optional>
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

/// The first level that ends so soon after the one above it that its times may be those of that one as it overflows, as
/// some policies do by and by; 0 = none.
std::size_t close_level(const std::vector<LevelEdge>& edges);
/// Why such a one is not told from the level above it.
std::string in_words(const LevelEdge& above, const LevelEdge& close);

/// Bytes that a level holds where pages fill its sets unevenly, so that times begin to rise before it is full. Pieces
/// of pages, each of which lies in a way alone, are added one at a time to what fits, and kept where the lines added
/// take as long as those before: a line too many in a set misses at least once in a lap. What is reached when many
/// pieces in a row do not fit fills all sets. `quiet`: bytes from the begin of the arena of which most
/// fit; `inside`, `beyond`:
/// cycles of the level and of the next. Nothing where the arena has too few pieces to decide. (ours; after the
/// reduction of eviction sets by Vila, Koepf and Morales 2019, turned round)
std::optional<std::uint64_t> packed_capacity(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond);

/// Where the latency of a level is looked for: with noise at less than all of it, since an interrupt takes lines of
/// full sets, each of which costs a round of them; but only far beyond the level above, which may keep some lines.
SpanTime within_level(SpanSweep& sweep, const LevelEdge& edge, const LevelEdge& above, double noise);

/// The time of a span without what TLBs and the words of long lines change, cycles; with noise asked for several
/// times: what slows a machine down for a while does so in all trials of one time. Nothing where a second answer does
/// not agree with the least.
std::optional<double> sure_latency(SpanSweep& sweep, const SpanTime& point, double noise);

}  // namespace cachetally
