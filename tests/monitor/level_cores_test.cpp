// SPDX-License-Identifier: BSD-3-Clause
// Accesses and misses of cores by data structure: against causes, which watch caches in another way, and where each
// core has a data structure of its own.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "cachetally/run.hpp"
#include "monitor/attribution/level_cores.hpp"
#include "monitor/causes/causes_file.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "storage/file.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

/// Level, data structure, phase and core.
using PlaceOfCores = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;

MachineDescription machine_of_cores() {
    differential::MachineLimits limits;
    limits.coherence = *rc::gen::arbitrary<bool>();
    return differential::random_machine([](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); },
                                        limits);
}

struct RunOfCores {
    LevelCores cores;
    std::vector<LevelCauses> causes;
};

RunOfCores run_of_cores(const MachineDescription& machine, Stretches stretches, const std::vector<Region>& regions) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const AddressMap map = [&](Address physical) { return hierarchy.virtual_address(physical); };
    const HierarchyCauses causes(topology, hierarchy, regions, map, nullptr, machine.cores);
    const HierarchyCores cores(topology, hierarchy, regions, map);
    SitedProgram source(std::move(stretches), 5);
    run(hierarchy, source);
    return {cores.found(), causes.found()};
}

RC_GTEST_PROP(CoresByStructure, MissAsOftenAsTheirMissesHaveCauses, ()) {
    const MachineDescription machine = machine_of_cores();
    const std::vector<Region> regions = {{"A", 512, 1000, 8}, {"B", 1600, 4000, 8}};
    const RunOfCores found = run_of_cores(machine, random_stretches(machine.cores, 5), regions);
    std::map<PlaceOfCores, std::uint64_t> caused, missed;
    for (const LevelCauses& level : found.causes) {
        RC_ASSERT(level.by_core == (machine.cores > 1));
        for (const StructureCauses& row : level.misses)
            for (const std::uint64_t count : row.misses)
                caused[{level.level, row.structure, row.phase, row.core}] += count;
    }
    for (const LevelCores::Row& row : found.cores.rows) {
        const std::string& level = found.cores.levels[row.level];
        const bool known = std::ranges::find(found.causes, level, &LevelCauses::level) != found.causes.end();
        if (known && row.misses != 0) missed[{level, row.structure, row.phase, row.core}] += row.misses;
    }
    const auto counted = [&](const auto& each) {  // that have both
        return std::ranges::find(found.cores.levels, std::get<0>(each.first)) == found.cores.levels.end();
    };
    std::erase_if(caused, counted);
    RC_ASSERT(caused == missed);
}

RC_GTEST_PROP(CoresByStructure, UseTheirOwn, ()) {
    const MachineDescription machine = machine_of_cores();
    std::vector<Region> regions;
    Stretches stretches = random_stretches(machine.cores, 5);
    for (unsigned core = 0; core < machine.cores; ++core) {
        const Address base = Address{1} << 20 << core;
        regions.push_back({"of core " + std::to_string(core), base, 1U << 14, 8});
        for (auto& stretch : stretches[core])
            for (Reference& reference : stretch) reference.address += base;
    }
    const LevelCores found = run_of_cores(machine, std::move(stretches), regions).cores;
    RC_ASSERT(found.by_structure == !found.empty());
    // of lower levels a core also asks for lines that its requests drive out
    const std::string first = machine.caches.empty() ? "" : machine.caches.front().name;
    for (const LevelCores::Row& row : found.rows)
        if (found.levels[row.level] == first) RC_ASSERT(row.structure == row.core);
}

RC_GTEST_PROP(CoresByStructure, ReadAsWritten, ()) {
    const MachineDescription machine = machine_of_cores();
    const std::vector<Region> regions = {{"A", 512, 1000, 8}};
    const RunOfCores found = run_of_cores(machine, random_stretches(machine.cores, 5), regions);
    const testing::TemporaryDirectory directory;
    {
        ResultFile file(directory / "cores.h5");
        write_level_cores(file.root(), found.cores);
        write_causes(file.root(), found.causes);
        file.finish();
    }
    const InputFile file(directory / "cores.h5");
    RC_ASSERT(read_level_cores(file.root(), regions.size()) == found.cores);
    RC_ASSERT(read_causes(file.root(), regions.size()) == found.causes);
    if (!found.cores.rows.empty() && std::ranges::max(found.cores.rows, {}, &LevelCores::Row::structure).structure == 1)
        RC_ASSERT_THROWS_AS(read_level_cores(file.root(), 0), StorageError);
}

// Sums by core would take 32 GiB.
TEST(LevelCores, OfNoMachineAreDamage) {
    const testing::TemporaryDirectory directory;
    LevelCores cores;
    cores.levels = {"L1"};
    cores.rows = {{0, 4'000'000'000, 0, 0, 1, 1}};
    LevelCauses causes{"L1", {{0, 0, {1, 0, 0, 0}, 4'000'000'000}}, {}, true};
    {
        ResultFile file(directory / "cores.h5");
        write_level_cores(file.root(), cores);
        write_causes(file.root(), {causes});
        file.finish();
    }
    const InputFile file(directory / "cores.h5");
    EXPECT_THROW(read_level_cores(file.root(), 1), StorageError);
    EXPECT_THROW(read_causes(file.root(), 1), StorageError);
}

}  // namespace
}  // namespace cachetally
