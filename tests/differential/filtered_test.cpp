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
    made.ways = static_cast<unsigned>(1 + choose(12));
    made.size = (std::uint64_t{1} << choose(10)) * made.ways * made.line;
    cache = made;
}

enum class Levels { usual, inclusive, in_steps };

/// Few ways, so that lines and pages are soon replaced. Levels in steps: behind a first level that takes batches.
MachineDescription filterable_machine(const Chooser& choose, Levels levels) {
    const bool inclusive = levels == Levels::inclusive, in_steps = levels == Levels::in_steps;
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = in_steps ? 4 : 3;
    limits.prefetchers = in_steps;
    limits.no_cache = limits.link_timing = false;
    limits.other_policies = in_steps || (!inclusive && choose(4) == 3);
    MachineDescription machine = random_machine(choose, limits);
    const std::uint64_t sets = 64U << choose(2);
    const unsigned line = in_steps || choose(4) != 3 ? 64 : 64U << choose(3);
    const unsigned lower_line = 64U << choose(2);  // in steps
    for (CacheConfig& cache : machine.caches) {
        const std::uint64_t lines = cache.size / cache.line;
        cache.sector = 0;
        cache.line = in_steps ? lower_line : std::max(cache.line, line);  // victims fill lines of their size
        cache.size = lines * cache.line;
        const bool by_victims = cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim;
        if (in_steps ? cache.inclusion == Inclusion::inclusive || cache.name.starts_with("L2") : by_victims)
            cache.inclusion = Inclusion::nine;
        if (!limits.other_policies && choose(3) == 2) cache.replacement = replacements::tree_plru;
        if (cache.name[1] != '1') {
            if (inclusive && choose(3) != 0) make_inclusive(cache, choose);
            continue;
        }
        if (in_steps) {  // nothing of its policies
            CacheConfig first;
            first.name = cache.name, first.next = cache.next, first.latency = cache.latency;
            first.serves = cache.serves, first.virtually_indexed = choose(2) == 1;
            cache = first;
        }
        cache.line = line;
        cache.ways = static_cast<unsigned>(1 + choose(8));
        cache.size = sets * line * cache.ways;
        cache.indexing = Indexing::modulo;
        cache.slices = 0;
    }
    if (limits.other_policies) add_sectors(machine, choose, false);
    machine.pages.size = 0x1000;
    if (choose(8) != 7) machine.pages.ranges.clear();
    if (choose(4) != 3) machine.pages.walk_through = machine.caches.front().name;
    const auto second = std::ranges::find(machine.caches, machine.caches.front().next, &CacheConfig::name);
    if (in_steps && second != machine.caches.end() && second->inclusion == Inclusion::nine && choose(2) == 1)
        machine.pages.walk_through = second->name;
    for (TlbConfig& tlb : machine.tlbs) {
        tlb.ways = static_cast<unsigned>(1 + choose(4));
        tlb.entries = (16U << choose(2)) * tlb.ways;
        tlb.indexing = Indexing::modulo;
        if (choose(8) != 7) tlb.page_sizes.clear(), tlb.granule = 0;
        // Others make references one by one.
        if (machine.pages.mapping != Mapping::identity && choose(8) != 7) tlb.coalesces = 1;
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

/// Comes back to a line again and again, which is then the least recent one of an inclusive level.
void add_hot_line(CoreProgram& program, const Chooser& choose) {
    const auto every = static_cast<std::size_t>(1 + choose(6));
    const auto stores = static_cast<std::size_t>(2 + choose(40));
    std::size_t made = 0;
    for (Stretch& stretch : program) {
        std::vector<Reference> references;
        for (const Reference& reference : stretch.references) {
            references.push_back(reference);
            if (++made % every != 0) continue;
            const auto kind = made % stores == 0 ? ReferenceKind::store : ReferenceKind::load;
            references.push_back({.address = 0x1000 + 9 * 64, .size = 4, .kind = kind});
        }
        stretch.references = references;
    }
}

rc::Gen<Case> filterable_case(Levels levels) {
    return rc::gen::exec([levels] {
        const bool inclusive = levels == Levels::inclusive;
        const Chooser choose = rapidcheck_chooser();
        Case test_case;
        test_case.machine = filterable_machine(choose, levels);
        test_case.bursts.emplace_back();
        const auto bursts = choose(inclusive ? 60 : 16);
        for (unsigned i = 0; i < bursts; ++i) test_case.bursts.back().push_back(data_burst(choose));
        const std::uint64_t way_bytes = choose(2) == 0 ? 0x1000 : 0x10000;  // of sets of lines, of sets of pages
        test_case.programs.push_back(expand(test_case.bursts.back(), way_bytes));
        if (inclusive) add_hot_line(test_case.programs.back(), choose);
        return test_case;
    });
}

void check_filtered(unsigned cases, Levels levels) {
    std::size_t filtered = 0, all = 0;
    unsigned in_steps = 0, ran = 0;
    check_cases(cases, [&] {
        const Case test_case = *filterable_case(levels);
        Hierarchy hierarchy{Topology(test_case.machine)};
        in_steps += hierarchy.plan().cores[0].in_steps.empty() ? 0 : 1;
        ++ran;
        const Outcome expected = simulate(test_case.machine, test_case.programs, test_case.quantum);
        for (const Execution fastest : {Execution::batched, Execution::filtered})
            for (const Driving driving :
                 {Driving::unwatched, Driving::requests, Driving::fills, Driving::below, Driving::sited}) {
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
    if (levels == Levels::in_steps) {
        EXPECT_GT(in_steps, ran / 4);
    }
}

TEST(Filtered, ReferencesAgreeWithAllMadeOneByOne) { check_filtered(2500, Levels::usual); }

// Batches through inclusive levels: some are undone, others are not.
TEST(Filtered, BatchesThroughInclusiveLevelsAgreeWithAllMadeOneByOne) { check_filtered(800, Levels::inclusive); }

// Batches that end above a level with a prefetcher, for victims, or of other policies.
TEST(Filtered, BatchesAboveLevelsInStepsAgreeWithAllMadeOneByOne) { check_filtered(800, Levels::in_steps); }

// Twelve lines, each in a slot of its own, in turn through eight ways: all but the first accesses seem to be redundant.
TEST(Filtered, LinesThatAnInclusiveLevelTookAreMissed) {
    const MachineDescription machine = read_machine(
        "name: small\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, next: L2}\n"
        "  - {name: L2, size: 512, ways: 8, next: memory, inclusion: inclusive}\nmemory: {latency: 100}\n",
        "small.yaml");
    std::vector<Reference> references;
    for (Address i = 0; i < 40000; ++i)  // blocks are made one by one, and then in batches again
        references.push_back(
            {.address = i % 12 * 64, .size = 8, .kind = i % 7 == 0 ? ReferenceKind::store : ReferenceKind::load});
    const std::vector<CoreProgram> programs{{{references, {Control::Kind::end, 0}}}};
    const Outcome expected = simulate(machine, programs, 0);
    for (const Driving driving : {Driving::unwatched, Driving::requests})
        EXPECT_EQ(difference(machine, expected, run_engine(machine, programs, 0, driving), driving), "");
}

// The fourth line takes the one that was stored to, and a load brings that back clean. A packed block retains the load,
// as the page of its slot has changed; the filter of the next block did not, and takes the store for redundant.
TEST(Filtered, ALineThatCameBackIsDirtyAgain) {
    const MachineDescription machine = read_machine(
        "name: three lines\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, next: L2}\n"
        "  - {name: L2, size: 192, ways: 3, next: memory, inclusion: inclusive}\nmemory: {latency: 100}\n",
        "three_lines.yaml");
    const auto make = [](Address address, ReferenceKind kind) {
        return Reference{.address = address, .size = 4, .kind = kind};
    };
    using enum ReferenceKind;
    const std::vector<CoreProgram> programs{
        {{{make(0x1240, load), make(0x2440, load), make(0x3480, load), make(0x1240, store), make(0x114c0, load),
           make(0x1240, load)},
          {Control::Kind::meet, 0}},
         {{make(0x1240, store), make(0x2000, load), make(0x3040, load), make(0x2080, load)}, {Control::Kind::end, 0}}}};
    const Outcome expected = simulate(machine, programs, 0);
    const EngineOutcome actual = run_engine(machine, programs, 0, Driving::unwatched, {}, Execution::filtered);
    EXPECT_EQ(difference(machine, expected, actual, Driving::unwatched), "");
    EXPECT_EQ(actual.outcome.counts.caches.at(1).writebacks_out, 2U);  // the line, dirty both times
}

// Lines of 128 bytes: the entry that a walk reads may lie in the half that no slot of the filter stands for.
TEST(Filtered, AWalkTakesTheLineOfItsEntry) {
    const MachineDescription machine = read_machine(
        "name: long lines\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, line: 128, next: memory}\n"
        "tlbs:\n  - {name: TLB, entries: 16, ways: 4}\npages: {walk: {through: L1}}\nmemory: {latency: 100}\n",
        "long_lines.yaml");
    std::vector<Reference> references;
    for (Address i = 0; i < 8000; ++i) {
        const Address page = i * 2654435761 % 4099;
        references.push_back({.address = page * 4096 + i % 61 * 64, .size = 8, .kind = ReferenceKind::load});
        for (Address line = 0; line < 4; ++line)
            references.push_back({.address = line * 1024 + i % 16 * 8, .size = 8, .kind = ReferenceKind::load});
    }
    const std::vector<CoreProgram> programs{{{references, {Control::Kind::end, 0}}}};
    const Outcome expected = simulate(machine, programs, 0);
    EXPECT_EQ(difference(machine, expected, run_engine(machine, programs, 0, Driving::unwatched), Driving::unwatched),
              "");
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

// Pages 0 and 16 share the only way of a set. The second core uses page 0 beside the first, one by one; then page 16
// while the first waits, in blocks; then page 0 again.
TEST(Filtered, PagesThatABlockReplacedAreMissed) {
    const auto uses = [](Address page, std::size_t times, Control::Kind end) {
        const Reference one{.address = page * 4096, .size = 8, .kind = ReferenceKind::load};
        return Stretch{std::vector<Reference>(times, one), {end, 0}};
    };
    using enum Control::Kind;
    const std::vector<CoreProgram> programs{{uses(1, 8, barrier), uses(1, 8, end)},
                                            {uses(0, 12, none), uses(16, 8, barrier), uses(0, 8, end)}};
    for (const char* policy : {"lru", "fifo", "random", "srrip", "drrip", "bit_plru", "qlru_h11_m1_r0_u0"}) {
        const MachineDescription machine = read_machine(
            "name: one way\ncores: 2\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, next: memory}\n"
            "tlbs:\n  - {name: TLB, entries: 16, ways: 1, replacement: " +
                std::string(policy) + "}\npages: {walk: {references: false}}\nmemory: {latency: 100}\n",
            "one_way.yaml");
        const Outcome expected = simulate(machine, programs, 0);
        const EngineOutcome actual = run_engine(machine, programs, 0, Driving::unwatched);
        EXPECT_EQ(difference(machine, expected, actual, Driving::unwatched), "") << policy;
        EXPECT_EQ(actual.outcome.counts.tlbs.at(0).misses, 4U) << policy;  // page 1 once, page 0 twice
    }
}

}  // namespace
}  // namespace cachetally::differential
