// SPDX-License-Identifier: BSD-3-Clause
// Recordings, fitted machines and the machine under the program, as users call them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "storage/copy.hpp"
#include "storage/file.hpp"
#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ProbeHardwareWords = std::vector<std::string>;

TEST(ProbeRecorded, IsReplayedRerunAndCompared) {
    const TemporaryDirectory directory;
    const auto run = [&](const ProbeHardwareWords& words) {
        const Finished finished = cachetally(directory.path(), words);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished;
    };
    auto recorded = run({"probe", "l1", "response", "--robust", "-m", "generic3", "--noise", "quiet", "--arena", "4",
                         "--record", "a.h5", "--json"})
                        .json();
    auto again = run({"probe", "--replay", "a.h5", "--json", "-o", "b.h5"}).json();
    for (auto* each : {&recorded, &again})
        for (auto& result : (*each)["results"]) result.erase("truth"), result.erase("verdict");
    EXPECT_EQ(again["results"], recorded["results"]);
    const auto same = run({"compare", "a.h5", "b.h5", "--json"}).json();
    ASSERT_EQ(same["curves"].size(), 3U);
    for (const auto& curve : same["curves"]) EXPECT_EQ(curve["worst_difference"], 0) << curve.dump();
    for (const auto& each : same["findings"]) EXPECT_EQ(each["same"], true);

    run({"probe", "--replay", "a.h5", "-m", "intel-t9600", "-o", "c.h5"});
    const auto other = run({"compare", "a.h5", "c.h5", "--json"}).json();
    ASSERT_EQ(other["curves"].size(), 3U);
    EXPECT_EQ(other["curves"][0]["only_before"], 0);
    EXPECT_NE(other["curves"][0]["worst_difference"], 0);
    EXPECT_THAT(run({"compare", "a.h5", "c.h5"}).out, AllOf(HasSubstr("plateau"), HasSubstr("edge")));
    EXPECT_THAT(run({"show", "c.h5"}).out, HasSubstr("response"));
}

// Tests that choose their strings by what they find choose others on another machine.
TEST(ProbeRecorded, WhatAnotherMachineWasNotAskedIsSaid) {
    const TemporaryDirectory directory;
    ASSERT_EQ(cachetally(directory.path(), {"probe", "l1", "--robust", "-m", "generic3", "--record", "a.h5"}).status,
              0);
    const Finished other = cachetally(directory.path(), {"probe", "l1", "--replay", "a.h5", "-m", "bcm2835", "--json"});
    ASSERT_EQ(other.status, 0) << other.err;
    EXPECT_THAT(other.out, AllOf(HasSubstr("a.h5, a recording of generic3, has no run of this string of "),
                                 HasSubstr("so that bcm2835 was not asked for it"),
                                 HasSubstr("probe bcm2835 without --replay, or name 'response'")));
    const Finished missing = cachetally(directory.path(), {"probe", "levels", "--replay", "a.h5", "--json"});
    ASSERT_EQ(missing.status, 0) << missing.err;
    EXPECT_THAT(missing.out, AllOf(HasSubstr("a.h5, a recording of generic3, has no run of this string of "),
                                   HasSubstr("it was made without this test, with other options")));
}

