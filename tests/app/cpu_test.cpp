// SPDX-License-Identifier: BSD-3-Clause
// cachetally cpu: what it finds is for the processor to say; that it is told whole, in time and without remains, is for
// the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// Temporary files lie in a directory that must be empty at the end.
class CpuCommand : public ::testing::Test {
protected:
    CpuCommand() {
        if (const char* before = std::getenv("TMPDIR")) before_ = before;
        ::setenv("TMPDIR", temporary.path().c_str(), 1);
    }
    ~CpuCommand() override {
        before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
        EXPECT_EQ(listing(temporary.path()), "");
    }
    Finished call(const Words& words, const Circumstances& circumstances = {}) const {
        return cachetally(directory.path(), Words{"cpu"} + words, circumstances);
    }
    void script(const std::string& text) const {
        write_contents(directory / "compiler", "#!/bin/sh\n" + text + "\n");
        ::chmod((directory / "compiler").c_str(), 0700);
    }
    TemporaryDirectory directory, temporary;

private:
    std::string before_;
};

TEST_F(CpuCommand, TellsAllOfEachFinding) {
    const Finished finished = call({"--json", "--types", "double,int32x8", "--budget", "20"});
    if (lacks_clock(finished)) GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto told = finished.json();
    EXPECT_EQ(told["complete"], true);
    EXPECT_THAT(told["compiled"].get<std::string>(), StartsWith("cc -std=gnu11 -O1 "));
    EXPECT_EQ(told["tests"].size(), 6U);
    EXPECT_EQ(told["results"].size(), 1U + 2 * 8 + 2 + 2 + 1 + 2);
    const std::set<std::string> units{"MHz", "cycles", "registers", "processors", "boolean", "name"};
    for (const auto& one : told["results"]) {
        EXPECT_EQ(one["value"].is_null(), one.contains("reason")) << one.dump();
        if (one["value"].is_null()) continue;
        EXPECT_TRUE(units.contains(one["unit"].get<std::string>())) << one.dump();
        EXPECT_NE(one["method"], "") << one.dump();
        if (!one["value"].is_number()) continue;
        EXPECT_LE(one["low"].get<double>(), one["value"].get<double>()) << one.dump();
        EXPECT_GE(one["high"].get<double>(), one["value"].get<double>()) << one.dump();
    }
}

TEST_F(CpuCommand, PrintsATable) {
    const Finished finished = call({"frequency", "smp"});
    if (lacks_clock(finished)) GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, StartsWith("this processor, by code of 'cc -std=gnu11"));
    EXPECT_THAT(finished.out, ::testing::ContainsRegex("\nfrequency +frequency "));
    EXPECT_THAT(finished.out, ::testing::ContainsRegex("\nsmp +processors "));
}

TEST_F(CpuCommand, RefusesWhatIsWrong) {
    const auto message = [&](const Words& words) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2) << finished.err;
        EXPECT_EQ(finished.out, "");
        return finished.err;
    };
    EXPECT_THAT(message({"register"}), HasSubstr("no test of processors 'register'; did you mean 'registers'?"));
    EXPECT_THAT(message({"--types", "quad"}), HasSubstr("there is no type 'quad'"));
    EXPECT_THAT(message({"--types", ""}), HasSubstr("--types"));
    EXPECT_THAT(message({"smp", "--types", "double"}), HasSubstr("none of which is run"));
    EXPECT_THAT(message({"--budget", "0"}), HasSubstr("--budget: '0' is not possible; write a number above 0"));
    EXPECT_THAT(message({"--budget", "1e300"}),
                HasSubstr("--budget 1e+300: so long is nothing measured; write at most"));
    EXPECT_THAT(message({"--cc", ""}), HasSubstr("--cc"));
}

TEST_F(CpuCommand, RefusesCompilersThatAreNone) {
    const auto message = [&](const std::string& compiler) {
        const Finished finished = call({"frequency", "--cc", compiler});
        EXPECT_EQ(finished.status, 2) << finished.err;
        EXPECT_EQ(finished.out, "");
        return finished.err;
    };
    EXPECT_THAT(message("no-such-cc"), HasSubstr("--cc no-such-cc: 'no-such-cc' cannot be run: No such file"));
    EXPECT_THAT(message("true"), HasSubstr("--cc true: what 'true' made cannot be loaded"));
    script("echo 'compiler: error: no licence' >&2; exit 3");
    EXPECT_THAT(message("./compiler"), HasSubstr("failed with status 3: compiler: error: no licence"));
}

TEST_F(CpuCommand, ACompilerThatHangsEndsWithTheBudget) {
    script(": > \"${TMPDIR:-/tmp}/left.s\"; exec sleep 600");
    const auto begin = std::chrono::steady_clock::now();
    const Finished finished = call({"--cc", "./compiler", "--budget", "1"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--budget 1: the seconds were over before './compiler' had made"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

/// The first program is compiled at once, the others never: all that needs them is refused.
TEST_F(CpuCommand, OneThatHangsLaterDoesSoToo) {
    script("if [ -e began ]; then exec sleep 600; fi; : > began; exec cc \"$@\"");
    const Finished finished = call({"--cc", "./compiler", "--budget", "4", "--json"});
    if (lacks_clock(finished)) GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto report = finished.json();
    for (const auto& one : report["results"]) {
        EXPECT_TRUE(one["value"].is_null()) << one.dump();
        EXPECT_NE(one["reason"], "");
    }
}

TEST_F(CpuCommand, AnInterruptLeavesWhatIsComplete) {
    script("if [ -e began ]; then : > later; exec sleep 600; fi; : > began; exec cc \"$@\"");
    Circumstances circumstances;
    circumstances.interrupt_when = [&] { return std::filesystem::exists(directory / "later"); };
    const Finished finished = call({"registers", "--cc", "./compiler", "--budget", "300", "--json"}, circumstances);
    if (lacks_clock(finished)) GTEST_SKIP() << finished.err;
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("interrupted before all tests were complete"));
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_EQ(finished.json().contains("incomplete"), true);
}

TEST_F(CpuCommand, HelpNamesTestsAndTypes) {
    const std::string help = call({"--help"}).out;
    for (const char* name : {"frequency", "instructions", "fma", "registers", "smp", "smt", "doublex4", "Example"})
        EXPECT_THAT(help, HasSubstr(name));
}

}  // namespace
}  // namespace cachetally::testing
