// SPDX-License-Identifier: BSD-3-Clause
// The picture of a histogram.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "viewer/plot.hpp"
#include "viewer/spread.hpp"
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
std::string scale_text(double value, bool rate) { return rate ? percent_text(value) + "%" : count_cell(value).brief; }

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

}  // namespace cachetally
