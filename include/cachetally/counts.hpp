// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy counts. Plain numbers that can be added and subtracted, so that phases are differences.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cachetally {

// Statistics are declared here and nowhere else: the name in files, JSON and tables, the unit ("" for plain numbers),
// and the meaning. docs/counting.md and docs/coherence.md define each.
#define CACHETALLY_MEMBER(name, unit, meaning) std::uint64_t name = 0;

#define CACHETALLY_CACHE_COUNTS(COUNT)                                                                   \
    COUNT(loads, "", "demand reads from above")                                                          \
    COUNT(load_misses, "", "of loads")                                                                   \
    COUNT(stores, "", "demand writes from above")                                                        \
    COUNT(store_misses, "", "of stores")                                                                 \
    COUNT(fetches, "", "instruction fetches from above")                                                 \
    COUNT(fetch_misses, "", "of fetches")                                                                \
    COUNT(page_walks, "", "reads of page table entries")                                                 \
    COUNT(page_walk_misses, "", "of page walks")                                                         \
    COUNT(prefetches, "", "prefetches from the level above")                                             \
    COUNT(prefetch_misses, "", "of prefetches")                                                          \
    COUNT(ring_writes, "", "records of monitors")                                                        \
    COUNT(ring_write_misses, "", "of records of monitors")                                               \
    COUNT(writebacks_in, "", "dirty victims from above")                                                 \
    COUNT(writeback_misses, "", "of dirty victims from above")                                           \
    COUNT(clean_victims_in, "", "clean victims from above (exclusive and victim levels)")                \
    COUNT(writebacks_out, "", "dirty victims sent down")                                                 \
    COUNT(evictions, "", "lines that left to make room, clean or dirty")                                 \
    COUNT(invalidations, "", "lines invalidated by an inclusive level below or a store of another node") \
    COUNT(prefetches_issued, "", "lines that the own prefetcher brought in")                             \
    COUNT(prefetch_hits, "", "demand hits on a line that the own prefetcher brought in, once per line")
/// Counts of one cache. docs/counting.md defines each.
struct CacheCounts {
    CACHETALLY_CACHE_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const CacheCounts&, const CacheCounts&) = default;
};

#define CACHETALLY_TLB_COUNTS(COUNT) \
    COUNT(accesses, "", "lookups")   \
    COUNT(misses, "", "of lookups")
struct TlbCounts {
    CACHETALLY_TLB_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const TlbCounts&, const TlbCounts&) = default;
};

#define CACHETALLY_MEMORY_COUNTS(COUNT)                           \
    COUNT(reads, "", "demand loads, fetches and prefetches")      \
    COUNT(writes, "", "write-backs and stores that came through") \
    COUNT(page_walks, "", "reads of page table entries")          \
    COUNT(ring_writes, "", "records of monitors")
struct MemoryCounts {
    CACHETALLY_MEMORY_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const MemoryCounts&, const MemoryCounts&) = default;
};

#define CACHETALLY_BUS_COUNTS(COUNT)           \
    COUNT(transfers, "", "both ways")          \
    COUNT(bytes, "bytes", "both ways")         \
    COUNT(busy, "ps", "time of all transfers") \
    COUNT(waited, "ps", "time that transfers waited for others")
/// What went over a bus, both ways.
struct BusCounts {
    CACHETALLY_BUS_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const BusCounts&, const BusCounts&) = default;
};

#define CACHETALLY_COHERENCE_COUNTS(COUNT)                                                          \
    COUNT(reads, "", "lines asked for to be read")                                                  \
    COUNT(exclusive_reads, "", "lines asked for to be written")                                     \
    COUNT(upgrades, "", "lines held already, asked for to be written")                              \
    COUNT(supplies, "", "lines that came from another node")                                        \
    COUNT(write_backs, "", "dirty lines written to the level below because another node read them") \
    COUNT(invalidations, "", "lines that a node lost to another node's store")                      \
    COUNT(downgrades, "", "lines that a node may no longer write, since another node read them")    \
    COUNT(messages, "", "between nodes and the point of coherence")
/// What the nodes of a coherent machine did to each other. docs/coherence.md defines each.
struct CoherenceCounts {
    CACHETALLY_COHERENCE_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const CoherenceCounts&, const CoherenceCounts&) = default;
};

#define CACHETALLY_NUMA_COUNTS(COUNT)                        \
    COUNT(local_reads, "", "by the memory's own node")       \
    COUNT(remote_reads, "", "by other nodes")                \
    COUNT(local_writes, "", "by the memory's own node")      \
    COUNT(remote_writes, "", "by other nodes")               \
    COUNT(local_page_walks, "", "by the memory's own node")  \
    COUNT(remote_page_walks, "", "by other nodes")           \
    COUNT(local_ring_writes, "", "by the memory's own node") \
    COUNT(remote_ring_writes, "", "by other nodes")
/// What a memory was asked by its own node (local) and by others (remote): MemoryCounts in two parts.
struct NumaCounts {
    CACHETALLY_NUMA_COUNTS(CACHETALLY_MEMBER)
    friend bool operator==(const NumaCounts&, const NumaCounts&) = default;
};

#undef CACHETALLY_MEMBER

/// Counts of all components of a hierarchy, in the order of the machine description; copies of a component are summed.
struct HierarchyCounts {
    std::vector<CacheCounts> caches;
    std::vector<TlbCounts> tlbs;
    std::vector<MemoryCounts> memories;
    std::vector<BusCounts> buses;  ///< below the caches, then of the interconnect; empty where nothing contends
    std::vector<CoherenceCounts> coherence;  ///< one where caches are kept coherent, else none
    std::vector<NumaCounts> numa;            ///< by memory where these belong to nodes, else none
    std::uint64_t references = 0;            ///< as the program made them, before splitting
    std::uint64_t page_walks = 0;            ///< TLB misses that were walked
    friend bool operator==(const HierarchyCounts&, const HierarchyCounts&) = default;
};

/// A member of a struct of counts.
template <class Counts>
struct Counter {
    const char* name;
    std::uint64_t Counts::*value;
    const char* unit;
    const char* meaning;
};

/// All members of CacheCounts, TlbCounts, MemoryCounts, BusCounts, CoherenceCounts or NumaCounts, in the order of
/// declaration.
template <class Counts>
std::span<const Counter<Counts>> counters();

template <class Counts>
concept CountedByName =
    std::same_as<Counts, CacheCounts> || std::same_as<Counts, TlbCounts> || std::same_as<Counts, MemoryCounts> ||
    std::same_as<Counts, BusCounts> || std::same_as<Counts, CoherenceCounts> || std::same_as<Counts, NumaCounts>;

template <CountedByName Counts>
Counts operator+(const Counts& a, const Counts& b) {
    Counts sum;
    for (const Counter<Counts>& counter : counters<Counts>()) sum.*counter.value = a.*counter.value + b.*counter.value;
    return sum;
}

template <CountedByName Counts>
Counts operator-(const Counts& a, const Counts& b) {
    Counts difference;
    for (const Counter<Counts>& counter : counters<Counts>())
        difference.*counter.value = a.*counter.value - b.*counter.value;
    return difference;
}

HierarchyCounts operator-(const HierarchyCounts& a, const HierarchyCounts& b);

/// The name and value of every member, in the order of declaration.
template <CountedByName Counts>
std::vector<std::pair<const char*, std::uint64_t>> named(const Counts& counts) {
    std::vector<std::pair<const char*, std::uint64_t>> pairs;
    for (const Counter<Counts>& counter : counters<Counts>()) pairs.emplace_back(counter.name, counts.*counter.value);
    return pairs;
}

}  // namespace cachetally
