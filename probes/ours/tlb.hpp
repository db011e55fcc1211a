// SPDX-License-Identifier: BSD-3-Clause
// The robust TLB test: levels, entries and ways of TLBs from times of paired chases.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// T(1,P) minus a chase of as many lines that are packed into few pages: what is left is what translation costs, flat
/// until the first TLB is full, so that no level of the caches can be taken for one. Ends of levels are found as in
/// levels_robust(); ways by compact sets of pages (X-Ray, 4.6), paired in the same way. (ours)
TestReport tlb_robust(Meter& meter, const L1Geometry& l1);

}  // namespace cachetally
