// SPDX-License-Identifier: BSD-3-Clause
// Misses of coherent caches by what other cores stored: true and false sharing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// Misses of one level on one line that another node's store had invalidated, as Dubois et al. 1993, "The detection and
/// elimination of useless misses in multiprocessors", tell them apart: true sharing where the node uses, before it
/// loses the line again, a byte that another one stored since its last essential miss; else false sharing.
struct SharingRow {
    std::uint32_t level = 0, phase = 0;
    Address line = 0;                        ///< the program's
    std::uint32_t core = 0, site = 0;        ///< of the reference that misses
    std::uint32_t by_core = 0, by_site = 0;  ///< of the store that invalidated the line
    std::uint64_t true_sharing = 0, false_sharing = 0;
    friend bool operator==(const SharingRow&, const SharingRow&) = default;
};

/// Of the run; misses that are no such, as inclusive levels make them, are in neither.
struct Sharing {
    std::vector<std::string> levels;
    std::uint32_t line_bytes = 0;
    std::vector<SharingRow> rows;  ///< ascending by all but the counts
    bool empty() const { return levels.empty(); }
    friend bool operator==(const Sharing&, const Sharing&) = default;
};

}  // namespace cachetally
