// SPDX-License-Identifier: BSD-3-Clause
// Misses by site, their causes, and what evicts what by object: by hand, and against other counts of the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "cachetally/run.hpp"
#include "monitor/attribution/hierarchy_attribution.hpp"
#include "monitor/causes/eviction_graph.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"

namespace cachetally {
namespace {

struct AttributedRun {
    RunResult run;
    std::vector<LevelCauses> causes;
    Attribution attribution;
};

AttributedRun attributed(const MachineDescription& machine, SitedProgram source) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    HierarchyCauses causes(topology, hierarchy, {}, {}, source.sites());
    HierarchyAttribution attribution(topology, hierarchy);
    AttributedRun result{run(hierarchy, source), {}, {}};
    result.causes = causes.found();
    result.attribution = attribution.found(*source.sites(), source.site_names());
    causes.attribute(result.attribution);
    return result;
}

// A is in line 0, B in 2, C in 1 and 3. 0 and 2 meet in set 0, 1 and 3 in set 1. At the end of phase 1, 0 was used 3
// lines ago: capacity.
TEST(AttributedCauses, OfSitesByHand) {
    const AttributedRun found =
        attributed(two_sets(),
                   SitedProgram({{loads_by({{0, 1}, {2, 2}, {0, 1}, {2, 2}}), loads_by({{1, 3}, {3, 3}, {0, 1}})}}, 3));
    const Attribution& attribution = found.attribution;
    EXPECT_THAT(attribution.caused, ::testing::ElementsAre("L1"));
    using Rows = std::map<std::pair<std::uint32_t, std::uint32_t>, CauseCounts>;
    Rows rows;  // by phase and site
    for (const Attribution::Row& row : attribution.rows) rows[{row.phase, row.site}] = row.causes.at(0);
    EXPECT_EQ(rows,
              (Rows{{{0, 1}, {1, 0, 0, 1}}, {{0, 2}, {1, 0, 0, 1}}, {{1, 1}, {0, 0, 1, 0}}, {{1, 3}, {2, 0, 0, 0}}}));
    const ObjectEvictions& evictions = attribution.evictions.at(0);
    EXPECT_THAT(evictions.pairs, ::testing::ElementsAre(Evictions{1, 2, 0, 1}, Evictions{1, 2, 1, 1},
                                                        Evictions{2, 1, 0, 2}, Evictions{3, 3, 1, 1}));
    EXPECT_THAT(evictions.cycles,
                ::testing::ElementsAre(EvictionCycle{{1, 2}, 2, {{0, 2}}}, EvictionCycle{{3}, 1, {{1, 1}}}));
}

// B comes to the line of A, which is B's then.
TEST(AttributedCauses, LinesAreOfTheLastObjectAskedFor) {
    const AttributedRun found = attributed(two_sets(), SitedProgram({{loads_by({{0, 1}, {0, 2}, {2, 3}})}}, 3));
    EXPECT_THAT(found.attribution.evictions.at(0).pairs, ::testing::ElementsAre(Evictions{3, 2, 0, 1}));
}

TEST(AttributedCauses, ObjectsOfOneNameAreOne) {
    EXPECT_EQ(ObjectNumbers({"", "heap", "A", "heap"})[3], 1U);
    EXPECT_EQ(ObjectNumbers({"", "heap", "A", "heap"})[2], 2U);
}

std::uint64_t sum_of(const CauseCounts& counts) { return counts[0] + counts[1] + counts[2] + counts[3]; }

/// Each row's causes are its misses; rows sum up to the level; and so do pairs.
RC_GTEST_PROP(AttributedCauses, AddUpToMissesOfRowsAndLevels, ()) {
    differential::MachineLimits limits;
    limits.coherence = *rc::gen::arbitrary<bool>();
    limits.numa = !limits.coherence && *rc::gen::arbitrary<bool>();
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const AttributedRun found = attributed(machine, SitedProgram(random_stretches(machine.cores, 5), 5));
    const Attribution& attribution = found.attribution;
    RC_ASSERT(attribution.caused.size() == found.causes.size());
    for (std::size_t level = 0; level < found.causes.size(); ++level) {
        const auto known = std::ranges::find(attribution.levels, attribution.caused[level]);
        CauseCounts rows{}, whole{};
        for (const Attribution::Row& row : attribution.rows) {
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) rows[cause] += row.causes[level][cause];
            if (known != attribution.levels.end())
                RC_ASSERT(sum_of(row.causes[level]) == row.misses[known - attribution.levels.begin()]);
        }
        for (const StructureCauses& row : found.causes[level].misses)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) whole[cause] += row.misses[cause];
        RC_ASSERT(rows == whole);
        std::map<std::uint32_t, std::uint64_t> pairs, evictions;  // by phase
        for (const Evictions& pair : attribution.evictions[level].pairs) pairs[pair.phase] += pair.count;
        for (const Evictions& row : found.causes[level].evictions) evictions[row.phase] += row.count;
        RC_ASSERT(pairs == evictions);
    }
}

