// SPDX-License-Identifier: BSD-3-Clause
// tree_plru: a binary tree of bits points away from what was used.
#pragma once

#include <bit>
#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// tree_plru: inner node i of a set's binary tree has the children 2i and 2i+1; node 1 is the root.
class TreePlru {
public:
    static constexpr Repetition repetition{};
    TreePlru(std::uint64_t sets, unsigned ways, std::uint64_t)
        : ways_(ways), leaves_(std::bit_ceil(ways)), right_(sets * leaves_, 0) {}

    void used(std::uint64_t set, unsigned way) {
        std::uint8_t* tree = &right_[set * leaves_];
        for (unsigned node = leaves_ + way; node > 1; node /= 2)
            tree[node / 2] = static_cast<std::uint8_t>(node % 2 == 0);
    }
    void inserted(std::uint64_t set, unsigned way) { used(set, way); }

    unsigned victim(std::uint64_t set) {
        const std::uint8_t* tree = &right_[set * leaves_];
        unsigned node = 1;
        for (unsigned span = leaves_ / 2; span > 0; span /= 2) {
            const unsigned right = 2 * node + 1;
            const bool exists = right * span - leaves_ < ways_;  // first leaf below the right child
            node = tree[node] != 0 && exists ? right : right - 1;
        }
        return node - leaves_;
    }

    std::uint64_t digest(std::uint64_t set) const { return digest_of_bytes(&right_[set * leaves_], leaves_); }

private:
    unsigned ways_, leaves_;
    std::vector<std::uint8_t> right_;  ///< 1 = replace in the right half next
};

}  // namespace cachetally
