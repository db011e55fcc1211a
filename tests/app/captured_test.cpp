// SPDX-License-Identifier: BSD-3-Clause
// run and record of programs: counts that are known, their output and end, and what is kept of a program that is
// killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/app/captured.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// 64 x 64 doubles on generic3 (48 KiB, 12 ways, 64 sets): each line is stored to 8 times, then read by 64 columns. A
// column is 64 lines at a distance of 512 bytes, that is 8 sets of 8 lines each, so all columns of a line hit again.
TEST_F(Captured, CountsOfAMatrixAreTheClosedForm) {
    const Json json = counts({"--data-only"}, {"sweep"});
    const Json& matrix = json["structures"]["matrix"];
    EXPECT_EQ(matrix["bytes"], 64 * 64 * 8);
    EXPECT_EQ(matrix["levels"]["L1D"]["accesses"], 2 * 64 * 64);
    EXPECT_GE(matrix["levels"]["L1D"]["misses"], 64 * 8);  // each line once, and where others have come between
    ASSERT_EQ(json["phases"].size(), 3U);
}

TEST_F(Captured, WithoutItsToolSaysHowThatIsBuilt) {
    std::filesystem::copy_file(CACHETALLY_PROGRAM, directory / "cachetally");
    ASSERT_NE(std::system(("cd " + directory.path().string() + " && ./cachetally run -- true 2> said").c_str()), 0);
    std::ifstream file(directory / "said");
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(said, HasSubstr("install the package valgrind"));
    EXPECT_THAT(said, HasSubstr("scripts/build release --target capture_tool"));
}

TEST_F(Captured, PhasesAreTheProgramsOwn) {
    const Json json = counts({"--data-only"}, {"sweep"});
    const Json& phases = json["phases"];
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_EQ(phases[0]["name"], "");
    EXPECT_EQ(phases[1]["name"], "fill");
    EXPECT_EQ(phases[2]["name"], "sum");
    EXPECT_GE(phases[1]["references"], 64 * 64);
    EXPECT_LT(phases[1]["references"], 64 * 64 + 100);  // all else is in registers
}

TEST_F(Captured, NamesThatCannotBeReadAreNone) {
    const Json json = counts({"--data-only"}, {"wild"});
    ASSERT_EQ(json["phases"].size(), 4U);
    EXPECT_EQ(json["phases"][1]["name"], "");
    EXPECT_EQ(json["phases"][2]["name"], "");
    EXPECT_EQ(json["phases"][3]["name"], "ends with its page");
}

TEST_F(Captured, OffAndOnLeaveReferencesOut) {
    EXPECT_EQ(counts({}, {"partly"})["structures"]["matrix"]["levels"]["L1D"]["accesses"], 100);
}

TEST_F(Captured, AProgramSeesTheNameByWhichItIsCalled) {
    const Finished named = cachetally(directory.path(), reported + Words{"--", "sh", "-c", "echo $0"});
    EXPECT_EQ(named.out, "sh\n") << named.err;
}

TEST_F(Captured, NamedMemoryOfTheHeap) {
    EXPECT_GE(counts({}, {"heap"})["structures"]["block"]["levels"]["L1D"]["accesses"], 200);
}

