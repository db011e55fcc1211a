// SPDX-License-Identifier: BSD-3-Clause
// TLBs, page walks and frames: who is asked, which entries are read, where pages lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kib = 1024, mib = kib * kib, gib = kib * mib;

TlbConfig tlb(std::string name, std::string next, unsigned entries, unsigned latency) {
    TlbConfig config;
    config.name = std::move(name);
    config.next = std::move(next);
    config.entries = entries;
    config.latency = latency;
    return config;
}

/// Walks go straight to memory, so that L1 is not disturbed.
MachineDescription with_tlbs(std::vector<TlbConfig> tlbs) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.tlbs = std::move(tlbs);
    description.pages.walk_through = "memory";
    description.pages.walk_latency = 5;
    return description;
}

std::vector<std::string> only(const Result& result, std::string_view link) {
    std::vector<std::string> found;
    for (const std::string& event : result.events) {
        if (event.starts_with(std::string(link) + " ")) found.push_back(event.substr(link.size() + 1));
    }
    return found;
}

// Entries at 2^52 + d * (2^40 + 4160) + 8 * (0x1000 >> 39, 30, 21, 12); 4160 = 0x1040.
TEST(Tlbs, AChainThatMissesIsWalked) {
    const Result result = play(with_tlbs({tlb("DTLB", "STLB", 1, 1), tlb("STLB", "", 2, 2)}), "L1004");
    EXPECT_THAT(result.events,
                ElementsAre("core-DTLB load 1004", "DTLB-STLB load 1004", "STLB-walker load 1004",
                            "walker-memory page_walk 10000000000000", "walker-memory page_walk 10010000001040",
                            "walker-memory page_walk 10020000002080", "walker-memory page_walk 100300000030c8",
                            "core-L1 load 1004", "L1-memory load 1000", "L1-memory fill 1000"));
    EXPECT_EQ(result.end, (1U + 2 + 5 + 4 * 10 + 1 + 10) * 1000);
    EXPECT_EQ(result.counts.page_walks, 1U);
    EXPECT_EQ(result.counts.memories[0].page_walks, 4U);
    EXPECT_EQ(result.counts.memories[0].reads, 1U);
}

// Page 1 and 2 miss both; page 1 again hits in the second; page 1 once more in the first.
TEST(Tlbs, TheSecondLevelFillsTheFirst) {
    const Result result =
        play(with_tlbs({tlb("DTLB", "STLB", 1, 1), tlb("STLB", "", 2, 2)}), "L1000 L2000 L1000 L1000");
    EXPECT_EQ(result.counts.tlbs[0], (TlbCounts{4, 3}));
    EXPECT_EQ(result.counts.tlbs[1], (TlbCounts{3, 2}));
    EXPECT_EQ(result.counts.page_walks, 2U);
    EXPECT_EQ(result.end, (2U * (1 + 2 + 5 + 40 + 11) + (1 + 2 + 1) + (1 + 1)) * 1000);
}

TEST(Tlbs, EachPieceOfASplitReferenceIsTranslated) {
    const Result result = play(with_tlbs({tlb("TLB", "", 4, 0)}), "L1ffe");
    EXPECT_EQ(result.counts.tlbs[0], (TlbCounts{2, 2}));
    EXPECT_THAT(only(result, "core-TLB"), ElementsAre("load 1ffe", "load 2000"));
}

// 48 - 21 = 27 bits are 3 levels: 0x40200000 >> 39, 30, 21 = 0, 1, 0x201. 48 - 30 = 18 bits are 2 levels.
TEST(Walks, LargePagesHaveFewerLevels) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 4, 0)});
    description.pages.size = 2 * mib;
    EXPECT_THAT(only(play(description, "L40200000"), "walker-memory"),
                ElementsAre("page_walk 10000000000000", "page_walk 10010000001048", "page_walk 10020000003088"));
    description.pages.size = gib;
    EXPECT_THAT(only(play(description, "L40200000"), "walker-memory"),
                ElementsAre("page_walk 10000000000000", "page_walk 10010000001048"));
}

