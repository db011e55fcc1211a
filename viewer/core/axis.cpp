// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/axis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace cachetally {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t least_hole_pages = 4, pages_per_hole_page = 50, hole_growth = 4;
constexpr std::size_t most_stretches = 1000;
constexpr double least_step = 4, most_step = 0x1p62;    ///< bytes from mark to mark
constexpr double letters_between = 1.5;                 ///< two labels
constexpr double gap_share = 0.012, gaps_share = 0.12;  ///< of the bytes of all stretches: a gap, all gaps

/// From the page of an address to that of another; 0 if that is not behind it.
std::uint64_t pages_between(std::uint64_t from, std::uint64_t to) {
    return std::max(from / page_bytes, to / page_bytes) - from / page_bytes;
}

/// Bytes of the lines that a range touches.
double line_bytes(ByteRange range, std::uint64_t unit) {
    return static_cast<double>((range.last / unit - range.first / unit) * unit) + static_cast<double>(unit);
}

std::uint64_t step_of(double apart) {
    return std::bit_ceil(static_cast<std::uint64_t>(std::ceil(std::clamp(apart, least_step, most_step))));
}

/// Letters of "0x1f00".
double letters_of(std::uint64_t address) {
    return 2 + std::max(1.0, std::ceil(static_cast<double>(std::bit_width(address)) / 4));
}

/// Adds the marks of a part of an axis one after another, from left to right.
class Marks {
public:
    Marks(double x0, double x1, double letter) : x0_(x0), x1_(x1), letter_(letter) {}

    void add(double place, std::uint64_t address) {
        if (place - last_ < letter_) return;
        last_ = place;
        const double half = letter_ * letters_of(address) / 2;
        const double middle = std::max(x0_ + half, std::min(x1_ - half, place));
        const bool fits = middle - half >= free_ && middle + half <= x1_;
        marks_.push_back({place, address, fits ? std::optional(middle) : std::nullopt});
        if (fits) free_ = middle + half + letters_between * letter_;
    }
    std::vector<AddressMark> take() { return std::move(marks_); }

private:
    double x0_, x1_, letter_;
    double free_ = x0_, last_ = -std::numeric_limits<double>::infinity();
    std::vector<AddressMark> marks_;
};

}  // namespace

std::vector<ByteRange> united(std::vector<ByteRange> ranges, std::uint64_t hole) {
    std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.first < b.first; });
    std::vector<ByteRange> found;
    for (const ByteRange& range : ranges) {
        if (found.empty() || pages_between(found.back().last, range.first) > hole)
            found.push_back(range);
        else
            found.back().last = std::max(found.back().last, range.last);
    }
    return found;
}

AddressAxis axis_of(std::vector<ByteRange> ranges, std::uint64_t unit) {
    const std::vector<ByteRange> runs = united(std::move(ranges));
    std::uint64_t pages = 0;
    for (const ByteRange& run : runs) pages += pages_between(run.first, run.last) + 1;
    std::uint64_t hole = std::max(least_hole_pages, pages / pages_per_hole_page);
    std::vector<ByteRange> found = united(runs, hole);
    while (found.size() > most_stretches) found = united(runs, hole *= hole_growth);
    double all = 0;
    for (const ByteRange& each : found) all += line_bytes(each, unit);
    const double gaps = std::max(1.0, static_cast<double>(found.size()) - 1);
    const double gap = std::ceil(std::min(all * gap_share, all * gaps_share / gaps));
    AddressAxis axis;
    double start = 0;
    for (const ByteRange& each : found) {
        axis.stretches.push_back({each.first - each.first % unit, line_bytes(each, unit), start, false});
        axis.bytes = start + axis.stretches.back().bytes;
        start = axis.bytes + gap;
    }
    return axis;
}

AddressAxis cut(const AddressAxis& axis, double x0, double x1) {
    AddressAxis part{{}, axis.bytes};
    for (const auto& [base, bytes, start, rest] : axis.stretches) {
        const double from = std::max(0.0, std::floor(x0 - start)), to = std::min(bytes, std::ceil(x1 - start));
        if (from < to)
            part.stretches.push_back(
                {base + static_cast<std::uint64_t>(from), to - from, start + from, rest || from > 0});
    }
    return part;
}

std::optional<std::pair<double, double>> place_on(const AddressAxis& axis, ByteRange range) {
    std::optional<std::pair<double, double>> place;
    for (const auto& [base, bytes, start, rest] : axis.stretches) {
        if (range.last < base) break;
        const double from = range.first > base ? static_cast<double>(range.first - base) : 0;
        const double to = std::min(bytes, static_cast<double>(range.last - base) + 1);
        if (from < to) place = {place ? place->first : start + from, start + to};
    }
    return place;
}

std::vector<AddressMark> address_marks(const AddressAxis& axis, double x0, double x1, double apart, double letter) {
    const std::uint64_t step = step_of(apart);
    Marks marks(x0, x1, letter);
    for (const auto& [base, bytes, start, rest] : cut(axis, x0, x1).stretches) {
        const std::uint64_t first = (0 - base) & (step - 1);
        if (static_cast<double>(first) >= bytes) marks.add(start, base);
        for (std::uint64_t at = first; static_cast<double>(at) < bytes; at += step)
            marks.add(start + static_cast<double>(at), base + at);
    }
    return marks.take();
}

std::vector<double> holes_of(const AddressAxis& axis, double x0, double x1, double least) {
    std::vector<double> middles;
    for (std::size_t i = 1; i < axis.stretches.size(); ++i) {
        const double from = axis.stretches[i - 1].start + axis.stretches[i - 1].bytes, to = axis.stretches[i].start;
        const double middle = (from + to) / 2;
        if (to - from >= least && middle > x0 && middle < x1) middles.push_back(middle);
    }
    return middles;
}

void Extents::add(std::span<const std::uint64_t> addresses, std::span<const std::uint32_t> spans, std::uint64_t unit) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::uint64_t more = unit * (spans.empty() ? 1 : spans[i]) - 1, first = addresses[i];
        add({first, first + std::min(more, ~first)});
    }
}

void Extents::add(ByteRange range) {
    // rows side by side are one range
    if (!found_.empty() && range.first >= found_.back().first &&
        (range.first <= found_.back().last || range.first - found_.back().last <= page_bytes)) {
        found_.back().last = std::max(found_.back().last, range.last);
        return;
    }
    if (found_.size() >= most_) {
        found_ = united(std::move(found_));
        most_ = std::max(most_, 2 * found_.size());
    }
    found_.push_back(range);
}

std::vector<ByteRange> Extents::found() const { return united(found_); }

}  // namespace cachetally
