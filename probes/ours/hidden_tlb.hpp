// SPDX-License-Identifier: BSD-3-Clause
// A TLB that holds all pages of an arena, so that no number of them makes it miss.
#pragma once

#include "probes/meter.hpp"

namespace cachetally {

/// Whether loads on pages that were never used take longer than those on pages that were, where a TLB of `entries`
/// pages has lost these (0: where no TLB is known): then a further TLB keeps them. Table entries are in the caches in
/// both cases. False where the arena has too few pages to decide. (ours)
bool more_tlbs_hold_all(Meter& meter, std::uint64_t entries);

}  // namespace cachetally
