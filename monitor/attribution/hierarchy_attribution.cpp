// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/hierarchy_attribution.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "monitor/spec_placement.hpp"

namespace cachetally {
HierarchyAttribution::HierarchyAttribution(const Topology& topology, Hierarchy& hierarchy,
                                           const AttributionOptions& options, LostCycles::By cycles_by)
    : options_(options), period_(topology.machine().period) {
    const unsigned cores = options.cores ? topology.machine().cores : 1;
    accesses_ = std::make_unique<SiteAccesses>(first_line(topology, false), first_line(topology, true), cores);
    hierarchy.listen(*accesses_);
    if (options.cycles) cycles_ = std::make_unique<LostCycles>(topology, hierarchy, cores, cycles_by);
    if (options.used_bytes) used_bytes_ = std::make_unique<UsedBytes>(topology, hierarchy, cores);
    for (const LevelLinks& level : level_links(topology)) {
        levels_.push_back(level.name);
        auto& misses = misses_.emplace_back();
        for (const LinkKinds& place : level.below)
            for (unsigned copy = 0; copy < hierarchy.copies(place.link); ++copy) {
                misses.push_back(std::make_unique<SiteMisses>(place.kinds, cores, 1, level.holds));
                hierarchy.listen(place.link, copy, *misses.back());
            }
    }
}

Attribution HierarchyAttribution::found(const SiteTable& sites, SiteNames names) const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Attribution::Row> rows;
    const auto add = [&](const std::vector<SiteCounts::Row>& counts, const auto& place) {
        for (const SiteCounts::Row& row : counts) {
            const std::uint32_t site = row.site < sites.size() ? row.site : 0;
            Attribution::Row& sum = rows[{row.phase, site, row.core}];
            sum.misses.resize(levels_.size());
            place(sum) += row.count;
        }
    };
    const auto member = [](std::uint64_t Attribution::Row::*count) {
        return [count](Attribution::Row& row) -> std::uint64_t& { return row.*count; };
    };
    add(accesses_->counts().rows(), member(&Attribution::Row::accesses));
    for (std::size_t level = 0; level < levels_.size(); ++level)
        for (const auto& copy : misses_[level])
            add(copy->counts().rows(), [level](Attribution::Row& row) -> std::uint64_t& { return row.misses[level]; });
    if (cycles_) add(cycles_->rows(), member(&Attribution::Row::cycles));
    Attribution attribution;
    attribution.known = options_;
    if (used_bytes_) {
        add(used_bytes_->fills(), member(&Attribution::Row::fills));
        add(used_bytes_->used(), member(&Attribution::Row::used));
        attribution.filled = used_bytes_->level();
        attribution.line_bytes = used_bytes_->line_bytes();
    }
    attribution.levels = levels_;
    attribution.names = std::move(names);
    for (auto& [place, row] : rows) {
        std::tie(row.phase, row.site, row.core) = place;
        row.cycles /= period_;  // waits end with whole cycles
        attribution.rows.push_back(std::move(row));
    }
    for (std::uint32_t site = 0; site < sites.size(); ++site) attribution.sites.push_back(sites[site]);
    return attribution;
}

}  // namespace cachetally
