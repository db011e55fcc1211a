// SPDX-License-Identifier: BSD-3-Clause
// CoreClock: real time in cycles of the core, by chains of instructions whose latency is known.
#pragma once

#include <cstdint>

namespace cachetally {

/// Nanoseconds of a clock that never goes back.
std::uint64_t now_ns();

/// Nanoseconds that a chain of so many dependent additions of registers takes: one cycle each on every core of today.
/// (Not of an immediate, which some cores remove.)
double additions_ns(unsigned additions);

/// Cycles that a multiplication takes by one such chain beside one of multiplications.
double multiplication_cycles();

/// What the clock of this core is worth.
struct ClockRate {
    double cycle_ns = 0;        ///< by additions
    double multiplication = 0;  ///< cycles that one takes: a whole number if the two chains agree
    double read_cycles = 0;     ///< that reading the clock twice takes

    /// Whether `multiplication` is a whole number, but for 2 %.
    bool agrees() const;
};

/// The least of many trials: interruptions only lengthen. (Cooper and Xu 2018, 3.1)
ClockRate measure_clock();

/// Measured again while it is just changing. Throws ProbeError where it cannot be told, or the processor is neither
/// x86-64 nor arm64.
ClockRate settled_clock();

}  // namespace cachetally
