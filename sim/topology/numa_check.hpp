// What is wrong with a machine whose nodes have memories of their own (docs/numa.md).
#pragma once

#include <vector>

#include "sim/topology/topology.hpp"

namespace cachetally {

/// Complaints about nodes, homes and the interconnect; of a machine without nodes, about what says that it has some.
std::vector<Diagnostic> check_numa(const MachineDescription& machine);

}  // namespace cachetally
