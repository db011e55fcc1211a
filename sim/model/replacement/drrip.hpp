// SPDX-License-Identifier: BSD-3-Clause
// drrip: srrip, with the value of insertions chosen by set dueling.
#pragma once

#include <algorithm>

#include "sim/model/replacement/srrip.hpp"

namespace cachetally {

/// drrip (Jaleel et al. 2010, "High performance cache replacement using RRIP": SRRIP against BRRIP, a counter PSEL of
/// 10 bits, one of 32 insertions of BRRIP as SRRIP would). Leader sets by complement-select, 32 for each of both
/// (Qureshi et al. 2007, "Adaptive insertion policies for high performance caching"). Ours: an insertion stands for a
/// miss; regions of at least four sets, so that half of them follow; SRRIP at first.
class Drrip {
public:
    static constexpr Repetition repetition = Srrip::repetition;
    Drrip(std::uint64_t sets, unsigned ways, std::uint64_t seed)
        : values_(sets, ways, seed),
          region_(std::max<std::uint64_t>(4, sets / 32 & ~std::uint64_t{1})),
          regions_(std::min<std::uint64_t>(32, sets / region_)) {}

    void used(std::uint64_t set, unsigned way) { values_.used(set, way); }
    void inserted(std::uint64_t set, unsigned way) {
        if (is_by_srrip(set) || ++brrip_insertions_ % 32 == 0)
            values_.inserted(set, way);
        else
            values_.inserted_distant(set, way);
    }
    unsigned victim(std::uint64_t set) { return values_.victim(set); }

    /// The counters are those of all sets.
    std::uint64_t digest(std::uint64_t set) const {
        return splitmix64(values_.digest(set) ^ (std::uint64_t{psel_} << 32 | brrip_insertions_ % 32));
    }

private:
    static constexpr std::uint32_t psel_limit = 1 << 10;

    /// Counts the insertion where the set leads: misses of SRRIP up, those of BRRIP down.
    bool is_by_srrip(std::uint64_t set) {
        const std::uint64_t region = set / region_, place = set % region_, leader = region % region_;
        if (region < regions_ && place == leader) {
            psel_ = std::min(psel_ + 1, psel_limit - 1);
            return true;
        }
        if (region < regions_ && place == region_ - 1 - leader) {
            psel_ -= psel_ != 0;
            return false;
        }
        return psel_ < psel_limit / 2;
    }

    Srrip values_;
    std::uint64_t region_;   ///< sets, of which one leads for SRRIP and one for BRRIP
    std::uint64_t regions_;  ///< the first ones, which have leaders
    std::uint32_t psel_ = psel_limit / 2 - 1;
    std::uint32_t brrip_insertions_ = 0;  ///< modulo 2^32, a multiple of 32
};

}  // namespace cachetally
