// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/level_lines.hpp"

#include <algorithm>
#include <map>

#include "monitor/region_finder.hpp"
#include "monitor/sum_rows.hpp"

namespace cachetally {
namespace {

struct Share {
    std::uint32_t phase;
    Address line;
    Tally tally;
};

void add(std::vector<Share>& shares, const Histogram& histogram, std::uint32_t line_bytes, double Tally::*number) {
    const std::uint32_t step = std::min(histogram.unit_bytes(), line_bytes);
    for (const HistogramRow& row : histogram.rows()) {
        const std::uint64_t parts = std::uint64_t{row.span} * (histogram.unit_bytes() / step);
        for (std::uint64_t i = 0; i < parts; ++i) {
            Share& share = shares.emplace_back(Share{row.phase, align_down(row.address + i * step, line_bytes), {}});
            share.tally.*number = static_cast<double>(row.count) / static_cast<double>(parts);
        }
    }
}

}  // namespace

LevelLines level_lines(const LevelInput& input, const AddressMap& map) {
    LevelLines lines;
    lines.level = input.name;
    lines.line_bytes = input.line_bytes == 0 ? 1 : input.line_bytes;
    std::size_t rows = 0;
    for (const auto& side : {input.above, input.below})
        for (const Histogram* histogram : side) {
            if (input.line_bytes == 0) lines.line_bytes = std::max(lines.line_bytes, histogram->unit_bytes());
            rows += histogram->rows().size();
        }
    std::vector<Share> shares;
    shares.reserve(rows);
    for (const Histogram* each : input.above) add(shares, *each, lines.line_bytes, &Tally::accesses);
    for (const Histogram* each : input.below) add(shares, *each, lines.line_bytes, &Tally::misses);
    if (map)
        for (Share& share : shares) share.line = map(share.line);
    if (input.above.empty() && input.below.empty() && input.line_bytes == 0) lines.line_bytes = LevelLines{}.line_bytes;
    sort_and_sum(
        shares, [](const Share& share) { return std::pair(share.phase, share.line); },
        [](Share& sum, const Share& share) { sum.tally += share.tally; });
    for (const Share& share : shares) {
        lines.phase.push_back(share.phase);
        lines.address.push_back(share.line);
        lines.accesses.push_back(share.tally.accesses);
        lines.misses.push_back(share.tally.misses);
    }
    return lines;
}

std::vector<StructureTally> by_structure(const LevelLines& lines, std::span<const Region> regions) {
    const RegionFinder finder(regions);
    std::map<std::pair<std::uint32_t, std::uint32_t>, Tally> sums;
    for (std::size_t i = 0; i < lines.address.size(); ++i)
        sums[{finder.find(lines.address[i], lines.line_bytes), lines.phase[i]}] +=
            Tally{lines.accesses[i], lines.misses[i]};
    std::vector<StructureTally> rows;
    for (const auto& [place, tally] : sums) rows.push_back({place.first, place.second, tally});
    return rows;
}

std::vector<Tally> StructureTable::totals(std::size_t level, std::optional<std::uint32_t> phase) const {
    std::vector<Tally> sums(regions.size() + 1);
    for (const StructureTally& row : levels[level].tallies)
        if (row.phase == phase.value_or(row.phase)) sums[row.structure] += row.tally;
    return sums;
}

}  // namespace cachetally
