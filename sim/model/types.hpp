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

}  // namespace cachetally
