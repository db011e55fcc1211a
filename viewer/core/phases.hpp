// SPDX-License-Identifier: BSD-3-Clause
// In which phases most of the misses are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cachetally {

/// Misses and accesses (0: not known) by phase, and the number of each phase's name. Phases of one name count together,
/// as a step that a loop repeats, unless all have it.
struct PhaseCounts {
    std::span<const double> misses, accesses;
    std::span<const std::uint32_t> name;
};

struct PhaseBounds {
    double alike;       ///< of the count of the worst: others are as bad
    double stands_out;  ///< times the mean of all: it is worst
    double majority;    ///< of all misses: what has more is worst, whatever its miss rate
};

/// Phases rise.
struct WorstPhases {
    bool several = false;               ///< there is more than one to choose from
    std::vector<std::uint32_t> phases;  ///< empty: none stands out, or none misses
    std::vector<std::uint32_t> peaks;   ///< of several `phases` those that stand out among them, at most eight
    std::vector<std::uint32_t> others;  ///< that stand out, too: with more misses at a lower miss rate, or the reverse
    bool others_higher = false;         ///< their rate
};

/// Of `chosen` phases that are accessed the steps with most misses if they have the majority; else those with most
/// among the steps that miss about as often as all of these together, or oftener, if one of these stands out; else of
/// all, if one does; else all that are accessed, if at least as many others are not. Phases with less than the mean are
/// left out, unless all have less.
WorstPhases worst_phases(std::span<const std::uint32_t> chosen, const PhaseCounts& counts, const PhaseBounds& bounds);

}  // namespace cachetally
