// SPDX-License-Identifier: BSD-3-Clause
// StackDistances: how many other lines are used between two uses of a line, exactly.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "monitor/paged_counts.hpp"

namespace cachetally {

/// LRU stack distances (Mattson et al. 1970, "Evaluation techniques for storage hierarchies"): a fully associative LRU
/// cache of N lines hits exactly the uses at distances below N. A bit at the time of the last use of each line is set;
/// bits of 64 times are summed up in a Fenwick tree (Bennett and Kruskal 1975, "LRU stack processing"; bits ours). When
/// time is over, lines get new times in the same order, so that memory grows with the number of lines alone.
class StackDistances {
public:
    static constexpr std::uint64_t first_use = ~std::uint64_t{0};

    /// The distance of a use of `line`, in other lines used since its last use; or first_use. `line`: below 2^64 - 1.
    std::uint64_t use(std::uint64_t line) {
        if (line == lines_[now_]) return 0;
        return moved_up(line);
    }
    /// Different lines so far.
    std::uint64_t size() const { return size_; }

private:
    static constexpr std::size_t word_bits = 64, first_words = 64;
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::uint64_t moved_up(std::uint64_t line);
    std::uint64_t marked_from(std::size_t time) const;
    void add(std::size_t word, std::uint32_t change);
    void give_new_times();

    std::vector<std::uint64_t> marks_ = std::vector<std::uint64_t>(first_words);     ///< a bit for each time
    std::vector<std::uint32_t> sums_ = std::vector<std::uint32_t>(first_words + 1);  ///< Fenwick tree over words
    std::vector<std::uint64_t> lines_ = std::vector<std::uint64_t>(first_words * word_bits, none);  ///< by time
    PagedArray<std::uint64_t> times_;  ///< of the last use, by line; 0: none
    std::size_t now_ = 0;              ///< time of the last use of all
    std::uint64_t size_ = 0;
};

}  // namespace cachetally
