// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/intrusion/intrusion.hpp"

#include <algorithm>
#include <memory>

#include "monitor/spec_placement.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;

/// Bytes of an event that listeners see: no records of the link's own monitor.
std::uint64_t bytes_of(EventKind kind, const Component& above, const MachineDescription& machine) {
    if (kind == EventKind::store) return word;
    if (above.kind == Component::Kind::numa) return std::max<std::uint64_t>(word, longest_line_to(machine, numa_name));
    if (above.kind != Component::Kind::cache) return word;
    return machine.caches[above.index].line;
}

bool leads_to_cache(const Topology& topology, const LinkInfo& link) {
    return topology.components()[link.to].kind == Component::Kind::cache;
}

void add(Traffic more, Traffic& sum) {
    sum.events += more.events;
    sum.bytes += more.bytes;
}

/// Behind nodes, what goes past caches is known by where it has arrived.
void add_behind_nodes(const Topology& topology, std::span<const NumaCounts> nodes, std::uint64_t record_bytes,
                      std::vector<Traffic>& all) {
    for (std::size_t link = 0; link < all.size(); ++link) {
        const LinkInfo& info = topology.links()[link];
        if (topology.components()[info.from].kind != Component::Kind::numa) continue;
        const Component& to = topology.components()[info.to];
        std::uint64_t records = 0;
        for (std::size_t memory = 0; memory < nodes.size(); ++memory) {
            const bool here = to.kind == Component::Kind::memory && to.index == memory;
            const bool crossed = here || to.kind == Component::Kind::interconnect;
            records += (here ? nodes[memory].local_ring_writes : 0) + (crossed ? nodes[memory].remote_ring_writes : 0);
        }
        add({records, records * record_bytes}, all[link]);
    }
}

/// On the way from their monitor past all caches, to memory or where nodes part.
void add_past_caches(const Topology& topology, std::size_t link, Traffic records, std::vector<Traffic>& all) {
    const auto& links = topology.links();
    using Kind = Component::Kind;
    const Kind from = topology.components()[links[link].from].kind, to = topology.components()[links[link].to].kind;
    if (to == Kind::tlb || to == Kind::walker) return;  // no data come by here: the monitor has a way of its own
    if (from == Kind::numa) return;                     // the memory behind this link need not be that of the ring
    for (;;) {
        add(records, all[link]);
        if (!leads_to_cache(topology, links[link])) return;
        const auto below = std::ranges::find(links, links[link].to, &LinkInfo::from);
        link = static_cast<std::size_t>(below - links.begin());
    }
}

}  // namespace

/// Not what only tells that something has been done: the answer belongs to its request.
std::uint32_t LinkTraffic::kinds() const {
    return bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch) | bit(EventKind::page_walk) |
           bit(EventKind::prefetch) | bit(EventKind::ring_write) | bit(EventKind::write_back) |
           bit(EventKind::clean_victim);
}

void LinkTraffic::on_blocks(std::span<const BlockEvent> events, std::uint8_t, Injector&) {
    for (const BlockEvent& event : events) ++counts_[index_of(event.kind())];
}

std::vector<Traffic> traffic_of(const Topology& topology, const std::vector<KindCounts>& counts,
                                const MonitorSpec* monitor, std::uint64_t records, std::span<const NumaCounts> nodes) {
    std::vector<Traffic> all;
    for (std::size_t link = 0; link < counts.size(); ++link) {
        const Component& above = topology.components()[topology.links()[link].from];
        Traffic& sum = all.emplace_back();
        for (unsigned kind = 0; kind < event_kind_count; ++kind) {
            sum.events += counts[link][kind];
            sum.bytes += counts[link][kind] * bytes_of(static_cast<EventKind>(kind), above, topology.machine());
        }
    }
    if (monitor == nullptr) return all;
    const std::size_t link = topology.link(monitor->link);
    const Traffic written{records, records * monitor->ring.record};
    if (monitor->ring.path == RingSpec::Path::memory || !leads_to_cache(topology, topology.links()[link])) {
        add_past_caches(topology, link, written, all);
        add_behind_nodes(topology, nodes, monitor->ring.record, all);
    } else {
        add(written, all[link]);
    }
    return all;
}

