// SPDX-License-Identifier: BSD-3-Clause
// Sectors for some of the caches that may have them.
#include <algorithm>

#include "tests/differential/random_machine.hpp"

namespace cachetally::differential {
namespace {

bool by_victims(const CacheConfig& cache) {
    return cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim;
}

/// The shortest sector that a cache may have; its line where it may have none.
unsigned least_sector(const MachineDescription& machine, const CacheConfig& cache) {
    unsigned least = std::max(8U, cache.line / 64);
    if (by_victims(cache)) return cache.line;
    for (const CacheConfig& other : machine.caches) {
        if (other.name == cache.next && by_victims(other)) return cache.line;
        if (other.next == cache.name)
            least = std::max(least, cache.inclusion == Inclusion::inclusive ? other.line : other.transfer());
    }
    return least;
}

}  // namespace

void add_sectors(MachineDescription& machine, const Chooser& choose, bool first_levels) {
    for (CacheConfig& cache : machine.caches) {
        const auto leads_here = [&](const CacheConfig& other) { return other.next == cache.name; };
        if (!first_levels && std::ranges::none_of(machine.caches, leads_here)) continue;
        unsigned sector = least_sector(machine, cache);
        while (sector < cache.line && choose(2) == 1) sector *= 2;
        if (sector < cache.line && choose(2) == 1) cache.sector = sector;
    }
}

}  // namespace cachetally::differential
