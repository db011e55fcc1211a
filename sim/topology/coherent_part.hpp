// SPDX-License-Identifier: BSD-3-Clause
// Which caches of a machine are kept coherent, and where (docs/coherence.md).
#pragma once

#include <string>
#include <vector>

#include "cachetally/topology.hpp"

namespace cachetally {

struct CoherentPart {
    std::vector<std::size_t> caches;  ///< of which there is a copy per node, in the order of the machine description
    std::vector<std::size_t> below;   ///< the point of coherence, where it is a cache, and those below it
    std::string point;                ///< the component below all of them
    unsigned nodes = 0;               ///< node n has the copies number n, and the cores that these serve
};

/// Of a machine that keeps caches coherent and is valid.
CoherentPart coherent_part(const MachineDescription& machine);

/// True where caches that cores may share belong to all the cores there are, as where one core is left of several:
/// coherence then has nothing to do.
bool is_one_node(const MachineDescription& machine);

/// What is wrong with the coherence of a machine whose components and graph are good.
std::vector<Diagnostic> check_coherence(const MachineDescription& machine);

}  // namespace cachetally
