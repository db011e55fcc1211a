// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/random_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "base/random.hpp"
#include "base/units.hpp"
#include "sim/model/indexing/table.hpp"
#include "sim/model/prefetch/table.hpp"
#include "sim/model/replacement/table.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_held = std::uint64_t{12} << 20;  ///< bytes that the levels above the last hold, times 4

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    template <class T>
    T one_of(std::initializer_list<T> choices) {
        return *(choices.begin() + random_.below(choices.size()));
    }
    unsigned between(unsigned low, unsigned high) { return low + static_cast<unsigned>(random_.below(high - low + 1)); }
    bool chance(unsigned percent) { return random_.below(100) < percent; }
    std::uint64_t seed() { return 1 + random_.below(1U << 30); }

private:
    Random random_;
};

Replacement draw_replacement(Draw& draw) {
    return draw.one_of({Replacement::lru, Replacement::lru, replacements::tree_plru, replacements::tree_plru,
                        replacements::fifo, replacements::random});
}

CacheConfig draw_l1(Draw& draw) {
    CacheConfig cache;
    cache.name = "L1";
    cache.serves = Serves::data;
    cache.shared_by = 1;
    cache.line = draw.one_of({32U, 64U, 64U, 64U, 128U});
    cache.ways = draw.one_of({1U, 2U, 2U, 3U, 4U, 4U, 5U, 6U, 8U, 8U, 8U, 10U, 12U, 16U});
    const std::uint64_t way = draw.one_of({2048U, 4096U, 4096U, 4096U, 8192U});
    cache.size = way * cache.ways;
    cache.latency = draw.between(1, 5);
    cache.replacement = draw_replacement(draw);
    cache.seed = draw.seed();
    cache.virtually_indexed = true;
    return cache;
}

/// A level of at least three times what the levels above hold.
CacheConfig draw_lower(Draw& draw, const CacheConfig& above, unsigned level, std::uint64_t held_above,
                       unsigned latency) {
    CacheConfig cache;
    cache.name = fmt::format("L{}", level);
    cache.shared_by = 1;
    cache.line = above.line;
    if (draw.chance(10) && cache.line < 128) cache.line *= 2;
    cache.ways = draw.one_of({4U, 6U, 8U, 8U, 10U, 12U, 16U, 16U, 20U, 24U});
    const std::uint64_t least = held_above * draw.between(3, held_above > most_held / 8 ? 4 : 8);
    std::uint64_t way = 2048;
    while (way * cache.ways < least) way *= 2;
    if (draw.chance(10)) way = way * 3 / 4;
    if (way * cache.ways < held_above * 5 / 2) way = way * 4 / 3;
    cache.size = way * cache.ways;
    cache.latency = latency * draw.between(2, 4);
    cache.replacement = draw_replacement(draw);
    cache.seed = draw.seed();
    const bool may_be_exclusive = cache.line == above.line;
    cache.inclusion = draw.one_of({Inclusion::nine, Inclusion::nine, Inclusion::inclusive, Inclusion::exclusive});
    if (cache.inclusion == Inclusion::exclusive && !may_be_exclusive) cache.inclusion = Inclusion::nine;
    return cache;
}

TlbConfig draw_tlb(Draw& draw) {
    TlbConfig tlb;
    tlb.name = "DTLB";
    tlb.serves = Serves::data;
    tlb.replacement = draw_replacement(draw);
    tlb.seed = draw.seed();
    if (draw.chance(50)) {
        tlb.entries = draw.one_of({8U, 12U, 16U, 24U, 32U, 40U, 48U, 64U, 72U});
    } else {
        tlb.ways = draw.one_of({2U, 3U, 4U, 4U, 8U});
        tlb.entries = tlb.ways * draw.one_of({8U, 16U});
    }
    return tlb;
}

TlbConfig draw_second_tlb(Draw& draw, const TlbConfig& above) {
    TlbConfig tlb;
    tlb.name = "STLB";
    tlb.replacement = draw_replacement(draw);
    tlb.seed = draw.seed();
    tlb.ways = draw.one_of({4U, 4U, 6U, 8U, 12U});
    unsigned sets = 16;
    while (sets * tlb.ways < above.entries * 4) sets *= 2;
    tlb.entries = tlb.ways * sets * draw.one_of({1U, 2U, 4U});
    tlb.latency = draw.between(5, 10);
    return tlb;
}

PrefetchConfig draw_prefetcher(Draw& draw) {
    PrefetchConfig prefetch;
    prefetch.kind = draw.one_of({prefetchers::next_line, prefetchers::stride, prefetchers::stream});
    prefetch.degree = draw.between(1, 2);
    prefetch.distance = draw.between(1, 4);
    return prefetch;
}

