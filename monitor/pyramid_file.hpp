// SPDX-License-Identifier: BSD-3-Clause
// Pyramids in HDF5 (docs/format.md): lines from far away, in blocks of 16, 256, ... of them.
#pragma once

#include <string>
#include <vector>

#include "monitor/histogram.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// A number of each unit, and the columns for its sum (empty: none), least and most in a block.
struct PyramidNumber {
    std::string sum, least, most;
    std::vector<double> of_units;
};

/// Writes the group `pyramid`: levels up to one of at most 256 blocks; nothing for so few units. `units`: their first
/// bytes, ascending. The first number is shown, with `beside`.
void write_pyramid(Group& group, const std::vector<Address>& units, std::uint32_t unit_bytes,
                   const std::vector<PyramidNumber>& numbers, const std::vector<std::string>& beside);

}  // namespace cachetally