TEST(ProbeRecorded, DisturbsSimulatedMachines) {
    const TemporaryDirectory directory;
    const std::string file = std::string(CACHETALLY_SOURCE_DIR) + "/tests/probes/recordings/zen4-vm-1.h5";
    const Finished finished =
        cachetally(directory.path(), {"probe", "l1", "--robust", "-m", "generic3", "--noise", file, "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    const auto results = finished.json()["results"];
    ASSERT_EQ(results.size(), 5U);
    for (const auto& result : results) {
        EXPECT_EQ(result["verdict"], "right") << result.dump();
        EXPECT_FALSE(result["parameter"] == "latency" && result["value"] == 4) << "as of a quiet machine";
    }
}

TEST(ProbeRecorded, FilesWithoutARecordingAreRefused) {
    const TemporaryDirectory directory;
    ASSERT_EQ(cachetally(directory.path(), {"probe", "l1", "--robust", "-o", "a.h5"}).status, 0);
    const Finished finished = cachetally(directory.path(), {"probe", "--replay", "a.h5"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, AllOf(HasSubstr("--replay a.h5: it holds no recording"), HasSubstr("--record")));
    const Finished noisy = cachetally(directory.path(), {"validate", "--machines", "1", "--noise", "a.h5"});
    EXPECT_EQ(noisy.status, 2);
    EXPECT_THAT(noisy.err, AllOf(HasSubstr("--noise a.h5: it holds no recording"), HasSubstr("--record")));
    const Finished compared = cachetally(directory.path(), {"compare", "a.h5", "a.h5", "--level", "L1"});
    EXPECT_EQ(compared.status, 2);
    EXPECT_THAT(compared.err, HasSubstr("--level is for results of run and replay"));
}

/// What was interrupted is so when it is replayed, too; of another machine the curves alone are asked for.
TEST(ProbeRecorded, OnesThatWereInterruptedArePartial) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    const ProbeHardwareWords record{"probe",    "l1",      "response", "--robust", "-m",
                                    "generic3", "--noise", "heavy",    "--record", "partial.h5"};
    Circumstances circumstances;
    const auto begin = std::chrono::steady_clock::now();
    circumstances.interrupt_when = [begin] {
        return std::chrono::steady_clock::now() - begin > std::chrono::seconds(3);
    };
    const Finished interrupted = cachetally(directory.path(), record, circumstances);
    ASSERT_EQ(interrupted.status, 1) << interrupted.err;
    if (listing(directory.path()).empty()) {  // a slow machine: not even l1 was complete
        EXPECT_THAT(interrupted.err, HasSubstr("none was, and nothing is kept"));
        return;
    }
    const Finished replayed = cachetally(directory.path(), {"probe", "--replay", "partial.h5", "--json", "-o", "b.h5"});
    EXPECT_EQ(replayed.status, 1);
    EXPECT_THAT(replayed.err, HasSubstr("partial.h5 was interrupted before all tests were complete"));
    EXPECT_EQ(replayed.json()["complete"], false);
    EXPECT_EQ(cachetally(directory.path(), {"show", "b.h5", "--json"}).json()["complete"], false);
    const Finished none = cachetally(directory.path(), {"probe", "response", "--replay", "partial.h5"});
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("none was, and nothing is kept"));
}

/// A file that is to be replaced stays if an end comes before there is anything to put in its place.
TEST(ProbeRecorded, NothingDoesNotReplaceWhatWasThere) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    ASSERT_EQ(cachetally(directory.path(), {"probe", "l1", "-m", "bcm2835", "-o", "a.h5"}).status, 0);
    const std::string before = contents(directory / "a.h5");
    Circumstances circumstances;
    circumstances.interrupt_when = [] { return true; };
    const Finished finished =
        cachetally(directory.path(),
                   {"probe", "response", "-m", "generic3", "--noise", "heavy", "-o", "a.h5", "--force"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("none was, and nothing is kept"));
    EXPECT_TRUE(contents(directory / "a.h5") == before);
    EXPECT_EQ(listing(directory.path()), "a.h5");
}

/// Two levels, of which little has to be simulated.
void write_small_machine(const std::filesystem::path& path, const std::string& l1, unsigned latency) {
    std::ofstream(path) << fmt::format(
        "caches:\n"
        "  - {{name: L1, next: L2, size: {}, ways: 4, latency: 3}}\n"
        "  - {{name: L2, next: memory, size: 32 KiB, ways: 8, latency: 12}}\n"
        "tlbs: [{{name: TLB, entries: 16, ways: 4}}]\n"
        "pages: {{walk: {{references: false, latency: 20}}}}\n"
        "memory: {{latency: {}}}\n",
        l1, latency);
}

TEST(FitCommand, WritesAMachineThatIsCloser) {
    const TemporaryDirectory directory;
    const auto run = [&](const ProbeHardwareWords& words) {
        const Finished finished = cachetally(directory.path(), words);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished;
    };
    write_small_machine(directory / "small.yaml", "2 KiB", 90);
    write_small_machine(directory / "start.yaml", "8 KiB", 200);
    run({"probe", "response", "-m", "small.yaml", "--arena", "1", "-o", "a.h5"});
    const auto fitted =
        run({"fit", "a.h5", "--start", "start.yaml", "-o", "m.yaml", "--name", "mine", "--json"}).json();
    EXPECT_LT(fitted["error"], fitted["error_before"].get<double>() / 2);
    EXPECT_LT(fitted["error"], 0.02);
    EXPECT_EQ(contents(directory / "m.yaml"), fitted["machine"].get<std::string>());
    EXPECT_THAT(contents(directory / "m.yaml"), HasSubstr("size: 2 KiB, ways: 4"));
    for (const auto& compared : fitted["comparison"]["curves"]) EXPECT_EQ(compared["only_after"], 0) << compared.dump();
    EXPECT_THAT(run({"machine", "show", "m.yaml"}).out, HasSubstr("mine: fitted to the response curves of a.h5"));
    EXPECT_EQ(cachetally(directory.path(), {"fit", "a.h5", "-o", "m.yaml"}).status, 1) << "it exists";
    EXPECT_THAT(run({"fit", "a.h5"}).out,
                AllOf(HasSubstr("as good"), HasSubstr("median difference"), Not(HasSubstr("still far apart"))));
}

/// A fit keeps levels: with fewer than were measured it stays far off, and says so.
TEST(FitCommand, SaysThatAMachineWithOtherLevelsMayBeNeeded) {
    const TemporaryDirectory directory;
    write_small_machine(directory / "small.yaml", "2 KiB", 90);
    std::ofstream(directory / "start.yaml") << "caches: [{name: L1, next: memory, size: 2 KiB, ways: 4, latency: 3}]\n"
                                               "tlbs: [{name: TLB, entries: 16, ways: 4}]\n"
                                               "memory: {latency: 90}\n";
    ASSERT_EQ(
        cachetally(directory.path(), {"probe", "response", "-m", "small.yaml", "--arena", "1", "-o", "a.h5"}).status,
        0);
    const Finished fitted = cachetally(directory.path(), {"fit", "a.h5", "--start", "start.yaml"});
    EXPECT_EQ(fitted.status, 0) << fitted.err;
    EXPECT_THAT(fitted.out, HasSubstr("simulations\nstill far apart: name a machine with other levels to begin with"));
}

/// Of curves that a budget cut a wrong machine would be made.
TEST(FitCommand, CutCurvesAreRefused) {
    const TemporaryDirectory directory;
    const Finished probed = cachetally(directory.path(), {"probe", "response", "--robust", "-m", "bcm2835", "--arena",
                                                          "2", "--budget", "2e7", "-o", "cut.h5"});
    ASSERT_EQ(probed.status, 0) << probed.err;
    const Finished fitted = cachetally(directory.path(), {"fit", "cut.h5", "-o", "cut.yaml"});
    EXPECT_EQ(fitted.status, 2);
    EXPECT_THAT(fitted.err, AllOf(HasSubstr("cut.h5: the response curves are not complete"),
                                  HasSubstr("budget is spent"), HasSubstr("larger --budget")));
    EXPECT_EQ(listing(directory.path()), "cut.h5");
}

TEST(ProbeNative, FindingsAreSaidThoughNoMachineCanBeFitted) {
    const TemporaryDirectory directory;
    const Finished finished =
        cachetally(directory.path(), {"probe", "l1", "--machine", "native", "--robust", "--arena", "4", "--budget",
                                      "1e9", "--write-machine", "m.yaml", "-o", "a.h5"});
    EXPECT_EQ(finished.status, 1);
    if (finished.out.empty()) GTEST_SKIP() << finished.err;  // a clock that cannot be measured, or no caches stated
    EXPECT_THAT(finished.out, HasSubstr("\nl1 "));
    EXPECT_THAT(finished.err, HasSubstr("no machine was written: there are no response curves"));
    EXPECT_EQ(listing(directory.path()), "a.h5");
}

TEST(FitCommand, LeavesNothingWhereItIsInterrupted) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    const Finished measured =
        cachetally(directory.path(), {"probe", "response", "-m", "generic3", "--arena", "2", "-o", "a.h5"});
    ASSERT_EQ(measured.status, 0) << measured.err;
    Circumstances circumstances;
    circumstances.interrupt_when = [] { return true; };
    const Finished finished =
        cachetally(directory.path(), {"fit", "a.h5", "--start", "intel-t9600", "-o", "m.yaml"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("interrupted before the machine was fitted; no machine file was written"));
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(listing(directory.path()), "a.h5");
}

/// As it is compared with what was measured, that is: the machine is there by then.
TEST(FitCommand, KeepsTheMachineWhereItIsInterruptedLate) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    write_small_machine(directory / "small.yaml", "2 KiB", 90);
    const Finished measured =
        cachetally(directory.path(), {"probe", "response", "-m", "small.yaml", "--arena", "32", "-o", "a.h5"});
    ASSERT_EQ(measured.status, 0) << measured.err;
    Circumstances circumstances;
    circumstances.interrupt_when = [&] { return std::filesystem::exists(directory / "m.yaml"); };
    const Finished finished = cachetally(directory.path(), {"fit", "a.h5", "-o", "m.yaml"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("interrupted after the machine was fitted and written to m.yaml"));
    EXPECT_THAT(finished.out, AllOf(HasSubstr("as good"), Not(HasSubstr("median difference"))));
}

void copy_without(const std::string& dataset, const Group& from, Group& to) {
    copy_attributes(from, to);
    for (const std::string& name : from.children()) {
        if (name == dataset) continue;
        if (!is_group(from, name)) {
            copy_dataset(from, name, to);
            continue;
        }
        Group group = to.create_group(name);
        copy_without(dataset, from.open_group(name), group);
    }
}

TEST(FitCommand, FilesThatNameNoMachineSaySo) {
    const TemporaryDirectory directory;
    write_small_machine(directory / "small.yaml", "2 KiB", 90);
    const Finished measured =
        cachetally(directory.path(), {"probe", "response", "-m", "small.yaml", "--arena", "1", "-o", "a.h5"});
    ASSERT_EQ(measured.status, 0) << measured.err;
    {
        const InputFile whole(directory / "a.h5");
        ResultFile other(directory / "b.h5");
        copy_without("machine_file", whole.root(), other.root());
        other.finish();
    }
    const Finished finished = cachetally(directory.path(), {"fit", "b.h5"});
    EXPECT_EQ(finished.status, 2) << "of its use";
    EXPECT_THAT(finished.err, HasSubstr("b.h5 does not say which machine it is of; name one to begin with: --start "));
}

TEST(FitCommand, SaysWhatItNeeds) {
    const TemporaryDirectory directory;
    cachetally(directory.path(), {"probe", "l1", "--robust", "-o", "l1.h5"});
    cachetally(directory.path(), {"run", "stream", "n=64", "-o", "run.h5"});
    EXPECT_THAT(cachetally(directory.path(), {"fit", "l1.h5"}).err,
                AllOf(HasSubstr("l1.h5: there are no response curves"), HasSubstr("probe response")));
    EXPECT_THAT(cachetally(directory.path(), {"fit", "run.h5"}).err, HasSubstr("run.h5 is a result of run"));
    EXPECT_THAT(cachetally(directory.path(), {"fit", "absent.h5"}).err, HasSubstr("absent.h5"));
    EXPECT_THAT(cachetally(directory.path(), {"fit", "l1.h5", "--force"}).err, HasSubstr("--output only"));
    EXPECT_THAT(cachetally(directory.path(), {"fit", "l1.h5", "-o", "l1.h5"}).err, HasSubstr("l1.h5"));
}

/// What it finds is for the machine to say; that it is told whole, and kept, is for the program.
TEST(ProbeNative, IsPrintedAndKept) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"probe", "l1", "--machine", "native", "--robust", "--json",
                                                            "-o", "n.h5", "--budget", "2e10"});
    if (lacks_clock(finished) || finished.err.find("states no caches") != std::string::npos)
        GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto told = finished.json();
    EXPECT_EQ(told["complete"], true);
    ASSERT_EQ(told["tests"].size(), 1U);
    EXPECT_EQ(told["tests"][0]["test"], "l1");
    for (const auto& one : told["results"]) EXPECT_TRUE(one["truth"].is_null()) << one.dump();
    EXPECT_EQ(cachetally(directory.path(), {"show", "n.h5", "--json"}).json()["results"], told["results"]);
}

