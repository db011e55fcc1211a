// SPDX-License-Identifier: BSD-3-Clause
// Which data structure a reference is for: what sites tell, else regions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// The next multiple of `unit`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return divide_round_up(value, unit) * unit;
}

inline constexpr std::uint32_t no_structure = std::numeric_limits<std::uint32_t>::max();

/// Numbers data structures by name, so that objects of one name are one. For one thread at a time; copies are cheap
/// enough to have one for each.
class StructureFinder {
public:
    StructureFinder() = default;
    /// Of objects, by site.
    StructureFinder(const SiteTable& sites, const std::vector<std::string>& objects);
    /// Of regions; of those that overlap, the first has the address.
    explicit StructureFinder(const std::vector<Region>& regions);

    std::uint32_t find(const Reference& reference) const {
        if (reference.kind == ReferenceKind::fetch) return no_structure;
        if (by_site_.empty()) return find_region(reference.address);
        return reference.site < by_site_.size() ? by_site_[reference.site] : no_structure;
    }
    const std::vector<std::string>& names() const { return names_; }
    /// no_structure where there is none.
    std::uint32_t number(const std::string& name) const;

private:
    struct Range {
        Address base = 0;
        std::uint64_t bytes = 0;
        std::uint32_t structure = no_structure;
    };
    std::uint32_t find_region(Address address) const {
        if (address - latest_.base >= latest_.bytes) latest_ = range_of(address);
        return latest_.structure;
    }
    Range range_of(Address address) const;
    std::uint32_t number_of(const std::string& name);

    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::uint32_t> by_site_;
    std::vector<Range> ranges_;  ///< ascending, without overlap
    mutable Range latest_;
};

/// A stretch of addresses that moves as a whole.
struct Segment {
    Address base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t unit = 4096;  ///< it may be moved by multiples of this: 16 for heaps and stacks, else a page
    bool whole = false;         ///< it is one region or block, and no stretch of several
    friend bool operator==(const Segment&, const Segment&) = default;
};

struct Extent {
    Address base = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace cachetally
