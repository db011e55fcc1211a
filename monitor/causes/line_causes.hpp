// SPDX-License-Identifier: BSD-3-Clause
// Causes of misses by line and phase.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cachetally/types.hpp"
#include "monitor/causes/miss_causes.hpp"

namespace cachetally {

/// A line in a phase, at its address in the level.
struct LineCauses {
    Address address = 0;
    std::uint32_t phase = 0;
    CauseCounts misses{};
    friend bool operator==(const LineCauses&, const LineCauses&) = default;
};

/// Of one copy of a level, by the numbers of lines (LineNumbers).
class LineCauseCounts {
public:
    void add(std::uint32_t number, Address line, MissCause cause, std::uint32_t times) {
        if (number >= at_hand_.size()) at_hand_.resize(number + std::size_t{1});
        CauseCounts& counts = at_hand_[number];
        if (counts == CauseCounts{}) missed_.emplace_back(number, line);
        counts[static_cast<unsigned>(cause)] += times;
    }
    void end_phase(std::uint32_t phase);
    /// Of the phases that ended, with those of the one at hand.
    std::vector<LineCauses> rows(std::uint32_t phase) const;

private:
    std::vector<CauseCounts> at_hand_;                       ///< of the phase, by number
    std::vector<std::pair<std::uint32_t, Address>> missed_;  ///< in it
    std::vector<LineCauses> ended_;
};

}  // namespace cachetally
