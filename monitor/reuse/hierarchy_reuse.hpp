// SPDX-License-Identifier: BSD-3-Clause
// HierarchyReuse: finds the reuse distances of what cores refer to, on the links by which it leaves them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/sites.hpp"
#include "monitor/histogram.hpp"
#include "monitor/level_lines.hpp"
#include "monitor/reuse/reuse_distances.hpp"

namespace cachetally {

class HierarchyReuse {
public:
    /// To be made before the first access. `map` gives the addresses in which the regions are. With `sites`, references
    /// are told apart by the objects that these are for, else by regions. All must live as long as the hierarchy is
    /// used, this included.
    HierarchyReuse(const Topology& topology, Hierarchy& hierarchy, std::span<const Region> regions,
                   const AddressMap& map = {}, const SiteTable* sites = nullptr);
    ~HierarchyReuse();

    /// What was found: for each link from cores to caches, of data first, and each size of lines of the caches behind
    /// it, in the order of their distance from the core. `objects`: names of objects of sites; of equal ones rows are
    /// added up.
    std::vector<ReuseDistances> found(const std::vector<std::string>& objects = {}) const;

private:
    class Watch;
    struct Place {
        std::string link;
        std::uint32_t line_bytes;
        std::vector<std::unique_ptr<Watch>> copies;
    };

    RegionFinder finder_;
    std::vector<std::string> regions_;  ///< names
    bool by_site_;
    std::vector<Place> places_;
};

}  // namespace cachetally
