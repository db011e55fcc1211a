// SPDX-License-Identifier: BSD-3-Clause
// The geometry of an L1 whose sets are chosen by a hash of the address, so that no stride makes lines meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/xray/compact_test.hpp"

namespace cachetally {

struct FoundL1 {
    std::uint64_t capacity = 0, line = 0;  ///< bytes
    unsigned ways = 0;
    std::string why_not = {};  ///< not empty: the reason why it is none
};

/// Capacity: the longest contiguous span that stays. Line: beyond it, every other location of a longer span stays, as
/// a hash spreads those over all sets. Ways: lines of the span that one more line meets, by leaving out groups; with
/// it they are one too many, and without any of them all stay. Refused where these lie at multiples of a way: then
/// nothing is hashed. Each step is added to `decisions`. (ours; groups after Vila, Koepf, Morales 2019, "Theory and
/// Practice of Finding Eviction Sets")
FoundL1 hashed_l1(CompactTest& compact, std::vector<std::string>& decisions);

}  // namespace cachetally
