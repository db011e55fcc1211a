// SPDX-License-Identifier: BSD-3-Clause
// The picture of a histogram.
// Heat maps: phases over addresses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "viewer/plot.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// Glyphs of a cell by how full it is.
struct Glyphs {
    std::vector<std::string> fill;  ///< from empty to full
    std::string left, right, line, corner, axis;
};

Glyphs glyphs(bool unicode) {
    if (unicode) return {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "└", "┘", "─", "┤", "│"};
    return {{" ", ".", ":", "#"}, "|", "|", "_", "|", "|"};
}

/// "1.2k", "37 %".
std::string scale_text(double value, bool rate) { return rate ? percent_text(value) + "%" : rounded_text(value); }

class Picture {
public:
    Picture(const PlotInput& input, std::span<const Region> regions, const PlotStyle& style)
        : input_(input), style_(style), glyphs_(glyphs(style.unicode)) {
        columns_ = plot_columns(input, regions, std::max(style.width, margin + 8) - margin);
        top_ = input.rate && columns_.highest <= 100 ? nice_percent(columns_.highest) : columns_.highest;
        choose_scale();
    }

    std::string text() const {
        std::string text =
            wrapped(input_.title + (logarithmic_ ? " (logarithmic scale)" : ""), std::max(style_.width, narrowest), 2);
        if (columns_.heights.empty()) return text + "  (no events)\n";
        if (columns_.highest <= 0) return text + "  (0 everywhere)\n";
        for (unsigned row = style_.height; row-- > 0;) text += row_text(row);
        return text + labels() + legend();
    }

private:
    static constexpr unsigned margin = 8;

    /// Counts of which most would be too low to be seen are drawn on a logarithmic scale, from half of the lowest up.
    void choose_scale() {
        if (input_.rate) return;
        std::map<Address, double> lines;
        for (const PlotPoint& point : input_.points) lines[point.address] += point.value;
        std::vector<double> values;
        values.reserve(lines.size());
        for (const auto& [address, value] : lines) values.push_back(value);
        logarithmic_ = is_uneven(values);
        least_ = top_;
        for (const double height : columns_.heights)
            if (height > 0) least_ = std::min(least_, height / 2);
    }

    double middle() const { return logarithmic_ ? std::sqrt(top_ * least_) : top_ / 2; }

    /// The next of 1, 2, 5, 10, ... per cent.
    static double nice_percent(double highest) {
        if (highest <= 0) return 1;
        const double power = std::pow(10, std::floor(std::log10(highest)));
        for (const double step : {1.0, 2.0, 5.0})
            if (highest <= step * power) return step * power;
        return 10 * power;
    }

    std::string row_text(unsigned row) const {
        std::string scale;
        if (row + 1 == style_.height) scale = scale_text(top_, input_.rate);
        if (row + 1 == style_.height - style_.height / 2) scale = scale_text(middle(), input_.rate);
        if (row == 0) scale = logarithmic_ ? scale_text(least_, input_.rate) : "0";
        std::string line = fmt::format("{:>{}}{}", scale, margin - 1, glyphs_.axis);
        std::size_t column = 0;
        for (std::size_t i = 0; i < columns_.segments.size(); ++i) {
            if (i > 0) line += ' ';
            for (unsigned c = 0; c < columns_.segments[i].columns; ++c) line += cell(columns_.heights[column++], row);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        return line + '\n';
    }

    const std::string& cell(double height, unsigned row) const {
        const auto steps = static_cast<double>(glyphs_.fill.size() - 1);
        const double part =
            logarithmic_ && height > 0 ? std::log(height / least_) / std::log(top_ / least_) : height / top_;
        double filled = part * style_.height * steps;
        if (height > 0) filled = std::max(filled, 1.0);  // what is there is seen
        const double here = std::clamp(std::round(filled) - row * steps, 0.0, steps);
        return glyphs_.fill[static_cast<std::size_t>(here)];
    }

    /// The brackets beneath, with names where they have room, else with letters.
    std::string labels() const {
        std::string line(margin, ' ');
        char key = 'a';
        for (std::size_t i = 0; i < columns_.segments.size(); ++i) {
            if (i > 0) line += ' ';
            const PlotSegment& segment = columns_.segments[i];
            const std::string name = has_room(segment) ? segment.label : std::string(1, next(key));
            const std::size_t inner = segment.columns >= 2 ? segment.columns - 2 : 0;
            const std::size_t free = inner >= columns_of(name) ? inner - columns_of(name) : 0;
            if (segment.columns < 3) {
                line += shortened(name, segment.columns) + std::string(segment.columns - 1, ' ');
                continue;
            }
            line += glyphs_.left;
            for (std::size_t c = 0; c < free / 2; ++c) line += glyphs_.line;
            line += name;
            for (std::size_t c = free / 2; c < free; ++c) line += glyphs_.line;
            line += glyphs_.right;
        }
        return line + '\n';
    }

    std::string legend() const {
        std::string text;
        char key = 'a';
        for (const PlotSegment& segment : columns_.segments) {
            const bool keyed = !has_room(segment);
            const std::string letter = keyed ? std::string(1, next(key)) + " = " : "";
            if (!keyed && columns_.segments.size() > most_listed) continue;
            const std::string line = fmt::format("{:{}}{}{}: {} from {:#x}", "", margin, letter,
                                                 segment.label.empty() ? "other addresses" : segment.label,
                                                 bytes_text(segment.size), segment.base);
            text += shortened(line, std::max(style_.width, narrowest)) + '\n';
        }
        return text;
    }

    static constexpr std::size_t most_listed = 12;
    static constexpr unsigned narrowest = 40;  ///< columns for texts beneath
    static char next(char& key) {
        const char now = key;
        key = key == 'z' ? 'A' : (key == 'Z' ? 'Z' : static_cast<char>(key + 1));
        return now;
    }
    static bool has_room(const PlotSegment& segment) {
        return !segment.label.empty() && columns_of(segment.label) + 2 <= segment.columns;
    }

    const PlotInput& input_;
    PlotStyle style_;
    Glyphs glyphs_;
    PlotColumns columns_;
    double top_ = 0, least_ = 0;
    bool logarithmic_ = false;
};

}  // namespace

