#include "monitor/paged_counts.hpp"

namespace cachetally {

void FunctionCounts::take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span,
                          std::uint32_t phase) {
    for (auto& [function, counts] : counts_) {
        counts.each_used([&, name = function](std::uint64_t first, PagedArray<std::uint64_t>::Elements& elements) {
            for (std::uint64_t i = 0; i < elements.size(); ++i)
                if (elements[i] != 0) rows.push_back({(first + i) * span * unit, span, phase, name, elements[i]});
            elements.fill(0);
        });
    }
}

}  // namespace cachetally
