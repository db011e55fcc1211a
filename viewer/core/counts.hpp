// SPDX-License-Identifier: BSD-3-Clause
// Counts of the lines of an axis, and columns of a picture of them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "viewer/core/lines.hpp"

namespace cachetally {

/// What is shown of lines; hits, misses and rates are of levels alone.
enum class CountKind : std::uint8_t { accesses, misses, hits, miss_rate, count };

/// The number that is shown of a line.
double value_of(CountKind kind, double first, double second);

/// Columns of x0 .. x1 of an axis, of which `sight` can be seen.
struct ColumnView {
    double x0 = 0, x1 = 1;
    std::size_t count = 1;
    std::pair<double, double> sight = {0, 1};
};

/// By column: lines with counts, their sum, the least and most of them. A line that is wider than a column counts in
/// the first that it lies in; least and most are those of all. Of rates accesses instead of lines, and misses as sum.
struct CountColumns {
    explicit CountColumns(std::size_t count);

    std::vector<double> touched, sum, least, most;
    double total = 0;  ///< of all rows, on the axis or not
    /// What all but a hundredth of the lines in sight reach, and how many lie above it; of pyramids blocks instead of
    /// lines. Rates are never cut.
    double clip = std::numeric_limits<double>::infinity(), above = 0;
};

/// Columns as they were made, of x0 .. x1 of an axis.
struct MadeColumns {
    double x0 = 0, x1 = 1;
    std::span<const double> touched, sum, least, most;
};

/// What pixels of a stretch show of columns: of each its mean, least, most and sum over those that it reaches (NaN,
/// infinity and -infinity where no lines are).
struct PixelColumns {
    std::vector<double> mean, least, most, sum;
    double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;  ///< of all
    double positive = smallest;               ///< the least above 0: for logarithmic scales
    std::pair<double, double> stretch{0, 0};  ///< of the axis, that the columns take
};
PixelColumns pixels_of(const MadeColumns& columns, double x0, double x1, std::size_t pixels);

/// A line, and its counts.
struct CountedLine {
    std::uint64_t address = 0;
    double first = 0, second = 0;
};

/// What some stretches of addresses hold: lines with counts, their sums, how many by cache set, and the lines with
/// most.
struct SelectedLines {
    double lines = 0, first = 0, second = 0;
    std::vector<double> sets;
    std::vector<CountedLine> worst;
};

/// Counts of all lines of an axis.
class LineCounts {
public:
    /// `two`: whether there are two counts by line.
    LineCounts(AxisLines lines, bool two);

    /// A count for several lines is spread evenly.
    void add(const CountRows& rows);

    const AxisLines& lines() const { return lines_; }
    double first(AxisLines::Number line) const { return first_[line]; }
    double second(AxisLines::Number line) const { return second_.empty() ? 0 : second_[line]; }
    void set_first(AxisLines::Number line, double value) { first_[line] = value; }
    void set_total(double total) { total_ = total; }

    /// The values above 0 of the lines in x0 .. x1.
    std::vector<double> values(CountKind kind, std::pair<double, double> sight) const;
    CountColumns columns(CountKind kind, const ColumnView& view) const;
    /// At most so many of the lines with most; `sets` of a cache, 0: none.
    SelectedLines selected(CountKind kind, std::size_t most, std::uint64_t sets) const;

private:
    AxisLines lines_;
    std::vector<double> first_, second_;
    double total_ = 0, total_second_ = 0;
};

/// Blocks of a pyramid by columns (docs/format.md): sums, least and most of their lines, and what they are over (lines;
/// of rates accesses).
struct PyramidBlocks {
    std::span<const std::uint64_t> address;
    std::span<const double> weight;  ///< empty: `lines` each
    std::span<const double> sum, least, most;
    double lines = 1;
};

/// Columns of blocks, without looking at lines; `blocks`: numbered on the axis.
CountColumns pyramid_columns(const AxisLines& blocks, const PyramidBlocks& pyramid, CountKind kind,
                             const ColumnView& view);

/// Of rows whose phases are among the chosen ones (empty: all) the lines that begin on the axis, ascending by address;
/// rows of one line add up.
std::vector<CountedLine> counted_lines(const AxisLines& lines, const CountRows& rows,
                                       std::span<const std::uint32_t> phases);

/// As LineCounts has them, of lines that may lie too far apart for a place each.
CountColumns columns_of(const AxisLines& lines, std::span<const CountedLine> counted, CountKind kind,
                        const ColumnView& view);
std::vector<double> values_of(std::span<const CountedLine> counted, CountKind kind);

/// Those with most.
std::vector<CountedLine> worst_of(std::span<const CountedLine> counted, CountKind kind, std::size_t most);

/// Sums by phase; with an axis of the lines on it alone, without those that begin before the stretches.
class PhaseSums {
public:
    PhaseSums(std::size_t phases, std::optional<AxisLines> part);

    void add(const CountRows& rows);
    const std::vector<double>& first() const { return first_; }
    const std::vector<double>& second() const { return second_; }

private:
    std::optional<AxisLines> part_;
    std::vector<double> first_, second_;
};

/// Sums by function of the rows on an axis; the last is that of rows without a function.
class FunctionSums {
public:
    FunctionSums(AxisLines lines, std::size_t functions) : lines_(std::move(lines)), sums_(functions + 1) {}

    void add(const CountRows& rows);
    const std::vector<double>& sums() const { return sums_; }

private:
    AxisLines lines_;
    std::vector<double> sums_;
};

/// Rows by blocks of so many lines: those of one block, phase and function that follow each other are one.
class BlockRows {
public:
    BlockRows(const CountRows& rows, std::uint32_t lines, std::uint64_t unit);

    CountRows rows() const { return {address_, span_, phase_, function_, first_, second_}; }

private:
    std::vector<std::uint64_t> address_;
    std::vector<std::uint32_t> span_, phase_, function_;
    std::vector<double> first_, second_;
};

}  // namespace cachetally
