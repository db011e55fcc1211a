// cachetally trackers: equal bits and traffic, exact trackers, wrong use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
            EXPECT_LE(phase["right"], phase["told"]);
            EXPECT_LE(phase["right"], phase["wanted"]);
        }
    }
    EXPECT_EQ(names, (TrackerWords{"counter_array", "space_saving", "count_min", "sampling", "hotness"}));
    const Finished text = call(lu);
    for (const std::string& name : names) EXPECT_THAT(text.out, HasSubstr("\n" + name + " "));
    EXPECT_THAT(text.out, HasSubstr("top 8: recall %"));
    EXPECT_THAT(text.out, HasSubstr("kind=count_min,"));
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
    EXPECT_EQ(rows[3]["phases"][0]["told"], 1);
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
