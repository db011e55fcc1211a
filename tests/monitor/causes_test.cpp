// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what: against counts of the caches, against distances of reuse, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "cachetally/run.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
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
        if (counts.invalidations == 0) RC_ASSERT(sum[static_cast<unsigned>(MissCause::invalidated)] == 0U);
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
    CauseCounts expected{};
    std::vector<std::vector<Address>> held(sets);  // lines of each set, the last used first
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Address line = all[i].address / 64;
        std::vector<Address>& set = held[line % sets];
        const bool hit = std::erase(set, line) != 0;
        set.insert(set.begin(), line);
        set.resize(std::min<std::size_t>(set.size(), ways));
        if (hit) continue;
        const auto distance = reuse_distance(all, i);
        ++expected[!distance ? 0 : *distance >= std::size_t{sets} * ways ? 2 : 3];
    }
    RC_ASSERT(found == expected);
    if (sets == 1) RC_ASSERT(found[3] == 0U);
}

/// A level as a list: all lines that it was asked for and that were not taken away since, the last used first.
class SlowLevel {
public:
    explicit SlowLevel(const CacheConfig& cache) : cache_(cache), above_(*this, false), below_(*this, true) {}
    LinkListener& above() { return above_; }
    LinkListener& below() { return below_; }
    CauseCounts misses{};

private:
    class Side final : public LinkListener {
    public:
        Side(SlowLevel& level, bool below) : level_(level), below_(below) {}
        std::uint32_t kinds() const override { return (1U << (event_kind_count + 1)) - 1; }
        bool accepts_merged(std::uint32_t) const override { return false; }
        void on_event(const LinkEvent& event, Injector&) override {
            below_ ? level_.notified_below(event) : level_.asked(event);
        }
        void on_control(const Control&, Tick, Injector&) override {}

    private:
        SlowLevel& level_;
        bool below_;
    };

    void use(Address line) {
        std::erase(stack_, line);
        stack_.insert(stack_.begin(), line);
    }

    void asked(const LinkEvent& event) {
        const Address line = event.address / cache_.line;
        switch (event.kind) {
            case EventKind::load:
            case EventKind::store:
            case EventKind::fetch:
                if (!here_.contains(line)) ++misses[cause_of(line)];
                break;
            case EventKind::write_back:
            case EventKind::ring_write:
                if (cache_.write_back_miss == WriteBackMiss::allocate) come(line);
                break;
            case EventKind::page_walk:
            case EventKind::prefetch: break;
            default: return;
        }
        use(line);
    }

    unsigned cause_of(Address line) const {
        if (!known_.contains(line)) return 0;
        if (taken_.contains(line)) return 1;
        const auto distance = std::ranges::find(stack_, line) - stack_.begin();
        return static_cast<std::uint64_t>(distance) >= cache_.size / cache_.line ? 2 : 3;
    }

    void come(Address line) {
        here_.insert(line);
        known_.insert(line);
        taken_.erase(line);
    }

    void notified_below(const LinkEvent& event) {
        const Address line = event.address / cache_.line;
        if (event.kind == EventKind::fill) {
            come(line);
            use(line);
        }
        if (event.kind == EventKind::eviction) here_.erase(line);
        if (event.kind != EventKind::invalidate) return;
        here_.erase(line);
        taken_.insert(line);
        std::erase(stack_, line);
    }

    const CacheConfig& cache_;
    Side above_, below_;
    std::vector<Address> stack_;
    std::set<Address> here_, known_, taken_;
};

RC_GTEST_PROP(Causes, AreThoseOfStackDistancesOnRandomMachines, ()) {
    differential::MachineLimits limits;
    limits.coherence = *rc::gen::arbitrary<bool>();
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const HierarchyCauses causes(topology, hierarchy, {});
    std::map<std::string, std::vector<std::unique_ptr<SlowLevel>>> levels;
    const auto& parts = topology.components();
    for (std::size_t id = 0; id < parts.size(); ++id) {
        if (parts[id].kind != Component::Kind::cache) continue;
        auto& copies = levels[parts[id].name];
        for (unsigned copy = 0; copy < parts[id].copies; ++copy)
            copies.push_back(std::make_unique<SlowLevel>(machine.caches[parts[id].index]));
        for (std::size_t link = 0; link < topology.links().size(); ++link)
            for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
                if (topology.links()[link].from == id) hierarchy.listen(link, copy, copies[copy]->below());
                if (topology.links()[link].to != id) continue;
                const unsigned core = copy * parts[topology.links()[link].from].cores_per_copy;
                hierarchy.listen(link, copy, copies[core / parts[id].cores_per_copy]->above());
            }
    }
    Programs source(random_programs(machine.cores, 1500, 300));
    run(hierarchy, source);
    for (const LevelCauses& level : causes.found()) {
        CauseCounts expected{};
        for (const auto& copy : levels[level.level])
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) expected[cause] += copy->misses[cause];
        RC_ASSERT(sum_of(level) == expected);
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

