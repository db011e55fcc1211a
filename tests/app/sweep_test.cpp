// cachetally sweep: tables, files, slowdowns, refusals, Ctrl-C.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class SweepCommand : public ::testing::Test {
protected:
    Finished call(const Words& words, const Circumstances& circumstances = {}) const {
        return cachetally(directory.path(), words, circumstances);
    }
    json good_json(const Words& words) const {
        const Finished finished = call(words + Words{"--json"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.json();
    }
    TemporaryDirectory directory;
};

TEST_F(SweepCommand, IsShownAsItWasPrinted) {
    const Words sweep{"sweep",         "lu",         "n=32",    "block=8", "--counters", "4,16", "--granularity",
                      "1,2,dynamic:3", "--eviction", "fifo,lru"};
    const Finished printed = call(sweep + Words{"-o", "s.h5"});
    ASSERT_EQ(printed.status, 0) << printed.err;
    const std::string shown = call({"show", "s.h5"}).out;
    EXPECT_EQ(shown.substr(0, printed.out.size()), printed.out);
    EXPECT_THAT(shown.substr(printed.out.size()),
                HasSubstr("sweep lu n=32 block=8 --counters 4,16"));  // how it was made
    const json told = good_json(sweep);
    EXPECT_EQ(good_json({"show", "s.h5"}), told);
    ASSERT_EQ(told["rows"].size(), 12U);
    for (const char* key : {"counters", "granularity", "swapouts", "error", "bytes_per_event", "bits", "comparators",
                            "area", "energy", "front"})
        EXPECT_TRUE(told["rows"][0].contains(key)) << key;
    // 4 counters of 32 + 43 bits, a pointer of 2 and registers of 111
    EXPECT_EQ(told["rows"][0]["bits"], 413);
    EXPECT_EQ(told["rows"][1]["comparators"], 16);
    EXPECT_EQ(told["rows"][2]["granularity"], 2);
    const Finished refused = call({"show", "s.h5", "--level", "L1"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("is of a sweep"));
}

/// A load or store, the addresses in no order.
std::string din_line(int i) {
    char line[32];
    std::snprintf(line, sizeof line, "%d %x\n", i % 3 == 0 ? 1 : 0, (i * 7919 % 4096) * 8);
    return line;
}

TEST_F(SweepCommand, TakesTracesOfEveryFormat) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += din_line(i);
    write_contents(directory / "t.din", text);
    ASSERT_EQ(call({"trace", "convert", "t.din", "t.h5"}).status, 0);
    const Words rest{"--machine", "schulz2002", "--counters", "8,32", "--granularity", "1-3"};
    const json packed = good_json(Words{"sweep", "t.h5"} + rest);
    EXPECT_EQ(packed["references"], 3000);
    EXPECT_EQ(packed["rows"], good_json(Words{"sweep", "t.din"} + rest)["rows"]);
    EXPECT_EQ(call(Words{"sweep", "t.din", "n=8"} + rest).status, 2);
}

TEST_F(SweepCommand, WhatItIsToldTwiceItDoesOnce) {
    const Words lu{"sweep", "lu", "n=16", "block=8"};
    EXPECT_TRUE(good_json(lu + Words{"--counters", "4,8,4", "--granularity", "1-2,2,aligned:1"}) ==
                good_json(lu + Words{"--counters", "4,8", "--granularity", "1,2"}));
}

// A cell is the configuration of cachetally intrusion with the same monitor, and error and traffic are what they are
// without --slowdown.
TEST_F(SweepCommand, TellsTheSlowdownOfEachCell) {
    const Words cells{"lu", "n=32", "block=8", "-m", "generic3-timed", "--counters", "4,16", "--granularity", "1,4"};
    const Words timed = Words{"sweep"} + cells + Words{"--slowdown", "--monitor", "drain_cost=20,capacity=64"};
    const Finished printed = call(timed + Words{"-o", "s.h5"});
    ASSERT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("slower %"));
    EXPECT_THAT(printed.out, HasSubstr("as good in error, slowdown, bytes/event and bits"));
    const json told = good_json(timed), plain = good_json(Words{"sweep"} + cells);
    const json intrusion = good_json(Words{"intrusion"} + cells + Words{"--ring", "64", "--monitor", "drain_cost=20"});
    EXPECT_EQ(good_json({"show", "s.h5"}), told);
    ASSERT_EQ(told["rows"].size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_GT(told["rows"][i]["slowdown"], 0.0);
        EXPECT_EQ(told["rows"][i]["slowdown"], intrusion["rows"][i]["slowdown"]);
        EXPECT_EQ(told["rows"][i]["swapouts"], intrusion["rows"][i]["swapouts"]);
        for (const char* key : {"error", "bytes_per_event", "swapouts", "comparators"})
            EXPECT_EQ(told["rows"][i][key], plain["rows"][i][key]) << key;
        EXPECT_FALSE(plain["rows"][i].contains("slowdown"));
    }
    EXPECT_THAT(call(Words{"sweep"} + cells).out, Not(HasSubstr("slow")));
}

TEST_F(SweepCommand, SlowdownsNeedASourceThatCanBeReadAgain) {
    for (const auto& [words, says] :
         {std::pair<Words, const char*>{{"sweep", "-", "--slowdown"}, "can be read only once"},
          {{"sweep", "lu", "--slowdown", "--monitor", "overflow=drop"}, "loses nothing"},
          {{"sweep", "lu", "--monitor", "drain_cost=20"}, "--slowdown"},
          {{"sweep", "lu", "--preset", "paper-2002", "--slowdown"}, "--preset"}}) {
        const Finished refused = call(words);
        EXPECT_EQ(refused.status, 2) << says;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
}

TEST_F(SweepCommand, InterruptedKeepsTheSlowdownsThatAreComplete) {
    using Clock = std::chrono::steady_clock;
    std::string counters = "1";
    for (int count = 2; count <= 60; ++count) counters += fmt::format(",{}", count);
    const Words sweep{"sweep", "gups", "updates=100000", "--granularity", "1", "--counters", counters, "--json"};
    const auto before = Clock::now();
    ASSERT_EQ(call(sweep).status, 0);
    const auto pass = Clock::now() - before;  // about as long as each of the 61 runs that --slowdown adds
    Circumstances circumstances;
    circumstances.interrupt_when = [pass, start = std::optional<Clock::time_point>()]() mutable {
        if (!start) start = Clock::now();
        return Clock::now() - *start > 8 * pass;
    };
    const Finished finished = call(sweep + Words{"--slowdown", "-o", "s.h5"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("of 60 configurations"));
    EXPECT_THAT(finished.err, HasSubstr("slowdown of the other cells"));
    const json told = finished.json();
    EXPECT_EQ(told["complete"], false);
    ASSERT_EQ(told["rows"].size(), 60U);
    EXPECT_TRUE(told["rows"].front().contains("slowdown"));
    EXPECT_FALSE(told["rows"].back().contains("slowdown"));
    EXPECT_TRUE(call({"show", "s.h5", "--json"}).json() == told);
}

}  // namespace
}  // namespace cachetally::testing
