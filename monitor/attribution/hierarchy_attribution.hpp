// SPDX-License-Identifier: BSD-3-Clause
// HierarchyAttribution: counts, on the links of a hierarchy, what each site accesses and misses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/attribution.hpp"
#include "monitor/attribution/site_counts.hpp"

namespace cachetally {

/// Listens to a hierarchy for what Attribution has. The times of events do not matter to it, but each by
/// itself does.
class HierarchyAttribution {
public:
    /// To be made before the first access; must live as long as the hierarchy is used.
    HierarchyAttribution(const Topology& topology, Hierarchy& hierarchy);

    /// When the run is over. `sites` and `names`: of its source.
    Attribution found(const SiteTable& sites, SiteNames names) const;

private:
    std::vector<std::string> levels_;
    std::unique_ptr<SiteAccesses> accesses_;
    std::vector<std::vector<std::unique_ptr<SiteMisses>>> misses_;  ///< by level, and copy of links
};

}  // namespace cachetally
