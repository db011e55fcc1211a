// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/paged_counts.hpp"

namespace cachetally {

void FunctionCounts::take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span,
                          std::uint32_t phase) {
    for (auto& [function, counts] : counts_)
        take_rows(counts, rows, {.span = span, .phase = phase, .function = function}, unit,
                  [](std::uint64_t count) { return count; });
}

}  // namespace cachetally
