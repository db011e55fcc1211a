// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: tables, files, slowdowns, refusals, Ctrl-C.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

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
    json plain = good_json(Words{"sweep", "t.din"} + rest)["rows"];
    for (json& row : plain) {
        EXPECT_EQ(row["workload"], "t.din");
        row["workload"] = "t.h5";
    }
    EXPECT_EQ(packed["rows"], plain);
    EXPECT_EQ(call(Words{"sweep", "t.din", "n=8"} + rest).status, 2);
}

TEST_F(SweepCommand, WhatItIsToldTwiceItDoesOnce) {
    const Words lu{"sweep", "lu", "n=16", "block=8"};
    EXPECT_TRUE(good_json(lu + Words{"--counters", "4,8,4", "--granularity", "1-2,2,aligned:1"}) ==
                good_json(lu + Words{"--counters", "4,8", "--granularity", "1,2"}));
    const Words intrusion{"intrusion", "lu", "n=16", "block=8", "--counters", "4"};
    EXPECT_TRUE(good_json(intrusion + Words{"--link", "core-L1D,L1D-L2,core-L1D"}) ==
                good_json(intrusion + Words{"--link", "core-L1D,L1D-L2"}));
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

// Several cores meet otherwise with a monitor: the time is that of such a run, all else of the pass.
TEST_F(SweepCommand, TellsTheSlowdownOfPrograms) {
    for (const Words& program :
         {Words{"radix", "keys=400", "processors=4", "-m", "coherent8"}, {"lu", "n=32", "--max-references", "20000"}}) {
        const Words cells = program + Words{"--counters", "4,16", "--granularity", "1,dynamic:2"};
        const json told =
            good_json(Words{"sweep"} + cells + Words{"--slowdown", "--monitor", "write_cost=3,capacity=64"});
        const json plain = good_json(Words{"sweep"} + cells);
        const json intrusion =
            good_json(Words{"intrusion"} + cells + Words{"--ring", "64", "--monitor", "write_cost=3"});
        EXPECT_EQ(told["references"], intrusion["references"]);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_GT(told["rows"][i]["slowdown"], 0.0);
            EXPECT_EQ(told["rows"][i]["slowdown"], intrusion["rows"][i]["slowdown"]);
            for (const char* key : {"error", "bytes_per_event", "swapouts", "comparators"})
                EXPECT_EQ(told["rows"][i][key], plain["rows"][i][key]) << key;
        }
    }
}

TEST_F(SweepCommand, SlowdownsOfATraceThatEndsEarly) {
    write_contents(directory / "bad.din", "0 1000\n1 2000\n0 3000\nbroken\n");
    EXPECT_EQ(call({"trace", "convert", "bad.din", "part.ct.h5"}).status, 1);
    const Words rest{"--counters", "1,2,3", "--granularity", "1", "--slowdown", "--monitor", "write_cost=500"};
    const Finished damaged = call(Words{"sweep", "bad.din", "--json"} + rest);
    EXPECT_EQ(damaged.status, 1);
    EXPECT_THAT(damaged.err, HasSubstr("bad.din:4:1"));
    const Finished partial = call(Words{"sweep", "part.ct.h5", "--json", "-o", "s.h5"} + rest);
    EXPECT_EQ(partial.status, 0);
    const auto first = partial.err.find("warning");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(partial.err.find("warning", first + 1), std::string::npos) << "once, not in each run";
    EXPECT_TRUE(call({"show", "s.h5", "--json"}).json() == partial.json());
    const Finished others = call(Words{"sweep", "--workload", "bad.din", "--workload", "lu,n=16", "--json"} + rest);
    EXPECT_THAT(std::string(others.json()["incomplete"]), ::testing::EndsWith("; not begun: lu n=16"));
    for (const Finished& finished : {damaged, partial}) {
        const json told = finished.json();
        EXPECT_EQ(told["complete"], false);
        EXPECT_THAT(std::string(told["incomplete"]), HasSubstr("bad.din:4:1"));
        // Three lines, of which the last is read out at the end, as are those before where there is room.
        EXPECT_GT(told["rows"][0]["slowdown"], told["rows"][1]["slowdown"]);
        EXPECT_GT(told["rows"][1]["slowdown"], 0.0);
        EXPECT_EQ(told["rows"][2]["slowdown"], 0.0);
    }
}

