// SPDX-License-Identifier: BSD-3-Clause
// A run's components as tables: levels, buses, coherence, memories. For run_text.cpp.
#pragma once

#include "viewer/run_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {

inline constexpr auto to_left = TextTable::Align::left;

/// All demand accesses of a level, and those that missed.
struct Demand {
    explicit Demand(const CacheCounts& counts)
        : accesses(counts.loads + counts.stores + counts.fetches),
          misses(counts.load_misses + counts.store_misses + counts.fetch_misses) {}
    std::uint64_t accesses, misses;
};

/// Whether a component is shown: `only` names one, or is empty.
inline bool wanted(const std::string& name, const std::string& only) { return only.empty() || name == only; }

std::string memory_line(const std::string& name, const MemoryCounts& memory);
std::string bus_table(const StoredRun& run, const HierarchyCounts& counts, const TextOptions& options);
std::string coherence_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options);
std::string numa_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options);
std::string level_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options);

}  // namespace cachetally
