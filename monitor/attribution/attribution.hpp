// SPDX-License-Identifier: BSD-3-Clause
// Attribution: which code and which data structures accesses and misses belong to (ours).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachetally/sites.hpp"
#include "monitor/causes/miss_causes.hpp"

namespace cachetally {

/// Accesses and misses of each site in each phase.
struct Attribution {
    struct Row {
        std::uint32_t site = 0, phase = 0;
        std::uint64_t accesses = 0;         ///< of the first levels: a reference in two lines is two
        std::vector<std::uint64_t> misses;  ///< of `levels`
        std::vector<CauseCounts> causes;    ///< of the misses of `caused`
        friend bool operator==(const Row&, const Row&) = default;
    };
    std::vector<std::string> levels;         ///< caches and TLBs, as LevelLinks
    std::vector<std::string> caused;         ///< levels of which causes are known; none where these were not asked for
    std::vector<ObjectEvictions> evictions;  ///< of `caused`
    std::vector<Row> rows;                   ///< ascending by phase and site; none of zeros
    std::vector<Site> sites;                 ///< by number
    SiteNames names;

    bool empty() const { return rows.empty(); }
    /// Made where there is none.
    Row& row(std::uint32_t phase, std::uint32_t site);
};

/// What rows are put together by.
enum class Grouping : std::uint8_t { structure, function, line };

/// Rows of one structure, function or source line, over the run or one phase.
struct AttributedGroup {
    std::string name, module;  ///< an empty name: not known
    std::uint64_t accesses = 0;
    std::vector<std::uint64_t> misses;
    std::vector<CauseCounts> causes;  ///< of Attribution::caused

    /// The name; or what is known, in parentheses.
    std::string text() const;
};

/// Those with most misses of the first level that has any come first, then those with most accesses. Structures: data
/// references alone. `phase`: none for the run.
std::vector<AttributedGroup> grouped(const Attribution& attribution, Grouping by, const std::uint32_t* phase = nullptr);

}  // namespace cachetally
