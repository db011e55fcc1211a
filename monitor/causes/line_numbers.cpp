// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/line_numbers.hpp"

#include <bit>

namespace cachetally {

LineNumbers::LineNumbers(std::uint32_t line_bytes)
    : line_bits_(log2_exact(line_bytes)), hash_shift_(64 - 10), places_(std::size_t{1} << 10) {}

/// First those of the group, then those of the next one.
std::uint64_t LineNumbers::next_place(std::uint64_t place, Address address) const {
    const std::uint64_t next = (place & ~within_group) | ((place + 1) & within_group);
    if ((next & within_group) != (first_place(address) & within_group)) return next;
    return (next + within_group + 1) & (places_.size() - 1);
}

LineNumbers::Line& LineNumbers::add(Address address) {
    if (size_ >= places_.size() / 2) grow();
    Line& line = place_of(address);
    line.address = address;
    line.number = static_cast<std::uint32_t>(size_++);
    return line;
}

void LineNumbers::grow() {
    std::vector<Line> before(places_.size() * 2);
    before.swap(places_);
    --hash_shift_;
    for (const Line& line : before)
        if (line.number != none) place_of(line.address) = line;
}

}  // namespace cachetally
