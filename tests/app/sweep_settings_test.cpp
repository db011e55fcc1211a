// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: which settings make cells, and which are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class SweepSettings : public ::testing::Test {
protected:
    Finished call(const Words& words) const { return cachetally(directory_.path(), words); }
    /// Of all cells, and what was said beside.
    template <class Value>
    std::pair<std::vector<Value>, std::string> column(const char* name, const Words& words) const {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 0) << finished.err;
        const json told = finished.json();
        std::vector<Value> found;
        for (const json& row : told["rows"]) found.push_back(row[name]);
        return {found, finished.err};
    }

private:
    TemporaryDirectory directory_;
};

TEST_F(SweepSettings, OfEqualSettingsTheFirstIsSwept) {
    const Words sweep{"sweep", "lu", "n=32", "--counters", "16", "--granularity", "1"};
    const Finished ways = call(sweep + Words{"--vary", "ways=0,4,full", "--json"});
    EXPECT_EQ(ways.json()["rows"].size(), 2U);
    EXPECT_THAT(ways.err, HasSubstr("on core-L1D, ways=full is left out: it is the same as ways=0"));
}

TEST_F(SweepSettings, SettingsThatAllowNoCellAreLeftOutWhereOthersRemain) {
    const Words sweep{"sweep", "lu", "n=32", "--granularity", "1", "--json", "--counters"};
    const auto settings = [&](const Words& words) { return column<std::string>("settings", sweep + words); };
    const auto [ways, why] = settings({"16", "--vary", "ways=0,3"});
    EXPECT_EQ(ways, std::vector<std::string>{"ways=0"});
    EXPECT_THAT(why, HasSubstr("with ways=3 all is left out: 16 counters cannot be divided into sets of 3"));
    const auto [drains, needs] = settings({"16", "--vary", "drain=full,watermark", "--vary", "watermark=16,64"});
    EXPECT_EQ(drains, (std::vector<std::string>{"drain=watermark,watermark=16", "drain=watermark,watermark=64"}));
    EXPECT_THAT(needs, HasSubstr("with drain=full,watermark=16 all is left out: 'watermark' means something with"));
    const Finished none = call(sweep + Words{"16", "--vary", "ways=3,5"});
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("16 counters cannot be divided into sets of 3"));
    EXPECT_EQ(call(sweep + Words{"16", "--vary", "ways=0,x"}).status, 2) << "no number";
}

TEST_F(SweepSettings, RangesOfSettingsBeginAtZero) {
    const Words sweep{"sweep", "lu", "n=32", "--granularity", "1", "--json", "--counters", "12", "--vary"};
    const Finished ranged = call(sweep + Words{"ways=0-4"});
    EXPECT_EQ(ranged.status, 0) << ranged.err;
    EXPECT_EQ(ranged.out, call(sweep + Words{"ways=0,1,2,3,4"}).out);
    EXPECT_EQ(ranged.json()["rows"].size(), 5U);
    EXPECT_EQ(call(sweep + Words{"base=18446744073709551615-18446744073709551615"}).status, 2) << "ends";
}

TEST_F(SweepSettings, AFilterIsComparedWithNone) {
    const Words sweep{"sweep", "lu", "n=32", "--granularity", "1", "--json", "--counters", "16"};
    const auto events = [&](const Words& words) { return column<std::uint64_t>("events", sweep + words).first; };
    const std::vector<std::uint64_t> all = events({});
    const std::vector<std::uint64_t> ranges = events({"--vary", "range=0x0-0x800,0x800-0xffffffffffffffff,everywhere"});
    ASSERT_EQ(ranges.size(), 3U);
    EXPECT_EQ(ranges[2], all.at(0));
    EXPECT_EQ(ranges[0] + ranges[1], ranges[2]);
    EXPECT_TRUE(ranges[0] > 0 && ranges[1] > 0) << ranges[0] << ' ' << ranges[1];
    EXPECT_EQ(events({"--vary", "cores=0,all"}), (std::vector<std::uint64_t>{all.at(0), all.at(0)}));
}

TEST_F(SweepSettings, WhatCannotBeComparedIsLeftOut) {
    const Words sweep{"sweep", "lu", "n=32", "--counters", "16", "--link", "core-L1D,core-DTLB"};
    const Finished mask = call(sweep + Words{"--granularity", "1,mask:7", "--json"});
    EXPECT_EQ(mask.json()["rows"].size(), 3U) << "mask:7 is finer than pages";
    EXPECT_THAT(mask.err,
                HasSubstr("on core-DTLB, granularity mask:7 is left out: a mask finer than the line of 4096"));
    const Finished alone = call(sweep + Words{"--granularity", "mask:4"});
    EXPECT_EQ(alone.status, 2);
    EXPECT_THAT(alone.err, HasSubstr("a mask finer than the line of 64 bytes cannot be compared"));
}

}  // namespace
}  // namespace cachetally::testing
