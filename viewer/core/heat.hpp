// SPDX-License-Identifier: BSD-3-Clause
// Cells of heat maps: means per line and phase, at every zoom.
//
// A cell covers a stretch of the axis and some phases. Its lines are those that have counts in any phase; a line that
// lies in it in part counts by that part, in what it adds and in what it weighs. So lines of equal counts have one
// colour, however cells and lines lie. A cell
// without any access, where these are known, is drawn as empty, and weighs in what cells make together. Rates are
// misses over accesses, shared out in the same way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "viewer/core/counts.hpp"
#include "viewer/core/lines.hpp"

namespace cachetally {

/// Sums over weights by row and column, so that cells can be put together.
struct HeatCells {
    std::size_t columns = 0;
    std::vector<std::uint32_t> edges;  ///< the first phase of each row, and one behind the last
    std::vector<double> sum;
    std::vector<double> weight;  ///< lines that have any counts, times phases; of rates accesses; below 0: not accessed

    std::size_t rows() const { return edges.size() - 1; }
};

/// Adds numbers to a set, by bits: little memory also if they lie far apart.
class LineSet {
public:
    /// Whether it was not there yet.
    bool add(std::uint64_t line);

private:
    static constexpr std::uint64_t chunk_lines = 1024;
    using Chunk = std::array<std::uint64_t, chunk_lines / 64>;

    std::unordered_map<std::uint64_t, Chunk> chunks_;
    std::uint64_t last_ = ~std::uint64_t{0};
    Chunk* chunk_ = nullptr;
};

/// The table `grid` of a level (docs/format.md): sums by phase and block of lines, and the blocks of a pyramid, of
/// which these are made, with the number of their lines that have counts.
struct HeatGrid {
    std::span<const std::uint32_t> phases;
    std::span<const std::uint64_t> address;
    std::span<const double> first, second;  ///< by phase and block
    std::span<const std::uint64_t> lines_address;
    std::span<const double> lines;
};

class HeatSums {
public:
    /// Columns of x0 .. x1; `two`: whether rows have two counts.
    HeatSums(AxisLines lines, double x0, double x1, std::size_t columns, std::uint32_t phases, bool two);

    void add(const CountRows& rows);
    void add(const HeatGrid& grid);
    HeatCells cells(CountKind kind) const;

private:
    struct Counted {
        std::size_t row = 0;
        double first = 0, second = 0;  ///< of each line
        double weight = 1;             ///< lines with counts that it stands for
    };

    void add(AxisLines::Number line, AxisLines::Number count, const Counted& counted);
    std::size_t row_of(std::uint32_t phase) const { return row_of_[std::min<std::size_t>(phase, row_of_.size() - 1)]; }

    AxisLines lines_;
    double x0_, x1_;
    std::size_t columns_;
    AxisLines::Numbers reach_;
    std::vector<std::uint32_t> edges_;
    std::vector<std::uint32_t> row_of_;  ///< by phase
    std::vector<double> first_, second_;
    std::vector<double> touched_;  ///< lines by column
    LineSet seen_;
    std::unordered_set<AxisLines::Number> runs_;  ///< first lines of runs that were seen: blocks of reduced copies are
                                                  ///< the same in all phases
};

}  // namespace cachetally
