// SPDX-License-Identifier: BSD-3-Clause
// Heat maps: phases over addresses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/plot.hpp"
#include "viewer/spread.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// The first phase of a row, or one behind the last of the row before.
std::uint64_t first_phase(std::uint64_t row, unsigned rows, unsigned phases) {
    return (row * phases + rows - 1) / rows;
}

double phases_of(std::uint64_t row, unsigned rows, unsigned phases) {
    return static_cast<double>(first_phase(row + 1, rows, phases) - first_phase(row, rows, phases));
}

/// Values by row and column.
class HeatCells {
public:
    HeatCells(const PlotInput& input, const PlotColumns& columns, unsigned rows, unsigned phases)
        : columns_(columns.heights.size()), values_(rows * columns_) {
        std::vector<double> weights(values_.size());
        const std::vector<double> lines = lines_of(input, columns);
        for (std::size_t i = 0; i < input.points.size(); ++i) {
            const auto column = column_at(columns, input.points[i].address);
            if (!column) continue;
            const std::size_t cell = std::uint64_t{input.phases[i]} * rows / phases * columns_ + *column;
            values_[cell] += input.points[i].value;
            weights[cell] += input.points[i].weight;
        }
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const double over =
                input.rate ? weights[i] / 100 : lines[i % columns_] * phases_of(i / columns_, rows, phases);
            if (over > 0) values_[i] /= over;
        }
        widen(columns);
    }

    double at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
    /// The lowest above 0.
    double lowest() const {
        double least = highest();
        for (const double value : values_)
            if (value > 0) least = std::min(least, value);
        return least;
    }
    double highest() const { return values_.empty() ? 0 : *std::ranges::max_element(values_); }

private:
    /// How many lines of each column have points at all.
    static std::vector<double> lines_of(const PlotInput& input, const PlotColumns& columns) {
        std::vector<Address> addresses;
        for (const PlotPoint& point : input.points) addresses.push_back(point.address);
        std::ranges::sort(addresses);
        addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
        std::vector<double> lines(columns.heights.size());
        for (const Address address : addresses)
            if (const auto column = column_at(columns, address)) lines[*column] += 1;
        return lines;
    }

    /// A line that is wider than a column is drawn in all columns that begin in it.
    void widen(const PlotColumns& columns) {
        for (std::size_t cell = 0; cell < values_.size(); ++cell)
            values_[cell] = values_[cell - cell % columns_ + columns.sources[cell % columns_]];
    }

    std::size_t columns_;
    std::vector<double> values_;
};

/// From what a cell has to how full it is drawn; what is there is seen.
class Fullness {
public:
    Fullness(const PlotInput& input, const HeatCells& cells) : most_(cells.highest()) {
        std::vector<double> values;
        for (const PlotPoint& point : input.points) values.push_back(point.value);
        if (!input.rate && is_uneven(values)) least_ = cells.lowest() / 2;
    }

    bool logarithmic() const { return least_ > 0; }
    std::size_t of(double value, double steps) const {
        const double part = !logarithmic() ? value / most_
                            : value > 0    ? std::log(value / least_) / std::log(most_ / least_)
                                           : 0;
        return static_cast<std::size_t>(std::ceil(part * steps - 1e-9));
    }

private:
    double most_, least_ = 0;
};

/// The names of the data structures over their columns.
std::string heading(const PlotColumns& columns, unsigned margin) {
    std::string line(margin, ' ');
    for (const PlotSegment& segment : columns.segments) {
        const std::string name = shortened(segment.label, segment.columns);
        line += name + std::string(segment.columns - columns_of(name) + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

std::string phases_text(unsigned row, unsigned rows, unsigned phases) {
    const std::uint64_t first = first_phase(row, rows, phases), last = first_phase(row + 1ULL, rows, phases) - 1;
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::string draw_heat(const PlotInput& input, std::span<const Region> regions, const PlotStyle& style,
                      unsigned most_rows) {
    constexpr unsigned margin = 13;
    const PlotColumns columns = plot_columns(input, regions, std::max(style.width, margin + 8) - margin);
    if (columns.heights.empty()) return without_controls(input.title) + "\n  (no events)\n";
    const unsigned phases = *std::ranges::max_element(input.phases) + 1, rows = std::min(phases, most_rows);
    const HeatCells cells(input, columns, rows, phases);
    const double highest = cells.highest();
    if (highest <= 0) return without_controls(input.title) + "\n  (0 everywhere)\n";
    const std::vector<std::string> glyphs = style.unicode ? std::vector<std::string>{" ", "░", "▒", "▓", "█"}
                                                          : std::vector<std::string>{" ", ".", ":", "+", "#"};
    const auto steps = static_cast<double>(glyphs.size() - 1);
    const Fullness fullness(input, cells);
    constexpr unsigned narrowest = 40;  // columns for the title
    std::string text =
        wrapped(fmt::format("{}, by phase{} ({} = {}{})", input.title, rows < phases && !input.rate ? " (means)" : "",
                            glyphs.back(), input.rate ? percent_text(highest) + "%" : count_cell(highest).brief,
                            fullness.logarithmic() ? ", logarithmic scale" : ""),
                std::max(style.width, narrowest), 2) +
        heading(columns, margin);
    for (unsigned row = 0; row < rows; ++row) {
        std::string line =
            fmt::format("{:>{}}{}", phases_text(row, rows, phases), margin - 1, style.unicode ? "│" : "|");
        std::size_t column = 0;
        for (std::size_t i = 0; i < columns.segments.size(); ++i) {
            if (i > 0) line += ' ';
            for (unsigned c = 0; c < columns.segments[i].columns; ++c)
                line += glyphs[fullness.of(cells.at(row, column++), steps)];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

}  // namespace cachetally
