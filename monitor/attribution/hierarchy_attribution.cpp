// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/hierarchy_attribution.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "monitor/spec_placement.hpp"

namespace cachetally {
namespace {

/// Bytes of a line of the first level of data, or of instructions; 0 where nothing serves these.
std::uint32_t first_line(const Topology& topology, bool fetch) {
    constexpr std::uint32_t line_without_cache = 64;
    for (const LinkInfo& link : topology.links()) {
        const Component& first = topology.components()[link.to];
        if (topology.components()[link.from].kind != Component::Kind::core || first.kind == Component::Kind::tlb)
            continue;
        if (first.kind != Component::Kind::cache) return line_without_cache;
        const CacheConfig& cache = topology.machine().caches[first.index];
        if (cache.serves != (fetch ? Serves::data : Serves::fetch)) return cache.line;
    }
    return 0;
}

}  // namespace

HierarchyAttribution::HierarchyAttribution(const Topology& topology, Hierarchy& hierarchy)
    : accesses_(std::make_unique<SiteAccesses>(first_line(topology, false), first_line(topology, true))) {
    hierarchy.listen(*accesses_);
    for (const LevelLinks& level : level_links(topology)) {
        levels_.push_back(level.name);
        auto& misses = misses_.emplace_back();
        for (const LinkKinds& place : level.below)
            for (unsigned copy = 0; copy < hierarchy.copies(place.link); ++copy) {
                misses.push_back(std::make_unique<SiteMisses>(place.kinds));
                hierarchy.listen(place.link, copy, *misses.back());
            }
    }
}

Attribution HierarchyAttribution::found(const SiteTable& sites, SiteNames names) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Attribution::Row> rows;
    const auto add = [&](const SiteCounts& counts, const auto& place) {
        for (const SiteCounts::Row& row : counts.rows()) {
            const std::uint32_t site = row.site < sites.size() ? row.site : 0;
            Attribution::Row& sum = rows[{row.phase, site}];
            sum.misses.resize(levels_.size());
            place(sum) += row.count;
        }
    };
    add(accesses_->counts(), [](Attribution::Row& row) -> std::uint64_t& { return row.accesses; });
    for (std::size_t level = 0; level < levels_.size(); ++level)
        for (const auto& copy : misses_[level])
            add(copy->counts(), [level](Attribution::Row& row) -> std::uint64_t& { return row.misses[level]; });
    Attribution attribution;
    attribution.levels = levels_;
    attribution.names = std::move(names);
    for (auto& [place, row] : rows) {
        std::tie(row.phase, row.site) = place;
        attribution.rows.push_back(std::move(row));
    }
    for (std::uint32_t site = 0; site < sites.size(); ++site) attribution.sites.push_back(sites[site]);
    return attribution;
}

}  // namespace cachetally
