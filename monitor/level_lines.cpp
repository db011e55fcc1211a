#include "monitor/level_lines.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace cachetally {
namespace {

struct Share {
    std::uint32_t phase;
    Address line;
    double accesses, misses;

    bool same_place(const Share& other) const { return phase == other.phase && line == other.line; }
};

void add(std::vector<Share>& shares, const Histogram& histogram, std::uint32_t line_bytes, bool miss) {
    for (const HistogramRow& row : histogram.rows()) {
        const double share = static_cast<double>(row.count) / static_cast<double>(row.span);
        for (std::uint32_t i = 0; i < row.span; ++i) {
            const Address line = align_down(row.address + Address{i} * histogram.unit_bytes(), line_bytes);
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

/// Finds the first region that a line touches. Regions that overlap each other are searched one by one.
class RegionFinder {
public:
    explicit RegionFinder(std::span<const Region> regions) : regions_(regions), by_base_(regions.size()) {
        std::iota(by_base_.begin(), by_base_.end(), 0U);
        std::erase_if(by_base_, [&](std::uint32_t i) { return regions_[i].bytes == 0; });
        std::ranges::stable_sort(by_base_, {}, [&](std::uint32_t i) { return regions_[i].base; });
        for (std::size_t i = 1; i < by_base_.size(); ++i)
            disjoint_ = disjoint_ && last(by_base_[i - 1]) < regions_[by_base_[i]].base;
    }

    std::uint32_t find(Address line, std::uint32_t bytes) const {
        const Address end = line + (bytes - 1);
        const auto touches = [&](std::uint32_t i) { return regions_[i].base <= end && last(i) >= line; };
        auto first = static_cast<std::uint32_t>(regions_.size());
        const auto begin = disjoint_ ? std::ranges::partition_point(by_base_, [&](auto i) { return last(i) < line; })
                                     : by_base_.begin();
        for (auto each = begin; each != by_base_.end() && regions_[*each].base <= end; ++each)
            if (touches(*each)) first = std::min(first, *each);
        return first;
    }

private:
    Address last(std::uint32_t i) const { return regions_[i].base + (regions_[i].bytes - 1); }

    std::span<const Region> regions_;
    std::vector<std::uint32_t> by_base_;
    bool disjoint_ = true;
};

}  // namespace

LevelLines level_lines(const LevelInput& input, const AddressMap& map) {
    LevelLines lines;
    lines.level = input.name;
    lines.line_bytes = 1;
    std::size_t rows = 0;
    for (const auto& side : {input.above, input.below})
        for (const Histogram* histogram : side) {
            lines.line_bytes = std::max(lines.line_bytes, histogram->unit_bytes());
            rows += histogram->rows().size();
        }
    std::vector<Share> shares;
    shares.reserve(rows);
    for (const Histogram* histogram : input.above) add(shares, *histogram, lines.line_bytes, false);
    for (const Histogram* histogram : input.below) add(shares, *histogram, lines.line_bytes, true);
    if (map)
        for (Share& share : shares) share.line = map(share.line);
    if (input.above.empty() && input.below.empty()) lines.line_bytes = LevelLines{}.line_bytes;
    sort_and_sum(shares);
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
