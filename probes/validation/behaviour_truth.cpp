// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/behaviour_truth.hpp"

#include <fmt/format.h>

#include "probes/targets/data_path.hpp"
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {

bool prefetches_lines(const CacheConfig& cache) {
    constexpr std::uint64_t bounds = 4096;
    const unsigned lines = cache.prefetch.distance;
    if (cache.prefetch.kind == PrefetchKind::none) return false;
    if (cache.prefetch.kind == prefetchers::adjacent_line) return cache.transfer() < bounds;
    if (cache.prefetch.kind == prefetchers::next_line) return lines * cache.transfer() < bounds;
    // of a stream the third line is the first that counts; strides are of any length
    return cache.prefetch.kind != prefetchers::stream || (lines + 2) * cache.transfer() < bounds;
}

std::vector<Fact> behaviour_facts(const MachineDescription& machine) {
    std::vector<Fact> facts;
    unsigned number = 0;
    for (const std::size_t index : data_caches(machine)) {
        const CacheConfig& cache = machine.caches[index];
        const std::string level = fmt::format("L{}", ++number);
        const bool of_victims = filled_by_victims(cache.inclusion);
        facts.push_back({level, "write", {0, std::string(name_of(cache.write))}});
        facts.push_back({level, "write_allocate", {0, cache.write_allocate && !of_victims ? "true" : "false"}});
        const bool prefetches = prefetches_lines(cache);
        facts.push_back({level, "prefetch", {0, prefetches ? std::string(name_of(cache.prefetch.kind)) : "none"}});
        if (!prefetches || !row_of(cache.prefetch.kind).has_degree) continue;
        facts.push_back({level, "prefetch_degree", {static_cast<double>(cache.prefetch.degree), ""}});
        facts.push_back({level, "prefetch_distance", {static_cast<double>(cache.prefetch.distance), ""}});
    }
    return facts;
}

}  // namespace cachetally
