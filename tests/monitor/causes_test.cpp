// Why levels miss, and what evicts what: against counts of the caches, against distances of reuse, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <set>

#include "monitor/causes/hierarchy_causes.hpp"
#include "sim/engine/engine.hpp"
#include "tests/differential/random_machine.hpp"

namespace cachetally {
namespace {

/// Per core the same number of stretches, with a barrier behind each.
class Programs final : public ReferenceSource {
public:
    using Stretches = std::vector<std::vector<Reference>>;
    explicit Programs(std::vector<Stretches> programs) : programs_(std::move(programs)), next_(programs_.size()) {}
    unsigned cores() const override { return static_cast<unsigned>(programs_.size()); }
    Batch next(unsigned core) override {
        if (next_[core] == programs_[core].size()) return {{}, {Control::Kind::end, 0}};
        return {programs_[core][next_[core]++], {Control::Kind::barrier, 0}};
    }

private:
    std::vector<Stretches> programs_;
    std::vector<std::size_t> next_;
};

struct CausesOfRun {
    RunResult run;
    std::vector<LevelCauses> levels;
};

CausesOfRun causes_of(const MachineDescription& machine, std::vector<Programs::Stretches> programs,
                      const std::vector<Region>& regions = {}) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const HierarchyCauses causes(topology, hierarchy, regions);
    Programs source(std::move(programs));
    CausesOfRun result{run(hierarchy, source), {}};
    result.levels = causes.found();
    return result;
}

CauseCounts sum_of(const LevelCauses& level) {
    CauseCounts sum{};
    for (const StructureCauses& row : level.misses)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) sum[cause] += row.misses[cause];
    return sum;
}

std::uint64_t evictions_of(const LevelCauses& level) {
    return std::accumulate(level.evictions.begin(), level.evictions.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Evictions& row) { return sum + row.count; });
}

std::vector<Programs::Stretches> random_programs(unsigned cores, std::uint64_t span, unsigned references) {
    std::vector<Programs::Stretches> programs(cores);
    for (Programs::Stretches& program : programs)
        for (unsigned phase = 0; phase < 2; ++phase) {
            auto& stretch = program.emplace_back();
            for (unsigned i = 0; i < references; ++i)
                stretch.push_back({.address = *rc::gen::inRange<Address>(0, span) * 8,
                                   .size = 8,
                                   .kind = static_cast<ReferenceKind>(
                                       *rc::gen::weightedElement<unsigned>({{4, 0U}, {3, 1U}, {1, 2U}}))});
        }
    return programs;
}

const CacheCounts& counts_of(const MachineDescription& machine, const CausesOfRun& causes, const std::string& level) {
    std::size_t index = 0;
    while (machine.caches[index].name != level) ++index;
    return causes.run.counts.caches[index];
}

RC_GTEST_PROP(Causes, OfAllMissesAndEvictionsThatCachesCount, ()) {
    differential::MachineLimits limits;
    limits.coherence = *rc::gen::arbitrary<bool>();
    limits.numa = !limits.coherence && *rc::gen::arbitrary<bool>();
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const CausesOfRun causes = causes_of(machine, random_programs(machine.cores, 1500, 300));
    for (const LevelCauses& level : causes.levels) {
        const CacheCounts& counts = counts_of(machine, causes, level.level);
        const CauseCounts sum = sum_of(level);
        RC_ASSERT(sum[0] + sum[1] + sum[2] + sum[3] == counts.load_misses + counts.store_misses + counts.fetch_misses);
        RC_ASSERT(evictions_of(level) == counts.evictions);
        if (counts.invalidations == 0) RC_ASSERT(sum[static_cast<unsigned>(MissCause::taken_away)] == 0U);
    }
}

MachineDescription one_cache(unsigned sets, unsigned ways) {
    MachineDescription machine;
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.ways = ways;
    cache.line = 64;
    cache.size = std::uint64_t{64} * sets * ways;
    machine.caches = {cache};
    return machine;
}

/// Different lines that were used since the last use of that of reference `at`; nothing where there was none.
std::optional<std::size_t> reuse_distance(const std::vector<Reference>& references, std::size_t at) {
    std::set<Address> lines;
    for (std::size_t i = at; i-- > 0;) {
        if (references[i].address / 64 == references[at].address / 64) return lines.size();
        lines.insert(references[i].address / 64);
    }
    return std::nullopt;
}

