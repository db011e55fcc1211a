// SPDX-License-Identifier: BSD-3-Clause
// Long commands: their progress on a terminal; Ctrl-C in the midst: what is complete is kept and marked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// True some time after it was first asked.
std::function<bool()> after(std::chrono::milliseconds time) {
    return [time, start = std::optional<std::chrono::steady_clock::time_point>()]() mutable {
        const auto now = std::chrono::steady_clock::now();
        if (!start) start = now;
        return now - *start > time;
    };
}

Circumstances interrupted() {
    Circumstances circumstances;
    circumstances.interrupt_when = after(std::chrono::milliseconds(150));
    return circumstances;
}

Circumstances interrupted_while_reading() {
    Circumstances circumstances = interrupted();
    circumstances.input = "0 1000\n1 2000\n2 3000\n";
    circumstances.endless_input = true;
    return circumstances;
}

/// The pipe holds some references, and then stays silent.
Circumstances interrupted_while_waiting() {
    Circumstances circumstances = interrupted();
    circumstances.input = "0 1000\n1 2000\n2 3000\n";
    circumstances.input_stays_open = true;
    return circumstances;
}

void expect_partial_results(const Finished& finished) {
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.signal, 0);
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
    const auto told = finished.json();
    EXPECT_EQ(told["complete"], false);
    EXPECT_GT(told["references"], 0);
}

TEST(Interrupted, Run) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    expect_partial_results(
        cachetally(directory.path(), {"run", "gups", "updates=4G", "table=4K", "--json"}, interrupted()));
}

TEST(Progress, IsShownOnATerminalWithRateAndTimeLeft) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    Circumstances circumstances;
    circumstances.interrupt_when = after(std::chrono::milliseconds(900));
    circumstances.err_terminal = true;
    const Finished finished = cachetally(
        directory.path(), {"run", "gups", "updates=4G", "table=4K", "--max-references", "2000000000"}, circumstances);
    // "\r1.2 M references, 30.1 M/s, 0 %, 1 min 5 s left", written over and over, and taken away at the end.
    EXPECT_THAT(finished.err, ContainsRegex("\r[0-9.]+ M references, [0-9.]+ M/s, [0-9]+ %, [0-9hmins ]+ left"));
    EXPECT_THAT(finished.err, HasSubstr("\r\x1b[Kcachetally: interrupted"));
}

TEST(Progress, IsNotShownElsewhere) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"run", "gups", "updates=4G", "table=4K"}, interrupted());
    EXPECT_THAT(finished.err, Not(HasSubstr("M/s")));
}

TEST(Interrupted, RunWithAFile) {
    const TemporaryDirectory directory;
    const Finished finished =
        cachetally(directory.path(), {"run", "gups", "updates=4G", "table=4K", "--json", "-o", "r.h5"}, interrupted());
    expect_partial_results(finished);
    EXPECT_THAT(finished.err, HasSubstr("r.h5"));
    EXPECT_EQ(listing(directory.path()), "r.h5");
    const Finished shown = cachetally(directory.path(), {"show", "r.h5", "--json"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_EQ(shown.json()["complete"], false);
}

TEST(Interrupted, Sweep) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(
        directory.path(),
        {"sweep", "gups", "updates=4G", "table=4K", "--json", "--counters", "16", "--granularity", "1"}, interrupted());
    expect_partial_results(finished);
    EXPECT_EQ(finished.json()["rows"].size(), 1U);
}

// Each run is over before it would be asked whether to go on.
TEST(Interrupted, SweepOfManyShortRuns) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    const Finished runs = cachetally(directory.path(),
                                     {"sweep", "radix", "keys=16K", "-m", "generic3-timed", "--slowdown", "--counters",
                                      "4-60", "--granularity", "1-4", "-o", "runs.h5", "--json"},
                                     interrupted());
    EXPECT_EQ(runs.status, 1);
    EXPECT_THAT(runs.err, ContainsRegex("interrupted after [0-9]+ of 228 configurations"));
    EXPECT_EQ(runs.json()["complete"], false);
    EXPECT_TRUE(exists(directory.path() / "runs.h5"));
    Words sweep = {"sweep", "-o", "workloads.h5", "--json"};
    for (unsigned n = 50; n < 80; ++n) sweep = sweep + Words{"--workload", "matmul,n=" + std::to_string(n)};
    const Finished workloads = cachetally(directory.path(), sweep, interrupted());
    EXPECT_EQ(workloads.status, 1);
    EXPECT_THAT(workloads.err, HasSubstr("interrupted between workloads"));
    EXPECT_THAT(workloads.json()["incomplete"].dump(), HasSubstr("not begun: matmul n="));
    EXPECT_TRUE(exists(directory.path() / "workloads.h5"));
}

