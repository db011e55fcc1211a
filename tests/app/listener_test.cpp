// SPDX-License-Identifier: BSD-3-Clause
// run --listener and replay --listener: tables, JSON, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class NamedListeners : public ::testing::Test {
protected:
    Finished call(const Words& arguments) { return cachetally(directory.path(), arguments); }
    TemporaryDirectory directory;
};

TEST_F(NamedListeners, AreInTablesAndJson) {
    const Words run = {"run", "stream", "n=1024", "--monitor", "none", "--listener", "reuse,kinds=load+store"};
    EXPECT_THAT(call(run).out, HasSubstr("reuse,kinds=load+store on core-L1D (distance: other lines"));
    const auto json = nlohmann::json::parse(call(run + Words{"--listener", "reuse,link=L1D-L2", "--json"}).out);
    ASSERT_EQ(json["listeners"].size(), 2U);
    const auto& level = json["levels"]["L1D"];
    std::uint64_t events = 0;
    for (const auto& row : json["listeners"][0]["rows"]) events += row["events"].get<std::uint64_t>();
    EXPECT_EQ(events, level["loads"].get<std::uint64_t>() + level["stores"].get<std::uint64_t>());
    EXPECT_EQ(json["listeners"][0]["rows"][0]["events"], json["listeners"][1]["rows"][0]["events"]);  // lines used
    EXPECT_EQ(json["listeners"][1]["link"], "L1D-L2");
    EXPECT_EQ(json["listeners"][0]["spec"], "reuse,kinds=load+store");
    EXPECT_EQ(json["listeners"][1]["units"]["distance"], "lines");

    const Finished printed = call(run + Words{"--listener", "reuse,link=L1D-L2", "-o", "r.h5"});
    ASSERT_EQ(printed.status, 0) << printed.err;
    EXPECT_EQ(nlohmann::json::parse(call({"show", "r.h5", "--json"}).out)["listeners"], json["listeners"]);
    const std::size_t table = printed.out.find("reuse,link=L1D-L2 on L1D-L2 (");
    ASSERT_NE(table, std::string::npos);
    EXPECT_THAT(call({"show", "r.h5"}).out, HasSubstr(printed.out.substr(table)));
}

TEST_F(NamedListeners, ThatThereAreNotAreRefused) {
    const Words run = {"run", "stream", "n=64", "--listener"};
    const Finished unknown = call(run + Words{"reuze"}), nowhere = call(run + Words{"reuse,link=L9"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(
        unknown.err,
        HasSubstr("cachetally: listener 'reuze': there is no listener 'reuze'; did you mean 'reuse'? known are: "));
    EXPECT_EQ(nowhere.status, 2);
    EXPECT_THAT(nowhere.err, HasSubstr("listener 'reuse': machine 'generic3' has no link 'L9'"));
}

}  // namespace
}  // namespace cachetally::testing
