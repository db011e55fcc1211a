// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/layouts/structures.hpp"

#include <algorithm>

namespace cachetally {

StructureFinder::StructureFinder(const SiteTable& sites, const std::vector<std::string>& objects) {
    std::vector<std::uint32_t> by_object;
    for (const std::string& name : objects) by_object.push_back(name.empty() ? no_structure : number_of(name));
    by_site_.resize(std::max<std::uint32_t>(sites.size(), 1), no_structure);
    for (std::uint32_t site = 0; site < sites.size(); ++site)
        if (const std::uint32_t object = sites[site].object; object < by_object.size())
            by_site_[site] = by_object[object];
}

StructureFinder::StructureFinder(const std::vector<Region>& regions) {
    for (const Region& region : regions) {
        const std::uint32_t structure = number_of(region.name);
        const auto place = std::ranges::upper_bound(ranges_, region.base, {}, &Range::base);
        const bool overlaps =
            (place != ranges_.end() && place->base - region.base < region.bytes) ||
            (place != ranges_.begin() && region.base - std::prev(place)->base < std::prev(place)->bytes);
        if (region.bytes == 0 || overlaps) continue;
        ranges_.insert(place, {region.base, region.bytes, structure});
    }
}

std::uint32_t StructureFinder::number(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? no_structure : found->second;
}

std::uint32_t StructureFinder::number_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
}

/// The range with the address, or the gap between two.
StructureFinder::Range StructureFinder::range_of(Address address) const {
    const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::base);
    Range gap{0, next == ranges_.end() ? ~Address{0} : next->base, no_structure};
    if (next == ranges_.begin()) return gap;
    const Range& before = *std::prev(next);
    if (address - before.base < before.bytes) return before;
    gap.base = before.base + before.bytes;
    gap.bytes -= gap.base;
    return gap;
}

}  // namespace cachetally
