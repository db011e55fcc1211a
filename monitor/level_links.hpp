// SPDX-License-Identifier: BSD-3-Clause
// Which links tell what a cache or TLB was asked for, and what it missed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cachetally/event.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {

/// Demand requests: loads, stores and fetches. A set of event kinds, by bit().
inline constexpr std::uint32_t demand_kinds = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);

/// Events of some kinds on a link.
struct LinkKinds {
    std::size_t link = 0;
    std::uint32_t kinds = 0;

    friend bool operator<(const LinkKinds& a, const LinkKinds& b) {
        return std::pair(a.link, a.kinds) < std::pair(b.link, b.kinds);
    }
};

/// A level, and where its demand requests (`above`) and its misses (`below`) are seen.
struct LevelLinks {
    std::string name;
    bool tlb = false;
    std::vector<LinkKinds> above, below;
    std::uint32_t line_bytes = 0;  ///< 0 of a TLB
};

/// The levels of data and instructions, caches before TLBs, as the machine file has them. Left out are levels of which
/// no link tells what they miss: caches that pass all stores on without allocating lines, caches that fetch lines for
/// write-backs from above, and the point of coherence, whose links also carry what other nodes supply. What a
/// write-through level passes on is no miss. (ours)
std::vector<LevelLinks> level_links(const Topology& topology);

}  // namespace cachetally
