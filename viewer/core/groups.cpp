// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachetally {
namespace {

/// Sums over the lines of the data.
struct ErrorSums {
    double wrong = 0, all = 0;
};

bool overlaps_any(std::span<const ByteRange> data, std::uint64_t first, std::uint64_t bytes) {
    return std::any_of(data.begin(), data.end(),
                       [&](const ByteRange& each) { return first <= each.last && each.first <= first + (bytes - 1); });
}

}  // namespace

GroupedCounts grouped(const LineCounts& exact, std::uint64_t group, std::span<const ByteRange> data) {
    const AxisLines& lines = exact.lines();
    GroupedCounts found{exact, LineCounts(lines, false), 0};
    found.difference.set_total(std::numeric_limits<double>::quiet_NaN());
    ErrorSums sums;
    for (std::size_t s = 0; s < lines.axis().stretches.size(); ++s) {
        const std::uint64_t first = lines.base(s) / lines.unit(), count = lines.of(s).second - lines.of(s).first;
        const auto line = [&](std::uint64_t number) { return lines.of(s).first + (number - first); };
        for (std::uint64_t at = first - first % group; at < first + count; at += group) {
            double mean = 0;
            const std::uint64_t from = std::max(at, first), to = std::min(at + group, first + count);
            for (std::uint64_t i = from; i < to; ++i) mean += exact.first(line(i));
            mean /= static_cast<double>(group);
            for (std::uint64_t i = at; mean > 0 && i < at + group; ++i) {
                const bool inside = i >= from && i < to;
                const double own = inside ? exact.first(line(i)) : 0, off = std::abs(own - mean);
                if (overlaps_any(data, i * lines.unit(), lines.unit())) sums = {sums.wrong + off, sums.all + own};
                if (!inside) continue;
                found.approximate.set_first(line(i), mean);
                found.difference.set_first(line(i), off);
            }
        }
    }
    found.error = sums.all > 0 ? sums.wrong / sums.all : std::numeric_limits<double>::quiet_NaN();
    return found;
}

}  // namespace cachetally
