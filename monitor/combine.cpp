// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/combine.hpp"

#include <algorithm>
#include <map>

namespace cachetally {
namespace {

using Lines = std::map<std::pair<std::uint32_t, Address>, std::vector<Tally>>;

/// Adds a histogram to one number of one level, per line.
void add(Lines& lines, const Histogram& histogram, std::uint32_t line_bytes, std::size_t levels, std::size_t level,
         double Tally::*number) {
    for (const HistogramRow& row : histogram.rows()) {
        const double share = static_cast<double>(row.count) / static_cast<double>(row.span);
        for (std::uint32_t i = 0; i < row.span; ++i) {
            const Address unit = row.address + Address{i} * histogram.unit_bytes();
            std::vector<Tally>& tallies = lines[{row.phase, align_down(unit, line_bytes)}];
            tallies.resize(levels);
            tallies[level].*number += share;
        }
    }
}

void add(std::vector<Tally>& sums, const std::vector<Tally>& tallies) {
    for (std::size_t level = 0; level < sums.size(); ++level) sums[level] += tallies[level];
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
    accesses += other.accesses;
    misses += other.misses;
    return *this;
}

CombinedHistogram::CombinedHistogram(const std::vector<LevelInput>& levels) {
    for (const LevelInput& level : levels) {
        names_.push_back(level.name);
        for (const auto& side : {level.above, level.below})
            for (const Histogram* histogram : side) {
                line_bytes_ = std::max(line_bytes_, histogram->unit_bytes());
                phases_ = std::max(phases_, histogram->phases());
            }
    }
    Lines lines;
    for (std::size_t level = 0; level < levels.size(); ++level) {
        for (const Histogram* histogram : levels[level].above)
            add(lines, *histogram, line_bytes_, levels.size(), level, &Tally::accesses);
        for (const Histogram* histogram : levels[level].below)
            add(lines, *histogram, line_bytes_, levels.size(), level, &Tally::misses);
    }
    for (auto& [place, tallies] : lines) lines_.push_back({place.second, place.first, std::move(tallies)});
}

std::vector<Tally> CombinedHistogram::total() const {
    std::vector<Tally> sums(names_.size());
    for (const Line& line : lines_) add(sums, line.levels);
    return sums;
}

std::vector<Tally> CombinedHistogram::total(std::uint32_t phase) const {
    std::vector<Tally> sums(names_.size());
    auto line = std::ranges::lower_bound(lines_, phase, {}, &Line::phase);
    for (; line != lines_.end() && line->phase == phase; ++line) add(sums, line->levels);
    return sums;
}

std::vector<Tally> CombinedHistogram::in_range(AddressRange range, const AddressMap& map) const {
    std::vector<Tally> sums(names_.size());
    for (const Line& line : lines_)
        if (range.contains(map ? map(line.address) : line.address)) add(sums, line.levels);
    return sums;
}

std::vector<CombinedHistogram::RegionTally> CombinedHistogram::by_region(std::span<const Region> regions,
                                                                         const AddressMap& map) const {
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Tally>> sums;
    for (const Line& line : lines_) {
        const Address first = map ? map(line.address) : line.address;
        const auto touches = [&](const Region& region) {
            return first < region.base + region.bytes && first + line_bytes_ > region.base;
        };
        const auto found = std::ranges::find_if(regions, touches);
        std::vector<Tally>& sum = sums[{static_cast<std::size_t>(found - regions.begin()), line.phase}];
        sum.resize(names_.size());
        add(sum, line.levels);
    }
    std::vector<RegionTally> rows;
    rows.reserve(sums.size());
    for (auto& [place, tallies] : sums)
        rows.push_back({place.first == regions.size() ? "(elsewhere)" : regions[place.first].name, place.second,
                        std::move(tallies)});
    return rows;
}

}  // namespace cachetally
