// SPDX-License-Identifier: BSD-3-Clause
// Prefetchers: what is asked for, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/model/prefetch/table.hpp"
#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

MachineDescription prefetching(PrefetchKind kind, unsigned degree, unsigned distance) {
    CacheConfig config = cache("L1", "memory", 64);
    config.prefetch.kind = kind;
    config.prefetch.degree = degree;
    config.prefetch.distance = distance;
    config.prefetch.entries = 2;
    return machine({config});
}

std::vector<std::string> prefetches(const Result& result) {
    std::vector<std::string> found;
    const std::string prefix = "L1-memory prefetch ";
    for (const std::string& event : result.events) {
        if (event.starts_with(prefix)) found.push_back(event.substr(prefix.size()));
    }
    return found;
}

// A miss on 0 brings 40. The first hit on 40 is a trigger, the second is not. Prefetches cost no time.
TEST(NextLine, TriggersOnMissesAndFirstHits) {
    const Result result = play(prefetching(prefetchers::next_line, 1, 1), "L0 L40 L44");
    EXPECT_THAT(result.events, ElementsAre("core-L1 load 0", "L1-memory load 0", "L1-memory fill 0",
                                           "L1-memory prefetch 40", "L1-memory fill 40", "core-L1 load 40",
                                           "L1-memory prefetch 80", "L1-memory fill 80", "core-L1 load 44"));
    EXPECT_EQ(result.counts.caches[0].prefetch_hits, 1U);
    EXPECT_EQ(result.counts.caches[0].prefetches_issued, 2U);
    EXPECT_EQ(result.counts.caches[0].load_misses, 1U);
    EXPECT_EQ(result.end, 13'000U);
}

// Lines +2, +3, +4 of e80 (line 3a): f00, f40, f80. Of f80: 1000 and so on lie behind the 4 KiB boundary.
TEST(NextLine, DegreeDistanceAndPageBoundary) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::next_line, 3, 2), "Le80")), ElementsAre("f00", "f40", "f80"));
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::next_line, 3, 1), "Lf80")), ElementsAre("fc0"));
}

TEST(NextLine, WhatIsHereIsNotAskedForAgain) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::next_line, 2, 1), "L80 L0")), ElementsAre("c0", "100", "40"));
}

// 40 misses and brings 0, the other line of its pair, whose first hit asks for 40, which is here. 80 and c0 are a pair,
// 40 and 80 are none.
TEST(AdjacentLine, BringsTheOtherLineOfThePair) {
    const Result result = play(prefetching(prefetchers::adjacent_line, 1, 1), "L44 L0 L80 Lc0");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 load 44", "L1-memory load 40", "L1-memory fill 40", "L1-memory prefetch 0",
                            "L1-memory fill 0", "core-L1 load 0", "core-L1 load 80", "L1-memory load 80",
                            "L1-memory fill 80", "L1-memory prefetch c0", "L1-memory fill c0", "core-L1 load c0"));
    EXPECT_EQ(result.counts.caches[0].prefetch_hits, 2U);
    EXPECT_EQ(result.counts.caches[0].load_misses, 2U);
}

// One set of one way. The miss on 0 brings 40, which pushes 0 out. The first hit on 40 asks for 0, which pushes 40 out;
// 40 misses, and asks for 0 again.
TEST(AdjacentLine, AsksAgainForAPartnerThatHasLeft) {
    MachineDescription description = prefetching(prefetchers::adjacent_line, 1, 1);
    description.caches = {cache("L1", "memory", 1)};
    description.caches[0].prefetch.kind = prefetchers::adjacent_line;
    EXPECT_THAT(prefetches(play(description, "L0 L40 L40")), ElementsAre("40", "0", "0"));
}

// Lines of 4096 bytes: the pair crosses the boundary of 4 KiB.
TEST(AdjacentLine, StaysWithinFourKibibytes) {
    MachineDescription description = prefetching(prefetchers::adjacent_line, 1, 1);
    description.caches[0].line = 4096;
    description.caches[0].size = 64 * 4096;
    EXPECT_THAT(prefetches(play(description, "L0 L1000")), ElementsAre());
}

// Site 1: 0 makes the entry; 100 sets the stride; 200, 300: confidence 1, 2, so 400; 400: confidence 3, so 500.
TEST(Stride, NeedsConfidenceOfTwo) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stride, 1, 1), "L0@1 L100@1 L200@1 L300@1 L400@1")),
                ElementsAre("400", "500"));
}

// Sites 1 and 3 share an entry of two: each throws the other out. Sites 1 and 2 do not.
TEST(Stride, EntriesAreDirectMapped) {
    const auto interleaved = [](const char* other) {
        std::string text;
        for (const char* address : {"0", "100", "200", "300"}) {
            text += std::string("L") + address + "@1 L" + address + "@" + other + " ";
        }
        return prefetches(play(prefetching(prefetchers::stride, 1, 1), text));
    };
    EXPECT_THAT(interleaved("3"), ElementsAre());
    EXPECT_THAT(interleaved("2"), ElementsAre("400"));
}

// Confidence 2 after 300 (prefetch 400). 380 breaks the stride: 1, none. 480 keeps it: 2, so 580.
TEST(Stride, OneBreakCostsOnePoint) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stride, 1, 1), "L0@1 L100@1 L200@1 L300@1 L380@1 L480@1")),
                ElementsAre("400", "580"));
}

TEST(Stride, WithoutSiteByPage) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stride, 1, 1), "L0 L1000 L100 L1080 L200 L300")),
                ElementsAre("400"));
}

// 0 makes the stream, 40 advances it once, 80 twice: c0, 100. The first hit on c0 goes on: 140 (100 is here).
TEST(Stream, FollowsTwoAdvances) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stream, 2, 1), "L0 L40 L80 Lc0")),
                ElementsAre("c0", "100", "140"));
}

TEST(Stream, GoesDownToo) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stream, 1, 2), "L400 L3c0 L380")), ElementsAre("300"));
}

// Two streams: 0 and 400; 800 replaces 0, whose last trigger is longest ago; so 40 begins anew (and replaces 400), and
// 80 is its first advance only.
TEST(Stream, TheOldestIsReplaced) {
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stream, 1, 1), "L0 L400 L800 L40 L80")), ElementsAre());
    EXPECT_THAT(prefetches(play(prefetching(prefetchers::stream, 1, 1), "L0 L400 L40 L80")), ElementsAre("c0"));
}

}  // namespace
}  // namespace cachetally::golden
