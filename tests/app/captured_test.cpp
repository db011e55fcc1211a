// SPDX-License-Identifier: BSD-3-Clause
// run and record of programs: counts that are known, their output and end, and what is kept of a program that is
// killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

const std::string known = CACHETALLY_KNOWN;

class Captured : public ::testing::Test {
protected:
    void SetUp() override {
#ifndef CACHETALLY_CAPTURES
        GTEST_SKIP() << "the capture tool was not built: the package valgrind is not installed";
#endif
    }
    /// The known program; what it printed is `out`.
    Finished run(const Words& options, const Words& program, const Circumstances& circumstances = {}) {
        return cachetally(directory.path(), options + Words{"--", known} + program, circumstances);
    }
    Json report() const {
        std::ifstream file(directory / "report");
        return Json::parse(file);
    }
    /// Exact counts of the known program's data.
    Json counts(const Words& options, const Words& program) {
        const Finished finished =
            run(Words{"run", "--monitor", "none", "--report", "report", "--json", "-o", "r.h5", "--force"} + options,
                program);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return report();
    }
    TemporaryDirectory directory;
};

const Words reported = {"run", "--monitor", "none", "--report", "report", "--json"};

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

TEST_F(Captured, PhasesAreTheProgramsOwn) {
    const Json json = counts({"--data-only"}, {"sweep"});
    const Json& phases = json["phases"];
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_GE(phases[1]["references"], 64 * 64);
    EXPECT_LT(phases[1]["references"], 64 * 64 + 100);  // all else is in registers
}

TEST_F(Captured, OffAndOnLeaveReferencesOut) {
    EXPECT_EQ(counts({}, {"partly"})["structures"]["matrix"]["levels"]["L1D"]["accesses"], 100);
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
}

TEST_F(Captured, AnInterruptedRecordingKeepsItsBeginning) {
    Circumstances interrupted;
    const auto begin = std::chrono::steady_clock::now();
    interrupted.interrupt_when = [begin] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(2); };
    const Finished finished = run({"record", "-o", "t.ct.h5"}, {"endless"}, interrupted);
    EXPECT_EQ(finished.status, 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
    EXPECT_TRUE(std::filesystem::exists(directory / "t.ct.h5"));
}

TEST_F(Captured, WhatCannotBeRunIsRefused) {
    const auto refused = [&](const Words& words) { return cachetally(directory.path(), words); };
    const Finished nothing = refused({"run", "--", "no-such-program"});
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.err, HasSubstr("there is no program 'no-such-program'"));
    EXPECT_THAT(refused({"run", "lu", "--", known}).err, HasSubstr("cannot be run at once"));
    EXPECT_THAT(refused({"record", "-o", "t.ct.h5"}).err, HasSubstr("the program is missing"));
    EXPECT_THAT(refused({"record", "--", known}).err, HasSubstr("--output is required"));
    std::ofstream(directory / "text") << "no program\n";
    EXPECT_NE(refused({"run", "--", "./text"}).status, 0);
}

}  // namespace
}  // namespace cachetally::testing
