// SPDX-License-Identifier: BSD-3-Clause
// Histograms in HDF5 result files: sorted columns, and pyramids for looking at them from far away (docs/format.md).
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

/// Writes the group `name` (NXdata) into `parent`: the columns address, span, phase, function (an index into the run's
/// functions, 2^32 - 1 = none; left out where no row has one) and count, one element per row in the order of
/// Histogram::rows(); the attributes unit_bytes and phases; and the groups of the pyramid. `map`, where there is one,
/// gives the column virtual_address.
void write_histogram(Group& parent, const std::string& name, const Histogram& histogram, const AddressMap& map = {});

/// Reads it back. Throws StorageError where columns are missing, of unequal length, or out of order.
Histogram read_histogram(const Group& parent, const std::string& name);

}  // namespace cachetally
