// SPDX-License-Identifier: BSD-3-Clause
// Cells of some workloads, links and settings of a sweep's file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

TEST(SweepPlaces, AreThoseOfAllThatAreChosen) {
    const TemporaryDirectory directory;
    const auto call = [&](const Words& words) { return cachetally(directory.path(), words); };
    const Words sweep{"sweep",      "--workload",    "lu,n=16,block=8", "--workload",      "lu,n=32,block=8",
                      "--workload", "radix,keys=1K", "--link",          "core-L1D,L1D-L2", "--vary",
                      "ways=1,2",   "--counters",    "16,32",           "--granularity",   "1",
                      "-o",         "s.h5"};
    ASSERT_EQ(call(sweep).status, 0);
    const auto shown = [&](const Words& options) { return call(Words{"show", "s.h5", "--json"} + options).json(); };
    const json all = shown({});
    ASSERT_EQ(all["rows"].size(), 24U);
    // Those that are shown are compared, so that others may remain.
    const auto told = [](json row) { return row.erase("front"), row.erase("remains"), row; };
    const auto chosen = [&](const Words& options, const auto& is) {
        std::vector<json> rows, found;
        for (const json& row : all["rows"])
            if (is(row)) rows.push_back(told(row));
        const json now = shown(options);
        for (const json& row : now["rows"]) found.push_back(told(row));
        EXPECT_FALSE(rows.empty());
        EXPECT_EQ(found, rows);
    };
    chosen({"--workload", "lu"}, [](const json& row) { return row["workload"] != "radix keys=1K"; });
    chosen({"--workload", "lu,n=32,block=8", "--workload", "radix", "--link", "L1D-L2"},
           [](const json& row) { return row["link"] == "L1D-L2" && row["workload"] != "lu n=16 block=8"; });
    chosen({"--settings", "ways=2"}, [](const json& row) { return row["settings"] == "ways=2"; });
    EXPECT_THAT(call({"show", "s.h5", "--link", "L1D-L2"}).out,
                StartsWith("lu n=16 block=8, lu n=32 block=8, radix keys=1K on generic3: 12 of 24 cells\n"));
    for (const auto& [option, value, there] :
         {std::tuple{"--workload", "lu,n=31", "there are: lu n=16 block=8; lu n=32 block=8; radix keys=1K"},
          std::tuple{"--link", "L9", "there are: core-L1D; L1D-L2"},
          std::tuple{"--settings", "ways=4", "there are: ways=1; ways=2"}}) {
        const Finished refused = call({"show", "s.h5", option, value});
        EXPECT_EQ(refused.status, 2);
        EXPECT_THAT(refused.err, HasSubstr(fmt::format("{}: there is no '{}'; {}", option, value, there)));
    }
}

}  // namespace
}  // namespace cachetally::testing
