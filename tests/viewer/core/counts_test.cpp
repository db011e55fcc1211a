// SPDX-License-Identifier: BSD-3-Clause
// Columns, cells and their scales, against cases worked out by hand.
#include "viewer/core/counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "viewer/core/groups.hpp"
#include "viewer/core/heat.hpp"
#include "viewer/core/scale.hpp"

namespace cachetally {
namespace {

using Numbers = std::vector<double>;

/// Rows of lines of 64 bytes from 0x1000 on, by the numbers of the lines.
struct Rows {
    std::vector<std::uint64_t> address;
    std::vector<std::uint32_t> span, phase, function;
    Numbers first, second;

    void add(std::uint64_t line, double a, double b = 0, std::uint32_t in_phase = 0, std::uint32_t lines = 1) {
        address.push_back(0x1000 + 64 * line);
        span.push_back(lines);
        phase.push_back(in_phase);
        first.push_back(a);
        second.push_back(b);
    }
    operator CountRows() const { return {address, span, phase, function, first, second}; }
};

AxisLines lines_from_0x1000(double lines) { return {AddressAxis{{{0x1000, 64 * lines, 0}}, 64 * lines}, 64}; }

LineCounts counts_of(const Rows& rows, double lines) {
    LineCounts counts(lines_from_0x1000(lines), true);
    counts.add(rows);
    return counts;
}

ColumnView all_in(std::size_t columns, double bytes) { return {0, bytes, columns, {0, bytes}}; }

// Four columns of 10 bytes, the third without lines; a line that lies in the last two, too, counts in the second alone.
TEST(Pixels, PutTheirColumnsTogether) {
    const double none = std::numeric_limits<double>::infinity();
    const Numbers touched{2, 1, 0, 0}, sum{6, 0, 0, 0}, least{1, 0, none, 7}, most{5, 0, 0, 7};
    const MadeColumns columns{100, 140, touched, sum, least, most};
    const PixelColumns two = pixels_of(columns, 100, 140, 2);
    EXPECT_EQ(two.mean, (Numbers{2, 7}));
    EXPECT_EQ(two.least, (Numbers{0, 7}));
    EXPECT_EQ(two.most, (Numbers{5, 7}));
    EXPECT_EQ(two.sum, (Numbers{6, 0}));
    EXPECT_EQ(two.smallest, 0);
    EXPECT_EQ(two.largest, 7);
    EXPECT_EQ(two.positive, 2) << "of the first pixel its mean, as its least is 0";
    EXPECT_EQ(two.stretch, std::pair(100.0, 140.0));
    const PixelColumns narrow = pixels_of(columns, 112, 114, 1);  // less than a column
    EXPECT_EQ(narrow.mean, Numbers{0});
    EXPECT_EQ(narrow.stretch, std::pair(110.0, 120.0));
    EXPECT_EQ(narrow.positive, none);
    const PixelColumns beyond = pixels_of(columns, 120, 160, 4);
    EXPECT_TRUE(std::isnan(beyond.mean[0]) && std::isnan(beyond.mean[2]));
    EXPECT_EQ(beyond.mean[1], 7);
    EXPECT_EQ(beyond.most[0], -none);
    EXPECT_EQ(beyond.stretch.second, 140);
}

TEST(DrawnColumns, HaveSumLeastAndMostOfTheirLines) {
    Rows rows;
    rows.add(0, 10, 1);
    rows.add(0, 5, 1, 1);
    rows.add(1, 1, 1);
    rows.add(3, 4, 4);
    rows.add(900, 100, 50);  // off the axis: in the total alone
    const CountColumns found = counts_of(rows, 4).columns(CountKind::accesses, all_in(2, 256));
    EXPECT_EQ(found.touched, (Numbers{2, 1}));
    EXPECT_EQ(found.sum, (Numbers{16, 4}));
    EXPECT_EQ(found.least, (Numbers{1, 4}));
    EXPECT_EQ(found.most, (Numbers{15, 4}));
    EXPECT_EQ(found.total, 120);
    const CountColumns rates = counts_of(rows, 4).columns(CountKind::miss_rate, all_in(2, 256));
    EXPECT_EQ(rates.touched, (Numbers{16, 4}));  // accesses
    EXPECT_EQ(rates.sum, (Numbers{3, 4}));       // misses
    EXPECT_EQ(rates.most, (Numbers{1, 1}));
    EXPECT_EQ(rates.total, 57.0 / 120);
    EXPECT_EQ(counts_of(rows, 4).columns(CountKind::hits, all_in(1, 256)).sum, (Numbers{13}));
}

TEST(DrawnColumns, LinesWiderThanColumnsFillThemAndCountInTheFirst) {
    Rows rows;
    rows.add(1, 7);
    const CountColumns found = counts_of(rows, 2).columns(CountKind::accesses, all_in(8, 128));
    EXPECT_EQ(found.touched, (Numbers{0, 0, 0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(found.most, (Numbers{0, 0, 0, 0, 7, 7, 7, 7}));
    EXPECT_TRUE(std::isinf(found.least[3]));
}

TEST(DrawnColumns, CountsForSeveralLinesAreSpread) {
    Rows rows;
    rows.add(2, 12, 0, 0, 4);  // two of the four lines lie on the axis
    const LineCounts counts = counts_of(rows, 4);
    EXPECT_EQ(counts.first(2), 3);
    EXPECT_EQ(counts.first(3), 3);
    EXPECT_EQ(counts.first(1), 0);
}

TEST(DrawnScale, EndsWhereAllButAHundredthReachIfTheRestIsFarAbove) {
    Rows rows;
    for (std::uint64_t i = 0; i < 599; ++i) rows.add(i, 10);
    rows.add(599, 1000);
    const CountColumns found = counts_of(rows, 600).columns(CountKind::accesses, all_in(10, 600 * 64));
    EXPECT_EQ(found.clip, 10);
    EXPECT_EQ(found.above, 1);
    EXPECT_EQ(end_of_scale(10, 1000, DrawnScale::automatic), 10);
    EXPECT_EQ(end_of_scale(10, 40, DrawnScale::automatic), 40);
    EXPECT_EQ(end_of_scale(10, 1000, DrawnScale::linear), 1000);
    EXPECT_EQ(end_of_scale(10, 1000, DrawnScale::logarithmic), 1000);
    EXPECT_EQ(clip_of({5, 1, 4, 2, 3}), 5);
    Numbers hundred;
    for (int i = 0; i < 200; ++i) hundred.push_back(200 - i);
    EXPECT_EQ(clip_of(hundred), 199);  // place 198 of 0 .. 199
    EXPECT_TRUE(std::isinf(clip_of({})));
}

TEST(DrawnLines, SelectedAreThoseWithMostByValueThenAddress) {
    Rows rows;
    for (std::uint64_t i = 0; i < 6; ++i) rows.add(i, i % 2 == 0 ? 5 : 1, 1);
    const SelectedLines found = counts_of(rows, 6).selected(CountKind::accesses, 3, 4);
    EXPECT_EQ(found.lines, 6);
    EXPECT_EQ(found.first, 18);
    EXPECT_EQ(found.sets, (Numbers{2, 2, 1, 1}));  // 0x1000 / 64 = 64: set 0
    ASSERT_EQ(found.worst.size(), 3U);
    EXPECT_EQ(found.worst[0].address, 0x1000U);
    EXPECT_EQ(found.worst[2].address, 0x1000U + 4 * 64);
    // a line that begins before the part is none of its lines
    LineCounts part({cut(lines_from_0x1000(6).axis(), 70, 200), 64}, true);
    part.add(rows);
    EXPECT_EQ(part.selected(CountKind::accesses, 3, 0).lines, 2);
}

TEST(DrawnLines, WorstRowsAddUpOverPhases) {
    Rows rows;
    rows.add(3, 5, 0, 0);
    rows.add(3, 5, 0, 1);
    rows.add(1, 7, 0, 1);
    rows.add(2, 50, 0, 2);
    const std::vector<std::uint32_t> phases{1, 0};
    const auto worst = worst_of(counted_lines(lines_from_0x1000(4), rows, phases), CountKind::accesses, 9);
    ASSERT_EQ(worst.size(), 2U);
    EXPECT_EQ(worst[0].address, 0x10C0U);
    EXPECT_EQ(worst[0].first, 10);
}

TEST(DrawnColumns, OfSingleLinesAreThoseOfAllLines) {
    Rows rows;
    for (std::uint64_t i = 0; i < 50; ++i) rows.add(i * i % 64, 1.0 + static_cast<double>(i % 7), i % 3 == 0, i % 2);
    const auto counted = counted_lines(lines_from_0x1000(64), rows, {});
    for (const CountKind kind : {CountKind::accesses, CountKind::misses, CountKind::hits, CountKind::miss_rate})
        for (const std::size_t columns : {7, 64, 200}) {
            const CountColumns all = counts_of(rows, 64).columns(kind, all_in(columns, 64 * 64));
            const CountColumns single = columns_of(lines_from_0x1000(64), counted, kind, all_in(columns, 64 * 64));
            EXPECT_EQ(all.sum, single.sum);
            EXPECT_EQ(all.touched, single.touched);
            EXPECT_EQ(all.most, single.most);
            EXPECT_EQ(all.clip, single.clip);
        }
}

TEST(DrawnSums, ByPhaseAndFunctionAreOfTheLinesOnTheAxis) {
    Rows rows;
    rows.add(0, 8, 4, 0);
    rows.add(1, 8, 2, 1, 2);
    rows.function = {1, 7};
    PhaseSums all(2, std::nullopt), part(2, lines_from_0x1000(2));
    all.add(rows);
    part.add(rows);
    EXPECT_EQ(all.first(), (Numbers{8, 8}));
    EXPECT_EQ(part.first(), (Numbers{8, 4}));  // one of two lines
    EXPECT_EQ(part.second(), (Numbers{4, 1}));
    FunctionSums functions(lines_from_0x1000(2), 3);
    functions.add(rows);
    EXPECT_EQ(functions.sums(), (Numbers{0, 8, 0, 8}));
}

TEST(DrawnRows, OfOneBlockAndPhaseAreOne) {
    Rows rows;
    rows.add(0, 1, 1);
    rows.add(3, 2, 1);
    rows.add(4, 4);
    rows.add(5, 8, 0, 1);
    const BlockRows blocks(rows, 4, 64);
    ASSERT_EQ(blocks.rows().count(), 3U);
    EXPECT_EQ(blocks.rows().first[0], 3);
    EXPECT_EQ(blocks.rows().address[1], 0x1100U);
    EXPECT_EQ(blocks.rows().span[2], 4U);
}

TEST(DrawnGroups, SpreadCountsEvenly) {
    Rows rows;
    rows.add(0, 6);
    rows.add(1, 2);
    rows.add(2, 5);
    const LineCounts exact = counts_of(rows, 3);
    // by hand: groups {6, 2} and {5, 0}, of which one line lies off the axis
    const std::vector<ByteRange> data{{0x1000, 0x10FF}};
    const GroupedCounts found = grouped(exact, 2, data);
    EXPECT_EQ(found.approximate.first(0), 4);
    EXPECT_EQ(found.difference.first(1), 2);
    EXPECT_EQ(found.approximate.first(2), 2.5);
    EXPECT_EQ(found.error, (2 + 2 + 2.5 + 2.5) / 13);
    EXPECT_TRUE(std::isnan(grouped(exact, 2, {}).error));
}

HeatCells heat_of(const Rows& rows, double lines, std::size_t columns, std::uint32_t phases, CountKind kind) {
    HeatSums sums(lines_from_0x1000(lines), 0, 64 * lines, columns, phases, true);
    sums.add(rows);
    return sums.cells(kind);
}

TEST(DrawnHeat, CellsAreMeansPerLineAndPhase) {
    Rows rows;
    rows.add(0, 6, 3, 0);
    rows.add(1, 2, 2, 0);
    rows.add(1, 4, 0, 1);
    const HeatCells cells = heat_of(rows, 4, 2, 2, CountKind::accesses);
    EXPECT_EQ(cells.sum, (Numbers{8, 0, 4, 0}));
    EXPECT_EQ(cells.weight, (Numbers{2, 0, 2, 0}));  // lines of any phase
    const HeatCells rates = heat_of(rows, 4, 2, 2, CountKind::miss_rate);
    EXPECT_EQ(rates.sum, (Numbers{5, 0, 0, 0}));
    EXPECT_EQ(rates.weight, (Numbers{8, 0, 4, 0}));
}

// The line is used without a miss in phase 1, and left alone in phase 2.
TEST(DrawnHeat, NoMissDiffersFromNoAccess) {
    Rows rows;
    rows.add(0, 6, 3, 0);
    rows.add(0, 6, 0, 1);
    for (const CountKind kind : {CountKind::misses, CountKind::accesses, CountKind::hits}) {
        const HeatCells cells = heat_of(rows, 1, 1, 3, kind);
        EXPECT_EQ(cells.weight, (Numbers{1, 1, -1})) << "as much as others where cells are put together";
        const std::vector<std::uint8_t> shades = shades_of({cells.sum, cells.weight}, DrawnScale::linear).cells;
        EXPECT_EQ(shades[1] == cell_zero, kind == CountKind::misses);
        EXPECT_EQ(shades[2], cell_empty);
    }
}

TEST(DrawnHeat, LinesCountByTheirParts) {
    Rows rows;
    for (std::uint64_t i = 0; i < 3; ++i) rows.add(i, 12);
    const HeatCells cells = heat_of(rows, 3, 2, 1, CountKind::accesses);
    EXPECT_EQ(cells.sum, (Numbers{18, 18}));
    EXPECT_EQ(cells.weight, (Numbers{1.5, 1.5}));
}

TEST(DrawnHeat, RunsOfManyLinesAreOnceInTheWeight) {
    Rows rows;
    rows.add(0, 200, 0, 0, 100);
    rows.add(0, 100, 0, 1, 100);
    const HeatCells cells = heat_of(rows, 100, 1, 2, CountKind::accesses);
    EXPECT_NEAR(cells.sum[0], 200, 1e-9);
    EXPECT_NEAR(cells.weight[1], 100, 1e-9);
}

TEST(DrawnHeat, ManyPhasesShareRows) {
    EXPECT_EQ(phase_edges(3), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    const auto edges = phase_edges(1000);
    EXPECT_EQ(edges.size(), 257U);
    EXPECT_EQ(edges[1], 3U);  // 1000 / 256 = 3.9
    EXPECT_EQ(edges.back(), 1000U);
    Rows rows;
    rows.add(0, 2, 0, 2);
    rows.add(0, 3, 0, 3);
    const HeatCells cells = heat_of(rows, 1, 1, 1000, CountKind::accesses);
    EXPECT_EQ(cells.sum[0], 2);
    EXPECT_EQ(cells.weight[0], 3);
    EXPECT_EQ(cells.sum[1], 3);
    EXPECT_EQ(cells.weight[1], 4);
}

TEST(DrawnHeat, CellsAreMeansOfTheirPartsOfLines) {
    Rows rows;
    for (const std::uint32_t phase : {0, 1})
        for (std::size_t line = 0; line < 200; ++line) rows.add(line, 5, static_cast<double>(line % 3), phase);
    for (const std::size_t count : {200, 40, 600, 7, 300}) {
        const HeatCells cells = heat_of(rows, 200, count, 2, CountKind::misses);
        for (std::size_t column = 0; column < count; ++column) {
            double all = 0, part = 0;
            for (std::size_t line = 0; line < 200; ++line) {  // by how much of the line is in the column
                const auto begin = static_cast<double>(std::max(line * count, column * 200));
                const auto end = static_cast<double>(std::min((line + 1) * count, (column + 1) * 200));
                all += static_cast<double>(line % 3) * std::max(0.0, end - begin);
                part += std::max(0.0, end - begin);
            }
            for (const std::size_t at : {column, count + column})
                EXPECT_NEAR(cells.sum[at] / cells.weight[at], all / part, 1e-9) << count << ' ' << column;
        }
    }
}

TEST(DrawnHeat, GridsWeighTheirBlocksByLines) {
    HeatSums sums({AddressAxis{{{0x1000, 512, 0}}, 512}, 256}, 0, 512, 1, 2, true);
    const std::vector<std::uint32_t> phases{0, 1};
    const std::vector<std::uint64_t> blocks{0x1000, 0x1100}, finer{0x1000, 0x1080, 0x1100};
    const Numbers first{10, 20, 30, 40}, second{1, 2, 3, 4}, lines{1, 2, 3};
    sums.add(HeatGrid{phases, blocks, first, second, finer, lines});
    EXPECT_EQ(sums.cells(CountKind::accesses).sum, (Numbers{30, 70}));
    EXPECT_EQ(sums.cells(CountKind::accesses).weight, (Numbers{6, 6}));
    EXPECT_EQ(sums.cells(CountKind::misses).sum, (Numbers{3, 7}));
}

// Of more than 256 phases files have rows of several (docs/format.md), that of the map.
TEST(DrawnHeat, GridsOfManyPhasesAreThoseOfTheirRows) {
    constexpr std::uint32_t phases = 1000;
    Rows rows;
    std::vector<std::uint32_t> firsts;
    for (std::uint32_t row = 0; row < 256; ++row) firsts.push_back(row * phases / 256);
    Numbers first(256 * 2), second(256 * 2), lines{1, 1};
    for (std::uint32_t phase = 0; phase < phases; ++phase)
        for (std::size_t line = 0; line < 2; ++line) {
            const double accesses = 1 + (phase * 7 + line) % 11, misses = (phase + line) % 2;
            rows.add(line, accesses, misses, phase);
            std::size_t row = 255;
            while (firsts[row] > phase) --row;
            first[row * 2 + line] += accesses;
            second[row * 2 + line] += misses;
        }
    const std::vector<std::uint64_t> blocks{0x1000, 0x1040};
    HeatSums sums(lines_from_0x1000(2), 0, 128, 2, phases, true);
    sums.add(HeatGrid{firsts, blocks, first, second, blocks, lines});
    for (const CountKind kind : {CountKind::accesses, CountKind::misses, CountKind::miss_rate}) {
        const HeatCells expected = heat_of(rows, 2, 2, phases, kind), found = sums.cells(kind);
        EXPECT_EQ(found.edges, expected.edges);
        EXPECT_EQ(found.sum, expected.sum);
        EXPECT_EQ(found.weight, expected.weight);
    }
}

TEST(DrawnShades, AreStepsOfTheScale) {
    const Numbers sum{0, 1, 50, 100, 7}, weight{1, 1, 1, 1, 0};
    const CellShades linear = shades_of({sum, weight}, DrawnScale::linear);
    // by hand: 1 of 100 in 48 steps is the first, 50 the 25th, 100 the last
    EXPECT_EQ(linear.cells,
              (std::vector<std::uint8_t>{cell_zero, first_shade, first_shade + 24, first_shade + 47, cell_empty}));
    EXPECT_EQ(linear.least, 1);
    EXPECT_EQ(linear.end, 100);
    const Numbers tens{1, 10, 100, 0, 0};
    const CellShades log = shades_of({tens, weight}, DrawnScale::logarithmic);
    EXPECT_EQ(log.cells,
              (std::vector<std::uint8_t>{first_shade, first_shade + 24, first_shade + 47, cell_zero, cell_empty}));
    EXPECT_TRUE(log.logarithmic);
}

TEST(DrawnShades, OutliersAreAboveTheScale) {
    Numbers sum(600, 10), weight(600, 1);
    sum[599] = 1000;
    const CellShades cut_off = shades_of({sum, weight}, DrawnScale::automatic);
    EXPECT_EQ(cut_off.end, 10);
    EXPECT_EQ(cut_off.most, 1000);
    EXPECT_EQ(cut_off.above, 1);
    EXPECT_EQ(cut_off.cells[599], cell_above);
    EXPECT_EQ(cut_off.cells[0], first_shade + 47);
    const CellValues beside{sum, weight};
    const Numbers few(600, 1);
    EXPECT_EQ(shades_of({few, weight}, DrawnScale::linear, &beside).end, 1000);
}

TEST(DrawnShades, OfDifferencesGoDownFromZero) {
    const Numbers sum{-8, 8, 0, 4}, weight{1, 1, 1, 1};
    const CellShades found = shades_of({sum, weight, true}, DrawnScale::automatic);
    EXPECT_EQ(found.cells,
              (std::vector<std::uint8_t>{first_shade + 48 + 47, first_shade + 47, cell_zero, first_shade + 24}));
    Numbers far(600, 10);
    far[1] = -1000, far[2] = -10;
    const CellShades cut_off = shades_of({far, Numbers(600, 1), true}, DrawnScale::automatic);
    EXPECT_EQ(cut_off.end, 10);
    EXPECT_EQ(cut_off.above, 1);
    EXPECT_EQ(cut_off.cells[1], cell_above);
    EXPECT_EQ(cut_off.cells[2], first_shade + 48 + 47);
}

}  // namespace
}  // namespace cachetally
