// SPDX-License-Identifier: BSD-3-Clause
// Two processors of the machine that the program runs on, hand in hand: lines that move, and chases after each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "probes/target.hpp"

namespace cachetally {

/// Says which of them there are, or why there are no two.
void offer_processors(Capabilities& can, const std::vector<unsigned>& permitted);

/// How a native target times loads.
struct NativeClock {
    std::function<double(void**& at, std::uint64_t loads)> loads_ns;  ///< also moves `at` on
    double read_ns = 0;                                               ///< that reading the clock adds
    std::function<void()> look;               ///< throws where the budget is spent; asked every half millisecond
    std::uint64_t patience_ns = 250'000'000;  ///< for a processor that others keep
};

/// What one question gave, and how many loads it made.
struct CoresAnswer {
    Measurement measurement;
    std::uint64_t loads = 0;
};

/// The calling thread times the chase; it moves to that processor meanwhile. A thread of its own, on the other
/// processor, does the rest. Rounds in which one of them lost its processor, or the clock changed by more than 2 %, are
/// made again, at most three times as many. Throws ProbeError where a processor is not given to the thread for as
/// long as patience lasts.
CoresAnswer native_transfer(const NativeClock& clock, const Arena& arena, unsigned from, const ChaseOn& to,
                            unsigned rounds);
CoresAnswer native_run_after(const NativeClock& clock, const Arena& arena, const ChaseOn& one, const ChaseOn& other,
                             unsigned rounds);

}  // namespace cachetally
