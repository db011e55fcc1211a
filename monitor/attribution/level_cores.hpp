// SPDX-License-Identifier: BSD-3-Clause
// LevelCores: what each core asks of each level, and what it misses there, by data structure.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/site_counts.hpp"
#include "monitor/level_lines.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Loads, stores and fetches of the levels of level_links(); of shared levels by the core that they are for.
struct LevelCores {
    struct Row {
        std::uint32_t level = 0, core = 0, phase = 0;
        std::uint32_t structure = 0;  ///< index into the regions; their number: elsewhere; 0 where not told apart
        std::uint64_t accesses = 0, misses = 0;
        friend bool operator==(const Row&, const Row&) = default;
    };
    std::vector<std::string> levels;
    std::vector<Row> rows;      ///< ascending by level, core, phase and structure; none of zeros
    bool by_structure = false;  ///< whether structures have rows of their own
    bool empty() const { return levels.empty(); }
    friend bool operator==(const LevelCores&, const LevelCores&) = default;
};

/// Listens to a hierarchy for it.
class HierarchyCores {
public:
    /// To be made before the first access. `regions`: of data structures, if these are to be told apart; `map` gives
    /// the addresses in which they are. All must live as long as the hierarchy is used, this included.
    HierarchyCores(const Topology& topology, Hierarchy& hierarchy, std::optional<std::span<const Region>> regions = {},
                   const AddressMap& map = {});
    ~HierarchyCores();
    LevelCores found() const;

private:
    class Events;
    struct Level {
        std::string name;
        std::vector<std::unique_ptr<Events>> accesses, misses;
    };
    std::optional<RegionFinder> finder_;
    std::vector<Level> levels_;
};

/// The group `cores` of the root (docs/format.md); nothing where it is empty.
void write_level_cores(Group& root, const LevelCores& cores);
/// Of that many structures. Empty where the file has none. Throws StorageError.
LevelCores read_level_cores(const Group& root, std::size_t structures);

}  // namespace cachetally
