// SPDX-License-Identifier: BSD-3-Clause
// Random machines, level by level from the core down.
#include "tests/differential/random_machine.hpp"

#include <algorithm>
#include <array>

#include "sim/model/indexing/table.hpp"
#include "sim/model/prefetch/table.hpp"
#include "sim/model/replacement/table.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/topology/names.hpp"

namespace cachetally::differential {
namespace {

constexpr std::uint64_t kib = 1024, mib = kib * kib, gib = kib * mib;

class Generator {
public:
    Generator(const Chooser& choose, const MachineLimits& limits) : choose_(choose), limits_(limits) {}

    MachineDescription machine() {
        machine_.name = "random";
        machine_.cores = 1 + number(limits_.cores);
        machine_.period = pick<std::uint64_t>({1000, 500, 333, 2500});
        add_memories();
        if (!limits_.no_cache || !seldom()) add_caches();
        if (limits_.numa && half()) add_nodes();
        if (limits_.coherence) add_coherence();
        if (limits_.mappings) add_pages();
        if (limits_.tlbs) add_tlbs();
        if (limits_.link_timing && half()) add_link_timing();
        if (machine_.has_nodes()) add_homes();
        if (limits_.other_policies && machine_.coherence.protocol == Protocol::none) add_sectors(machine_, choose_);
        return std::move(machine_);
    }

private:
    unsigned number(std::uint64_t bound) { return static_cast<unsigned>(choose_(bound)); }
    bool half() { return number(2) == 1; }
    bool sometimes() { return number(4) == 3; }
    bool seldom() { return number(16) == 15; }

    template <class T, std::size_t size>
    T pick(const T (&values)[size]) {
        return values[number(size)];
    }

    void add_memories() {
        MemoryConfig memory;
        memory.latency = 10 + number(100);
        if (half()) memory.size = 3000 * gib;
        machine_.memories.push_back(memory);
    }

    /// A number of cores per copy that divides the cores and is a multiple of that above.
    unsigned sharing(unsigned above) {
        std::vector<unsigned> possible;
        for (unsigned by = above; by <= machine_.cores; by += above) {
            if (machine_.cores % by == 0) possible.push_back(by);
        }
        return possible[number(possible.size())];
    }

    /// The same sharing as a machine file may write it: all cores are 0, too.
    unsigned written(unsigned shared_by) { return shared_by == machine_.cores && half() ? 0 : shared_by; }

    void add_caches() {
        const bool split = half();
        const unsigned levels = 1 + number(limits_.levels);
        unsigned shared = sharing(1);
        CacheConfig first = cache(split ? "L1D" : "L1", 8U << number(5), shared, true);
        if (!split) {
            machine_.caches.push_back(first);
        } else {
            first.serves = Serves::data;
            const unsigned fetch_shared = sharing(1);
            CacheConfig fetch = cache("L1I", half() ? first.line : 8U << number(5), fetch_shared, true);
            fetch.serves = Serves::fetch;
            shared = std::max(shared, fetch_shared);
            if (shared % fetch_shared != 0 || shared % std::max(1U, first_shared(first)) != 0) shared = machine_.cores;
            if (half()) std::swap(first, fetch);
            machine_.caches = {first, fetch};
        }
        add_lower_levels(levels, shared);
    }

    unsigned first_shared(const CacheConfig& config) const {
        return config.shared_by != 0 ? config.shared_by : machine_.cores;
    }

    void add_lower_levels(unsigned levels, unsigned shared) {
        std::vector<std::size_t> above(machine_.caches.size());
        for (std::size_t i = 0; i < above.size(); ++i) above[i] = i;
        if (above.size() == 2 && seldom()) {
            // Instructions have a memory of their own.
            machine_.memories.push_back({.name = "other", .size = 64 * gib, .latency = 7, .mark = {}});
            const std::size_t alone = machine_.caches[0].serves == Serves::fetch ? 0 : 1;
            machine_.caches[alone].next = "other";
            above = {1 - alone};
        }
        for (unsigned level = 2; level <= levels; ++level) {
            unsigned line = 0;
            for (const std::size_t i : above) line = std::max(line, machine_.caches[i].line);
            shared = sharing(shared);
            CacheConfig lower = cache(std::string("L").append(std::to_string(level)),
                                      std::min(4096U, line << (sometimes() ? 1 + number(2) : 0)), shared, false);
            if (limits_.other_policies) choose_inclusion(lower, above, line);
            for (const std::size_t i : above) machine_.caches[i].next = lower.name;
            above = {machine_.caches.size()};
            machine_.caches.push_back(lower);
        }
        for (const std::size_t i : above) machine_.caches[i].next = machine_.memories.front().name;
    }

