// SPDX-License-Identifier: BSD-3-Clause
// Lines that are fetched in sectors: docs/counting.md, "Sectors".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

CacheConfig sectored(const char* name, unsigned lines, unsigned line, unsigned sector) {
    CacheConfig config = cache(name, "memory", lines);
    config.size = std::uint64_t{lines} * line;
    config.line = line;
    config.sector = sector;
    return config;
}

/// Of 64 bytes in two sectors.
MachineDescription two_sectors() { return machine({sectored("L1", 1, 64, 32)}); }

TEST(Sectors, OfALineThatIsHereComeWithoutAVictim) {
    const Result result = play(two_sectors(), "L0 L20 L0 L40");
    EXPECT_THAT(result.events,
                ElementsAre("core-L1 load 0", "L1-memory load 0", "L1-memory fill 0", "core-L1 load 20",
                            "L1-memory load 20", "L1-memory fill 20", "core-L1 load 0", "core-L1 load 40",
                            "L1-memory load 40", "L1-memory eviction 0 by 40", "L1-memory fill 40"));
    EXPECT_EQ(result.counts.caches[0].load_misses, 3U);
    EXPECT_EQ(result.counts.caches[0].evictions, 1U);
}

TEST(Sectors, LeaveWithTheirLine) {
    const Result result = play(two_sectors(), "L0 L20 L40 L0 L20");
    EXPECT_EQ(result.counts.caches[0].load_misses, 5U);
    EXPECT_EQ(result.counts.caches[0].evictions, 2U);
}

TEST(Sectors, AreDirtyEachByItself) {
    EXPECT_THAT(play(two_sectors(), "S20 L0 L40").events,
                ElementsAre("core-L1 store 20", "L1-memory load 20", "L1-memory fill 20", "core-L1 load 0",
                            "L1-memory load 0", "L1-memory fill 0", "core-L1 load 40", "L1-memory load 40",
                            "L1-memory eviction 0 by 40", "L1-memory write_back 20", "L1-memory fill 40"));
    EXPECT_EQ(play(two_sectors(), "L0 L20 S20 L40").counts.caches[0].writebacks_out, 1U);
    const Result both = play(two_sectors(), "S20 S0 L40");
    EXPECT_EQ(both.counts.caches[0].evictions, 1U);
    EXPECT_EQ(both.counts.caches[0].writebacks_out, 2U);
    EXPECT_EQ(both.counts.memories[0].writes, 2U);
}

TEST(Sectors, AreAccessedOneByOne) {
    const Result result = play(two_sectors(), "L1e:4 L1c:4");
    EXPECT_EQ(result.counts.references, 2U);
    EXPECT_EQ(result.counts.caches[0].loads, 3U);
    EXPECT_EQ(result.counts.caches[0].load_misses, 2U);
}

// 80 is used after 0; the miss of the sector 20 makes the line of 0 the one used last.
TEST(Sectors, ThatMissAreUsesOfTheirLine) {
    const Result result = play(machine({sectored("L1", 2, 64, 32)}), "L0 L80 L20 L40 L0");
    EXPECT_EQ(letters(result, "L1-memory", "eviction"), "C");
    EXPECT_EQ(result.counts.caches[0].load_misses, 4U);
}

// L2 has one line of 128 bytes. Room for 80 takes 0 and 40 away above, of which 40 alone is dirty.
TEST(Sectors, OfAnInclusiveLevelAreDirtyWhereTheyWereAbove) {
    CacheConfig lower = sectored("L2", 1, 128, 64);
    lower.inclusion = Inclusion::inclusive;
    const Result result = play(machine({cache("L1", "L2", 4), lower}), "S40 L0 L80");
    EXPECT_EQ(letters(result, "L1-L2", "invalidate"), "AB");
    EXPECT_EQ(letters(result, "L2-memory", "load"), "BAC");
    EXPECT_EQ(letters(result, "L2-memory", "write_back"), "B");
}

// 40 brings the line of 0 back, without the sector that L1 then writes back.
TEST(Sectors, ThatAreWrittenBackNeedNoVictimWhereTheirLineIs) {
    const Result result = play(machine({cache("L1", "L2", 2), sectored("L2", 1, 128, 64)}), "S0 L80 L40");
    EXPECT_EQ(result.counts.caches[1].writebacks_in, 1U);
    EXPECT_EQ(result.counts.caches[1].writeback_misses, 1U);
    EXPECT_EQ(letters(result, "L2-memory", "eviction"), "AC");
    EXPECT_EQ(result.counts.caches[1].writebacks_out, 0U);
}

TEST(Sectors, AreWhatBusesCarry) {
    CacheConfig config = sectored("L1", 1, 64, 32);
    config.bus.bytes_per_cycle = 16;
    const Result result = play(machine({config}), "L0");
    EXPECT_EQ(result.end, (1 + 10 + 2) * 1000U);
    EXPECT_EQ(play(two_sectors(), "L0").end, (1 + 10) * 1000U);
}

}  // namespace
}  // namespace cachetally::golden
