// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/heat.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/core/scale.hpp"

namespace cachetally {
namespace {

constexpr AxisLines::Number few_lines = 64;  ///< more lines that share a count are added together
constexpr double part_rounding = 1e-9;

}  // namespace

bool LineSet::add(std::uint64_t line) {
    const std::uint64_t number = line / chunk_lines;
    if (number != last_) chunk_ = &chunks_[last_ = number];
    std::uint64_t& word = (*chunk_)[line % chunk_lines / 64];
    const std::uint64_t bit = std::uint64_t{1} << (line % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
}

HeatSums::HeatSums(AxisLines lines, double x0, double x1, std::size_t columns, std::uint32_t phases, bool two)
    : lines_(std::move(lines)),
      x0_(x0),
      x1_(x1),
      columns_(columns),
      reach_(lines_.range(x0, x1)),
      edges_(phase_edges(std::max(phases, 1U))),
      row_of_(edges_.back()),
      touched_(columns) {
    const std::size_t rows = edges_.size() - 1;
    for (std::size_t row = 0; row < rows; ++row)
        std::fill(row_of_.begin() + edges_[row], row_of_.begin() + edges_[row + 1], static_cast<std::uint32_t>(row));
    first_.resize(rows * columns);
    if (two) second_.resize(rows * columns);
}

/// Adds to each of `count` lines side by side, as far as they are in sight.
void HeatSums::add(AxisLines::Number line, AxisLines::Number count, const Counted& counted) {
    if (line + count <= reach_.first || line >= reach_.second) return;
    const auto [begin, end] = lines_.part_of(line, count);
    const double from = std::max(begin, x0_), to = std::min(end, x1_);
    if (from >= to) return;
    const bool fresh = count > 1 ? runs_.insert(line).second : seen_.add(line);
    const double width = (x1_ - x0_) / static_cast<double>(columns_), unit = static_cast<double>(lines_.unit());
    const double whole = count > 1 ? unit : end - begin;
    for (auto column = static_cast<std::size_t>(std::floor((from - x0_) / width)); column < columns_; ++column) {
        const double left = x0_ + static_cast<double>(column) * width;
        if (left >= to) break;
        const double part = std::min(to, left + width) - std::max(from, left);
        if (part <= part_rounding * unit) continue;
        const double share = part / whole;
        first_[counted.row * columns_ + column] += counted.first * share;
        if (!second_.empty()) second_[counted.row * columns_ + column] += counted.second * share;
        if (fresh) touched_[column] += share * counted.weight;
    }
}

void HeatSums::add(const CountRows& rows) {
    for (std::size_t i = 0; i < rows.count(); ++i) {
        const double lines = rows.lines_of(i);
        const Counted counted{row_of(rows.phase[i]), rows.first[i] / lines, rows.second_of(i) / lines};
        lines_.visit(rows.address[i], rows.lines_of(i), [&](AxisLines::Number line, AxisLines::Number count) {
            if (count > few_lines) return add(line, count, counted);
            for (const auto end = line + count; line < end; ++line) add(line, 1, counted);
        });
    }
}

void HeatSums::add(const HeatGrid& grid) {
    const std::size_t blocks = grid.address.size();
    std::vector<double> touched(blocks);
    for (std::size_t i = 0, block = 0; i < grid.lines.size(); ++i) {
        while (block + 1 < blocks && grid.address[block + 1] <= grid.lines_address[i]) ++block;
        touched[block] += grid.lines[i];
    }
    for (std::size_t p = 0; p < grid.phases.size(); ++p)
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto line = touched[block] > 0 ? lines_.line_of(grid.address[block]) : std::nullopt;
            const std::size_t at = p * blocks + block;
            if (line) add(*line, 1, {row_of(grid.phases[p]), grid.first[at], grid.second[at], touched[block]});
        }
}

HeatCells HeatSums::cells(CountKind kind) const {
    if (kind == CountKind::miss_rate) return {columns_, edges_, second_, first_};
    HeatCells cells{columns_, edges_, first_, first_};
    for (std::size_t row = 0; row < cells.rows(); ++row)
        for (std::size_t column = 0; column < columns_; ++column) {
            const std::size_t at = row * columns_ + column;
            cells.sum[at] = value_of(kind, first_[at], second_.empty() ? 0 : second_[at]);
            const bool accessed =
                second_.empty() || first_[at] > 0;  // lines without misses differ from those left alone
            cells.weight[at] = touched_[column] * (edges_[row + 1] - edges_[row]) * (accessed ? 1 : -1);
        }
    return cells;
}

}  // namespace cachetally
