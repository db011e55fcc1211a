// SPDX-License-Identifier: BSD-3-Clause
// Campaigns: read from a file made by hand; medians worked out by hand; what is not there is told.
#include "viewer/campaign_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "storage/columns.hpp"
#include "tests/storage/temporary.hpp"
#include "viewer/show.hpp"

namespace cachetally {
namespace {

using cachetally::testing::message_of;
using cachetally::testing::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const double nan_value = std::nan("");

class Campaigns : public ::testing::Test {
protected:
    /// Nine points: of lu n = 8 and 16, each with L2 of 256 KiB and 1 MiB; of radix one, without n; the last one
    /// failed.
    void SetUp() override {
        ResultFile file(path_);
        Group& root = file.root();
        root.set_attribute("format", "cachetally result");
        root.set_attribute("format_version", 1);
        root.set_attribute("kind", "campaign");
        Group group = root.create_group("campaign");
        const auto numbers = [&](const char* name, std::vector<double> values) {
            Dataset column = group.write(name, values);
            column.set_attribute("units", "1");
            column.set_attribute("description", "of it");
        };
        group.write("point", std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
        group.write("failed", std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 1});
        group.write_texts("workload",
                          std::vector<std::string>{"lu", "lu", "lu", "lu", "lu", "lu", "lu", "radix", "lu"});
        numbers("seed", {1, 2, 3, 4, 1, 2, 3, 1, 1});
        numbers("L2.size", {1048576, 1048576, 1048576, 1048576, 262144, 262144, 262144, 262144, 1048576});
        numbers("n", {8, 8, 8, 8, 16, 16, 8, nan_value, 16});
        numbers("accesses_L1", {100, 100, 100, 100, 10, 10, 0, 50, nan_value});
        numbers("misses_L1", {10, 40, 20, 90, 0, 0, 0, 25, nan_value});
        group.set_attribute("parameters", std::vector<std::string>{"workload", "seed", "L2.size", "n"});
        group.set_attribute("measures", std::vector<std::string>{"accesses_L1", "misses_L1"});
        group.set_attribute("name", "by hand");
        group.set_attribute("count", std::uint64_t{0});
        group.set_attribute("warmup", std::uint64_t{1000});
        Group failures = root.create_group("failures");
        failures.write("item", std::vector<std::uint64_t>{8});
        failures.write_texts("error", std::vector<std::string>{"no memory"});
        file.finish();
    }

    CampaignView view() const { return read_campaign_view(InputFile(path_)); }

