// SPDX-License-Identifier: BSD-3-Clause
// Policies of L1: replacement, and whether anything is prefetched.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// LRU, tree-PLRU, FIFO, random or SRRIP: lines of one set are visited several times each in random orders, and the
/// share of misses, counted or told by the times, is compared with what each policy would miss. (ours) Refused where
/// two policies would miss alike or none would miss as was measured.
TestReport replacement_robust(Meter& meter, const L1Geometry& l1);

/// Present or absent: lines in ascending order against blocks of lines in random order, in the second level and beyond.
/// (ours)
TestReport prefetcher_robust(Meter& meter, const L1Geometry& l1);

}  // namespace cachetally
