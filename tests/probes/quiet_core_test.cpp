// SPDX-License-Identifier: BSD-3-Clause
// Where a pinned thread goes while others use its core: processors made by hand.
#include "probes/targets/quiet_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cachetally {
namespace {

using ::testing::ElementsAre;

struct Processors {
    std::set<unsigned> shared = {}, forbidden = {};
    std::map<unsigned, std::uint64_t> kinds = {};
    std::vector<double> trials = {};  ///< in turn, of processors that are shared; at its end: 2.97
    unsigned here = 0;
    std::uint64_t now = 1'000'000'000;
    std::vector<unsigned> visited = {};

    CoreCalls calls() {
        return {[this] { return multiplication(); },
                [this](unsigned processor) {
                    if (forbidden.contains(processor)) return false;
                    visited.push_back(processor);
                    here = processor;
                    return true;
                },
                [this] { return kinds[here]; }, [this] { return now; }};
    }

private:
    double multiplication() {
        if (!shared.contains(here)) return 2.995;
        if (trials.empty()) return 2.97;
        const double first = trials.front();
        trials.erase(trials.begin());
        return first;
    }
};

TEST(QuietCore, StaysWhereItIsQuiet) {
    Processors processors{.shared = {1}};
    const QuietCore core({0, 1, 2}, 0, processors.calls());
    EXPECT_FALSE(core.is_shared());
    EXPECT_THAT(processors.visited, ElementsAre());
}

TEST(QuietCore, BeginsOnAnotherWhereItIsShared) {
    Processors processors{.shared = {1, 2}, .here = 1};
    const QuietCore core({0, 1, 2, 3}, 1, processors.calls());
    EXPECT_EQ(processors.here, 3U);
    EXPECT_THAT(processors.visited, ElementsAre(2, 3));
    EXPECT_FALSE(core.is_shared());
}

TEST(QuietCore, GoesRoundAndComesBack) {
    Processors processors;
    QuietCore core({0, 1, 2}, 0, processors.calls());
    for (const unsigned next : {1U, 2U, 0U, 1U}) {
        processors.shared = {processors.here};
        EXPECT_TRUE(core.is_shared());
        EXPECT_TRUE(core.move());
        EXPECT_EQ(processors.here, next);
    }
}

TEST(QuietCore, GoesToNoCoreOfAnotherKindOrWhereItMayNotBe) {
    Processors processors{.shared = {0}, .forbidden = {2}, .kinds = {{0, 0x40}, {1, 0x20}, {2, 0x40}, {3, 0x40}}};
    const QuietCore core({0, 1, 2, 3}, 0, processors.calls());
    EXPECT_EQ(processors.here, 3U);
    EXPECT_THAT(processors.visited, ElementsAre(1, 3));
}

TEST(QuietCore, StaysWhereAllAreSharedAndLooksAgainOnlyAfterAWhile) {
    Processors processors{.shared = {0, 1}};
    QuietCore core({0, 1}, 0, processors.calls());
    EXPECT_EQ(processors.here, 0U);
    EXPECT_TRUE(core.is_shared());
    const std::size_t visits = processors.visited.size();
    processors.shared = {0};
    EXPECT_FALSE(core.move());
    EXPECT_EQ(processors.visited.size(), visits);
    processors.now += 1'000'000'000;
    EXPECT_TRUE(core.move());
    EXPECT_EQ(processors.here, 1U);
}

TEST(QuietCore, OneAloneHasNowhereToGo) {
    Processors processors{.shared = {5}, .here = 5};
    QuietCore core({5}, 5, processors.calls());
    EXPECT_TRUE(core.is_shared());
    EXPECT_FALSE(core.move());
    EXPECT_EQ(processors.here, 5U);
}

/// One trial may be interrupted, and the median of nine decides; where the first is whole no more are made.
TEST(QuietCore, IsSharedByTheMedianOfTrials) {
    Processors processors;
    const QuietCore core({0}, 0, processors.calls());
    processors.shared = {0};
    processors.trials = {3.4, 3, 3, 2.9, 3, 3, 2.9, 3, 2.9, 3.01};
    EXPECT_FALSE(core.is_shared());
    EXPECT_TRUE(processors.trials.empty());
    processors.trials = {3.4, 2.98, 3, 2.98, 2.98, 2.98, 2.98, 3, 3, 3};
    EXPECT_TRUE(core.is_shared());
    processors.trials = {4.001, 2.9};
    EXPECT_FALSE(core.is_shared());
    EXPECT_EQ(processors.trials.size(), 1U);
}

TEST(QuietCore, OnThisMachineAMultiplicationTakesSomeCycles) {
    const CoreCalls calls = system_core_calls();
    const double cycles = calls.multiplication();
    EXPECT_GT(cycles, 1);
    EXPECT_EQ(calls.kind(), calls.kind());
    EXPECT_FALSE(calls.pin(1U << 30));
}

}  // namespace
}  // namespace cachetally
