#include "sim/model/counts.hpp"

#include <algorithm>

namespace cachetally {
namespace {

struct Member {
    const char* name;
    std::uint64_t CacheCounts::*value;
};

constexpr Member members[] = {
    {"loads", &CacheCounts::loads},
    {"load_misses", &CacheCounts::load_misses},
    {"stores", &CacheCounts::stores},
    {"store_misses", &CacheCounts::store_misses},
    {"fetches", &CacheCounts::fetches},
    {"fetch_misses", &CacheCounts::fetch_misses},
    {"page_walks", &CacheCounts::page_walks},
    {"page_walk_misses", &CacheCounts::page_walk_misses},
    {"prefetches", &CacheCounts::prefetches},
    {"prefetch_misses", &CacheCounts::prefetch_misses},
    {"ring_writes", &CacheCounts::ring_writes},
    {"ring_write_misses", &CacheCounts::ring_write_misses},
    {"writebacks_in", &CacheCounts::writebacks_in},
    {"writeback_misses", &CacheCounts::writeback_misses},
    {"clean_victims_in", &CacheCounts::clean_victims_in},
    {"writebacks_out", &CacheCounts::writebacks_out},
    {"evictions", &CacheCounts::evictions},
    {"invalidations", &CacheCounts::invalidations},
    {"prefetches_issued", &CacheCounts::prefetches_issued},
    {"prefetch_hits", &CacheCounts::prefetch_hits},
};
static_assert(sizeof(CacheCounts) == std::size(members) * sizeof(std::uint64_t), "name every member");

struct CoherenceMember {
    const char* name;
    std::uint64_t CoherenceCounts::*value;
};

constexpr CoherenceMember coherence_members[] = {
    {"reads", &CoherenceCounts::reads},
    {"exclusive_reads", &CoherenceCounts::exclusive_reads},
    {"upgrades", &CoherenceCounts::upgrades},
    {"supplies", &CoherenceCounts::supplies},
    {"write_backs", &CoherenceCounts::write_backs},
    {"invalidations", &CoherenceCounts::invalidations},
    {"downgrades", &CoherenceCounts::downgrades},
    {"messages", &CoherenceCounts::messages},
};
static_assert(sizeof(CoherenceCounts) == std::size(coherence_members) * sizeof(std::uint64_t), "name every member");

struct NumaMember {
    const char* name;
    std::uint64_t NumaCounts::*value;
};

constexpr NumaMember numa_members[] = {
    {"local_reads", &NumaCounts::local_reads},
    {"remote_reads", &NumaCounts::remote_reads},
    {"local_writes", &NumaCounts::local_writes},
    {"remote_writes", &NumaCounts::remote_writes},
    {"local_page_walks", &NumaCounts::local_page_walks},
    {"remote_page_walks", &NumaCounts::remote_page_walks},
    {"local_ring_writes", &NumaCounts::local_ring_writes},
    {"remote_ring_writes", &NumaCounts::remote_ring_writes},
};
static_assert(sizeof(NumaCounts) == std::size(numa_members) * sizeof(std::uint64_t), "name every member");

template <class Counts, class Subtract>
std::vector<Counts> subtract_each(const std::vector<Counts>& a, const std::vector<Counts>& b, Subtract subtract) {
    std::vector<Counts> difference(a.size());
    std::ranges::transform(a, b, difference.begin(), subtract);
    return difference;
}

}  // namespace

CacheCounts operator+(const CacheCounts& a, const CacheCounts& b) {
    CacheCounts sum;
    for (const Member& member : members) sum.*member.value = a.*member.value + b.*member.value;
    return sum;
}

TlbCounts operator+(const TlbCounts& a, const TlbCounts& b) { return {a.accesses + b.accesses, a.misses + b.misses}; }

BusCounts operator+(const BusCounts& a, const BusCounts& b) {
    return {a.transfers + b.transfers, a.bytes + b.bytes, a.busy + b.busy, a.waited + b.waited};
}

CacheCounts operator-(const CacheCounts& a, const CacheCounts& b) {
    CacheCounts difference;
    for (const Member& member : members) difference.*member.value = a.*member.value - b.*member.value;
    return difference;
}

CoherenceCounts operator-(const CoherenceCounts& a, const CoherenceCounts& b) {
    CoherenceCounts difference;
    for (const CoherenceMember& member : coherence_members)
        difference.*member.value = a.*member.value - b.*member.value;
    return difference;
}

NumaCounts operator-(const NumaCounts& a, const NumaCounts& b) {
    NumaCounts difference;
    for (const NumaMember& member : numa_members) difference.*member.value = a.*member.value - b.*member.value;
    return difference;
}

HierarchyCounts operator-(const HierarchyCounts& a, const HierarchyCounts& b) {
    return {
        subtract_each(a.caches, b.caches, [](const CacheCounts& x, const CacheCounts& y) { return x - y; }),
        subtract_each(a.tlbs, b.tlbs,
                      [](const TlbCounts& x, const TlbCounts& y) {
                          return TlbCounts{x.accesses - y.accesses, x.misses - y.misses};
                      }),
        subtract_each(a.memories, b.memories,
                      [](const MemoryCounts& x, const MemoryCounts& y) {
                          return MemoryCounts{x.reads - y.reads, x.writes - y.writes, x.page_walks - y.page_walks,
                                              x.ring_writes - y.ring_writes};
                      }),
        subtract_each(
            a.buses, b.buses,
            [](const BusCounts& x, const BusCounts& y) {
                return BusCounts{x.transfers - y.transfers, x.bytes - y.bytes, x.busy - y.busy, x.waited - y.waited};
            }),
        subtract_each(a.coherence, b.coherence,
                      [](const CoherenceCounts& x, const CoherenceCounts& y) { return x - y; }),
        subtract_each(a.numa, b.numa, [](const NumaCounts& x, const NumaCounts& y) { return x - y; }),
        a.references - b.references,
        a.page_walks - b.page_walks,
    };
}

std::vector<std::pair<const char*, std::uint64_t>> named(const CacheCounts& counts) {
    std::vector<std::pair<const char*, std::uint64_t>> pairs;
    for (const Member& member : members) pairs.emplace_back(member.name, counts.*member.value);
    return pairs;
}

std::vector<std::pair<const char*, std::uint64_t>> named(const CoherenceCounts& counts) {
    std::vector<std::pair<const char*, std::uint64_t>> pairs;
    for (const CoherenceMember& member : coherence_members) pairs.emplace_back(member.name, counts.*member.value);
    return pairs;
}

std::vector<std::pair<const char*, std::uint64_t>> named(const NumaCounts& counts) {
    std::vector<std::pair<const char*, std::uint64_t>> pairs;
    for (const NumaMember& member : numa_members) pairs.emplace_back(member.name, counts.*member.value);
    return pairs;
}

}  // namespace cachetally
