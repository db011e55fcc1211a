// SPDX-License-Identifier: BSD-3-Clause
// Laws that hold of the engine whatever the options: conservation, inclusion of LRU, and changes that change nothing.
#include <algorithm>
#include <utility>

#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

HierarchyCounts counts_of(const Case& test_case) {
    return run_engine(test_case.machine, test_case.programs, test_case.quantum, Driving::unwatched).outcome.counts;
}

MachineLimits plain() {
    MachineLimits limits;
    limits.other_policies = limits.mappings = limits.tlbs = limits.no_cache = false;
    return limits;
}

/// What the caches above send to a component (default policies).
CacheCounts sent_to(const MachineDescription& machine, const HierarchyCounts& counts, const std::string& name) {
    CacheCounts sent;
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        if (machine.caches[i].next != name) continue;
        const CacheCounts& above = counts.caches[i];
        sent.loads += above.load_misses + above.store_misses;
        sent.fetches += above.fetch_misses;
        sent.prefetches += above.prefetch_misses + above.prefetches_issued;
        sent.writebacks_in += above.writebacks_out;
    }
    return sent;
}

TEST(Laws, WhatALevelGetsIsWhatThoseAboveSend) {
    check_cases(900, [] {
        const Case test_case = *arbitrary_case(plain());
        const auto counts = counts_of(test_case);
        const auto& caches = test_case.machine.caches;
        for (std::size_t i = 0; i < caches.size(); ++i) {
            const CacheCounts sent = sent_to(test_case.machine, counts, caches[i].name);
            const bool next_to_core = std::none_of(
                caches.begin(), caches.end(), [&](const CacheConfig& other) { return other.next == caches[i].name; });
            if (next_to_core) continue;
            RC_ASSERT(counts.caches[i].loads == sent.loads);
            RC_ASSERT(counts.caches[i].stores == 0U);
            RC_ASSERT(counts.caches[i].fetches == sent.fetches);
            RC_ASSERT(counts.caches[i].prefetches == sent.prefetches);
            RC_ASSERT(counts.caches[i].writebacks_in == sent.writebacks_in);
        }
        for (std::size_t i = 0; i < counts.memories.size(); ++i) {
            const CacheCounts sent = sent_to(test_case.machine, counts, test_case.machine.memories[i].name);
            RC_ASSERT(counts.memories[i].reads == sent.loads + sent.fetches + sent.prefetches);
            RC_ASSERT(counts.memories[i].writes == sent.writebacks_in);
        }
    });
}

TEST(Laws, LinesAreConserved) {
    check_cases(900, [] {
        const Case test_case = *arbitrary_case(plain());
        const auto counts = counts_of(test_case);
        for (std::size_t i = 0; i < counts.caches.size(); ++i) {
            const CacheConfig& config = test_case.machine.caches[i];
            const CacheCounts& cache = counts.caches[i];
            const auto inserted = cache.load_misses + cache.store_misses + cache.fetch_misses + cache.prefetch_misses +
                                  cache.prefetches_issued + cache.writeback_misses;
            const auto copies = config.shared_by != 0 ? test_case.machine.cores / config.shared_by : 1;
            RC_ASSERT(cache.evictions <= inserted);
            RC_ASSERT(inserted - cache.evictions <= config.size / config.line * copies);
            RC_ASSERT(cache.writebacks_out <= cache.evictions);
            // Each line that was made dirty here goes down at most once.
            RC_ASSERT(cache.writebacks_out <= cache.stores + cache.writebacks_in);
        }
    });
}

// Of one core: with several, times and so the interleaving would change.
TEST(Laws, MoreWaysOfLruNeverMissMore) {
    check_cases(600, [] {
        MachineLimits limits = plain();
        limits.cores = limits.levels = 1;
        limits.prefetchers = false;
        Case test_case = *arbitrary_case(limits);
        for (CacheConfig& cache : test_case.machine.caches)
            cache.ways = cache.ways == 0 ? static_cast<unsigned>(cache.size / cache.line) : cache.ways;
        const auto few = counts_of(test_case);
        for (CacheConfig& cache : test_case.machine.caches) {
            cache.size += cache.size / cache.ways;
            ++cache.ways;
        }
        const auto more = counts_of(test_case);
        for (std::size_t i = 0; i < few.caches.size(); ++i) {
            const CacheCounts &a = few.caches[i], &b = more.caches[i];
            RC_ASSERT(b.load_misses + b.store_misses + b.fetch_misses <=
                      a.load_misses + a.store_misses + a.fetch_misses);
        }
    });
}

/// Of sliced caches one slice stays, with 1 to 4 sets.
void by_modulo(CacheConfig& cache) {
    cache.indexing = Indexing::modulo;
    cache.size /= std::max(1U, std::exchange(cache.slices, 0U));
}

