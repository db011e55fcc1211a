// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/time_bound.hpp"

#include <algorithm>

namespace cachetally {
namespace {

constexpr Tick longest_reference = 1 << 16;  ///< bytes
constexpr Tick visits = 16;  ///< of a level, for one line: itself, and the references of a page walk in each TLB

}  // namespace

Tick reference_at_most(const MachineDescription& machine) {
    double cycles = 1;
    Tick shortest = longest_reference;
    for (const CacheConfig& cache : machine.caches) {
        cycles += cache.latency + cache.bus.latency;
        shortest = std::min<Tick>(shortest, cache.line);
    }
    for (const TlbConfig& tlb : machine.tlbs) cycles += tlb.latency;
    for (const MemoryConfig& memory : machine.memories) cycles += memory.latency;
    cycles += machine.pages.walk_latency + machine.coherence.latency + machine.coherence.forward +
              machine.coherence.supply + machine.numa.interconnect.latency;
    const double most =
        cycles * static_cast<double>(machine.period) * static_cast<double>(visits * (longest_reference / shortest + 1));
    return most < static_cast<double>(longest_time) ? static_cast<Tick>(most) : longest_time;
}

}  // namespace cachetally
