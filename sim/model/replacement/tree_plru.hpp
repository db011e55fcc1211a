// SPDX-License-Identifier: BSD-3-Clause
// tree_plru: a binary tree of bits points away from what was used.
#pragma once

#include <bit>
#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// tree_plru: inner node i of a set's binary tree has the children 2i and 2i+1; node 1 is the root. Node i is bit i of
/// the set's words: 1 = replace in the right half next.
class TreePlru {
public:
    static constexpr Repetition repetition{};
    TreePlru(std::uint64_t sets, unsigned ways, std::uint64_t)
        : leaves_(std::bit_ceil(ways)),
          words_((leaves_ + 63) / 64),
          paths_(ways * words_),
          away_(ways * words_),
          has_right_(words_),
          trees_(sets * words_) {
        for (unsigned way = 0; way < ways; ++way)
            for (unsigned node = leaves_ + way; node > 1; node /= 2) {
                const unsigned at = way * words_ + node / 2 / 64;
                paths_[at] |= bit_of(node / 2);
                if (node % 2 == 0) away_[at] |= bit_of(node / 2);
                if (node % 2 == 1) has_right_[node / 2 / 64] |= bit_of(node / 2);
            }
    }

    [[gnu::always_inline]] void used(std::uint64_t set, unsigned way) {
        std::uint64_t* tree = &trees_[set * words_];
        for (unsigned word = 0; word < words_; ++word)
            tree[word] = (tree[word] & ~paths_[way * words_ + word]) | away_[way * words_ + word];
    }
    void inserted(std::uint64_t set, unsigned way) { used(set, way); }

    [[gnu::always_inline]] unsigned victim(std::uint64_t set) const {
        const std::uint64_t* tree = &trees_[set * words_];
        unsigned node = 1;
        if (words_ == 1) {
            const std::uint64_t right = tree[0] & has_right_[0];
            while (node < leaves_) node = 2 * node + (right >> node & 1);
            return node - leaves_;
        }
        while (node < leaves_) node = 2 * node + ((tree[node / 64] & has_right_[node / 64]) >> node % 64 & 1);
        return node - leaves_;
    }

    std::uint64_t digest(std::uint64_t set) const {
        std::uint64_t digest = 0;
        for (unsigned word = 0; word < words_; ++word) digest = splitmix64(digest ^ trees_[set * words_ + word]);
        return digest;
    }

private:
    static constexpr std::uint64_t bit_of(unsigned node) { return std::uint64_t{1} << node % 64; }

    unsigned leaves_, words_;                  ///< words of a set
    std::vector<std::uint64_t> paths_, away_;  ///< by way: the nodes above it, and those that point right after its use
    std::vector<std::uint64_t> has_right_;     ///< nodes with ways below their right child
    std::vector<std::uint64_t> trees_;         ///< by set
};

}  // namespace cachetally
