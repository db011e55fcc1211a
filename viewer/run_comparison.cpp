// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/run_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "base/text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t changes_shown = 10, longest_shown = 36;

using Changes = std::map<std::string, Change>;

void add(Changes& changes, const std::string& name, std::size_t run, double accesses, double misses) {
    Change& change = changes[name];
    change.name = name;
    change.accesses[run] += accesses;
    change.misses[run] += misses;
}

std::vector<Change> sorted(const Changes& changes) {
    std::vector<Change> all;
    for (const auto& [name, change] : changes)
        if (change.accesses[0] != 0 || change.accesses[1] != 0) all.push_back(change);
    std::ranges::stable_sort(all, std::greater<>(), [](const Change& change) { return std::abs(change.difference()); });
    return all;
}

void add_levels(std::vector<Change>& levels, const RunView& view, std::size_t run) {
    const HierarchyCounts& counts = view.counts.run.counts;
    const auto level = [&](const std::string& name, std::uint64_t accesses, std::uint64_t misses) {
        auto found = std::ranges::find(levels, name, &Change::name);
        if (found == levels.end()) found = levels.insert(levels.end(), Change{name});
        found->accesses[run] = static_cast<double>(accesses);
        found->misses[run] = static_cast<double>(misses);
    };
    for (std::size_t i = 0; i < counts.caches.size(); ++i) {
        const Demand demand(counts.caches[i]);
        level(view.counts.names.levels[i], demand.accesses, demand.misses);
    }
    for (std::size_t i = 0; i < counts.tlbs.size(); ++i)
        level(view.counts.names.tlbs[i], counts.tlbs[i].accesses, counts.tlbs[i].misses);
}

bool has_level(const RunView& view, const std::string& name) {
    const ComponentNames& names = view.counts.names;
    return std::ranges::find(names.levels, name) != names.levels.end() ||
           std::ranges::find(names.tlbs, name) != names.tlbs.end();
}

void add_groups(Changes& changes, const RunView& view, Grouping by, const std::string& level, std::size_t run) {
    const auto& levels = view.attribution.levels;
    const auto found = std::ranges::find(levels, level);
    if (found == levels.end()) return;
    for (const AttributedGroup& group : grouped(view.attribution, by))
        add(changes, group.text(), run, static_cast<double>(group.accesses),
            static_cast<double>(group.misses[static_cast<std::size_t>(found - levels.begin())]));
}

/// Of runs without attribution: by regions.
void add_structures(Changes& changes, const RunView& view, const std::string& level, std::size_t run) {
    const auto& levels = view.structures.levels;
    const auto found = std::ranges::find(levels, level, &StructureTable::Level::name);
    if (found == levels.end()) return;
    const auto totals = view.structures.totals(static_cast<std::size_t>(found - levels.begin()));
    for (std::size_t i = 0; i < totals.size(); ++i) {
        const bool named = i < view.structures.regions.size();
        add(changes, named ? view.structures.regions[i].name : "(elsewhere)", run, totals[i].accesses,
            totals[i].misses);
    }
}

std::string change_text(double before, double after) {
    if (before == after) return "0";
    if (before == 0) return "new";
    return fmt::format("{}{}", after > before ? "+" : "-", percent_text(100 * std::abs(after - before) / before));
}

void add_row(TextTable& table, const Change& change, bool accesses) {
    std::vector<Cell> row{shortened_name(change.name, longest_shown)};
    if (accesses)
        for (const double count : change.accesses) row.push_back(count_cell(count));
    for (const double count : change.misses) row.push_back(count_cell(count));
    row.push_back(change_text(change.misses[0], change.misses[1]));
    table.add(std::move(row));
}

