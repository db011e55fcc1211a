// What makes a machine description impossible, beyond its graph.
#pragma once

#include <vector>

#include "sim/topology/topology.hpp"

namespace cachetally {

/// Geometry, policies and page sizes of every component by itself.
std::vector<Diagnostic> check_components(const MachineDescription& machine);

/// What components demand of those above and below them. The names that `next` and `through` give must be known.
std::vector<Diagnostic> check_neighbours(const MachineDescription& machine);

}  // namespace cachetally
