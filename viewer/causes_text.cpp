// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/causes_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t pairs_shown = 8, longest_structure = 24;
constexpr auto to_the_left = TextTable::Align::left;

std::string structure_name(const RunView& view, std::uint32_t index) {
    const auto& regions = view.structures.regions;
    return index < regions.size() ? shortened(regions[index].name, longest_structure) : "(elsewhere)";
}

bool is_wanted(const RunView& view, std::uint32_t structure, const TextOptions& options) {
    if (options.structure.empty()) return true;
    const auto& regions = view.structures.regions;
    return structure < regions.size() && regions[structure].name == options.structure;
}

void add_misses(TextTable& table, const RunView& view, const LevelCauses& level, const TextOptions& options) {
    const std::vector<CauseCounts> totals = level.totals(view.structures.regions.size());
    for (std::uint32_t i = 0; i < totals.size(); ++i) {
        const std::uint64_t all = std::accumulate(totals[i].begin(), totals[i].end(), std::uint64_t{0});
        if (all == 0 || !is_wanted(view, i, options)) continue;
        std::vector<Cell> row{level.level, structure_name(view, i), count_cell(all)};
        for (const std::uint64_t misses : totals[i]) row.push_back(count_cell(misses));
        table.add(std::move(row));
    }
}

/// Those that happened most.
void add_evictions(TextTable& table, const RunView& view, const LevelCauses& level, const TextOptions& options) {
    std::vector<Evictions> pairs = level.eviction_totals();
    const std::uint64_t all =
        std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Evictions& each) { return sum + each.count; });
    std::erase_if(pairs, [&](const Evictions& each) {
        return !is_wanted(view, each.by, options) && !is_wanted(view, each.victim, options);
    });
    std::ranges::stable_sort(pairs, std::greater<>(), &Evictions::count);
    for (std::size_t i = 0; i < std::min(pairs.size(), pairs_shown); ++i)
        table.add({level.level, structure_name(view, pairs[i].victim), structure_name(view, pairs[i].by),
                   count_cell(pairs[i].count), percent_text(pairs[i].count, all)});
    if (pairs.size() > pairs_shown)
        table.add_line(fmt::format("... {} of {} pairs in {}; --json has all", pairs_shown, pairs.size(),
                                   without_controls(level.level)));
}

}  // namespace

std::string causes_text(const RunView& view, const TextOptions& options) {
    TextTable misses({{"level", to_the_left},
                      {"data structure", to_the_left},
                      {"misses"},
                      {"first use"},
                      {"invalidated"},
                      {"capacity"},
                      {"conflict"}},
                     2);
    TextTable evictions({{"level", to_the_left}, {"evicted", to_the_left}, {"by", to_the_left}, {"lines"}, {"%"}}, 3);
    bool any = false;
    for (const LevelCauses& level : view.causes) {
        if (level.misses.empty() || (!options.level.empty() && level.level != options.level)) continue;
        add_misses(misses, view, level, options);
        add_evictions(evictions, view, level, options);
        any = true;
    }
    if (!any) return "";
    return "\nwhy levels miss\n" + misses.text(options.width) + "\nwhat evicts what\n" + evictions.text(options.width);
}

}  // namespace cachetally
