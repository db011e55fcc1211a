// SPDX-License-Identifier: BSD-3-Clause
// LineNumbers: numbers the lines that caches are asked for, in the order in which they first come.
#pragma once

#include <cstdint>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// A hash table with open addressing. Caches that the same cores share number their lines together.
class LineNumbers {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Line {
        Address address = 0;
        std::uint32_t number = none;     ///< given to a line that is new; it never changes
        std::uint32_t structure = none;  ///< for the user; `none` at first
    };

    explicit LineNumbers(std::uint32_t line_bytes);

    /// Valid until the next call.
    Line& line(Address address) {
        Line& found = place_of(address);
        return found.number != none ? found : add(address);
    }
    /// To be called some time before line(): the place is at hand then.
    void prefetch(Address address) const { __builtin_prefetch(&places_[first_place(address)], 1); }
    std::size_t size() const { return size_; }

private:
    /// Neighbouring lines have places in one group, which is a line of the host's cache.
    static constexpr std::uint64_t within_group = 3;

    std::uint64_t first_place(Address address) const {
        const std::uint64_t line = address >> line_bits_;
        const std::uint64_t hash = (line & ~within_group) * 0x9e3779b97f4a7c15U >> hash_shift_;
        return (hash & ~within_group) | (line & within_group);
    }
    /// The place of a line, or the empty one where it belongs.
    Line& place_of(Address address) {
        std::uint64_t place = first_place(address);
        while (places_[place].number != none && places_[place].address != address) place = next_place(place, address);
        return places_[place];
    }
    std::uint64_t next_place(std::uint64_t place, Address address) const;
    [[gnu::noinline]] Line& add(Address address);
    void grow();

    unsigned line_bits_, hash_shift_;
    std::size_t size_ = 0;
    std::vector<Line> places_;
};

}  // namespace cachetally
