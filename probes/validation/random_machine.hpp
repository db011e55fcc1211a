// Random machines with a hierarchy as hardware has them, to score probes on.
#pragma once

#include "sim/topology/machine.hpp"

namespace cachetally {

/// Machine number `number` of a campaign: 2 to 4 cache levels, 1 or 2 TLBs; LRU, tree-PLRU, FIFO, random; neither,
/// inclusive, exclusive; identity, contiguous, random, coloured pages of 4 to 64 KiB. Each level is at least twice as
/// large and slower than the one above it, as X-Ray assumes (4.5). docs/probes.md tells the distribution.
MachineDescription random_machine(std::uint64_t seed, std::uint64_t number);

}  // namespace cachetally
