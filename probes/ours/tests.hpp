// SPDX-License-Identifier: BSD-3-Clause
// The robust tests of our own.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// Chases of lines far apart (as far as the ways of L1 allow, so that they are few), page by page on the largest pages,
/// in random order within each. A level ends where times rise above what the last quiet points foretell: these lie on a
/// line or on a curve that bends down, as caches with random replacement make. Each end is bisected, with the least
/// rise that can be seen and with a clear one: the interval between them holds the capacity. (ours; after Cooper and Xu
/// 2018, 3.3)
TestReport levels_robust(Meter& meter, const L1Geometry& l1);

/// The same times, cut by change points: isotonic log times, PELT. A capacity lies between two points of the sweep, as
/// nothing is bisected. (ours) Kept to be compared with levels_robust().
TestReport change_points_robust(Meter& meter, const L1Geometry& l1);

/// T(1,P) minus a chase of as many lines that are packed into few pages: what is left is what translation costs, flat
/// until the first TLB is full, so that no level of the caches can be taken for one. Ends of levels are found as in
/// levels_robust(); ways by compact sets of pages (X-Ray, 4.6), paired in the same way. (ours)
TestReport tlb_robust(Meter& meter, const L1Geometry& l1);

/// LRU, tree-PLRU, FIFO, random or SRRIP: lines of one set are visited several times each in random orders, and the
/// share of misses, counted or seen in the times, is compared with what each policy would miss. (ours) Refused where
/// two policies would miss alike or none would miss as was measured.
TestReport replacement_robust(Meter& meter, const L1Geometry& l1);

/// Present or absent: lines in ascending order against blocks of lines in random order, in the second level and beyond.
/// (ours)
TestReport prefetcher_robust(Meter& meter, const L1Geometry& l1);

/// Ways and capacity of L2 from the numbers n(s) of lines s bytes apart that stay in it: n halves as s doubles, until s
/// is as long as a way. (After X-Ray, 4.5) An exclusive level keeps as many lines more as L1 has ways, however long s
/// is, so that 2 n(2s) - n(s) is 0 or the ways of L1: this shows exclusive levels, where s is no shorter than a way of
/// L1. Inclusive or neither: whether L1 misses more if lines beside those that it keeps meet in L2 than if they do not;
/// this needs event counts. Replacement: as replacement_robust(), with L1's `l1_policy` ("" = not known) before it.
/// `levels` is what levels_robust() found. (ours)
TestReport second_level_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy,
                               const TestReport& levels);

/// On ordinary pages, which may lie anywhere, lines at the same offset of their pages meet in one set of L1 and in any
/// of the sets of L2 that the rest of the address chooses. A set of lines that does not fit is reduced by group testing
/// to one from which no line can be spared: one more than a set has ways. (Vila, Koepf, Morales 2019, "Theory and
/// Practice of Finding Eviction Sets") If no line beside them stays when one is left out, lines of L1 are counted, too:
/// the level is exclusive. The capacity follows from how many pages fit, trial by trial (estimate_colours()). Misses
/// are counted; without event counts, refused.
/// Refused, too, where L1 keeps some of many lines for good, as pseudo-LRU and random ones do.
TestReport physical_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy);

}  // namespace cachetally
