// SPDX-License-Identifier: BSD-3-Clause
// That the random cases reach what they are for: every option, every count, every event; and differences are seen.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "cachetally/topology.hpp"
#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"
#include "tests/differential/slow_set.hpp"

namespace cachetally::differential {
namespace {

struct Reached {
    std::set<std::string> options;
    std::map<std::string, std::uint64_t> counts;
    std::set<EventKind> events;
    std::size_t references = 0;
};

template <class Enum>
void note(Reached& reached, const char* what, Enum value) {
    reached.options.insert(what + std::to_string(static_cast<int>(value)));
}

void note(Reached& reached, const MachineDescription& machine) {
    note(reached, "mapping ", machine.pages.mapping);
    note(reached, "cores ", machine.cores);
    note(reached, "tlbs ", machine.tlbs.size());
    if (!machine.tlbs.empty()) note(reached, "walk caches ", machine.pages.walk_caches.size());
    for (const TlbConfig& tlb : machine.tlbs) note(reached, "coalesces ", tlb.coalesces);
    for (const CacheConfig& cache : machine.caches) {
        note(reached, "replacement ", cache.replacement);
        note(reached, "indexing ", cache.indexing);
        note(reached, "inclusion ", cache.inclusion);
        note(reached, "write ", cache.write);
        note(reached, "write_back_miss ", cache.write_back_miss);
        note(reached, "prefetch ", cache.prefetch.kind);
        note(reached, "write_allocate ", cache.write_allocate);
        note(reached, "write_back_first ", cache.write_back_first);
        note(reached, "write_back_traffic ", cache.write_back_traffic);
        note(reached, "store_hit_refreshes ", cache.store_hit_refreshes);
        note(reached, "write_back_refreshes ", cache.write_back_refreshes);
        note(reached, "virtually_indexed ", cache.virtually_indexed);
    }
}

/// The first part of the cases that the differential tests see, by a generator of our own.
Reached reach(unsigned cases, const MachineLimits& limits = {}) {
    Reached reached;
    SlowRandom random(1);
    const Chooser choose = [&](std::uint64_t bound) { return random.draw(bound); };
    for (unsigned i = 0; i < cases; ++i) {
        const MachineDescription machine = random_machine(choose, limits);
        EXPECT_NO_THROW(Topology{machine}) << write_machine(machine);
        note(reached, machine);
        std::vector<Burst> bursts;
        for (unsigned pattern = 0; pattern < 8; ++pattern)
            bursts.push_back({pattern, pattern % 6, 60, 64, i, 4, false});
        const auto programs = std::vector(machine.cores, expand(bursts, 4096));
        const Outcome outcome = simulate(machine, programs, 0);
        for (const CacheCounts& counts : outcome.counts.caches) {
            for (const auto& [name, count] : named(counts)) reached.counts[name] += count;
        }
        for (const CoherenceCounts& counts : outcome.counts.coherence) {
            for (const auto& [name, count] : named(counts)) reached.counts[std::string("coherence ") + name] += count;
        }
        for (const ObservedEvent& event : outcome.events) reached.events.insert(event.kind);
        reached.references += outcome.counts.references;
    }
    return reached;
}

TEST(RandomCases, ReachEveryOptionCountAndEvent) {
    const Reached reached = reach(300);
    // mapping 4, cores 4, tlbs 0..3, walk caches 0..3, coalesces 1, 2, 4, 8, 16, replacement 9, indexing 3, inclusion
    // 4, write 2, write_back_miss 3, prefetch 5, and six switches.
    EXPECT_EQ(reached.options.size(), 4U + 4 + 4 + 4 + 5 + 9 + 3 + 4 + 2 + 3 + 5 + 2 * 6)
        << testing::PrintToString(reached.options);
    for (const auto& [name, count] : reached.counts) {
        if (std::string(name).starts_with("ring_write")) continue;  // the programs send no records
        EXPECT_GT(count, 100U) << name;
    }
    using enum EventKind;
    EXPECT_THAT(reached.events, testing::UnorderedElementsAre(load, store, fetch, page_walk, prefetch, write_back,
                                                              clean_victim, fill, invalidate, bank_conflict, eviction));
}

TEST(RandomCases, OfCoherentMachinesReachEveryCountAndEventOfCoherence) {
    MachineLimits limits;
    limits.coherence = true;
    const Reached reached = reach(150, limits);
    for (const auto& [name, count] : named(CoherenceCounts{}))
        EXPECT_GT(reached.counts.at(std::string("coherence ") + name), 1000U) << name;
    EXPECT_TRUE(reached.events.contains(EventKind::flush));
    EXPECT_TRUE(reached.events.contains(EventKind::coherence));
}

/// Doctored outcomes must be found out: the comparison itself is worth nothing if it never fails.
TEST(RandomCases, ComparisonSeesOneCountOneEventAndOneTick) {
    SlowRandom random(7);
    const MachineDescription machine = random_machine([&](std::uint64_t bound) { return random.draw(bound); });
    const std::vector programs(machine.cores, expand({{7, 0, 60, 64, 1, 1, true}, {0, 0, 60, 64, 2, 4, false}}, 4096));
    const Outcome expected = simulate(machine, programs, 0);
    const EngineOutcome actual = run_engine(machine, programs, 0, Driving::each);
    ASSERT_EQ(difference(machine, expected, actual, Driving::each), "");
    ASSERT_EQ(actual.outcome.phases.size(), 2U);

    EngineOutcome counted = actual;
    ++counted.outcome.counts.references;
    EXPECT_EQ(difference(machine, expected, counted, Driving::each), "references differ");
    EngineOutcome missing = actual;
    missing.outcome.events.pop_back();
    EXPECT_NE(difference(machine, expected, missing, Driving::each), "");
    EngineOutcome late = actual;
    ++late.outcome.core_ends[0];
    EXPECT_NE(difference(machine, expected, late, Driving::each), "");
}

}  // namespace
}  // namespace cachetally::differential
