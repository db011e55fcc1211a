// SPDX-License-Identifier: BSD-3-Clause
// Options: defaults, values, and errors that help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/kernels/recording.hpp"

namespace cachetally::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string complaint(const std::string& name, const Options& options) {
    try {
        make_workload(name, options);
    } catch (const OptionError& error) {
        return error.what();
    }
    return "none";
}

TEST(Options, NameWhatIsWrongAndWhatIsRight) {
    EXPECT_THAT(complaint("lo", {}), AllOf(HasSubstr("'lo'"), HasSubstr("did you mean 'lu'"), HasSubstr("water")));
    EXPECT_THAT(complaint("lu", {"blok=4"}), AllOf(HasSubstr("lu: "), HasSubstr("'blok'"), HasSubstr("'block'")));
    EXPECT_THAT(complaint("lu", {"n"}), AllOf(HasSubstr("'n'"), HasSubstr("name=value")));
    EXPECT_THAT(complaint("lu", {"n=x"}), AllOf(HasSubstr("n=x"), HasSubstr("whole number"), HasSubstr("1 to 32768")));
    EXPECT_THAT(complaint("lu", {"n="}), HasSubstr("whole number"));
    EXPECT_THAT(complaint("lu", {"n=-3"}), HasSubstr("n=-3 is out of range; it must be from 1 to 32768"));
    EXPECT_THAT(complaint("lu", {"n=-5"}), HasSubstr("n=-5 is out of range; it must be from 1 to"));
    EXPECT_THAT(complaint("lu", {"n=0"}), AllOf(HasSubstr("n=0"), HasSubstr("out of range")));
    EXPECT_THAT(complaint("lu", {"n=99999999999999999999999"}), HasSubstr("n=9999"));
    EXPECT_THAT(complaint("lu", {"n=64", "n=32"}), HasSubstr("twice"));
    EXPECT_THAT(complaint("lu", {"layout=contigous"}), HasSubstr("did you mean 'contiguous'"));
    EXPECT_THAT(complaint("stream", {"processors=0"}), AllOf(HasSubstr("processors=0"), HasSubstr("1 to 1024")));
}

TEST(Options, AreCheckedAgainstEachOther) {
    EXPECT_THAT(complaint("lu", {"n=8"}), AllOf(HasSubstr("block=16"), HasSubstr("at most n")));
    EXPECT_THAT(complaint("fft", {"n=32K"}), AllOf(HasSubstr("n=32K"), HasSubstr("power of 4")));
    EXPECT_THAT(complaint("fft", {"n=16", "processors=5"}), HasSubstr("processors=5"));
    EXPECT_THAT(complaint("gups", {"table=1000"}), AllOf(HasSubstr("table=1000"), HasSubstr("power of two")));
    EXPECT_THAT(complaint("gups", {"updates=1", "processors=2"}), HasSubstr("processors=2"));
    EXPECT_THAT(complaint("radix", {"radix=100"}), HasSubstr("power of two"));
    EXPECT_THAT(complaint("radix", {"keys=3", "processors=4"}), HasSubstr("at most keys"));
    EXPECT_THAT(complaint("ocean", {"n=10", "levels=3"}), HasSubstr("levels=3"));
    EXPECT_THAT(complaint("ocean", {"n=4", "levels=1", "processors=4"}), HasSubstr("processors=4"));
    EXPECT_THAT(complaint("matmul", {"n=2", "processors=3"}), HasSubstr("at most n"));
    EXPECT_THAT(complaint("water", {"molecules=2", "processors=3"}), HasSubstr("at most molecules"));
    EXPECT_THAT(complaint("chase", {"size=32"}), AllOf(HasSubstr("size=32"), HasSubstr("stride")));
    EXPECT_THAT(complaint("chase", {"size=1024G", "stride=8"}), HasSubstr("larger stride"));
}

TEST(Options, AskForNoMoreMemoryThanThereIs) {
    Layout layout;
    layout.reserve_host(1 << 20);
    EXPECT_THROW(layout.reserve_host(std::uint64_t{1} << 55), OptionError);
}

TEST(Options, TakeUnits) {
    EXPECT_EQ(record("gups", {"table=2K", "updates=8"}).regions[0].bytes, 2048U * 8);
    EXPECT_EQ(record("gups", {"table=2048", "updates=8"}).regions[0].bytes, 2048U * 8);
}

}  // namespace
}  // namespace cachetally::test
