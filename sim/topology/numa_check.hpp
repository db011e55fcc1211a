// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a machine whose nodes have memories of their own (docs/numa.md), and what leaves them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cachetally/topology.hpp"

namespace cachetally {

/// Complaints about nodes, homes and the interconnect; of a machine without nodes, about what says that it has some.
std::vector<Diagnostic> check_numa(const MachineDescription& machine);

/// Bytes of the longest line of the caches that lead to a component, such as numa_name; 0: none does.
std::uint32_t longest_line_to(const MachineDescription& machine, std::string_view component);

}  // namespace cachetally
