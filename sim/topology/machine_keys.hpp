// SPDX-License-Identifier: BSD-3-Clause
// The keys of machine files, each once: what reader.cpp reads and writer.cpp writes. A key is a member, its bounds, and
// an example where a message needs one.
#pragma once

#include <limits>

#include "cachetally/machine.hpp"
#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {

enum class Need : std::uint8_t {
    optional,
    required,  ///< in files; and always written
    stated,    ///< always written
};

/// What a mapping is, for messages, with an example of a right one.
struct MappingKind {
    const char* name;
    const char* example;
};

inline constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t most_places = 1024, most_bytes_per_cycle = 4096, most_banks = 4096, most_nodes = 64,
                               most_slices = 1024, most_walk_entries = 1024, most_coalesced = 16;

// `keys` visits the members. keys.all(): also those that have no effect as the others are.

template <class Keys>
void visit(Keys& keys, BusConfig& bus) {
    keys.whole("latency", bus.latency, 0, most_cycles);
    keys.whole("bytes_per_cycle", bus.bytes_per_cycle, 1, most_bytes_per_cycle);
    keys.flag("shared", bus.shared);
}

template <class Keys>
void visit(Keys& keys, PrefetchConfig& prefetch) {
    if (!keys.all() && prefetch.kind == PrefetchKind::none) return;
    keys.choice("kind", prefetch.kind, Need::required);
    if (keys.all() || row_of(prefetch.kind).has_degree) {
        keys.whole("degree", prefetch.degree, 1, 64);
        keys.whole("distance", prefetch.distance, 1, 64);
    }
    if (keys.all() || row_of(prefetch.kind).has_entries) keys.whole("entries", prefetch.entries, 1, 65536);
}

/// Of caches and TLBs.
template <class Keys>
void visit_ways(Keys& keys, unsigned& ways) {
    keys.whole_or("full", "ways", ways, 65536, ", or full for fully associative", Need::required);
}
template <class Keys>
void visit_shared_by(Keys& keys, unsigned& shared_by) {
    keys.whole_or("all", "shared_by", shared_by, 256, ", or all", Need::optional);
}

template <class Keys>
void visit(Keys& keys, CacheConfig& cache) {
    keys.text("name", cache.name, "L1", Need::required);
    keys.text("next", cache.next, "memory", Need::required);
    keys.choice("serves", cache.serves);
    visit_shared_by(keys, cache.shared_by);
    keys.size("size", cache.size, Need::required);
    visit_ways(keys, cache.ways);
    keys.size("line", cache.line);
    keys.size("sector", cache.sector);
    keys.whole("latency", cache.latency, 0, most_cycles);
    keys.choice("replacement", cache.replacement);
    keys.whole("seed", cache.seed, 0, any_number);
    keys.choice("empty_way", cache.empty_way);
    keys.choice("indexing", cache.indexing);
    keys.whole("slices", cache.slices, 2, most_slices);
    keys.flag("virtually_indexed", cache.virtually_indexed);
    keys.choice("inclusion", cache.inclusion);
    keys.choice("write", cache.write);
    keys.flag("write_allocate", cache.write_allocate);
    keys.flag("write_back_first", cache.write_back_first);
    keys.choice("write_back_miss", cache.write_back_miss);
    keys.flag("write_back_traffic", cache.write_back_traffic);
    keys.flag("store_hit_refreshes", cache.store_hit_refreshes);
    keys.flag("write_back_refreshes", cache.write_back_refreshes);
    keys.kind_or_mapping("prefetch", {"a prefetcher", "{kind: next_line, degree: 2}"}, cache.prefetch);
    keys.mapping("bus", {"a bus", "{latency: 2, bytes_per_cycle: 16}"}, [&](auto& k) { visit(k, cache.bus); });
    keys.whole("outstanding_misses", cache.outstanding_misses, 1, most_places);
    keys.whole("write_buffer", cache.write_buffer, 1, most_places);
}