// Two sets of one line. 1 hits, though two other lines were used since: a cache without sets would have it back from
// then on, and so would have lost 0.
TEST(Causes, AHitIsAUseWhereACacheWithoutSetsWouldMiss) {
    EXPECT_EQ(sum_of(causes_of(one_cache(2, 1), {{loads({1, 0, 2, 1, 0})}}).levels.at(0)), (CauseCounts{3, 0, 1, 0}));
}

// One set of two lines, filled by loads alone. 0 was replaced, with 1 and 2 used since; then it is the latest.
TEST(Causes, RepeatedStoresThatBringNoLineHaveCausesOfTheirOwn) {
    MachineDescription machine = one_cache(1, 2);
    machine.caches[0].write_allocate = false;
    std::vector<Reference> references = loads({0, 1, 2, 0, 0});
    references[3].kind = references[4].kind = ReferenceKind::store;
    EXPECT_EQ(sum_of(causes_of(machine, {{references}}).levels.at(0)), (CauseCounts{3, 0, 1, 1}));
}

// What is taken away leaves the stack: of 0 and the lines used since, 2 alone is left.
TEST(Causes, LinesTakenAwayCountNoLonger) {
    LineStack stack(2, true);
    for (const std::uint32_t line : {0U, 1U, 2U}) {
        EXPECT_FALSE(stack.is_near(stack.line(line)));
        stack.use(line);
    }
    EXPECT_FALSE(stack.is_near(stack.line(0)));
    stack.remove(1);
    EXPECT_TRUE(stack.is_near(stack.line(0)));
    EXPECT_FALSE(stack.is_near(stack.line(1)));
    stack.use(1);
    EXPECT_FALSE(stack.is_near(stack.line(0)));
}

// Against a list. Few lines, so that the border often moves back over what was used in between; many uses, so that the
// log is made anew.
RC_GTEST_PROP(Causes, StacksAreListsInTheOrderOfUse, (bool lines_are_removed)) {
    const auto most = *rc::gen::inRange<std::size_t>(1, 40);
    const auto different = *rc::gen::inRange(1U, 80U), steps = *rc::gen::inRange(0U, 20000U);
    LineStack stack(most, lines_are_removed);
    std::vector<std::uint32_t> list;  // the newest first
    std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
    for (unsigned i = 0; i < steps; ++i) {
        const std::uint32_t number = random() % 4 == 0 ? random() % different : random() % (1 + different / 8);
        const auto at = std::ranges::find(list, number);
        RC_ASSERT(stack.is_near(stack.line(number)) ==
                  (at - list.begin() < std::ptrdiff_t(std::min(most, list.size()))));
        if (at != list.end()) list.erase(at);
        if (lines_are_removed && random() % 8 == 0) {
            stack.remove(number);
        } else {
            stack.use(number);
            list.insert(list.begin(), number);
        }
    }
}

RC_GTEST_PROP(Causes, LinesKeepTheirNumbers, ()) {
    LineNumbers numbers(64);
    std::map<Address, std::uint32_t> known;
    const unsigned steps = *rc::gen::inRange(0U, 6000U), shift = *rc::gen::inRange(6U, 40U);
    const Address stride = Address{1} << shift;
    for (unsigned i = 0; i < steps; ++i) {
        const Address line = i % 3 == 0 ? known.size() * stride : (i * 0x9e3779b97f4a7c15U >> 50) * 64;
        const auto [place, fresh] = known.try_emplace(line, static_cast<std::uint32_t>(known.size()));
        RC_ASSERT(numbers.line(line).number == place->second);
    }
    RC_ASSERT(numbers.size() == known.size());
    for (const auto& [line, number] : known) {
        RC_ASSERT(numbers.line(line).number == number);
    }
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
