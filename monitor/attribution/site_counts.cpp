// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/site_counts.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

void SiteCounts::grow(std::uint32_t site) { counts_.resize(std::max<std::size_t>(site + 1, 2 * counts_.size())); }

std::vector<SiteCounts::Row> SiteCounts::rows() const {
    std::vector<Row> all = rows_;
    for (const std::uint32_t site : counted_) all.push_back({site, phase_, counts_[site]});
    return all;
}

void SiteAccesses::on_references(unsigned, std::span<const Reference> references) {
    for (const Reference& reference : references) {
        const unsigned bits = line_bits_[static_cast<unsigned>(reference.kind)];
        if (bits == none) continue;
        counts_.add(reference.site, (last_byte(reference) >> bits) - (reference.address >> bits) + 1);
    }
}

void SiteAccesses::on_accesses(unsigned, std::span<const std::uint32_t> sites) {
    for (const std::uint32_t site : sites) counts_.add(site, 1);
}

void SiteCounts::end_phase() {
    for (const std::uint32_t site : counted_) rows_.push_back({site, phase_, std::exchange(counts_[site], 0)});
    counted_.clear();
    ++phase_;
}

}  // namespace cachetally
