// SPDX-License-Identifier: BSD-3-Clause
// Cycles lost, bytes used and cores of attribution: by hand, and against the run's own time and counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "cachetally/run.hpp"
#include "monitor/attribution/hierarchy_attribution.hpp"
#include "monitor/attribution/level_cores.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"

namespace cachetally {
namespace {

struct CostedRun {
    RunResult run;
    Attribution attribution;
    LevelCores cores;
};

CostedRun costed(const MachineDescription& machine, SitedProgram source, const AttributionOptions& options,
                 LostCycles::By by = LostCycles::By::whatever_is_fastest) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    HierarchyAttribution attribution(topology, hierarchy, options, by);
    const HierarchyCores cores(topology, hierarchy);
    CostedRun result{run(hierarchy, source), {}, {}};
    result.attribution = attribution.found(*source.sites(), source.site_names());
    result.cores = cores.found();
    return result;
}

Reference reference_to(Address address, std::uint16_t size, std::uint32_t site,
                       ReferenceKind kind = ReferenceKind::load) {
    return {.address = address, .site = site, .size = size, .kind = kind};
}

using BySite = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// Two sets of one line of 64 bytes; latencies of 1 and 100 cycles.
MachineDescription small_machine() {
    MachineDescription machine = two_sets();
    machine.caches.front().latency = 1;
    MemoryConfig memory;
    memory.name = "memory";
    memory.latency = 100;
    machine.memories = {memory};
    return machine;
}

// A misses line 0 and hits it; B straddles lines 1 and 2, of which 2 evicts 0; then A misses again.
TEST(LostCycles, AreThoseBeyondHitsByHand) {
    const Stretches stretches = {
        {{reference_to(0, 8, 1), reference_to(8, 8, 1), reference_to(124, 8, 2), reference_to(0, 8, 1)}}};
    for (const auto by : {LostCycles::By::whatever_is_fastest, LostCycles::By::references}) {
        const CostedRun found = costed(small_machine(), SitedProgram(stretches, 2), {.cycles = true}, by);
        BySite cycles;
        for (const Attribution::Row& row : found.attribution.rows) cycles[row.site] = {row.accesses, row.cycles};
        EXPECT_EQ(cycles, (BySite{{1, {3, 200}}, {2, {2, 200}}}));
        EXPECT_EQ(found.run.end() / small_machine().period, 5 * 1 + 400);
    }
}

// A brings line 0, of which bytes 0 to 7 and 60 to 63 are used; B lines 1 (4 bytes, then one more) and 2 (4 bytes).
TEST(UsedBytes, OfLinesByHand) {
    const CostedRun found =
        costed(small_machine(),
               SitedProgram({{{reference_to(0, 8, 1), reference_to(4, 4, 2), reference_to(60, 4, 2),
                               reference_to(124, 8, 2), reference_to(64, 1, 1, ReferenceKind::store)}}},
                            2),
               {.used_bytes = true});
    BySite used;
    for (const Attribution::Row& row : found.attribution.rows) used[row.site] = {row.fills, row.used};
    EXPECT_EQ(used, (BySite{{1, {1, 12}}, {2, {2, 9}}}));
    EXPECT_EQ(found.attribution.filled, "L1");
    EXPECT_EQ(found.attribution.line_bytes, 64U);
}

// Line 0 comes in two sectors, leaves as a whole for line 2, and comes back by one of them.
TEST(UsedBytes, OfSectorsByHand) {
    MachineDescription machine = small_machine();
    machine.caches.front().sector = 32;
    const CostedRun found = costed(
        machine,
        SitedProgram(
            {{{reference_to(0, 8, 1), reference_to(40, 8, 1), reference_to(128, 8, 2), reference_to(56, 8, 1)}}}, 2),
        {.used_bytes = true});
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> used;  // in both phases: what stays is in the last
    for (const Attribution::Row& row : found.attribution.rows)
        used[row.site].first += row.fills, used[row.site].second += row.used;
    EXPECT_EQ(used, (decltype(used){{1, {3, 24}}, {2, {1, 8}}}));
    EXPECT_EQ(found.attribution.line_bytes, 32U);
}

// Each access of a sector that is not here waits for the memory.
TEST(LostCycles, OfSectorsByHand) {
    MachineDescription machine = small_machine();
    machine.caches.front().sector = 32;
    const Stretches stretches = {{{reference_to(28, 8, 1), reference_to(0, 64, 1)}}};
    for (const auto by : {LostCycles::By::whatever_is_fastest, LostCycles::By::references}) {
        const CostedRun found = costed(machine, SitedProgram(stretches, 2), {.cycles = true}, by);
        ASSERT_EQ(found.attribution.rows.size(), 1U);
        EXPECT_EQ(found.attribution.rows.front().cycles, 200U);
        EXPECT_EQ(found.run.end() / machine.period, 4 * 1 + 200);
    }
}

TEST(UsedBytes, MasksOfLinesByHand) {
    EXPECT_EQ(line_mask(0, 64, 64), ~std::uint64_t{0});
    EXPECT_EQ(line_mask(3, 2, 16), 0b11000U);
    EXPECT_EQ(line_mask(127, 2, 256), std::uint64_t{0b11} << 31);  // parts of 4 bytes
}

MachineDescription any_machine(bool one_core) {
    differential::MachineLimits limits;
    if (one_core) limits.cores = 1;
    limits.coherence = !one_core && *rc::gen::arbitrary<bool>();
    limits.numa = !limits.coherence && *rc::gen::arbitrary<bool>();
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    return differential::random_machine(choose, limits);
}

/// A run lasts as long as hits of the first levels, and what is lost.
RC_GTEST_PROP(LostCycles, AndHitsAreTheTimeOfTheRun, ()) {
    const MachineDescription machine = any_machine(true);
    const Stretches stretches = random_stretches(1, 5);
    const CostedRun found = costed(machine, SitedProgram(stretches, 5), {.cycles = true});
    const Topology topology(machine);
    const auto hits = LostCycles::hit_times(topology);
    Tick time = 0;
    for (const Attribution::Row& row : found.attribution.rows) time += row.cycles * machine.period;
    for (const auto& references : stretches.front())
        for (const Reference& reference : references) {
            const std::uint64_t line = first_line(topology, reference.kind == ReferenceKind::fetch);
            const std::uint64_t lines = last_byte(reference) / line - reference.address / line + 1;
            time += lines * hits[static_cast<unsigned>(reference.kind)];
        }
    RC_ASSERT(time == found.run.end());
    std::vector<Tick> times = times_of_hits(topology, found.run);
    RC_CLASSIFY(times.empty());
    if (times.empty()) return;
    RC_ASSERT(times.size() == found.run.phases.size());
    for (const Attribution::Row& row : found.attribution.rows) times.at(row.phase) += row.cycles * machine.period;
    for (std::size_t phase = 0; phase < times.size(); ++phase)
        RC_ASSERT(times[phase] == found.run.phases[phase].end - found.run.phases[phase].begin);
}

/// Latencies times events are what single references lose.
RC_GTEST_PROP(LostCycles, AreEqualHoweverTheyAreFound, ()) {
    const MachineDescription machine = any_machine(*rc::gen::arbitrary<bool>());
    const Stretches stretches = random_stretches(machine.cores, 5);
    const AttributionOptions options{.cycles = true, .used_bytes = false, .cores = true};
    const CostedRun fast = costed(machine, SitedProgram(stretches, 5), options),
                    slow = costed(machine, SitedProgram(stretches, 5), options, LostCycles::By::references);
    RC_ASSERT(fast.attribution.rows == slow.attribution.rows);
    RC_ASSERT(fast.run.core_ends == slow.run.core_ends);
    RC_ASSERT(fast.run.counts == slow.run.counts);
}

/// What each core did adds up to what all did, whatever else is asked for.
RC_GTEST_PROP(AttributedCores, AddUp, ()) {
    const MachineDescription machine = any_machine(false);
    const Stretches stretches = random_stretches(machine.cores, 5);
    const CostedRun apart = costed(machine, SitedProgram(stretches, 5),
                                   {.cycles = true, .used_bytes = true, .cores = true}),
                    together = costed(machine, SitedProgram(stretches, 5), {.cycles = true, .used_bytes = true});
    std::map<std::pair<std::uint32_t, std::uint32_t>, Attribution::Row> sums;
    for (const Attribution::Row& row : apart.attribution.rows) {
        Attribution::Row& sum = sums[{row.phase, row.site}];
        sum.misses.resize(row.misses.size());
        sum.phase = row.phase;
        sum.site = row.site;
        sum.accesses += row.accesses;
        sum.cycles += row.cycles;
        sum.fills += row.fills;
        sum.used += row.used;
        for (std::size_t level = 0; level < row.misses.size(); ++level) sum.misses[level] += row.misses[level];
    }
    std::vector<Attribution::Row> rows;
    for (const auto& [place, row] : sums) rows.push_back(row);
    RC_ASSERT(rows == together.attribution.rows);
    for (std::uint32_t level = 0; level < apart.cores.levels.size(); ++level) {
        std::uint64_t accesses = 0, misses = 0, counted = 0, missed = 0;
        for (const LevelCores::Row& row : apart.cores.rows)
            if (row.level == level) accesses += row.accesses, misses += row.misses;
        for (const Attribution::Row& row : together.attribution.rows) missed += row.misses[level];
        RC_ASSERT(misses == missed);
        const HierarchyCounts& counts = apart.run.counts;
        for (std::size_t i = 0; i < machine.caches.size(); ++i)
            if (machine.caches[i].name == apart.cores.levels[level])
                counted = counts.caches[i].loads + counts.caches[i].stores + counts.caches[i].fetches;
        for (std::size_t i = 0; i < machine.tlbs.size(); ++i)
            if (machine.tlbs[i].name == apart.cores.levels[level]) {
                counted = counts.tlbs[i].accesses;
                RC_ASSERT(missed == counts.tlbs[i].misses);
            }
        RC_ASSERT(accesses == counted);
    }
}

/// No line has more used bytes than bytes; and all that come for references are counted.
RC_GTEST_PROP(UsedBytes, AreWithinTheLinesThatCome, ()) {
    const MachineDescription machine = any_machine(*rc::gen::arbitrary<bool>());
    const CostedRun found = costed(machine, SitedProgram(random_stretches(machine.cores, 5), 5), {.used_bytes = true});
    std::uint64_t fills = 0;
    for (const Attribution::Row& row : found.attribution.rows) {
        RC_ASSERT(row.used <= row.fills * found.attribution.line_bytes);
        fills += row.fills;
    }
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        const CacheConfig& cache = machine.caches[i];
        const CacheCounts& counts = found.run.counts.caches[i];
        if (cache.name != found.attribution.filled || !cache.write_allocate) continue;
        RC_ASSERT(fills == counts.load_misses + counts.store_misses + counts.fetch_misses + counts.prefetches_issued);
    }
}

}  // namespace
}  // namespace cachetally
