// SPDX-License-Identifier: BSD-3-Clause
// Attribution: which code and which data structures accesses and misses belong to (ours).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachetally/sites.hpp"
#include "monitor/causes/miss_causes.hpp"

namespace cachetally {

/// What is found out beside accesses and misses. Each may make runs slower.
struct AttributionOptions {
    bool cycles = false;      ///< Row::cycles
    bool used_bytes = false;  ///< Row::fills and Row::used
    bool cores = false;       ///< cores have rows of their own
};

/// Accesses and misses of each site in each phase.
struct Attribution {
    struct Row {
        std::uint32_t site = 0, phase = 0;
        std::uint32_t core = 0;      ///< where they are told apart
        std::uint64_t accesses = 0;  ///< of the first levels: a reference in two lines is two
        /// That references lasted longer than hits of the first levels. In picoseconds while they are added up.
        std::uint64_t cycles = 0;
        std::uint64_t fills = 0;            ///< lines of the first level of data that left, or stayed to the end
        std::uint64_t used = 0;             ///< bytes of these that were used
        std::vector<std::uint64_t> misses;  ///< of `levels`
        std::vector<CauseCounts> causes;    ///< of the misses of `caused`
        friend bool operator==(const Row&, const Row&) = default;
    };
    AttributionOptions known;                ///< what rows have
    std::string filled;                      ///< the level whose bytes are known; empty where none is
    std::uint32_t line_bytes = 0;            ///< of its lines
    std::vector<std::string> levels;         ///< caches and TLBs, as LevelLinks
    std::vector<std::string> caused;         ///< levels of which causes are known; none where these were not asked for
    std::vector<ObjectEvictions> evictions;  ///< of `caused`
    std::vector<Row> rows;                   ///< ascending by phase and site; none of zeros
    std::vector<Site> sites;                 ///< by number
    SiteNames names;

    bool empty() const { return rows.empty(); }
    /// Made where there is none.
    Row& row(std::uint32_t phase, std::uint32_t site, std::uint32_t core = 0);
};

/// What rows are put together by.
enum class Grouping : std::uint8_t { structure, field, function, line };

/// Rows of one structure, field, function or source line, over the run or one phase.
struct AttributedGroup {
    std::string name;    ///< empty: not known
    std::string module;  ///< of code; of a field, the structure
    std::uint64_t accesses = 0, cycles = 0, fills = 0, used = 0;
    std::vector<std::uint64_t> misses;
    std::vector<CauseCounts> causes;  ///< of Attribution::caused
    bool is_field = false;
    std::vector<AttributedGroup> cores;  ///< the same by core, where they are told apart; without names

    /// The name; "type.field of STRUCTURE"; or what is known, in parentheses.
    std::string text() const;
};

/// Those that lost most cycles come first, where these are known; then those with most misses of the first level that
/// has any, then those with most accesses. Structures: data references alone. Fields: of structures that have them.
/// `phase`: none for the run.
std::vector<AttributedGroup> grouped(const Attribution& attribution, Grouping by, const std::uint32_t* phase = nullptr);

}  // namespace cachetally
