// SPDX-License-Identifier: BSD-3-Clause
// HierarchyAttribution: counts, on the links of a hierarchy, what each site accesses and misses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/attribution.hpp"
#include "monitor/attribution/lost_cycles.hpp"
#include "monitor/attribution/site_counts.hpp"
#include "monitor/attribution/used_bytes.hpp"

namespace cachetally {

/// Listens to a hierarchy for what Attribution has. The times of events do not matter to it, but each by
/// itself does.
class HierarchyAttribution {
public:
    /// To be made before the first access; must live as long as the hierarchy is used.
    HierarchyAttribution(const Topology& topology, Hierarchy& hierarchy, const AttributionOptions& options = {},
                         LostCycles::By cycles_by = LostCycles::By::whatever_is_fastest);

    /// When the run is over. `sites` and `names`: of its source.
    Attribution found(const SiteTable& sites, SiteNames names) const;

private:
    AttributionOptions options_;
    Tick period_;
    std::vector<std::string> levels_;
    std::unique_ptr<SiteAccesses> accesses_;
    std::unique_ptr<LostCycles> cycles_;                            ///< null where they were not asked for
    std::unique_ptr<UsedBytes> used_bytes_;                         ///< likewise
    std::vector<std::vector<std::unique_ptr<SiteMisses>>> misses_;  ///< by level, and copy of links
};

}  // namespace cachetally
