// SPDX-License-Identifier: BSD-3-Clause
// HierarchyCauses: CauseWatches on all levels of a hierarchy of which causes can be told.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "monitor/attribution/attribution.hpp"
#include "monitor/causes/cause_watch.hpp"

namespace cachetally {

class HierarchyCauses {
public:
    /// To be made before the first access. `map` gives the addresses in which the regions are. All must live as long as
    /// the hierarchy is used, this included; and `sites`, if misses are to be told apart by these, too. `cores`: told
    /// apart.
    HierarchyCauses(const Topology& topology, Hierarchy& hierarchy, std::span<const Region> regions,
                    const AddressMap& map = {}, const SiteTable* sites = nullptr, unsigned cores = 1);

    /// Counts misses by line, too; to be called before the first access.
    void count_lines();

    /// What was found so far, level by level in the order of the machine description.
    std::vector<LevelCauses> found() const;

    /// The same by line; the addresses are those of the level.
    struct Lines {
        std::string level;
        std::vector<LineCauses> rows;  ///< ascending by (phase, address)
    };
    std::vector<Lines> lines() const;

    /// Of the levels of nodes that are kept coherent, where there are several; else empty.
    Sharing sharing() const;

    /// Adds causes to the rows of misses, and evictions by object. Only where it was made with sites.
    void attribute(Attribution& attribution) const;

private:
    struct Level {
        std::string name;
        std::vector<std::unique_ptr<CauseWatch>> copies;

        std::vector<CauseWatch*> watches() const;
    };

    RegionFinder finder_;
    /// By the number of cores that share a cache, its copy, and its line.
    std::map<std::tuple<unsigned, unsigned, std::uint32_t>, std::unique_ptr<LineNumbers>> numbers_;
    std::vector<Level> levels_;
    std::unique_ptr<SharingWatch> sharing_;
    std::vector<std::string> shared_levels_;
};

}  // namespace cachetally
