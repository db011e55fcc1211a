// SPDX-License-Identifier: BSD-3-Clause
// Which addresses are in which column.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "viewer/plot.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t far_apart = 1 << 20;  ///< bytes between stretches outside of regions
constexpr unsigned narrowest = 3;             ///< columns of a segment

/// Regions that have lines, without those that overlap an earlier one.
std::vector<PlotSegment> region_segments(std::span<const Region> regions, std::uint32_t line_bytes) {
    std::vector<PlotSegment> segments;
    for (const Region& region : regions) {
        if (region.bytes == 0) continue;
        const Address first = align_down(region.base, line_bytes);
        const Address last = align_down(region.base + (region.bytes - 1), line_bytes);
        segments.push_back(
            {without_controls(region.name), first, last - first + line_bytes, 0, region.base, region.bytes});
    }
    std::ranges::stable_sort(segments, {}, &PlotSegment::first);
    std::vector<PlotSegment> disjoint;
    for (PlotSegment& segment : segments) {
        if (!disjoint.empty()) {
            const Address end = disjoint.back().first + disjoint.back().bytes;
            if (segment.first < end) {  // the line between two belongs to the first
                const std::uint64_t common = end - segment.first;
                if (common >= segment.bytes) continue;
                segment.first += common;
                segment.bytes -= common;
            }
        }
        disjoint.push_back(std::move(segment));
    }
    return disjoint;
}

/// Segments of the regions that have points and of the points outside of regions.
std::vector<PlotSegment> segments_of(const std::vector<PlotPoint>& points, std::span<const Region> regions,
                                     std::uint32_t line_bytes) {
    std::vector<PlotSegment> known = region_segments(regions, line_bytes), found;
    auto region = known.begin();
    for (const PlotPoint& point : points) {
        while (region != known.end() && region->first + (region->bytes - 1) < point.address) ++region;
        const bool inside = region != known.end() && region->first <= point.address;
        if (inside) {
            if (found.empty() || found.back().first != region->first || found.back().label != region->label)
                found.push_back(*region);
            continue;
        }
        const bool goes_on = !found.empty() && found.back().label.empty() &&
                             point.address - (found.back().first + found.back().bytes) < far_apart;
        if (!goes_on) found.push_back({"", point.address, 0, 0, point.address, 0});
        found.back().bytes = found.back().size = point.address - found.back().first + line_bytes;
    }
    return found;
}

/// Joins neighbours until so many segments have room: always those that are shortest together, of equals the first.
void join(std::vector<PlotSegment>& segments, std::size_t most) {
    const std::size_t none = segments.size();
    std::size_t left = segments.size();
    std::vector<std::size_t> next(left), before(left);
    const auto span_from = [&](std::size_t i) {
        return std::pair(segments[next[i]].first + (segments[next[i]].bytes - 1) - segments[i].first, i);
    };
    std::set<std::pair<std::uint64_t, std::size_t>> spans;  ///< of each with its next
    for (std::size_t i = 0; i < segments.size(); ++i) {
        next[i] = i + 1;
        before[i] = i > 0 ? i - 1 : none;
        if (next[i] != none) spans.insert(span_from(i));
    }
    for (; left > std::max<std::size_t>(most, 1); --left) {
        const auto [least, best] = *spans.begin();
        const std::size_t joined = next[best], previous = before[best];
        spans.erase(spans.begin());
        if (next[joined] != none) spans.erase(span_from(joined));
        if (previous != none) spans.erase(span_from(previous));
        PlotSegment& segment = segments[best];
        segment.bytes = segment.size = std::max(least, least + 1);  // all of the address space: but one
        segment.base = segment.first;
        segment.label.clear();
        segments[joined].columns = 1;  // gone
        next[best] = next[joined];
        if (next[best] != none) {
            before[next[best]] = best;
            spans.insert(span_from(best));
        }
        if (previous != none) spans.insert(span_from(previous));
    }
    std::erase_if(segments, [](const PlotSegment& segment) { return segment.columns != 0; });
}

