// SPDX-License-Identifier: BSD-3-Clause
// Ground truth of what levels do with stores.
#pragma once

#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/probe_test.hpp"

namespace cachetally {

/// Of each level: `write` and `write_allocate`, as in machine files. A level of victims fetches no line for a store
/// (docs/counting.md).
std::vector<Fact> behaviour_facts(const MachineDescription& machine);

}  // namespace cachetally
