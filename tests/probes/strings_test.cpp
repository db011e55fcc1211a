// SPDX-License-Identifier: BSD-3-Clause
// The reference strings, worked out by hand from the definitions in the papers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cachetally/probe_strings.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> sorted(const Offsets& of) {
    std::vector<std::uint64_t> offsets(of.begin(), of.end());
    std::ranges::sort(offsets);
    return offsets;
}

TEST(Strings, GapMovesTheLastLocation) {
    EXPECT_THAT(gap_string(4, 1024, 0), ElementsAre(0, 1024, 2048, 3072));
    EXPECT_THAT(gap_string(3, 8192, 4), ElementsAre(0, 8192, 16388));
}

TEST(Strings, PageLocalLeavesNoPageBeforeItIsDone) {
    const Offsets offsets = page_local_string(4 * 4096, 4096, 64, 7);
    ASSERT_EQ(offsets.size(), 256);
    for (std::size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(offsets[i] / 4096, offsets[i / 64 * 64] / 4096);
    const Offsets all = sorted(offsets);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i * 64);
    EXPECT_NE(offsets, all);
    EXPECT_EQ(offsets, page_local_string(4 * 4096, 4096, 64, 7));
    EXPECT_NE(offsets, page_local_string(4 * 4096, 4096, 64, 8));
}

TEST(Strings, PageLocalEndsWithinAPage) {
    EXPECT_THAT(sorted(page_local_string(4096 + 128, 4096, 1024, 1)), ElementsAre(0, 1024, 2048, 3072, 4096));
}

TEST(Strings, TlbStringTouchesEachPageOnLinesThatMoveOn) {
    const Offsets one = sorted(tlb_string(1, 8 * 4096, 4096, 1024, 3));
    ASSERT_EQ(one.size(), 8);
    std::set<std::uint64_t> first_lines;
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(one[i] / 4096, i);
    for (std::size_t i = 0; i < 4; ++i) first_lines.insert(one[i] % 4096);
    EXPECT_EQ(first_lines.size(), 4);
    const Offsets three = tlb_string(3, 8 * 4096, 4096, 64, 3);
    EXPECT_EQ(three.size(), 24);
    EXPECT_EQ(std::set<std::uint64_t>(three.begin(), three.end()).size(), 24);
}

TEST(Strings, TwinsUseTheSameSets) {
    const PairedStrings twins = paired_strings(128, 4096, 64, 5);
    std::multiset<std::uint64_t> spread, packed;
    std::set<std::uint64_t> pages;
    for (const std::uint64_t offset : twins.spread) {
        spread.insert(offset % 4096);
        pages.insert(offset / 4096);
    }
    for (const std::uint64_t offset : twins.packed) packed.insert(offset % 4096);
    EXPECT_EQ(spread, packed);
    EXPECT_EQ(pages.size(), 128);
}

TEST(Strings, CompactSetsVisitEveryAddressOnce) {
    for (std::uint64_t n = 1; n < 40; ++n) {
        const Offsets offsets = compact_string(512, n);
        const Offsets all = sorted(offsets);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(all[i], i * 512);
    }
    EXPECT_THAT(sorted(shifted_string(4096, 4, 64)), ElementsAre(0, 4096, 8192 + 64, 12288 + 64));
    EXPECT_THAT(sorted(decomposed_string(65536, 2, 4096, 2)), ElementsAre(0, 4096, 8192, 65536, 69632, 73728));
}

/// X-Ray, 4.6, by hand: groups of two, 64 bytes more after each, and the second half 256 bytes further.
TEST(Strings, GroupsMoveOnByALineAndHalvesByAShift) {
    EXPECT_THAT(sorted(grouped_string(4096, 5, 0, {2, 64})),
                ElementsAre(0, 4096, 8192 + 64, 12288 + 64, 16384 + 2 * 64));
    EXPECT_THAT(sorted(grouped_string(4096, 4, 256, {2, 64})), ElementsAre(0, 4096, 8192 + 64 + 256, 12288 + 64 + 256));
    EXPECT_EQ(grouped_string(4096, 7, 64, {8, 64}), shifted_string(4096, 7, 64)) << "one group is no group";
}