    void choose_inclusion(CacheConfig& cache, const std::vector<std::size_t>& above, unsigned line) {
        cache.inclusion = pick({Inclusion::nine, Inclusion::inclusive, Inclusion::exclusive, Inclusion::victim});
        if (cache.inclusion != Inclusion::exclusive && cache.inclusion != Inclusion::victim) return;
        for (const std::size_t i : above) {
            if (machine_.caches[i].line != line) {
                cache.inclusion = Inclusion::nine;
                return;
            }
        }
        set_line(cache, line);
        cache.write_back_miss = WriteBackMiss::allocate;
        cache.prefetch = {};
        for (const std::size_t i : above) machine_.caches[i].write_back_traffic = true;
    }

    static void set_line(CacheConfig& cache, unsigned line) {
        cache.size = cache.size / cache.line * line;
        cache.line = line;
    }

    /// As many nodes as part the cores evenly, and all that lies above the memories inside of them.
    void add_nodes() {
        if (machine_.memories.size() > 1) return;
        std::vector<unsigned> possible;
        for (unsigned nodes = machine_.cores; nodes > 0; --nodes)
            if (machine_.cores % nodes == 0) possible.push_back(nodes);
        machine_.numa.nodes = possible[number(possible.size())];
        for (CacheConfig& cache : machine_.caches) {
            if (cache.next == "memory") cache.next = numa_name;
            stay_in_node(cache);
        }
    }

    template <class Config>
    void stay_in_node(Config& part) {
        const unsigned cores = machine_.cores / machine_.numa.nodes;
        if (part.shared_by == 0 || cores % part.shared_by != 0) part.shared_by = cores;
    }

    void add_homes() {
        NumaConfig& numa = machine_.numa;
        for (TlbConfig& tlb : machine_.tlbs) stay_in_node(tlb);
        numa.interconnect.latency = number(60);
        if (limits_.link_timing && half()) numa.interconnect.bytes_per_cycle = pick({1U, 3U, 8U, 16U});
        numa.interconnect.shared = numa.interconnect.bytes_per_cycle != 0 && half();
        numa.policy = pick({HomePolicy::first_touch, HomePolicy::interleaved, HomePolicy::fixed});
        if (!machine_.pages.ranges.empty() && numa.policy == HomePolicy::first_touch)
            numa.policy = HomePolicy::interleaved;
        const MemoryConfig first = machine_.memories.front();
        machine_.memories.clear();
        const bool one_each = numa.policy == HomePolicy::first_touch;
        const unsigned memories = one_each ? numa.nodes : 1 + number(numa.nodes + 2);
        for (unsigned i = 0; i < memories; ++i) {
            MemoryConfig& memory = machine_.memories.emplace_back(first);
            memory.name = std::string("M").append(std::to_string(i));
            memory.node = one_each ? numa.nodes - 1 - i : number(numa.nodes);
            memory.latency = 10 + number(100);
            memory.size = 1024 * gib;
        }
        if (numa.policy == HomePolicy::interleaved) numa.granule = 4096U << number(4);
        if (numa.policy == HomePolicy::fixed) add_ranges();
    }

    void add_ranges() {
        for (Address from = 0; from < 64 * kib && sometimes(); from += 16 * kib)
            machine_.numa.ranges.push_back({from, from + 4096 * (1 + number(4)), any_memory(), {}});
        if (half()) machine_.numa.ranges.push_back({gib, 3 * gib, any_memory(), {}});
        if (half()) machine_.numa.otherwise = any_memory();
    }

    std::string any_memory() { return machine_.memories[number(machine_.memories.size())].name; }

    /// Nodes of some of the levels, with one number of cores each, over the rest.
    void add_coherence() {
        std::vector<unsigned> sizes;
        const unsigned most = machine_.numa.nodes > 1 ? machine_.cores_per_node() : machine_.cores - 1;
        for (unsigned cores = 1; cores <= most; ++cores)
            if (machine_.cores_per_node() % cores == 0) sizes.push_back(cores);
        if (sizes.empty() || machine_.caches.empty() || machine_.memories.size() > 1) return;
        machine_.coherence.protocol = half() ? Protocol::moesi : Protocol::mesi;
        machine_.coherence.by = half() ? CoherenceBy::directory : CoherenceBy::snooping;
        machine_.coherence.latency = number(9);
        if (machine_.coherence.by == CoherenceBy::directory) machine_.coherence.forward = number(30);
        machine_.coherence.supply = number(30);
        const unsigned size = sizes[number(sizes.size())];
        const bool split = machine_.caches.front().serves != Serves::both;
        const std::size_t some = (split ? 2 : 1) + number(machine_.caches.size() - (split ? 1 : 0));
        const std::size_t inside = machine_.numa.nodes > 1 ? machine_.caches.size() : some;
        for (std::size_t i = 0; i < machine_.caches.size(); ++i) {
            CacheConfig& cache = machine_.caches[i];
            cache.shared_by = i < inside ? size : 0;
            if (i < inside) join_node(cache, machine_.caches[inside - 1].line);
        }
        for (std::size_t i = 0; i < inside; ++i) close_node(i, inside);
        if (inside < machine_.caches.size() && machine_.caches[inside].inclusion == Inclusion::exclusive)
            machine_.caches[inside].inclusion = Inclusion::victim;
    }

