// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/hierarchy_causes.hpp"

#include <algorithm>

namespace cachetally {

HierarchyCauses::HierarchyCauses(const Topology& topology, Hierarchy& hierarchy, std::span<const Region> regions,
                                 const AddressMap& map, const SiteTable* sites, unsigned cores)
    : finder_(regions) {
    const auto& parts = topology.components();
    CoherentPart coherent;
    if (topology.machine().coherence.protocol != Protocol::none) coherent = coherent_part(topology.machine());
    if (coherent.nodes > 1) {
        sharing_ = std::make_unique<SharingWatch>(topology, coherent, map);
        hierarchy.listen(*sharing_);
    }
    for (const CauseLinks& links : cause_links(topology)) {
        const Component& part = parts[links.component];
        Level& level = levels_.emplace_back();
        level.name = part.name;
        const bool shares = sharing_ && std::ranges::find(coherent.caches, part.index) != coherent.caches.end();
        if (shares) shared_levels_.push_back(part.name);
        for (unsigned copy = 0; copy < part.copies; ++copy) {
            const CacheConfig& config = topology.machine().caches[part.index];
            auto& numbers = numbers_[{part.cores_per_copy, copy, config.line}];
            if (!numbers) numbers = std::make_unique<LineNumbers>(config.line);
            level.copies.push_back(
                std::make_unique<CauseWatch>(topology.machine(), config, finder_, map, *numbers, sites, cores));
            if (shares)
                level.copies[copy]->report_to(*sharing_, {static_cast<std::uint32_t>(shared_levels_.size() - 1), copy,
                                                          config.next == coherent.point});
            hierarchy.listen(links.below, copy, level.copies[copy]->below());
        }
        for (const std::size_t link : links.above)
            for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
                const unsigned core = copy * parts[topology.links()[link].from].cores_per_copy;
                hierarchy.listen(link, copy, level.copies[core / part.cores_per_copy]->above());
            }
    }
}

std::vector<CauseWatch*> HierarchyCauses::Level::watches() const {
    std::vector<CauseWatch*> watches;
    for (const auto& copy : copies) watches.push_back(copy.get());
    return watches;
}

void HierarchyCauses::count_lines() {
    for (const Level& level : levels_)
        for (CauseWatch* watch : level.watches()) watch->count_lines();
}

std::vector<LevelCauses> HierarchyCauses::found() const {
    std::vector<LevelCauses> causes;
    for (const Level& level : levels_) causes.push_back(CauseWatch::sum(level.name, level.watches()));
    return causes;
}

std::vector<HierarchyCauses::Lines> HierarchyCauses::lines() const {
    std::vector<Lines> lines;
    for (const Level& level : levels_) lines.push_back({level.name, CauseWatch::lines(level.watches())});
    return lines;
}

Sharing HierarchyCauses::sharing() const { return sharing_ ? sharing_->found(shared_levels_) : Sharing(); }

void HierarchyCauses::attribute(Attribution& attribution) const {
    for (const Level& level : levels_) attribution.caused.push_back(level.name);
    for (Attribution::Row& row : attribution.rows) row.causes.resize(levels_.size());
    const ObjectNumbers numbers(attribution.names.objects);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        std::vector<const SiteCauses*> copies;
        for (const auto& copy : levels_[i].copies) {
            copies.push_back(&copy->by_site());
            copies.back()->add_misses(attribution, i);
        }
        attribution.evictions.push_back(SiteCauses::evictions(levels_[i].name, copies, numbers));
    }
}

}  // namespace cachetally