// The entries of neighbouring pages share a line: the second walk hits everywhere.
TEST(Walks, GoThroughTheFirstDataCacheByDefault) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 1, 0)});
    description.pages.walk_through.clear();
    const Result result = play(description, "L1000 L2000");
    EXPECT_EQ(result.counts.caches[0].page_walks, 8U);
    EXPECT_EQ(result.counts.caches[0].page_walk_misses, 4U);
    EXPECT_EQ(result.end, ((5U + 4 * 11 + 11) + (5 + 4 * 1 + 11)) * 1000);
}

std::vector<std::size_t> reads_of_walks(const std::vector<unsigned>& caches, std::string_view text,
                                        std::uint64_t page = 4 * kib) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 1, 0)});
    description.pages.size = page;
    description.pages.walk_caches = caches;
    std::vector<std::size_t> reads;
    for (const std::string& event : play(description, text).events) {
        if (event.starts_with("TLB-walker")) reads.push_back(0);
        if (event.starts_with("walker-memory")) ++reads.back();
    }
    return reads;
}

// 1000 and 2000 share all entries above the last; 200000 has another from depth 2 on, 40000000 from depth 1 on,
// 8000000000 from the root on.
TEST(Walks, BeginBelowTheDeepestEntryThatIsCached) {
    const char* const text = "L1000 L2000 L201000 L40001000 L8000001000";
    EXPECT_THAT(reads_of_walks({}, text), ElementsAre(4, 4, 4, 4, 4));
    EXPECT_THAT(reads_of_walks({1, 1, 1}, text), ElementsAre(4, 1, 2, 3, 4));
    EXPECT_THAT(reads_of_walks({1}, text), ElementsAre(4, 3, 3, 3, 4));
    EXPECT_THAT(reads_of_walks({0, 0, 1}, text), ElementsAre(4, 1, 4, 4, 4));
    // Pages of 2 MiB have two levels above the last.
    EXPECT_THAT(reads_of_walks({1, 1}, "L0 L200000 L40000000", 2 * mib), ElementsAre(3, 1, 2));
    EXPECT_THAT(reads_of_walks({1}, "L0 L40000000 L8000000000", gib), ElementsAre(2, 1, 2));
}

// A, B and C have entries of their own at depth 2. A is used again, so that C replaces B, and then B replaces C. With
// caches for all depths only what lies below depth 1 has to be read again.
TEST(Walks, TheEntryUsedLongestAgoIsReplaced) {
    EXPECT_THAT(reads_of_walks({0, 0, 2}, "L1000 L201000 L2000 L401000 L3000 L202000 L402000"),
                ElementsAre(4, 4, 1, 4, 1, 4, 4));
    EXPECT_THAT(reads_of_walks({1, 1, 2}, "L1000 L201000 L2000 L401000 L3000 L202000 L402000"),
                ElementsAre(4, 2, 1, 2, 1, 2, 2));
}

// 5 cycles, three entries fewer.
TEST(Walks, CachesSpareTheTimeOfTheirReads) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 1, 0)});
    description.pages.walk_caches = {1, 1, 1};
    const Result result = play(description, "L1000 L2000");
    EXPECT_EQ(result.end, ((5U + 4 * 10 + 11) + (5 + 10 + 11)) * 1000);
    EXPECT_EQ(result.counts.page_walks, 2U);
    EXPECT_EQ(result.counts.memories[0].page_walks, 5U);
}

TEST(Walks, MayCostTimeOnly) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 1, 0)});
    description.pages.walk_references = false;
    description.pages.walk_through.clear();
    const Result result = play(description, "L1000");
    EXPECT_EQ(result.counts.page_walks, 1U);
    EXPECT_EQ(result.counts.memories[0].page_walks, 0U);
    EXPECT_EQ(result.end, 16'000U);
}

