// SPDX-License-Identifier: BSD-3-Clause
// The named combinations of docs/counting.md: one reference string, counted by hand as each peer counts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

// Lines A = 0, B = 40, C = 80, D = c0, E = 100. Two levels of two lines each. In the comments: what the levels hold,
// the most recently used line first, dirty ones marked *.
constexpr const char* program = "S0 L40 S0 L80 L0 L40 L80 Lc0 L100";

MachineDescription two_levels(const CacheConfig& like) {
    CacheConfig upper = like, lower = like;
    upper.next = "L2";
    lower.name = "L2";
    return machine({upper, lower});
}

CacheConfig two_lines() { return cache("L1", "memory", 2); }

/// What peers print is made of these (docs/counting.md, Named combinations).
struct Level {
    std::uint64_t loads, load_misses, stores, store_misses, writebacks_in, writeback_misses, writebacks_out;
    bool operator==(const Level&) const = default;
};

Level level(const Result& result, std::size_t number) {
    const CacheCounts& c = result.counts.caches.at(number);
    return {c.loads, c.load_misses, c.stores, c.store_misses, c.writebacks_in, c.writeback_misses, c.writebacks_out};
}

/// S0: A* | A. L40: BA* | BA. S0: A*B | BA. L80: CA* | CB. L0: A*C | CB. L40: BA* | BC. L80: fetches C, then A is
/// written back and misses: CB | A*C. Lc0: DC | DA*. L100: ED | ED, and A goes to memory.
TEST(Peers, DineroIV) {
    const Result result = play(two_levels(two_lines()), program);
    EXPECT_EQ(level(result, 0), (Level{7, 6, 2, 1, 0, 0, 1}));
    EXPECT_EQ(level(result, 1), (Level{7, 5, 0, 0, 1, 1, 1}));
    EXPECT_EQ(result.counts.memories[0].reads, 5U);
    EXPECT_EQ(result.counts.memories[0].writes, 1U);
}

/// Lines of 64 over lines of 128 bytes, one each: the write-back of 0 fills half a line below, so that the line is
/// fetched.
TEST(Peers, DineroIVWithLongerLinesBelow) {
    CacheConfig lower = cache("L2", "memory", 1);
    lower.line = 128;
    lower.size = 128;
    lower.write_back_miss = WriteBackMiss::fetch;
    const Result result = play(machine({cache("L1", "L2", 1), lower}), "S0 L80");
    EXPECT_EQ(level(result, 1), (Level{2, 2, 0, 0, 1, 1, 0}));
    EXPECT_EQ(result.counts.memories[0].reads, 3U);
    EXPECT_EQ(result.counts.memories[0].writes, 0U);
}

/// Nothing is dirty and every store goes down to memory: S0 twice. S0: A | A. L40: BA | BA. S0: AB | AB. L80: CA | CA.
/// L0: AC | CA. L40: BA | BC. L80: CB | CB. Lc0: DC | DC. L100: ED | ED.
TEST(Peers, DineroIVWriteThrough) {
    CacheConfig config = two_lines();
    config.write = WritePolicy::write_through;
    const Result result = play(two_levels(config), program);
    EXPECT_EQ(level(result, 0), (Level{7, 6, 2, 1, 0, 0, 0}));
    EXPECT_EQ(level(result, 1), (Level{7, 6, 2, 0, 0, 0, 0}));
    EXPECT_EQ(result.counts.memories[0].reads, 6U);
    EXPECT_EQ(result.counts.memories[0].writes, 2U);
}

/// Two lines over one. S0 goes down to memory. L0: A | A. S0: A* | A. L40: BA* | B. L80: fetches C; A is written back,
/// misses and goes down to memory: CB | C.
TEST(Peers, DineroIVWithoutAllocation) {
    CacheConfig upper = two_lines(), lower = cache("L2", "memory", 1);
    upper.next = "L2";
    for (CacheConfig* config : {&upper, &lower}) {
        config->write_allocate = false;
        config->write_back_miss = WriteBackMiss::bypass;
    }
    const Result result = play(machine({upper, lower}), "S0 L0 S0 L40 L80");
    EXPECT_EQ(level(result, 0), (Level{3, 3, 2, 1, 0, 0, 1}));
    EXPECT_EQ(level(result, 1), (Level{3, 3, 1, 1, 1, 1, 0}));
    EXPECT_EQ(result.counts.caches[1].evictions, 2U);
    EXPECT_EQ(result.counts.memories[0].reads, 3U);
    EXPECT_EQ(result.counts.memories[0].writes, 2U);
}

/// A stays second when it is stored to: S0: A* | A. L40: BA* | BA. S0: BA* | BA. L80: fetches C, then A is written
/// back, misses and is fetched: CB | A*C. L0: AC | A*C. L40: BA | BA*. L80: CB | CB, and A goes to memory. Lc0: DC |
/// DC. L100: ED | ED.
TEST(Peers, Pycachesim) {
    CacheConfig config = two_lines();
    config.store_hit_refreshes = false;
    config.write_back_refreshes = false;
    config.write_back_miss = WriteBackMiss::fetch;
    const Result result = play(two_levels(config), program);
    EXPECT_EQ(level(result, 0), (Level{7, 7, 2, 1, 0, 0, 1}));
    EXPECT_EQ(level(result, 1), (Level{8, 7, 0, 0, 1, 1, 1}));
    EXPECT_EQ(result.counts.memories[0].reads, 8U);
    EXPECT_EQ(result.counts.memories[0].writes, 1U);
}

/// A write-back that hits is no use either. Three lines below: S0: A* | A. L40: BA* | BA. L80: CB | CBA*. Lc0 pushes A
/// out although it was written back last.
TEST(Peers, PycachesimWriteBacksThatHit) {
    CacheConfig upper = two_lines(), lower = cache("L2", "memory", 3);
    upper.next = "L2";
    lower.write_back_refreshes = false;
    EXPECT_EQ(letters(play(machine({upper, lower}), "S0 L40 L80 Lc0"), "L2-memory", "write_back"), "A");
    lower.write_back_refreshes = true;
    EXPECT_EQ(letters(play(machine({upper, lower}), "S0 L40 L80 Lc0"), "L2-memory", "write_back"), "");
}

/// As Dinero IV, but A vanishes when it leaves the first level: L80: CB | CB. Lc0: DC | DC. L100: ED | ED.
TEST(Peers, Drcachesim) {
    CacheConfig config = two_lines();
    config.write_back_traffic = false;
    const Result result = play(two_levels(config), program);
    EXPECT_EQ(level(result, 0), (Level{7, 6, 2, 1, 0, 0, 0}));
    EXPECT_EQ(level(result, 1), (Level{7, 5, 0, 0, 0, 0, 0}));
    EXPECT_EQ(result.counts.memories[0].reads, 5U);
    EXPECT_EQ(result.counts.memories[0].writes, 0U);
}

}  // namespace
}  // namespace cachetally::golden
