// SPDX-License-Identifier: BSD-3-Clause
// What a prefetcher would bring after a few loads of a 4 KiB block, written from docs/counting.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cachetally {

/// Lines of L1 by their number in a block.
using BlockLines = std::vector<int>;

/// At most one level prefetches; lines of lower levels may be longer.
struct PrefetchGuess {
    std::string kind = "none";     ///< as in machine files
    std::size_t level = 0;         ///< that prefetches, from 0
    int degree = 1, distance = 1;  ///< lines; of stride strides
    std::vector<int> line{};       ///< of each level, in lines of L1

    friend bool operator==(const PrefetchGuess&, const PrefetchGuess&) = default;
};

/// All that there may be in so many levels: none, adjacent_line, and next_line, stride and stream of degrees up to 4
/// and distances up to 8.
std::vector<PrefetchGuess> prefetch_guesses(std::size_t levels);

/// The nearest level, from 0, that has each line of a block after these loads, which are the first of all. As many as
/// there are levels: none has it.
std::vector<std::uint8_t> where_lines_are(const PrefetchGuess& guess, const BlockLines& loads, int lines_of_block);

}  // namespace cachetally
