// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/simulated_cores.hpp"

#include <algorithm>
#include <numeric>

#include "cachetally/hierarchy.hpp"

namespace cachetally {
namespace {

constexpr Address memory_of_one = Address{1} << 32, memory_of_other = Address{1} << 40;

std::vector<Reference> references_at(Address base, const Chase& chase, ReferenceKind kind) {
    std::vector<Reference> made;
    made.reserve(chase.offsets.size());
    const std::uint8_t flags = chase.floating_point ? reference_flag::floating_point : 0;
    for (const std::uint64_t offset : chase.offsets) made.push_back({base + offset, 0, 8, kind, flags});
    return made;
}

/// Two cores of a machine that take turns.
class TwoCores {
public:
    TwoCores(const Topology& placed, const RoundLimits& limits)
        : hierarchy_(placed), period_(static_cast<double>(placed.machine().period)), limits_(limits) {}

    /// The pages of a memory are placed by this core, in the order of their addresses.
    void place(unsigned core, Address base, const Arena& arena, const Chase& chase) {
        std::vector<Reference> pages;
        for (std::uint64_t at = 0; at <= std::ranges::max(chase.offsets); at += arena.page)
            pages.push_back({base + at, 0, 1, ReferenceKind::load, 0});
        run(core, pages);
    }

    /// Returns the cycles that they take.
    double run(unsigned core, std::span<const Reference> references) {
        const Tick begin = now_;
        now_ = hierarchy_.run(core, references, now_, ~Tick{0}).time;
        now_ += hierarchy_.complete(core, now_);
        rounds_.loads += references.size();
        rounds_.all_cycles = static_cast<double>(now_) / period_;
        return static_cast<double>(now_ - begin) / period_;
    }

    /// The first one does not count.
    template <class Round>
    CoreRounds make(unsigned rounds, Round round) {
        for (unsigned i = 0; i <= rounds; ++i) {
            if (limits_.look) limits_.look();
            const double cycles = round();
            if (i > 0) rounds_.cycles.push_back(cycles);
            rounds_.complete = rounds_.all_cycles <= limits_.cycles;
            if (!rounds_.complete) break;
        }
        return rounds_;
    }

private:
    Hierarchy hierarchy_;
    double period_;
    const RoundLimits& limits_;
    Tick now_ = 0;
    CoreRounds rounds_;
};

}  // namespace

void offer_cores(Capabilities& can, const MachineDescription& machine, bool second_core_disturbs) {
    can.processors.resize(second_core_disturbs ? 1 : machine.cores);
    std::iota(can.processors.begin(), can.processors.end(), 0U);
    can.no_processors = second_core_disturbs ? "the noise is that of a second core, so that one alone can make loads"
                        : machine.cores == 1 ? "the machine has one core"
                                             : "";
    const bool has_private = std::ranges::any_of(machine.caches, [&](const CacheConfig& cache) {
        return cache.serves != Serves::fetch && cache.shared_by != 0 && cache.shared_by < machine.cores;
    });
    if (has_private && machine.coherence.protocol == Protocol::none)
        can.no_transfers = "lines do not move between cores whose caches are not kept coherent (docs/coherence.md)";
}

void add_core(MachineDescription& machine) {
    if (machine.cores > 1) return;
    machine.cores = 2;
    for (CacheConfig& cache : machine.caches) {
        const bool last =
            std::ranges::none_of(machine.caches, [&](const CacheConfig& other) { return other.name == cache.next; });
        const bool first =
            std::ranges::none_of(machine.caches, [&](const CacheConfig& other) { return other.next == cache.name; });
        cache.shared_by = last && !first ? 0 : 1;
    }
    for (TlbConfig& tlb : machine.tlbs) tlb.shared_by = 1;
}

CoreRounds simulated_transfer(const Topology& placed, const Arena& arena, unsigned from, const ChaseOn& to,
                              unsigned rounds, const RoundLimits& limits) {
    const auto stores = references_at(memory_of_one, to.chase, ReferenceKind::store);
    const auto loads = references_at(memory_of_one, to.chase, ReferenceKind::load);
    TwoCores cores(placed, limits);
    cores.place(from, memory_of_one, arena, to.chase);
    return cores.make(rounds, [&] {
        cores.run(from, stores);
        return cores.run(to.processor, loads);
    });
}

CoreRounds simulated_run_after(const Topology& placed, const Arena& arena, const ChaseOn& one, const ChaseOn& other,
                               unsigned rounds, const RoundLimits& limits) {
    const auto ones = references_at(memory_of_one, one.chase, ReferenceKind::load);
    const auto others = references_at(memory_of_other, other.chase, ReferenceKind::load);
    TwoCores cores(placed, limits);
    cores.place(one.processor, memory_of_one, arena, one.chase);
    cores.place(other.processor, memory_of_other, arena, other.chase);
    return cores.make(rounds, [&] {
        for (unsigned i = 0; i < 2; ++i) cores.run(one.processor, ones);
        for (unsigned i = 0; i < 2; ++i) cores.run(other.processor, others);
        return cores.run(one.processor, ones);
    });
}

}  // namespace cachetally
