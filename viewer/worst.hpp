// SPDX-License-Identifier: BSD-3-Clause
// What is worst at a level: the structure with most of its misses, why and when it misses, what evicts it. The answer
// and the remedy speak of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/core/phases.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {

/// The largest of several counts, the first of equal ones; and what it is a part of.
struct Part {
    std::size_t index = 0;
    double count = 0, of = 0;
};

template <class Counts>
std::optional<Part> largest(const Counts& counts) {
    Part part;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto count = static_cast<double>(counts[i]);
        part.of += count;
        if (count > part.count) part.index = i, part.count = count;
    }
    return part.count > 0 ? std::optional(part) : std::nullopt;
}

/// Loads, stores and fetches of a cache or TLB.
struct LevelTotals {
    std::uint64_t accesses = 0, misses = 0;
};

/// Of no level: zeros.
LevelTotals totals_of(const ComponentNames& names, const HierarchyCounts& counts, const std::string& level);

/// When most of the misses are.
struct WorstTimes {
    WorstPhases in;
    bool all = false;                  ///< no other phases miss
    double in_others = 0;              ///< what the others have of the misses
    std::optional<Part> cause;         ///< in the worst phases, where it is not that of all together
    std::optional<Part> others_cause;  ///< the same of the others
};

/// As far as it is known.
struct Worst {
    std::string structure;              ///< empty: not known
    std::optional<double> accesses;     ///< to the structure; nothing: not known
    std::optional<Part> part;           ///< what the structure has of the misses
    std::optional<Part> cause;          ///< of the structure's misses (MissCause)
    std::optional<WorstTimes> times;    ///< nothing: there is but one phase, or none misses
    std::string evictor;                ///< of most of the structure's lines; empty: not known
    std::optional<double> false_share;  ///< false sharing, of what is true or false sharing of the structure
};

/// `structure`: the one that it is about, though others may be worse; empty: the one with most misses.
Worst worst_of(const RunView& view, const std::string& level, const std::string& structure = "");

/// Two decimals, or two digits of what is less than 0.1; halves are rounded up; only all is "100.00 %". As percent() of
/// the page.
std::string percentage(double fraction);

}  // namespace cachetally
