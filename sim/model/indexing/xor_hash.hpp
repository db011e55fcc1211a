// SPDX-License-Identifier: BSD-3-Clause
// xor_hash: all fields of the line number, folded by exclusive or.
#pragma once

#include <cstdint>

namespace cachetally {

inline std::uint64_t xor_hash(std::uint64_t number, unsigned width) {
    std::uint64_t folded = 0;
    for (; number != 0; number >>= width) folded ^= number;
    return folded;
}

}  // namespace cachetally
