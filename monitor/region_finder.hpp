// SPDX-License-Identifier: BSD-3-Clause
// Which data structure a line belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// Finds the first region (in the order given) that a line touches. Regions that overlap each other are searched one by
/// one. The regions must live as long as it is used.
class RegionFinder {
public:
    explicit RegionFinder(std::span<const Region> regions);

    /// Its index; the number of regions where none is touched.
    std::uint32_t find(Address line, std::uint32_t bytes) const;

private:
    Address last(std::uint32_t i) const { return regions_[i].base + (regions_[i].bytes - 1); }

    std::span<const Region> regions_;
    std::vector<std::uint32_t> by_base_;
    bool disjoint_ = true;
};

}  // namespace cachetally
