// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/simulated_parts.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "probes/targets/simulated_cores.hpp"

namespace cachetally {
namespace {

constexpr Address kernel_base = Address{1} << 46;
constexpr std::uint64_t touched_page = std::uint64_t{1} << 20;
constexpr unsigned most_simulated_chains = 32;

}  // namespace

std::string why_nothing_overlaps(const MachineDescription& machine, const NoiseModel& noise) {
    if (noise.hog_loads > 0) return "another core's loads come between";
    const bool bounded = std::ranges::any_of(
        data_caches(machine), [&](std::size_t index) { return machine.caches[index].outstanding_misses != 0; });
    return bounded ? "" : "the machine bounds no outstanding_misses: as many loads are under way as the program makes";
}

std::vector<Reference> streamed_lines(const Streaming& stream, std::uint64_t line) {
    std::vector<Reference> all;
    const auto add = [&](std::uint64_t offset, ReferenceKind kind) {
        all.push_back({arena_base + offset, 0, 8, kind, 0});
    };
    if (stream.kind == Streaming::Kind::copy) {
        for (std::uint64_t offset = 0; offset < stream.bytes / 2; offset += line) {
            add(offset, ReferenceKind::load);
            add(stream.bytes / 2 + offset, ReferenceKind::store);
        }
        return all;
    }
    const ReferenceKind kind = stream.kind == Streaming::Kind::read ? ReferenceKind::load : ReferenceKind::store;
    for (std::uint64_t offset = 0; offset < stream.bytes; offset += line) add(offset, kind);
    return all;
}

std::vector<Reference> loads_of(std::span<const std::uint64_t> offsets, bool floating_point, bool stores) {
    const std::uint8_t flags = floating_point ? reference_flag::floating_point : 0;
    std::vector<Reference> all;
    all.reserve(offsets.size() * (stores ? 2 : 1));
    for (const std::uint64_t offset : offsets) {
        all.push_back({arena_base + offset, 0, 1, ReferenceKind::load, flags});
        if (stores) all.push_back({arena_base + offset, 0, 1, ReferenceKind::store, flags});
    }
    return all;
}

std::vector<Reference> stores_of(std::span<const Reference> loads) {
    std::vector<Reference> stores(loads.begin(), loads.end());
    for (Reference& each : stores) each.kind = ReferenceKind::store;
    return stores;
}

Capabilities capabilities_of(const MachineDescription& machine, const SimulatedOptions& options) {
    Capabilities can;
    can.page_sizes = {machine.pages.size};
    for (const std::uint64_t page : options.large_pages)
        if (page > can.page_sizes.back()) can.page_sizes.push_back(page);
    can.largest_arena = options.largest_arena;
    can.no_events = options.noise.hog_loads > 0 ? "another core's events are in the counts" : options.no_events;
    if (can.no_events.empty()) {
        can.cache_events = static_cast<unsigned>(data_caches(machine).size());
        can.tlb_events = static_cast<unsigned>(data_tlbs(machine).size());
        can.write_events = can.cache_events;
    }
    can.latencies = !options.recorded;
    offer_cores(can, machine, options.noise.hog_loads > 0);
    can.floating_point = options.floating_point.has_value();
    can.timer_quantum = options.recorded ? options.recorded->timer_quantum() : options.noise.timer_quantum;
    can.no_chains = can.no_streams = why_nothing_overlaps(machine, options.noise);
    can.streams = can.no_chains.empty();
    if (can.streams) can.most_chains = most_simulated_chains;
    return can;
}

MachineDescription placed_for(const Arena& arena, const MachineDescription& machine, const SimulatedOptions& options) {
    MachineDescription placed = machine;
    placed.monitors.clear();
    placed.text.clear();
    placed.keys.clear();
    for (CacheConfig& cache : placed.caches) cache.keys.clear();
    for (TlbConfig& tlb : placed.tlbs) tlb.keys.clear();
    placed.pages.ranges.clear();
    placed.pages.size = arena.page;
    placed.pages.seed = splitmix64(machine.pages.seed ^ splitmix64(options.seed + arena.id));
    // An arena is written from its begin to its end before it is probed (touch()), which makes its frames
    // contiguous; so they are without touching many small pages where they lie as virtual ones do.
    if (placed.pages.mapping == Mapping::contiguous && arena.page < touched_page)
        placed.pages.mapping = Mapping::identity;
    if (options.noise.hog_loads > 0) add_core(placed);
    return placed;
}

void touch(Hierarchy& hierarchy, const Arena& arena, std::span<const Reference> references, bool drawn) {
    if (arena.page < touched_page && (!arena.written || !drawn)) return;
    Address end = arena_base;
    for (const Reference& reference : references) end = std::max(end, reference.address + 1);
    std::vector<Reference> pages;
    for (Address page = arena_base; page < end; page += arena.page)
        pages.push_back({page, 0, 1, ReferenceKind::load, 0});
    hierarchy.run(0, pages, 0, ~Tick{0});
}

std::vector<Reference> interrupt_loads(const NoiseModel& noise, std::uint64_t page_bytes, Random& random) {
    std::vector<Reference> loads;
    for (unsigned i = 0; i < noise.interrupt_lines; ++i) {
        const Address page = kernel_base + page_bytes * (random.below(1U << 16) * noise.interrupt_pages);
        loads.push_back(
            {page + page_bytes * (i % noise.interrupt_pages) + random.below(64) * 64, 0, 8, ReferenceKind::load, 0});
    }
    return loads;
}

bool remembers_more(const MachineDescription& machine) {
    return std::ranges::any_of(machine.caches,
                               [](const CacheConfig& cache) { return cache.prefetch.kind != PrefetchKind::none; });
}

void fill_events(Measurement& measurement, const Lap& sum, double loads, const MachineDescription& machine,
                 const MachineDescription& run_on, bool stores) {
    const auto add = [&](const auto& all, const auto& own, const std::vector<std::size_t>& levels,
                         const std::vector<double>& counted, std::vector<double>& result) {
        for (const std::size_t level : levels) {
            const auto place = std::ranges::find(own, all[level].name, [](const auto& part) { return part.name; });
            result.push_back(place == own.end() ? 0 : counted[static_cast<std::size_t>(place - own.begin())] / loads);
        }
    };
    const auto add_caches = [&](const std::vector<double>& counted, std::vector<double>& result) {
        add(machine.caches, run_on.caches, data_caches(machine), counted, result);
    };
    add_caches(sum.cache_misses, measurement.cache_misses);
    add(machine.tlbs, run_on.tlbs, data_tlbs(machine), sum.tlb_misses, measurement.tlb_misses);
    if (!stores) return;
    add_caches(sum.writes, measurement.writes);
    measurement.writes.push_back(sum.writes.back() / loads);
    add_caches(sum.write_misses, measurement.write_misses);
    add_caches(sum.write_backs, measurement.write_backs);
}

double least_latency(const MachineDescription& machine) {
    const auto levels = data_caches(machine);
    return levels.empty() ? machine.memories.front().latency : std::max(1U, machine.caches[levels.front()].latency);
}

double quickest_load(const MachineDescription& machine) {
    const auto tlbs = data_tlbs(machine);
    return least_latency(machine) + (tlbs.empty() ? 0 : machine.tlbs[tlbs.front()].latency);
}

double digest_loads(const MachineDescription& machine) {
    double entries = 0;
    for (const CacheConfig& cache : machine.caches) entries += static_cast<double>(cache.size / cache.line);
    for (const TlbConfig& tlb : machine.tlbs) entries += tlb.entries;
    return entries / 6;
}

}  // namespace cachetally
