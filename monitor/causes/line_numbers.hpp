// SPDX-License-Identifier: BSD-3-Clause
// LineNumbers: numbers the lines that caches are asked for, in the order in which they first come.
#pragma once

#include "monitor/paged_counts.hpp"

namespace cachetally {

/// Caches that the same cores share number their lines together.
class LineNumbers {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Line {
        std::uint32_t number = none;     ///< given to a line that is new; it never changes
        std::uint32_t structure = none;  ///< for the user; `none` at first
    };

    explicit LineNumbers(std::uint32_t line_bytes) : line_bits_(log2_exact(line_bytes)) {}

    Line& line(Address address) {
        Line& found = lines_[address >> line_bits_];
        if (found.number == none) found.number = size_++;
        return found;
    }
    /// To be called some time before line(), which is faster then; and, later, the other.
    void prefetch(Address address) const { lines_.prefetch(address >> line_bits_); }
    void prefetch_line(Address address) const { lines_.prefetch_element(address >> line_bits_); }
    std::size_t size() const { return size_; }

private:
    unsigned line_bits_;
    std::uint32_t size_ = 0;
    PagedArray<Line> lines_;
};

}  // namespace cachetally