TEST(Strings, StridesAndPingPong) {
    EXPECT_THAT(strided_string(32, 8), ElementsAre(0, 8, 16, 24));
    EXPECT_THAT(ping_pong_string(192, 32), ElementsAre(0, 96, 32, 128, 64, 160));
}

std::vector<Offsets> one_of_each() {
    const PairedStrings twins = paired_strings(20, 4096, 64, 5);
    return {gap_string(5, 4096, 8),
            page_local_string(40'000, 4096, 64, 3),
            random_string(40'000, 64, 4),
            tlb_string(3, 1 << 16, 4096, 64, 5),
            twins.spread,
            twins.packed,
            compact_string(4096, 9),
            shifted_string(4096, 9, 64),
            decomposed_string(65536, 4, 4096, 2, 64),
            strided_string(4096, 128),
            ping_pong_string(4096, 64),
            spread_pages_string(40'000, 4096, 64, 16384, 6),
            page_sample_string(40'000, 4096, 64, 5, 7),
            page_lines_string({3, 1, 8}, {4096, 512, 2, 3}, 8),
            grouped_string(4096, 9, 128, {4, 64})};
}

/// Two lines of each page, then the other two; then the same on the next words.
TEST(Strings, PageLinesVisitSomePagesInTurn) {
    const Offsets string = page_lines_string({5, 2}, {256, 64, 2, 2}, 1);
    ASSERT_EQ(string.size(), 16U);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(string[i] / 256, i / 2 % 2 == 0 ? 5U : 2U) << i;
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(string[i] % 64, 0U);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(string[i + 8], string[i] + 8);
    EXPECT_EQ(std::set<std::uint64_t>(string.begin(), string.end()).size(), 16U);
}

TEST(Strings, AreMadeAgainByTheirRecipes) {
    std::set<Generator> seen;
    for (const Offsets& string : one_of_each()) {
        seen.insert(string.recipe().generator);
        for (const Offsets& each : {string, moved(string, 2688), with_other_words(moved(string, 64), 64, 7)}) {
            ASSERT_NE(each.recipe().generator, Generator::listed);
            EXPECT_EQ(string_of(each.recipe(), 1 << 16), each) << name_of(string.recipe().generator);
            EXPECT_EQ(string_of(each.recipe(), 1 << 16).recipe(), each.recipe());
        }
        EXPECT_NE(moved(string, 2688), string);
    }
    EXPECT_EQ(seen.size() + 1, generator_count) << "a way of making strings is not tried";
}

TEST(Strings, AreListedOnceTheyAreChanged) {
    Offsets string = random_string(4096, 64, 1);
    shuffle(string.change(), 2);
    EXPECT_EQ(string.recipe(), Recipe{});
    EXPECT_EQ(moved(string, 64).recipe(), Recipe{});
    EXPECT_EQ(with_other_words(string, 64, 1).recipe(), Recipe{});
}

/// Of damaged files.
TEST(Strings, AreNotMadeByRecipesThatMakeNone) {
    EXPECT_THROW(string_of({}, 1 << 20), std::invalid_argument);
    for (const Offsets& string : one_of_each()) {
        const Recipe good = string.recipe();
        EXPECT_THROW(string_of(good, 3), std::invalid_argument) << "too many " << name_of(good.generator);
        Recipe bad = good;
        bad.line = 64, bad.other_words = 8;
        EXPECT_THROW(string_of(bad, 1 << 20), std::invalid_argument);
        for (std::uint64_t& parameter : bad.parameters) parameter = 0;
        bad.other_words = 0;
        try {
            EXPECT_LE(string_of(bad, 1 << 20).size(), 64U);
        } catch (const std::invalid_argument&) {
        }
        for (std::uint64_t i = 0; i < 32; ++i) {
            for (unsigned bit = 0; bit < 5; ++bit)
                bad.parameters[bit] = (i >> bit & 1) != 0 ? ~std::uint64_t{0} / 3 : 7;
            try {
                EXPECT_LE(string_of(bad, 1 << 10).size(), 1U << 10);
            } catch (const std::invalid_argument&) {
            }
        }
    }
}

}  // namespace
}  // namespace cachetally
