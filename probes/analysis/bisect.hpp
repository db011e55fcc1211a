// SPDX-License-Identifier: BSD-3-Clause
// Bisection of a condition that holds up to some number.
#pragma once

#include <cstdint>

namespace cachetally {

/// Two numbers that follow each other: a condition is true of `low`, and not of `high`.
struct Bisected {
    std::uint64_t low = 0, high = 0;
};

/// `holds` is true of `low` and not of `high`, of neither of which it is asked.
template <class Holds>
Bisected bisect(std::uint64_t low, std::uint64_t high, const Holds& holds) {
    while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        (holds(middle) ? low : high) = middle;
    }
    return {low, high};
}

}  // namespace cachetally
