// SPDX-License-Identifier: BSD-3-Clause
// Histograms as columns and pictures, by hand.
#include "viewer/plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr double mean_of_none = -1;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
        lines.push_back(text.substr(from, to - from));
    return lines;
}

/// Lines 0, 1, ... of an area with the given values.
PlotInput values_from(Address base, const std::vector<double>& values) {
    PlotInput input;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0) input.points.push_back({base + 64 * i, values[i], 1});
    return input;
}

TEST(Plot, ColumnsAreMeansOverTouchedLines) {
    const std::vector<Region> regions{{"A", 0x1000, 8 * 64, 8}};
    const PlotColumns columns = plot_columns(values_from(0x1000, {1, 3, 0, 5, 0, 0, 2, 2}), regions, 4);
    EXPECT_EQ(columns.heights, (std::vector<double>{2, 5, 0, 2}));
    EXPECT_EQ(columns.addresses, (std::vector<Address>{0x1000, 0x1080, 0x1100, 0x1180}));
    EXPECT_EQ(columns.highest, 5);
}

TEST(Plot, RatesAreOverWeights) {
    PlotInput input;
    input.rate = true;
    input.points = {{0x1000, 1, 4}, {0x1040, 3, 4}, {0x1080, 0, 10}};
    const std::vector<Region> regions{{"A", 0x1000, 4 * 64, 8}};
    EXPECT_EQ(plot_columns(input, regions, 2).heights, (std::vector<double>{50, 0}));
}

TEST(Plot, LinesAreDrawnAsWideAsTheyAre) {
    const std::vector<Region> regions{{"A", 0x1000, 2 * 64, 8}};
    EXPECT_EQ(plot_columns(values_from(0x1000, {7, 3}), regions, 6).heights, (std::vector<double>{7, 7, 7, 3, 3, 3}));
    EXPECT_EQ(plot_columns(values_from(0x1000, {0, 3}), regions, 6).heights, (std::vector<double>{0, 0, 0, 3, 3, 3}));
}

TEST(Plot, SegmentsAreDataStructuresAndWhatLiesBetween) {
    PlotInput input = values_from(0x1000, {1, 1});
    input.points.push_back({0x9000000, 4, 1});  // far from everything
    input.points.push_back({0x2000, 2, 1});
    const std::vector<Region> regions{{"B", 0x2000, 256, 1}, {"A", 0x1000, 128, 1}, {"unused", 0x5000, 4096, 1}};
    const PlotColumns columns = plot_columns(input, regions, 40);
    ASSERT_EQ(columns.segments.size(), 3U);
    EXPECT_EQ(columns.segments[0].label, "A");
    EXPECT_EQ(columns.segments[1].label, "B");
    EXPECT_EQ(columns.segments[2].label, "");
    EXPECT_EQ(columns.segments[2].first, 0x9000000U);
    unsigned total = 2;  // the gaps
    for (const PlotSegment& segment : columns.segments) total += segment.columns;
    EXPECT_LE(total, 40U);
    EXPECT_EQ(columns.heights.size(), total - 2);
}

TEST(Plot, AnyNumberOfSegmentsHasRoom) {
    PlotInput input;
    for (Address i = 0; i < 500; ++i) input.points.push_back({i << 24, static_cast<double>(i + 1), 1});
    for (const unsigned width : {20U, 80U, 300U}) {
        const PlotColumns columns = plot_columns(input, {}, width);
        EXPECT_LE(columns.heights.size() + columns.segments.size() - 1, width);
        EXPECT_GT(columns.heights.size(), width / 2);
    }
    for (const std::string& line : lines_of(draw(input, {}, {80, 10, true}))) EXPECT_LE(columns_of(line), 80U);
}

TEST(Plot, TheLastLineOfTheAddressSpace) {
    PlotInput input;
    input.points = {{~Address{63}, 5, 1}, {0, 5, 1}};
    const std::vector<Region> regions{{"top", ~Address{0} - 99, 100, 1}};
    const PlotColumns columns = plot_columns(input, regions, 40);
    EXPECT_EQ(columns.segments.size(), 2U);
    EXPECT_EQ(columns.segments.back().label, "top");
    EXPECT_EQ(columns.heights.back(), 5);
    EXPECT_EQ(plot_columns(input, {}, 3).heights, (std::vector<double>{5, 0, 5}));  // in one segment
}