/// In proportion to the bytes, but at least `narrowest`.
void give_columns(std::vector<PlotSegment>& segments, unsigned columns) {
    const auto gaps = static_cast<unsigned>(segments.size() - 1);
    unsigned left = columns > gaps ? columns - gaps : 1;
    double bytes = 0;
    for (const PlotSegment& segment : segments) bytes += static_cast<double>(segment.bytes);
    std::vector<std::size_t> order(segments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return segments[i].bytes; });
    std::size_t waiting = order.size();
    for (const std::size_t i : order) {  // the smallest first: what they need beyond their share, the large ones give
        PlotSegment& segment = segments[i];
        const double share = bytes > 0 ? static_cast<double>(segment.bytes) / bytes : 1.0;
        const auto wanted = std::max(narrowest, static_cast<unsigned>(std::lround(share * left)));
        --waiting;
        const auto reserved = static_cast<unsigned>(waiting);
        segment.columns = std::clamp(wanted, 1U, left > reserved ? left - reserved : 1U);
        left -= std::min(left, segment.columns);
        bytes -= static_cast<double>(segment.bytes);
    }
}

__extension__ using Product = unsigned __int128;  ///< of a place and a number of columns, exact

/// The column within a segment that an address is drawn in.
unsigned column_of(const PlotSegment& segment, Address address) {
    const auto column = Product{address - segment.first} * segment.columns / segment.bytes;
    return std::min(static_cast<unsigned>(column), segment.columns - 1);
}

/// The first address that is drawn in a column.
Address begin_of(const PlotSegment& segment, unsigned column) {
    const auto place = (Product{column} * segment.bytes + segment.columns - 1) / segment.columns;
    return segment.first + static_cast<std::uint64_t>(place);
}

/// Where what is drawn in a column is: in itself where a line begins in it, else, where lines are wider than columns,
/// in the one that the line begins in.
unsigned source_of(const PlotSegment& segment, unsigned column, std::uint32_t line_bytes) {
    const Address line = std::max(align_down(begin_of(segment, column), line_bytes), segment.first);
    const unsigned from = column_of(segment, line);
    if (from >= column) return column;
    const std::uint64_t next = line - segment.first + (line_bytes - line % line_bytes);
    const bool own = next < segment.bytes && column_of(segment, segment.first + next) == column;
    return own ? column : from;
}

}  // namespace

std::optional<std::size_t> column_at(const PlotColumns& columns, Address address) {
    std::size_t offset = 0;
    for (const PlotSegment& segment : columns.segments) {
        if (address >= segment.first && address - segment.first < segment.bytes)
            return offset + column_of(segment, address);
        offset += segment.columns;
    }
    return std::nullopt;
}

PlotColumns plot_columns(const PlotInput& input, std::span<const Region> regions, unsigned columns) {
    PlotColumns result;
    std::vector<PlotPoint> points = input.points;
    std::ranges::stable_sort(points, {}, &PlotPoint::address);
    if (points.empty()) return result;
    result.segments = segments_of(points, regions, input.line_bytes);
    join(result.segments, (columns + 1) / (narrowest + 1));
    give_columns(result.segments, columns);
    auto point = points.begin();
    for (const PlotSegment& segment : result.segments) {
        const std::size_t offset = result.heights.size();
        std::vector<double> values(segment.columns), weights(segment.columns), lines(segment.columns);
        std::optional<Address> before;
        for (; point != points.end() && point->address - segment.first < segment.bytes; ++point) {
            const unsigned column = column_of(segment, point->address);
            values[column] += point->value;
            weights[column] += point->weight;
            if (before != point->address) lines[column] += 1;
            before = point->address;
        }
        for (unsigned column = 0; column < segment.columns; ++column) {
            const double over = input.rate ? weights[column] / 100 : lines[column];
            result.heights.push_back(over > 0 ? values[column] / over : 0.0);
            result.addresses.push_back(begin_of(segment, column));
            result.sources.push_back(offset + source_of(segment, column, input.line_bytes));
            result.heights.back() = result.heights[result.sources.back()];
        }
    }
    result.highest = *std::ranges::max_element(result.heights);
    return result;
}

}  // namespace cachetally
