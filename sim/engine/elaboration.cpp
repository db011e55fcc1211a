// SPDX-License-Identifier: BSD-3-Clause
// How a Hierarchy is made from a Topology.
#include <algorithm>

#include "sim/engine/hierarchy_parts.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {

Hierarchy::Parts::Parts(const Topology& topology)
    : machine(topology.machine()),
      reference_at_most(cachetally::reference_at_most(machine)),
      components(topology.components()),
      links(topology.links()),
      pages(machine.pages, machine.bytes_for_pages()),
      ports(links.size()) {
    make_components();
    for (std::size_t id = 0; id < links.size(); ++id) connect(id, links[id]);
    // In the order of the machine description, which is the order in which an inclusive level takes lines away.
    for (auto& copies : caches)
        for (auto& cache : copies)
            if (Cache* below = cache->below().cache()) below->add_above(*cache);
    for (auto& copies : caches)
        for (auto& cache : copies)
            if (cache->config().inclusion == Inclusion::inclusive) expect_loss_above(*cache, cache->can_log());
    if (machine.coherence.protocol != Protocol::none) make_coherent();
    make_paths();
}

bool Hierarchy::Parts::next_to_core(const Component& part) const {
    return std::ranges::any_of(links, [&](const LinkInfo& link) {
        return component(link.from).kind == Component::Kind::core && &component(link.to) == &part;
    });
}

void Hierarchy::Parts::make_components() {
    caches.resize(machine.caches.size());
    tlbs.resize(machine.tlbs.size());
    memories.resize(machine.memories.size());
    buses.resize(machine.has_link_timing() ? machine.caches.size() : 0);
    for (const Component& part : components) {
        for (unsigned copy = 0; copy < part.copies; ++copy) {
            switch (part.kind) {
                case Component::Kind::core: break;
                case Component::Kind::tlb:
                    tlbs[part.index].push_back(std::make_unique<Tlb>(machine.tlbs[part.index], copy, machine.period));
                    if (!pages.identity() || !pages.uniform()) tlbs[part.index].back()->coalesce_by_frames(pages);
                    break;
                case Component::Kind::walker:
                case Component::Kind::numa:
                case Component::Kind::interconnect: break;
                case Component::Kind::cache: {
                    CacheConfig config = machine.caches[part.index];
                    config.virtually_indexed = machine.is_indexed_by_pages(config);
                    caches[part.index].push_back(
                        std::make_unique<Cache>(config, copy, machine.period, next_to_core(part)));
                    break;
                }
                case Component::Kind::memory:
                    memories[part.index] = std::make_unique<Memory>(machine.memories[part.index], machine.period);
                    break;
            }
        }
    }
    if (machine.has_nodes()) numa = std::make_unique<Numa>(machine, memories);
    for (unsigned core = 0; core < machine.cores; ++core)
        walkers.push_back(std::make_unique<PageWalker>(machine.pages, pages, machine.period));
}

void Hierarchy::Parts::connect(std::size_t id, const LinkInfo& link) {
    switch (component(link.from).kind) {
        case Component::Kind::core: connect_core(id, link); break;
        case Component::Kind::tlb: connect_tlb(id, link); break;
        case Component::Kind::walker: connect_walker(id, link); break;
        case Component::Kind::cache: connect_cache(id, link); break;
        case Component::Kind::numa: connect_nodes(id, link); break;
        case Component::Kind::interconnect:
        case Component::Kind::memory: break;
    }
}

void Hierarchy::Parts::connect_bypass(RequestPort& from, unsigned core, std::uint32_t line) {
    if (numa) {
        from.belong_to({numa.get(), node_of(core), line}, *memories.front());
    } else {
        from.connect_bypass(*memories.front());
    }
}

/// Lets a port lead to the copy of a component that serves `core`.
void Hierarchy::Parts::lead(RequestPort& from, const Component& to, unsigned core, std::uint32_t line) {
    if (to.kind == Component::Kind::memory) from.connect(*memories[to.index]);
    if (to.kind == Component::Kind::cache) from.connect(*caches[to.index][copy_for(to, core)]);
    connect_bypass(from, core, line);
    if (to.kind != Component::Kind::cache) return;
    Cache& cache = *caches[to.index][copy_for(to, core)];
    const Inclusion inclusion = cache.config().inclusion;
    if (filled_by_victims(inclusion)) from.take_clean_victims();
}

void Hierarchy::Parts::connect_core(std::size_t id, const LinkInfo& link) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        core_links.push_back(std::make_unique<RequestPort>());
        lead(*core_links.back(), component(link.to), core);
        ports[id].push_back(core_links.back().get());
        upper_links.push_back(core_links.back().get());
    }
}

void Hierarchy::Parts::connect_walker(std::size_t id, const LinkInfo& link) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        lead(walkers[core]->below(), component(link.to), core);
        ports[id].push_back(&walkers[core]->below());
        upper_links.push_back(&walkers[core]->below());
    }
}

