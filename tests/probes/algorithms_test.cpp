// SPDX-License-Identifier: BSD-3-Clause
// The parts of the tests that can be worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probes/tests.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;

TEST(StableSweep, SizesAreThoseOfThePaper) {
    EXPECT_THAT(sample_sizes(1024, 16384),
                ElementsAre(1024, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384));
}

TEST(StableSweep, WithoutKnockOutEverySizeIsRunUntilItIsStable) {
    const auto result = stable_sweep({1, 2, 3}, [](std::uint64_t size, unsigned) { return size < 3 ? 4.0 : 9.0; },
                                     {25, false, false, 400});
    EXPECT_THAT(result.trials, ElementsAre(26, 26, 26));
    EXPECT_THAT(result.cycles, ElementsAre(4, 4, 9));
    EXPECT_EQ(result.runs, 78);
    EXPECT_EQ(result.runs_saved, 0);
}

TEST(StableSweep, EqualNeighboursAreKnockedOut) {
    const auto result = stable_sweep({1, 2, 3, 4, 5}, [](std::uint64_t size, unsigned) { return size < 5 ? 4.0 : 9.0; },
                                     {25, true, true, 400});
    EXPECT_THAT(result.knocked_out, ElementsAre(0, 1, 1, 0, 0));
    EXPECT_THAT(result.trials, ElementsAre(26, 1, 1, 26, 26));
}

TEST(StableSweep, ANewMinimumRevivesNeighbours) {
    // All sizes look equal at first; the last one then turns out to be quicker.
    const auto time = [](std::uint64_t size, unsigned trial) { return size == 4 && trial >= 3 ? 3.0 : 4.0; };
    const auto revived = stable_sweep({1, 2, 3, 4}, time, {25, true, true, 400});
    EXPECT_EQ(revived.cycles.back(), 3);
    EXPECT_GT(revived.trials[2], 1U);
    const auto lost = stable_sweep({1, 2, 3, 4}, time, {25, true, false, 400});
    EXPECT_EQ(lost.trials[2], 1U);
}

class Judged : public ::testing::Test {
protected:
    Verdict verdict(const std::string& level, const std::string& parameter, double value, double low, double high) {
        TestReport report;
        report.answer(level, parameter, value, low, high, "", "");
        judge(report, facts);
        return report.findings.front().verdict;
    }

    std::vector<Fact> facts{{"L1", "capacity", {32768, ""}},
                            {"L2", "capacity", {65536, ""}, 98304},
                            {"L1", "latency", {4, ""}},
                            {"", "levels", {2, ""}}};
};

TEST_F(Judged, NumbersMustBeExactOrHeldByANarrowInterval) {
    EXPECT_EQ(verdict("L1", "capacity", 32768, 32768, 32768), Verdict::right);
    EXPECT_EQ(verdict("L1", "capacity", 32704, 32704, 32704), Verdict::wrong);
    EXPECT_EQ(verdict("L1", "capacity", 32704, 32704, 33000), Verdict::right);
    EXPECT_EQ(verdict("L1", "capacity", 32768, 20000, 40000), Verdict::wrong);
    EXPECT_EQ(verdict("", "levels", 3, 3, 3), Verdict::wrong);
}

TEST_F(Judged, LatenciesMayBeOffByAFewPerCent) {
    EXPECT_EQ(verdict("L1", "latency", 4.1, 4, 4.1), Verdict::right);
    EXPECT_EQ(verdict("L1", "latency", 4.5, 4, 4.5), Verdict::wrong);
}

TEST_F(Judged, ExclusiveLevelsHoldTheirOwnSizeAndMore) {
    EXPECT_EQ(verdict("L2", "capacity", 65536, 65536, 65536), Verdict::right);
    EXPECT_EQ(verdict("L2", "capacity", 98304, 98304, 98304), Verdict::right);
    EXPECT_EQ(verdict("L2", "capacity", 49152, 49152, 49152), Verdict::wrong);
}

TEST_F(Judged, ALevelThatIsNotThereIsWrongAndAnUnknownParameterNeither) {
    EXPECT_EQ(verdict("L3", "capacity", 1e6, 1e6, 1e6), Verdict::wrong);
    EXPECT_EQ(verdict("TLB7", "entries", 64, 64, 64), Verdict::wrong);  // even where the machine has none at all
    EXPECT_EQ(verdict("L1", "colour", 3, 3, 3), Verdict::unknown);
}

}  // namespace
}  // namespace cachetally
