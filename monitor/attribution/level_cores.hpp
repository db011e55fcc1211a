// SPDX-License-Identifier: BSD-3-Clause
// LevelCores: what each core asks of each level, and what it misses there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/site_counts.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Loads, stores and fetches of the levels of level_links(); of shared levels by the core that they are for.
struct LevelCores {
    struct Row {
        std::uint32_t level = 0, core = 0, phase = 0;
        std::uint64_t accesses = 0, misses = 0;
        friend bool operator==(const Row&, const Row&) = default;
    };
    std::vector<std::string> levels;
    std::vector<Row> rows;  ///< ascending by level, core and phase; none of zeros
    bool empty() const { return levels.empty(); }
    friend bool operator==(const LevelCores&, const LevelCores&) = default;
};

/// Listens to a hierarchy for it.
class HierarchyCores {
public:
    /// To be made before the first access; must live as long as the hierarchy is used.
    HierarchyCores(const Topology& topology, Hierarchy& hierarchy);
    ~HierarchyCores();
    LevelCores found() const;

private:
    class Events;
    struct Level {
        std::string name;
        std::vector<std::unique_ptr<Events>> accesses, misses;
    };
    std::vector<Level> levels_;
};

/// The group `cores` of the root (docs/format.md); nothing where it is empty.
void write_level_cores(Group& root, const LevelCores& cores);
/// Empty where the file has none. Throws StorageError.
LevelCores read_level_cores(const Group& root);

}  // namespace cachetally
