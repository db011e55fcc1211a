// SPDX-License-Identifier: BSD-3-Clause
// Laws of coherent machines, whatever their caches.
#include <algorithm>

#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

Case coherent_machine_case(MachineLimits limits) {
    limits.coherence = true;
    limits.no_cache = limits.tlbs = limits.mappings = false;
    Case test_case = *arbitrary_case(limits, 6);
    RC_PRE(test_case.machine.coherence.protocol != Protocol::none);
    return test_case;
}

EngineOutcome outcome_of(const Case& test_case) {
    return run_engine(test_case.machine, test_case.programs, test_case.quantum, Driving::each);
}

// Where asking costs the same, who is asked makes no difference to what happens.
TEST(CoherenceLaws, SnoopingAndDirectoryDifferInMessagesOnly) {
    check_cases(300, [] {
        Case test_case = coherent_machine_case({});
        test_case.machine.coherence.by = CoherenceBy::snooping;
        const EngineOutcome snooping = outcome_of(test_case);
        test_case.machine.coherence.by = CoherenceBy::directory;
        test_case.machine.coherence.forward = 0;
        EngineOutcome directory = outcome_of(test_case);
        RC_ASSERT(snooping.outcome.core_ends == directory.outcome.core_ends);
        RC_ASSERT(snooping.outcome.events == directory.outcome.events);
        directory.outcome.counts.coherence[0].messages = snooping.outcome.counts.coherence[0].messages;
        RC_ASSERT(snooping.outcome.counts == directory.outcome.counts);
    });
}

// Default policies: what crosses the outer links arrives at the point of coherence or is supplied by another node.
TEST(CoherenceLaws, WhatNodesSendArrivesOrIsSupplied) {
    check_cases(300, [] {
        MachineLimits limits;
        limits.other_policies = false;
        const Case test_case = coherent_machine_case(limits);
        const HierarchyCounts counts = outcome_of(test_case).outcome.counts;
        const auto& caches = test_case.machine.caches;
        const auto is_private = [&](const CacheConfig& cache) {
            return cache.shared_by != 0 && cache.shared_by < test_case.machine.cores;
        };
        std::uint64_t asked = 0, written = 0, arrived = 0, taken = 0;
        for (std::size_t i = 0; i < caches.size(); ++i) {
            if (!is_private(caches[i])) continue;
            const auto next = std::find_if(caches.begin(), caches.end(),
                                           [&](const CacheConfig& other) { return other.name == caches[i].next; });
            if (next != caches.end() && is_private(*next)) continue;
            const CacheCounts& last = counts.caches[i];
            asked += last.load_misses + last.store_misses + last.fetch_misses + last.prefetch_misses +
                     last.prefetches_issued;
            written += last.writebacks_out;
            const auto below = static_cast<std::size_t>(next - caches.begin());
            arrived = next == caches.end()
                          ? counts.memories[0].reads
                          : counts.caches[below].loads + counts.caches[below].fetches + counts.caches[below].prefetches;
            taken = next == caches.end() ? counts.memories[0].writes : counts.caches[below].writebacks_in;
        }
        const CoherenceCounts& nodes = counts.coherence.at(0);
        RC_ASSERT(arrived + nodes.supplies == asked);
        RC_ASSERT(taken == written + nodes.write_backs);
        RC_ASSERT(nodes.supplies <= nodes.reads + nodes.exclusive_reads);
        RC_ASSERT(test_case.machine.coherence.protocol == Protocol::mesi || nodes.write_backs == 0U);
    });
}

TEST(CoherenceLaws, ANodeAloneAsksNobody) {
    check_cases(150, [] {
        Case test_case = coherent_machine_case({});
        test_case.programs.resize(1);
        Case apart = test_case;
        apart.machine.coherence = {};
        test_case.machine.coherence.latency = 0;
        const HierarchyCounts with = outcome_of(test_case).outcome.counts, without = outcome_of(apart).outcome.counts;
        const CoherenceCounts& nodes = with.coherence.at(0);
        RC_ASSERT(nodes.supplies + nodes.upgrades + nodes.invalidations + nodes.downgrades == 0U);
        RC_ASSERT(with.caches == without.caches);
    });
}

}  // namespace
}  // namespace cachetally::differential
