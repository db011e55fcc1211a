// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/sharing_truth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/ours/cores.hpp"
#include "probes/targets/data_path.hpp"

namespace cachetally {
namespace {

constexpr double nearly_equal = 1.25;

bool belongs_to_some(const MachineDescription& machine, const CacheConfig& cache) {
    return cache.shared_by != 0 && cache.shared_by < machine.cores;
}

double cycles_of_link(const CacheConfig& cache) {
    const unsigned bytes = cache.bus.bytes_per_cycle;
    return cache.bus.latency + (bytes == 0 ? 0 : (cache.line + bytes - 1) / bytes);
}

/// Groups of so many cores each, in which pairs are as near as this.
struct Nearness {
    double least = 0, most = 0;  ///< cycles
    unsigned cores = 1;
};

/// What a load takes whose line another core of the same node wrote, or a core of another node.
struct Ways {
    double within = 0, between = 0;  ///< cycles
    unsigned node = 1;               ///< cores that the private caches belong to
};

Ways ways_of(const MachineDescription& machine) {
    const CoherenceConfig& coherence = machine.coherence;
    Ways ways{.node = machine.cores};
    const auto tlbs = data_tlbs(machine);
    const auto caches = data_caches(machine);
    double cycles = tlbs.empty() ? 0 : machine.tlbs[tlbs.front()].latency;
    if (!caches.empty()) ways.within = cycles + machine.caches[caches.front()].latency;
    for (const std::size_t index : caches) {
        const CacheConfig& cache = machine.caches[index];
        if (!belongs_to_some(machine, cache)) break;
        ways.node = cache.shared_by;
        cycles += cache.latency + cycles_of_link(cache);
    }
    const bool by_directory = coherence.by == CoherenceBy::directory;
    ways.between = cycles + coherence.latency + (by_directory ? coherence.forward : 0) + coherence.supply;
    return ways;
}

/// By the level at which two cores meet: their caches, their memory, or neither; nearest first.
std::vector<Nearness> nearness_of(const MachineDescription& machine) {
    const Ways ways = ways_of(machine);
    // A directory is at the home of the line, which is that of who wrote it first; snooping asks all at once.
    const bool by_homes = machine.has_nodes() && machine.coherence.by == CoherenceBy::directory;
    const unsigned near = by_homes ? machine.cores_per_node() : machine.cores;
    const double far = ways.between + machine.numa.interconnect.latency;
    std::vector<Nearness> found;
    if (ways.node > 1) found.push_back({ways.within, ways.within, ways.node});
    if (ways.node < near) found.push_back({ways.between, ways.between, near});
    if (near < machine.cores) found.push_back({far, far, machine.cores});
    std::ranges::sort(found, {}, &Nearness::least);
    for (std::size_t i = 1; i < found.size();) {
        if (found[i].least >= nearly_equal * found[i - 1].most) {
            ++i;
            continue;
        }
        found[i - 1].most = found[i].most;
        found[i - 1].cores = std::max(found[i - 1].cores, found[i].cores);
        found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return found;
}

}  // namespace

double asked_of_others(const MachineDescription& machine, const CacheConfig& cache) {
    if (machine.coherence.protocol == Protocol::none || !belongs_to_some(machine, cache)) return 0;
    const auto below = std::ranges::find(machine.caches, cache.next, &CacheConfig::name);
    return below != machine.caches.end() && belongs_to_some(machine, *below) ? 0 : machine.coherence.latency;
}

std::vector<Fact> transfer_facts(const MachineDescription& machine) {
    const bool any_private =
        std::ranges::any_of(machine.caches, [&](const CacheConfig& each) { return belongs_to_some(machine, each); });
    if (machine.cores == 1 || (any_private && machine.coherence.protocol == Protocol::none)) return {};
    if (machine.has_nodes() && machine.numa.policy != HomePolicy::first_touch) return {};
    const std::vector<Nearness> all = nearness_of(machine);
    std::vector<Fact> facts;
    for (std::size_t i = 0; i < all.size(); ++i)
        facts.push_back({fmt::format("transfer {}", i + 1), "latency", {all[i].least, ""}, all[i].most});
    ProcessorGroups groups;
    for (unsigned core = 0; core < machine.cores; ++core) {
        if (core % all.front().cores == 0) groups.emplace_back();
        groups.back().push_back(core);
    }
    facts.push_back({"", "transfer_groups", {0, in_words(groups)}});
    return facts;
}

}  // namespace cachetally
