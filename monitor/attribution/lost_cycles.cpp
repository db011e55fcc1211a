// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/lost_cycles.hpp"

#include <algorithm>

#include "monitor/spec_placement.hpp"

namespace cachetally {
namespace {

bool serves(Serves side, bool fetch) { return side != (fetch ? Serves::data : Serves::fetch); }

Tick latency_of(const Topology& topology, const Component& part) {
    const MachineDescription& machine = topology.machine();
    switch (part.kind) {
        case Component::Kind::cache: return machine.caches[part.index].latency * machine.period;
        case Component::Kind::tlb: return machine.tlbs[part.index].latency * machine.period;
        case Component::Kind::memory: return machine.memories[part.index].latency * machine.period;
        case Component::Kind::walker: return machine.pages.walk_latency * machine.period;
        default: return 0;
    }
}

bool holds_all_pages(const MachineDescription& machine, const TlbConfig& tlb) {
    return holds_pages(tlb, machine.pages.size) &&
           std::ranges::all_of(machine.pages.ranges,
                               [&](const PageRange& range) { return holds_pages(tlb, range.size); });
}

/// Whether each load, fetch and page walk on a link is waited for, and costs the latency of what is below.
bool only_latencies(const Topology& topology) {
    const MachineDescription& machine = topology.machine();
    const auto is_simple = [](const CacheConfig& cache) {
        return cache.write == WritePolicy::write_back && cache.write_allocate &&
               cache.write_back_miss != WriteBackMiss::fetch;
    };
    return !machine.has_link_timing() && !machine.has_nodes() && machine.coherence.protocol == Protocol::none &&
           machine.pages.ranges.empty() && std::ranges::all_of(machine.caches, is_simple) &&
           std::ranges::all_of(machine.tlbs, [&](const auto& tlb) { return holds_all_pages(machine, tlb); }) &&
           std::ranges::all_of(machine.memories, [](const auto& memory) { return memory.bank_busy == 0; });
}

}  // namespace

std::uint32_t first_line(const Topology& topology, bool fetch) {
    for (const LinkInfo& link : topology.links()) {
        const Component& first = topology.components()[link.to];
        if (topology.components()[link.from].kind != Component::Kind::core || first.kind == Component::Kind::tlb)
            continue;
        if (first.kind != Component::Kind::cache) return line_without_cache;
        const CacheConfig& cache = topology.machine().caches[first.index];
        if (serves(cache.serves, fetch)) return cache.transfer();
    }
    return 0;
}

std::array<Tick, 3> LostCycles::hit_times(const Topology& topology) {
    const MachineDescription& machine = topology.machine();
    std::array<Tick, 3> times{};
    for (const LinkInfo& link : topology.links()) {
        if (topology.components()[link.from].kind != Component::Kind::core) continue;
        const Component& first = topology.components()[link.to];
        for (const ReferenceKind kind : {ReferenceKind::load, ReferenceKind::store, ReferenceKind::fetch}) {
            const bool fetch = kind == ReferenceKind::fetch;
            if (first.kind == Component::Kind::cache && !serves(machine.caches[first.index].serves, fetch)) continue;
            if (first.kind == Component::Kind::tlb && (!serves(machine.tlbs[first.index].serves, fetch) ||
                                                       !holds_all_pages(machine, machine.tlbs[first.index])))
                continue;
            times[static_cast<unsigned>(kind)] += latency_of(topology, first);
        }
    }
    return times;
}

std::vector<Tick> times_of_hits(const Topology& topology, const RunResult& run) {
    std::size_t ran = 0;
    for (std::size_t core = 0; core < run.core_ends.size(); ++core) ran += run.core_ends[core] > core ? 1 : 0;
    if (ran != 1) return {};
    const auto [load, store, fetch] = LostCycles::hit_times(topology);
    std::vector<Tick> times(run.phases.size());
    for (const LinkInfo& link : topology.links()) {
        const Component& first = topology.components()[link.to];
        if (topology.components()[link.from].kind != Component::Kind::core || first.kind == Component::Kind::tlb)
            continue;
        const bool others_ask = std::ranges::any_of(topology.links(), [&](const LinkInfo& other) {
            return other.to == link.to && topology.components()[other.from].kind == Component::Kind::cache;
        });
        if (first.kind != Component::Kind::cache || others_ask) return {};
        for (std::size_t phase = 0; phase < times.size(); ++phase) {
            const CacheCounts& counts = run.phases[phase].counts.caches[first.index];
            times[phase] += counts.loads * load + counts.stores * store + counts.fetches * fetch;
        }
    }
    return times;
}

/// Looks at each reference by itself.
class LostCycles::References final : public ReferenceListener {
public:
    References(const Topology& topology, unsigned cores)
        : hits_(hit_times(topology)),
          lines_{first_line(topology, false), first_line(topology, false), first_line(topology, true)},
          counts_(cores) {}

    bool one_by_one() const override { return true; }
    void on_references(unsigned, std::span<const Reference>) override {}
    void on_accesses(unsigned, std::span<const std::uint32_t>) override {}
    void after(unsigned core, const Reference& reference, Tick taken) override {
        const auto kind = static_cast<unsigned>(reference.kind);
        const Address lines = last_byte(reference) / lines_[kind] - reference.address / lines_[kind] + 1;
        if (taken > lines * hits_[kind]) counts_.add(reference.site, taken - lines * hits_[kind], core);
    }
    void on_control(const Control& control) override { counts_.follow(control); }
    const SiteCounts& counts() const { return counts_; }

private:
    std::array<Tick, 3> hits_;
    std::array<std::uint32_t, 3> lines_;
    SiteCounts counts_;
};

LostCycles::LostCycles(const Topology& topology, Hierarchy& hierarchy, unsigned cores, By by) {
    if (by == By::references || !only_latencies(topology)) {
        references_ = std::make_unique<References>(topology, cores);
        hierarchy.listen(*references_);
        return;
    }
    constexpr std::uint32_t waited = bit(EventKind::load) | bit(EventKind::fetch) | bit(EventKind::page_walk);
    for (std::size_t id = 0; id < topology.links().size(); ++id) {
        const LinkInfo& link = topology.links()[id];
        const Component &from = topology.components()[link.from], &to = topology.components()[link.to];
        const Tick latency = latency_of(topology, to);
        if (from.kind == Component::Kind::core || latency == 0) continue;
        const std::uint32_t kinds = from.kind == Component::Kind::tlb ? waited | bit(EventKind::store) : waited;
        for (unsigned copy = 0; copy < hierarchy.copies(id); ++copy) {
            events_.push_back(std::make_unique<SiteMisses>(kinds, cores, latency));
            hierarchy.listen(id, copy, *events_.back());
        }
    }
}

LostCycles::~LostCycles() = default;

std::vector<SiteCounts::Row> LostCycles::rows() const {
    if (references_) return references_->counts().rows();
    std::vector<SiteCounts::Row> all;
    for (const auto& link : events_) {
        const auto rows = link->counts().rows();
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

}  // namespace cachetally
