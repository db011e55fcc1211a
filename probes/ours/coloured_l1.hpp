// SPDX-License-Identifier: BSD-3-Clause
// The geometry of an L1 whose sets are chosen by more of the physical address than a page keeps: which lines meet
// depends on where their pages lie.
#pragma once

#include <string>
#include <vector>

#include "probes/ours/hashed_l1.hpp"

namespace cachetally {

/// Ways: of lines that begin pages, the least number that does not stay, less one, by leaving out groups. Colours:
/// pages whose lines meet; each page has one of them, until so many in a row had known ones that no further is to be
/// expected. Capacity: a page for each way of each colour, as no line meets those of a colour at another offset; half
/// of it stays. Line: the least shift by which the line of a page no longer meets those of its colour. Twice, on pages
/// placed anew. Each step is added to `decisions`. (ours; groups after Vila, Koepf, Morales 2019, "Theory and Practice
/// of Finding Eviction Sets")
FoundL1 coloured_l1(CompactTest& compact, std::vector<std::string>& decisions);

}  // namespace cachetally
