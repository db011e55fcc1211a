// SPDX-License-Identifier: BSD-3-Clause
// Recordings: replayed they answer as the target did, also from a file; rerun they ask another target the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "probes/probe_file.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/recording/recorder.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

SimulatedOptions disturbed(std::uint64_t seed) {
    SimulatedOptions options;
    options.noise = noise_named("realistic");
    options.seed = seed;
    options.largest_arena = 2 << 20;
    return options;
}

SuiteOptions some_tests() {
    SuiteOptions suite;
    suite.tests = {"l1", "levels", "latency", "parallelism", "bandwidth", "stores", "response"};
    return suite;
}

/// All that tests found.
std::vector<std::string> said_by(std::span<const TestReport> reports) {
    std::vector<std::string> all;
    for (const TestReport& report : reports) {
        for (const Finding& each : report.findings)
            all.push_back(each.level + each.parameter + found_in_words(each) + each.method + each.reason);
        for (const Curve& curve : report.curves)
            for (const double value : curve.cycles) all.push_back(std::to_string(value));
        all.insert(all.end(), report.decisions.begin(), report.decisions.end());
    }
    return all;
}

TEST(Recorded, TestsFindTheSameWithoutTheTarget) {
    SimulatedTarget target(load_machine("generic3"), disturbed(1));
    Recorder recorder(target, "generic3");
    const auto reports = run_suite(recorder, some_tests());
    ASSERT_GT(recorder.recording().runs.size(), 100U);
    RecordedTarget recorded(recorder.recording());
    EXPECT_EQ(said_by(run_suite(recorded, some_tests())), said_by(reports));
    EXPECT_EQ(recorded.cost().references, recorder.cost().references);
}

TEST(Recorded, FilesHoldAllOfIt) {
    SimulatedTarget target(load_machine("generic3-timed"), disturbed(2));
    Recorder recorder(target, "generic3-timed");
    const auto reports = run_suite(recorder, some_tests());
    const auto any = [&](auto is) { return std::ranges::any_of(recorder.recording().runs, is); };
    ASSERT_TRUE(any([](const RecordedRun& run) { return run.chains > 1; }));
    ASSERT_TRUE(any([](const RecordedRun& run) { return run.stream.kind == Streaming::Kind::copy; }));
    const std::string path = ::testing::TempDir() + "recording_files_hold_all.h5";
    std::filesystem::remove(path);
    {
        ResultFile file(path);
        write_recording(file.root(), recorder.recording());
        file.finish();
    }
    const InputFile file(path);
    ASSERT_TRUE(has_recording(file.root()));
    RecordedTarget recorded(read_recording(file.root()));
    EXPECT_EQ(said_by(run_suite(recorded, some_tests())), said_by(reports));
    EXPECT_EQ(recorded.recording().runs.size(), recorder.recording().runs.size());
    EXPECT_EQ(recorded.recording().strings.all(), recorder.recording().strings.all());
    EXPECT_LT(std::filesystem::file_size(path), 256 * recorder.recording().runs.size()) << "bytes of a run";
    std::filesystem::remove(path);
}

TEST(Recorded, FilesSayOnWhichRunsTheCoreWasShared) {
    SimulatedTarget target(load_machine("generic3"));
    Recorder recorder(target, "generic3");
    const Arena arena = recorder.make_arena(1 << 16, 4096);
    for (unsigned i = 0; i < 3; ++i) recorder.run(arena, {random_string(1 << 12, 64, i)}, {1, 2});
    Recording recording = recorder.recording();
    const std::string path = ::testing::TempDir() + "recording_shared_cores.h5";
    for (const bool shared : {false, true}) {
        recording.runs[1].measurement.conditions.core_shared = shared;
        std::filesystem::remove(path);
        ResultFile out(path);
        write_recording(out.root(), recording);
        out.finish();
        const InputFile file(path);
        EXPECT_EQ(file.root().open_group("recording").open_group("runs").has("core_shared"), shared);
        const Recording read = read_recording(file.root());
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_EQ(read.runs[i].measurement.conditions, recording.runs[i].measurement.conditions) << i;
    }
    std::filesystem::remove(path);
}

