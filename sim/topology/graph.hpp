// SPDX-License-Identifier: BSD-3-Clause
// The graph of a machine: its vertices and edges, and what is wrong with names, ways down, and loops.
#pragma once

#include <vector>

#include "cachetally/topology.hpp"

namespace cachetally {

/// Builds the graph of a machine that has at least one core and one memory. Vertex 0 is the core. What is wrong is
/// added to `diagnostics`; where nothing was added the graph has no loops, and the core reaches all of it.
Topology::Graph build_graph(const MachineDescription& machine, std::vector<Diagnostic>& diagnostics);

}  // namespace cachetally
