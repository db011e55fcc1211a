// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/level_lines.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "monitor/histogram.hpp"

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

namespace {

struct Share {
    std::uint32_t phase;
    Address line;
    Tally tally;
};

void add(std::vector<Share>& shares, const Histogram& histogram, std::uint32_t line_bytes,
         const std::function<bool(Address)>& holds, double Tally::*number) {
    const std::uint32_t step = std::min(histogram.unit_bytes(), line_bytes);
    for (const HistogramRow& row : histogram.rows()) {
        const std::uint64_t parts = std::uint64_t{row.span} * (histogram.unit_bytes() / step);
        for (std::uint64_t i = 0; i < parts; ++i) {
            if (holds && !holds(row.address + i * step)) continue;
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
    for (const Histogram* each : input.above) add(shares, *each, lines.line_bytes, input.holds, &Tally::accesses);
    for (const Histogram* each : input.below) add(shares, *each, lines.line_bytes, input.holds, &Tally::misses);
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

void add_causes(LevelLines& lines, std::span<const LineCauses> rows, const AddressMap& map) {
    for (std::vector<double>& counts : lines.causes) counts.assign(lines.address.size(), 0);
    for (const LineCauses& row : rows) {
        const Address line = align_down(map ? map(row.address) : row.address, lines.line_bytes);
        const auto [first, last] = std::equal_range(lines.phase.begin(), lines.phase.end(), row.phase);
        const auto begin = lines.address.begin() + (first - lines.phase.begin()), end = begin + (last - first);
        const auto found = std::lower_bound(begin, end, line);
        if (found == end || *found != line) {
            lines.causes = {};
            return;
        }
        const auto at = static_cast<std::size_t>(found - lines.address.begin());
        for (unsigned cause = 0; cause < miss_cause_count; ++cause)
            lines.causes[cause][at] += static_cast<double>(row.misses[cause]);
    }
}

LevelLines only_cause(LevelLines lines, MissCause cause) {
    std::vector<double>& counts = lines.causes[static_cast<unsigned>(cause)];
    if (counts.size() != lines.address.size())
        throw std::invalid_argument("causes of misses of " + lines.level +
                                    " are not known by line: the file was made without --causes, or they are not told "
                                    "of this level (docs/causes.md)");
    lines.misses = std::move(counts);
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
