// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/behaviour_truth.hpp"

#include <fmt/format.h>

#include "cachetally/topology.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {

std::vector<Fact> behaviour_facts(const MachineDescription& machine) {
    std::vector<Fact> facts;
    unsigned number = 0;
    for (const std::size_t index : data_caches(machine)) {
        const CacheConfig& cache = machine.caches[index];
        const std::string level = fmt::format("L{}", ++number);
        const bool of_victims = cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim;
        facts.push_back({level, "write", {0, std::string(name_of(cache.write))}});
        facts.push_back({level, "write_allocate", {0, cache.write_allocate && !of_victims ? "true" : "false"}});
    }
    return facts;
}

}  // namespace cachetally
