// SPDX-License-Identifier: BSD-3-Clause
// What a run could not tell: reports say why, and what would help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/results.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(Results, WhyThereIsNothingByDataStructureIsTold) {
    const std::string why =
        "L1, L2, DTLB by data structure: not known; -o FILE.h5 without --no-exact, or a monitor on each";
    EXPECT_THAT(call(radix + Words{"--monitor", "link=core-L1"}).out, HasSubstr(why));
    Words words = radix;
    for (const std::string link : {"core-L1", "L1-L2", "L2-memory"})
        words = words + Words{"--monitor", "kinds=all,link=" + link};
    EXPECT_THAT(call(words).out, HasSubstr(why));
    EXPECT_THAT(call(radix).out, ::testing::Not(HasSubstr(why)));
    EXPECT_THAT(call(radix + Words{"--monitor", "none", "-o", "r.h5"}).out, ::testing::Not(HasSubstr(why)));
}

TEST_F(Results, WhatNoOptionTellsByDataStructureIsNotPromised) {
    const Words coherent = {"run", "radix", "keys=1000", "radix=64", "-m", "coherent8"};
    const auto honest = [&](const Words& words, bool others) {
        const std::string text = call(words).out;
        EXPECT_THAT(text, HasSubstr("\nL3 by data structure: not known; no option helps: links do not"));
        EXPECT_EQ(text.find("by data structure: not known; -o FILE.h5") != std::string::npos, others) << text;
    };
    honest(coherent + Words{"--causes", "--per-core", "-o", "r.h5"}, false);
    honest({"show", "r.h5"}, false);
    honest(coherent + Words{"--monitor", "link=core-L1D"}, true);
}

// Pages of this machine are mapped: addresses of data structures are not those that the cache gets.
TEST_F(Results, ARangeInWhichNothingIsSeenSaysWhatItsAddressesAre) {
    const auto said = [&](const std::string& link) {
        return call({"run", "radix", "keys=1000", "-m", "generic3", "--monitor",
                     "link=" + link + ",range=0x10000000-0x10002000"})
            .out;
    };
    EXPECT_THAT(said("core-L1D"), HasSubstr("saw no event: core-L1D\nrange= is of physical addresses"));
    EXPECT_THAT(said("core-DTLB"), ::testing::Not(HasSubstr("range=")));
}

}  // namespace
}  // namespace cachetally::testing
