// SPDX-License-Identifier: BSD-3-Clause
// What targets answer about several processors: cycles worked out by hand from docs/coherence.md and docs/timing.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "cachetally/topology.hpp"
#include "probes/targets/native.hpp"
#include "probes/targets/native_cores.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t page = 4096;

/// Four cores: L1 of 1 KiB for each, or for two; L2 of 8 KiB.
std::string four_cores(const std::string& coherence, unsigned l1_shared_by = 1) {
    return "name: four\ncores: 4\ncaches:\n"
           "  - {name: L1, next: L2, size: 1 KiB, ways: 2, latency: 3, shared_by: " +
           std::to_string(l1_shared_by) +
           "}\n"
           "  - {name: L2, next: memory, size: 8 KiB, ways: 4, latency: 10, shared_by: all}\n" +
           coherence + "pages: {size: 4 KiB}\nmemory: {latency: 100}\n";
}
const std::string directory = "coherence: {protocol: mesi, by: directory, latency: 5, forward: 7, supply: 11}\n";
const std::string snooping = "coherence: {protocol: moesi, by: snooping, latency: 5, supply: 11}\n";

SimulatedTarget target_of(const std::string& text) { return SimulatedTarget(read_machine(text, "four.yaml")); }

double transfer(ProbeTarget& target, unsigned from, unsigned to) {
    const Offsets lines = random_string(512, 64, 1);
    return target.transfer(target.make_arena(page, page), from, {to, {lines}}, 3).cycles;
}

TEST(TransferOfSimulated, IsTheWayToTheOtherCacheAndBack) {
    SimulatedTarget by_directory = target_of(four_cores(directory)), by_snooping = target_of(four_cores(snooping));
    EXPECT_EQ(transfer(by_directory, 0, 1), 3 + 5 + 7 + 11);
    EXPECT_EQ(transfer(by_directory, 3, 1), 3 + 5 + 7 + 11);
    EXPECT_EQ(transfer(by_snooping, 2, 0), 3 + 5 + 11);
}

TEST(TransferOfSimulated, WithinASharedCacheIsAHit) {
    SimulatedTarget target = target_of(four_cores(directory, 2));
    EXPECT_EQ(transfer(target, 0, 1), 3);
    EXPECT_EQ(transfer(target, 3, 2), 3);
    EXPECT_EQ(transfer(target, 1, 2), 3 + 5 + 7 + 11);
}

// The lines are at home where they were written: only then their memory is a node's own.
TEST(TransferOfSimulated, FromAnotherNodePassesTheInterconnect) {
    SimulatedTarget target(load_machine("numa4"));
    EXPECT_EQ(transfer(target, 0, 1), 4 + 14 + 60 + 60);
    EXPECT_EQ(transfer(target, 6, 7), 4 + 14 + 60 + 60);
    EXPECT_EQ(transfer(target, 0, 2), 4 + 14 + 100 + 60 + 60);
    EXPECT_EQ(transfer(target, 7, 1), 4 + 14 + 100 + 60 + 60);
}

std::string refusal_of(const std::function<void()>& ask) {
    try {
        ask();
    } catch (const ProbeError& error) {
        return error.what();
    }
    return "";
}

TEST(TransferOfSimulated, IsRefusedWhereLinesDoNotMove) {
    SimulatedTarget incoherent = target_of(four_cores("")), one(load_machine("generic3")),
                    four = target_of(four_cores(directory));
    EXPECT_THAT(refusal_of([&] { transfer(incoherent, 0, 1); }), HasSubstr("not kept coherent"));
    EXPECT_THAT(refusal_of([&] { transfer(one, 0, 1); }), HasSubstr("processor 1 cannot make loads here"));
    EXPECT_THAT(refusal_of([&] { transfer(four, 0, 4); }), HasSubstr("these can: 0, 1, 2, 3"));
    EXPECT_THAT(refusal_of([&] { transfer(four, 2, 2); }), HasSubstr("both are 2"));
    EXPECT_EQ(one.capabilities().no_processors, "the machine has one core");
    SimulatedOptions heavy;
    heavy.noise = noise_named("heavy");
    const SimulatedTarget disturbed(load_machine("coherent8"), heavy);
    EXPECT_EQ(disturbed.capabilities().processors, std::vector<unsigned>{0});
}

double after(ProbeTarget& target, unsigned one, unsigned other, std::uint64_t bytes) {
    const Offsets lines = random_string(bytes, 64, 1);
    return target.run_after(target.make_arena(bytes, page), {one, {lines}}, {other, {lines}}, 2).cycles;
}

// L1 holds 1 KiB for two cores; the directory is asked before L2. What the other one does beside it in L2 changes
// nothing up to 8 KiB.
TEST(ChasesAfterEachOther, LoseTheLinesThatTheOtherTakes) {
    SimulatedTarget target = target_of(four_cores(directory, 2));
    EXPECT_EQ(after(target, 0, 2, 1024), 3);
    EXPECT_EQ(after(target, 0, 1, 1024), 3 + 5 + 10);
    EXPECT_EQ(after(target, 0, 0, 1024), 3 + 5 + 10) << "other lines of its own";
    EXPECT_EQ(after(target, 0, 2, 4096), 3 + 5 + 10) << "both fit";
    EXPECT_EQ(after(target, 0, 2, 8192), 3 + 5 + 10 + 100);
}

