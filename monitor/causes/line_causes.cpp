// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/line_causes.hpp"

namespace cachetally {

std::vector<LineCauses> LineCauseCounts::rows(std::uint32_t phase) const {
    std::vector<LineCauses> rows = ended_;
    for (const auto& [number, line] : missed_) rows.push_back({line, phase, at_hand_[number]});
    return rows;
}

void LineCauseCounts::end_phase(std::uint32_t phase) {
    for (const auto& [number, line] : missed_) {
        ended_.push_back({line, phase, at_hand_[number]});
        at_hand_[number] = {};
    }
    missed_.clear();
}

}  // namespace cachetally
