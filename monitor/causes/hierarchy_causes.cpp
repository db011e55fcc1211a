// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/hierarchy_causes.hpp"

namespace cachetally {

HierarchyCauses::HierarchyCauses(const Topology& topology, Hierarchy& hierarchy, std::span<const Region> regions,
                                 const AddressMap& map)
    : finder_(regions) {
    const auto& parts = topology.components();
    for (const CauseLinks& links : cause_links(topology)) {
        const Component& part = parts[links.component];
        Level& level = levels_.emplace_back();
        level.name = part.name;
        for (unsigned copy = 0; copy < part.copies; ++copy) {
            const CacheConfig& config = topology.machine().caches[part.index];
            auto& numbers = numbers_[{part.cores_per_copy, copy, config.line}];
            if (!numbers) numbers = std::make_unique<LineNumbers>(config.line);
            level.copies.push_back(std::make_unique<CauseWatch>(topology.machine(), config, finder_, map, *numbers));
            hierarchy.listen(links.below, copy, level.copies[copy]->below());
        }
        for (const std::size_t link : links.above)
            for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
                const unsigned core = copy * parts[topology.links()[link].from].cores_per_copy;
                hierarchy.listen(link, copy, level.copies[core / part.cores_per_copy]->above());
            }
    }
}

std::vector<LevelCauses> HierarchyCauses::found() const {
    std::vector<LevelCauses> causes;
    for (const Level& level : levels_) {
        std::vector<CauseWatch*> copies;
        for (const auto& copy : level.copies) copies.push_back(copy.get());
        causes.push_back(CauseWatch::sum(level.name, copies));
    }
    return causes;
}

}  // namespace cachetally