TEST_F(Captured, ThreadsGoToCoresAndBarriersEndPhasesWhereAsked) {
    const Json alone = counts({"-m", "generic3", "--data-only"}, {"threads"});
    EXPECT_EQ(alone["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
    const Json four = counts({"-m", "coherent8", "--data-only"}, {"threads"});
    EXPECT_EQ(four["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
    EXPECT_EQ(four["phases"].size(), 1U);
    EXPECT_EQ(counts({"-m", "coherent8", "--data-only", "--barriers"}, {"threads"})["phases"].size(), 11U);
}

TEST_F(Captured, PhasesEndAfterSoManyReferences) {
    const Words parts = {"--phase-every", "10K"};
    const Json live = counts(parts, {"sweep"});
    EXPECT_GE(live["phases"].size(), live["references"].get<std::uint64_t>() / 10240);
    ASSERT_EQ(run({"record", "-o", "t.ct.h5"}, {"sweep"}).status, 0);
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "--json"};
    const Json recorded = cachetally(directory.path(), replay + parts).json();
    EXPECT_EQ(recorded["levels"], cachetally(directory.path(), replay).json()["levels"]);
    ASSERT_EQ(recorded["phases"].size(), live["phases"].size());
    for (std::size_t phase = 0; phase < live["phases"].size(); ++phase)
        EXPECT_EQ(recorded["phases"][phase]["references"], live["phases"][phase]["references"]) << phase;
}

TEST_F(Captured, RecordingBeginsAtAFunction) {
    const Json whole = counts({"--data-only"}, {"sweep"}), late = counts({"--data-only", "--from", "sweep"}, {"sweep"});
    EXPECT_EQ(late["structures"]["matrix"], whole["structures"]["matrix"]);
    EXPECT_LT(late["references"], whole["references"].get<std::uint64_t>() / 2);
    EXPECT_EQ(late["phases"].size(), whole["phases"].size());
    const Finished never = run(Words{"run", "--from", "swep"}, {"sweep"});
    EXPECT_EQ(never.status, 1);
    EXPECT_THAT(never.err, HasSubstr("--from: the program never entered a function 'swep'; did you mean 'sweep'?"));
    EXPECT_THAT(run(Words{"run", "--from", "new_node"}, {"sweep"}).err,
                HasSubstr("--from: the program never entered 'new_node'"));
}

TEST_F(Captured, OfAPartAloneTheProgramIsEnded) {
    const Finished finished = run(reported + Words{"--skip", "1000", "--warmup", "5000", "--count", "2000"}, {"sweep"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(report()["references"], 2000);
    EXPECT_EQ(run(Words{"sweep", "--report", "report", "--json", "--from", "sweep", "--count", "1K"}, {"sweep"}).status,
              0);
    EXPECT_EQ(report()["references"], 1024);
}

TEST_F(Captured, ThreadsGoToTheCoresOfTheMap) {
    // false sharing needs two cores
    const auto invalidations = [&](const std::string& map) {
        const Json json = counts({"-m", "coherent8", "--data-only", "--map", map}, {"threads"});
        EXPECT_EQ(json["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
        return json["levels"]["L1D"]["invalidations"].get<std::uint64_t>();
    };
    EXPECT_EQ(invalidations("5,5,5,5,5,5,5,5"), 0U);
    EXPECT_GT(invalidations("5,4,3,2,1,0"), 0U);
    EXPECT_THAT(run(Words{"run", "-m", "coherent8", "--map", "0,8"}, {"threads"}).err,
                HasSubstr("--map: there is no core 8"));
}

TEST_F(Captured, LackeyKnowsLess) {
    for (const Words& option :
         {Words{"--from", "main"}, {"--barriers"}, {"--children"}, {"--program", "a"}, {"--map", "0"}}) {
        const Finished finished = run(Words{"run", "--with", "lackey"} + option, {"sweep"});
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, HasSubstr("--with lackey"));
        EXPECT_THAT(finished.err, HasSubstr(option.front()));
    }
    EXPECT_EQ(run(reported + Words{"--with", "lackey"}, {"exit", "3"}).status, 3);
    const Finished killed = run(reported + Words{"--with", "lackey"}, {"kill"});
    EXPECT_EQ(killed.status, 128 + 9);
    EXPECT_FALSE(report()["complete"]);
}

TEST_F(Captured, OutputInputAndEndAreTheProgramsOwn) {
    Circumstances input;
    input.input = "some text\n";
    const Finished copied = run(reported, {"copy"}, input);
    EXPECT_EQ(copied.out, "some text\n");
    EXPECT_EQ(copied.status, 0);
    EXPECT_TRUE(report()["complete"]);
    EXPECT_EQ(run(reported, {"exit", "3"}).status, 3);
    EXPECT_EQ(run(reported, {"exec"}).status, 7);
    const Finished aborted = run(reported, {"abort"});
    EXPECT_EQ(aborted.status, 128 + 6);
    EXPECT_THAT(aborted.err, HasSubstr("abort was ended by signal 6 (Aborted)"));
    EXPECT_FALSE(report()["complete"]);
    const Finished forked = run(reported, {"fork"});
    EXPECT_EQ(forked.out, "child 5\n");
    EXPECT_EQ(forked.status, 0);
}

TEST_F(Captured, WhereItsOutputGoesIsNamed) {
    const Finished full = run({"run", "--monitor", "none", "--report", "/dev/full"}, {"sweep"});
    EXPECT_EQ(full.status, 1);
    EXPECT_THAT(full.err, HasSubstr("cachetally: --report: /dev/full cannot be written: No space left on device"));
    const std::string text = run({"run", "--monitor", "none"}, {"exit", "3"}).err;
    ASSERT_THAT(text, HasSubstr(" references, "));
    EXPECT_GT(text.find("exit 3 exited with status 3"), text.find("\nsource line "));
    ::setenv("TMPDIR", "/dev/null", 1);
    EXPECT_THAT(run({"sweep"}, {"sweep"}).err, HasSubstr("TMPDIR may name another place"));
    ::unsetenv("TMPDIR");
}

TEST_F(Captured, AForkedChildIsNotCaptured) {
    EXPECT_EQ(counts({}, {"fork"})["structures"]["matrix"]["levels"]["L1D"]["accesses"], 10);
}

TEST_F(Captured, OfAKilledProgramAllIsKeptAndMarked) {
    const Finished killed =
        run(Words{"run", "--monitor", "none", "--report", "report", "--json", "-o", "r.h5"}, {"kill"});
    EXPECT_EQ(killed.status, 128 + 9) << killed.err;
    EXPECT_FALSE(report()["complete"]);
    EXPECT_EQ(report()["structures"]["matrix"]["levels"]["L1D"]["accesses"], 2 * 64 * 64);
    EXPECT_EQ(run({"record", "-o", "t.ct.h5"}, {"kill"}).status, 128 + 9);
    const Finished replayed = cachetally(directory.path(), {"replay", "t.ct.h5", "--monitor", "none", "--json"});
    EXPECT_EQ(replayed.status, 0) << replayed.err;
    EXPECT_FALSE(replayed.json()["complete"]);
}

/// Random layout of addresses would differ between two runs of the program: one live, one recorded, in one run.
TEST_F(Captured, ReplayEqualsReplayAndHasTheNames) {
    const Finished recorded = run({"record", "-o", "t.ct.h5"}, {"sweep"});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_EQ(recorded.out, "129024\n");
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "--json", "-o", "r.h5", "--force"};
    const Finished first = cachetally(directory.path(), replay), second = cachetally(directory.path(), replay);
    EXPECT_EQ(first.out, second.out);
    EXPECT_EQ(first.json()["structures"]["matrix"]["levels"]["L1D"]["accesses"], 2 * 64 * 64);
    const Json regions = cachetally(directory.path(), {"trace", "info", "t.ct.h5", "--json"}).json()["regions"];
    EXPECT_EQ(named(regions, "matrix")["bytes"], 64 * 64 * sizeof(double));
    EXPECT_EQ(named(regions, "cachetally-amd64-linux:"), Json()) << "variables of the capture tool";
}

// A shell forks before each of these.
TEST_F(Captured, OneProcessOfSeveral) {
    const std::string script = known + " sweep; " + known + " partly; " + known + " exit 3";
    const auto shell = [&](const Words& options) {
        return cachetally(directory.path(), reported + options + Words{"--", "/bin/sh", "-c", script});
    };
    const Finished first = shell({"--program", "known"});
    EXPECT_EQ(first.status, 3) << first.err;
    EXPECT_TRUE(report()["complete"]);
    EXPECT_EQ(named(report()["attribution"]["structures"], "matrix")["accesses"], 2 * 64 * 64);
    const Finished children = shell({"--children"});  // which are no concern of the shell's own process
    EXPECT_EQ(children.status, 3) << children.err;
    EXPECT_TRUE(report()["complete"]);
    EXPECT_TRUE(named(report()["attribution"]["structures"], "matrix").is_null());
    const Finished none = run(reported + Words{"--program", "unknown"}, {"sweep"});
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("--program: no process executed 'unknown'"));
}

// As of wrapper scripts, whose own references are few.
TEST_F(Captured, ProcessesThatAreNotRecordedAreNamed) {
    const auto shell = [&](const Words& options, const std::string& script) {
        return cachetally(directory.path(), reported + options + Words{"--", "/bin/sh", "-c", script});
    };
    const std::string executed = "execution of '" + known + "' is not recorded";
    const Finished replaced = shell({}, "exec " + known + " sweep");
    EXPECT_EQ(replaced.status, 0) << replaced.err;
    EXPECT_THAT(replaced.err, HasSubstr(executed));
    EXPECT_THAT(replaced.err, Not(HasSubstr("forks")));
    for (const Words& options : {Words{"--children"}, Words{"--program", "known"}})
        EXPECT_THAT(shell(options, "exec " + known + " sweep").err, Not(HasSubstr("not recorded")));
    EXPECT_THAT(shell({"--program", "known"}, "exec " + known + " exec").err, Not(HasSubstr(executed)));
    EXPECT_THAT(shell({}, known + " sweep; true").err, HasSubstr("the process that it forks is not recorded"));
    EXPECT_THAT(shell({}, known + " sweep; " + known + " sweep; true").err,
                HasSubstr("the 2 processes that it forks are not recorded"));
}

// Both programs lie at the same addresses.
TEST_F(Captured, CodeIsOfTheProgramThatRanIt) {
    const auto of_known = [&] {
        std::uint64_t accesses = 0;
        const Json functions = report()["attribution"]["functions"];
        for (const Json& function : functions)
            if (function["module"] == "known") accesses += function["accesses"].get<std::uint64_t>();
        return accesses;
    };
    EXPECT_EQ(run(reported, {"sweep"}).status, 0);
    const std::uint64_t alone = of_known();
    const std::string script = "exec " + known + " sweep";
    EXPECT_EQ(cachetally(directory.path(), reported + Words{"--children", "--", "/bin/sh", "-c", script}).status, 0);
    EXPECT_GT(alone, 2U * 64 * 64);
    EXPECT_EQ(of_known(), alone);
}

TEST_F(Captured, CommandsThatReadTwiceRecordFirst) {
    const Finished recorded = run({"record", "-o", "t.ct.h5"}, {"list"});
    for (const Words& command : {Words{"sweep", "--counters", "16,64", "--granularity", "1-2"}, Words{"trackers"},
                                 Words{"intrusion", "-m", "generic3-timed"}}) {
        const Finished finished = run(command + Words{"--json", "--report", "report"}, {"list"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        EXPECT_EQ(finished.out, recorded.out);
        EXPECT_FALSE(report().empty());
    }
    EXPECT_EQ(run({"sweep", "--report", "report"}, {"exit", "4"}).status, 4);
    EXPECT_THAT(run({"sweep", "lu"}, {"list"}).err, HasSubstr("cannot be run at once"));
}

/// After two seconds.
Circumstances interrupted_by(int signal) {
    Circumstances interrupted;
    const auto begin = std::chrono::steady_clock::now();
    interrupted.interrupt_when = [begin] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(2); };
    interrupted.interrupt_by = signal;
    return interrupted;
}

TEST_F(Captured, AnInterruptedRecordingKeepsItsBeginning) {
    for (const int signal : {SIGINT, SIGHUP}) {  // also where the terminal is closed
        const Finished finished = run({"record", "--force", "-o", "t.ct.h5"}, {"endless"}, interrupted_by(signal));
        EXPECT_EQ(finished.status, 1) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr("interrupted"));
        EXPECT_TRUE(std::filesystem::remove(directory / "t.ct.h5"));
    }
}

// The reader, ahead of what is wanted, waits for the program then.
TEST_F(Captured, AProgramOfWhichEnoughIsReadIsEndedWhereItWaits) {
    const Finished finished = cachetally(
        directory.path(), reported + Words{"--max-references", "100000", "--", "/bin/sh", "-c", "exec sleep 100000"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(report()["references"], 100000);
}

TEST_F(Captured, AProgramThatEndsBeforeItIsInterruptedKeepsItsStatus) {
    const Finished finished = cachetally(directory.path(), reported + Words{"--", "/bin/sh", "-c", "sleep 4; exit 6"},
                                         interrupted_by(SIGINT));
    EXPECT_EQ(finished.status, 6) << finished.err;
    EXPECT_TRUE(report()["complete"]);
}

TEST_F(Captured, AProgramThatWaitsIsEndedSomeSecondsAfterAnInterrupt) {
    const std::filesystem::path ready = directory / "ready";
    ASSERT_EQ(::mkfifo((directory / "nobody").c_str(), 0600), 0);
    Circumstances interrupted;
    interrupted.interrupt_when = [&] { return std::filesystem::exists(ready); };
    const Finished finished = cachetally(
        directory.path(), reported + Words{"--", "/bin/sh", "-c", "sleep 2 && touch ready && read line < nobody"},
        interrupted);
    EXPECT_EQ(finished.status, 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("interrupted while the program made no references"));
    EXPECT_FALSE(report()["complete"]);
    EXPECT_GT(report()["references"], 10000);
}

// What is left out ends no phase, live or recorded.
TEST_F(Captured, PhasesBeginWithTheFunctionThatRecordingBeginsAt) {
    EXPECT_EQ(run(reported + Words{"--from", "letter"}, {"later"}).status, 0);
    const Json live = report()["phases"];
    ASSERT_EQ(live.size(), 2U);
    EXPECT_EQ(live[0]["name"], "from here");
    EXPECT_EQ(live[1]["name"], "behind");
    EXPECT_EQ(run({"record", "-o", "t.ct.h5"}, {"later"}).status, 0);
    const Finished replayed =
        cachetally(directory.path(), {"replay", "t.ct.h5", "--monitor", "none", "--json", "--from", "letter"});
    EXPECT_EQ(replayed.json()["phases"].size(), 2U);
    EXPECT_EQ(replayed.json()["phases"][0]["name"], "from here");
}

TEST_F(Captured, WhatCannotBeRunIsRefused) {
    const auto refused = [&](const Words& words) { return cachetally(directory.path(), words); };
    const Finished nothing = refused({"run", "--", "no-such-program"});
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.err, HasSubstr("there is no program 'no-such-program'"));
    const auto set_user = directory / "set-user-ID";
    std::filesystem::copy_file("/bin/true", set_user);
    std::filesystem::permissions(set_user, std::filesystem::perms::set_uid, std::filesystem::perm_options::add);
    const Finished privileged = refused({"run", "--", set_user});
    EXPECT_EQ(privileged.status, 2);
    EXPECT_THAT(privileged.err, HasSubstr("set-user-ID"));
    EXPECT_THAT(privileged.err, HasSubstr("valgrind runs no such program"));
    EXPECT_THAT(refused({"run", "lu", "--", known}).err, HasSubstr("cannot be run at once"));
    EXPECT_THAT(refused({"record", "-o", "t.ct.h5"}).err, HasSubstr("the program is missing"));
    EXPECT_THAT(refused({"record", "--", known}).err, HasSubstr("--output is required"));
    for (const Words& option :
         {Words{"--report", "r.txt"}, Words{"--with", "lackey"}, Words{"--program", "cc1"}, Words{"--element", "A=8"},
          Words{"--children"}, Words{"--barriers"}, Words{"--data-only"}}) {
        Words words{"run", "lu", "n=16"};
        words.insert(words.end(), option.begin(), option.end());
        const Finished of_kernel = refused(words);
        EXPECT_EQ(of_kernel.status, 2);
        EXPECT_THAT(of_kernel.err, HasSubstr(option.front() + " is for programs"));
    }
    std::ofstream(directory / "text") << "no program\n";
    EXPECT_NE(refused({"run", "--", "./text"}).status, 0);
}

}  // namespace
}  // namespace cachetally::testing
