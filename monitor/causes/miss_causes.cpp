// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/miss_causes.hpp"

namespace cachetally {

std::vector<CauseCounts> LevelCauses::totals(std::size_t structures, std::optional<std::uint32_t> phase) const {
    std::vector<CauseCounts> sums(structures + 1);
    for (const StructureCauses& row : misses)
        for (unsigned cause = 0; cause < miss_cause_count && row.phase == phase.value_or(row.phase); ++cause)
            sums[row.structure][cause] += row.misses[cause];
    return sums;
}

std::vector<Evictions> LevelCauses::eviction_totals(std::optional<std::uint32_t> phase) const {
    return cachetally::eviction_totals(evictions, phase);
}

std::vector<Evictions> eviction_totals(const std::vector<Evictions>& rows, std::optional<std::uint32_t> phase) {
    std::vector<Evictions> sums;
    for (const Evictions& row : rows) {  // those of one pair stand together
        if (row.phase != phase.value_or(row.phase)) continue;
        if (sums.empty() || sums.back().by != row.by || sums.back().victim != row.victim)
            sums.push_back({row.by, row.victim, phase.value_or(0), 0});
        sums.back().count += row.count;
    }
    return sums;
}

}  // namespace cachetally
