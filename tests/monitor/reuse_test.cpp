// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances: against lists, against fully associative caches, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>

#include "cachetally/run.hpp"
#include "monitor/reuse/hierarchy_reuse.hpp"
#include "monitor/reuse/reuse_file.hpp"
#include "monitor/stack_distances.hpp"
#include "storage/file.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t first_use = ReuseDistances::first_use;
using Row = ReuseDistances::Row;

/// The stack itself, searched from the top.
class ListStack {
public:
    std::uint64_t use(std::uint64_t line) {
        const auto found = std::ranges::find(lines_, line);
        const std::uint64_t distance =
            found == lines_.end() ? first_use : static_cast<std::uint64_t>(found - lines_.begin());
        if (found != lines_.end()) lines_.erase(found);
        lines_.insert(lines_.begin(), line);
        return distance;
    }

private:
    std::vector<std::uint64_t> lines_;
};

// So many uses that new times are given out several times.
RC_GTEST_PROP(Reuse, DistancesAreThoseOfAList, ()) {
    const auto different = *rc::gen::inRange<std::uint64_t>(1, 600);
    const std::uint64_t step = std::uint64_t{1} << *rc::gen::inRange(0, 50);
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    StackDistances distances;
    ListStack list;
    for (unsigned i = 0; i < 10000; ++i) {
        const std::uint64_t line = random() % (random() % 3 == 0 ? different : 1 + different / 8) * step;
        RC_ASSERT(distances.use(line) == list.use(line));
    }
}

TEST(Reuse, BinsAreExactUpToSixteenAndEighthsOfPowersOfTwoBehind) {
    EXPECT_EQ(ReuseBins::least(ReuseBins::bin_of(15)), 15U);
    EXPECT_EQ(ReuseBins::least(ReuseBins::bin_of(17)), 16U);
    EXPECT_EQ(ReuseBins::least(ReuseBins::bin_of(31)), 30U);
    EXPECT_EQ(ReuseBins::least(ReuseBins::bin_of(1000)), 960U);
    for (unsigned bin = 0; bin < 400; ++bin) {
        ASSERT_EQ(ReuseBins::bin_of(ReuseBins::least(bin)), bin);
        ASSERT_EQ(ReuseBins::bin_of(ReuseBins::least(bin + 1) - 1), bin);
    }
}

std::vector<ReuseDistances> reuse_of(const MachineDescription& machine, ReferenceSource& source,
                                     const std::vector<Region>& regions = {}, const SiteTable* sites = nullptr,
                                     const RunOptions& options = {}) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const HierarchyReuse reuse(topology, hierarchy, regions, {}, sites);
    run(hierarchy, source, options);
    return reuse.found(source.site_names().objects);
}

// Lines 0 1 2 0 | 0 1, of two structures.
TEST(Reuse, ByHand) {
    SitedProgram program({{loads_by({{0, 1}, {1, 2}, {2, 1}, {0, 1}}), loads_by({{0, 1}, {1, 2}})}}, 2);
    const std::vector<Region> regions = {{"odd", 64, 64}, {"two", 128, 64}};
    const ReuseDistances reuse = reuse_of(two_sets(), program, regions).at(0);
    EXPECT_EQ(reuse.link, "core-L1");
    EXPECT_EQ(reuse.line_bytes, 64U);
    EXPECT_THAT(reuse.structures, ::testing::ElementsAre("odd", "two", "(elsewhere)"));
    EXPECT_THAT(reuse.rows, ::testing::ElementsAre(Row{0, 0, first_use, 1}, Row{0, 1, 2, 1}, Row{1, 0, first_use, 1},
                                                   Row{2, 0, 2, 1}, Row{2, 0, first_use, 1}, Row{2, 1, 0, 1}));
    const MissRatioCurve curve = miss_ratio_curve(reuse);
    EXPECT_EQ(curve.references, 6U);
    EXPECT_EQ(curve.first_uses, 3U);
    EXPECT_EQ(curve.misses(0), 6U);
    EXPECT_EQ(curve.misses(1), 5U);
    EXPECT_EQ(curve.misses(2), 5U);
    EXPECT_EQ(curve.misses(3), 3U);
    EXPECT_EQ(curve.footprint(), 3U);
    EXPECT_EQ(miss_ratio_curve(reuse, 2).miss_ratio(2), 2.0 / 3);
}

TEST(Reuse, OfProgramsIsByObjects) {
    SitedProgram program({{loads_by({{0, 1}, {0, 2}, {1, 1}, {0, 2}})}}, 2);
    const ReuseDistances reuse = reuse_of(two_sets(), program, {}, program.sites()).at(0);
    EXPECT_THAT(reuse.structures, ::testing::ElementsAre("A", "B"));
    EXPECT_THAT(reuse.rows, ::testing::ElementsAre(Row{0, 0, first_use, 2}, Row{1, 0, 0, 1}, Row{1, 0, 1, 1}));
}

TEST(Reuse, OfAWarmupIsNotCountedButRemembered) {
    SitedProgram program({{loads_by({{0, 1}, {1, 1}, {0, 1}, {1, 1}, {2, 1}})}}, 1);
    RunOptions options;
    options.warmup = 2;
    EXPECT_THAT(reuse_of(two_sets(), program, {}, nullptr, options).at(0).rows,
                ::testing::ElementsAre(Row{0, 0, 1, 2}, Row{0, 0, first_use, 1}));
}

