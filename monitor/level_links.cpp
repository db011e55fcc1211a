// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/level_links.hpp"

#include <algorithm>

#include "sim/topology/coherent_part.hpp"

namespace cachetally {
namespace {

std::uint32_t miss_kinds(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return demand_kinds;
    const CacheConfig& cache = topology.machine().caches[component.index];
    return cache.write == WritePolicy::write_through ? demand_kinds & ~bit(EventKind::store) : demand_kinds;
}

bool is_hidden(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return false;
    const MachineDescription& machine = topology.machine();
    const CacheConfig& cache = machine.caches[component.index];
    if (cache.write == WritePolicy::write_through && !cache.write_allocate) return true;
    const auto is_above = [&](const CacheConfig& other) { return other.next == cache.name; };
    if (cache.write_back_miss == WriteBackMiss::fetch && std::ranges::any_of(machine.caches, is_above)) return true;
    return machine.coherence.protocol != Protocol::none && coherent_part(machine).point == cache.name;
}

LevelLinks links_of(const Topology& topology, std::size_t component) {
    const Component& level = topology.components()[component];
    LevelLinks found{level.name, level.kind == Component::Kind::tlb, {}, {}, 0};
    if (level.kind == Component::Kind::cache) found.line_bytes = topology.machine().caches[level.index].line;
    for (std::size_t id = 0; id < topology.links().size(); ++id) {
        const LinkInfo& link = topology.links()[id];
        if (topology.components()[link.from].kind == Component::Kind::walker) continue;
        if (link.to == component) found.above.push_back({id, demand_kinds});
        if (link.from == component) found.below.push_back({id, miss_kinds(topology, level)});
    }
    return found;
}

}  // namespace

std::vector<LevelLinks> level_links(const Topology& topology) {
    std::vector<LevelLinks> levels;
    for (const auto wanted : {Component::Kind::cache, Component::Kind::tlb}) {
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < topology.components().size(); ++id) {
            const Component& component = topology.components()[id];
            if (component.kind == wanted && !is_hidden(topology, component)) ids.push_back(id);
        }
        std::ranges::sort(ids, {}, [&](std::size_t id) { return topology.components()[id].index; });
        for (const std::size_t id : ids) levels.push_back(links_of(topology, id));
    }
    return levels;
}

}  // namespace cachetally
