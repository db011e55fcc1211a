// SPDX-License-Identifier: BSD-3-Clause
// The engine as a host: phases, limits, interruption, sources that fail. What is counted is judged in
// tests/differential.
#include "cachetally/run.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "sim/model/tlb/page_table.hpp"

namespace cachetally {
namespace {

/// A source of prepared stretches per core; one may fail.
class ScriptedSource : public ReferenceSource {
public:
    struct Stretch {
        std::vector<Reference> references;
        Control::Kind then = Control::Kind::none;
        std::uint32_t argument = 0;
    };
    explicit ScriptedSource(std::vector<std::vector<Stretch>> cores)
        : cores_(std::move(cores)), next_(cores_.size(), 0) {}

    unsigned cores() const override { return static_cast<unsigned>(cores_.size()); }
    Batch next(unsigned core) override {
        if (fails_after && next_[core] == *fails_after) throw std::runtime_error("block 7 is damaged");
        if (next_[core] == cores_[core].size()) return {{}, {Control::Kind::end, 0}};
        const Stretch& stretch = cores_[core][next_[core]++];
        return {stretch.references, {stretch.then, stretch.argument}};
    }
    std::vector<std::string> phase_names() const override { return {"build", "solve"}; }

    std::optional<std::size_t> fails_after;

private:
    std::vector<std::vector<Stretch>> cores_;
    std::vector<std::size_t> next_;
};

std::vector<Reference> loads(std::size_t count, Address from = 0, Address step = 64) {
    std::vector<Reference> references(count);
    for (std::size_t i = 0; i < count; ++i) references[i] = {from + i * step, 0, 8, ReferenceKind::load, 0};
    return references;
}

/// One level of 2 ways x 1 set of 64 bytes per core: 1 cycle; memory: 10.
Topology machine(unsigned cores) {
    return Topology(read_machine("cores: " + std::to_string(cores) +
                                     "\ncaches:\n  - {name: L1, next: memory, shared_by: 1, size: 128, ways: 2, "
                                     "latency: 1}\nmemory: {latency: 10}\n",
                                 "test"));
}

TEST(Engine, PhasesAreWhatLiesBetweenBarriers) {
    Hierarchy hierarchy(machine(1));
    ScriptedSource source(
        {{{loads(3), Control::Kind::barrier}, {{}, Control::Kind::barrier}, {loads(2, 64), Control::Kind::none}}});
    const RunResult result = run(hierarchy, source);
    ASSERT_EQ(result.phases.size(), 3U);
    EXPECT_EQ(result.phases[0].counts.references, 3U);
    EXPECT_EQ(result.phases[0].end, 3 * 11'000U);
    EXPECT_EQ(result.phases[1].counts.references, 0U);
    EXPECT_EQ(result.phases[1].begin, result.phases[1].end);
    EXPECT_EQ(result.phases[2].counts.references, 2U) << "lines 1 and 2 are there still";
    EXPECT_EQ(result.phases[2].counts.caches[0].load_misses, 0U);
    EXPECT_EQ(result.end(), 35'000U);
    EXPECT_EQ(result.counts.references, 5U);
    EXPECT_TRUE(result.complete);
}

TEST(Engine, PhasesHaveTheNamesOfTheBarriersBefore) {
    const auto names = [](const RunOptions& options) {
        Hierarchy hierarchy(machine(2));
        constexpr auto barrier = Control::Kind::barrier;
        ScriptedSource source(
            {{{loads(1), barrier, 2}, {loads(1), barrier}, {loads(1), barrier, 1}, {loads(1), barrier, 9}},
             {{loads(1), barrier}, {loads(1), barrier}, {loads(1), barrier, 1}, {loads(1), barrier}}});
        std::vector<std::string> found;
        for (const PhaseResult& phase : run(hierarchy, source, options).phases) found.push_back(phase.name);
        return found;
    };
    EXPECT_EQ(names({}), (std::vector<std::string>{"", "solve", "", "build", ""})) << "there is no ninth name";
    RunOptions late;
    late.warmup = 3;
    EXPECT_EQ(names(late), (std::vector<std::string>{"solve", "", "build", ""})) << "counting begins in a phase";
}

TEST(Engine, AMeetingMayNameThePresentPhase) {
    Hierarchy hierarchy(machine(2));
    constexpr auto meet = Control::Kind::meet;
    ScriptedSource source({{{{}, meet, 2}, {loads(1), meet}, {loads(1), Control::Kind::barrier}, {loads(1)}},
                           {{{}, meet, 2}, {loads(1), meet}, {loads(1), Control::Kind::barrier}, {loads(1)}}});
    const RunResult result = run(hierarchy, source);
    ASSERT_EQ(result.phases.size(), 2U);
    EXPECT_EQ(result.phases[0].name, "solve");
    EXPECT_EQ(result.phases[1].name, "");
}

TEST(Engine, CoresMeetAtBarriers) {
    Hierarchy hierarchy(machine(2));
    ScriptedSource source({{{loads(1), Control::Kind::barrier}, {loads(1), Control::Kind::none}},
                           {{loads(5, 4096), Control::Kind::barrier}, {loads(1, 4096 + 256), Control::Kind::none}}});
    const RunResult result = run(hierarchy, source);
    ASSERT_EQ(result.phases.size(), 2U);
    EXPECT_EQ(result.phases[0].end, 55'000U) << "the slower core's five misses";
    EXPECT_EQ(result.core_ends, (std::vector<Tick>{56'000, 56'001}))
        << "both hit after the barrier; core 1 is a picosecond late";
}

/// What is remembered of the last line asked for one by one, batches make untrue.
TEST(Engine, SingleReferencesAndBatchesTakeTurns) {
    Hierarchy hierarchy(machine(1));
    const Reference first = loads(1).front();
    EXPECT_EQ(hierarchy.access(0, first, 0), 11'000U);
    hierarchy.run(0, loads(2, 64), 11'000, ~Tick{0});
    EXPECT_EQ(hierarchy.access(0, first, 100'000), 111'000U) << "lines 1 and 2 have taken the place of line 0";
    EXPECT_EQ(hierarchy.counts().caches[0].load_misses, 4U);
}

TEST(Engine, StopsAfterSoManyReferences) {
    Hierarchy hierarchy(machine(1));
    ScriptedSource source({{{loads(100), Control::Kind::none}, {loads(100), Control::Kind::none}}});
    RunOptions options;
    options.max_references = 130;
    const RunResult result = run(hierarchy, source, options);
    EXPECT_EQ(result.counts.references, 130U);
    EXPECT_TRUE(result.complete) << "it was asked for";
}

TEST(Engine, CanBeInterruptedAndKeepsWhatItCounted) {
    Hierarchy hierarchy(machine(1));
    ScriptedSource source({std::vector<ScriptedSource::Stretch>(400, {loads(10'000), Control::Kind::none})});
    std::uint64_t seen = 0;
    RunOptions options;
    options.progress = [&](std::uint64_t references) {
        seen = references;
        return references < 2'000'000;
    };
    const RunResult result = run(hierarchy, source, options);
    EXPECT_FALSE(result.complete);
    EXPECT_GE(seen, 2'000'000U);
    EXPECT_EQ(result.counts.references, seen);
    EXPECT_LT(seen, 4'000'000U);
}

TEST(Engine, ASourceThatFailsEndsTheRun) {
    Hierarchy hierarchy(machine(1));
    ScriptedSource source({{{loads(7), Control::Kind::none}, {loads(7), Control::Kind::none}}});
    source.fails_after = 1;
    const RunResult result = run(hierarchy, source);
    EXPECT_FALSE(result.complete);
    EXPECT_EQ(result.failure, "block 7 is damaged");
    EXPECT_EQ(result.counts.references, 7U);
}

TEST(Engine, RefusesMoreStreamsThanCores) {
    Hierarchy hierarchy(machine(2));
    ScriptedSource source({{}, {}, {}});
    EXPECT_THROW(run(hierarchy, source), std::invalid_argument);
}

TEST(Engine, IdleCoresEndWhereTheyBegan) {
    Hierarchy hierarchy(machine(3));
    ScriptedSource source({{{loads(1), Control::Kind::none}}});
    EXPECT_EQ(run(hierarchy, source).core_ends, (std::vector<Tick>{11'000, 1, 2}));
}

TEST(Engine, AMemoryThatIsFullGivesNoResult) {
    const Topology topology(
        read_machine("name: m\npages: {mapping: random}\nmemory: {size: 16 KiB}\n"
                     "caches: [{name: L1, next: memory, size: 1 KiB, ways: 2}]\n",
                     "m.yaml"));
    Hierarchy hierarchy(topology);
    ScriptedSource source({{{loads(5, 0, 4096), Control::Kind::none}}});
    EXPECT_THROW(run(hierarchy, source), MemoryFull);
}

/// What a listener sends back is carried out after the reference that caused it.
class Echo final : public LinkListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent&, Injector& injector) override {
        injector.write({Address{1} << 51, 16, bypass});
        injector.stall(5000);
    }
    void on_control(const Control&, Tick, Injector&) override {}
    bool bypass = true;
};

TEST(Engine, ListenersMayWriteAndStall) {
    for (const bool bypass : {true, false}) {
        const Topology topology = machine(1);
        Hierarchy hierarchy(topology);
        Echo echo;
        echo.bypass = bypass;
        hierarchy.listen(topology.link("core-L1"), 0, echo);
        ScriptedSource source({{{loads(4, 0, 0), Control::Kind::none}}});
        const RunResult result = run(hierarchy, source);
        EXPECT_EQ(result.end(), 11'000 + 3 * 1000 + 4 * 5000U);
        EXPECT_EQ(result.counts.memories[0].ring_writes, bypass ? 4U : 0U);
        EXPECT_EQ(result.counts.caches[0].ring_writes, bypass ? 0U : 4U);
        EXPECT_EQ(result.counts.caches[0].ring_write_misses, bypass ? 0U : 1U);
    }
}

}  // namespace
}  // namespace cachetally
