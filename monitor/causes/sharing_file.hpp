// SPDX-License-Identifier: BSD-3-Clause
// True and false sharing in HDF5 result files (docs/format.md, "Sharing and cores").
#pragma once

#include "monitor/causes/sharing.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `sharing` into the root; nothing where it is empty.
void write_sharing(Group& root, const Sharing& sharing);

/// Empty where the file has none. Throws StorageError.
Sharing read_sharing(const Group& root);

}  // namespace cachetally
