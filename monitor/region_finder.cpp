// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/region_finder.hpp"

#include <algorithm>
#include <numeric>

namespace cachetally {

RegionFinder::RegionFinder(std::span<const Region> regions) : regions_(regions), by_base_(regions.size()) {
    std::iota(by_base_.begin(), by_base_.end(), 0U);
    std::erase_if(by_base_, [&](std::uint32_t i) { return regions_[i].bytes == 0; });
    std::ranges::stable_sort(by_base_, {}, [&](std::uint32_t i) { return regions_[i].base; });
    for (std::size_t i = 1; i < by_base_.size(); ++i)
        disjoint_ = disjoint_ && last(by_base_[i - 1]) < regions_[by_base_[i]].base;
}

std::uint32_t RegionFinder::find(Address line, std::uint32_t bytes) const {
    const Address end = line + (bytes - 1);
    const auto touches = [&](std::uint32_t i) { return regions_[i].base <= end && last(i) >= line; };
    auto first = static_cast<std::uint32_t>(regions_.size());
    const auto begin =
        disjoint_ ? std::ranges::partition_point(by_base_, [&](auto i) { return last(i) < line; }) : by_base_.begin();
    for (auto each = begin; each != by_base_.end() && regions_[*each].base <= end; ++each)
        if (touches(*each)) first = std::min(first, *each);
    return first;
}

}  // namespace cachetally