std::string draw(const PlotInput& input, std::span<const Region> regions, const PlotStyle& style) {
    return Picture(input, regions, style).text();
}

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
        : columns_(columns.heights.size()), values_(rows * columns_), touched_(values_.size()) {
        std::vector<double> weights(values_.size());
        const std::vector<double> lines = lines_of(input, columns);
        for (std::size_t i = 0; i < input.points.size(); ++i) {
            const auto column = column_at(columns, input.points[i].address);
            if (!column) continue;
            const std::size_t cell = std::uint64_t{input.phases[i]} * rows / phases * columns_ + *column;
            values_[cell] += input.points[i].value;
            weights[cell] += input.points[i].weight;
            touched_[cell] = true;
        }
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const double over =
                input.rate ? weights[i] / 100 : lines[i % columns_] * phases_of(i / columns_, rows, phases);
            if (over > 0) values_[i] /= over;
        }
        widen(columns);
    }

    double at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
    /// Accessed, yet without any of what is counted.
    bool is_zero(std::size_t row, std::size_t column) const {
        return touched_[row * columns_ + column] && at(row, column) <= 0;
    }
    bool any_zero() const {
        for (std::size_t cell = 0; cell < values_.size(); ++cell)
            if (is_zero(cell / columns_, cell % columns_)) return true;
        return false;
    }
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
        for (std::size_t cell = 0; cell < values_.size(); ++cell) {
            const std::size_t source = cell - cell % columns_ + columns.sources[cell % columns_];
            values_[cell] = values_[source];
            touched_[cell] = touched_[source];
        }
    }

    std::size_t columns_;
    std::vector<double> values_;
    std::vector<bool> touched_;
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
    const std::string zero = style.unicode ? "·" : "-";
    const auto steps = static_cast<double>(glyphs.size() - 1);
    const Fullness fullness(input, cells);
    constexpr unsigned narrowest = 40;  // columns for the title
    std::string text =
        wrapped(fmt::format("{}, by phase{} ({} = {}{}{})", input.title, rows < phases && !input.rate ? " (means)" : "",
                            glyphs.back(), input.rate ? percent_text(highest) + "%" : rounded_text(highest),
                            fullness.logarithmic() ? ", logarithmic scale" : "",
                            cells.any_zero() ? fmt::format(", {} = 0", zero) : ""),
                std::max(style.width, narrowest), 2) +
        heading(columns, margin);
    for (unsigned row = 0; row < rows; ++row) {
        std::string line =
            fmt::format("{:>{}}{}", phases_text(row, rows, phases), margin - 1, style.unicode ? "│" : "|");
        std::size_t column = 0;
        for (std::size_t i = 0; i < columns.segments.size(); ++i) {
            if (i > 0) line += ' ';
            for (unsigned c = 0; c < columns.segments[i].columns; ++c, ++column)
                line += cells.is_zero(row, column) ? zero : glyphs[fullness.of(cells.at(row, column), steps)];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

bool is_uneven(std::span<const double> values) {
    constexpr double far = 50;
    if (values.empty()) return false;
    const double most = std::ranges::max(values);
    const auto all = std::ranges::count_if(values, [](double value) { return value > 0; });
    const auto low = std::ranges::count_if(values, [&](double value) { return value > 0 && value * far < most; });
    return 2 * low > all;
}

}  // namespace cachetally