TEST(Plot, PictureInAscii) {
    const std::vector<Region> regions{{"A", 0x1000, 16 * 64, 8}};
    PlotInput input = values_from(0x1000, {2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 0, 0, 0, 0});
    input.title = "accesses";
    EXPECT_EQ(draw(input, regions, {24, 3, false}),
              "accesses\n"
              "      6|        ####\n"
              "      3|    ########\n"
              "      0|############\n"
              "        |______A_______|\n"
              "        A: 1 KiB from 0x1000\n");
}

TEST(Plot, PictureInUnicode) {
    const std::vector<Region> regions{{"long name", 0x1000, 8 * 64, 8}};
    PlotInput input = values_from(0x1000, {1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(draw(input, regions, {16, 1, true}),
              "\n"
              "      0│▁▂▃▄▅▆▇█\n"
              "        └──a───┘\n"
              "        a = long name: 512 B from 0x1000\n");
}

TEST(Plot, SteepHistogramsAreLogarithmic) {
    const std::vector<Region> regions{{"A", 0, 4 * 64, 8}};
    PlotInput input = values_from(0, {2, 2, 2, 1000});
    const std::string text = draw(input, regions, {12, 3, false});
    EXPECT_NE(text.find("logarithmic"), std::string::npos);
    EXPECT_EQ(lines_of(text)[3].substr(7), "|......##");  // what is there is seen
}

TEST(Plot, MostLinesDecideTheScaleNotTheColumns) {
    const std::vector<Region> regions{{"A", 0, 64 * 64, 8}};
    const auto is_logarithmic = [&](const PlotInput& input) {
        return draw(input, regions, {12, 3, false}).find("logarithmic") != std::string::npos;
    };
    std::vector<double> values(64, 1);
    std::fill(values.begin() + 31, values.end(), 51);  // 31 of 64 lie below a fiftieth
    EXPECT_FALSE(is_logarithmic(values_from(0, values)));
    values[31] = values[32] = 1;  // 33 do; each column has both but few
    EXPECT_TRUE(is_logarithmic(values_from(0, values)));
    for (double& value : values) value = value == 51 ? 50 : value;  // none lies below, 1 is just a fiftieth
    EXPECT_FALSE(is_logarithmic(values_from(0, values)));
}

TEST(Plot, HeatTellsZeroFromUntouched) {
    const std::vector<Region> regions{{"A", 0x1000, 8 * 64, 8}};
    PlotInput input;
    input.title = "misses";
    for (const double value : {4, 4, 0, 0, 4, 0}) {
        const std::size_t line = input.points.size();
        input.points.push_back({0x1000 + 64 * line, value, 1});
        input.phases.push_back(line < 4 ? 0 : 1);
    }
    std::vector<std::string> text = lines_of(draw_heat(input, regions, {21, 10, false}));
    EXPECT_EQ(text[0], "misses, by phase (# = 4, - = 0)");
    EXPECT_EQ(text[2], "           0|##--");
    EXPECT_EQ(text[3], "           1|    #-");
    text = lines_of(draw_heat(input, regions, {21, 10, true}));
    EXPECT_EQ(text[2], "           0│██··");
}

TEST(Plot, UnevenHeatMapsHaveALogarithmicScale) {
    const std::vector<Region> regions{{"A", 0x1000, 8 * 64, 8}};
    PlotInput input = values_from(0x1000, {1, 1, 4, 4, 16, 16, 1024, 1024});
    input.phases.assign(8, 0);
    input.title = "accesses";
    const std::vector<std::string> text = lines_of(draw_heat(input, regions, {21, 10, false}));
    EXPECT_EQ(text[0] + text[1], "accesses, by phase (# = 1.02k,  logarithmic scale)");
    EXPECT_EQ(text[3], "           0|..::::##");  // 1, 3, 5 and 11 of 11 doublings above a half
}

/// Each cell has the mean of the lines that begin in it, or where none does, shows what the column has that its line
/// begins in.
std::string heat_row(const std::vector<std::vector<double>>& phases, std::size_t phase, unsigned columns) {
    const std::size_t lines = phases[0].size();
    const auto mean = [&](std::size_t row, std::size_t column) {
        double sum = 0, count = 0;
        for (std::size_t line = 0; line < lines; ++line)
            if (line * columns / lines == column) sum += phases[row][line], count += 1;
        return count > 0 ? sum / count : mean_of_none;
    };
    double highest = 0;
    for (std::size_t row = 0; row < phases.size(); ++row)
        for (unsigned column = 0; column < columns; ++column) highest = std::max(highest, mean(row, column));
    std::string row;
    for (std::size_t column = 0; column < columns; ++column) {
        double value = mean(phase, column);
        if (value == mean_of_none) value = mean(phase, column * lines / columns * columns / lines);
        row += "-.:+#"[static_cast<std::size_t>(std::ceil(value / highest * 4 - 1e-9))];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    return row;
}

TEST(Plot, HeatHasTheMeansOfTheLinesAtAnyWidth) {
    for (const std::size_t lines : {3U, 10U, 17U, 100U, 251U})
        for (const unsigned columns : {8U, 15U, 67U, 80U, 100U, 130U}) {
            PlotInput input;
            std::vector<std::vector<double>> phases(4);
            std::minstd_rand random(1);
            for (std::uint32_t phase = 0; phase < 4; ++phase)
                for (std::size_t line = 0; line < lines; ++line) {
                    phases[phase].push_back(static_cast<double>(random() % 3 * (random() % 50)));
                    input.points.push_back({0x1000 + 64 * line, phases[phase].back(), 1});
                    input.phases.push_back(phase);
                }
            const std::vector<Region> regions{{"A", 0x1000, 64 * lines, 8}};
            const std::vector<std::string> text = lines_of(draw_heat(input, regions, {columns + 13, 10, false}));
            ASSERT_EQ(text.size(), 6U);
            for (std::uint32_t phase = 0; phase < 4; ++phase)
                EXPECT_EQ(text[phase + 2].substr(13), heat_row(phases, phase, columns)) << lines << ' ' << columns;
        }
}

TEST(Plot, HeatRowsOfSeveralPhasesAreMeansPerPhase) {  // 45 phases in 40 rows: some have one, some have two
    PlotInput input;
    input.title = "accesses";
    for (std::uint32_t phase = 0; phase < 45; ++phase)
        for (std::uint64_t line = 0; line < 8; ++line) {
            input.points.push_back({0x1000 + 64 * line, line < 4 ? 8.0 : 2.0, 1});
            input.phases.push_back(phase);
        }
    const std::vector<Region> regions{{"A", 0x1000, 8 * 64, 8}};
    const std::vector<std::string> text = lines_of(draw_heat(input, regions, {21, 10, false}));
    EXPECT_EQ(text[0], "accesses, by phase (means) (# = 8)");
    ASSERT_EQ(text.size(), 42U);
    for (std::size_t row = 2; row < 42; ++row) EXPECT_EQ(text[row].substr(13), "####....") << row;
}

TEST(Plot, LinesLittleWiderThanColumnsKeepTheirOwn) {  // 3 lines in 4 columns: only in the last no line begins
    const std::vector<Region> regions{{"A", 0x1000, 3 * 64, 8}};
    EXPECT_EQ(plot_columns(values_from(0x1000, {7, 3, 5}), regions, 4).heights, (std::vector<double>{7, 3, 5, 5}));
}

TEST(Plot, NothingToDrawIsSaid) {
    PlotInput input;
    input.title = "misses";
    EXPECT_EQ(draw(input, {}, {80, 10, true}), "misses\n  (no events)\n");
    input.points = {{64, 0, 5}};
    EXPECT_EQ(draw(input, {}, {80, 10, true}), "misses\n  (0 everywhere)\n");
}

}  // namespace
}  // namespace cachetally
