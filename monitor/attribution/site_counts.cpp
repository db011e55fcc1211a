// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/site_counts.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

void SiteCounts::grow(std::size_t place) { counts_.resize(std::max(place + 1, 2 * counts_.size())); }

/// As add(), in a loop of little more than the sum.
void SiteCounts::add_each(std::span<const std::uint32_t> sites, unsigned core) {
    if (!counting_.is_on()) return;
    std::uint64_t* counts = counts_.data();
    std::size_t size = counts_.size();
    for (const std::uint32_t site : sites) {
        const std::size_t place = std::size_t{site} * cores_ + core % cores_;
        if (place >= size) [[unlikely]] {
            grow(place);
            counts = counts_.data();
            size = counts_.size();
        }
        if (counts[place]++ == 0) [[unlikely]]
            counted_.push_back(place);
    }
}

std::vector<SiteCounts::Row> SiteCounts::rows() const {
    std::vector<Row> all = rows_;
    for (const std::size_t place : counted_) all.push_back(row(place, counts_[place]));
    return all;
}

void SiteAccesses::on_references(unsigned core, std::span<const Reference> references) {
    for (const Reference& reference : references) {
        const unsigned bits = line_bits_[static_cast<unsigned>(reference.kind)];
        if (bits == none) continue;
        counts_.add(reference.site, (last_byte(reference) >> bits) - (reference.address >> bits) + 1, core);
    }
}

void SiteAccesses::on_accesses(unsigned core, std::span<const std::uint32_t> sites) { counts_.add_each(sites, core); }

void SiteCounts::end_phase() {
    for (const std::size_t place : counted_) rows_.push_back(row(place, std::exchange(counts_[place], 0)));
    counted_.clear();
    ++phase_;
}

}  // namespace cachetally