    static void join_node(CacheConfig& cache, unsigned line) {
        set_line(cache, line);
        cache.write_back_traffic = true;
    }

    /// What the last level of a node may not do.
    void close_node(std::size_t index, std::size_t inside) {
        CacheConfig& cache = machine_.caches[index];
        const auto next = std::find_if(machine_.caches.begin(), machine_.caches.end(),
                                       [&](const CacheConfig& other) { return other.name == cache.next; });
        const bool last = next == machine_.caches.end() || next >= machine_.caches.begin() + static_cast<long>(inside);
        const bool over_victims =
            !last && (next->inclusion == Inclusion::exclusive || next->inclusion == Inclusion::victim);
        if (!last && !over_victims) return;
        cache.write = WritePolicy::write_back;
        cache.write_allocate = true;
    }

    CacheConfig cache(const std::string& name, unsigned line, unsigned shared, bool first) {
        CacheConfig cache;
        cache.name = name;
        cache.line = line;
        cache.shared_by = written(shared);
        cache.latency = number(21);
        const unsigned ways = 1 + (sometimes() ? number(limits_.ways) : number(4));
        const bool hash = limits_.other_policies && sometimes();
        const unsigned sets = hash ? hashed_sets(cache) : 1 + number(limits_.sets);
        cache.size = std::uint64_t{line} * ways * sets;
        cache.ways = sets == 1 && half() ? 0 : ways;
        if (limits_.other_policies) choose_policies(cache, first);
        if (limits_.prefetchers && sometimes()) cache.prefetch = prefetcher();
        return cache;
    }

    /// Chooses a function; returns a number of sets that it takes.
    unsigned hashed_sets(CacheConfig& cache) {
        cache.indexing = limits_.any_row ? any_row<Indexing>(1) : pick({indexings::xor_hash, indexings::sliced});
        if (row_of(cache.indexing).slice == nullptr) return 1U << number(4);
        cache.slices = pick({2U, 3U, 4U, 6U, 8U, 11U});
        return cache.slices * (1 + number(4));
    }

    /// A value of an enumeration that follows from a table, from `first` on.
    template <class Enum>
    Enum any_row(std::size_t first) {
        return static_cast<Enum>(first + number(names_of<Enum>().size() - first));
    }

    Replacement replacement() {
        if (limits_.any_row) return any_row<Replacement>(0);
        return pick({Replacement::lru, replacements::tree_plru, replacements::bit_plru, replacements::fifo,
                     replacements::random, replacements::nru, replacements::srrip, replacements::qlru_h11_m1_r0_u0,
                     replacements::drrip});
    }

    void choose_policies(CacheConfig& cache, bool first) {
        cache.replacement = replacement();
        cache.seed = number(1000);
        if (row_of(cache.replacement).keeps_ways && half()) cache.empty_way = EmptyWay::policy;
        cache.virtually_indexed = first && half();
        cache.write = sometimes() ? WritePolicy::write_through : WritePolicy::write_back;
        cache.write_allocate = !sometimes();
        cache.write_back_first = half();
        cache.write_back_miss = pick({WriteBackMiss::allocate, WriteBackMiss::fetch, WriteBackMiss::bypass});
        cache.write_back_traffic = !seldom();
        cache.store_hit_refreshes = !sometimes();
        cache.write_back_refreshes = !sometimes();
    }

    PrefetchConfig prefetcher() {
        PrefetchConfig config;
        config.kind =
            limits_.any_row
                ? any_row<PrefetchKind>(1)
                : pick({prefetchers::next_line, prefetchers::stride, prefetchers::stream, prefetchers::adjacent_line});
        config.degree = 1 + number(4);
        config.distance = 1 + number(4);
        config.entries = 1 + number(5);
        return config;
    }

