// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/counts.hpp"

#include <algorithm>

namespace cachetally {
namespace {

template <class Counts>
std::vector<Counts> subtract_each(const std::vector<Counts>& a, const std::vector<Counts>& b) {
    std::vector<Counts> difference(a.size());
    std::ranges::transform(a, b, difference.begin(), [](const Counts& x, const Counts& y) { return x - y; });
    return difference;
}

}  // namespace

#define CACHETALLY_ROW(name, unit, meaning) {#name, &Counts::name, unit, meaning},
template <>
std::span<const Counter<CacheCounts>> counters() {
    using Counts = CacheCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_CACHE_COUNTS(CACHETALLY_ROW)};
    return all;
}
template <>
std::span<const Counter<TlbCounts>> counters() {
    using Counts = TlbCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_TLB_COUNTS(CACHETALLY_ROW)};
    return all;
}
template <>
std::span<const Counter<MemoryCounts>> counters() {
    using Counts = MemoryCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_MEMORY_COUNTS(CACHETALLY_ROW)};
    return all;
}
template <>
std::span<const Counter<BusCounts>> counters() {
    using Counts = BusCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_BUS_COUNTS(CACHETALLY_ROW)};
    return all;
}
template <>
std::span<const Counter<CoherenceCounts>> counters() {
    using Counts = CoherenceCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_COHERENCE_COUNTS(CACHETALLY_ROW)};
    return all;
}
template <>
std::span<const Counter<NumaCounts>> counters() {
    using Counts = NumaCounts;
    static constexpr Counter<Counts> all[] = {CACHETALLY_NUMA_COUNTS(CACHETALLY_ROW)};
    return all;
}

#undef CACHETALLY_ROW

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
