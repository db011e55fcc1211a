// SPDX-License-Identifier: BSD-3-Clause
// Histograms in HDF5 result files: sorted columns, and pyramids for looking at them from far away.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/histogram.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `name` (NXdata) into `parent`: the columns address, span, phase, function (an index into the run's
/// functions, 2^32 - 1 = none; left out where no row has one) and count, one element per row in the order of
/// Histogram::rows(); the attributes unit_bytes and phases; and the groups of the pyramid. `map`, where there is one,
/// gives the column virtual_address.
void write_histogram(Group& parent, const std::string& name, const Histogram& histogram, const AddressMap& map = {});

/// Reads it back. Throws StorageError where columns are missing, of unequal length, or out of order.
Histogram read_histogram(const Group& parent, const std::string& name);

/// A pyramid goes up until a level has at most so many blocks.
inline constexpr std::uint64_t pyramid_blocks_enough = 256;

/// A coarse view of a histogram, all phases summed, counts for several units spread evenly over them: blocks of
/// `units` aligned units that have events, ascending.
struct PyramidLevel {
    std::uint64_t units = 0;           ///< per block: 16, 256, ...
    std::vector<Address> address;      ///< of the first byte of each block
    std::vector<double> least, most;   ///< events per unit, over the units of the block that have events
    std::vector<double> sum;           ///< events of the block
    std::vector<std::uint32_t> lines;  ///< units of the block that have events
};

/// Levels of 16, 256, ... units until one has at most 256 blocks; none for a histogram of at most 256 units.
std::vector<PyramidLevel> pyramid_of(const Histogram& histogram);

/// Reads the pyramid of a histogram that write_histogram wrote. Throws StorageError.
std::vector<PyramidLevel> read_pyramid(const Group& parent, const std::string& name);

}  // namespace cachetally
