// SPDX-License-Identifier: BSD-3-Clause
// Causes of misses, and what evicts what, in HDF5 result files (docs/format.md, "Causes of misses").
#pragma once

#include <vector>

#include "monitor/causes/miss_causes.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `causes` into the root; nothing where there are no levels.
void write_causes(Group& root, const std::vector<LevelCauses>& levels);

/// Empty where the file has none. `structures`: how many regions /structures has. Throws StorageError.
std::vector<LevelCauses> read_causes(const Group& root, std::size_t structures);

}  // namespace cachetally
