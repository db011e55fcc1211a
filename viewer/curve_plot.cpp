// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/curve_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// A logarithmic axis over positive values. Where there are others, the first cell is theirs alone.
class LogAxis {
public:
    LogAxis(const std::vector<double>& values, unsigned cells) : cells_(cells) {
        for (const double value : values) {
            if (!(value > 0)) {
                zeros_ = 1;
                continue;
            }
            least_ = least_ == 0 ? value : std::min(least_, value);
            most_ = std::max(most_, value);
        }
    }

    bool empty() const { return most_ == 0; }
    bool has_zeros() const { return zeros_ > 0; }
    double least() const { return least_; }
    double most() const { return most_; }
    double middle() const { return std::sqrt(least_ * most_); }

    /// What a cell stands for.
    double value(unsigned cell) const {
        return least_ *
               std::pow(most_ / least_, static_cast<double>(cell - zeros_) / std::max(1U, cells_ - 1 - zeros_));
    }

    unsigned cell(double value) const {
        if (!(value > 0)) return 0;
        if (!(value > least_) || most_ == least_) return zeros_;
        const double share = std::log(value / least_) / std::log(most_ / least_);
        return zeros_ + static_cast<unsigned>(std::lround(share * (cells_ - 1 - zeros_)));
    }

private:
    unsigned cells_, zeros_ = 0;  ///< cells for values that are not positive
    double least_ = 0, most_ = 0;
};

std::string amount_text(double value, const std::string& unit) {
    return unit == "bytes" ? bytes_text(static_cast<std::uint64_t>(std::lround(value))) : fmt::format("{:.3g}", value);
}

std::string x_labels(const LogAxis& axis, const std::string& unit, unsigned columns) {
    const std::string first = amount_text(axis.least(), unit), middle = amount_text(axis.middle(), unit),
                      last = amount_text(axis.most(), unit);
    std::string line(columns, ' ');
    const auto put = [&](std::size_t at, const std::string& text) {
        if (at + text.size() <= columns) line.replace(at, text.size(), text);
    };
    put(columns / 2 - std::min<std::size_t>(columns / 2, middle.size() / 2), middle);
    put(columns - std::min<std::size_t>(columns, last.size()), last);
    put(0, first);
    return line;
}

std::string unit_text(const Curve& curve) { return curve.unit == "loads" ? "single loads" : curve.unit + " per load"; }

}  // namespace

std::string draw_curve(const Curve& curve, const PlotStyle& style) {
    constexpr unsigned margin = 8;
    const unsigned columns = std::max(style.width, margin + 24) - margin;
    std::string text = wrapped(fmt::format("{} {}, {}: {} over {} (logarithmic scales)", curve.test, curve.variant,
                                           curve.name, unit_text(curve), curve.x_name),
                               columns + margin, 2);
    const LogAxis x(curve.x, columns), y(curve.cycles, style.height);
    if (y.empty()) return text + "  (0 everywhere)\n";
    std::vector<std::string> cells(std::size_t{columns} * style.height, " ");
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        const bool out = i < curve.knocked_out.size() && curve.knocked_out[i] != 0;
        std::string& cell = cells[std::size_t{y.cell(curve.cycles[i])} * columns + x.cell(curve.x[i])];
        if (cell != " " && out) continue;  // a point that was kept is not hidden
        cell = out ? (style.unicode ? "×" : "x") : (style.unicode ? "●" : "*");
    }
    for (unsigned row = style.height; row-- > 0;) {
        std::string scale;
        if (row + 1 == style.height) scale = fmt::format("{:.3g}", y.most());
        if (row == style.height / 2 && y.most() > y.least()) scale = fmt::format("{:.3g}", y.value(row));
        if (row <= 1 && y.has_zeros()) scale = row == 0 ? "0" : fmt::format("{:.3g}", y.least());
        if (row == 0 && !y.has_zeros()) scale = fmt::format("{:.3g}", y.least());
        std::string line = fmt::format("{:>{}}{}", scale, margin - 1, style.unicode ? "│" : "|");
        for (unsigned c = 0; c < columns; ++c) line += cells[std::size_t{row} * columns + c];
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text + std::string(margin, ' ') + x_labels(x, curve.x_unit, columns) + '\n';
}

}  // namespace cachetally
