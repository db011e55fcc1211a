// SPDX-License-Identifier: BSD-3-Clause
// Attribution in HDF5 result files (docs/format.md, "Attribution").
#pragma once

#include "monitor/attribution/attribution.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `attribution` into the root; nothing where it is empty.
void write_attribution(Group& root, const Attribution& attribution);

/// Empty where the file has none. Throws StorageError.
Attribution read_attribution(const Group& root);

/// Throws StorageError where no machine has this core, so that nobody makes room for four billion.
void require_core(const Group& group, std::uint32_t core);

}  // namespace cachetally