std::string table_of(const char* title, const std::string& level, const std::vector<Change>& changes, unsigned width) {
    if (changes.empty()) return "";
    const auto same = [](const Change& change) { return change.difference() == 0; };
    const auto changed = static_cast<std::size_t>(std::ranges::find_if(changes, same) - changes.begin());
    if (changed == 0) return fmt::format("\n{}: {} misses are the same\n", title, level);
    TextTable table({{title, TextTable::Align::left}, {level + " misses before"}, {"after"}, {"%"}});
    for (std::size_t i = 0; i < std::min(changed, changes_shown); ++i) add_row(table, changes[i], false);
    if (changed > changes_shown)
        table.add_line(fmt::format("... {} of {}, those that changed most; --json has all", changes_shown, changed));
    return '\n' + table.text(width);
}

nlohmann::ordered_json json_of(const std::vector<Change>& changes) {
    auto list = nlohmann::ordered_json::array();
    for (const Change& change : changes)
        list.push_back({{"name", change.name}, {"accesses", change.accesses}, {"misses", change.misses}});
    return list;
}

}  // namespace

RunComparison compared(const RunView& before, const RunView& after, const std::string& level) {
    const RunView* const views[2] = {&before, &after};
    RunComparison comparison;
    comparison.level = level;
    if (level.empty())
        for (const std::string& name : before.counts.names.levels)
            if (comparison.level.empty() && has_level(after, name)) comparison.level = name;
    Changes structures, fields, functions, lines;
    for (std::size_t run = 0; run < 2; ++run) {
        const RunView& view = *views[run];
        if (!level.empty() && !has_level(view, level))
            throw std::invalid_argument(fmt::format("{} has no level '{}'", view.title.text(), shown(level)));
        comparison.titles[run] = view.title;
        comparison.references[run] = static_cast<double>(view.counts.run.counts.references);
        comparison.cycles[run] = static_cast<double>(view.cycles());
        add_levels(comparison.levels, view, run);
        if (view.attribution.empty()) {
            add_structures(structures, view, comparison.level, run);
            continue;
        }
        add_groups(structures, view, Grouping::structure, comparison.level, run);
        add_groups(fields, view, Grouping::field, comparison.level, run);
        add_groups(functions, view, Grouping::function, comparison.level, run);
        add_groups(lines, view, Grouping::line, comparison.level, run);
    }
    comparison.structures = sorted(structures);
    comparison.fields = sorted(fields);
    comparison.functions = sorted(functions);
    comparison.lines = sorted(lines);
    return comparison;
}

std::string to_text(const RunComparison& comparison, unsigned width) {
    std::string text;
    static constexpr const char* names[] = {"before", "after"};
    for (std::size_t run = 0; run < 2; ++run)
        text += wrapped(fmt::format("{}: {}, {}, {}", names[run], comparison.titles[run].head(),
                                    counted(comparison.references[run], "reference"),
                                    counted(comparison.cycles[run], "cycle")),
                        width, 2) +
                comparison.titles[run].remarks();
    text += fmt::format("cycles: {} %\n", change_text(comparison.cycles[0], comparison.cycles[1]));
    TextTable levels(
        {{"level", TextTable::Align::left}, {"accesses before"}, {"after"}, {"misses before"}, {"after"}, {"%"}});
    for (const Change& change : comparison.levels)
        if (change.accesses[0] != 0 || change.accesses[1] != 0) add_row(levels, change, true);
    return text + '\n' + levels.text(width) +
           table_of("data structure", comparison.level, comparison.structures, width) +
           table_of("field", comparison.level, comparison.fields, width) +
           table_of("function", comparison.level, comparison.functions, width) +
           table_of("source line", comparison.level, comparison.lines, width);
}

nlohmann::ordered_json to_json(const RunComparison& comparison) {
    return {{"before", comparison.titles[0].json()},
            {"after", comparison.titles[1].json()},
            {"references", comparison.references},
            {"cycles", comparison.cycles},
            {"level", comparison.level},
            {"levels", json_of(comparison.levels)},
            {"structures", json_of(comparison.structures)},
            {"fields", json_of(comparison.fields)},
            {"functions", json_of(comparison.functions)},
            {"lines", json_of(comparison.lines)}};
}

}  // namespace cachetally
