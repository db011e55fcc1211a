// SPDX-License-Identifier: BSD-3-Clause
// NUMA nodes of the reference simulator, from docs/numa.md.
#include "tests/differential/slow_machine.hpp"

namespace cachetally::differential {

unsigned SlowMachine::node_of(unsigned core) const { return core / (machine_.cores / machine_.numa.nodes); }

/// The number of the memory; a page that is asked for first is at home with whoever asks.
std::size_t SlowMachine::home_of(Address address, unsigned node) {
    const NumaConfig& config = machine_.numa;
    if (config.policy == HomePolicy::interleaved) return address / config.granule % machine_.memories.size();
    std::string name = config.otherwise.empty() ? machine_.memories[0].name : config.otherwise;
    if (config.policy == HomePolicy::fixed) {
        for (const HomeRange& range : config.ranges)
            if (range.from <= address && address < range.to) name = range.memory;
        for (std::size_t i = 0; i < machine_.memories.size(); ++i)
            if (machine_.memories[i].name == name) return i;
    }
    const Address page = address / machine_.pages.size;
    if (!toucher_.contains(page)) toucher_[page] = node;
    for (std::size_t i = 0; i < machine_.memories.size(); ++i)
        if (machine_.memories[i].node == toucher_[page]) return i;
    return 0;
}

bool SlowMachine::is_remote(Address address, unsigned node) {
    return machine_.memories[home_of(address, node)].node != node;
}

void SlowMachine::count_at_home(std::size_t home, bool remote, EventKind kind) {
    NumaCounts& counts = counts_.numa[home];
    if (kind == EventKind::page_walk) {
        ++(remote ? counts.remote_page_walks : counts.local_page_walks);
    } else if (kind == EventKind::ring_write) {
        ++(remote ? counts.remote_ring_writes : counts.local_ring_writes);
    } else if (kind == EventKind::store || kind == EventKind::write_back) {
        ++(remote ? counts.remote_writes : counts.local_writes);
    } else {
        ++(remote ? counts.remote_reads : counts.local_reads);
    }
}

/// What leaves a node for the memory that it is at home in. `bytes` of a line.
Tick SlowMachine::leave_node(unsigned node, std::uint64_t bytes, Request request) {
    const BusConfig& config = machine_.numa.interconnect;
    const std::size_t home = home_of(request.address, node);
    const std::string& memory = machine_.memories[home].name;
    const bool remote = machine_.memories[home].node != node;
    count_at_home(home, remote, request.kind);
    SlowBus& bus = interconnect_[config.shared ? 0 : node];
    const bool store = request.kind == EventKind::store;
    const bool goes_there = store || request.kind == EventKind::write_back || request.kind == EventKind::ring_write;
    if (remote) {
        notify("numa-interconnect", node, request);
        if (goes_there) request.time = carry(bus, config, request.time, store ? 8 : bytes).second;
        if (!request.from_directory) request.time += config.latency * machine_.period;
    }
    request.over = {"numa-" + memory, 0};
    notify(request.over->first, 0, request);
    const Tick answered = memory_arrives(memory, request);
    return remote && !goes_there ? carry(bus, config, answered, bytes).second : answered;
}

/// Events nowhere.
void SlowMachine::record_leaves_node(unsigned node, Request record) {
    const BusConfig& config = machine_.numa.interconnect;
    const std::size_t home = home_of(record.address, node);
    const bool remote = machine_.memories[home].node != node;
    count_at_home(home, remote, record.kind);
    if (remote)
        record.time = carry(interconnect_[config.shared ? 0 : node], config, record.time, 16).second +
                      config.latency * machine_.period;
    memory_arrives(machine_.memories[home].name, record);
}

/// The node that a copy of a link belongs to: that of the component above, or of the memory below.
unsigned SlowMachine::node_of_link(const std::string& above, const std::string& below, unsigned copy) const {
    if (above == "core" || above == "walker") return node_of(copy);
    if (above == "numa") {
        for (const MemoryConfig& memory : machine_.memories)
            if (memory.name == below) return memory.node;
        return copy;
    }
    for (const CacheConfig& cache : machine_.caches)
        if (cache.name == above) return node_of(copy * (cache.shared_by != 0 ? cache.shared_by : machine_.cores));
    for (const TlbConfig& tlb : machine_.tlbs)
        if (tlb.name == above) return node_of(copy * (tlb.shared_by != 0 ? tlb.shared_by : machine_.cores));
    return 0;
}

}  // namespace cachetally::differential