TEST(ChasesAfterEachOther, AreOfOneChainLikeAllButRuns) {
    std::string text = four_cores(directory);
    text.insert(text.find("ways"), "outstanding_misses: 4, ");
    SimulatedTarget target = target_of(text);
    const Offsets lines = random_string(512, 64, 1);
    const Arena arena = target.make_arena(page, page);
    const Chase two(lines, false, 2);
    ASSERT_GE(target.capabilities().most_chains, 2U);
    EXPECT_THAT(refusal_of([&] { target.transfer(arena, 0, {1, two}, 1); }), HasSubstr("one chain, not of 2"));
    EXPECT_THAT(refusal_of([&] {
                    target.run_after(arena, {0, {lines}}, {1, two}, 1);
                }),
                HasSubstr("one chain, not of 2"));
    EXPECT_THAT(refusal_of([&] {
                    target.run_after(arena, {0, two}, {1, {lines}}, 1);
                }),
                HasSubstr("one chain, not of 2"));
    EXPECT_THAT(refusal_of([&] {
                    target.prime_and_probe(arena, {{lines}, two}, {});
                }),
                HasSubstr("one chain, not of 2"));
}

TEST(ChasesAfterEachOther, EndWithTheBudget) {
    SimulatedTarget target = target_of(four_cores(directory));
    target.keep_to({.most_cycles = 100});
    EXPECT_THROW(after(target, 0, 1, 8192), BudgetSpent);
    target.keep_to({.go_on = [] { return false; }});
    EXPECT_THROW(transfer(target, 0, 1), ProbingEnded);
}

class NativeCores : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            target.emplace(NativeOptions{16 << 20, true});
        } catch (const ProbeError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    unsigned first() const { return target->capabilities().processors.front(); }
    unsigned last() const { return target->capabilities().processors.back(); }
    std::optional<NativeTarget> target;
};

TEST_F(NativeCores, OneProcessorIsNamedAsTheReason) {
    const Capabilities& can = target->capabilities();
    EXPECT_EQ(can.no_processors.empty(), can.processors.size() > 1);
    EXPECT_THROW(transfer(*target, first(), first()), ProbeError);
    EXPECT_THROW(after(*target, first(), last() + 1, 4096), ProbeError);
}

TEST_F(NativeCores, OnOneProcessorAChaseLosesItsLinesToItself) {
    const double both_fit = after(*target, first(), first(), 2048), neither = after(*target, first(), first(), 2 << 20);
    EXPECT_GT(neither, both_fit);
}

// A line that another processor has written is not in the first level: it takes longer than one that is. Processors
// that share the first level would not show that, so that the lines are only said to come.
TEST_F(NativeCores, LinesComeFromTheOtherProcessor) {
    if (first() == last()) GTEST_SKIP() << target->capabilities().no_processors;
    const Offsets lines = random_string(page, 64, 1);
    const Arena arena = target->make_arena(page, page);
    const Measurement found = target->transfer(arena, first(), {last(), {lines}}, 15);
    EXPECT_GE(found.cycles, 1);
    EXPECT_LE(found.quantiles.least, found.cycles);
    EXPECT_GE(found.conditions.samples, 1U);
    EXPECT_GT(target->cost().references, 15 * lines.size());
}

TEST_F(NativeCores, PatienceWithAProcessorEnds) {
    const Offsets lines = random_string(page, 64, 1);
    const Arena arena{0, 16 << 20, page, true};
    NativeClock clock{.loads_ns = [](void**&, auto) { return 1.0; }, .look = [] {}};
    EXPECT_THAT(refusal_of([&] {
                    native_transfer(clock, arena, CPU_SETSIZE - 1, {first(), {lines}}, 1);
                }),
                HasSubstr("does not let a thread run on processor"));
    if (first() == last()) GTEST_SKIP() << target->capabilities().no_processors;
    clock.patience_ns = 1;  // 16 MiB cannot be placed before the first look
    EXPECT_THAT(refusal_of([&] {
                    native_transfer(clock, arena, first(), {last(), {lines}}, 1);
                }),
                HasSubstr("a processor was not given to this program for 0 ms"));
}

TEST_F(NativeCores, AnEndIsKeptToWhileThreadsWait) {
    if (first() == last()) GTEST_SKIP() << target->capabilities().no_processors;
    const Offsets lines = random_string(page, 64, 1);
    const Arena arena = target->make_arena(8 << 20, page);
    const Offsets many = random_string(8 << 20, 64, 1);
    unsigned asked = 0;
    target->keep_to({.go_on = [&] { return ++asked < 20; }});
    EXPECT_THROW(target->run_after(arena, {first(), {lines}}, {last(), {many}}, 1'000'000), ProbingEnded);
    target->keep_to({.most_cycles = target->cost().cycles + 1e7});
    EXPECT_THROW(target->transfer(arena, first(), {last(), {lines}}, 1'000'000'000), BudgetSpent);
}

}  // namespace
}  // namespace cachetally
