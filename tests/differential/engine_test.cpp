// SPDX-License-Identifier: BSD-3-Clause
// The engine against the reference simulator: count for count, event for event, end time for end time.
#include <bit>
#include <stdexcept>

#include "sim/model/replacement/table.hpp"
#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

void agree(const Case& test_case, const std::vector<Driving>& drivings) {
    const Outcome expected = simulate(test_case.machine, test_case.programs, test_case.quantum);
    for (const Driving driving : drivings) {
        const EngineOutcome actual = run_engine(test_case.machine, test_case.programs, test_case.quantum, driving);
        const std::string found = difference(test_case.machine, expected, actual, driving);
        if (!found.empty()) {
            RC_FAIL("driving " + std::to_string(static_cast<int>(driving)) + ": " + found);
        }
    }
}

TEST(Differential, SingleLevelAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 1;
    limits.prefetchers = limits.tlbs = limits.mappings = false;
    check_cases(1000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, OneCoreAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.prefetchers = limits.tlbs = limits.mappings = false;
    check_cases(3000, [=] {
        agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged, Driving::below});
    });
}

TEST(Differential, TranslationAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 2;
    limits.prefetchers = false;
    check_cases(2000, [=] {
        agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged, Driving::below});
    });
}

/// Whether the reference simulator finds a frame for every page.
bool fits(const Case& test_case) {
    try {
        simulate(test_case.machine, test_case.programs, test_case.quantum);
    } catch (const std::runtime_error&) {
        return false;
    }
    return true;
}

/// Sets of a cache.
std::uint64_t sets_of(const CacheConfig& cache) { return cache.ways == 0 ? 1 : cache.size / cache.line / cache.ways; }

// Machines of which most are so plain that requests are handed down many at a time, with addresses on both sides of
// what fits the compact form of tags: 29 bits above those of set and line.
TEST(Differential, PlainMachinesAgree) {
    MachineLimits limits;
    limits.cores = 2;
    limits.other_policies = limits.prefetchers = limits.no_cache = false;
    check_cases(3000, [=] {
        Case test_case = *arbitrary_case(limits);
        const Chooser choose = rapidcheck_chooser();
        for (CacheConfig& cache : test_case.machine.caches) {
            constexpr Replacement others[] = {replacements::fifo, replacements::random, replacements::srrip,
                                              replacements::tree_plru};
            if (choose(5) == 4) cache.replacement = others[choose(4)];
            cache.write_back_traffic = choose(8) != 7;
            cache.write_back_refreshes = choose(8) != 7;
            cache.store_hit_refreshes = choose(8) != 7;
            if (choose(3) != 0) cache.size = cache.size / sets_of(cache) * std::bit_floor(sets_of(cache));
        }
        const CacheConfig& cache = test_case.machine.caches[choose(test_case.machine.caches.size())];
        const Address bound = (std::uint64_t{1} << 29) * cache.line * sets_of(cache);
        const Address offset = choose(2) == 0 ? 0 : bound - cache.line * choose(64);
        for (CoreProgram& program : test_case.programs)
            for (Stretch& stretch : program)
                for (Reference& reference : stretch.references) reference.address += offset;
        RC_PRE(fits(test_case));
        agree(test_case,
              {Driving::unwatched, Driving::requests, Driving::merged, Driving::fills, Driving::below, Driving::sited});
    });
}

// Few frames are free, so that draws hit taken ones again and again.
TEST(Differential, ScarceMemoryAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 1;
    check_cases(300, [=] {
        Case test_case = *arbitrary_case(limits);
        PagesConfig& pages = test_case.machine.pages;
        pages.size = 4096;
        pages.ranges.clear();
        if (pages.mapping == Mapping::identity) pages.mapping = Mapping::random;
        test_case.machine.memories.front().size = 4096 * (rapidcheck_chooser()(60) + 10);
        RC_PRE(fits(test_case));
        agree(test_case, {Driving::each, Driving::unwatched});
    });
}

