// SPDX-License-Identifier: BSD-3-Clause
// The one pseudo-random generator of the models: small, fast, and the same on every platform.
#pragma once

#include <cstdint>

namespace cachetally {

/// Spreads a seed over 64 bits (Steele et al. 2014, SplitMix).
constexpr std::uint64_t splitmix64(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

/// xorshift64* (Vigna 2016).
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(splitmix64(seed)) {
        if (state_ == 0) state_ = 1;
    }

    constexpr std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 2685821657736338717U;
    }

    std::uint64_t state() const { return state_; }

    /// A number in [0, limit), limit at most 2^32.
    constexpr std::uint64_t below(std::uint64_t limit) { return ((next() >> 32) * limit) >> 32; }

private:
    std::uint64_t state_;
};

}  // namespace cachetally
