// SPDX-License-Identifier: BSD-3-Clause
// How many of the host's processors this process may use.
#pragma once

namespace cachetally {

/// At least 1. Fewer than the host has if the process is bound to some (taskset, control groups' cpusets).
unsigned usable_processors();

}  // namespace cachetally
