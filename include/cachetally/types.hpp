// SPDX-License-Identifier: BSD-3-Clause
// Basic quantities of the simulation. Strong enough names to read, plain integers to compute with.
#pragma once

#include <bit>
#include <cstdint>

namespace cachetally {

/// A byte address, virtual or physical; which of the two is said where it is used.
using Address = std::uint64_t;

/// Simulated time in integer picoseconds.
using Tick = std::uint64_t;

constexpr bool is_power_of_two(std::uint64_t value) { return std::has_single_bit(value); }

/// Base-2 logarithm of a power of two.
constexpr unsigned log2_exact(std::uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

/// First address of the block of `size` bytes (a power of two) that holds `address`.
constexpr Address align_down(Address address, std::uint64_t size) { return address & ~(size - 1); }

constexpr std::uint64_t divide_round_up(std::uint64_t value, std::uint64_t divisor) {
    return (value + divisor - 1) / divisor;
}

/// The longest time that is simulated, in picoseconds: 53 days, a quarter of what 64 bits hold. A run ends with the
/// reference (or the control of the program) that takes a core to it, whatever host it has (streams.hpp).
inline constexpr Tick longest_time = Tick{1} << 62;

/// What is said of a run that ends so.
inline constexpr const char* time_is_over =
    "the simulated time passes 53 days, the longest that is counted in picoseconds; give the machine shorter latencies "
    "or a faster clock, or, where a monitor's ring makes cores wait, lower its 'write_cost' or 'drain_cost' or let it "
    "lose records ('overflow=drop')";

/// The sum of two times. All that is well behind longest_time is one time, so that nothing overflows.
constexpr Tick time_sum(Tick a, Tick b) {
    constexpr Tick most = longest_time + longest_time / 2;
    return a >= most || b >= most - a ? most : a + b;
}

}  // namespace cachetally