RC_GTEST_PROP(Causes, FollowFromTheDistanceOfReuseWithOneLevelOfLru, ()) {
    const unsigned sets = *rc::gen::inRange(1U, 7U), ways = *rc::gen::inRange(1U, 5U);
    const auto programs = random_programs(1, 8 * 3 * sets * ways, 200);
    const CauseCounts found = sum_of(causes_of(one_cache(sets, ways), programs).levels.at(0));
    std::vector<Reference> all = programs[0][0];
    all.insert(all.end(), programs[0][1].begin(), programs[0][1].end());
    std::uint64_t first = 0, far = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto distance = reuse_distance(all, i);
        first += !distance;
        far += distance && *distance >= std::size_t{sets} * ways;
    }
    RC_ASSERT(found[0] == first);
    RC_ASSERT(found[1] == 0U);
    // A line that is used again too late may still be in a set that was used less.
    RC_ASSERT(found[2] <= far);
    if (sets == 1) {
        RC_ASSERT(found[2] == far);
        RC_ASSERT(found[3] == 0U);
    }
}

std::vector<Reference> loads(std::initializer_list<Address> lines) {
    std::vector<Reference> references;
    for (const Address line : lines) references.push_back({.address = line * 64, .size = 8});
    return references;
}

// Two sets of one line. 0 and 2 meet in set 0: a cache of two lines without sets holds both. With 1 and 3 between, 0
// comes back when three other lines were used: capacity.
TEST(Causes, ConflictAndCapacityByHand) {
    const std::vector<Region> regions = {{"even", 0, 64}, {"two", 128, 64}};
    const CausesOfRun run = causes_of(one_cache(2, 1), {{loads({0, 2, 0, 2}), loads({1, 3, 0})}}, regions);
    const LevelCauses& level = run.levels.at(0);
    EXPECT_EQ(level.level, "L1");
    // structure, phase, {first use, taken away, capacity, conflict}; structure 2 = elsewhere
    EXPECT_THAT(level.misses,
                testing::ElementsAre(StructureCauses{0, 0, {1, 0, 0, 1}}, StructureCauses{0, 1, {0, 0, 1, 0}},
                                     StructureCauses{1, 0, {1, 0, 0, 1}}, StructureCauses{2, 1, {2, 0, 0, 0}}));
    EXPECT_THAT(level.evictions, testing::ElementsAre(Evictions{0, 1, 0, 1}, Evictions{0, 1, 1, 1},
                                                      Evictions{1, 0, 0, 2}, Evictions{2, 2, 1, 1}));
}

// L2 (inclusive, one line) loses 0 to 1, and takes it away from L1 (two lines), which must ask for it again.
TEST(Causes, TakenAwayByAnInclusiveLevel) {
    MachineDescription machine = one_cache(1, 2);
    CacheConfig lower = one_cache(1, 1).caches[0];
    lower.name = machine.caches[0].next = "L2";
    lower.inclusion = Inclusion::inclusive;
    machine.caches.push_back(lower);
    const CausesOfRun run = causes_of(machine, {{loads({0, 1, 0})}});
    EXPECT_EQ(sum_of(run.levels.at(0)), (CauseCounts{2, 1, 0, 0}));
    EXPECT_EQ(sum_of(run.levels.at(1)), (CauseCounts{2, 0, 1, 0}));
    EXPECT_EQ(evictions_of(run.levels.at(0)), 0U);
    EXPECT_EQ(evictions_of(run.levels.at(1)), 2U);
}

// Two cores store to one line in turn: after its first use, each misses because the other took it.
TEST(Causes, TakenAwayByAnotherCore) {
    MachineDescription machine = load_machine("coherent8");
    machine.cores = 2;
    const std::vector<Reference> store = {{.address = 0, .size = 8, .kind = ReferenceKind::store}};
    const Programs::Stretches nothing(1);
    Programs::Stretches mine, other;
    for (int turn = 0; turn < 6; ++turn)
        (turn % 2 == 0 ? mine : other).push_back(store), (turn % 2 == 0 ? other : mine).push_back({});
    const CausesOfRun run = causes_of(machine, {mine, other});
    EXPECT_EQ(sum_of(run.levels.at(0)), (CauseCounts{2, 4, 0, 0}));
}

TEST(Causes, LevelsThatVictimsFillAndThePointOfCoherenceAreLeftOut) {
    const auto names = [](const char* machine) {
        const Topology topology(load_machine(machine));
        std::vector<std::string> found;
        for (const CauseLinks& links : cause_links(topology))
            found.push_back(topology.components()[links.component].name);
        return found;
    };
    EXPECT_THAT(names("xray-opteron240"), testing::ElementsAre("L1D"));
    EXPECT_THAT(names("coherent8"), testing::ElementsAre("L1D", "L1I", "L2"));
    EXPECT_THAT(names("generic3"), testing::ElementsAre("L1D", "L1I", "L2", "L3"));
}

}  // namespace
}  // namespace cachetally