TEST_F(SweepCommand, WorstOfAllWorkloadsIsOfThoseThatEnded) {
    write_contents(directory / "bad.din", "0 1000\n1 2000\nbroken\n");
    const Words good{"sweep", "--workload", "lu,n=16", "--workload", "radix,keys=500", "--counters", "2,4"};
    EXPECT_EQ(call(good + Words{"--json"}).json()["worst"].size(), 12u) << "by granularity";
    EXPECT_EQ(call(good + Words{"-o", "w.h5"}).status, 0);
    const json whole = call({"show", "w.h5", "--json"}).json();
    EXPECT_EQ(call({"show", "w.h5", "--json", "--workload", "worst"}).json()["rows"], whole["worst"]);
    EXPECT_FALSE(call({"show", "w.h5", "--json", "--workload", "radix"}).json().contains("worst"));
    EXPECT_FALSE(call({"show", "w.h5", "--json", "--workload", "lu", "--workload", "radix"}).json().contains("worst"));
    const Words damaged = good + Words{"--workload", "bad.din"};
    EXPECT_FALSE(call(damaged + Words{"--json", "-o", "s.h5"}).json().contains("worst"));
    EXPECT_FALSE(call({"show", "s.h5", "--json"}).json().contains("worst"));
    EXPECT_THAT(call({"show", "s.h5", "--plain"}).out,
                HasSubstr("The worst of all workloads is not known: not all were run to their end."));
}

