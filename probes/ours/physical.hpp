// SPDX-License-Identifier: BSD-3-Clause
// The second level without large pages: eviction sets by group testing, capacity by how pages fill sets.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// On ordinary pages, which may lie anywhere, lines at the same offset of their pages meet in one set of L1 and in any
/// of the sets of L2 that the rest of the address chooses. A set of lines that does not fit is reduced by group testing
/// to one from which no line can be spared: one more than a set has ways. (Vila, Koepf, Morales 2019, "Theory and
/// Practice of Finding Eviction Sets") If no line beside them stays when one is left out, lines of L1 are counted, too:
/// the level is exclusive. The capacity follows from how many pages fit, trial by trial (estimate_colours()). Misses
/// are counted; without event counts, refused.
/// Refused, too, where L1 keeps some of many lines for good, as pseudo-LRU and random ones do.
TestReport physical_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy);

}  // namespace cachetally
