// SPDX-License-Identifier: BSD-3-Clause
// cachetally trackers: equal bits and traffic, exact trackers, wrong use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using TrackerWords = std::vector<std::string>;

class TrackerCommand : public ::testing::Test {
protected:
    Finished call(const TrackerWords& words, const Circumstances& circumstances = {}) const {
        TrackerWords all{"trackers"};
        all.insert(all.end(), words.begin(), words.end());
        return cachetally(directory.path(), all, circumstances);
    }
    TemporaryDirectory directory;
};

TEST_F(TrackerCommand, ComparesAllKindsAtEqualBitsAndTraffic) {
    const TrackerWords lu{"lu", "n=32", "block=8", "--monitor", "counters=16", "--top", "8"};
    TrackerWords as_json = lu;
    as_json.push_back("--json");
    const Finished finished = call(as_json);
    ASSERT_EQ(finished.status, 0) << finished.err;
    const nlohmann::json told = finished.json();
    ASSERT_EQ(told["rows"].size(), 5U);
    const nlohmann::json& array = told["rows"][0];
    EXPECT_EQ(array["tracker"], "counter_array");
    EXPECT_EQ(array["bits"], 16 * 75 + 4 + 111);
    EXPECT_EQ(array["error"], 0.0);
    EXPECT_EQ(array["recall"], 1.0);
    EXPECT_EQ(array["precision"], 1.0);
    std::vector<std::string> names;
    for (const nlohmann::json& row : told["rows"]) {
        names.push_back(row["tracker"]);
        EXPECT_LE(row["bits"], array["bits"]) << row;
        EXPECT_LE(row["bytes_per_event"].get<double>(), 1.1 * array["bytes_per_event"].get<double>()) << row;
        EXPECT_DOUBLE_EQ(row["bytes_per_event"].get<double>(),
                         row["bytes"].get<double>() / told["events"].get<double>());
        EXPECT_EQ(row["phases"].size(), array["phases"].size());
        for (const nlohmann::json& phase : row["phases"]) {
            EXPECT_LE(phase["right"], phase["reported"]);
            EXPECT_LE(phase["right"], phase["wanted"]);
        }
    }
    EXPECT_EQ(names, (TrackerWords{"counter_array", "space_saving", "count_min", "sampling", "hotness"}));
    const Finished text = call(lu);
    for (const std::string& name : names) EXPECT_THAT(text.out, HasSubstr("\n" + name + " "));
    EXPECT_THAT(text.out, HasSubstr("top 8: recall %"));
    EXPECT_THAT(text.out, HasSubstr("kind=count_min,"));
}

TEST_F(TrackerCommand, CountersAreThoseOfTheArray) {
    const TrackerWords lu{"lu", "n=16", "--json"};
    const auto with = [&](const TrackerWords& more) { return call(lu + more); };
    EXPECT_EQ(with({"--counters", "16"}).json(), with({"--monitor", "counters=16"}).json());
    EXPECT_EQ(with({"--counters", "16", "--monitor", "eviction=lru"}).json(),
              with({"--monitor", "counters=16,eviction=lru"}).json());
    EXPECT_THAT(with({"--counters", "16", "--monitor", "counters=8"}).err,
                HasSubstr("'counters' does not belong here; --counters says how many"));
    EXPECT_THAT(with({"--counters", "16-20"}).err,
                HasSubstr("--counters 16-20: trackers have the bits of one counter array; give one number, as in 16"));
}

