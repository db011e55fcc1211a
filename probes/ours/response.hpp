// SPDX-License-Identifier: BSD-3-Clause
// The strings of response curves: what is run at which sizes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/probe_strings.hpp"

namespace cachetally {

/// One curve of the test `response`.
struct ResponseKind {
    std::string name, x_name, x_unit;
    bool large_pages;    ///< else ordinary ones, on several placements
    std::uint64_t most;  ///< largest x
    std::uint64_t least;
    /// The string of a size on such pages, and the bytes of the arena that it needs.
    Offsets (*string)(std::uint64_t size, std::uint64_t page, std::uint64_t seed);
    std::uint64_t (*arena_bytes)(std::uint64_t size, std::uint64_t page);
};

std::span<const ResponseKind> response_kinds();

/// Laps that are timed of a string; one more is made before.
unsigned response_laps(const Offsets& string);

}  // namespace cachetally
