// How long a run can have taken: simulated time is counted in picoseconds of 64 bits, which end.
#pragma once

#include "sim/model/counts.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// The longest time that is simulated, in picoseconds: 53 days, a quarter of what 64 bits hold.
inline constexpr Tick longest_time = Tick{1} << 62;

/// Picoseconds that all accesses together took at most, without what monitors make a core wait: no core's time is
/// later.
double time_at_most(const MachineDescription& machine, const HierarchyCounts& counts);

/// Throws std::runtime_error where a run with these counts can have passed longest_time. Times are right as long as it
/// is asked every 2^20 references or so: a latency is at most 1 ms.
void check_time(const MachineDescription& machine, const HierarchyCounts& counts);

}  // namespace cachetally
