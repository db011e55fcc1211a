#include "sim/topology/time_bound.hpp"

#include <stdexcept>

namespace cachetally {

double time_at_most(const MachineDescription& machine, const HierarchyCounts& counts) {
    double cycles = 0;
    const auto add = [&](std::uint64_t visits, unsigned latency) {
        cycles += static_cast<double>(visits) * static_cast<double>(latency);
    };
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        const CacheCounts& cache = counts.caches[i];
        add(cache.loads + cache.stores + cache.fetches + cache.page_walks, machine.caches[i].latency);
    }
    for (std::size_t i = 0; i < machine.tlbs.size(); ++i) add(counts.tlbs[i].accesses, machine.tlbs[i].latency);
    for (std::size_t i = 0; i < machine.memories.size(); ++i) {
        const MemoryCounts& memory = counts.memories[i];
        add(memory.reads + memory.writes + memory.page_walks, machine.memories[i].latency);
    }
    add(counts.page_walks, machine.pages.walk_latency);
    for (const CoherenceCounts& nodes : counts.coherence)
        for (const unsigned latency : {machine.coherence.latency, machine.coherence.forward, machine.coherence.supply})
            add(nodes.reads + nodes.exclusive_reads + nodes.upgrades, latency);
    const unsigned crossing = machine.numa.interconnect.latency;
    for (const NumaCounts& memory : counts.numa)
        add(memory.remote_reads + memory.remote_writes + memory.remote_page_walks + memory.remote_ring_writes,
            crossing);
    if (machine.has_nodes())
        for (const CoherenceCounts& nodes : counts.coherence)
            add(nodes.reads + nodes.exclusive_reads + nodes.upgrades, crossing);
    // Whoever waits on a link or for a bank waits while it is busy.
    double busy = 0;
    for (std::size_t i = 0; i < counts.buses.size(); ++i) {
        if (i < machine.caches.size()) add(counts.buses[i].transfers, machine.caches[i].bus.latency);
        busy += static_cast<double>(counts.buses[i].busy);
    }
    for (std::size_t i = 0; i < machine.memories.size(); ++i) {
        const MemoryCounts& memory = counts.memories[i];
        add(memory.reads + memory.writes + memory.page_walks + memory.ring_writes, machine.memories[i].bank_busy);
    }
    return cycles * static_cast<double>(machine.period) + busy;
}

void check_time(const MachineDescription& machine, const HierarchyCounts& counts) {
    if (time_at_most(machine, counts) > static_cast<double>(longest_time))
        throw std::runtime_error(
            "the simulated time passes 53 days, the longest that is counted in picoseconds; give the machine shorter "
            "latencies or a faster clock");
}

}  // namespace cachetally