/// The table of levels with what the machine states, to the next empty line.
std::string table_of_levels(const std::string& text) {
    const std::size_t title = text.rfind("stated by the machine");
    if (title == std::string::npos) return "";
    const std::size_t begin = text.rfind('\n', title) + 1;
    const std::size_t end = text.find("\n\n", begin);
    return text.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

// What the machine states of sharing, too, is that of the run, not of the machine that reads the file.
TEST(ProbeNative, RecordingsStateWhatTheMachineStated) {
    const TemporaryDirectory directory;
    const Finished native = cachetally(
        directory.path(), {"probe", "l1", "--robust", "-m", "native", "--budget", "3e9", "--record", "a.h5"});
    if (native.status == 1) GTEST_SKIP() << native.err;  // a clock that cannot be measured, or no caches stated
    ASSERT_EQ(native.status, 0) << native.err;
    const Finished replayed = cachetally(directory.path(), {"probe", "l1", "--replay", "a.h5", "-o", "b.h5"});
    ASSERT_EQ(replayed.status, 0) << replayed.err;
    EXPECT_EQ(table_of_levels(replayed.out), table_of_levels(native.out));
    const Finished shown = cachetally(directory.path(), {"show", "b.h5"});
    EXPECT_EQ(table_of_levels(shown.out), table_of_levels(native.out));
}

TEST(ProbeNative, SaysWhyEventsAreNotCounted) {
    const TemporaryDirectory directory;
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"probe", "events", "--machine", "native", "--robust", "--budget", "1e9"});
        return cachetally(directory.path(), words);
    };
    // Each run measures the clock anew.
    const Finished hidden = run({"--no-events", "not today", "--json"});
    if (lacks_clock(hidden)) GTEST_SKIP() << hidden.err;
    ASSERT_EQ(hidden.status, 0) << hidden.err;
    EXPECT_EQ(hidden.json()["no_events"], "not today");
    EXPECT_EQ(hidden.json()["results"][0]["reason"], "event counts are not to be had: not today");
    const Finished table = run({"--no-events", "not today"});
    if (lacks_clock(table)) GTEST_SKIP() << table.err;
    EXPECT_THAT(table.out, HasSubstr("\nno event counts: not today\n"));
    // Here or there: what is counted, or why it is not.
    const Finished counted = run({});
    if (lacks_clock(counted)) GTEST_SKIP() << counted.err;
    EXPECT_THAT(counted.out, AnyOf(HasSubstr("no event counts: "), HasSubstr("and misses of ")));
}

TEST(ProbeNative, RawEventsAreOfLevelsThatThereAre) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"probe", "events", "--machine", "native", "--raw-event",
                                                            "TLB9=0x1", "--raw-event", "L1=0x2"});
    if (finished.status == 1) GTEST_SKIP() << finished.err;  // a clock that cannot be measured
    if (finished.out.find("states no caches") != std::string::npos) GTEST_SKIP() << finished.out;
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--raw-event TLB9=0x1: there is no TLB9 on this machine; the last one is TLB"));
}

TEST(ProbeNative, WritesAMachineFile) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(
        directory.path(), {"probe", "response", "--machine", "native", "--arena", "1", "--budget", "2.5e11",
                           "--write-machine", "m.yaml"});  // what others take of the time is not measured again
    if (lacks_clock(finished) || finished.err.find("states no caches") != std::string::npos)
        GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(listing(directory.path()), "m.yaml");
    const Finished checked = cachetally(directory.path(), {"machine", "show", "m.yaml"});
    EXPECT_EQ(checked.status, 0) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("fitted to this machine's response curves"));
}

}  // namespace
}  // namespace cachetally::testing
