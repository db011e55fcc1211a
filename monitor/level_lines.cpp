// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/level_lines.hpp"

#include <algorithm>
#include <map>

#include "monitor/region_finder.hpp"

namespace cachetally {
namespace {

struct Share {
    std::uint32_t phase;
    Address line;
    double accesses, misses;

    bool same_place(const Share& other) const { return phase == other.phase && line == other.line; }
};

void add(std::vector<Share>& shares, const Histogram& histogram, std::uint32_t line_bytes, bool miss) {
    const std::uint32_t step = std::min(histogram.unit_bytes(), line_bytes);
    for (const HistogramRow& row : histogram.rows()) {
        const std::uint64_t parts = std::uint64_t{row.span} * (histogram.unit_bytes() / step);
        const double share = static_cast<double>(row.count) / static_cast<double>(parts);
        for (std::uint64_t i = 0; i < parts; ++i) {
            const Address line = align_down(row.address + i * step, line_bytes);
            shares.push_back({row.phase, line, miss ? 0 : share, miss ? share : 0});
        }
    }
}

void sort_and_sum(std::vector<Share>& shares) {
    const auto before = [](const Share& a, const Share& b) {
        return a.phase != b.phase ? a.phase < b.phase : a.line < b.line;
    };
    std::ranges::stable_sort(shares, before);
    std::size_t kept = 0;
    for (const Share& share : shares) {
        if (kept > 0 && shares[kept - 1].same_place(share)) {
            shares[kept - 1].accesses += share.accesses;
            shares[kept - 1].misses += share.misses;
        } else {
            shares[kept++] = share;
        }
    }
    shares.resize(kept);
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
    for (const Histogram* histogram : input.above) add(shares, *histogram, lines.line_bytes, false);
    for (const Histogram* histogram : input.below) add(shares, *histogram, lines.line_bytes, true);
    if (map)
        for (Share& share : shares) share.line = map(share.line);
    if (input.above.empty() && input.below.empty() && input.line_bytes == 0) lines.line_bytes = LevelLines{}.line_bytes;
    sort_and_sum(shares);
    lines.phase.reserve(shares.size());
    lines.address.reserve(shares.size());
    lines.accesses.reserve(shares.size());
    lines.misses.reserve(shares.size());
    for (const Share& share : shares) {
        lines.phase.push_back(share.phase);
        lines.address.push_back(share.line);
        lines.accesses.push_back(share.accesses);
        lines.misses.push_back(share.misses);
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
    rows.reserve(sums.size());
    for (const auto& [place, tally] : sums) rows.push_back({place.first, place.second, tally});
    return rows;
}

std::vector<Tally> StructureTable::totals(std::size_t level) const {
    std::vector<Tally> sums(regions.size() + 1);
    for (const StructureTally& row : levels[level].tallies) sums[row.structure] += row.tally;
    return sums;
}

std::vector<Tally> StructureTable::totals(std::size_t level, std::uint32_t phase) const {
    std::vector<Tally> sums(regions.size() + 1);
    for (const StructureTally& row : levels[level].tallies)
        if (row.phase == phase) sums[row.structure] += row.tally;
    return sums;
}

}  // namespace cachetally
