// SPDX-License-Identifier: BSD-3-Clause
// Ways, exact capacity, inclusion and replacement of the second level, by lines that meet in its sets.
#pragma once

#include "probes/ours/levels.hpp"

namespace cachetally {

/// Ways and capacity of L2 from the numbers n(s) of lines s bytes apart that stay in it: n halves as s doubles, until s
/// is as long as a way. (After X-Ray, 4.5) An exclusive level keeps as many lines more as L1 has ways, however long s
/// is, so that 2 n(2s) - n(s) is 0 or the ways of L1: this tells exclusive levels, where s is no shorter than a way of
/// L1. Inclusive or nine: whether L1 misses more if lines beside those that it keeps meet in L2 than if they do not;
/// this needs event counts. Replacement: as replacement_robust(), with L1's `l1_policy` ("" = not known) before it.
/// `levels` is what levels_robust() found. (ours)
TestReport second_level_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy,
                               const TestReport& levels);

}  // namespace cachetally
