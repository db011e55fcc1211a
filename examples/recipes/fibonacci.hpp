// SPDX-License-Identifier: BSD-3-Clause
// An indexing function: the high bits of a product with the golden ratio (Knuth, volume 3, 6.4). Belongs into
// sim/model/indexing/; its row is ROW(fibonacci).
#pragma once

#include <cstdint>

namespace cachetally {

inline std::uint64_t fibonacci(std::uint64_t number, unsigned width) {
    return number * 0x9e3779b97f4a7c15U >> (64 - width);
}

}  // namespace cachetally
