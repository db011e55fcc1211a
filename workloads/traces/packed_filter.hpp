// SPDX-License-Identifier: BSD-3-Clause
// PackedFilter: the redundancy filter of the packed format; docs/traces.md says exactly what it finds.
#pragma once

#include <array>
#include <cstdint>

#include "cachetally/reference.hpp"
#include "sim/model/batching/redundancy_filter.hpp"

namespace cachetally {

/// Tells redundant references (FilterShape) with the slots of packed_shape. One that straddles lines never is, and
/// its other lines and pages leave their slots empty.
class PackedFilter {
public:
    static constexpr unsigned lines = 64, line_bytes = 64;    ///< for caches of a multiple of 64 sets of 64-byte lines
    static constexpr unsigned pages = 16, page_bytes = 4096;  ///< for TLBs of a multiple of 16 sets of 4 KiB pages

    static constexpr unsigned slot_of(Address address) { return address / line_bytes % lines; }

    /// More than one line is touched.
    static constexpr bool straddles(const Reference& reference) {
        return reference.address % line_bytes + reference.size > line_bytes;
    }

    /// Takes the next reference.
    bool is_redundant(const Reference& reference);

private:
    struct Line {
        Address number = none;
        bool stored = false;
    };
    static constexpr Address none = ~Address{0};

    void pass_straddling(const Reference& reference);

    std::array<Line, lines> lines_;
    std::array<Address, pages> pages_ = [] {
        std::array<Address, pages> empty;
        empty.fill(none);
        return empty;
    }();
};

/// Marks of the packed format are those of filters; a retained one that straddles lines says so.
namespace packed_mark {
inline constexpr std::uint8_t straddles = 0x01;

/// 1 or 0, for sums: marks of data only.
constexpr unsigned is_retained(std::uint8_t mark) { return mark / filter_mark::retained & 1U; }
}  // namespace packed_mark

}  // namespace cachetally
