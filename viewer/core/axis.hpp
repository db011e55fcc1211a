// SPDX-License-Identifier: BSD-3-Clause
// The axis of addresses: stretches that have counts side by side, with small gaps for the holes between them. The rule
// is that of docs/viewer.md ("The axis of addresses").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cachetally {

/// From the first to the last byte, which may be the last that has an address.
struct ByteRange {
    std::uint64_t first = 0, last = 0;
};

/// A stretch of addresses on an axis.
struct AxisStretch {
    std::uint64_t base = 0;
    double bytes = 0;
    double start = 0;   ///< where it begins on the axis, in bytes
    bool rest = false;  ///< it is the rest of a stretch: a line in which it begins belongs to what was before
};

/// Offsets on an axis are bytes without the holes between its stretches.
struct AddressAxis {
    std::vector<AxisStretch> stretches;  ///< ascending
    double bytes = 1;
};

/// Joins ranges if there are at most `hole` pages from the last page of one to the first of the next; of 1 they share
/// pages or lie side by side.
std::vector<ByteRange> united(std::vector<ByteRange> ranges, std::uint64_t hole = 1);

/// The axis of all ranges; stretches begin and end at multiples of `unit` bytes.
AddressAxis axis_of(std::vector<ByteRange> ranges, std::uint64_t unit);

/// What of an axis lies in x0 .. x1, at the same offsets.
AddressAxis cut(const AddressAxis& axis, double x0, double x1);

/// From where to where on the axis addresses lie; nothing if none of them is on it.
std::optional<std::pair<double, double>> place_on(const AddressAxis& axis, ByteRange range);

/// A mark on an axis; `label`: where the middle of its text ("0x1f00") stands, if there is room for it.
struct AddressMark {
    double place = 0;
    std::uint64_t address = 0;
    std::optional<double> label;
};

/// Marks of what lies in x0 .. x1: the multiples of a power of two of at least `apart` bytes, and the begin of each
/// stretch without one; none is nearer than a letter to another. `letter`: bytes of the axis that a letter takes.
std::vector<AddressMark> address_marks(const AddressAxis& axis, double x0, double x1, double apart, double letter);

/// The middles of the holes in x0 .. x1, but for those whose gaps are narrower than `least`.
std::vector<double> holes_of(const AddressAxis& axis, double x0, double x1, double least);

/// Collects where lines have counts, in bounded memory if what the ranges join to is bounded.
class Extents {
public:
    /// Lines of `unit` bytes; `spans`: how many lines each count is for; empty: one.
    void add(std::span<const std::uint64_t> addresses, std::span<const std::uint32_t> spans, std::uint64_t unit);
    std::vector<ByteRange> found() const;

private:
    void add(ByteRange range);

    std::vector<ByteRange> found_;
    std::size_t most_ = std::size_t{1} << 20U;
};

}  // namespace cachetally