/// All that is attributed without single references, however these are carried out.
Attribution attributed_by(const MachineDescription& machine, SitedProgram source, Execution fastest) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    hierarchy.limit_execution(fastest);
    HierarchyAttribution attribution(topology, hierarchy, {.cycles = true});
    run(hierarchy, source);
    return attribution.found(*source.sites(), source.site_names());
}

// The slow way is one reference at a time.
RC_GTEST_PROP(Attribution, IsTheSameInBatches, ()) {
    differential::MachineLimits limits;
    limits.cores = 1;
    limits.other_policies = limits.prefetchers = false;
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const Stretches stretches = random_stretches(1, 5);
    const Attribution expected = attributed_by(machine, SitedProgram(stretches, 5), Execution::one_by_one);
    for (const Execution fastest : {Execution::filtered, Execution::batched})
        RC_ASSERT(attributed_by(machine, SitedProgram(stretches, 5), fastest).rows == expected.rows);
}

// 1 and 2 evict each other 5 and 3 times, 2, 3 and 4 in turn 4 times at least, 5 nobody that would evict it.
TEST(EvictionGraph, StrongestCyclesByHand) {
    const std::vector<SetEvictions> evictions = {{1, 2, 0, 2}, {1, 2, 7, 3}, {2, 1, 7, 3},  {2, 3, 1, 4}, {3, 4, 1, 9},
                                                 {4, 2, 1, 5}, {4, 2, 2, 1}, {5, 1, 0, 90}, {4, 4, 3, 1}};
    const std::vector<EvictionCycle> expected = {{{2, 3, 4}, 4, {{1, 4}}}, {{1, 2}, 3, {{7, 3}}}, {{4}, 1, {{3, 1}}}};
    EXPECT_EQ(strongest_cycles(evictions), expected);
    std::vector<SetEvictions> backwards(evictions.rbegin(), evictions.rend());
    EXPECT_EQ(strongest_cycles(backwards), expected);
    EXPECT_TRUE(strongest_cycles({}).empty());
    EXPECT_TRUE(strongest_cycles({{1, 2, 0, 5}}).empty());
}

/// All simple cycles of a small graph, each from its least structure on.
void extend(const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& counts,
            std::vector<std::uint32_t>& walk, std::uint64_t least,
            std::map<std::vector<std::uint32_t>, std::uint64_t>& cycles) {
    for (const auto& [pair, count] : counts) {
        if (pair.first != walk.back() || pair.second < walk.front()) continue;
        const std::uint64_t strength = std::min(least, count);
        if (pair.second == walk.front()) cycles[walk] = strength;
        if (std::ranges::find(walk, pair.second) != walk.end()) continue;
        walk.push_back(pair.second);
        extend(counts, walk, strength, cycles);
        walk.pop_back();
    }
}

RC_GTEST_PROP(EvictionGraph, CyclesAreTheStrongestOfAll, ()) {
    const auto structures = *rc::gen::inRange(1U, 7U);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
    std::vector<SetEvictions> evictions;
    for (std::uint32_t by = 0; by < structures; ++by)
        for (std::uint32_t victim = 0; victim < structures; ++victim)
            if (const auto count = *rc::gen::inRange<std::uint64_t>(0, 6); count != 0) {
                counts[{by, victim}] = count;
                evictions.push_back({by, victim, 0, count});
            }
    std::map<std::vector<std::uint32_t>, std::uint64_t> all;
    for (std::uint32_t first = 0; first < structures; ++first) {
        std::vector<std::uint32_t> walk{first};
        extend(counts, walk, ~std::uint64_t{0}, all);
    }
    const std::vector<EvictionCycle> found = strongest_cycles(evictions);
    RC_ASSERT(found.empty() == all.empty());
    for (const EvictionCycle& cycle : found) {
        const auto known = all.find(cycle.structures);
        RC_ASSERT(known != all.end());
        RC_ASSERT(known->second == cycle.count);
    }
    std::uint64_t strongest = 0;
    for (const auto& [structures_of_cycle, strength] : all) strongest = std::max(strongest, strength);
    if (!found.empty()) RC_ASSERT(found.front().count == strongest);
}

}  // namespace
}  // namespace cachetally
