// SPDX-License-Identifier: BSD-3-Clause
// The axis of addresses and the numbers of its lines, against cases worked out by hand.
#include "viewer/core/axis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/core/lines.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t page = 4096;

TEST(DrawnAxis, GapsOf400StretchesTakeATenthOfTheAxis) {
    std::vector<ByteRange> pages, lines;
    for (std::uint64_t i = 0; i < 400; ++i) {
        const std::uint64_t base = 0x10000000 + (i << 20U);
        pages.push_back({base, base + page - 1});
        lines.push_back({base, base + 15});
    }
    // by hand: 1,638,400 bytes; 12 % of them over 399 gaps are 492.75, so 493
    const AddressAxis axis = axis_of(pages, 64);
    ASSERT_EQ(axis.stretches.size(), 400U);
    EXPECT_EQ(axis.stretches[1].start, 4096 + 493);
    EXPECT_EQ(axis.stretches[399].start, 399 * (4096.0 + 493));
    EXPECT_EQ(axis.bytes, 400.0 * 4096 + 399 * 493);
    // a line in each page alone: the gaps are of their size, not of a line's
    EXPECT_EQ(axis_of(lines, 16).bytes, 400 * 16 + 399 * 2);
}

TEST(DrawnAxis, MarksAreMultiplesOfAPowerOfTwoAndBeginsWithoutOne) {
    // by hand: 4096 bytes from 0x10f00, a gap of 56 and 512 from 0x90100; from 600 bytes on marks are 1024 apart
    const AddressAxis axis = axis_of({{0x10f00, 0x11eff}, {0x90100, 0x902ff}}, 64);
    ASSERT_EQ(axis.stretches[1].start, 4096 + 56);
    const std::vector<AddressMark> marks = address_marks(axis, 0, axis.bytes, 600, 40);
    const std::vector<std::pair<double, std::uint64_t>> expected{
        {0x100, 0x11000}, {0x500, 0x11400}, {0x900, 0x11800}, {0xd00, 0x11c00}, {4096 + 56, 0x90100}};
    ASSERT_EQ(marks.size(), expected.size());
    for (std::size_t i = 0; i < marks.size(); ++i) {
        EXPECT_EQ(marks[i].place, expected[i].first) << i;
        EXPECT_EQ(marks[i].address, expected[i].second) << i;
        EXPECT_EQ(marks[i].label, marks[i].place) << i;  // seven letters of 40 bytes to both sides
    }
    // in sight alone: from byte 0x4f0, whose label of 280 bytes stands inside, up to the end of the first stretch
    const std::vector<AddressMark> some = address_marks(axis, 0x4f0, 4096, 1024, 40);
    ASSERT_EQ(some.size(), 3U);
    EXPECT_EQ(some[0].label, 0x4f0 + 140);
    EXPECT_EQ(some[2].label, 0xd00);
}

TEST(DrawnAxis, MarksAndLabelsStandClearOfEachOther) {
    // 40 stretches of 64 bytes, by hand 72 bytes from begin to begin: labels of 9 letters of 10 bytes, 15 between
    std::vector<ByteRange> ranges;
    for (std::uint64_t i = 0; i < 40; ++i) ranges.push_back({0x1000040 + (i << 16U), 0x100007f + (i << 16U)});
    const AddressAxis axis = axis_of(ranges, 64);
    const std::vector<AddressMark> marks = address_marks(axis, 0, axis.bytes, 1000, 10);
    EXPECT_EQ(marks.size(), 40U);
    double free = 0;
    std::size_t labels = 0;
    for (const AddressMark& mark : marks) {
        if (!mark.label) continue;
        ++labels;
        EXPECT_GE(*mark.label - 45, free);
        EXPECT_LE(*mark.label + 45, axis.bytes);
        free = *mark.label + 45 + 15;
    }
    EXPECT_EQ(labels, 20U) << "every second";
    EXPECT_EQ(address_marks(axis, 0, axis.bytes, 1000, 73).size(), 20U) << "marks are a letter apart";
    const std::vector<AddressMark> narrow = address_marks(axis, 0, 64, 8, 10);
    EXPECT_EQ(std::count_if(narrow.begin(), narrow.end(), [](const auto& each) { return each.label.has_value(); }), 0)
        << "no room for a label at all";
    const std::vector<AddressMark> last =
        address_marks(axis_of({{~std::uint64_t{63}, ~std::uint64_t{0}}}, 64), 0, 64, 64, 1);
    ASSERT_EQ(last.size(), 1U);
    EXPECT_EQ(last[0].address, ~std::uint64_t{63});
}

