// SPDX-License-Identifier: BSD-3-Clause
// What cachetally sweep says of many cells, and of what it leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class SweepTold : public ::testing::Test {
protected:
    TemporaryDirectory directory_;
};

// Of 72 admitted cells those on the front, what remains of it first; of few all.
TEST_F(SweepTold, OfManyTheFrontIsToldAndWhatRemainsFirst) {
    const Words sweep{"sweep",      "lu",       "n=32",         "--counters",      "4-12", "--granularity", "1-4",
                      "--eviction", "fifo,lru", "--objectives", "error,bytes,bits"};
    const json rows = cachetally(directory_.path(), sweep + Words{"-o", "many.h5", "--json"}).json()["rows"];
    std::size_t remain = 0, front = 0;
    for (const json& row : rows) {
        remain += row["remains"].get<bool>();
        front += row["front"].get<bool>();
    }
    ASSERT_TRUE(remain > 0 && remain < front && front < 72 && rows.size() == 72) << remain << ' ' << front;
    const auto table_of = [&](const Words& words) {
        const std::string text =
            cachetally(directory_.path(), Words{"show", "many.h5", "--tolerance", "5%", "--width", "200"} + words).out;
        std::string marks;  // of rows that have any
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
            if (end > 2 && (text.substr(end - 3, 3) == "  *" || text.substr(end - 3, 3) == "  ."))
                marks += text[end - 1];
        const std::string fewer = front > 24 ? " more are not among what remains" : " more are not on the front";
        return std::pair(marks, text.find(fewer) != std::string::npos);
    };
    EXPECT_EQ(table_of({}),
              std::pair(std::string(remain, '*') + std::string(front > 24 ? 0 : front - remain, '.'), true));
    EXPECT_FALSE(table_of({"--where", "counters<7"}).second);
}

TEST_F(SweepTold, OneWarningIsForAllThatIsLeftOutForOneReason) {
    const std::string said =
        cachetally(directory_.path(),
                   {"sweep", "lu", "n=16", "block=8", "--counters", "8,17", "--granularity", "1", "--link",
                    "core-L1D,L1D-L2", "--vary", "width=4,32", "--vary", "kinds=load,store", "--vary", "ways=0,4"})
            .err;
    EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
    EXPECT_THAT(said, HasSubstr("or 0 for fully associative) (3 other combinations likewise)\n"));
    EXPECT_THAT(said, HasSubstr("a monitor of store would see nothing on 'L1D-L2'"));
}

}  // namespace
}  // namespace cachetally::testing
