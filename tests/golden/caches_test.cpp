// SPDX-License-Identifier: BSD-3-Clause
// Caches: what goes over which link in which order, for each option. Lines: 0, 40, 80 hexadecimal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

MachineDescription one_level(const CacheConfig& config) { return machine({config}); }
CacheConfig one_line() { return cache("L1", "memory", 1); }

TEST(Order, FetchFirstIsTheDefault) {
    const Result result = play(one_level(one_line()), "S0 L40");
    EXPECT_THAT(result.events, ElementsAre("core-L1 store 0", "L1-memory load 0", "L1-memory fill 0", "core-L1 load 40",
                                           "L1-memory load 40", "L1-memory eviction 0 by 40", "L1-memory write_back 0",
                                           "L1-memory fill 40"));
    EXPECT_EQ(result.end, 22'000U);  // two misses of 1 + 10 cycles; the write-back costs nothing
    EXPECT_EQ(result.counts.memories[0].reads, 2U);
    EXPECT_EQ(result.counts.memories[0].writes, 1U);
}

TEST(Order, WriteBackFirst) {
    CacheConfig config = one_line();
    config.write_back_first = true;
    EXPECT_THAT(
        play(one_level(config), "S0 L40").events,
        ElementsAre("core-L1 store 0", "L1-memory load 0", "L1-memory fill 0", "core-L1 load 40",
                    "L1-memory eviction 0 by 40", "L1-memory write_back 0", "L1-memory load 40", "L1-memory fill 40"));
}

TEST(Order, CleanVictimsLeaveSilently) {
    const Result result = play(one_level(one_line()), "L0 L40");
    EXPECT_EQ(result.counts.caches[0].evictions, 1U);
    EXPECT_EQ(result.counts.caches[0].writebacks_out, 0U);
    EXPECT_EQ(letters(result, "L1-memory", "write_back"), "");
}

TEST(Order, NoWriteBackTraffic) {
    CacheConfig config = one_line();
    config.write_back_traffic = false;
    const Result result = play(one_level(config), "S0 L40");
    EXPECT_EQ(result.counts.caches[0].evictions, 1U);
    EXPECT_EQ(result.counts.caches[0].writebacks_out, 0U);
    EXPECT_EQ(result.counts.memories[0].writes, 0U);
}

// 3e..41 lies in two lines. 3f..c0 (130 bytes) lies in four.
TEST(Splitting, OneAccessPerLineAscending) {
    const Result result = play(one_level(cache("L1", "memory", 4)), "L3e");
    EXPECT_THAT(result.events, ElementsAre("core-L1 load 3e", "L1-memory load 0", "L1-memory fill 0", "core-L1 load 40",
                                           "L1-memory load 40", "L1-memory fill 40"));
    EXPECT_EQ(result.counts.references, 1U);
    EXPECT_EQ(result.counts.caches[0].loads, 2U);
    EXPECT_EQ(play(one_level(cache("L1", "memory", 4)), "L3f:130").counts.caches[0].loads, 4U);
    EXPECT_EQ(play(one_level(cache("L1", "memory", 4)), "L3f:129").counts.caches[0].loads, 3U);
    EXPECT_EQ(play(one_level(cache("L1", "memory", 4)), "L3f:1").counts.caches[0].loads, 1U);
}

TEST(Splitting, WithoutCacheAtSixtyFourBytes) {
    const Result result = play(machine({}), "L3e S40");
    EXPECT_THAT(result.events, ElementsAre("core-memory load 3e", "core-memory load 40", "core-memory store 40"));
    EXPECT_EQ(result.end, 30'000U);
}

TEST(WritePolicy, WriteThroughAllocates) {
    CacheConfig config = one_line();
    config.write = WritePolicy::write_through;
    const Result result = play(one_level(config), "S44 S48 L80");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 store 44", "L1-memory load 40", "L1-memory fill 40", "L1-memory store 40",
                            "core-L1 store 48", "L1-memory store 40", "core-L1 load 80", "L1-memory load 80",
                            "L1-memory eviction 40 by 80", "L1-memory fill 80"));
    EXPECT_EQ(result.end, (11U + 1 + 11) * 1000);  // stores that are passed on cost nothing
    EXPECT_EQ(result.counts.caches[0].store_misses, 1U);
}

TEST(WritePolicy, NoWriteAllocatePassesMissesOn) {
    CacheConfig config = one_line();
    config.write_allocate = false;
    const Result result = play(one_level(config), "S44 L44 S44 L0");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 store 44", "L1-memory store 40", "core-L1 load 44", "L1-memory load 40",
                            "L1-memory fill 40", "core-L1 store 44", "core-L1 load 0", "L1-memory load 0",
                            "L1-memory eviction 40 by 0", "L1-memory write_back 40", "L1-memory fill 0"));
    EXPECT_EQ(result.end, (1U + 11 + 1 + 11) * 1000);
}

