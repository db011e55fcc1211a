// SPDX-License-Identifier: BSD-3-Clause
// Filtered references: on machines whose first level may pass over redundant ones, and on machines that are almost
// such, where walks, fetches and straddling references come between.
#include <algorithm>

#include "cachetally/topology.hpp"
#include "sim/model/replacement/table.hpp"
#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

/// Lets a lower level take lines away from above, by batches that can be undone.
void make_inclusive(CacheConfig& cache, const Chooser& choose) {
    CacheConfig made;
    made.name = cache.name;
    made.next = cache.next;
    made.line = cache.line;
    made.latency = cache.latency;
    made.inclusion = Inclusion::inclusive;
    made.ways = static_cast<unsigned>(1 + choose(9));
    made.size = (std::uint64_t{1} << choose(7)) * made.ways * made.line;
    cache = made;
}

/// Few ways, so that lines and pages are soon replaced.
MachineDescription filterable_machine(const Chooser& choose) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 3;
    limits.prefetchers = limits.no_cache = limits.link_timing = false;
    limits.other_policies = choose(4) == 3;
    MachineDescription machine = random_machine(choose, limits);
    const std::uint64_t sets = 64U << choose(2);
    for (CacheConfig& cache : machine.caches) {
        const std::uint64_t below = cache.size / cache.line;
        cache.size = below * std::max(cache.line, 64U);
        cache.line = std::max(cache.line, 64U);
        if (cache.inclusion != Inclusion::inclusive) cache.inclusion = Inclusion::nine;  // lines may differ now
        if (!limits.other_policies && choose(3) == 2) cache.replacement = replacements::tree_plru;
        if (cache.name[1] != '1') {
            if (choose(3) == 2) make_inclusive(cache, choose);
            continue;
        }
        cache.line = 64;
        cache.ways = static_cast<unsigned>(1 + choose(8));
        cache.size = sets * 64 * cache.ways;
        cache.indexing = Indexing::modulo;
    }
    machine.pages.size = 0x1000;
    if (choose(8) != 7) machine.pages.ranges.clear();
    if (choose(4) != 3) machine.pages.walk_through = machine.caches.front().name;
    for (TlbConfig& tlb : machine.tlbs) {
        tlb.ways = static_cast<unsigned>(1 + choose(4));
        tlb.entries = (16U << choose(2)) * tlb.ways;
        tlb.indexing = Indexing::modulo;
        if (choose(8) != 7) tlb.page_sizes.clear(), tlb.granule = 0;
    }
    return machine;
}

Burst data_burst(const Chooser& choose) {
    Burst burst;
    burst.pattern = static_cast<unsigned>(choose(8));
    burst.base = static_cast<unsigned>(choose(6));
    burst.count = static_cast<unsigned>(choose(120));
    constexpr unsigned strides[] = {4, 8, 64, 24, 4096, 65536, 32, 4160};
    burst.stride = strides[choose(8)];
    burst.seed = static_cast<unsigned>(choose(1000));
    burst.kinds = static_cast<unsigned>(choose(3));  // loads and stores
    burst.barrier = choose(8) == 7;
    return burst;
}

rc::Gen<Case> filterable_case() {
    return rc::gen::exec([] {
        const Chooser choose = rapidcheck_chooser();
        Case test_case;
        test_case.machine = filterable_machine(choose);
        test_case.bursts.emplace_back();
        const auto bursts = choose(16);
        for (unsigned i = 0; i < bursts; ++i) test_case.bursts.back().push_back(data_burst(choose));
        const std::uint64_t way_bytes = choose(2) == 0 ? 0x1000 : 0x10000;  // of sets of lines, of sets of pages
        test_case.programs.push_back(expand(test_case.bursts.back(), way_bytes));
        return test_case;
    });
}

TEST(Filtered, ReferencesAgreeWithAllMadeOneByOne) {
    std::size_t filtered = 0, all = 0;
    check_cases(2500, [&] {
        const Case test_case = *filterable_case();
        const Outcome expected = simulate(test_case.machine, test_case.programs, test_case.quantum);
        for (const Execution fastest : {Execution::batched, Execution::filtered})
            for (const Driving driving : {Driving::unwatched, Driving::requests, Driving::fills, Driving::below}) {
                const EngineOutcome actual =
                    run_engine(test_case.machine, test_case.programs, test_case.quantum, driving, {}, fastest);
                const std::string found = difference(test_case.machine, expected, actual, driving);
                if (!found.empty())
                    RC_FAIL("driving " + std::to_string(static_cast<int>(driving)) + ", execution " +
                            std::to_string(static_cast<int>(fastest)) + ": " + found);
                filtered += actual.filtered;
                all += expected.counts.references;
            }
    });
    EXPECT_GT(filtered, all / 4);  // else the machines are not what they should be
}

// One way: walks for pages all over the first level take the line that is stored to, which seems to be there still. The
// load that brings it back leaves it clean; the store behind it makes it dirty again.
TEST(Filtered, ADirtyLineThatAWalkTookIsDirtyAgain) {
    const MachineDescription machine = read_machine(
        "name: one way\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, next: memory}\n"
        "tlbs:\n  - {name: TLB, entries: 16, ways: 1}\npages: {walk: {through: L1}}\nmemory: {latency: 100}\n",
        "one_way.yaml");
    std::vector<Reference> references;
    const auto make = [&](Address page, Address offset, ReferenceKind kind) {
        references.push_back({.address = page * 4096 + offset, .size = 8, .kind = kind});
    };
    for (Address page = 16; page < 16 + 640; ++page) {
        if (page % 16 < 2) continue;
        make(0, 512, ReferenceKind::store);
        make(page, 1024, ReferenceKind::load);
        make(0, 512, ReferenceKind::load);
        make(0, 512, ReferenceKind::store);
        make(1, 512, ReferenceKind::load);
    }
    const std::vector<CoreProgram> programs{{{references, {Control::Kind::end, 0}}}};
    const Outcome expected = simulate(machine, programs, 0);
    const EngineOutcome actual = run_engine(machine, programs, 0, Driving::unwatched);
    EXPECT_EQ(difference(machine, expected, actual, Driving::unwatched), "");
    EXPECT_EQ(actual.filtered, references.size());
}

}  // namespace
}  // namespace cachetally::differential
