// SPDX-License-Identifier: BSD-3-Clause
// qlru_h11_m1_r0_u0: quad-age LRU, a family of policies of Intel's caches with an age of two bits per way.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// QLRU_H11_M1_R0_U0, found in the L3 of Intel processors (Abel and Reineke 2020, "nanoBench: a low-overhead tool for
/// running microbenchmarks on x86 systems", and the simulator of nanoBench's CacheAnalyzer):
/// - H11: a hit makes ages 3 and 2 to 1, and 1 to 0;
/// - M1: a line is inserted with age 1;
/// - R0: the lowest way with age 3 is replaced (the lowest empty one before it);
/// - U0: after each use and insertion all ways grow older by as much as the oldest lacks to 3.
class QlruH11M1R0U0 {
public:
    static constexpr Repetition repetition{.idle_after_use = false,
                                           .idle_after_insertion = false};  // counts to two hits
    QlruH11M1R0U0(std::uint64_t sets, unsigned ways, std::uint64_t) : ways_(ways), age_(sets * ways, oldest) {}

    void used(std::uint64_t set, unsigned way) { set_age(set, way, age_[set * ways_ + way] >= 2 ? 1 : 0); }
    void inserted(std::uint64_t set, unsigned way) { set_age(set, way, 1); }

    /// There is one: U0 has left it.
    unsigned victim(std::uint64_t set) {
        const std::uint8_t* ages = &age_[set * ways_];
        return static_cast<unsigned>(std::find(ages, ages + ways_, oldest) - ages);
    }

    std::uint64_t digest(std::uint64_t set) const { return digest_of_bytes(&age_[set * ways_], ways_); }

private:
    void set_age(std::uint64_t set, unsigned way, std::uint8_t age) {
        std::uint8_t* ages = &age_[set * ways_];
        ages[way] = age;
        const auto missing = static_cast<std::uint8_t>(oldest - *std::max_element(ages, ages + ways_));
        for (unsigned each = 0; each < ways_; ++each) ages[each] = static_cast<std::uint8_t>(ages[each] + missing);
    }

    static constexpr std::uint8_t oldest = 3;
    unsigned ways_;
    std::vector<std::uint8_t> age_;
};

}  // namespace cachetally
