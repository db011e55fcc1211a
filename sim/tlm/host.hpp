// SPDX-License-Identifier: BSD-3-Clause
// The SystemC host: runs a source through a hierarchy as engine.hpp's run() does, with the same result.
#pragma once

#include "cachetally/run.hpp"

namespace cachetally {

/// As run(hierarchy, source, options), by a CacheHierarchy, TracePlayers and TimedMemories in SystemC's simulation,
/// which a process can make once. `topology`: what the hierarchy was made of. Without a quantum players synchronise
/// after each reference. For programs with a main() of their own: SystemC's sc_main() comes with it.
RunResult run_on_systemc(const Topology& topology, Hierarchy& hierarchy, ReferenceSource& source,
                         const RunOptions& options = {});

}  // namespace cachetally