/// What the wide population adds. Sizes stay, so that levels still grow.
void widen(Draw& draw, RandomMachine& drawn) {
    std::vector<CacheConfig>& caches = drawn.machine.caches;
    CacheConfig& l1 = caches.front();
    if (draw.chance(30)) {
        l1.virtually_indexed = false;
        for (unsigned halvings = draw.between(0, 3); halvings > 0 && l1.ways % 2 == 0; --halvings) l1.ways /= 2;
    }
    if (draw.chance(15)) l1.indexing = indexings::xor_hash;
    for (CacheConfig& cache : caches)
        if (draw.chance(15)) cache.replacement = draw.one_of({replacements::bit_plru, replacements::nru});
    CacheConfig& fetching = caches[draw.between(0, static_cast<unsigned>(caches.size()) - 1)];
    if (draw.chance(20) && fetching.inclusion != Inclusion::exclusive) fetching.prefetch = draw_prefetcher(draw);
    drawn.small_pages = draw.chance(25);
}

/// Buses and places for requests, wide enough above that each level and memory bound what loads of them take.
void add_times(Draw& draw, MachineDescription& machine) {
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        CacheConfig& cache = machine.caches[i];
        const bool last = i + 1 == machine.caches.size();
        cache.bus.latency = last ? draw.between(0, 20) : draw.between(0, 3);
        cache.bus.bytes_per_cycle = last ? draw.one_of({4U, 8U, 16U, 32U}) : draw.one_of({0U, 16U, 32U, 64U});
        cache.outstanding_misses =
            i == 0 ? draw.one_of({2U, 4U, 6U, 8U, 10U, 12U, 16U, 20U}) : draw.one_of({8U, 12U, 16U, 24U, 32U, 48U});
        cache.write_buffer = draw.one_of({0U, 4U, 8U, 16U});
    }
}

/// Several cores: the upper levels are private and kept coherent, by lines of one length, the others shared by all.
void add_cores(Draw& draw, MachineDescription& machine) {
    machine.cores = draw.one_of({2U, 4U, 4U, 8U});
    const unsigned per_node = machine.cores > 2 && draw.chance(30) ? 2 : 1;
    const auto levels = static_cast<unsigned>(machine.caches.size());
    const unsigned private_levels = draw.between(1, levels);
    for (unsigned i = 0; i < levels; ++i) {
        CacheConfig& cache = machine.caches[i];
        cache.shared_by = i < private_levels ? per_node : 0;
        cache.line = machine.caches.front().line;
        if (i >= private_levels && cache.inclusion == Inclusion::exclusive) cache.inclusion = Inclusion::victim;
    }
    // The last private level keeps what its cores have stored; one of victims gets it from the level above.
    const bool of_victims = machine.caches[private_levels - 1].inclusion == Inclusion::exclusive;
    for (unsigned i = of_victims ? 0 : private_levels - 1; i < private_levels; ++i) {
        machine.caches[i].write = WritePolicy::write_back;
        machine.caches[i].write_allocate = true;
    }
    CoherenceConfig& coherence = machine.coherence;
    coherence.protocol = draw.one_of({Protocol::mesi, Protocol::moesi});
    coherence.by = draw.one_of({CoherenceBy::snooping, CoherenceBy::directory});
    coherence.latency = draw.between(2, 10);
    coherence.forward = draw.between(10, 30);
    coherence.supply = draw.between(10, 40);
}

/// Levels of victims keep what they are given.
void draw_writes(Draw& draw, std::vector<CacheConfig>& caches) {
    for (CacheConfig& cache : caches) {
        const bool through = draw.chance(cache.name == "L1" ? 20 : 10), fetches = draw.chance(through ? 50 : 90);
        if (cache.inclusion == Inclusion::exclusive) continue;
        cache.write = through ? WritePolicy::write_through : WritePolicy::write_back;
        cache.write_allocate = fetches;
    }
}

/// Of a level and all below: lines of twice the length, which the level fetches in halves. Levels of victims have none.
void draw_sectors(Draw& draw, std::vector<CacheConfig>& caches) {
    constexpr unsigned longest = 256;
    const bool fit = draw.chance(30) && std::ranges::none_of(caches, filled_by_victims, &CacheConfig::inclusion) &&
                     caches.back().line < longest;
    const std::size_t first = draw.between(0, static_cast<unsigned>(caches.size()) - 1);
    if (!fit || caches[first].prefetch.kind != PrefetchKind::none) return;
    caches[first].sector = caches[first].line;
    for (std::size_t i = first; i < caches.size(); ++i) caches[i].line *= 2;
}

/// The last level, whose sets may become half as many again.
void draw_slices(Draw& draw, CacheConfig& last) {
    const unsigned slices = draw.one_of({2U, 4U, 6U, 8U, 10U, 12U});
    if (!draw.chance(40)) return;
    last.indexing = indexings::sliced;
    last.slices = slices;
    const std::uint64_t set = std::uint64_t{last.line} * last.ways;
    last.size = divide_round_up(last.size / set, slices) * slices * set;
}

void add_coalescing(Draw& draw, std::vector<TlbConfig>& tlbs) {
    for (TlbConfig& tlb : tlbs)
        if (draw.chance(75)) tlb.coalesces = draw.one_of({2U, 4U, 4U, 8U, 16U});
}