// 840 is a multiple of all numbers of sets up to 8, 60 of all sizes of prefetch tables up to 5.
TEST(Laws, MovingAllAddressesByAMultipleOfEveryWayChangesNothing) {
    check_cases(900, [] {
        MachineLimits limits;
        limits.mappings = limits.tlbs = false;
        Case test_case = *arbitrary_case(limits);
        for (CacheConfig& cache : test_case.machine.caches) by_modulo(cache);
        const Case before = test_case;
        for (CoreProgram& program : test_case.programs) {
            for (Stretch& stretch : program) {
                for (Reference& reference : stretch.references) reference.address += Address{4096} * 840 * 60;
            }
        }
        RC_ASSERT(counts_of(before) == counts_of(test_case));
    });
}

TEST(Laws, WriteBackTrafficDoesNotChangeTheHitsOfTheLevelThatSendsIt) {
    check_cases(600, [] {
        MachineLimits limits;
        limits.levels = 1;
        limits.link_timing = false;  // write-backs that take time change the order of cores
        Case test_case = *arbitrary_case(limits);
        for (CacheConfig& cache : test_case.machine.caches) cache.write_back_traffic = true;
        auto with = counts_of(test_case);
        for (CacheConfig& cache : test_case.machine.caches) cache.write_back_traffic = false;
        const auto without = counts_of(test_case);
        for (CacheCounts& cache : with.caches) cache.writebacks_out = 0;
        RC_ASSERT(with.caches == without.caches);
    });
}

TEST(Laws, OneHugePageAtZeroIsTheIdentity) {
    check_cases(600, [] {
        MachineLimits limits;
        limits.mappings = false;
        Case test_case = *arbitrary_case(limits);
        for (std::size_t core = 0; core < test_case.programs.size(); ++core) {
            for (Burst& burst : test_case.bursts[core]) burst.base %= 2;  // those below 1 GiB
            test_case.programs[core] = expand(test_case.bursts[core], 4096);
        }
        test_case.machine.pages.size = std::uint64_t{1} << 30;
        // Table entries lie at 2^42 or 2^52: in the same sets if these are powers of two and not hashed.
        for (CacheConfig& cache : test_case.machine.caches) {
            by_modulo(cache);
            const std::uint64_t sets = cache.ways == 0 ? 1 : cache.size / cache.line / cache.ways;
            cache.size = cache.size / sets * std::bit_floor(sets);
        }
        const auto identity = counts_of(test_case);
        test_case.machine.pages.mapping = Mapping::contiguous;
        RC_ASSERT(identity == counts_of(test_case));
    });
}

void make_private(MachineDescription& machine) {
    for (CacheConfig& cache : machine.caches) cache.shared_by = 1;
    for (TlbConfig& tlb : machine.tlbs) tlb.shared_by = 1;
}

/// The machine of one core alone: random replacement of copy n is seeded with seed + n.
MachineDescription machine_of_core(MachineDescription machine, unsigned core) {
    machine.cores = 1;
    for (CacheConfig& cache : machine.caches) cache.seed += core;
    for (TlbConfig& tlb : machine.tlbs) tlb.seed += core;
    return machine;
}

TEST(Laws, PrivateHierarchiesAreMachinesOfTheirOwn) {
    check_cases(900, [] {
        MachineLimits limits;
        limits.link_timing = false;  // memory would be waited for
        Case test_case = *arbitrary_case(limits, 6);
        test_case.machine.pages.mapping = Mapping::identity;  // frames would be shared
        make_private(test_case.machine);
        for (CoreProgram& program : test_case.programs) {
            for (Stretch& stretch : program) {  // cores would wait for each other
                if (stretch.control.kind == Control::Kind::barrier || stretch.control.kind == Control::Kind::meet)
                    stretch.control.kind = Control::Kind::none;
            }
        }
        const auto together =
            run_engine(test_case.machine, test_case.programs, test_case.quantum, Driving::unwatched).outcome;
        std::vector<CacheCounts> sum(test_case.machine.caches.size());
        std::uint64_t walks = 0;
        for (unsigned core = 0; core < test_case.programs.size(); ++core) {
            const auto alone =
                run_engine(machine_of_core(test_case.machine, core), {test_case.programs[core]}, 0, Driving::unwatched)
                    .outcome;
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + alone.counts.caches[i];
            walks += alone.counts.page_walks;
            RC_ASSERT(together.core_ends.at(core) == alone.core_ends.at(0) + core);
        }
        RC_ASSERT(together.counts.caches == sum);
        RC_ASSERT(together.counts.page_walks == walks);
    });
}

}  // namespace
}  // namespace cachetally::differential
