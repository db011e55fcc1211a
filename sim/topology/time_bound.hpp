// SPDX-License-Identifier: BSD-3-Clause
// How long a run can take: simulated time is counted in picoseconds of 64 bits, which end.
#pragma once

#include "sim/model/types.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// The longest time that is simulated, in picoseconds: 53 days, a quarter of what 64 bits hold. A run ends with the
/// reference (or the control of the program) that takes a core to it, whatever host it has (streams.hpp).
inline constexpr Tick longest_time = Tick{1} << 62;

/// What is said of a run that ends so.
inline constexpr const char* time_is_over =
    "the simulated time passes 53 days, the longest that is counted in picoseconds; give the machine shorter latencies "
    "or a faster clock, or, where a monitor's ring makes cores wait, lower its 'write_cost' or 'drain_cost' or let it "
    "lose records ('overflow=drop')";

/// The sum of two times. All that is well behind longest_time is told as one time, so that nothing overflows.
constexpr Tick time_sum(Tick a, Tick b) {
    constexpr Tick most = longest_time + longest_time / 2;
    return a >= most || b >= most - a ? most : a + b;
}

/// Picoseconds that a reference takes at most where nobody waits for others: a generous bound, which tells how many
/// references can be made without a look at the time.
Tick reference_at_most(const MachineDescription& machine);

}  // namespace cachetally