/// Some cores that talk to each other.
Case coherent_case(unsigned bursts, bool translates) {
    MachineLimits limits;
    limits.coherence = true;
    limits.no_cache = false;
    limits.tlbs = limits.mappings = translates;
    Case test_case = *arbitrary_case(limits, bursts);
    RC_PRE(test_case.machine.coherence.protocol != Protocol::none);
    return test_case;
}

Case case_with_nodes(unsigned bursts, bool coherent) {
    MachineLimits limits;
    limits.numa = true;
    limits.coherence = coherent;
    Case test_case = *arbitrary_case(limits, bursts);
    RC_PRE(test_case.machine.has_nodes());
    RC_PRE(!coherent || test_case.machine.coherence.protocol != Protocol::none);
    return test_case;
}

/// Links that a record may be sent from: those that lead to caches or memory, below a core, cache or node.
std::vector<LinkInfo> links_for_records(const Topology& topology) {
    std::vector<LinkInfo> found;
    for (const LinkInfo& link : topology.links()) {
        const auto kind = topology.components()[link.from].kind;
        const bool data =
            kind == Component::Kind::core || kind == Component::Kind::cache || kind == Component::Kind::numa;
        if (data && !link.virtual_addresses) found.push_back(link);
    }
    return found;
}

void records_agree(const Case& test_case) {
    const Chooser choose = rapidcheck_chooser();
    const Topology topology(test_case.machine);
    const auto links = links_for_records(topology);
    const LinkInfo& link = links[choose(links.size())];
    Records records;
    records.link = link.name;
    records.copy = static_cast<unsigned>(choose(Hierarchy(topology).copies(topology.link(link.name))));
    records.every = 1 + static_cast<unsigned>(choose(8));
    records.bypass = choose(3) == 2;
    records.base = choose(2) * 0x100000;
    const Outcome expected = simulate(test_case.machine, test_case.programs, test_case.quantum, records);
    for (const Driving driving : {Driving::each, Driving::unwatched, Driving::one_by_one}) {
        if (driving == Driving::one_by_one && test_case.machine.cores > 1) continue;
        if (driving == Driving::one_by_one && test_case.programs[0].size() > 1) continue;
        const EngineOutcome actual =
            run_engine(test_case.machine, test_case.programs, test_case.quantum, driving, records);
        const std::string found = difference(test_case.machine, expected, actual, driving);
        if (!found.empty()) RC_FAIL(link.name + (records.bypass ? " bypass" : "") + ": " + found);
    }
}

TEST(Differential, RecordsOfListenersAgree) {
    check_cases(1000, [] { records_agree(*arbitrary_case({}, 5)); });
}

TEST(Differential, PrefetchersAgree) {
    MachineLimits limits;
    limits.cores = 1;
    limits.tlbs = false;
    check_cases(2000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, ReferencesOneAtATimeAgree) {
    MachineLimits limits;
    limits.cores = 1;
    check_cases(1500, [=] { agree(*arbitrary_case(limits), {Driving::one_by_one}); });
}

TEST(Differential, CoherentMachinesAgree) {
    check_cases(1500, [] { agree(coherent_case(6, false), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, CoherentMachinesWithPagesAgree) {
    check_cases(500, [] { agree(coherent_case(4, true), {Driving::each, Driving::some}); });
}

TEST(Differential, RecordsOnCoherentMachinesAgree) {
    check_cases(400, [] { records_agree(coherent_case(5, false)); });
}

TEST(Differential, MachinesOfSeveralCoresAgree) {
    check_cases(2500, [] {
        agree(*arbitrary_case({}, 6), {Driving::each, Driving::unwatched, Driving::merged, Driving::some});
    });
}

TEST(Differential, MachinesWithNodesAgree) {
    check_cases(1200, [] {
        agree(case_with_nodes(6, false), {Driving::each, Driving::unwatched, Driving::merged, Driving::some});
    });
}

TEST(Differential, CoherentMachinesWithNodesAgree) {
    check_cases(600, [] { agree(case_with_nodes(6, true), {Driving::each, Driving::unwatched}); });
}

TEST(Differential, RecordsOnMachinesWithNodesAgree) {
    check_cases(500, [] { records_agree(case_with_nodes(5, rapidcheck_chooser()(3) == 0)); });
}

}  // namespace
}  // namespace cachetally::differential
