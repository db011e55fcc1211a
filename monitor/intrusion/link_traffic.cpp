// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/intrusion/link_traffic.hpp"

#include <algorithm>

#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;

/// Bytes of an event that listeners see: no records of the link's own monitor.
std::uint64_t bytes_of(EventKind kind, const Component& above, const MachineDescription& machine) {
    if (kind == EventKind::store) return word;
    if (above.kind == Component::Kind::numa) return std::max<std::uint64_t>(word, longest_line_to(machine, numa_name));
    if (above.kind != Component::Kind::cache) return word;
    return machine.caches[above.index].transfer();
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
    if (!counting_.is_on()) return;
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

}  // namespace cachetally
