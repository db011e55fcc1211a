// SPDX-License-Identifier: BSD-3-Clause
// What listeners found, in HDF5 (docs/format.md, "Listeners").
#pragma once

#include <vector>

#include "monitor/listeners/listener.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// The group `listeners` of the root; nothing without listeners.
void write_listeners(Group& root, const std::vector<ListenerResult>& listeners);
/// Empty if the file has none; rows have no order of their own. Throws StorageError.
std::vector<ListenerResult> read_listeners(const Group& root);

}  // namespace cachetally