/// What today's machines have, and no other population.
void modernise(Draw& draw, MachineDescription& machine) {
    std::vector<CacheConfig>& caches = machine.caches;
    for (std::size_t i = 1; i < caches.size(); ++i)
        if (draw.chance(40))
            caches[i].replacement =
                draw.one_of({replacements::qlru_h11_m1_r0_u0, replacements::drrip, replacements::srrip});
    CacheConfig& pairing = caches[draw.between(1, static_cast<unsigned>(caches.size()) - 1)];
    const auto fetches = [](const CacheConfig& cache) { return cache.prefetch.kind != PrefetchKind::none; };
    if (draw.chance(15) && !filled_by_victims(pairing.inclusion) && std::ranges::none_of(caches, fetches))
        pairing.prefetch.kind = prefetchers::adjacent_line;
    if (machine.coherence.protocol == Protocol::none) draw_sectors(draw, caches);
    if (caches.back().inclusion == Inclusion::nine) draw_slices(draw, caches.back());
    if (draw.chance(40)) machine.pages.walk_caches = {draw.between(1, 4), draw.between(2, 8), draw.between(8, 32)};
    if (draw.chance(20)) add_coalescing(draw, machine.tlbs);
}

constexpr std::string_view names_of_populations[] = {"usual", "wide", "modern"};

}  // namespace

std::vector<std::string> population_names() { return {names_of_populations, std::end(names_of_populations)}; }

Population population_named(const std::string& name) {
    const auto place = std::ranges::find(names_of_populations, name);
    if (place == std::end(names_of_populations))
        throw std::invalid_argument(
            fmt::format("there is no population '{}'; there are {}", name, fmt::join(names_of_populations, ", ")));
    return static_cast<Population>(place - names_of_populations);
}

RandomMachine random_machine(std::uint64_t seed, std::uint64_t number, Population population) {
    constexpr std::uint64_t of_widening = 0x77696465;  // other draws than those of the machine
    RandomMachine drawn{random_machine(seed, number)};
    if (population == Population::usual) return drawn;
    Draw draw(splitmix64(seed ^ of_widening) ^ splitmix64(number));
    widen(draw, drawn);
    constexpr std::uint64_t of_writes = 0x7772697465;  // other draws again, so that all else stays as it was
    Draw writes(splitmix64(seed ^ of_writes) ^ splitmix64(number));
    draw_writes(writes, drawn.machine.caches);
    constexpr std::uint64_t of_times = 0x74696d65;  // others again: the machines without them stay as they were
    Draw more(splitmix64(seed ^ of_times) ^ splitmix64(number));
    if (more.chance(25)) add_times(more, drawn.machine);
    if (more.chance(20)) add_cores(more, drawn.machine);
    if (population == Population::wide) return drawn;
    constexpr std::uint64_t of_today = 0x6d6f6465726e;
    Draw modern(splitmix64(seed ^ of_today) ^ splitmix64(number));
    modernise(modern, drawn.machine);
    return drawn;
}

MachineDescription random_machine(std::uint64_t seed, std::uint64_t number) {
    Draw draw(splitmix64(seed) ^ splitmix64(number));
    MachineDescription machine;
    machine.name = fmt::format("random-{}-{}", seed, number);
    machine.description = "a random machine";
    machine.caches.push_back(draw_l1(draw));
    const unsigned levels = draw.one_of({2U, 2U, 3U, 3U, 3U, 4U});
    std::uint64_t held = machine.caches.back().size;
    unsigned latency = machine.caches.back().latency;
    for (unsigned level = 2; level <= levels && held <= most_held / 4; ++level) {
        machine.caches.push_back(draw_lower(draw, machine.caches.back(), level, held, latency));
        const CacheConfig& cache = machine.caches.back();
        held = cache.size + (cache.inclusion == Inclusion::exclusive ? held : 0);
        latency += cache.latency;
    }
    for (std::size_t i = 0; i + 1 < machine.caches.size(); ++i) machine.caches[i].next = machine.caches[i + 1].name;
    machine.caches.back().next = "memory";
    machine.tlbs.push_back(draw_tlb(draw));
    if (draw.chance(60)) {
        machine.tlbs.push_back(draw_second_tlb(draw, machine.tlbs.back()));
        machine.tlbs.front().next = machine.tlbs.back().name;
    }
    machine.pages.size = draw.one_of({4096U, 4096U, 4096U, 8192U, 16384U, 65536U});
    machine.pages.mapping = draw.one_of({Mapping::contiguous, Mapping::random, Mapping::random, Mapping::coloured});
    machine.pages.colours = machine.pages.mapping == Mapping::coloured ? draw.one_of({4U, 16U, 64U}) : 1;
    machine.pages.seed = draw.seed();
    machine.pages.walk_latency = draw.between(0, 20);
    machine.pages.walk_through = "L1";
    MemoryConfig memory;
    memory.size = std::uint64_t{16} << 30;
    memory.latency = latency * draw.between(3, 5);
    machine.memories.push_back(memory);
    return machine;
}

}  // namespace cachetally
