// SPDX-License-Identifier: BSD-3-Clause
// TLBs that coalesce pages: which pages share an entry, where it stands, and which of two is used.
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

constexpr std::uint64_t first_range = std::uint64_t{2} << 20;

/// One TLB of so many entries, as one set, for pages of 4 KiB. Walks read nothing.
MachineDescription coalescing(unsigned entries, unsigned pages, Mapping mapping) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    TlbConfig tlb;
    tlb.name = "TLB";
    tlb.entries = entries;
    tlb.coalesces = pages;
    description.tlbs = {tlb};
    description.pages.mapping = mapping;
    description.pages.walk_references = false;
    return description;
}

TlbCounts counts_of(const MachineDescription& description, std::string_view text) {
    return play(description, text).counts.tlbs[0];
}

// Pages 0 to 3 share an entry, and 4 to 7.
TEST(Coalescing, ReachesAsManyTimesFartherWithIdentity) {
    const char* const text = "L0 L1000 L3000 L4000 L7000 L0";
    EXPECT_EQ(counts_of(coalescing(2, 4, Mapping::identity), text), (TlbCounts{6, 2}));
    EXPECT_EQ(counts_of(coalescing(2, 1, Mapping::identity), text), (TlbCounts{6, 6}));
}

TEST(Coalescing, DoesNothingWhereFramesAreApart) {
    const char* const text = "L0 L1000 L2000 L3000 L4000 L0";
    EXPECT_EQ(counts_of(coalescing(4, 4, Mapping::random), text), (TlbCounts{6, 6}));
    EXPECT_EQ(counts_of(coalescing(4, 1, Mapping::random), text), (TlbCounts{6, 6}));
    EXPECT_EQ(counts_of(coalescing(4, 4, Mapping::identity), text), (TlbCounts{6, 2}));
}

// Page 0 is alone at first: page 1 has no frame yet. The entry for page 1 maps both, for it has its frame by then.
TEST(Coalescing, NeedsAllPagesOfTheGroupMapped) {
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L0 L1000 L0 L1000"), (TlbCounts{4, 2}));
    // Page 0 once more, alone until page 1 comes.
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L0 L8000 L0 L8000"), (TlbCounts{4, 4}));
}

// Page 1 lies in frame 0, and page 0 in frame 1.
TEST(Coalescing, NeedsFramesInTheOrderOfPages) {
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L1000 L0 L1000 L0"), (TlbCounts{4, 4}));
}

// Pages 0 and 1 lie in frames 1 and 2, or in frames 2 and 3.
TEST(Coalescing, NeedsAnAlignedFirstFrame) {
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L5000 L0 L1000 L0 L1000"), (TlbCounts{5, 5}));
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L5000 L7000 L0 L1000 L0 L1000"), (TlbCounts{6, 4}));
}

// Pages 1 and 2 lie in frames 0 and 1, which an aligned group does not have.
TEST(Coalescing, NeedsAnAlignedGroupOfPages) {
    EXPECT_EQ(counts_of(coalescing(1, 2, Mapping::contiguous), "L1000 L2000 L1000 L2000"), (TlbCounts{4, 4}));
}

// Entries: 0, 1, 2, and with the last page that of all four, which pages 0 and 1 use from then on. Pages 4 and 8
// replace the entries of 0 and 1 alone, so that page 3 still hits.
TEST(Coalescing, UsesTheEntryOfTheGroupFirst) {
    EXPECT_EQ(counts_of(coalescing(4, 4, Mapping::contiguous), "L0 L1000 L2000 L3000 L0 L1000 L4000 L8000 L3000"),
              (TlbCounts{9, 6}));
}

// Two sets of one way. Pages 0 and 1 are of one group and meet in set 0, though each has an entry of its own.
TEST(Coalescing, ChoosesTheSetByTheGroup) {
    MachineDescription description = coalescing(2, 2, Mapping::random);
    description.tlbs[0].ways = 1;
    EXPECT_EQ(counts_of(description, "L0 L1000 L0 L1000"), (TlbCounts{4, 4}));
    EXPECT_EQ(counts_of(description, "L0 L2000 L0 L2000"), (TlbCounts{4, 2}));
    description.tlbs[0].coalesces = 1;
    EXPECT_EQ(counts_of(description, "L0 L1000 L0 L1000"), (TlbCounts{4, 2}));
    EXPECT_EQ(counts_of(description, "L0 L2000 L0 L2000"), (TlbCounts{4, 4}));
}

// Four pages of 2 MiB share an entry; three do not, where small ones take the place of the first.
TEST(Coalescing, NeedsPagesOfOneSize) {
    MachineDescription description = coalescing(1, 4, Mapping::identity);
    description.pages.ranges = {{0, 4 * first_range, first_range, {}}};
    EXPECT_EQ(counts_of(description, "L200000 L400000 L200000 L400000"), (TlbCounts{4, 1}));
    description.pages.ranges = {{first_range, 4 * first_range, first_range, {}}};
    EXPECT_EQ(counts_of(description, "L200000 L400000 L200000 L400000"), (TlbCounts{4, 4}));
    EXPECT_EQ(counts_of(description, "L1000 L3000 L1000 L3000"), (TlbCounts{4, 1}));
}

// The first TLB keeps pages apart. In the second one, the entry of page 1 maps page 0, too.
TEST(Coalescing, IsEachTlbsOwn) {
    MachineDescription description = coalescing(1, 1, Mapping::contiguous);
    TlbConfig second = description.tlbs[0];
    description.tlbs[0].next = second.name = "STLB";
    second.coalesces = 2;
    description.tlbs.push_back(second);
    const Result result = play(description, "L0 L1000 L0");
    EXPECT_EQ(result.counts.tlbs[0], (TlbCounts{3, 3}));
    EXPECT_EQ(result.counts.tlbs[1], (TlbCounts{3, 2}));
    EXPECT_EQ(result.counts.page_walks, 2U);
}

}  // namespace
}  // namespace cachetally::golden
