// SPDX-License-Identifier: BSD-3-Clause
// What a monitor with groups of lines gives instead of exact counts.
#pragma once

#include <cstdint>
#include <span>

#include "viewer/core/counts.hpp"

namespace cachetally {

/// Counts of lines of which each has the mean of its aligned group; by how much lines differ; the error over the lines
/// of the data, a fraction (not a number if they have no counts).
struct GroupedCounts {
    LineCounts approximate, difference;
    double error = 0;
};

/// `group`: lines; `data`: where the lines lie that the error is of.
GroupedCounts grouped(const LineCounts& exact, std::uint64_t group, std::span<const ByteRange> data);

}  // namespace cachetally
