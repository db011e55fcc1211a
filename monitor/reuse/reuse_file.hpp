// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances in HDF5 result files: /reuse (docs/format.md).
#pragma once

#include <vector>

#include "monitor/reuse/reuse_distances.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Nothing where there are none.
void write_reuse(Group& root, const std::vector<ReuseDistances>& reuse);

/// Empty where the file has none. Throws StorageError where it is damaged.
std::vector<ReuseDistances> read_reuse(const Group& root);

}  // namespace cachetally