    std::string shown_with(const PivotChoice& choice, bool json = false) const {
        ShowOptions options;
        options.pivot = choice;
        options.json = json;
        options.width = 120;
        return show(InputFile(path_), options);
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "result.h5";
};

TEST_F(Campaigns, HaveTheirParametersInOrder) {
    const CampaignView campaign = view();
    EXPECT_THAT(campaign.parameter("workload", "").values, ElementsAre("lu", "radix"));
    EXPECT_THAT(campaign.parameter("L2.size", "").numbers, ElementsAre(262144, 1048576));
    EXPECT_THAT(campaign.parameter("n", "").values, ElementsAre("8", "16"));
    EXPECT_THAT(campaign.parameter("n", "").of, ElementsAre(0, 0, 0, 0, 1, 1, 0, CampaignParameter::none, 1));
    EXPECT_TRUE(std::isnan(campaign.measure("miss_rate_L1", "").of[6])) << "no accesses";
    EXPECT_EQ(campaign.measure("miss_rate_L1", "").of[1], 0.4);
    EXPECT_TRUE(campaign.measure("miss_rate_L1", "").derived);
}

TEST_F(Campaigns, CellsHaveTheMedianOfTheirPoints) {
    const CampaignView campaign = view();
    const Pivot pivot = pivot_of(campaign, {"n", "L2.size", "misses_L1", ""});
    EXPECT_THAT(pivot.row_values, ElementsAre(0, 1));
    ASSERT_EQ(pivot.cells.size(), 4U);
    const PivotCell& four = pivot.cells[1];  // n = 8, 1 MiB: 10, 40, 20, 90
    EXPECT_EQ(four.points, 4U);
    EXPECT_EQ(four.median, 30);
    EXPECT_EQ(four.least, 10);
    EXPECT_EQ(four.most, 90);
    EXPECT_EQ(pivot.cells[2].median, 0);  // n = 16, 256 KiB: 0, 0
    EXPECT_EQ(pivot.cells[2].points, 2U);
    EXPECT_EQ(pivot.cells[3].points, 0U) << "failed";
    EXPECT_EQ(pivot.cells[3].matching, 1U);
    EXPECT_EQ(pivot.left_out, 1U) << "radix has no n";
    const Pivot three = pivot_of(campaign, {"n", "L2.size", "misses_L1", "seed=1,seed=2,seed=3, L2.size = 1 MiB"});
    EXPECT_THAT(three.column_values, ElementsAre(1));
    EXPECT_EQ(three.cells[0].median, 20) << "of 10, 40, 20";
    EXPECT_EQ(three.left_out, 0U);
}

TEST_F(Campaigns, ByThemselvesShowNumbersAndTheFirstMissRate) {
    const CampaignView campaign = view();
    const Pivot pivot = pivot_of(campaign, {});
    EXPECT_EQ(pivot.rows->name, "L2.size") << "of equally many values the first; seeds only repeat";
    EXPECT_EQ(pivot.columns->name, "n");
    EXPECT_EQ(pivot.value->name, "miss_rate_L1");
    EXPECT_EQ(pivot_of(campaign, {"", "L2.size", "", ""}).rows->name, "n");
}

TEST_F(Campaigns, AreShownWithZerosAndWhatIsNotKnown) {
    const std::string text = shown_with({"n", "L2.size", "misses_L1", ""});
    EXPECT_THAT(text, HasSubstr("campaign by hand: 9 points, 1 failed after 1,000 references of warm-up"));
    EXPECT_THAT(text, HasSubstr("point 8: no memory"));
    EXPECT_THAT(text, HasSubstr("L2.size=256 KiB"));
    EXPECT_THAT(text, HasSubstr("30 (4, 10..90)"));
    EXPECT_THAT(text, HasSubstr("\n16            0 (2)               -\n"));
    EXPECT_THAT(text, HasSubstr("-: not known\nLeft out: 1 point without n or L2.size.\n"));
    EXPECT_THAT(text, Not(HasSubstr("derived")));
    EXPECT_THAT(shown_with({"n", "L2.size", "", "seed=4"}), HasSubstr("\n8          90.00\n"));
    EXPECT_THAT(shown_with({}), HasSubstr("miss_rate_L1 is derived: misses_L1 / accesses_L1"));
}

TEST_F(Campaigns, AreWholeInJson) {
    const auto json = nlohmann::json::parse(shown_with({"n", "L2.size", "misses_L1", ""}, true));
    EXPECT_EQ(json["rows"].size(), 9U);
    EXPECT_EQ(json["rows"][1]["miss_rate_L1"], 0.4);
    EXPECT_EQ(json["rows"][4]["misses_L1"], 0);
    EXPECT_TRUE(json["rows"][7]["n"].is_null());
    EXPECT_TRUE(json["rows"][8]["misses_L1"].is_null());
    EXPECT_EQ(json["parameters"][2]["values"], nlohmann::json::parse("[262144, 1048576]"));
    EXPECT_EQ(
        json["pivot"]["cells"][1],
        nlohmann::json::parse(R"({"row": 8, "column": 1048576, "points": 4, "median": 30, "least": 10, "most": 90})"));
    EXPECT_TRUE(json["pivot"]["cells"][3]["median"].is_null());
    EXPECT_FALSE(nlohmann::json::parse(shown_with({}, true)).contains("pivot"));
}

TEST_F(Campaigns, TellWhatThereIs) {
    const CampaignView campaign = view();
    const auto said = [&](const PivotChoice& choice) { return message_of([&] { pivot_of(campaign, choice); }); };
    EXPECT_EQ(said({"ways", "", "", ""}),
              "'--rows ways': the campaign has no such parameter; there are: workload, seed, L2.size, n");
    EXPECT_EQ(said({"", "", "error", ""}),
              "'--value error': the campaign has no such measure; there are: accesses_L1, misses_L1, miss_rate_L1");
    EXPECT_EQ(said({"", "", "", "n=9"}), "'--where n=9': no point has it; the values of n are: 8, 16");
    EXPECT_THAT(said({"", "", "", "m=9"}), HasSubstr("'--where m': the campaign has no such parameter; there are:"));
    EXPECT_THAT(said({"", "", "", "n"}), HasSubstr("'--where n': write NAME=VALUE"));
    EXPECT_THAT(said({"n", "n", "", ""}), HasSubstr("'--columns n': is that of the rows, too"));
}

TEST_F(Campaigns, ThatAreDamagedAreRefused) {
    const std::string damaged = directory_ / "damaged.h5";
    ResultFile file(damaged);
    Group& root = file.root();
    root.set_attribute("format", "cachetally result");
    Group group = root.create_group("campaign");
    group.set_attribute("name", "x");
    group.set_attribute("count", std::uint64_t{0});
    group.set_attribute("warmup", std::uint64_t{0});
    group.write("point", std::vector<std::uint64_t>{0, 1});
    group.write("failed", std::vector<std::uint8_t>{0});
    file.finish();
    EXPECT_THAT(message_of([&] { read_campaign_view(InputFile(damaged)); }), HasSubstr("has 1 rows instead of 2"));
}

}  // namespace
}  // namespace cachetally
