// SPDX-License-Identifier: BSD-3-Clause
// Times of nano-benchmarks: repetitions that double, the least of several trials, trials that must agree, and copies
// that run side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cachetally {

/// What one statement takes.
struct Timing {
    double ns = 0;        ///< the least of the trials
    double cycle_ns = 1;  ///< of a cycle, by dependent additions before and after that trial
    double spread = 0;    ///< by which share two halves of the trials differ, in time or in cycles, whichever is more

    double cycles() const { return ns / cycle_ns; }
    friend bool operator==(const Timing&, const Timing&) = default;
};

/// Nanoseconds that so many rounds take.
using RoundsTime = std::function<double(std::uint64_t rounds)>;

/// Rounds that take at least so long: 1, 2, 4, ... (X-Ray, Figure 2.) Twice, as an interruption lengthens a few. (ours)
std::uint64_t rounds_for(const RoundsTime& time, double least_ns);

struct TrialOptions {
    double least_ns = 100'000;  ///< of a trial: the paper's 0.5 s would seldom pass without an interruption
    unsigned trials = 10;       ///< made, and made again until halves agree
    unsigned most_trials = 60;
    double tolerance = 0.01;  ///< what differs by at most this share agrees
};

/// The least of trials, each between two looks at the clock (nanoseconds per cycle), which must agree, or the trial
/// does not count. Every other trial belongs to the other half, and as long as the halves do not agree there are more;
/// the spread is 1 where a half has none. (X-Ray takes one of 0.5 s; trials and agreement are ours.) `statements`:
/// those of a round.
Timing least_time(const RoundsTime& time, const std::function<double()>& clock, std::uint64_t statements,
                  const TrialOptions& options = {});

/// A piece of time in which one of several copies ran the same code.
struct Window {
    double begin = 0, end = 0;  ///< ns
    double ns = 0;              ///< of a statement
    double cycle_ns = 1;        ///< of a cycle, next to it
    bool kept_core = true;      ///< no other thread was on its processor
};

/// Cycles of a statement by copy: the least time by the least cycle of windows through which all others ran, too: at
/// least nine tenths of each are covered by windows of the others that are undisturbed, which are those that kept their
/// core and took at most three times the copy's shortest. Empty where a copy has fewer than `least_windows` of them.
/// (ours: on a machine that does other things as well, a copy that ran alone for a while would pass for one that is not
/// slowed down)
std::optional<std::vector<double>> least_side_by_side(std::span<const std::vector<Window>> copies,
                                                      std::size_t least_windows = 3);

}  // namespace cachetally