TEST_F(TrackerCommand, IsShownAsItWasPrinted) {
    const TrackerWords two{"lu", "n=16", "block=8", "processors=2", "-m", "coherent8", "--tracker", "kind=sampling"};
    TrackerWords kept = two;
    kept.insert(kept.end(), {"-o", "t.h5", "--json"});
    const Finished printed = call(kept);
    ASSERT_EQ(printed.status, 0) << printed.err;
    const nlohmann::json told = printed.json();
    EXPECT_EQ(told["copies"], 8);
    EXPECT_EQ(told["rows"][0]["total_bits"], 8 * told["rows"][0]["bits"].get<int>());
    EXPECT_EQ(cachetally(directory.path(), {"show", "t.h5", "--json"}).json(), told);
    const std::string text = call(two).out;
    EXPECT_EQ(cachetally(directory.path(), {"show", "t.h5"}).out.substr(0, text.size()), text);
    for (const TrackerWords& words :
         {TrackerWords{"figure", "front", "t.h5", "-o", "t.svg"},
          {"sweep", "lu", "n=16", "block=8", "processors=2", "-m", "coherent8", "-o", "s.h5"},
          {"figure", "front", "s.h5", "t.h5", "--beside", "t.h5", "-o", "st.svg"},
          {"trackers", "lu", "n=16", "block=8", "processors=2", "-m", "coherent8", "--monitor", "kinds=store", "-o",
           "stores.h5"}}) {
        const Finished drawn = cachetally(directory.path(), words);
        EXPECT_EQ(drawn.status, 0) << drawn.err;
    }
    for (const auto& [words, says] :
         {std::pair<TrackerWords, const char*>{{"figure", "sweep", "s.h5", "s.h5", "-o", "x.svg"}, "are of one file"},
          {{"figure", "front", "s.h5", "--beside", "s.h5", "-o", "x.svg"}, "are drawn from that of trackers"},
          {{"figure", "front", "s.h5", "--beside", "stores.h5", "-o", "x.svg"}, " events, of which no sweep here has"},
          {{"figure", "front", "t.h5", "--metric", "energy", "-o", "x.svg"}, "trackers have no energy"},
          {{"figure", "sweep", "t.h5", "-o", "x.svg"}, "of it there are: front"},
          {{"show", "t.h5", "--objectives", "error"}, "is of trackers: "},
          {{"show", "t.h5", "--level", "L1D"}, "is of a comparison of trackers"}}) {
        const Finished refused = cachetally(directory.path(), words);
        EXPECT_NE(refused.status, 0) << says;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
}

/// A threshold with which the hotness unit tells more for the same traffic is looked for.
TEST_F(TrackerCommand, TheHotnessUnitHasTheThresholdThatTellsMost) {
    const nlohmann::json told = call({"lu", "n=64", "--top", "16", "--json"}).json();
    const nlohmann::json& unit = told["rows"][4];
    const double asked = told["asked_bytes_per_event"];
    EXPECT_EQ(told["rows"][0]["bytes_per_event"], asked);
    EXPECT_LE(unit["bytes_per_event"], asked);
    EXPECT_GE(unit["bytes_per_event"], 0.9 * asked);
    EXPECT_LT(unit["error"], 0.0345) << "threshold=4,epoch=3000";
    EXPECT_EQ(unit["recall"], 1.0);
    EXPECT_EQ(unit["traffic_is_off"], false);
}

TEST_F(TrackerCommand, TrafficThatIsOffIsMarked) {
    const TrackerWords words{"lu", "n=32", "block=8", "--traffic", "0.02"};
    const Finished text = call(words);
    EXPECT_THAT(text.out, HasSubstr("*: off the 0.02 bytes/event asked for by more than a tenth"));
    EXPECT_THAT(text.out, ::testing::ContainsRegex("counter_array +[0-9,]+ +[0-9]+ +\\*"));
    TrackerWords as_json = words;
    as_json.push_back("--json");
    const nlohmann::json told = call(as_json).json();
    EXPECT_EQ(told["asked_bytes_per_event"], 0.02);
    EXPECT_EQ(told["rows"][0]["traffic_is_off"], true);
    for (const nlohmann::json& row : told["rows"])
        EXPECT_EQ(row["traffic_is_off"], std::abs(row["bytes_per_event"].get<double>() - 0.02) > 0.002) << row;
    const Finished own = call({"lu", "n=32", "block=8", "--tracker", "kind=sampling", "--json"});
    EXPECT_TRUE(own.json()["asked_bytes_per_event"].is_null());
    EXPECT_EQ(own.json()["rows"][1]["traffic_is_off"], false);
}

TEST_F(TrackerCommand, WithoutEventsNothingIsCompared) {
    const Finished none = call({"lu", "n=16", "block=8", "--link", "L1I-L2"});
    EXPECT_THAT(none.out, HasSubstr("No event passed: there is nothing to compare."));
    EXPECT_THAT(none.out, ::testing::ContainsRegex("space_saving +[0-9,]+ +[0-9]+ +- +- +- +- +-\n"));
}

/// trackers_output.txt is what the program prints, and docs/results/trackers.md has errors and recalls of that; with
/// sanitizers the quickest table is tried alone.
class TrackersPage : public TrackerCommand {
protected:
    /// Every table under a command that begins like this; how many there are.
    int expect_tables(const std::string& arguments) const {
        const std::string prompt = "$ cachetally trackers ";
        int tables = 0;
        for (std::size_t at = output_.find(prompt + arguments); at != std::string::npos;
             at = output_.find(prompt + arguments, at + 1)) {
            const std::size_t end = output_.find('\n', at);
            expect_table(output_.substr(at + prompt.size(), end - at - prompt.size()),
                         output_.substr(end, output_.find("\n$", end) - end) + "\n");
            ++tables;
        }
        return tables;
    }

    bool says(const std::string& text) const { return page_.find(text) != std::string::npos; }

private:
    static std::string text_of(const std::string& name) {
        std::ostringstream text;
        text << std::ifstream(CACHETALLY_SOURCE_DIR "/" + name).rdbuf();
        return text.str();
    }

    void expect_table(const std::string& command, const std::string& told) const {
        std::istringstream words(command), lines(call({std::istream_iterator<std::string>(words), {}}).out);
        std::string row = "\n`" + command + "`";
        int rows = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line.starts_with("*: ") || line.starts_with("tracker ")) continue;
            EXPECT_THAT(told, HasSubstr("\n" + line + "\n"));
            std::istringstream parts(line);
            const std::vector<std::string> cells{std::istream_iterator<std::string>(parts), {}};
            if (cells.size() != 8) continue;
            row += " | " + cells[4] + ", " + cells[5];
            ++rows;
        }
        EXPECT_EQ(rows, 5);
        EXPECT_TRUE(says(row + "\n")) << row;
    }

    const std::string page_ = text_of("docs/results/trackers.md"), output_ = text_of("tests/app/trackers_output.txt");
};

