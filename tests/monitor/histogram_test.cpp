// SPDX-License-Identifier: BSD-3-Clause
// Histograms, their error and their combination over levels: worked out by hand.
#include "monitor/histogram.hpp"

#include <gtest/gtest.h>

#include "monitor/level_lines.hpp"

namespace cachetally {
namespace {

constexpr std::uint32_t none = no_function;
using Rows = std::vector<HistogramRow>;

TEST(Histogram, SortsAndSumsItsRows) {
    const Histogram histogram(64, {{128, 1, 1, none, 2}, {0, 1, 0, none, 1}, {128, 1, 1, none, 3}, {64, 1, 0, 7, 4}});
    const Rows expected = {{64, 1, 0, 7, 4}, {0, 1, 0, none, 1}, {128, 1, 1, none, 5}};
    EXPECT_EQ(Rows(histogram.rows().begin(), histogram.rows().end()), expected);
    EXPECT_EQ(histogram.phases(), 2U);
    EXPECT_EQ(histogram.total(), 10U);
    EXPECT_EQ(histogram.total(0), 5U);
    EXPECT_EQ(histogram.total(1), 5U);
    EXPECT_EQ(histogram.total(9), 0U);
    EXPECT_EQ(histogram.only_phase(1), Histogram(64, {{128, 1, 0, none, 5}}));
}

// Two structures in one line of 64 bytes of the link below, of which a level with lines of 16 bytes has three in each.
TEST(LevelLines, AreThoseOfTheLevel) {
    const Histogram above(16, {{0, 1, 0, none, 5}, {16, 1, 0, none, 7}, {48, 1, 0, none, 11}});
    const Histogram below(64, {{0, 1, 0, none, 8}});
    const LevelLines lines = level_lines({"L1", {&above}, {&below}, 16});
    EXPECT_EQ(lines.line_bytes, 16U);
    EXPECT_EQ(lines.address, (std::vector<Address>{0, 16, 32, 48}));
    EXPECT_EQ(lines.accesses, (std::vector<double>{5, 7, 0, 11}));
    EXPECT_EQ(lines.misses, (std::vector<double>{2, 2, 2, 2}));
    const std::vector<Region> regions = {{"a", 0, 24, 8}, {"b", 40, 24, 8}};
    EXPECT_EQ(by_structure(lines, regions), (std::vector<StructureTally>{{0, 0, {12, 4}}, {1, 0, {11, 4}}}));
}

TEST(Histogram, SumsOverPhasesAndFunctions) {
    const Histogram histogram(64, {{0, 1, 0, 3, 1}, {0, 1, 0, 4, 2}, {0, 1, 2, 3, 4}});
    EXPECT_EQ(histogram.summed(), Histogram(64, {{0, 1, 0, none, 7}}));
}

TEST(Histogram, AggregatesIntoAlignedGroups) {
    const Histogram histogram(64, {{0, 1, 0, none, 1}, {128, 1, 0, none, 2}, {192, 1, 0, none, 4}});
    EXPECT_EQ(histogram.aggregated(3), Histogram(64, {{0, 3, 0, none, 3}, {192, 3, 0, none, 4}}));
    EXPECT_THROW(histogram.aggregated(3).aggregated(2), std::invalid_argument);
}

TEST(Error, IsTheDocumentedExample) {
    const Histogram exact(64, {{0, 1, 0, none, 3}, {64, 1, 0, none, 1}, {256, 1, 0, none, 2}});
    const Histogram measured(64, {{0, 2, 0, none, 4}, {256, 2, 0, none, 2}});
    EXPECT_DOUBLE_EQ(histogram_error(exact, measured), 4.0 / 6);
    const AddressRange data[] = {{0, 256}};
    EXPECT_DOUBLE_EQ(histogram_error(exact, measured, data), 2.0 / 4);
    // The same data at other addresses, reached through the map.
    const AddressRange moved[] = {{0x10000, 0x10100}};
    EXPECT_DOUBLE_EQ(histogram_error(exact, measured, moved, [](Address a) { return a + 0x10000; }), 2.0 / 4);
}

TEST(Error, IsRelativeToTheExactCounts) {
    // The group spreads 4 over two lines, of which one is data: |4 - 2| / 4, not / 2.
    const AddressRange data[] = {{0, 64}};
    EXPECT_DOUBLE_EQ(histogram_error(Histogram(64, {{0, 1, 0, none, 4}}), Histogram(64, {{0, 2, 0, none, 4}}), data),
                     0.5);
}

TEST(Error, AddsUpOverlappingWindowsOfDifferentTimes) {
    const Histogram exact(64, {{0, 1, 0, none, 2}, {64, 1, 0, none, 4}});
    const Histogram measured(64, {{0, 2, 0, none, 4}, {64, 1, 0, none, 2}});  // 2 and 2 + 2
    EXPECT_DOUBLE_EQ(histogram_error(exact, measured), 0.0);
}

TEST(Error, LooksAtSumsOverPhases) {
    const Histogram exact(64, {{0, 1, 0, none, 1}, {0, 1, 1, none, 1}});
    EXPECT_DOUBLE_EQ(histogram_error(exact, Histogram(64, {{0, 1, 0, none, 2}})), 0.0);
}

TEST(Error, OfNothingIsZeroAndUnlikeUnitsCannotBeCompared) {
    EXPECT_DOUBLE_EQ(histogram_error(Histogram(64), Histogram(64)), 0.0);
    EXPECT_THROW(histogram_error(Histogram(64), Histogram(32)), std::invalid_argument);
}

TEST(Error, UnitesRegions) {
    const Region regions[] = {{"b", 100, 50, 1}, {"a", 0, 10, 1}, {"c", 120, 100, 1}, {"empty", 7, 0, 1}};
    EXPECT_EQ(ranges_of(regions), (std::vector<AddressRange>{{0, 10}, {100, 220}}));
}

/// Two levels: 64-byte lines in L1, 128-byte lines in L2.
class Combined : public testing::Test {
protected:
    Histogram core{64, {{0, 1, 0, none, 10}, {64, 1, 0, none, 6}, {128, 1, 1, none, 4}}};
    Histogram l1{64, {{0, 1, 0, none, 2}, {64, 1, 0, none, 2}, {128, 1, 1, none, 1}}};
    Histogram l2{128, {{0, 1, 0, none, 1}, {128, 1, 1, none, 1}}};
};

TEST_F(Combined, GivesAccessesAndMissesPerLine) {
    const LevelLines first = level_lines({"L1", {&core}, {&l1}}), second = level_lines({"L2", {&l1}, {&l2}});
    EXPECT_EQ(first.line_bytes, 64U);
    EXPECT_EQ(first.phase, (std::vector<std::uint32_t>{0, 0, 1}));
    EXPECT_EQ(first.accesses, (std::vector<double>{10, 6, 4}));
    EXPECT_EQ(first.misses, (std::vector<double>{2, 2, 1}));
    EXPECT_EQ(second.line_bytes, 128U);
    EXPECT_EQ(second.address, (std::vector<Address>{0, 128}));
    EXPECT_EQ(second.accesses, (std::vector<double>{4, 1}));
    EXPECT_EQ(second.misses, (std::vector<double>{1, 1}));
}

TEST_F(Combined, SumsPerStructureAndPhase) {
    const std::vector<Region> regions = {{"A", 0, 128, 1}};
    const LevelLines lines = level_lines({"L1", {&core}, {&l1}});
    const StructureTable table{regions, {{"L1", true, by_structure(lines, regions)}}};
    EXPECT_EQ(table.totals(0), (std::vector<Tally>{{16, 4}, {4, 1}}));
    EXPECT_EQ(table.totals(0, 1), (std::vector<Tally>{{0, 0}, {4, 1}}));
    EXPECT_DOUBLE_EQ(table.totals(0)[0].hits(), 12);
    EXPECT_DOUBLE_EQ(table.totals(0)[0].miss_rate(), 0.25);
    EXPECT_DOUBLE_EQ(Tally{}.miss_rate(), 0.0);
}

TEST_F(Combined, AttributesLinesToRegions) {
    const std::vector<Region> regions = {{"A", 100, 20, 1}, {"B", 4096, 10, 1}};
    const LevelInput level{"L1", {&core}, {&l1}, 128};
    EXPECT_EQ(by_structure(level_lines(level), regions),
              (std::vector<StructureTally>{{0, 0, {16, 4}}, {2, 1, {4, 1}}}));
    const LevelLines mapped = level_lines(level, [](Address a) { return a + 4096 - 128; });
    EXPECT_EQ(by_structure(mapped, regions), (std::vector<StructureTally>{{1, 1, {4, 1}}, {2, 0, {16, 4}}}));
}

TEST(CombinedSpread, CountsForSeveralLinesAreSpread) {
    const Histogram core(64, {{0, 4, 0, none, 8}}), l1(64, {{64, 1, 0, none, 1}});
    const LevelLines lines = level_lines({"L1", {&core}, {&l1}});
    EXPECT_EQ(lines.accesses, (std::vector<double>{2, 2, 2, 2}));
    EXPECT_EQ(lines.misses, (std::vector<double>{0, 1, 0, 0}));
}

TEST(CombinedSplit, SeveralLinksMayLeadToALevel) {
    const Histogram data(64, {{0, 1, 0, none, 2}}), code(64, {{64, 1, 0, none, 3}}), below(64, {{64, 1, 0, none, 1}});
    const LevelLines lines = level_lines({"L2", {&data, &code}, {&below}});
    EXPECT_EQ(lines.accesses, (std::vector<double>{2, 3}));
    EXPECT_EQ(lines.misses, (std::vector<double>{0, 1}));
}

}  // namespace
}  // namespace cachetally
