// SPDX-License-Identifier: BSD-3-Clause
// srrip: re-reference interval prediction.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// srrip with two-bit values and hit priority (Jaleel et al. 2010, "High performance cache replacement using RRIP").
class Srrip {
public:
    static constexpr Repetition repetition{.idle_after_insertion = false};  // the first hit makes it near
    Srrip(std::uint64_t sets, unsigned ways, std::uint64_t) : ways_(ways), value_(sets * ways, distant) {}
    void used(std::uint64_t set, unsigned way) { value_[set * ways_ + way] = 0; }
    void inserted(std::uint64_t set, unsigned way) { value_[set * ways_ + way] = distant - 1; }
    /// For bimodal insertion: replaced next, unless it is used first.
    void inserted_distant(std::uint64_t set, unsigned way) { value_[set * ways_ + way] = distant; }

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
