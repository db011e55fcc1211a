// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/attribution_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/cores_text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t groups_shown = 10, levels_shown = 4, longest_group = 32;

constexpr struct {
    Grouping by;
    const char *title, *key;
} groupings[] = {{Grouping::structure, "data structure", "structures"},
                 {Grouping::field, "field", "fields"},
                 {Grouping::function, "function", "functions"},
                 {Grouping::line, "source line", "lines"}};

bool is_named(const AttributedGroup& group) { return !group.name.empty() && group.name.front() != '('; }

std::uint64_t sum(const std::vector<AttributedGroup>& groups, std::size_t level, bool named) {
    std::uint64_t misses = 0;
    for (const AttributedGroup& group : groups)
        if (!named || is_named(group)) misses += group.misses[level];
    return misses;
}

/// Levels that anything missed.
std::vector<std::size_t> levels_of(const std::vector<AttributedGroup>& groups, std::size_t levels,
                                   const Attribution& attribution, const TextOptions& options) {
    std::vector<std::size_t> all;
    for (std::size_t level = 0; level < levels; ++level)
        if (sum(groups, level, false) != 0 && (options.level.empty() || attribution.levels[level] == options.level))
            all.push_back(level);
    all.resize(std::min(all.size(), attribution.known.cycles ? levels_shown - 1 : levels_shown));
    return all;
}

/// Bytes per line that came in: "12.3".
std::string used_text(const AttributedGroup& group) {
    return group.fills == 0 ? "-"
                            : fmt::format("{:.1f}", static_cast<double>(group.used) / static_cast<double>(group.fills));
}

/// Whether accesses of code hold fetches, too: their sites are for no data.
bool holds_fetches(const Attribution& attribution) {
    return std::ranges::any_of(attribution.rows, [&](const Attribution::Row& row) {
        return attribution.sites[row.site].object == 0 && row.accesses != 0;
    });
}

/// `all`: what percentages are of; for fields, all structures.
std::string table_of(const Attribution& attribution, const std::vector<AttributedGroup>& groups,
                     const std::vector<AttributedGroup>& all, Grouping by, const char* title,
                     const TextOptions& options) {
    const bool is_code = by == Grouping::function || by == Grouping::line;
    const std::vector<std::size_t> levels = levels_of(all, attribution.levels.size(), attribution, options);
    std::vector<TextTable::Column> columns{
        {part_title(title, std::min(groups.size(), groups_shown), groups.size()), TextTable::Align::left},
        {is_code && holds_fetches(attribution) ? "accesses with fetches" : "accesses"}};
    if (attribution.known.cycles)
        columns.insert(columns.end(), {{"cycles lost"}, {"%", TextTable::Align::right, true}});
    std::uint64_t cycles = 0;
    for (const AttributedGroup& group : all) cycles += group.cycles;
    for (const std::size_t level : levels) {
        columns.push_back({attribution.levels[level] + " misses"});
        if (level == levels.front()) columns.push_back({"%"});
    }
    if (!attribution.filled.empty()) columns.push_back({fmt::format("used of {} B", attribution.line_bytes)});
    TextTable table(columns);
    for (std::size_t i = 0; i < std::min(groups.size(), groups_shown); ++i) {
        std::vector<Cell> cells{name_cell(groups[i].text(), longest_group), count_cell(groups[i].accesses)};
        if (attribution.known.cycles)
            cells.insert(cells.end(), {count_cell(groups[i].cycles), percent_text(groups[i].cycles, cycles)});
        for (const std::size_t level : levels) {
            cells.push_back(count_cell(groups[i].misses[level]));
            if (level == levels.front()) cells.push_back(percent_text(groups[i].misses[level], sum(all, level, false)));
        }
        if (!attribution.filled.empty()) cells.push_back(used_text(groups[i]));
        table.add(cells);
    }
    return '\n' + table.text(options.width);
}

/// Misses of the first level that has any, by core.
std::string core_table(const Attribution& attribution, const std::vector<AttributedGroup>& groups, const char* title,
                       const TextOptions& options) {
    const std::vector<std::size_t> levels = levels_of(groups, attribution.levels.size(), attribution, options);
    if (levels.empty()) return "";
    MissesByCore rows;
    for (const AttributedGroup& group : groups) {
        std::vector<std::uint64_t>& misses = rows.emplace_back(group.text(), std::vector<std::uint64_t>()).second;
        for (const AttributedGroup& core : group.cores)
            misses.push_back(core.misses.empty() ? 0 : core.misses[levels.front()]);
    }
    return misses_by_core_table(attribution.levels[levels.front()], title, rows, options);
}

