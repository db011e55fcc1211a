// SPDX-License-Identifier: BSD-3-Clause
// The robust multi-level test: levels, capacities and latencies of all caches from times of chases.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// Chases of lines far apart (as far as the ways of L1 allow, so that they are few), page by page on the largest pages,
/// in random order within each. A level ends where times rise above what the last quiet points foretell: these lie on a
/// line or on a curve that bends down, as caches with random replacement make. Each end is bisected, with the least
/// rise that can be told and with a clear one: the interval between them holds the capacity. (ours; after Cooper and Xu
/// 2018, 3.3)
TestReport levels_robust(Meter& meter, const L1Geometry& l1);

/// The same times, cut by change points: isotonic log times, PELT. A capacity lies between two points of the sweep, as
/// nothing is bisected. (ours) Kept to be compared with levels_robust().
TestReport change_points_robust(Meter& meter, const L1Geometry& l1);

}  // namespace cachetally
