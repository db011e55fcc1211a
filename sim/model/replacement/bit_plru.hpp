// SPDX-License-Identifier: BSD-3-Clause
// bit_plru and nru: a bit per way says that it was used.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// One bit per way, any number of ways up to 64 * words.
using WayBits = std::uint64_t;

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

}  // namespace cachetally
