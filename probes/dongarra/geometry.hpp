// SPDX-License-Identifier: BSD-3-Clause
// Geometry of a cache or TLB from counts of its misses: sizes, blocks, and locations that fit a set.
#pragma once

#include "cachetally/probe_meter.hpp"

namespace cachetally {

inline constexpr std::uint64_t array_element = 8;  ///< bytes
/// Of pages of so many bytes so few lines of tables are loaded that they count for nothing.
inline constexpr std::uint64_t few_translations = std::uint64_t{1} << 20;

/// A cache or TLB whose misses are counted.
struct CountedLevel {
    bool robust = false, tlb = false;
    unsigned level = 0;             ///< of caches, or of TLBs, from 0
    std::uint64_t step = 0;         ///< bytes by which arrays grow
    std::uint64_t least_block = 0;  ///< bytes
};

struct CountedGeometry {
    std::uint64_t capacity = 0, block = 0, ways = 0;
    double low = 0, high = 0;  ///< bytes that the capacity lies between
    bool uneven = false;       ///< misses depend on where pages lie
    bool all_arrive = true;    ///< of an array of this capacity: the level above keeps no line
    bool walks = false;        ///< small pages where the level ends are too many for all TLBs: page tables are loaded
    bool ways_confirmed = false;
    bool fetches_next = false;  ///< blocks come with those before them
    std::uint64_t line = 0;     ///< bytes that have a tag; 0 = not known. Robust, of caches
};

/// papi_cacheSize, then papi_cacheBlock. 0 = no clear edge within the arena. `name` is for the decision.
CountedGeometry measure_geometry(Meter& meter, const CountedLevel& level, const std::string& name,
                                 std::vector<std::string>& decisions);

}  // namespace cachetally
