// SPDX-License-Identifier: BSD-3-Clause
// ReplacementPolicy of sets whose ways stay in place: a small state per set, one update, one query.
// Each policy has used(), inserted() and victim(), which is asked when all ways are valid (unless it knows invalid ways
// itself, by removed()), or at every insertion (EmptyWay::policy). docs/counting.md defines them. digest() is that of a
// set's state. Each declares its Repetition: a policy that counts hits must say so, or repeated hits are skipped.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/model/random.hpp"

namespace cachetally {

/// After what a use of the way that its set has used last changes nothing, so that it may be skipped.
struct Repetition {
    bool idle_after_use = true;        ///< used() after used()
    bool idle_after_insertion = true;  ///< used() after inserted()
};

/// One bit per way, any number of ways up to 64 * words.
using WayBits = std::uint64_t;

inline std::uint64_t digest_of_bytes(const std::uint8_t* bytes, unsigned count) {
    std::uint64_t digest = 0;
    for (unsigned i = 0; i < count; ++i) digest = splitmix64(digest ^ bytes[i]);
    return digest;
}

/// random: no state but the generator.
class RandomReplacement {
public:
    static constexpr Repetition repetition{};
    RandomReplacement(std::uint64_t, unsigned ways, std::uint64_t seed) : ways_(ways), random_(seed) {}
    void used(std::uint64_t, unsigned) {}
    void inserted(std::uint64_t, unsigned) {}
    unsigned victim(std::uint64_t) { return static_cast<unsigned>(random_.below(ways_)); }
    std::uint64_t digest(std::uint64_t) const { return random_.state(); }

private:
    unsigned ways_;
    Random random_;
};

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

/// bit_plru and nru: one bit per way; they differ in when the bits are cleared.
class BitReplacement {
public:
    static constexpr Repetition repetition{};
    BitReplacement(std::uint64_t sets, unsigned ways, bool clear_when_full)
        : ways_(ways), words_((ways + 63) / 64), clear_when_full_(clear_when_full), bits_(sets * words_, 0) {}

    void used(std::uint64_t set, unsigned way) {
        WayBits* bits = &bits_[set * words_];
        bits[way / 64] |= WayBits{1} << way % 64;
        if (clear_when_full_ && first_clear(bits) == ways_) {
            clear(bits);
            bits[way / 64] = WayBits{1} << way % 64;
        }
    }
    void inserted(std::uint64_t set, unsigned way) { used(set, way); }

    unsigned victim(std::uint64_t set) {
        WayBits* bits = &bits_[set * words_];
        const unsigned way = first_clear(bits);
        if (way < ways_) return way;
        if (!clear_when_full_) clear(bits);
        return 0;
    }

    std::uint64_t digest(std::uint64_t set) const {
        std::uint64_t digest = 0;
        for (unsigned word = 0; word < words_; ++word) digest = splitmix64(digest ^ bits_[set * words_ + word]);
        return digest;
    }

private:
    unsigned first_clear(const WayBits* bits) const {
        for (unsigned word = 0; word < words_; ++word)
            if (~bits[word] != 0)
                return std::min(ways_, word * 64 + static_cast<unsigned>(std::countr_one(bits[word])));
        return ways_;
    }
    void clear(WayBits* bits) const { std::fill(bits, bits + words_, 0); }

    unsigned ways_, words_;
    bool clear_when_full_;
    std::vector<WayBits> bits_;
};

class BitPlru : public BitReplacement {
public:
    BitPlru(std::uint64_t sets, unsigned ways, std::uint64_t) : BitReplacement(sets, ways, true) {}
};

class Nru : public BitReplacement {
public:
    Nru(std::uint64_t sets, unsigned ways, std::uint64_t) : BitReplacement(sets, ways, false) {}
};

/// srrip with two-bit values and hit priority (Jaleel et al. 2010, "High performance cache replacement using RRIP").
class Srrip {
public:
    static constexpr Repetition repetition{.idle_after_insertion = false};  // the first hit makes it near
    Srrip(std::uint64_t sets, unsigned ways, std::uint64_t) : ways_(ways), value_(sets * ways, distant) {}
    void used(std::uint64_t set, unsigned way) { value_[set * ways_ + way] = 0; }
    void inserted(std::uint64_t set, unsigned way) { value_[set * ways_ + way] = distant - 1; }

    unsigned victim(std::uint64_t set) {
        std::uint8_t* values = &value_[set * ways_];
        std::uint8_t* oldest = std::max_element(values, values + ways_);
        if (const auto missing = static_cast<std::uint8_t>(distant - *oldest); missing > 0)
            for (unsigned way = 0; way < ways_; ++way) values[way] = static_cast<std::uint8_t>(values[way] + missing);
        return static_cast<unsigned>(oldest - values);
    }

    std::uint64_t digest(std::uint64_t set) const { return digest_of_bytes(&value_[set * ways_], ways_); }

private:
    static constexpr std::uint8_t distant = 3;
    unsigned ways_;
    std::vector<std::uint8_t> value_;
};

}  // namespace cachetally
