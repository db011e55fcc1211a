// SPDX-License-Identifier: BSD-3-Clause
// compare: beside the JSON of both runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const Json& row_named(const Json& list, const std::string& name) {
    static const Json nothing;
    for (const Json& row : list)
        if (row["name"] == name) return row;
    return nothing;
}

double misses_of(const Json& level) {
    return level["load_misses"].get<double>() + level["store_misses"].get<double>() +
           level["fetch_misses"].get<double>();
}

TEST(Compare, HasTheCountsOfBothRuns) {
    const TemporaryDirectory directory;
    const std::vector<std::string> run = {"run", "lu", "n=64", "-m", "schulz2002", "--json", "-o"};
    const Json before = cachetally(directory.path(), run + std::vector<std::string>{"a.h5"}).json();
    const Json after = cachetally(directory.path(), run + std::vector<std::string>{"b.h5", "layout=contiguous"}).json();
    const Json found = cachetally(directory.path(), {"compare", "a.h5", "b.h5", "--json"}).json();
    EXPECT_EQ(found["cycles"], Json({before["cycles"].get<double>(), after["cycles"].get<double>()}));
    for (const char* const level : {"L1", "L2"}) {
        const Json expected = {misses_of(before["levels"][level]), misses_of(after["levels"][level])};
        EXPECT_EQ(row_named(found["levels"], level)["misses"], expected) << level;
        EXPECT_NE(expected[0], 0);
    }
    const auto of_a = [](const Json& json) { return json["structures"]["A"]["levels"]["L1"]["misses"].get<double>(); };
    EXPECT_EQ(row_named(found["structures"], "A")["misses"], Json({of_a(before), of_a(after)}));
    EXPECT_NE(of_a(before), of_a(after));
    const Json other = cachetally(directory.path(), {"compare", "a.h5", "b.h5", "--json", "--level", "L2"}).json();
    EXPECT_EQ(row_named(other["structures"], "A")["misses"][0], before["structures"]["A"]["levels"]["L2"]["misses"]);
    EXPECT_THAT(cachetally(directory.path(), {"compare", "a.h5", "b.h5"}).out, HasSubstr("data structure  L1 misses"));
    const std::string same = cachetally(directory.path(), {"compare", "a.h5", "a.h5"}).out;
    EXPECT_THAT(same, HasSubstr("data structure: L1 misses are the same\n"));
    EXPECT_THAT(same, ::testing::Not(HasSubstr("stack0")));
}

TEST(Compare, RefusesWhatCannotBeCompared) {
    const TemporaryDirectory directory;
    cachetally(directory.path(), {"run", "stream", "n=64", "-o", "a.h5"});
    cachetally(directory.path(), {"sweep", "stream", "n=64", "-o", "s.h5"});
    const Finished sweep = cachetally(directory.path(), {"compare", "a.h5", "s.h5"});
    EXPECT_EQ(sweep.status, 2);
    EXPECT_THAT(sweep.err, HasSubstr("s.h5 is a result of sweep"));
    EXPECT_THAT(cachetally(directory.path(), {"compare", "a.h5", "no.h5"}).err, HasSubstr("no.h5"));
    EXPECT_THAT(cachetally(directory.path(), {"compare", "a.h5", "a.h5", "--level", "L9"}).err,
                HasSubstr("has no level 'L9'"));
}

}  // namespace
}  // namespace cachetally::testing
