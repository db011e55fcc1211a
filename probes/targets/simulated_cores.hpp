// SPDX-License-Identifier: BSD-3-Clause
// Questions of several processors to a simulated machine.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cachetally/topology.hpp"
#include "probes/target.hpp"

namespace cachetally {

/// A machine with a second core that shares the last cache, where there is one core.
void add_core(MachineDescription& machine);

/// Says which cores there are, or why there are no two; and whether lines move between them.
void offer_cores(Capabilities& can, const MachineDescription& machine, bool second_core_disturbs);

/// What may be spent in all, in cycles of the machine, and what is called before each round and may throw.
struct RoundLimits {
    double cycles = 0;
    std::function<void()> look;
};

/// Rounds that were simulated.
struct CoreRounds {
    std::vector<double> cycles;  ///< of the loads that are timed, by round
    std::uint64_t loads = 0;     ///< of all, also those that are not timed
    double all_cycles = 0;
    bool complete = true;  ///< false: the limit was reached
};

/// As ProbeTarget::transfer() and ProbeTarget::run_after() say; placed by `placed`, a machine with the arena's pages.
CoreRounds simulated_transfer(const Topology& placed, const Arena& arena, unsigned from, const ChaseOn& to,
                              unsigned rounds, const RoundLimits& limits);
CoreRounds simulated_run_after(const Topology& placed, const Arena& arena, const ChaseOn& one, const ChaseOn& other,
                               unsigned rounds, const RoundLimits& limits);

}  // namespace cachetally