TEST(DrawnAxis, HolesAreMarkedInTheMiddleOfTheirGaps) {
    const AddressAxis axis = axis_of({{0x10000, 0x10fff}, {0x90000, 0x90fff}, {0xf0000, 0xf0fff}}, 64);
    // by hand: 1.2 % of 12,288 bytes are 147.456, so 148
    EXPECT_EQ(holes_of(axis, 0, axis.bytes, 0), (std::vector<double>{4096 + 74, 2 * 4096 + 148 + 74}));
    EXPECT_EQ(holes_of(axis, 5000, axis.bytes, 148), (std::vector<double>{2 * 4096 + 148 + 74}));
    EXPECT_TRUE(holes_of(axis, 0, axis.bytes, 149).empty());
}

TEST(DrawnAxis, StretchesBeyond1000AreJoinedOverTheSmallestHoles) {
    std::vector<ByteRange> ranges;
    std::uint64_t at = 0;
    for (int i = 0; i < 1100; ++i) {  // holes of 9 pages, then of 999
        at += (i < 600 ? 10 : 1000) * page;
        ranges.push_back({at, at + 63});
    }
    // by hand: 1100 pages allow holes of 22: the first 600 are one stretch
    const AddressAxis axis = axis_of(ranges, 64);
    ASSERT_EQ(axis.stretches.size(), 501U);
    EXPECT_EQ(axis.stretches[0].bytes, 599 * 10.0 * page + 64);
    using Place = std::pair<double, double>;
    const std::uint64_t base = ranges[0].first, last = ranges[599].first;
    EXPECT_EQ(place_on(axis, {base + 32, last + 31}), (Place{32, 599 * 10.0 * page + 32}));
    EXPECT_EQ(place_on(axis, {last + 64, last + 4096}), std::nullopt);
    EXPECT_EQ(place_on(axis, {0, at + 1000}), (Place{0, axis.bytes}));
    // 1500 pages, 100 apart, allow 30: four times that joins all
    std::vector<ByteRange> even;
    for (std::uint64_t i = 1; i <= 1500; ++i) even.push_back({i * 100 * page, i * 100 * page});
    EXPECT_EQ(axis_of(even, 64).stretches.size(), 1U);
}

TEST(DrawnAxis, RangesOfOnePageOrNeighboursAreOneUpToTheLastAddress) {
    const std::uint64_t top = ~std::uint64_t{0};
    const std::vector<ByteRange> found = united({{top - 63, top}, {3 * page, 3 * page}, {0, 10}, {page + 5, page + 9}});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].last, page + 9);
    EXPECT_EQ(found[1].first, 3 * page);
    EXPECT_EQ(found[2].last, top);
    const AddressAxis axis = axis_of({{top - 63, top}}, 64);
    EXPECT_EQ(axis.stretches[0].base, top - 63);
    EXPECT_EQ(axis.bytes, 64);
    EXPECT_EQ(axis_of({}, 64).bytes, 1);
    // whole lines: 100 .. 130 touches those at 64 and 128
    EXPECT_EQ(axis_of({{100, 130}}, 64).stretches[0].base, 64U);
    EXPECT_EQ(axis_of({{100, 130}}, 64).bytes, 128);
}