// Pages of 2 MiB pass the first TLB by, uncounted and for free.
TEST(Tlbs, PassPagesOfOtherSizesOn) {
    TlbConfig first = tlb("DTLB", "STLB", 1, 1);
    first.page_sizes = {4 * kib};
    MachineDescription description = with_tlbs({first, tlb("STLB", "", 2, 2)});
    description.pages.ranges = {{0, 2 * mib, 2 * mib, {}}};
    const Result result = play(description, "L1000 L1000 L200000");
    EXPECT_EQ(result.counts.tlbs[0], (TlbCounts{1, 1}));
    EXPECT_EQ(result.counts.tlbs[1], (TlbCounts{3, 2}));
    EXPECT_EQ(result.end, ((2U + 5 + 30 + 11) + (2 + 1) + (1 + 2 + 5 + 40 + 11)) * 1000);
}

// Two 4 KiB parts of one 2 MiB page: two entries with the granule, else one.
TEST(Tlbs, GranuleLimitsWhatAnEntryMaps) {
    MachineDescription description = with_tlbs({tlb("TLB", "", 4, 0)});
    description.pages.size = 2 * mib;
    EXPECT_EQ(play(description, "L0 L1000 L0").counts.tlbs[0], (TlbCounts{3, 1}));
    description.tlbs[0].granule = 4 * kib;
    EXPECT_EQ(play(description, "L0 L1000 L0").counts.tlbs[0], (TlbCounts{3, 2}));
}

TEST(Frames, ContiguousInOrderOfFirstTouch) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.pages.mapping = Mapping::contiguous;
    EXPECT_THAT(only(play(description, "L7008 L3010 L7020"), "core-L1"), ElementsAre("load 8", "load 1010", "load 20"));
    // A page of 64 KiB takes the next aligned run; what it skips stays unused.
    description.pages.ranges = {{gib, 2 * gib, 64 * kib, {}}};
    EXPECT_THAT(only(play(description, "L7008 L40000010 L3010"), "core-L1"),
                ElementsAre("load 8", "load 10010", "load 20010"));
}

// 16 frames; draws of 16 with seed 5: 1 2 4 7 1 2 10 (worked out with an independent program). The fifth page redraws
// twice.
TEST(Frames, RandomDrawsAndRedraws) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.memories[0].size = 64 * kib;
    description.pages.mapping = Mapping::random;
    description.pages.seed = 5;
    EXPECT_THAT(only(play(description, "L7008 L3010 L9000 L0 L5000"), "core-L1"),
                ElementsAre("load 1008", "load 2010", "load 4000", "load 7000", "load a000"));
}

// Two colours in 16 frames are 8 choices each; draws of 8 with seed 5: 0 1 2 3. Page 7 is odd: frame 1 + 2 * 0. Page 4
// is even: 2 * 1. Page 9: 1 + 2 * 2.
TEST(Frames, ColouredKeepTheColour) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.memories[0].size = 64 * kib;
    description.pages.mapping = Mapping::coloured;
    description.pages.colours = 2;
    description.pages.seed = 5;
    EXPECT_THAT(only(play(description, "L7008 L4010 L9000"), "core-L1"),
                ElementsAre("load 1008", "load 2010", "load 5000"));
}

// Virtual pages 1 and 3 lie in frames 0 and 1. With 128 sets of one 64-byte line, 0x1000 and 0x3000 meet in set 64 by
// their virtual addresses, and not by their physical ones.
TEST(Frames, VirtualIndexingUsesTheVirtualAddress) {
    CacheConfig config = cache("L1", "memory", 1, 128);
    MachineDescription description = machine({config});
    description.pages.mapping = Mapping::contiguous;
    EXPECT_EQ(play(description, "S1000 L3000").counts.caches[0].writebacks_out, 0U);
    description.caches[0].virtually_indexed = true;
    const Result result = play(description, "S1000 L3000");
    EXPECT_THAT(only(result, "L1-memory"),
                ElementsAre("load 0", "fill 0", "load 1000", "eviction 0 by 1000", "write_back 0", "fill 1000"));
}

}  // namespace
}  // namespace cachetally::golden