// A program that takes no time cannot take half as long again.
TEST_F(SweepCommand, ThereIsNoSlowdownOfNoTime) {
    write_contents(directory / "zero.yaml",
                   "name: zero\ncaches:\n  - {name: L1, next: memory, size: 1 KiB, ways: 2, latency: 0}\n"
                   "memory: {latency: 0}\n");
    const Words lu{"lu", "n=16", "block=8", "-m", "zero.yaml", "--counters", "4", "--monitor", "write_cost=5"};
    const Finished refused = call(Words{"sweep"} + lu + Words{"--slowdown", "-o", "s.h5"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("takes no time on the machine 'zero'"));
    EXPECT_EQ(listing(directory.path()), "zero.yaml");
    const json row = good_json(Words{"intrusion"} + lu)["rows"][0];
    EXPECT_GT(row["extra_cycles"], 0);
    EXPECT_TRUE(row["slowdown"].is_null());
}

TEST_F(SweepCommand, SlowdownsNeedASourceThatCanBeReadAgain) {
    for (const auto& [words, says] :
         {std::pair<Words, const char*>{{"sweep", "-", "--slowdown"}, "can be read only once"},
          {{"sweep", "lu", "--preset", "paper-2002", "--slowdown"}, "--preset"}}) {
        const Finished refused = call(words);
        EXPECT_EQ(refused.status, 2) << says;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
}

TEST_F(SweepCommand, RunsOfTheirOwnNeedASourceThatCanBeReadAgain) {
    Circumstances circumstances;
    circumstances.input = "0 1000\n1 2000\n";
    const Words words{"sweep", "-", "--format", "din", "--counters", "4", "--vary", "path=memory,link"};
    EXPECT_THAT(call(words, circumstances).err, HasSubstr("standard input can be read only once"));
    EXPECT_EQ(call({"sweep", "-", "--format", "din", "--vary", "ways=0,4"}, circumstances).status, 0);
}

using Clock = std::chrono::steady_clock;

/// Of 60 cells.
Words long_sweep(const std::string& source) {
    std::string counters = "1";
    for (int count = 2; count <= 60; ++count) counters += fmt::format(",{}", count);
    return {"sweep", source, "--granularity", "1", "--counters", counters, "--json"};
}

/// Whether so much time has passed since it was asked first.
std::function<bool()> after(Clock::duration time) {
    return [time, start = std::optional<Clock::time_point>()]() mutable {
        if (!start) start = Clock::now();
        return Clock::now() - *start > time;
    };
}

TEST_F(SweepCommand, InterruptedKeepsTheSlowdownsThatAreComplete) {
#ifdef CACHETALLY_SANITIZED
    const Words sweep = long_sweep("gups") + Words{"updates=20000"};
#else
    const Words sweep = long_sweep("gups") + Words{"updates=100000"};
#endif
    const auto before = Clock::now();
    ASSERT_EQ(call(sweep).status, 0);
    const auto pass = Clock::now() - before;  // about as long as each of the 61 runs that --slowdown adds
    Circumstances circumstances;
    circumstances.interrupt_when = after(8 * pass);
    const Finished finished = call(sweep + Words{"--slowdown", "-o", "s.h5"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("of 60 configurations"));
    EXPECT_THAT(finished.err, HasSubstr("slowdown of the other cells"));
    const json told = finished.json();
    EXPECT_EQ(told["complete"], false);
    ASSERT_EQ(told["rows"].size(), 60U);
    EXPECT_FALSE(told["rows"].front().at("slowdown").is_null());
    EXPECT_TRUE(told["rows"].back().at("slowdown").is_null());
    EXPECT_TRUE(call({"show", "s.h5", "--json"}).json() == told);
}

// Before the first slowdown, and within the pass that counts: they were asked for.
TEST_F(SweepCommand, InterruptedBeforeTheFirstSlowdownTellsThatTheyWereAskedFor) {
    Circumstances circumstances;
    circumstances.interrupt_when = after(std::chrono::milliseconds(300));
    const Finished finished =
        call({"sweep", "gups", "updates=50000000", "--slowdown", "--json", "-o", "s.h5"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    const json told = finished.json();
    for (const auto& row : told["rows"]) EXPECT_TRUE(row.at("slowdown").is_null());
    EXPECT_TRUE(call({"show", "s.h5", "--json"}).json() == told);
    const Finished figure = call({"figure", "front", "s.h5", "--metric", "slowdown", "-o", "f.svg"});
    EXPECT_THAT(figure.err, HasSubstr("it is marked partial: interrupted before"));
}

// A record takes two seconds: without any of them the program is done in minutes.
TEST_F(SweepCommand, OnlyTheConfigurationThatPassesTheLongestTimeIsUnknown) {
    write_contents(directory / "slow.yaml",
                   "name: slow\nclock: 1 MHz\n"
                   "caches:\n  - {name: L1, next: memory, size: 32 KiB, ways: 8}\n"
                   "memory: {latency: 10}\n");
    const Words common{"gups",       "table=4096",  "updates=2500000", "-m", "slow.yaml",
                       "--counters", "1,4096,8192", "--granularity",   "4"};
    const Words ring{"--monitor", "write_cost=1000000,drain_cost=1000000"};
    const Finished intrusion = call(Words{"intrusion"} + common + ring + Words{"--ring", "1", "--json", "-o", "i.h5"});
    EXPECT_EQ(intrusion.status, 0);
    EXPECT_THAT(intrusion.err, HasSubstr("the cost of 1 of 3 configurations is unknown (?): with it the simulated time "
                                         "passes 53 days"));
    const Finished sweep = call(
        Words{"sweep"} + common +
        Words{"--slowdown", "--json", "-o", "s.h5", "--monitor", "write_cost=1000000,drain_cost=1000000,capacity=1"});
    EXPECT_EQ(sweep.status, 0);
    EXPECT_THAT(sweep.err, HasSubstr("the cost of 1 of 3 configurations is unknown (?)"));
    const json told = intrusion.json(), cells = sweep.json();
    EXPECT_EQ(told["complete"], true);
    EXPECT_THAT(std::string(told["unknown"]), HasSubstr("passes 53 days"));
    EXPECT_EQ(told["unknown"], cells["slowdown_unknown"]);
    ASSERT_EQ(told["rows"].size(), 3U);
    EXPECT_TRUE(told["rows"][0].at("extra_cycles").is_null());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(told["rows"][i].at("slowdown").is_null(), i == 0);
        EXPECT_EQ(cells["rows"][i].at("slowdown"), told["rows"][i]["slowdown"]);
    }
    EXPECT_TRUE(call({"show", "i.h5", "--json"}).json() == told);
    EXPECT_TRUE(call({"show", "s.h5", "--json"}).json() == cells);
}

// What is told of a trace that is marked partial stays told.
TEST_F(SweepCommand, ATraceThatIsGoneKeepsTheSlowdownsThatAreComplete) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += din_line(i);
    write_contents(directory / "bad.din", text + "broken\n");
    const Words sweep = long_sweep("part.ct.h5") + Words{"--slowdown"};
    Finished finished;
    // half of the time that it took once may be too early or too late on a busy machine
    for (int attempt = 0; attempt < 8; ++attempt) {
        EXPECT_EQ(call({"trace", "convert", "bad.din", "part.ct.h5", "-f"}).status, 1);
        const auto before = Clock::now();
        ASSERT_EQ(call(sweep).status, 0);
        const auto all = Clock::now() - before;
        Circumstances circumstances;
        circumstances.interrupt_when = [this, is_time = after(all / 2)]() mutable {
            if (is_time()) std::filesystem::remove(directory / "part.ct.h5");
            return false;
        };
        finished = call(sweep, circumstances);
        const auto rows = finished.json()["rows"];
        if (!rows.front().value("slowdown", json()).is_null() && rows.back().value("slowdown", json()).is_null()) break;
    }
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("slowdown of the other cells"));
    const json told = finished.json();
    EXPECT_THAT(std::string(told["incomplete"]), HasSubstr("marked partial"));
    EXPECT_THAT(std::string(told["incomplete"]), HasSubstr("of 60 configurations"));
    EXPECT_FALSE(told["rows"].front().at("slowdown").is_null());
    EXPECT_TRUE(told["rows"].back().at("slowdown").is_null());
}

TEST_F(SweepCommand, TooManyAndDoubleSettingsAreRefused) {
    const auto refusal = [&](const Words& words) {
        const Finished finished = call(Words{"sweep", "lu", "n=16"} + words);
        EXPECT_EQ(finished.status, 2);
        return finished.err;
    };
    EXPECT_THAT(
        refusal({"--counters", "16-79", "--granularity", "1-64", "--vary", "width=1-40", "--vary", "seed=1-25"}),
        HasSubstr("make 4,096,000 cells with 194,560,000 counters together; at most 1,000,000 and 268,435,456"));
    EXPECT_THAT(refusal({"--counters", "4M", "--vary", "width=1-64", "--eviction", "fifo,lru"}),
                HasSubstr("fit into one"));
    EXPECT_THAT(refusal({"--counters", "5M"}), HasSubstr("'--counters 5M': 5242880 counters; write at most 4194304"));
    EXPECT_THAT(refusal({"--monitor", "kinds=load", "--vary", "kinds=store,load"}),
                HasSubstr("--vary kinds=store: --monitor has 'kinds=load', too; leave one out"));
}

TEST(ListsOfCounters, TakeRangesAndUnits) {
    const TemporaryDirectory directory;
    const auto cells = [&](const char* counters, const char* references) {
        return cachetally(directory.path(), {"sweep", "chase", "-m", "schulz2002", "--granularity", "1", "--counters",
                                             counters, "--max-references", references, "--json"})
            .out;
    };
    const std::string listed = cells("2,16,17,18,1024", "2048");
    EXPECT_THAT(listed, ::testing::HasSubstr("\"counters\": 17"));
    EXPECT_EQ(cells("2,16-18,1K", "2K"), listed);
}

}  // namespace
}  // namespace cachetally::testing
