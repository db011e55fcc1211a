// SPDX-License-Identifier: BSD-3-Clause
// Why requests miss a cache, and what evicts what in it: by data structure and phase.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// Why a load, store or fetch misses. Cold, capacity and conflict misses are those of Hill and Smith 1989, "Evaluating
/// Associativity in CPU Caches", but decided miss by miss instead of by differences of sums (ours), so that none is
/// negative.
enum class MissCause : std::uint8_t {
    first_use,    ///< this copy of the cache never held the line (cold, compulsory)
    invalidated,  ///< the line was invalidated last: by an inclusive level below, or by another core's store
    capacity,     ///< replaced, and its LRU stack distance is at least the number of lines of the cache
    conflict,     ///< replaced, though its stack distance is less
};
inline constexpr unsigned miss_cause_count = 4;

/// As in result files.
inline constexpr const char* miss_cause_names[miss_cause_count] = {"first_use", "invalidated", "capacity", "conflict"};
constexpr const char* to_string(MissCause cause) { return miss_cause_names[static_cast<unsigned>(cause)]; }

/// By the name in result files.
constexpr std::optional<MissCause> cause_named(std::string_view name) {
    for (unsigned cause = 0; cause < miss_cause_count; ++cause)
        if (name == to_string(MissCause(cause))) return MissCause(cause);
    return std::nullopt;
}

using CauseCounts = std::array<std::uint64_t, miss_cause_count>;

/// Structures are indices into the regions; their number = elsewhere.
struct StructureCauses {
    std::uint32_t structure = 0, phase = 0;
    CauseCounts misses{};
    std::uint32_t core = 0;  ///< where they are told apart
    friend bool operator==(const StructureCauses&, const StructureCauses&) = default;
};

/// Lines of `victim` that left when lines of `by` took their places.
struct Evictions {
    std::uint32_t by = 0, victim = 0, phase = 0;
    std::uint64_t count = 0;
    friend bool operator==(const Evictions&, const Evictions&) = default;
};

/// Of rows ascending by (by, victim, phase), one per pair: over the run (phase 0 in all), or over one phase.
std::vector<Evictions> eviction_totals(const std::vector<Evictions>& rows, std::optional<std::uint32_t> phase = {});

/// Structures each of which evicts lines of the next one, and the last one of the first; one alone: its own lines.
struct EvictionCycle {
    struct Set {
        std::uint64_t set = 0, count = 0;
        friend bool operator==(const Set&, const Set&) = default;
    };
    std::vector<std::uint32_t> structures;  ///< the least number first
    std::uint64_t count = 0;                ///< lines: the least of its evictions
    std::vector<Set> sets;                  ///< where all of them happen most, with the least in that set
    friend bool operator==(const EvictionCycle&, const EvictionCycle&) = default;
};

/// What evicts what in one level, over all its copies, by what references refer to (SiteNames::objects).
struct ObjectEvictions {
    std::string level;
    std::vector<Evictions> pairs;       ///< ascending by (by, victim, phase), where there were any
    std::vector<EvictionCycle> cycles;  ///< the strongest first, over the run
    friend bool operator==(const ObjectEvictions&, const ObjectEvictions&) = default;
};

/// Of one level, over all its copies.
struct LevelCauses {
    std::string level;
    std::vector<StructureCauses> misses;  ///< ascending by (structure, phase, core), where there were any
    std::vector<Evictions> evictions;     ///< ascending by (by, victim, phase), where there were any
    bool by_core = false;                 ///< whether cores have rows of their own in `misses`

    /// Per structure and, last, elsewhere: over the run, or over one phase.
    std::vector<CauseCounts> totals(std::size_t structures, std::optional<std::uint32_t> phase = {}) const;
    std::vector<Evictions> eviction_totals(std::optional<std::uint32_t> phase = {}) const;

    friend bool operator==(const LevelCauses&, const LevelCauses&) = default;
};

}  // namespace cachetally
