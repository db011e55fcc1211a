// SPDX-License-Identifier: BSD-3-Clause
// The lines of an axis, numbered without the holes, and rows of counts as files have them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "viewer/core/axis.hpp"

namespace cachetally {

/// A block of rows by columns; of levels `first` are accesses and `second` misses.
struct CountRows {
    std::span<const std::uint64_t> address;
    std::span<const std::uint32_t> span;      ///< lines that a count is for; empty: one
    std::span<const std::uint32_t> phase;     ///< empty: not told apart
    std::span<const std::uint32_t> function;  ///< empty: not told apart
    std::span<const double> first;
    std::span<const double> second;  ///< empty: 0

    std::size_t count() const { return first.size(); }
    std::uint32_t lines_of(std::size_t row) const { return span.empty() ? 1 : span[row]; }
    double second_of(std::size_t row) const { return second.empty() ? 0 : second[row]; }
};

/// Lines of an axis: line i of stretch s is number begins[s] + i.
class AxisLines {
public:
    using Number = std::uint64_t;
    using Numbers = std::pair<Number, Number>;  ///< the first, and one behind the last

    AxisLines(AddressAxis axis, std::uint64_t unit);

    const AddressAxis& axis() const { return axis_; }
    std::uint64_t unit() const { return unit_; }
    Number count() const { return begins_.back(); }
    /// The lines of a stretch.
    Numbers of(std::size_t stretch) const { return {begins_[stretch], begins_[stretch + 1]}; }
    /// Where the first line of a stretch begins: at or before the stretch.
    std::uint64_t base(std::size_t stretch) const { return bases_[stretch]; }

    std::optional<Number> line_of(std::uint64_t address) const;
    std::size_t stretch_of(Number line) const;
    /// Where a line begins on the axis; it may lie before its stretch.
    double offset_of(Number line, std::size_t stretch) const;
    /// What of the axis lines side by side in a stretch take.
    std::pair<double, double> part_of(Number line, Number count = 1) const;
    /// The lines that overlap x0 .. x1.
    Numbers range(double x0, double x1) const;

    /// Calls `see` for those of `span` lines from an address on that are on the axis: with the first in each stretch
    /// and how many follow each other.
    template <typename See>
    void visit(std::uint64_t address, std::uint32_t span, See see) const {
        if (span == 1) {
            if (const auto line = line_of(address)) see(*line, Number{1});
            return;
        }
        for (std::size_t s = stretch_before(address); s < bases_.size(); ++s) {
            const bool inside = address >= bases_[s];
            // lines from the address to the stretch, or back to it
            const Number far = inside ? (address - bases_[s]) / unit_ : (bases_[s] - address - 1) / unit_ + 1;
            if (!inside && far >= span) break;
            const Number begin = inside ? far : 0;
            const Number end = std::min(begins_[s + 1] - begins_[s], inside ? far + span : span - far);
            if (begin < end) see(begins_[s] + begin, end - begin);
        }
    }

private:
    std::size_t stretch_before(std::uint64_t address) const;

    AddressAxis axis_;
    std::uint64_t unit_;
    std::vector<std::uint64_t> bases_;
    std::vector<Number> begins_;
    mutable std::size_t last_ = 0;  ///< the stretch that was found last, where the next row lies, too
};

}  // namespace cachetally