// Every store goes on, whether it hits or misses; nothing ever becomes dirty.
TEST(WritePolicy, WriteThroughWithoutAllocation) {
    CacheConfig config = one_line();
    config.write = WritePolicy::write_through;
    config.write_allocate = false;
    const Result result = play(one_level(config), "S44 L44 S44 L0");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 store 44", "L1-memory store 40", "core-L1 load 44", "L1-memory load 40",
                            "L1-memory fill 40", "core-L1 store 44", "L1-memory store 40", "core-L1 load 0",
                            "L1-memory load 0", "L1-memory eviction 40 by 0", "L1-memory fill 0"));
    EXPECT_EQ(result.counts.memories[0].writes, 2U);
    EXPECT_EQ(result.counts.caches[0].store_misses, 1U);
    EXPECT_EQ(result.counts.caches[0].evictions, 1U);
}

// What S0 and L40 have in common on one line over one line: then the write-back of 0 misses in L2, which holds 40.
MachineDescription write_back_misses(WriteBackMiss what) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.write_back_miss = what;
    return machine({cache("L1", "L2", 1), lower});
}

std::vector<std::string> after_second_fill(const Result& result) {
    const auto fill = std::find(result.events.begin(), result.events.end(), "L2-memory fill 40");
    return {fill + 1, result.events.end()};
}

TEST(WriteBackMiss, Allocate) {
    const Result result = play(write_back_misses(WriteBackMiss::allocate), "S0 L40");
    EXPECT_THAT(after_second_fill(result), ElementsAre("L1-L2 eviction 0 by 40", "L1-L2 write_back 0",
                                                       "L2-memory eviction 40 by 0", "L1-L2 fill 40"));
    EXPECT_EQ(result.counts.caches[1].writebacks_in, 1U);
    EXPECT_EQ(result.counts.caches[1].writeback_misses, 1U);
    EXPECT_EQ(result.counts.caches[1].evictions, 2U);  // 0 for 40, then 40 for 0
    // That 0 is dirty in L2 now is seen when 80 comes.
    EXPECT_EQ(letters(play(write_back_misses(WriteBackMiss::allocate), "S0 L40 L80"), "L2-memory", "write_back"), "A");
}

TEST(WriteBackMiss, Fetch) {
    const Result result = play(write_back_misses(WriteBackMiss::fetch), "S0 L40");
    EXPECT_THAT(after_second_fill(result),
                ElementsAre("L1-L2 eviction 0 by 40", "L1-L2 write_back 0", "L2-memory load 0",
                            "L2-memory eviction 40 by 0", "L2-memory fill 0", "L1-L2 fill 40"));
    EXPECT_EQ(result.end, 2U * 12 * 1000);
}

TEST(WriteBackMiss, Bypass) {
    const Result result = play(write_back_misses(WriteBackMiss::bypass), "S0 L40");
    EXPECT_THAT(after_second_fill(result),
                ElementsAre("L1-L2 eviction 0 by 40", "L1-L2 write_back 0", "L2-memory write_back 0", "L1-L2 fill 40"));
    EXPECT_EQ(result.counts.caches[1].writebacks_out, 0U);  // not a victim of L2
    EXPECT_EQ(result.counts.caches[1].evictions, 1U);
}

// L2 (two ways) takes 0, then 40, then the write-back of 0. If that is a use, 80 pushes 40 out, else dirty 0.
TEST(WriteBacks, MayNotRefresh) {
    CacheConfig lower = cache("L2", "memory", 2);
    EXPECT_EQ(letters(play(machine({cache("L1", "L2", 1), lower}), "S0 L40 L80"), "L2-memory", "write_back"), "");
    lower.write_back_refreshes = false;
    EXPECT_EQ(letters(play(machine({cache("L1", "L2", 1), lower}), "S0 L40 L80"), "L2-memory", "write_back"), "A");
}

TEST(WriteBacks, PassThroughAWriteThroughLevel) {
    CacheConfig lower = cache("L2", "memory", 2);
    lower.write = WritePolicy::write_through;
    const Result result = play(machine({cache("L1", "L2", 1), lower}), "S0 L40 L80 Lc0");
    EXPECT_EQ(letters(result, "L2-memory", "write_back"), "A");  // once, when it comes; not again when it leaves
    EXPECT_EQ(result.counts.caches[1].writebacks_out, 0U);
}

