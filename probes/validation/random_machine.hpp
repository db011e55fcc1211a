// SPDX-License-Identifier: BSD-3-Clause
// Random machines with a hierarchy as hardware has them, to score probes on.
#pragma once

#include "cachetally/machine.hpp"

namespace cachetally {

/// What random machines are drawn from.
enum class Population : std::uint8_t {
    usual,   ///< L1 virtually indexed; no hashed sets, bits for a policy, or prefetchers; large pages everywhere
    wide,    ///< the same machines, some of which have these, or small pages only, times on links, or several cores
    modern,  ///< the same machines, some of which have what today's have besides: docs/probes.md
};

struct RandomMachine {
    MachineDescription machine;
    bool small_pages = false;  ///< it has no pages but its own
};

/// Machine number `number` of a campaign: 2 to 4 cache levels, 1 or 2 TLBs; LRU, tree-PLRU, FIFO, random; neither,
/// inclusive, exclusive; identity, contiguous, random, coloured pages of 4 to 64 KiB. Each level is at least twice as
/// large and slower than the one above it, as X-Ray assumes (4.5). docs/probes.md has the distribution.
RandomMachine random_machine(std::uint64_t seed, std::uint64_t number, Population population);

/// A usual one.
MachineDescription random_machine(std::uint64_t seed, std::uint64_t number);

std::vector<std::string> population_names();
/// Throws std::invalid_argument for other names.
Population population_named(const std::string& name);

}  // namespace cachetally