/// "L1D misses of data: 49.09 % in data structures with a name; 99.79 % in functions with a name."
std::string sentence(const Attribution& attribution, const TextOptions& options) {
    const auto structures = grouped(attribution, Grouping::structure),
               functions = grouped(attribution, Grouping::function);
    const std::vector<std::size_t> levels = levels_of(structures, attribution.levels.size(), attribution, options);
    if (levels.empty()) return "";
    const std::size_t level = levels.front();
    const std::uint64_t all = sum(structures, level, false);
    std::string text = fmt::format("{} misses of data: {} % in data structures with a name", attribution.levels[level],
                                   percent_text(sum(structures, level, true), all));
    const std::uint64_t by_code = sum(functions, level, false);
    text += fmt::format("; {} % in functions with a name.", percent_text(sum(functions, level, true), by_code));
    return wrapped(text, options.width);
}

nlohmann::ordered_json counts_json(const Attribution& attribution, const AttributedGroup& group) {
    nlohmann::ordered_json row = {{"accesses", group.accesses}};
    if (attribution.known.cycles) row["cycles_lost"] = group.cycles;
    if (attribution.known.used_bytes) row.update({{"fills", group.fills}, {"used_bytes", group.used}});
    for (std::size_t level = 0; level < attribution.levels.size(); ++level)
        row["misses"][attribution.levels[level]] = group.misses[level];
    for (std::size_t level = 0; level < attribution.caused.size(); ++level)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause)
            row["causes"][attribution.caused[level]][to_string(static_cast<MissCause>(cause))] =
                group.causes[level][cause];
    return row;
}

nlohmann::ordered_json evictions_json(const Attribution& attribution, const ObjectEvictions& level) {
    nlohmann::ordered_json pairs = nlohmann::ordered_json::array(), cycles = pairs;
    for (const Evictions& pair : level.pairs)
        pairs.push_back({{"by", object_name(attribution, pair.by)},
                         {"victim", object_name(attribution, pair.victim)},
                         {"phase", pair.phase},
                         {"count", pair.count}});
    for (const EvictionCycle& cycle : level.cycles) {
        nlohmann::ordered_json structures = nlohmann::ordered_json::array(), sets = structures;
        for (const std::uint32_t object : cycle.structures) structures.push_back(object_name(attribution, object));
        for (const EvictionCycle::Set& set : cycle.sets) sets.push_back({{"set", set.set}, {"count", set.count}});
        cycles.push_back({{"structures", structures}, {"count", cycle.count}, {"sets", sets}});
    }
    return {{"pairs", pairs}, {"cycles", cycles}};
}

}  // namespace

AttributionText attribution_text(const Attribution& whole, const TextOptions& options) {
    if (whole.empty()) return {};
    Attribution attribution = whole;
    const bool all = options.structure.empty();
    std::erase_if(attribution.rows, [&](const Attribution::Row& row) {
        return !all && object_name(whole, whole.sites[row.site].object) != options.structure;
    });
    AttributionText text;
    if (all) text.data = '\n' + sentence(attribution, options);
    const std::vector<AttributedGroup> structures = grouped(attribution, Grouping::structure);
    for (const auto& grouping : groupings) {
        const std::vector<AttributedGroup> groups = grouped(attribution, grouping.by);
        if (grouping.by == Grouping::field && groups.empty()) continue;
        const bool is_code = grouping.by == Grouping::function || grouping.by == Grouping::line;
        (is_code ? text.code : text.data) +=
            table_of(attribution, groups, grouping.by == Grouping::field ? structures : groups, grouping.by,
                     grouping.title, options);
        if (grouping.by == Grouping::structure) text.data += core_table(attribution, groups, grouping.title, options);
    }
    return text;
}

std::string object_name(const Attribution& attribution, std::uint32_t object) {
    return object == 0 ? "(code)" : attribution.names.objects[object];
}

nlohmann::ordered_json attribution_json(const Attribution& attribution) {
    nlohmann::ordered_json json;
    if (!attribution.filled.empty())
        json["used_bytes_of"] = {{"level", attribution.filled}, {"line_bytes", attribution.line_bytes}};
    for (const auto& grouping : groupings) {
        if (grouping.by == Grouping::field && attribution.names.fields.empty()) continue;
        auto& list = json[grouping.key] = nlohmann::ordered_json::array();
        for (const AttributedGroup& group : grouped(attribution, grouping.by)) {
            nlohmann::ordered_json row = {{"name", group.name},
                                          {group.is_field ? "structure" : "module", group.module}};
            row.update(counts_json(attribution, group));
            for (std::uint32_t core = 0; core < group.cores.size(); ++core) {
                if (group.cores[core].misses.empty()) continue;  // it made no such reference
                row["cores"].push_back({{"core", core}});
                row["cores"].back().update(counts_json(attribution, group.cores[core]));
            }
            list.push_back(std::move(row));
        }
    }
    for (const ObjectEvictions& level : attribution.evictions)
        json["evictions"][level.level] = evictions_json(attribution, level);
    return json;
}

}  // namespace cachetally
