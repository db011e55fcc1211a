// SPDX-License-Identifier: BSD-3-Clause
// What a run counted, in HDF5 result files: the groups /run, /phases, /levels, /tlbs, /memories, /buses,
// /coherence and /numa.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/run.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Names of the components that are counted, in the order of the machine description (that of HierarchyCounts).
struct ComponentNames {
    std::vector<std::string> levels, tlbs, memories;
    std::vector<std::string> buses;  ///< by cache, then the interconnect; empty where links take no time of their own
    std::vector<std::string> coherence;  ///< the point of coherence; empty where caches are not kept coherent
    std::vector<std::string> numa;       ///< the memories, where these belong to nodes
    friend bool operator==(const ComponentNames&, const ComponentNames&) = default;
};

ComponentNames component_names(const MachineDescription& machine);

/// A run as files have it.
struct StoredRun {
    ComponentNames names;
    Tick period = 1000;  ///< picoseconds per cycle
    RunResult run;       ///< complete and failure are the root's business and not filled in
    /// By phase, what it takes if all accesses hit the first levels; empty: not known.
    std::vector<Tick> hit_times = {};

    Tick hit_time() const { return std::accumulate(hit_times.begin(), hit_times.end(), Tick{0}); }
};

/// Writes the groups into `root` (docs/format.md).
void write_run(Group& root, const StoredRun& stored);

/// What write_run wrote. Throws StorageError where something is missing or does not fit together.
StoredRun read_run(const Group& root);

/// Of the group /phases: what the program calls each phase; empty: no name.
std::vector<std::string> read_phase_names(const Group& phases);

/// The phases of a name. Throws std::invalid_argument, with the names that there are, where there is none.
std::vector<std::uint32_t> phases_named(std::string_view name, const std::vector<std::string>& names);

}  // namespace cachetally
