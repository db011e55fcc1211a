// SPDX-License-Identifier: BSD-3-Clause
// sliced: the slice of a line by a hash of its address, as last levels have that cores share slice by slice.
#pragma once

#include <bit>
#include <cstdint>

#include "base/random.hpp"

namespace cachetally {

/// The slice of line `number` of 2^`line_bits` bytes. 2, 4 and 8 slices: parities of address bits, as in Xeon and Core
/// processors (Maurice et al., RAID 2015, table 3). Other numbers (ours, since those of real machines are not linear):
/// each aligned run of `slices` x `sets` lines fills each set of each slice once, in an order that a hash turns.
inline std::uint64_t sliced(std::uint64_t number, unsigned line_bits, std::uint64_t sets, std::uint64_t slices) {
    if (slices == 2 || slices == 4 || slices == 8) {
        constexpr std::uint64_t masks[] = {0x1b5f575440, 0x2eb5faa880, 0x3cccc93100};
        std::uint64_t slice = 0;
        for (unsigned bit = 0; std::uint64_t{1} << bit < slices; ++bit)
            slice |= static_cast<std::uint64_t>(std::popcount(number << line_bits & masks[bit]) & 1) << bit;
        return slice;
    }
    const std::uint64_t run = number / sets, set = number % sets;
    return (run % slices + splitmix64(run / slices * sets + set) % slices) % slices;
}

}  // namespace cachetally
