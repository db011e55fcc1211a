// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/counts.hpp"

#include <algorithm>

namespace cachetally {
namespace {

/// `table`, which must name every member in the order of declaration.
template <class Counts, std::size_t count>
constexpr std::span<const Counter<Counts>> complete(const Counter<Counts> (&table)[count]) {
    static_assert(sizeof(Counts) == count * sizeof(std::uint64_t), "name every member");
    return table;
}

constexpr Counter<CacheCounts> cache_counters[] = {
    {"loads", &CacheCounts::loads, "", "demand reads from above"},
    {"load_misses", &CacheCounts::load_misses, "", "of loads"},
    {"stores", &CacheCounts::stores, "", "demand writes from above"},
    {"store_misses", &CacheCounts::store_misses, "", "of stores"},
    {"fetches", &CacheCounts::fetches, "", "instruction fetches from above"},
    {"fetch_misses", &CacheCounts::fetch_misses, "", "of fetches"},
    {"page_walks", &CacheCounts::page_walks, "", "reads of page table entries"},
    {"page_walk_misses", &CacheCounts::page_walk_misses, "", "of page walks"},
    {"prefetches", &CacheCounts::prefetches, "", "prefetches from the level above"},
    {"prefetch_misses", &CacheCounts::prefetch_misses, "", "of prefetches"},
    {"ring_writes", &CacheCounts::ring_writes, "", "records of monitors"},
    {"ring_write_misses", &CacheCounts::ring_write_misses, "", "of records of monitors"},
    {"writebacks_in", &CacheCounts::writebacks_in, "", "dirty victims from above"},
    {"writeback_misses", &CacheCounts::writeback_misses, "", "of dirty victims from above"},
    {"clean_victims_in", &CacheCounts::clean_victims_in, "", "clean victims from above (exclusive and victim levels)"},
    {"writebacks_out", &CacheCounts::writebacks_out, "", "dirty victims sent down"},
    {"evictions", &CacheCounts::evictions, "", "lines that left to make room, clean or dirty"},
    {"invalidations", &CacheCounts::invalidations, "",
     "lines invalidated by an inclusive level below or a store of another node"},
    {"prefetches_issued", &CacheCounts::prefetches_issued, "", "lines that the own prefetcher brought in"},
    {"prefetch_hits", &CacheCounts::prefetch_hits, "",
     "demand hits on a line that the own prefetcher brought in, once per line"},
};

constexpr Counter<TlbCounts> tlb_counters[] = {
    {"accesses", &TlbCounts::accesses, "", "lookups"},
    {"misses", &TlbCounts::misses, "", "of lookups"},
};

constexpr Counter<MemoryCounts> memory_counters[] = {
    {"reads", &MemoryCounts::reads, "", "demand loads, fetches and prefetches"},
    {"writes", &MemoryCounts::writes, "", "write-backs and stores that came through"},
    {"page_walks", &MemoryCounts::page_walks, "", "reads of page table entries"},
    {"ring_writes", &MemoryCounts::ring_writes, "", "records of monitors"},
};

constexpr Counter<BusCounts> bus_counters[] = {
    {"transfers", &BusCounts::transfers, "", "both ways"},
    {"bytes", &BusCounts::bytes, "bytes", "both ways"},
    {"busy", &BusCounts::busy, "ps", "time of all transfers"},
    {"waited", &BusCounts::waited, "ps", "time that transfers waited for others"},
};

constexpr Counter<CoherenceCounts> coherence_counters[] = {
    {"reads", &CoherenceCounts::reads, "", "lines asked for to be read"},
    {"exclusive_reads", &CoherenceCounts::exclusive_reads, "", "lines asked for to be written"},
    {"upgrades", &CoherenceCounts::upgrades, "", "lines held already, asked for to be written"},
    {"supplies", &CoherenceCounts::supplies, "", "lines that came from another node"},
    {"write_backs", &CoherenceCounts::write_backs, "",
     "dirty lines written to the level below because another node read them"},
    {"invalidations", &CoherenceCounts::invalidations, "", "lines that a node lost to another node's store"},
    {"downgrades", &CoherenceCounts::downgrades, "",
     "lines that a node may no longer write, since another node read them"},
    {"messages", &CoherenceCounts::messages, "", "between nodes and the point of coherence"},
};

constexpr Counter<NumaCounts> numa_counters[] = {
    {"local_reads", &NumaCounts::local_reads, "", "by the memory's own node"},
    {"remote_reads", &NumaCounts::remote_reads, "", "by other nodes"},
    {"local_writes", &NumaCounts::local_writes, "", "by the memory's own node"},
    {"remote_writes", &NumaCounts::remote_writes, "", "by other nodes"},
    {"local_page_walks", &NumaCounts::local_page_walks, "", "by the memory's own node"},
    {"remote_page_walks", &NumaCounts::remote_page_walks, "", "by other nodes"},
    {"local_ring_writes", &NumaCounts::local_ring_writes, "", "by the memory's own node"},
    {"remote_ring_writes", &NumaCounts::remote_ring_writes, "", "by other nodes"},
};

template <class Counts>
std::vector<Counts> subtract_each(const std::vector<Counts>& a, const std::vector<Counts>& b) {
    std::vector<Counts> difference(a.size());
    std::ranges::transform(a, b, difference.begin(), [](const Counts& x, const Counts& y) { return x - y; });
    return difference;
}

}  // namespace

template <>
std::span<const Counter<CacheCounts>> counters() {
    return complete(cache_counters);
}
template <>
std::span<const Counter<TlbCounts>> counters() {
    return complete(tlb_counters);
}
template <>
std::span<const Counter<MemoryCounts>> counters() {
    return complete(memory_counters);
}
template <>
std::span<const Counter<BusCounts>> counters() {
    return complete(bus_counters);
}
template <>
std::span<const Counter<CoherenceCounts>> counters() {
    return complete(coherence_counters);
}
template <>
std::span<const Counter<NumaCounts>> counters() {
    return complete(numa_counters);
}

HierarchyCounts operator-(const HierarchyCounts& a, const HierarchyCounts& b) {
    return {
        .caches = subtract_each(a.caches, b.caches),
        .tlbs = subtract_each(a.tlbs, b.tlbs),
        .memories = subtract_each(a.memories, b.memories),
        .buses = subtract_each(a.buses, b.buses),
        .coherence = subtract_each(a.coherence, b.coherence),
        .numa = subtract_each(a.numa, b.numa),
        .references = a.references - b.references,
        .page_walks = a.page_walks - b.page_walks,
    };
}

}  // namespace cachetally