TEST(Interrupted, TrackersOfShortPasses) {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer holds signals back while all threads compute";
    const TemporaryDirectory directory;
    const Finished trackers = cachetally(directory.path(), {"trackers", "radix", "keys=64K"}, interrupted());
    EXPECT_EQ(trackers.status, 1);
    EXPECT_THAT(trackers.err, HasSubstr("interrupted: nothing is printed"));
}

TEST(Interrupted, Probe) {
    const TemporaryDirectory directory;
    Circumstances circumstances;
    // l1 is complete, also under sanitizers; levels is not by far.
    circumstances.interrupt_when = after(std::chrono::seconds(9));
    const Finished finished = cachetally(
        directory.path(),
        {"probe", "l1", "levels", "--as-published", "--stability", "1000", "--no-knock-out", "--json", "-o", "p.h5"},
        circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_EQ(cachetally(directory.path(), {"show", "p.h5", "--json"}).json()["complete"], false);
    EXPECT_THAT(finished.json()["incomplete"].get<std::string>(), HasSubstr("interrupted before all tests"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "p.h5"}).out, HasSubstr("PARTIAL: interrupted before all tests"));
}

TEST(Interrupted, Replay) {
    const TemporaryDirectory directory;
    expect_partial_results(cachetally(directory.path(), {"replay", "-", "--json"}, interrupted_while_reading()));
}

TEST(Interrupted, ReplayThatWaits) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"replay", "-", "--json"}, interrupted_while_waiting());
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_THAT(finished.json()["incomplete"].get<std::string>(), HasSubstr("interrupted"));
    EXPECT_EQ(finished.json()["references"], 3);
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
}

TEST(Interrupted, ReplayThatWaitsForTheFirstByte) {
    const TemporaryDirectory directory;
    Circumstances circumstances = interrupted_while_waiting();
    circumstances.input.clear();
    const Finished finished = cachetally(directory.path(), {"replay", "-"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
}

TEST(Interrupted, ReplayOfANamedPipeThatNobodyWrites) {
    const TemporaryDirectory directory;
    ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
    const Finished finished = cachetally(directory.path(), {"replay", "pipe"}, interrupted());
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("pipe: reading was interrupted"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "pipe"}).err, HasSubstr("is not a file"));
}

TEST(Interrupted, Convert) {
    const TemporaryDirectory directory;
    const Finished finished =
        cachetally(directory.path(), {"trace", "convert", "-", "o.h5", "--json"}, interrupted_while_reading());
    expect_partial_results(finished);
    EXPECT_EQ(listing(directory.path()), "o.h5");
    const auto info = cachetally(directory.path(), {"trace", "info", "o.h5", "--json"}).json();
    EXPECT_EQ(info["complete"], false);
    EXPECT_EQ(info["references"], finished.json()["references"]);
}

TEST(Interrupted, ConvertThatWaits) {
    const TemporaryDirectory directory;
    const Finished finished =
        cachetally(directory.path(), {"trace", "convert", "-", "o.h5", "--json"}, interrupted_while_waiting());
    expect_partial_results(finished);
    EXPECT_EQ(cachetally(directory.path(), {"trace", "info", "o.h5", "--json"}).json()["references"], 3);
}

TEST(Interrupted, Info) {
    const TemporaryDirectory directory;
    expect_partial_results(cachetally(directory.path(), {"trace", "info", "-", "--json"}, interrupted_while_reading()));
}

TEST(Interrupted, AKilledConversionLeavesNothingUnderTheNameAndNoObstacle) {
    const TemporaryDirectory directory;
    write_contents(directory / "o.h5.part", "\x89HDF\r\n\x1a\n: what a killed run left");
    write_contents(directory / "t.din", "0 10\n");
    const Finished finished = cachetally(directory.path(), {"trace", "convert", "t.din", "o.h5"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(listing(directory.path()), "o.h5 t.din");
}

}  // namespace
}  // namespace cachetally::testing
