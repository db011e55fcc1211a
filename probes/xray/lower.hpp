// SPDX-License-Identifier: BSD-3-Clause
// X-Ray's measurement of lower cache levels by decomposed strides.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// Capacity, ways and line of L2, L3, ... (X-Ray, 4.5): Figures 8 and 10 on sets <S,n,S_old,r> on the largest pages;
/// levels above are one of capacity C_up and C_up / min(C_i / A_i) ways. A level is as large as at least twice that
/// above. Where the paper leaves open what happens if S_old is a multiple of the size of a way, the decomposed set is
/// the plain one with S_old, and counts as such.
TestReport xray_lower_published(Meter& meter, const L1Geometry& l1);

}  // namespace cachetally
