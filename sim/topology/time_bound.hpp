// SPDX-License-Identifier: BSD-3-Clause
// How long a reference can take.
#pragma once

#include "cachetally/machine.hpp"

namespace cachetally {

/// Picoseconds that a reference takes at most where nobody waits for others: a generous bound, which says how many
/// references can be made without a look at the time.
Tick reference_at_most(const MachineDescription& machine);

}  // namespace cachetally