TEST(Reuse, OfLargerLinesBehindHasALineOfItsOwn) {
    MachineDescription machine = two_sets();
    machine.caches[0].next = "L2";
    CacheConfig second = machine.caches[0];
    second.name = "L2", second.next = "memory", second.line = 128, second.size = 256;
    machine.caches.push_back(second);
    SitedProgram program({{loads_by({{0, 1}, {1, 1}, {2, 1}})}}, 1);
    const std::vector<ReuseDistances> reuse = reuse_of(machine, program);
    ASSERT_EQ(reuse.size(), 2U);
    EXPECT_EQ(reuse[1].line_bytes, 128U);
    EXPECT_THAT(reuse[1].rows, ::testing::ElementsAre(Row{0, 0, 0, 1}, Row{0, 0, first_use, 2}));
}

/// What a link carries, event by event, through a list.
class SlowReuse final : public LinkListener {
public:
    explicit SlowReuse(std::uint32_t line) : line_(line) {}
    std::uint32_t kinds() const override {
        return bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
    }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        const std::uint64_t distance = stack_.use(event.address / line_);
        const bool in_low = event.address / line_ * line_ < 4096;
        ++counts[{in_low ? 0U : 1U, phase_,
                  distance == first_use ? distance : ReuseBins::least(ReuseBins::bin_of(distance))}];
    }
    void on_control(const Control& control, Tick, Injector&) override {
        phase_ += control.kind == Control::Kind::barrier ? 1 : 0;
    }
    std::map<std::array<std::uint64_t, 3>, std::uint64_t> counts;

private:
    std::uint32_t line_;
    std::uint64_t phase_ = 0;
    ListStack stack_;
};

using Counts = std::map<std::array<std::uint64_t, 3>, std::uint64_t>;

Counts slow_counts(const MachineDescription& machine, const ReuseDistances& of, const Stretches& stretches) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const std::size_t link = topology.link(of.link);
    std::vector<std::unique_ptr<SlowReuse>> copies;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        copies.push_back(std::make_unique<SlowReuse>(of.line_bytes));
        hierarchy.listen(link, copy, *copies.back());
    }
    SitedProgram program(stretches, 1);
    run(hierarchy, program);
    Counts sum;
    for (const auto& copy : copies)
        for (const auto& [key, count] : copy->counts) sum[key] += count;
    return sum;
}

/// Repeats as many as programs do: batches merge them, and filters take most out.
Stretches with_repetitions(Stretches stretches) {
    for (auto& core : stretches)
        for (auto& stretch : core)
            for (std::size_t i = 1; i < stretch.size(); ++i)
                if (stretch[i].address % 3 != 0) stretch[i] = stretch[i - 1];
    return stretches;
}

RC_GTEST_PROP(Reuse, OfRandomMachinesIsThatOfEachEventByItself, ()) {
    differential::MachineLimits limits;
    limits.mappings = false;
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const Stretches stretches = with_repetitions(random_stretches(machine.cores, 0));
    SitedProgram program(stretches, 1);
    for (const ReuseDistances& reuse : reuse_of(machine, program, {{"low", 0, 4096}})) {
        Counts found;
        for (const Row& row : reuse.rows)
            found[{reuse.structures[row.structure] == "low" ? 0U : 1U, row.phase, row.distance}] += row.count;
        RC_ASSERT(found == slow_counts(machine, reuse, stretches));
    }
}

// Mattson et al. 1970: one pass tells the misses of all capacities.
RC_GTEST_PROP(Reuse, CurvesAreTheMissesOfFullyAssociativeCaches, ()) {
    MachineDescription machine = two_sets();
    machine.cores = *rc::gen::inRange(1U, 3U);
    machine.caches[0].shared_by = 1;
    const Stretches stretches = with_repetitions(random_stretches(machine.cores, 0));
    SitedProgram program(stretches, 1);
    const ReuseDistances reuse = reuse_of(machine, program, {{"low", 0, 4096}, {"high", 8192, 100}}).at(0);
    const MissRatioCurve curve = miss_ratio_curve(reuse);
    for (const unsigned lines : {1U, 2U, 3U, 7U, 16U, 18U, 24U, 30U, 64U, 104U, 256U}) {
        machine.caches[0].ways = lines;
        machine.caches[0].size = std::uint64_t{64} * lines;
        const Topology topology(machine);
        Hierarchy hierarchy(topology);
        SitedProgram again(stretches, 1);
        const RunResult result = run(hierarchy, again);
        const CacheCounts& counts = result.counts.caches[0];
        RC_ASSERT(curve.references == counts.loads + counts.stores + counts.fetches);
        RC_ASSERT(curve.misses(lines) == counts.load_misses + counts.store_misses + counts.fetch_misses);
        std::uint64_t by_structure = 0;
        for (std::uint32_t i = 0; i < reuse.structures.size(); ++i)
            by_structure += miss_ratio_curve(reuse, i).misses(lines);
        RC_ASSERT(by_structure == curve.misses(lines));
    }
}

TEST(Reuse, IsTheSameReadBackFromAFile) {
    const testing::TemporaryDirectory folder;
    SitedProgram program({{loads_by({{0, 1}, {0, 2}, {1, 1}, {0, 2}})}}, 2);
    const std::vector<ReuseDistances> reuse = reuse_of(two_sets(), program, {}, program.sites());
    {
        ResultFile file(folder / "reuse.h5");
        write_reuse(file.root(), reuse);
        file.finish();
    }
    const InputFile file(folder / "reuse.h5");
    EXPECT_EQ(read_reuse(file.root()), reuse);
    const Group curve = file.root().open_group("reuse/core-L1_64/curve");
    EXPECT_THAT(curve.read<std::uint64_t>("capacity"), ::testing::ElementsAre(0, 1, 2));
    EXPECT_THAT(curve.read<double>("miss_ratio"), ::testing::ElementsAre(1.0, 0.75, 0.5));
}

}  // namespace
}  // namespace cachetally
