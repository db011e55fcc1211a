// SPDX-License-Identifier: BSD-3-Clause
// X-Ray's measurements: the L1 data cache by compact sets, as published and robust; lower levels as published.
#pragma once

#include "probes/meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Capacity, ways, line, latency of L1 as in (X-Ray, 4.4, Figures 8 and 10): ordinary pages, addresses in prime steps,
/// powers of two. Whatever rises first is taken for L1.
TestReport xray_l1_published(Meter& meter);

/// The same on the largest pages that there are, in random order; where addresses lie in several pages, compared with
/// lines of the same pages that do not conflict, so that a TLB is not taken for a cache; and every answer is checked by
/// sets that must be compact and sets that must not. (ours)
TestReport xray_l1_robust(Meter& meter);

/// What later tests want to know of L1.
struct L1Geometry {
    std::uint64_t capacity = 0, line = 0;
    unsigned ways = 0;
    double latency = 0;
    std::uint64_t way() const { return capacity / ways; }
};

/// Empty where a part is missing.
std::optional<L1Geometry> l1_geometry(const TestReport& report);

/// Capacity, ways and line of L2, L3, ... (X-Ray, 4.5): Figures 8 and 10 on sets <S,n,S_old,r> on the largest pages;
/// levels above are one of capacity C_up and C_up / min(C_i / A_i) ways. A level is as large as at least twice that
/// above. Where the paper leaves open what happens if S_old is a multiple of the size of a way, the decomposed set is
/// the plain one with S_old, and counts as such.
TestReport xray_lower_published(Meter& meter, const L1Geometry& l1);

}  // namespace cachetally