void Hierarchy::Parts::connect_cache(std::size_t id, const LinkInfo& link) {
    const Component& upper = component(link.from);
    const CacheConfig& config = machine.caches[upper.index];
    std::shared_ptr<Bus> bus;
    for (unsigned copy = 0; copy < upper.copies; ++copy) {
        Cache& cache = *caches[upper.index][copy];
        lead(cache.below(), component(link.to), copy * upper.cores_per_copy, config.transfer());
        if (cache.config().virtually_indexed) cache.use_page_table(pages);
        ports[id].push_back(&cache.below());
        if (!machine.has_link_timing()) continue;
        if (!bus || !config.bus.shared)
            bus = buses[upper.index].emplace_back(std::make_shared<Bus>(config.bus, machine.period));
        cache.below().take_time(std::make_unique<LinkTiming>(config, bus, machine.period));
    }
}

void Hierarchy::Parts::connect_tlb(std::size_t id, const LinkInfo& link) {
    const Component& upper = component(link.from);
    const Component& lower = component(link.to);
    std::vector<PageWalker*> by_core;
    for (const auto& walker : walkers) by_core.push_back(walker.get());
    for (unsigned copy = 0; copy < upper.copies; ++copy) {
        Tlb& tlb = *tlbs[upper.index][copy];
        if (lower.kind == Component::Kind::tlb) {
            tlb.connect(*tlbs[lower.index][copy_for(lower, copy * upper.cores_per_copy)]);
        } else {
            tlb.connect(by_core);
        }
        connect_bypass(tlb.below(), copy * upper.cores_per_copy, 0);  // records from here have no other way
        ports[id].push_back(&tlb.below());
        upper_links.push_back(&tlb.below());
    }
}

/// There is one way into each memory, whichever node uses it.
void Hierarchy::Parts::connect_nodes(std::size_t id, const LinkInfo& link) {
    const Component& lower = component(link.to);
    if (lower.kind == Component::Kind::memory) {
        ports[id].push_back(&numa->to_memory(lower.index));
        return;
    }
    for (unsigned node = 0; node < component(link.from).copies; ++node)
        ports[id].push_back(&numa->to_interconnect(node));
}

/// When all caches know what lies below them.
void Hierarchy::Parts::make_coherent() {
    const CoherentPart part = coherent_part(machine);
    const unsigned line = machine.caches[part.caches.front()].line;
    coherence = std::make_unique<Coherence>(machine.coherence, part.nodes, line, machine.period);
    for (const std::size_t index : part.caches)
        for (unsigned node = 0; node < part.nodes; ++node) caches[index][node]->join(*coherence, node);
    for (const std::size_t index : part.caches)
        for (unsigned node = 0; node < part.nodes; ++node) {
            Cache& cache = *caches[index][node];
            coherence->add(node, cache);
            if (machine.caches[index].next == part.point) cache.below().ask(*coherence, node);
        }
    if (numa && part.point == numa_name) coherence->meet_at(*numa, part.nodes / machine.numa.nodes);
    for (const std::size_t index : part.below)
        if (machine.caches[index].inclusion == Inclusion::inclusive) caches[index][0]->take_from_nodes(*coherence);
}

void Hierarchy::Parts::expect_loss_above(Cache& inclusive, bool logged) {
    for (Cache* upper : inclusive.above()) {
        upper->expect_loss_of_lines(logged);
        expect_loss_above(*upper, logged);
    }
}

void Hierarchy::Parts::make_paths() {
    paths_of.assign(machine.cores, {nullptr, nullptr});
    const auto serves = [&](const Component& part, bool fetch) {
        const Serves side = part.kind == Component::Kind::cache ? machine.caches[part.index].serves
                            : part.kind == Component::Kind::tlb ? machine.tlbs[part.index].serves
                                                                : Serves::both;
        return side == Serves::both || side == (fetch ? Serves::fetch : Serves::data);
    };
    for (unsigned core = 0; core < machine.cores; ++core) {
        for (const bool fetch : {false, true}) {
            RequestPort* way = nullptr;
            RequestPort* tlb_way = nullptr;
            Tlb* tlb = nullptr;
            for (std::size_t id = 0; id < links.size(); ++id) {
                const Component& to = component(links[id].to);
                if (component(links[id].from).kind != Component::Kind::core || !serves(to, fetch)) continue;
                if (to.kind == Component::Kind::tlb) {
                    tlb = tlbs[to.index][copy_for(to, core)].get();
                    tlb_way = ports[id][core];
                } else {
                    way = ports[id][core];
                }
            }
            if (way != nullptr) path_for(core, fetch, *way, tlb, tlb_way);
        }
    }
}

/// Data and fetches that go the same way share a path.
void Hierarchy::Parts::path_for(unsigned core, bool fetch, RequestPort& way, Tlb* tlb, RequestPort* tlb_way) {
    CorePath* path = paths_of[core][0];
    if (path == nullptr || &path->link() != &way || path->tlb() != tlb) {
        if (tlb != nullptr && pages.uniform() && tlb->holds(pages.page_bits(0)))
            tlb->be_first_level(pages, pages.page_bits(0));
        paths.push_back(std::make_unique<CorePath>(core, way, tlb, tlb_way, pages));
        path = paths.back().get();
    }
    paths_of[core][fetch ? 1 : 0] = path;
    if (fetch) {
        path->take(ReferenceKind::fetch);
    } else {
        path->take(ReferenceKind::load);
        path->take(ReferenceKind::store);
    }
}

}  // namespace cachetally
