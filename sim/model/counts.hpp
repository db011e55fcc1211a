// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy counts. Plain numbers that can be added and subtracted, so that phases are differences.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cachetally {

/// Counts of one cache. docs/counting.md defines each.
struct CacheCounts {
    // Requests from above by kind, and those that found nothing.
    std::uint64_t loads = 0, load_misses = 0;
    std::uint64_t stores = 0, store_misses = 0;
    std::uint64_t fetches = 0, fetch_misses = 0;
    std::uint64_t page_walks = 0, page_walk_misses = 0;
    std::uint64_t prefetches = 0, prefetch_misses = 0;  ///< prefetches that arrived from above
    std::uint64_t ring_writes = 0, ring_write_misses = 0;
    std::uint64_t writebacks_in = 0, writeback_misses = 0;  ///< dirty victims from above
    std::uint64_t clean_victims_in = 0;                     ///< clean victims from above (exclusive, victim)
    // What it sent down or away.
    std::uint64_t writebacks_out = 0;     ///< dirty victims sent down
    std::uint64_t evictions = 0;          ///< lines that left to make room, clean or dirty
    std::uint64_t invalidations = 0;      ///< lines taken away by an inclusive level below or a store of another node
    std::uint64_t prefetches_issued = 0;  ///< lines that its own prefetcher brought in
    std::uint64_t prefetch_hits = 0;      ///< demand hits on a line that its own prefetcher brought in, once per line

    friend bool operator==(const CacheCounts&, const CacheCounts&) = default;
};

struct TlbCounts {
    std::uint64_t accesses = 0, misses = 0;
    friend bool operator==(const TlbCounts&, const TlbCounts&) = default;
};

struct MemoryCounts {
    std::uint64_t reads = 0;        ///< demand loads, fetches and prefetches
    std::uint64_t writes = 0;       ///< write-backs and stores that came through
    std::uint64_t page_walks = 0;   ///< reads of page table entries
    std::uint64_t ring_writes = 0;  ///< monitor records
    friend bool operator==(const MemoryCounts&, const MemoryCounts&) = default;
};

/// What went over a bus, both ways.
struct BusCounts {
    std::uint64_t transfers = 0, bytes = 0;
    std::uint64_t busy = 0;    ///< ticks
    std::uint64_t waited = 0;  ///< ticks that transfers waited for others
    friend bool operator==(const BusCounts&, const BusCounts&) = default;
};

/// What the nodes of a coherent machine did to each other. docs/coherence.md defines each.
struct CoherenceCounts {
    std::uint64_t reads = 0;            ///< lines asked for to be read
    std::uint64_t exclusive_reads = 0;  ///< lines asked for to be written
    std::uint64_t upgrades = 0;         ///< lines held already, asked for to be written
    std::uint64_t supplies = 0;         ///< lines that came from another node
    std::uint64_t write_backs = 0;      ///< dirty lines written to the level below because another node read them
    std::uint64_t invalidations = 0;    ///< lines that a node lost to another one's store
    std::uint64_t downgrades = 0;       ///< lines that a node may no longer write, since another one read them
    std::uint64_t messages = 0;         ///< between nodes and the point of coherence
    friend bool operator==(const CoherenceCounts&, const CoherenceCounts&) = default;
};

/// What a memory was asked by its own node (local) and by others (remote): MemoryCounts in two parts.
struct NumaCounts {
    std::uint64_t local_reads = 0, remote_reads = 0;
    std::uint64_t local_writes = 0, remote_writes = 0;
    std::uint64_t local_page_walks = 0, remote_page_walks = 0;
    std::uint64_t local_ring_writes = 0, remote_ring_writes = 0;
    friend bool operator==(const NumaCounts&, const NumaCounts&) = default;
};

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

/// A member of a struct of counts: its name in files, JSON and tables, its unit ("" for plain numbers), and its
/// meaning.
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
