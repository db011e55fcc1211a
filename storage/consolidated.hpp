// SPDX-License-Identifier: BSD-3-Clause
// Metadata of a whole file in one dataset, so that a reader need not open each object.
#pragma once

#include "storage/group.hpp"

namespace cachetally {

/// Writes the root's dataset /consolidated_metadata (docs/format.md): attributes, members and shapes of all objects but
/// /provenance, in which equal runs differ. Nothing may be changed after that. Throws StorageError.
void consolidate_metadata(Group& root);

}  // namespace cachetally
