// SPDX-License-Identifier: BSD-3-Clause
// Chases that store, what is done before a probe, and the test that goes by them: worked out by hand from
// docs/counting.md and docs/timing.md.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "known_levels.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/recording/recorder.hpp"
#include "robust.hpp"

namespace cachetally {
namespace {

/// Four lines that replace the oldest: 4 cycles, memory 104.
MachineDescription four_lines(const std::string& keys = "") {
    return read_machine("name: four\ncaches:\n  - {name: L1, size: 256, ways: 4, line: 64, latency: 4, next: memory" +
                            keys + "}\nmemory: {latency: 100}\n",
                        "four.yaml");
}

const Offsets eight_lines{0, 64, 128, 192, 256, 320, 384, 448}, three_lines{0, 64, 128};

Measurement stored(ProbeTarget& target, const Offsets& lines) {
    return target.run(target.make_arena(4096, 4096), {lines, false, 1, true}, {2, 4});
}

using Figures = std::vector<double>;

TEST(StoringChases, WriteBackGivesUpEachLine) {
    SimulatedTarget target(four_lines());
    const Measurement many = stored(target, eight_lines), few = stored(target, three_lines);
    EXPECT_EQ(many.cycles, 104 + 4) << "a load that misses and a store that hits";
    EXPECT_EQ(many.writes, (Figures{1, 1}));
    EXPECT_EQ(many.write_misses, (Figures{0}));
    EXPECT_EQ(many.write_backs, (Figures{1}));
    EXPECT_EQ(many.cache_misses, (Figures{1}));
    EXPECT_EQ(few.writes, (Figures{1, 0})) << "lines that stay are not written back";
    EXPECT_EQ(few.write_backs, (Figures{0}));
}

TEST(StoringChases, WriteThroughHandsEachStoreOn) {
    SimulatedTarget target(four_lines(", write: write_through"));
    for (const Offsets& lines : {eight_lines, three_lines}) {
        const Measurement found = stored(target, lines);
        EXPECT_EQ(found.writes, (Figures{1, 1}));
        EXPECT_EQ(found.write_backs, (Figures{0}));
    }
}

TEST(StoringChases, AreNotCountedWhereNothingIs) {
    SimulatedOptions hidden;
    hidden.no_events = "hidden";
    SimulatedTarget target(four_lines(), hidden);
    EXPECT_EQ(target.capabilities().write_events, 0U);
    EXPECT_TRUE(stored(target, eight_lines).writes.empty());
    SimulatedTarget counts(four_lines());
    EXPECT_EQ(counts.capabilities().write_events, 1U);
    EXPECT_TRUE(counts.run(counts.make_arena(4096, 4096), {eight_lines}, {}).writes.empty()) << "nothing is stored";
}

TEST(StoringChases, AreSingleOnesOfIntegers) {
    SimulatedTarget target(four_lines());
    const Arena arena = target.make_arena(4096, 4096);
    const Chase storing(eight_lines, false, 1, true);
    EXPECT_THROW(target.run(arena, {eight_lines, false, 2, true}, {}), ProbeError);
    EXPECT_THROW(target.run(arena, {eight_lines, true, 1, true}, {}), ProbeError);
    EXPECT_THROW(target.latencies(arena, storing, 1, 1), ProbeError);
    EXPECT_THROW(target.prime_and_probe(arena, {{three_lines}, storing}, {}), ProbeError);
}

double cycles_after(ProbeTarget& target, Renewal renewed, const Offsets& probe = three_lines) {
    const Offsets elsewhere{2048};
    return target.prime_and_probe(target.make_arena(4096, 4096), {{elsewhere}, {probe}, 1, 1, renewed}, {0, 1}).cycles;
}

TEST(Renewal, LeavesWhatIsLoadedOrStored) {
    SimulatedTarget fetches(four_lines()), passes(four_lines(", write_allocate: false"));
    for (SimulatedTarget* target : {&fetches, &passes}) {
        EXPECT_EQ(cycles_after(*target, Renewal::loaded), 4);
        EXPECT_EQ(cycles_after(*target, Renewal::taken_out), 104);
    }
    EXPECT_EQ(cycles_after(fetches, Renewal::stored), 4);
    EXPECT_EQ(cycles_after(passes, Renewal::stored), 104);
}

TEST(Renewal, ShowsWhatThePrimeHasFetched) {
    SimulatedTarget without(four_lines()), with(four_lines(", prefetch: next_line"));
    EXPECT_EQ(cycles_after(with, Renewal::taken_out, Offsets{2048 + 64}), 4);
    EXPECT_EQ(cycles_after(with, Renewal::taken_out, Offsets{2048 + 128}), 104);
    EXPECT_EQ(cycles_after(without, Renewal::taken_out, Offsets{2048 + 64}), 104);
}

TEST(Renewal, IsRecordedAndReplayed) {
    SimulatedTarget target(four_lines(", write_allocate: false"));
    Recorder recorder(target, "four");
    const Measurement run = stored(recorder, eight_lines);
    const double by_loads = cycles_after(recorder, Renewal::loaded),
                 by_stores = cycles_after(recorder, Renewal::stored);
    RecordedTarget replay(recorder.recording());
    EXPECT_EQ(stored(replay, eight_lines).write_backs, run.write_backs);
    EXPECT_EQ(cycles_after(replay, Renewal::stored), by_stores);
    EXPECT_EQ(cycles_after(replay, Renewal::loaded), by_loads);
    EXPECT_THROW(cycles_after(replay, Renewal::taken_out), ProbeError);
    EXPECT_THROW(replay.run(replay.make_arena(4096, 4096), {eight_lines}, {2, 4}), ProbeError) << "it stores nothing";
    SimulatedTarget other(four_lines());
    const Recording again = rerun(recorder.recording(), other, "again");
    EXPECT_EQ(again.runs[0].measurement.writes, (Figures{1, 1}));
    EXPECT_EQ(again.runs[2].measurement.cycles, 4) << "this one fetches lines for stores";
}

/// Three levels, with keys of each.
MachineDescription three_levels(const std::string& l1, const std::string& l2 = "", const std::string& l3 = "") {
    return read_machine("name: three\ncaches:\n  - {name: L1, size: 16 KiB, ways: 4, latency: 3, next: L2" + l1 +
                            "}\n  - {name: L2, size: 128 KiB, ways: 8, latency: 12, next: L3" + l2 +
                            "}\n  - {name: L3, size: 1 MiB, ways: 16, latency: 30, next: memory" + l3 +
                            "}\nmemory: {latency: 150}\n",
                        "three.yaml");
}

TestReport tried_stores(const MachineDescription& machine, SimulatedOptions options = {}) {
    return by_known_levels(machine, stores_robust, std::move(options));
}

std::string said(const TestReport& report, const char* level, const char* parameter) {
    const Finding& found = finding(report, level, parameter);
    return found.value ? found.value->word : "";
}

const std::string through = ", write: write_through", passes_on = ", write_allocate: false";

TEST(Stores, FetchNoLinesFromTheLevelOnThatDoesNot) {
    const std::string none = "", yes = "true", no = "false";
    struct Case {
        std::string l1, l2, l3;           ///< keys
        std::string in_l1, in_l2, in_l3;  ///< said
    };
    for (const Case& each : {Case{"", "", "", yes, none, none}, Case{"", passes_on, "", yes, none, none},
                             Case{passes_on, "", "", no, yes, none}, Case{passes_on, passes_on, "", no, no, yes},
                             Case{passes_on + through, passes_on, passes_on, no, no, no}}) {
        const TestReport report = tried_stores(three_levels(each.l1, each.l2, each.l3));
        EXPECT_EQ(said(report, "L1", "write_allocate"), each.in_l1);
        EXPECT_EQ(said(report, "L2", "write_allocate"), each.in_l2);
        EXPECT_EQ(said(report, "L3", "write_allocate"), each.in_l3);
        expect_none_wrong(report);
    }
}

TEST(Stores, GoOnOrStay) {
    for (const std::string& l1 : {std::string(), through})
        for (const std::string& l2 : {std::string(), through})
            for (const std::string& l3 : {std::string(), through}) {
                const TestReport report = tried_stores(three_levels(l1, l2, l3));
                const auto expected = [](const std::string& keys) {
                    return keys.empty() ? "write_back" : "write_through";
                };
                EXPECT_EQ(said(report, "L1", "write"), expected(l1));
                EXPECT_EQ(said(report, "L2", "write"), expected(l2));
                EXPECT_EQ(said(report, "L3", "write"), expected(l3));
            }
}

// By what l1 and levels find.
TEST(Stores, AreFoundByTheSuite) {
    const TestReport report = robust(three_levels(through + passes_on), "stores");
    EXPECT_EQ(said(report, "L1", "write"), "write_through");
    EXPECT_EQ(said(report, "L1", "write_allocate"), "false");
    EXPECT_EQ(said(report, "L2", "write_allocate"), "true");
    expect_none_wrong(report);
}

// L2 takes 6 cycles, but is not known: what `levels` knows takes 15.
TEST(Stores, ALevelThatIsNotKnownIsNotTakenForL1) {
    const MachineDescription machine = read_machine(
        "name: near\ncaches:\n"
        "  - {name: L1, size: 16 KiB, ways: 4, latency: 3, next: L2, write_allocate: false}\n"
        "  - {name: L2, size: 64 KiB, ways: 8, latency: 3, next: L3}\n"
        "  - {name: L3, size: 1 MiB, ways: 16, latency: 30, next: memory}\nmemory: {latency: 150}\n",
        "near.yaml");
    EXPECT_EQ(said(tried_stores(machine), "L1", "write_allocate"), "");
}

// Dirty lines that vanish are not taken for stores that go on.
TEST(Stores, ThatVanishAreRefused) {
    const TestReport report = tried_stores(three_levels(", write_back_traffic: false"));
    EXPECT_EQ(said(report, "L1", "write"), "");
}

/// A bus that a dirty line of 64 bytes takes for 32 cycles.
TEST(Stores, WithoutCountsAreWrittenBackWhereThatTakesTime) {
    const std::string slow = ", bus: {bytes_per_cycle: 2}";
    SimulatedOptions hidden;
    hidden.no_events = "hidden";
    const auto without_counts = [&](const std::string& keys) {
        return said(tried_stores(three_levels(keys), hidden), "L1", "write");
    };
    EXPECT_EQ(without_counts(slow), "write_back");
    EXPECT_EQ(without_counts(slow + through), "") << "no cost is no proof of writing through";
    EXPECT_EQ(without_counts(""), "");
}

}  // namespace
}  // namespace cachetally
