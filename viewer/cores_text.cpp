// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/cores_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "viewer/answer.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t rows_shown = 10, cores_shown = 8, longest_row = 32;

/// Data structures and their misses at a level, the worst first.
MissesByCore structures_by_core(const RunView& view, std::uint32_t level) {
    const std::vector<Region>& regions = view.structures.regions;
    std::map<std::uint32_t, std::vector<std::uint64_t>> sums;
    std::size_t cores = 0;
    for (const LevelCores::Row& row : view.cores.rows) cores = std::max(cores, std::size_t{row.core} + 1);
    for (const LevelCores::Row& row : view.cores.rows) {
        if (row.level != level || row.misses == 0) continue;
        std::vector<std::uint64_t>& misses = sums[row.structure];
        misses.resize(cores);
        misses[row.core] += row.misses;
    }
    MissesByCore rows;
    for (auto& [structure, misses] : sums)
        rows.emplace_back(structure < regions.size() ? regions[structure].name : "(elsewhere)", std::move(misses));
    std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) {
        return std::accumulate(row.second.begin(), row.second.end(), std::uint64_t{0});
    });
    return rows;
}

}  // namespace

std::string misses_by_core_table(const std::string& level, const char* title, const MissesByCore& rows,
                                 const TextOptions& options) {
    std::size_t cores = 0;
    for (const auto& [name, misses] : rows) cores = std::max(cores, misses.size());
    const std::size_t shown = std::min(cores, cores_shown);
    if (shown == 0) return "";
    std::vector<TextTable::Column> columns{
        {part_title(title, std::min(rows.size(), rows_shown), rows.size()), TextTable::Align::left}};
    for (std::size_t core = 0; core < shown; ++core) columns.push_back({fmt::format("core {}", core)});
    TextTable table(columns);
    for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i) {
        std::vector<Cell> cells{name_cell(rows[i].first, longest_row)};
        for (std::size_t core = 0; core < shown; ++core)
            cells.push_back(count_cell(core < rows[i].second.size() ? rows[i].second[core] : std::uint64_t{0}));
        table.add(cells);
    }
    return fmt::format("\n{} misses by {}\n", level, part_title("core", shown, cores)) + table.text(options.width);
}

std::string cores_text(const RunView& view, const TextOptions& options) {
    const LevelCores& cores = view.cores;
    if (cores.empty()) return "";
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const LevelCores::Row& row : cores.rows) {
        auto& [accesses, misses] = sums[{row.level, row.core}];
        accesses += row.accesses;
        misses += row.misses;
    }
    TextTable table({{"level", to_left}, {"core"}, {"accesses"}, {"misses"}, {"miss %"}}, 1);
    bool any = false;
    for (const auto& [place, counts] : sums) {
        if (!wanted(cores.levels[place.first], options.level)) continue;
        any = true;
        table.add({cores.levels[place.first], std::to_string(place.second), count_cell(counts.first),
                   count_cell(counts.second), percent_text(counts.second, counts.first)});
    }
    std::string text = any ? '\n' + table.text(options.width) : "";
    const auto level = std::ranges::find(cores.levels, options.level.empty() ? answered_level(view) : options.level);
    if (!cores.by_structure || view.structures.regions.empty() || level == cores.levels.end()) return text;
    const auto number = static_cast<std::uint32_t>(level - cores.levels.begin());
    return misses_by_core_table(*level, "data structure", structures_by_core(view, number), options) + text;
}

nlohmann::ordered_json cores_json(const LevelCores& cores, const std::vector<std::string>& keys) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const LevelCores::Row& row : cores.rows) {
        nlohmann::ordered_json json = {{"level", cores.levels[row.level]}, {"core", row.core}, {"phase", row.phase}};
        if (cores.by_structure) json["structure"] = keys[row.structure];
        json["accesses"] = row.accesses;
        json["misses"] = row.misses;
        rows.push_back(std::move(json));
    }
    return rows;
}

}  // namespace cachetally