    void add_pages() {
        PagesConfig& pages = machine_.pages;
        pages.size = pick<std::uint64_t>({4 * kib, 8 * kib, 64 * kib, 2 * mib, gib});
        pages.mapping = pick({Mapping::identity, Mapping::contiguous, Mapping::random, Mapping::coloured});
        pages.colours = 1 + number(7);
        pages.seed = number(1000);
        pages.walk_latency = number(10);
        pages.walk_references = !sometimes();
        if (sometimes()) {
            const auto other = pick<std::uint64_t>({4 * kib, 2 * mib, 16 * kib, gib});
            pages.ranges.push_back({0, std::max(pages.size, other), other, {}});
        }
        if (sometimes()) {
            const auto other = pick<std::uint64_t>({4 * kib, 2 * mib, 64 * kib});
            pages.ranges.push_back({4 * gib, 5 * gib, other, {}});
        }
        if (pages.walk_references && half()) add_walk_caches();
        std::vector<std::string> entrances{""};
        for (const CacheConfig& cache : machine_.caches) {
            if (cache.inclusion != Inclusion::exclusive && cache.inclusion != Inclusion::victim)
                entrances.push_back(cache.name);
        }
        entrances.push_back(machine_.has_nodes() ? numa_name : machine_.memories.back().name);
        pages.walk_through = entrances[number(entrances.size())];
    }

    void add_walk_caches() {
        std::vector<unsigned>& caches = machine_.pages.walk_caches;
        for (unsigned level = number(4); level > 0; --level) caches.push_back(1 + number(3));
        if (caches.size() > 1 && half()) caches[number(caches.size() - 1)] = 0;
    }

    void add_tlbs() {
        switch (number(5)) {
            case 0: break;
            case 1: add_tlb("TLB", Serves::both, "", sharing(1)); break;
            case 2: add_tlb("DTLB", Serves::data, "", sharing(1)); break;
            case 3:
                add_tlb("DTLB", Serves::data, "STLB", 1);
                add_tlb("ITLB", Serves::fetch, half() ? "STLB" : "", 1);
                add_tlb("STLB", Serves::both, "", sharing(1));
                break;
            default:
                add_tlb("T1", Serves::both, "T2", 1);
                add_tlb("T2", Serves::both, half() ? "T3" : "", 1);
                if (machine_.tlbs.back().next == "T3") add_tlb("T3", Serves::both, "", sharing(1));
        }
    }

    void add_link_timing() {
        for (CacheConfig& cache : machine_.caches) {
            cache.bus.latency = sometimes() ? number(12) : 0;
            if (half()) cache.bus.bytes_per_cycle = pick({1U, 3U, 8U, 16U, 100U});
            cache.bus.shared = cache.bus.bytes_per_cycle != 0 && half();
            if (half()) cache.outstanding_misses = 1 + number(4);
            if (half()) cache.write_buffer = 1 + number(4);
        }
        for (MemoryConfig& memory : machine_.memories) {
            if (half()) continue;
            memory.bank_busy = 1 + number(200);
            memory.banks = 1U << number(5);
            memory.interleave = 8U << number(8);
        }
    }

    void add_tlb(const std::string& name, Serves serves, const std::string& next, unsigned shared) {
        TlbConfig tlb;
        tlb.name = name;
        tlb.next = next;
        tlb.serves = serves;
        tlb.shared_by = written(shared);
        const unsigned ways = 1 + number(5);
        const bool hash = sometimes();
        const unsigned sets = hash ? 1U << number(3) : 1 + number(3);
        tlb.entries = ways * sets;
        tlb.ways = sets == 1 && half() ? 0 : ways;
        tlb.indexing = hash ? indexings::xor_hash : Indexing::modulo;
        tlb.latency = number(4);
        tlb.replacement = replacement();
        tlb.seed = number(1000);
        if (sometimes()) tlb.page_sizes = {machine_.pages.size};
        if (seldom()) tlb.page_sizes = {2 * mib, 64 * kib};
        if (sometimes()) tlb.granule = pick<std::uint64_t>({4 * kib, 16 * kib, 2 * mib});
        if (tlb.granule == 0 && sometimes()) tlb.coalesces = pick({2U, 2U, 4U, 8U, 16U});
        machine_.tlbs.push_back(tlb);
    }

    const Chooser& choose_;
    MachineLimits limits_;
    MachineDescription machine_;
};

}  // namespace

MachineDescription random_machine(const Chooser& choose, const MachineLimits& limits) {
    return Generator(choose, limits).machine();
}

}  // namespace cachetally::differential
