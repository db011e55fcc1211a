// SPDX-License-Identifier: BSD-3-Clause
// Page tables: where pages lie, that no two share a frame, and where walks read.
#include "sim/model/tlb/page_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cachetally {
namespace {

PagesConfig pages(Mapping mapping, std::uint64_t size = 4096) {
    PagesConfig config;
    config.mapping = mapping;
    config.size = size;
    return config;
}

TEST(PageTable, ContiguousTakesFramesInOrderOfFirstTouch) {
    PageTable table(pages(Mapping::contiguous), 1 << 20);
    EXPECT_EQ(table.translate(0x7000123), 0x123U);
    EXPECT_EQ(table.translate(0x1000fff), 0x1fffU);
    EXPECT_EQ(table.translate(0x7000fff), 0xfffU);
    EXPECT_EQ(table.virtual_address(0x1abc), 0x1000abcU);
    EXPECT_EQ(table.virtual_address(0x5000), 0x5000U) << "nothing is mapped there";
}

TEST(PageTable, ContiguousAlignsLargePages) {
    PagesConfig config = pages(Mapping::contiguous);
    config.ranges = {{0x40000000, 0x40400000, 2 << 20, {}}};
    PageTable table(config, std::uint64_t{1} << 30);
    EXPECT_EQ(table.translate(0x1000), 0x0U);
    EXPECT_EQ(table.translate(0x40000010), 0x200010U);
    EXPECT_EQ(table.page_bits(0x40000010), 21U);
    EXPECT_EQ(table.page_bits(0x40400000), 12U);
    EXPECT_EQ(table.translate(0x2000), 0x400000U);
}

class RandomMapping : public testing::TestWithParam<Mapping> {};

TEST_P(RandomMapping, GivesEveryPageAFrameOfItsOwn) {
    PagesConfig config = pages(GetParam());
    config.colours = 4;
    constexpr std::uint64_t frames = 64;
    PageTable table(config, frames * 4096);
    std::set<Address> used;
    for (std::uint64_t page = 0; page < frames; ++page) {
        const Address physical = table.translate(page * 4096 + 5);
        EXPECT_EQ(physical % 4096, 5U);
        EXPECT_LT(physical, frames * 4096);
        EXPECT_TRUE(used.insert(physical).second);
        EXPECT_EQ(table.virtual_address(physical), page * 4096 + 5);
        if (GetParam() == Mapping::coloured) {
            EXPECT_EQ(physical / 4096 % 4, page % 4);
        }
    }
    EXPECT_THROW(table.translate(frames * 4096), std::runtime_error) << "memory is full";
}

INSTANTIATE_TEST_SUITE_P(Mappings, RandomMapping, testing::Values(Mapping::random, Mapping::coloured));

// Pages 4, 5, 6, 7 lie in frames 0, 1, 3, 4 (2 is another page's), pages 8 and 9 in 5 and 6.
TEST(PageTable, RunsAreMappedWholeInOrderAndAligned) {
    PageTable table(pages(Mapping::contiguous), 1 << 20);
    const auto is_one_run = [&](Address page, unsigned log_pages) {
        return table.is_one_run(page * 4096, 12, 12 + log_pages);
    };
    table.translate(0x4000);
    EXPECT_TRUE(is_one_run(4, 0));
    EXPECT_FALSE(is_one_run(4, 1)) << "page 5 is not mapped";
    EXPECT_FALSE(is_one_run(5, 0));
    for (const Address page : {0x5000, 0x100000, 0x6000, 0x7000, 0x8000, 0x9000}) table.translate(page);
    EXPECT_TRUE(is_one_run(4, 1));
    EXPECT_FALSE(is_one_run(4, 2)) << "frames are apart";
    EXPECT_FALSE(is_one_run(6, 1)) << "the first frame is not aligned";
    EXPECT_FALSE(is_one_run(8, 1));
}

TEST(PageTable, RunsHaveOneSizeOfPages) {
    PagesConfig config;
    config.ranges = {{0x400000, 0x800000, 0x200000, {}}};
    const PageTable table(config, std::uint64_t{1} << 30);
    EXPECT_TRUE(table.is_one_run(0x400000, 21, 22));
    EXPECT_FALSE(table.is_one_run(0x800000, 21, 22));
    EXPECT_FALSE(table.is_one_run(0, 12, 23)) << "large pages follow";
    EXPECT_TRUE(table.is_one_run(0, 12, 22));
}

TEST(PageTable, WalksReadOneEntryPerLevel) {
    EXPECT_EQ(PageTable::walk_depth(12), 4U);
    EXPECT_EQ(PageTable::walk_depth(21), 3U);
    EXPECT_EQ(PageTable::walk_depth(30), 2U);
    EXPECT_EQ(PageTable::walk_depth(16), 4U);
    // Virtual page 0x12345: the leaf entry is number 0x12345, its parent 0x12345 >> 9.
    const Address spacing = (Address{1} << 40) + 4160;
    for (const auto& [mapping, memory_bits, tables_bits] :
         {std::tuple{Mapping::identity, 30U, 52U}, {Mapping::contiguous, 30U, 42U}, {Mapping::contiguous, 44U, 44U}}) {
        PagesConfig config;
        config.mapping = mapping;
        const PageTable table(config, Address{1} << memory_bits);
        const Address tables = Address{1} << tables_bits;
        EXPECT_EQ(table.entry_address(0x12345678, 12, 3), tables + 3 * spacing + 8 * 0x12345);
        EXPECT_EQ(table.entry_address(0x12345678, 12, 2), tables + 2 * spacing + 8 * (0x12345 >> 9));
        EXPECT_EQ(table.entry_address(0x12345678, 12, 0), tables);
    }
}

}  // namespace
}  // namespace cachetally
