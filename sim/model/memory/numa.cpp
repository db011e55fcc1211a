// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/memory/numa.hpp"

#include <algorithm>

#include "sim/model/cache/cache.hpp"

namespace cachetally {
namespace {

std::size_t memory_named(const MachineDescription& machine, const std::string& name) {
    const auto found = std::ranges::find(machine.memories, name, &MemoryConfig::name);
    return found == machine.memories.end() ? 0 : static_cast<std::size_t>(found - machine.memories.begin());
}

void count(NumaCounts& counts, bool remote, EventKind kind) {
    switch (kind) {
        case EventKind::page_walk: ++(remote ? counts.remote_page_walks : counts.local_page_walks); break;
        case EventKind::ring_write: ++(remote ? counts.remote_ring_writes : counts.local_ring_writes); break;
        case EventKind::store:
        case EventKind::write_back: ++(remote ? counts.remote_writes : counts.local_writes); break;
        default: ++(remote ? counts.remote_reads : counts.local_reads);
    }
}

}  // namespace

HomeMap::HomeMap(const MachineDescription& machine)
    : policy_(machine.numa.policy),
      granule_bits_(log2_exact(policy_ == HomePolicy::interleaved ? machine.numa.granule : machine.pages.size)),
      memories_(machine.memories.size()),
      memory_of_node_(machine.numa.nodes, 0),
      otherwise_(memory_named(machine, machine.numa.otherwise)) {
    for (std::size_t i = 0; i < memories_; ++i) memory_of_node_[machine.memories[i].node] = i;
    for (const HomeRange& range : machine.numa.ranges)
        ranges_.push_back({range.from, range.to, memory_named(machine, range.memory)});
    std::ranges::sort(ranges_, {}, &Range::from);
}

std::size_t HomeMap::home(Address address, unsigned node) {
    switch (policy_) {
        case HomePolicy::first_touch:
            return home_of_.try_emplace(address >> granule_bits_, memory_of_node_[node]).first->second;
        case HomePolicy::interleaved: return (address >> granule_bits_) % memories_;
        case HomePolicy::fixed: break;
    }
    return home_by_range(address);
}

std::size_t HomeMap::home_by_range(Address address) const {
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::from);
    if (after == ranges_.begin()) return otherwise_;
    const Range& range = *std::prev(after);
    return address < range.to ? range.memory : otherwise_;
}

Address HomeMap::end(Address address) const {
    if (policy_ != HomePolicy::fixed) return ((address >> granule_bits_) + 1) << granule_bits_;
    Address end = 0;
    for (const Range& range : ranges_)
        for (const Address edge : {range.from, range.to})
            if (edge > address && (end == 0 || edge < end)) end = edge;
    return end;
}

Numa::Numa(const MachineDescription& machine, std::span<const std::unique_ptr<Memory>> memories)
    : homes_(machine), memories_(memories), counts_(memories.size()) {
    const BusConfig& interconnect = machine.numa.interconnect;
    latency_ = interconnect.latency * machine.period;
    std::shared_ptr<Bus> bus;
    for (unsigned node = 0; node < machine.numa.nodes; ++node) {
        if (!bus || !interconnect.shared) bus = std::make_shared<Bus>(interconnect, machine.period);
        buses_.push_back(bus);
        to_interconnect_.push_back(std::make_unique<RequestPort>());
        to_interconnect_.back()->belong_to({this, node, 0}, *memories.front());
    }
    for (std::size_t i = 0; i < memories.size(); ++i) {
        node_of_memory_.push_back(machine.memories[i].node);
        to_memory_.push_back(std::make_unique<RequestPort>());
        to_memory_.back()->connect(*memories[i]);
        to_memory_.back()->belong_to({this, node_of_memory_.back(), 0}, *memories.front());
    }
}

/// A request carries no data there, and its line back; a store the other way round.
Tick Numa::request(From from, Address address, RequestInfo info, Tick time, bool at_home) {
    const std::size_t home = homes_.home(address, from.number);
    const bool remote = is_remote(home, from.number), carries = info.kind() == EventKind::store;
    count(counts_[home], remote, info.kind());
    if (!remote) return to_memory_[home]->request(address, info, time).time;
    Bus& bus = bus_of(from.number);
    const Bus::Transfer there = carries ? bus.transfer(time, LinkTiming::store_bytes) : Bus::Transfer{time, time};
    to_interconnect_[from.number]->notify(address, info, there.begin);
    const Tick answered = to_memory_[home]->request(address, info, there.end + (at_home ? 0 : latency_)).time;
    return carries ? answered : bus.transfer(answered, from.line).end;
}

void Numa::send(From from, Address address, RequestInfo info, Tick time) {
    const std::size_t home = homes_.home(address, from.number);
    const bool remote = is_remote(home, from.number);
    count(counts_[home], remote, info.kind());
    if (remote) {
        const Bus::Transfer there = bus_of(from.number).transfer(time, from.line);
        to_interconnect_[from.number]->notify(address, info, there.begin);
        time = there.end + latency_;
    }
    to_memory_[home]->send(address, info, time);
}

void Numa::write_record(From from, Address address, std::uint32_t bytes, RequestInfo info, Tick time) {
    const std::size_t home = homes_.home(address, from.number);
    const bool remote = is_remote(home, from.number);
    count(counts_[home], remote, info.kind());
    if (remote) time = bus_of(from.number).transfer(time, bytes).end + latency_;
    memories_[home]->write(address, info, time);
}

/// Of all buses, each once.
BusCounts Numa::traffic() const {
    BusCounts sum;
    for (std::size_t node = 0; node < buses_.size(); ++node)
        if (node == 0 || buses_[node] != buses_[node - 1]) sum = sum + buses_[node]->counts();
    return sum;
}

}  // namespace cachetally
