// SPDX-License-Identifier: BSD-3-Clause
// What evicts what, by objects of programs, in HDF5 result files (docs/format.md, "Attribution").
#pragma once

#include <string>
#include <vector>

#include "monitor/causes/miss_causes.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `evictions`; nothing where there are no levels.
void write_object_evictions(Group& attribution, const std::vector<ObjectEvictions>& levels,
                            const std::vector<std::string>& objects);

/// Empty where the file has none. `objects`: how many there are. Throws StorageError.
std::vector<ObjectEvictions> read_object_evictions(const Group& attribution, std::size_t objects);

}  // namespace cachetally