TEST_F(TrackersPage, TheQuickestTable) { EXPECT_EQ(expect_tables("water --link"), 1); }

TEST_F(TrackersPage, Lu) { EXPECT_EQ(expect_tables("lu "), 5); }
TEST_F(TrackersPage, Radix) { EXPECT_EQ(expect_tables("radix"), 4); }
TEST_F(TrackersPage, Water) { EXPECT_EQ(expect_tables("water"), 5); }

TEST_F(TrackersPage, FiguresWithinTheText) {
    const auto lu = call({"lu", "n=128", "--traffic", "0.0335", "--top", "32", "--json"}).json()["rows"];
    const auto percent = [&](std::size_t row, const char* key) {
        return std::to_string(std::lround(100 * lu[row][key].get<double>()));
    };
    // counter array, Space-Saving, Count-Min, sampling, hotness unit
    EXPECT_TRUE(says("the hotness unit has an error of " + percent(4, "error") + " %, Space-Saving " +
                     percent(1, "error") + " %, sampling " + percent(3, "error") + " %, Count-Min " +
                     percent(2, "error") + " %"));
    EXPECT_TRUE(says("a recall of " + percent(4, "recall") + ", " + percent(1, "recall") + ", " + percent(3, "recall") +
                     " and " + percent(2, "recall") + " %"));
    const std::string unit = "kind=hotness,counters=95,epoch=74,threshold=1,list=37,down_sampling=2";
    EXPECT_TRUE(says(unit));
    const std::string told = call({"water", "--link", "L1D-L2", "--top", "32", "--tracker", unit}).out;
    EXPECT_THAT(told, ::testing::ContainsRegex("\nhotness +9,654 +[0-9]+ +4.00 +25.3[0-9] +80.2 "));
}

TEST_F(TrackerCommand, TrackersOfOnesOwn) {
    std::string trace;
    for (int line = 0; line < 50; ++line)
        for (int i = 0; i < 50 - line; ++i) trace += "0 " + std::to_string(100000 + line * 64) + "\n";
    Circumstances piped;
    piped.input = trace;
    const Finished finished =
        call({"-", "--format", "din", "--top", "5", "--json", "--tracker", "kind=sampling,period=1", "--tracker",
              "kind=hotness,counters=64,threshold=46,list=100", "--tracker", "kind=space_saving,counters=1"},
             piped);
    ASSERT_EQ(finished.status, 0) << finished.err;
    const nlohmann::json rows = finished.json()["rows"];
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[1]["error"], 0.0);
    EXPECT_EQ(rows[1]["bytes_per_event"], 16.0);
    EXPECT_EQ(rows[1]["recall"], 1.0);
    EXPECT_EQ(rows[2]["recall"], 1.0);  // 50 to 46 events: just those that are asked for
    EXPECT_EQ(rows[2]["bytes"], 5 * 8);
    EXPECT_EQ(rows[3]["reports"], 1);
    EXPECT_EQ(rows[3]["phases"][0]["reported"], 1);
}

TEST_F(TrackerCommand, LessTrafficAndBits) {
    const Finished finished =
        call({"lu", "n=32", "block=8", "--bits", "3000", "--traffic", "0.05", "--json", "--link", "L1D-L2"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const nlohmann::json told = finished.json();
    EXPECT_EQ(told["link"], "L1D-L2");
    for (std::size_t i = 1; i < told["rows"].size(); ++i) EXPECT_LE(told["rows"][i]["bits"], 3000);
}

TEST_F(TrackerCommand, WrongUseIsTold) {
    const auto refusal = [&](const TrackerWords& words) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2) << finished.err;
        EXPECT_EQ(finished.out, "");
        return finished.err;
    };
    EXPECT_THAT(refusal({"-"}), HasSubstr("read only once"));
    EXPECT_THAT(refusal({"lu", "--monitor", "granularity=dynamic:2"}), HasSubstr("fixed keys"));
    EXPECT_THAT(refusal({"lu", "--monitor", "functions=on"}), HasSubstr("'functions' does not belong here"));
    EXPECT_THAT(refusal({"lu", "--tracker", "kind=bloom"}), HasSubstr("there is no kind 'bloom'"));
    EXPECT_THAT(refusal({"lu", "--tracker", "kind=sampling", "--bits", "100"}), HasSubstr("--bits"));
    EXPECT_THAT(refusal({"lu", "n=32", "--bits", "100"}), HasSubstr("count_min takes 584 at least"));
    EXPECT_THAT(refusal({"lu", "--traffic", "0"}), HasSubstr("--traffic"));
    EXPECT_THAT(refusal({"lu", "--top", "0"}), HasSubstr("--top"));
    EXPECT_THAT(refusal({"lu", "--link", "nowhere"}), HasSubstr("nowhere"));
}

TEST_F(TrackerCommand, HelpHasExamples) {
    const Finished help = call({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("cachetally trackers lu"));
}

}  // namespace
}  // namespace cachetally::testing
