// SPDX-License-Identifier: BSD-3-Clause
// Causes of misses by line: of each line as many as it misses, and of structures those of their lines.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cachetally/run.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "monitor/level_lines.hpp"
#include "monitor/spec_placement.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"

namespace cachetally {
namespace {

/// By phase and line.
using Missed = std::map<std::pair<std::uint32_t, Address>, std::uint64_t>;

/// What a level asks the one below for.
class MissesOfLines final : public LinkListener {
public:
    MissesOfLines(std::uint32_t kinds, std::uint32_t line_bytes, Missed& missed)
        : kinds_(kinds), line_bytes_(line_bytes), missed_(missed) {}
    std::uint32_t kinds() const override { return kinds_; }
    void on_event(const LinkEvent& event, Injector&) override {
        missed_[{phase_, event.address / line_bytes_ * line_bytes_}] += event.count;
    }
    void on_control(const Control& control, Tick, Injector&) override {
        if (control.kind == Control::Kind::barrier) ++phase_;
    }

private:
    std::uint32_t kinds_, line_bytes_, phase_ = 0;
    Missed& missed_;
};

RC_GTEST_PROP(LineCauses, AreAsManyAsTheMissesOfEachLine, ()) {
    differential::MachineLimits limits;
    limits.coherence = *rc::gen::arbitrary<bool>();
    const MachineDescription machine = differential::random_machine(
        [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); }, limits);
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const std::vector<Region> regions = {{"A", 512, 1000, 8}, {"B", 1600, 4000, 8}};
    const AddressMap map = [&](Address physical) { return hierarchy.virtual_address(physical); };
    HierarchyCauses causes(topology, hierarchy, regions, map);
    causes.count_lines();
    std::map<std::string, Missed> missed;
    std::vector<std::unique_ptr<MissesOfLines>> listeners;
    for (const LevelLinks& level : level_links(topology))
        for (const LinkKinds& below : level.below)
            for (unsigned copy = 0; !level.tlb && copy < hierarchy.copies(below.link); ++copy) {
                listeners.push_back(std::make_unique<MissesOfLines>(below.kinds, level.line_bytes, missed[level.name]));
                hierarchy.listen(below.link, copy, *listeners.back());
            }
    SitedProgram source(random_stretches(machine.cores, 5), 5);
    run(hierarchy, source);

    const std::vector<LevelCauses> by_structure = causes.found();
    const RegionFinder finder(regions);
    for (std::size_t i = 0; i < by_structure.size(); ++i) {
        const auto lines = causes.lines()[i];
        RC_ASSERT(lines.level == by_structure[i].level);
        const auto place = [](const LineCauses& row) { return std::pair(row.phase, row.address); };
        RC_ASSERT(std::ranges::is_sorted(lines.rows, {}, place));
        std::map<std::pair<std::uint32_t, std::uint32_t>, CauseCounts> sums;
        Missed of_lines;
        const std::uint32_t bytes = std::ranges::find(machine.caches, lines.level, &CacheConfig::name)->line;
        for (const LineCauses& row : lines.rows) {
            of_lines[place(row)] = std::accumulate(row.misses.begin(), row.misses.end(), std::uint64_t{0});
            CauseCounts& sum = sums[{finder.find(map(row.address), bytes), row.phase}];
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) sum[cause] += row.misses[cause];
        }
        if (missed.contains(lines.level)) RC_ASSERT(of_lines == missed[lines.level]);
        RC_ASSERT(sums.size() == by_structure[i].misses.size());
        for (const StructureCauses& row : by_structure[i].misses)
            RC_ASSERT((sums[{row.structure, row.phase}] == row.misses));
    }
}

TEST(LineCauses, AreAddedToTheirRows) {
    LevelLines lines;
    lines.level = "L1";
    lines.line_bytes = 64;
    lines.phase = {0, 0, 2};
    lines.address = {64, 128, 64};
    lines.accesses = {9, 9, 9};
    lines.misses = {3, 1, 2};
    const AddressMap up = [](Address physical) { return physical - 4096; };
    add_causes(lines,
               std::vector<LineCauses>{
                   {4096 + 64, 0, {1, 0, 2, 0}}, {4096 + 128, 0, {0, 1, 0, 0}}, {4096 + 96, 2, {0, 0, 0, 2}}},
               up);
    EXPECT_EQ(lines.causes[0], (std::vector<double>{1, 0, 0}));
    EXPECT_EQ(lines.causes[1], (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(lines.causes[2], (std::vector<double>{2, 0, 0}));
    EXPECT_EQ(lines.causes[3], (std::vector<double>{0, 0, 2}));
    for (const LineCauses& stranger : {LineCauses{64, 1, {1}}, LineCauses{128, 2, {1}}, LineCauses{64, 3, {1}}}) {
        LevelLines others = lines;
        add_causes(others, std::vector{stranger});
        EXPECT_TRUE(others.causes[0].empty()) << "a row that is not there";
    }
}

}  // namespace
}  // namespace cachetally
