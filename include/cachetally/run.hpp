// SPDX-License-Identifier: BSD-3-Clause
// The kernel-less host: takes references from a source and drives a hierarchy with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/reference_source.hpp"

namespace cachetally {

struct PhaseResult {
    HierarchyCounts counts;   ///< of this phase alone
    Tick begin = 0, end = 0;  ///< of the phase; the end is the latest core's
    std::string name;         ///< as the program says it; empty: it has none
};

struct RunResult {
    HierarchyCounts counts;
    std::vector<PhaseResult> phases;  ///< one more than there were barriers, and ends by RunOptions::phase_every
    std::vector<Tick> core_ends;      ///< picoseconds, one per core, since counting began
    bool complete = true;             ///< false when interrupted, or the source failed
    std::string failure;              ///< why, where the source failed or the time is over
    bool time_over = false;           ///< a core has come to the longest time; its end is that
    Tick quantum = 0;                 ///< picoseconds, that of the options where there were several streams

    Tick end() const;  ///< latest core end, less the core's offset
};

struct RunOptions {
    Tick quantum = 0;  ///< picoseconds; 0 = per reference. Matters with several cores only.
    /// These come first: caches and all that the machine remembers are filled by them, and nothing is counted. To
    /// listeners counting is off. What is counted then, and times, are the differences to a run that ends there.
    std::uint64_t warmup = 0;
    std::uint64_t max_references = 0;  ///< count so many, then stop; 0 = all
    /// Phases end not only at barriers, but also after so many references of all cores; 0 = at barriers alone. Cores
    /// do not meet there, the next phase keeps the name, and monitors swap out, for which all that run wait.
    std::uint64_t phase_every = 0;
    Tick longest = longest_time;  ///< simulated time, picoseconds; at most longest_time
    /// Called now and then with the number of references made so far; returning false stops the run.
    std::function<bool(std::uint64_t references)> progress;
};

/// Runs a source to its end. A source with fewer cores than the machine leaves the others idle; with more it is an
/// error (std::invalid_argument). A source that fails in the middle ends the run, and so does a core that comes to
/// the longest time: complete = false, what was counted stays.
RunResult run(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options = {});

}  // namespace cachetally
