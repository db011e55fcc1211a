// SPDX-License-Identifier: BSD-3-Clause
// Intervals: which of many events are taken, one in n.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace cachetally {

/// Always n events from one to the next, or drawn from 1 to 2n - 1.
class Intervals {
public:
    Intervals(std::uint64_t mean, bool random, std::uint64_t seed) : mean_(mean), drawn_(random), random_(seed) {
        left_ = next();
    }

    /// How many of the next `events` are taken.
    std::uint64_t take(std::uint64_t events) {
        if (!drawn_) {
            const std::uint64_t passed = mean_ - left_ + events;
            left_ = mean_ - passed % mean_;
            return passed / mean_;
        }
        std::uint64_t taken = 0;
        for (; events >= left_; left_ = next()) {
            events -= left_;
            ++taken;
        }
        left_ -= events;
        return taken;
    }

private:
    std::uint64_t next() { return drawn_ ? 1 + random_.below(2 * mean_ - 1) : mean_; }

    std::uint64_t mean_;
    bool drawn_;
    Random random_;
    std::uint64_t left_;
};

}  // namespace cachetally