TEST(DrawnAxis, ExtentsAreThoseOfTheirLines) {
    Extents extents;
    const std::vector<std::uint64_t> addresses{0x1000, 0x1040, 0x9000, 0x100000, ~std::uint64_t{0} - 63};
    const std::vector<std::uint32_t> spans{1, 1, 1, 200, 2};
    extents.add(addresses, spans, 64);
    const std::vector<ByteRange> found = extents.found();
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].last, 0x107FU);
    EXPECT_EQ(found[1].first, 0x9000U);
    EXPECT_EQ(found[2].last, 0x100000U + 200 * 64 - 1);
    EXPECT_EQ(found[3].last, ~std::uint64_t{0});
}

/// Two stretches: 0x1000 .. 0x10FF at 0, 0x8020 .. 0x809F at 300; lines of 64 bytes.
AxisLines two_stretches() { return {AddressAxis{{{0x1000, 256, 0}, {0x8020, 128, 300}}, 428}, 64}; }

TEST(DrawnLines, AreNumberedWithoutTheHoles) {
    const AxisLines lines = two_stretches();
    EXPECT_EQ(lines.count(), 7U);  // the second stretch begins within a line and ends within another
    EXPECT_EQ(lines.line_of(0x1000), 0U);
    EXPECT_EQ(lines.line_of(0x8000), 4U);
    EXPECT_EQ(lines.line_of(0x80BF), 6U);
    for (const std::uint64_t off : {0xFFFU, 0x1100U, 0x7FFFU, 0x80C0U}) EXPECT_EQ(lines.line_of(off), std::nullopt);
    EXPECT_EQ(lines.offset_of(4, 1), 300 - 32);
    EXPECT_EQ(lines.part_of(4), (std::pair{300.0, 332.0}));
    EXPECT_EQ(lines.part_of(5, 9), (std::pair{332.0, 428.0}));
    EXPECT_EQ(lines.range(64, 65), (AxisLines::Numbers{1, 2}));
    EXPECT_EQ(lines.range(200, 333), (AxisLines::Numbers{3, 6}));
    EXPECT_EQ(lines.range(257, 299), (AxisLines::Numbers{0, 0}));
}

TEST(DrawnLines, SpansReachOverHoles) {
    const AxisLines lines = two_stretches();
    const auto runs = [&](std::uint64_t address, std::uint32_t span) {
        std::vector<AxisLines::Numbers> found;
        lines.visit(address, span, [&](auto line, auto count) { found.push_back({line, count}); });
        return found;
    };
    using Runs = std::vector<AxisLines::Numbers>;
    EXPECT_EQ(runs(0x1040, 1), (Runs{{1, 1}}));
    EXPECT_EQ(runs(0x0FC0, 2), (Runs{{0, 1}}));
    EXPECT_EQ(runs(0x0FC0, 1), Runs{});
    EXPECT_EQ(runs(0x1080, 512), (Runs{{2, 2}, {4, 3}}));
    EXPECT_EQ(runs(0x1080, 446), (Runs{{2, 2}}));  // 0x1080 + 446 lines end where the line at 0x8000 begins
    EXPECT_EQ(runs(0x1080, 447), (Runs{{2, 2}, {4, 1}}));
}

TEST(DrawnAxis, PartsKeepTheirPlaces) {
    const AddressAxis part = cut(two_stretches().axis(), 100.5, 310);
    ASSERT_EQ(part.stretches.size(), 2U);
    EXPECT_EQ(part.stretches[0].base, 0x1000U + 100);
    EXPECT_EQ(part.stretches[0].start, 100);
    EXPECT_EQ(part.stretches[0].bytes, 156);
    EXPECT_TRUE(part.stretches[0].rest);
    EXPECT_EQ(part.stretches[1].bytes, 10);
    EXPECT_FALSE(part.stretches[1].rest);
}

}  // namespace
}  // namespace cachetally