/// Where a number is no time nobody could wait for it.
TEST(Recorded, TimesThatAreNoneAreRefused) {
    SimulatedTarget target(load_machine("generic3"));
    Recorder recorder(target, "generic3");
    const Arena arena = recorder.make_arena(1 << 16, 4096);
    const Offsets string = random_string(1 << 14, 64, 1);
    recorder.run(arena, {string}, {1, 2});
    const std::string path = ::testing::TempDir() + "recording_times_that_are_none.h5";
    for (const double cycles :
         {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        Recording recording = recorder.recording();
        recording.runs.front().effort.least_cycles = cycles;
        std::filesystem::remove(path);
        ResultFile out(path);
        write_recording(out.root(), recording);
        out.finish();
        const InputFile file(path);
        EXPECT_THROW(read_recording(file.root()), StorageError) << cycles;
    }
    std::filesystem::remove(path);
}

/// As many laps as 1e300 cycles are, of which all but some are not made.
TEST(Recorded, HugeTimesEnd) {
    SimulatedTarget target(load_machine("generic3"));
    const Arena arena = target.make_arena(1 << 16, 4096);
    const Offsets string = random_string(1 << 14, 64, 1);
    target.keep_to({.most_cycles = 1e9});
    EXPECT_THROW(target.run(arena, {string}, {1, 2, 1e300}), BudgetSpent);
}

/// Without noise a machine asked again answers the same, run by run.
TEST(Recorded, AnotherTargetIsAskedTheSame) {
    SimulatedOptions options;
    options.largest_arena = 2 << 20;
    SimulatedTarget target(load_machine("generic3"), options), same(load_machine("generic3"), options),
        other(load_machine("intel-t9600"), options);
    Recorder recorder(target, "generic3");
    run_suite(recorder, some_tests());
    const Recording &first = recorder.recording(), again = rerun(first, same, "again"), on = rerun(first, other, "on");
    ASSERT_EQ(again.runs.size(), first.runs.size());
    ASSERT_EQ(on.runs.size(), first.runs.size());
    unsigned differ = 0;
    for (std::size_t i = 0; i < first.runs.size(); ++i) {
        EXPECT_EQ(again.runs[i].measurement.cycles, first.runs[i].measurement.cycles) << i;
        EXPECT_EQ(again.runs[i].latencies, first.runs[i].latencies) << i;
        EXPECT_EQ(on.strings.all()[on.runs[i].string], first.strings.all()[first.runs[i].string]) << i;
        if (on.runs[i].measurement.cycles != first.runs[i].measurement.cycles) ++differ;
    }
    EXPECT_GT(differ, first.runs.size() / 2);
}

TEST(Recorded, WhatTheMachineStatesOfSharingIsKept) {
    const auto path = std::filesystem::path(::testing::TempDir()) / "stated_sharing.h5";
    const std::vector<Fact> stated{{"L1", "shared_among", {0, "0 1"}}, {"L2", "shared_among", {0, "0+1"}}};
    for (const std::size_t facts : {stated.size(), std::size_t{0}}) {
        {
            ResultFile file(path, Existing::overwrite);
            write_stated_sharing(file.root(), std::span(stated).first(facts));
            file.finish();
        }
        const InputFile file(path);
        EXPECT_EQ(file.root().has("stated_sharing"), facts > 0);  // older files have none
        const std::vector<Fact> read = read_stated_sharing(file.root());
        ASSERT_EQ(read.size(), facts);
        for (std::size_t i = 0; i < facts; ++i) {
            EXPECT_EQ(read[i].level, stated[i].level);
            EXPECT_EQ(read[i].parameter, "shared_among");
            EXPECT_EQ(read[i].value, stated[i].value);
        }
    }
    std::filesystem::remove(path);
}

TEST(Recorded, WhatWasNotAskedIsRefused) {
    SimulatedTarget target(load_machine("generic3"));
    Recorder recorder(target, "generic3");
    const Arena arena = recorder.make_arena(1 << 16, 4096);
    const Offsets asked = random_string(1 << 14, 64, 1), other = random_string(1 << 14, 64, 2);
    const double cycles = recorder.run(arena, {asked}, {1, 2}).cycles;
    EXPECT_THROW(recorder.run(arena, {Offsets{1 << 16}}, {1, 2}), ProbeError);
    RecordedTarget recorded(recorder.recording());
    const Arena same = recorded.make_arena(1 << 16, 4096);
    EXPECT_EQ(recorded.run(same, {asked}, {1, 2}).cycles, cycles);
    EXPECT_EQ(recorded.run(same, {asked}, {1, 2}).cycles, cycles) << "asked again: the same again";
    EXPECT_THROW(recorded.run(same, {asked}, {1, 3}), ProbeError);
    EXPECT_THROW(recorded.run(same, {other}, {1, 2}), ProbeError);
    EXPECT_THROW(recorded.run(same, {Offsets{1 << 16}}, {1, 2}), ProbeError);
    EXPECT_THROW(recorded.make_arena(1 << 16, 8192), ProbeError);
}

/// A budget that ends a run ends it again.
TEST(Recorded, BudgetsEndWhereTheyEnded) {
    SimulatedTarget target(load_machine("generic3"));
    Recorder recorder(target, "generic3");
    SuiteOptions suite = some_tests();
    suite.budget.most_cycles = 2e6;
    const auto reports = run_suite(recorder, suite);
    RecordedTarget recorded(recorder.recording());
    EXPECT_EQ(said_by(run_suite(recorded, suite)), said_by(reports));
}

}  // namespace
}  // namespace cachetally