template <class Keys>
void visit(Keys& keys, CoherenceConfig& coherence) {
    keys.choice("protocol", coherence.protocol, Need::required);
    keys.choice("by", coherence.by);
    keys.whole("latency", coherence.latency, 0, most_cycles);
    if (keys.all() || coherence.by == CoherenceBy::directory) keys.whole("forward", coherence.forward, 0, most_cycles);
    keys.whole("supply", coherence.supply, 0, most_cycles);
}

template <class Keys>
void visit(Keys& keys, TlbConfig& tlb) {
    keys.text("name", tlb.name, "DTLB", Need::required);
    keys.text("next", tlb.next, "STLB");
    keys.choice("serves", tlb.serves);
    visit_shared_by(keys, tlb.shared_by);
    keys.whole("entries", tlb.entries, 1, 1 << 20, Need::required);
    visit_ways(keys, tlb.ways);
    keys.whole("latency", tlb.latency, 0, most_cycles);
    keys.choice("replacement", tlb.replacement);
    keys.whole("seed", tlb.seed, 0, any_number);
    keys.choice("indexing", tlb.indexing);
    keys.sizes("page_sizes", tlb.page_sizes);
    keys.size("granule", tlb.granule);
    keys.whole("coalesces", tlb.coalesces, 1, most_coalesced);
}

template <class Keys>
void visit(Keys& keys, PageRange& range) {
    keys.address("from", range.from);
    keys.address("to", range.to);
    keys.size("size", range.size, Need::required);
}

/// `walks`: there are TLBs.
template <class Keys>
void visit(Keys& keys, PagesConfig& pages, bool walks) {
    keys.size("size", pages.size);
    keys.choice("mapping", pages.mapping);
    if (keys.all() || pages.mapping == Mapping::coloured) keys.whole("colours", pages.colours, 1, 1 << 20);
    keys.whole("seed", pages.seed, 0, any_number);
    keys.list("ranges", pages.ranges, {"a page range", "{from: 0x40000000, to: 0x80000000, size: 2 MiB}"});
    if (!keys.all() && !walks) return;
    keys.mapping("walk", {"a page walk", "{through: L1, latency: 0}"}, [&](auto& k) {
        if (k.all() || pages.walk_references) k.text("through", pages.walk_through, "L2");
        k.whole("latency", pages.walk_latency, 0, most_cycles);
        k.flag("references", pages.walk_references);
        k.wholes("caches", pages.walk_caches, 0, most_walk_entries);
    });
}

template <class Keys>
void visit(Keys& keys, HomeRange& range) {
    keys.address("from", range.from);
    keys.address("to", range.to);
    keys.text("memory", range.memory, "M1", Need::required);
}

template <class Keys>
void visit(Keys& keys, NumaConfig& numa) {
    keys.whole("nodes", numa.nodes, 1, most_nodes, Need::required);
    keys.choice("policy", numa.policy, Need::stated);
    if (keys.all() || numa.policy == HomePolicy::interleaved) keys.size("granule", numa.granule);
    if (keys.all() || numa.policy == HomePolicy::fixed) {
        keys.list("ranges", numa.ranges, {"a range of homes", "{from: 0x40000000, to: 0x80000000, memory: M1}"});
        keys.text("otherwise", numa.otherwise, "M0");
    }
    keys.mapping("interconnect", {"'interconnect'", "{latency: 2, bytes_per_cycle: 16}"},
                 [&](auto& k) { visit(k, numa.interconnect); });
}

/// `named`: it is one of a list; `in_node`: it belongs to one.
template <class Keys>
void visit(Keys& keys, MemoryConfig& memory, bool named, bool in_node) {
    keys.text("name", memory.name, "memory", named ? Need::required : Need::optional);
    if (keys.all() || in_node) keys.whole("node", memory.node, 0, most_nodes - 1, Need::stated);
    keys.size("size", memory.size);
    keys.whole("latency", memory.latency, 0, most_cycles);
    keys.whole("banks", memory.banks, 1, most_banks);
    keys.size("interleave", memory.interleave);
    keys.whole("bank_busy", memory.bank_busy, 0, most_cycles);
}

}  // namespace cachetally