namespace {

template <class Listener, class Make>
std::vector<std::unique_ptr<Listener>> attach(Hierarchy& hierarchy, std::size_t link, Make make) {
    std::vector<std::unique_ptr<Listener>> copies;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        copies.push_back(make(copy));
        hierarchy.listen(link, copy, *copies.back());
    }
    return copies;
}

std::int64_t difference(std::uint64_t with, std::uint64_t without) {
    return static_cast<std::int64_t>(with) - static_cast<std::int64_t>(without);
}

}  // namespace

ObservedRun observe(const Topology& topology, const MonitorSpec* monitor, const HierarchyRun& run) {
    Hierarchy hierarchy(topology);
    std::vector<std::unique_ptr<Monitor>> monitors;
    if (monitor != nullptr)
        monitors = attach<Monitor>(hierarchy, topology.link(monitor->link), [&](unsigned copy) {
            return std::make_unique<Monitor>(completed(*monitor, topology), copy, topology.machine().period);
        });
    std::vector<std::vector<std::unique_ptr<LinkTraffic>>> links;
    for (std::size_t link = 0; link < topology.links().size(); ++link)
        links.push_back(attach<LinkTraffic>(hierarchy, link, [](unsigned) { return std::make_unique<LinkTraffic>(); }));
    ObservedRun observed;
    observed.run = run(hierarchy);
    for (const auto& copies : links) {
        KindCounts& sum = observed.links.emplace_back();
        for (const auto& copy : copies)
            for (unsigned kind = 0; kind < event_kind_count; ++kind) sum[kind] += copy->counts()[kind];
    }
    if (monitor == nullptr) return observed;
    std::vector<MonitorResult> results;
    for (const auto& copy : monitors) {
        copy->finish();
        results.push_back(copy->result());
    }
    observed.monitor = merged(results);
    return observed;
}

std::vector<std::string> levels_that_miss(const MachineDescription& machine) {
    std::vector<std::string> names;
    for (const CacheConfig& cache : machine.caches) names.push_back(cache.name);
    for (const TlbConfig& tlb : machine.tlbs) names.push_back(tlb.name);
    return names;
}

std::vector<std::uint64_t> program_misses(const HierarchyCounts& counts) {
    std::vector<std::uint64_t> misses;
    for (const CacheCounts& cache : counts.caches)
        misses.push_back(cache.load_misses + cache.store_misses + cache.fetch_misses + cache.page_walk_misses);
    for (const TlbCounts& tlb : counts.tlbs) misses.push_back(tlb.misses);
    return misses;
}

Intrusion intrusion_of(const Topology& topology, const MonitorSpec& spec, const ObservedRun& without,
                       const ObservedRun& with) {
    const Tick period = topology.machine().period;
    const MonitorResult& monitor = with.monitor.value();
    Intrusion intrusion;
    intrusion.cycles = difference(with.run.end(), without.run.end()) / static_cast<std::int64_t>(period);
    intrusion.events = monitor.events;
    intrusion.records = monitor.swapouts - monitor.lost_records - monitor.resident_counters;
    intrusion.swapouts = monitor.swapouts;
    intrusion.bytes = monitor.bytes;
    intrusion.stall = monitor.stall / period;
    intrusion.lost = monitor.lost;
    intrusion.lost_records = monitor.lost_records;
    intrusion.ring_high_water = monitor.ring_high_water;
    const auto misses = program_misses(with.run.counts), before = program_misses(without.run.counts);
    for (std::size_t level = 0; level < misses.size(); ++level)
        intrusion.misses.push_back(difference(misses[level], before[level]));
    const auto traffic = traffic_of(topology, with.links, &spec, intrusion.records, with.run.counts.numa);
    const auto traffic_before = traffic_of(topology, without.links);
    for (std::size_t link = 0; link < traffic.size(); ++link)
        intrusion.traffic.push_back({difference(traffic[link].events, traffic_before[link].events),
                                     difference(traffic[link].bytes, traffic_before[link].bytes)});
    return intrusion;
}

}  // namespace cachetally