TEST(Inclusion, InclusiveTakesDirtyLinesAwayFromAbove) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.inclusion = Inclusion::inclusive;
    const Result result = play(machine({cache("L1", "L2", 2), lower}), "S0 L40");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 store 0", "L1-L2 load 0", "L2-memory load 0", "L2-memory fill 0", "L1-L2 fill 0",
                            "core-L1 load 40", "L1-L2 load 40", "L2-memory load 40", "L2-memory eviction 0 by 40",
                            "L1-L2 invalidate 0", "L2-memory write_back 0", "L2-memory fill 40", "L1-L2 fill 40"));
    EXPECT_EQ(result.counts.caches[0].invalidations, 1U);
    EXPECT_EQ(result.counts.caches[0].evictions, 0U);
    EXPECT_EQ(result.counts.caches[1].evictions, 1U);
    EXPECT_EQ(result.counts.caches[1].writebacks_out, 1U);
}

// A line of L2 is two of L1: both are taken away, lower address first, and make one write-back.
TEST(Inclusion, InclusiveWithLongerLines) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.line = 128;
    lower.size = 128;
    lower.inclusion = Inclusion::inclusive;
    const Result result = play(machine({cache("L1", "L2", 4), lower}), "S40 L0 L80");
    EXPECT_EQ(letters(result, "L1-L2", "invalidate"), "AB");
    EXPECT_EQ(letters(result, "L2-memory", "write_back"), "A");
}

TEST(Inclusion, ExclusiveSwaps) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.inclusion = Inclusion::exclusive;
    const Result result = play(machine({cache("L1", "L2", 1), lower}), "S0 L40 L0 L80");
    EXPECT_THAT(
        result.events,
        ElementsAre("core-L1 store 0", "L1-L2 load 0", "L2-memory load 0", "L1-L2 fill 0",  //
                    "core-L1 load 40", "L1-L2 load 40", "L2-memory load 40", "L1-L2 eviction 0 by 40",
                    "L1-L2 write_back 0",
                    "L1-L2 fill 40",  //
                    "core-L1 load 0", "L1-L2 load 0", "L1-L2 eviction 40 by 0", "L1-L2 clean_victim 40", "L1-L2 fill 0",
                    // 0 came up dirty, so that it goes down dirty again
                    "core-L1 load 80", "L1-L2 load 80", "L2-memory load 80", "L1-L2 eviction 0 by 80",
                    "L1-L2 write_back 0", "L2-memory eviction 40 by 0", "L1-L2 fill 80"));
    const CacheCounts& counts = result.counts.caches[1];
    EXPECT_EQ(counts.loads, 4U);
    EXPECT_EQ(counts.load_misses, 3U);
    EXPECT_EQ(counts.writebacks_in, 2U);
    EXPECT_EQ(counts.writeback_misses, 2U);
    EXPECT_EQ(counts.clean_victims_in, 1U);
    EXPECT_EQ(counts.evictions, 1U);  // clean 40, when 0 comes back
    EXPECT_EQ(counts.writebacks_out, 0U);
    EXPECT_EQ(result.end, (12U + 12 + 2 + 12) * 1000);
}

TEST(Inclusion, VictimCacheKeepsWhatHits) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.inclusion = Inclusion::victim;
    const Result result = play(machine({cache("L1", "L2", 1), lower}), "S0 L40 L0 L80");
    const std::vector<std::string> last(result.events.end() - 13, result.events.end());
    EXPECT_THAT(last, ElementsAre("L1-L2 load 0", "L1-L2 eviction 40 by 0", "L1-L2 clean_victim 40",
                                  "L2-memory eviction 0 by 40", "L2-memory write_back 0", "L1-L2 fill 0",
                                  // the copy of 0 in L1 is clean
                                  "core-L1 load 80", "L1-L2 load 80", "L2-memory load 80", "L1-L2 eviction 0 by 80",
                                  "L1-L2 clean_victim 0", "L2-memory eviction 40 by 0", "L1-L2 fill 80"));
    EXPECT_EQ(result.counts.caches[1].evictions, 2U);
    EXPECT_EQ(result.counts.caches[1].writebacks_out, 1U);
}

// A store that is passed on to an exclusive level is served in place if it hits, else passed on again.
TEST(Inclusion, StoresAtAnExclusiveLevel) {
    CacheConfig upper = cache("L1", "L2", 1), lower = cache("L2", "memory", 2);
    upper.write_allocate = false;
    lower.inclusion = Inclusion::exclusive;
    // L40 hands clean 0 down; S0 hits there and makes it dirty; L80 and Lc0 hand 40 and 80 down: 0 is pushed out.
    const Result result = play(machine({upper, lower}), "L0 L40 S0 S100 L80 Lc0");
    EXPECT_EQ(letters(result, "L2-memory", "store"), "E");
    EXPECT_EQ(letters(result, "L2-memory", "write_back"), "A");
    EXPECT_EQ(result.counts.caches[1].stores, 2U);
    EXPECT_EQ(result.counts.caches[1].store_misses, 1U);
}

}  // namespace
}  // namespace cachetally::golden
