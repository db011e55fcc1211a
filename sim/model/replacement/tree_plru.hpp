// SPDX-License-Identifier: BSD-3-Clause
// tree_plru: a binary tree of bits points away from what was used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "cachetally/types.hpp"
#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// tree_plru: a bit of each inner node of a set's binary tree: 1 = replace in the right half next. Trees of up to 16
/// ways are a word that a table is asked for: bit 15 is the root, bits 0 to 6 are the nodes over ways 0 to 7 by rows,
/// bits 8 to 14 those over ways 8 to 15. In longer ones, bit i is node i: the root is 1, the children of i are 2i and
/// 2i+1.
class TreePlru {
    using Word = std::uint16_t;
    static constexpr unsigned word_bits = 16;
    struct Tables {
        std::array<Word, word_bits> kept{},
            away{};                       ///< by way: nodes that are not above it, and those that point right
        std::array<Word, 256> victims{};  ///< as bits, by the root, and the nodes of its half
    };

public:
    static constexpr Repetition repetition{};
    static constexpr bool pure = true;
    TreePlru(std::uint64_t sets, unsigned ways, std::uint64_t)
        : leaves_(std::max(8U, std::bit_ceil(ways))),
          words_(static_cast<unsigned>(divide_round_up(leaves_, word_bits))),
          has_right_(words_),
          trees_(sets * words_) {
        for (unsigned way = 0; way < ways; ++way)
            for (unsigned node = leaves_ + way; node > 1; node /= 2)
                if (node % 2 == 1) has_right_[node / 2 / word_bits] |= bit_of(node / 2);
        if (words_ == 1) make_tables(ways);
    }

    /// For loops. `ways`: at most 8, or 16.
    template <unsigned ways>
    class View {
    public:
        explicit View(TreePlru& policy) : trees_(policy.trees_.data()), tables_(&policy.tables_) {}

        [[gnu::always_inline]] void used(std::uint64_t set, unsigned way) const {
            trees_[set] = static_cast<Word>((trees_[set] & tables_->kept[way]) | tables_->away[way]);
        }
        /// As a bit.
        [[gnu::always_inline]] std::uint64_t victim(std::uint64_t set) const {
            const unsigned tree = trees_[set], right = tree >> 15;
            if constexpr (ways <= 8) return tables_->victims[tree];
            return tables_->victims[right << 7 | (tree >> (right << 3) & 0x7f)];
        }

    private:
        Word* trees_;
        const Tables* tables_;
    };

    void used(std::uint64_t set, unsigned way) {
        if (words_ == 1) return View<16>(*this).used(set, way);
        Word* const tree = &trees_[set * words_];
        for (unsigned node = leaves_ + way; node > 1; node /= 2) {
            Word& word = tree[node / 2 / word_bits];
            word = static_cast<Word>(node % 2 == 0 ? word | bit_of(node / 2) : word & ~bit_of(node / 2));
        }
    }
    void inserted(std::uint64_t set, unsigned way) { used(set, way); }

    unsigned victim(std::uint64_t set) {
        if (words_ == 1) return static_cast<unsigned>(std::countr_zero(View<16>(*this).victim(set)));
        const Word* const tree = &trees_[set * words_];
        unsigned node = 1;
        while (node < leaves_)
            node = 2 * node + ((tree[node / word_bits] & has_right_[node / word_bits]) >> node % word_bits & 1);
        return node - leaves_;
    }

    std::uint64_t digest(std::uint64_t set) const {
        std::uint64_t digest = 0;
        for (unsigned word = 0; word < words_; ++word) digest = splitmix64(digest ^ trees_[set * words_ + word]);
        return digest;
    }

private:
    static constexpr Word bit_of(unsigned node) { return static_cast<Word>(1U << node % word_bits); }

    void make_tables(unsigned ways) {
        for (unsigned way = 0; way < word_bits; ++way) {
            unsigned path = leaves_ == 16 ? 1U << 15 : 0, away = way < 8 ? path : 0;
            for (unsigned node = 8 + way % 8; node > 1; node /= 2) {
                const unsigned bit = 1U << (node / 2 - 1 + way / 8 * 8);
                path |= bit;
                if (node % 2 == 0) away |= bit;
            }
            tables_.kept[way] = static_cast<Word>(~path);
            tables_.away[way] = static_cast<Word>(away);
        }
        for (unsigned tree = 0; tree < tables_.victims.size(); ++tree) {
            const unsigned first = tree / 128 * 8;
            unsigned from = 0;  // the victim, halving by halving
            for (unsigned node = 1, size = 4; node < 8; size /= 2) {
                const unsigned right = (tree >> (node - 1) & 1) != 0 && first + from + size < ways ? 1 : 0;
                from += right * size;
                node = 2 * node + right;
            }
            tables_.victims[tree] = static_cast<Word>(1U << (first + from));
        }
    }

    unsigned leaves_, words_;      ///< words of a set
    Tables tables_;                ///< of up to 16 ways
    std::vector<Word> has_right_;  ///< nodes with ways below their right child
    std::vector<Word> trees_;      ///< by set
};

}  // namespace cachetally
