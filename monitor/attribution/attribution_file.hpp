// SPDX-License-Identifier: BSD-3-Clause
// Attribution in HDF5 result files (docs/format.md, "Attribution").
#pragma once

#include "cachetally/reference_source.hpp"
#include "monitor/attribution/attribution.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes the group `attribution` into the root; nothing where it is empty.
void write_attribution(Group& root, const Attribution& attribution);

/// Blocks of allocations whose memory nothing else had, in the order of the file: names, addresses, no elements.
std::vector<Region> read_heap_blocks(const Group& root);

/// Empty where the file has none. Throws StorageError.
Attribution read_attribution(const Group& root);

/// Throws StorageError where no machine has this core, so that nobody makes room for four billion.
void require_core(const Group& group, std::uint32_t core);

}  // namespace cachetally
