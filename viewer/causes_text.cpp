// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/causes_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "viewer/attribution_text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/sharing_text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t pairs_shown = 8, structures_shown = 6, cycles_shown = 4, sets_shown = 3;
constexpr std::size_t longest_structure = 24, longest_cycle = 36;
constexpr auto to_the_left = TextTable::Align::left;

/// Of a level, by names of structures: of regions, or of what a program's references are for.
struct NamedCauses {
    struct Misses {
        std::string name;
        CauseCounts counts;
        std::pair<std::uint64_t, std::uint64_t> sharing{};  ///< of those invalidated: true, false
        std::uint64_t all() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
    };
    struct Pair {
        std::string by, victim;
        std::uint64_t count;
    };
    std::string level;
    bool used;
    std::vector<Misses> misses;  ///< the worst first
    std::vector<Pair> evictions;
    std::vector<EvictionCycle> cycles;
};

NamedCauses causes_of_regions(const RunView& view, const LevelCauses& level) {
    NamedCauses named{level.level, !level.misses.empty(), {}, {}, {}};
    const auto name = [&](std::uint32_t index) -> std::string {
        return index < view.structures.regions.size() ? view.structures.regions[index].name : "(elsewhere)";
    };
    const std::vector<CauseCounts> totals = level.totals(view.structures.regions.size());
    for (std::uint32_t i = 0; i < totals.size(); ++i) named.misses.push_back({name(i), totals[i], {}});
    for (const Evictions& pair : level.eviction_totals())
        named.evictions.push_back({name(pair.by), name(pair.victim), pair.count});
    std::ranges::stable_sort(named.misses, std::greater<>(), &NamedCauses::Misses::all);
    return named;
}

NamedCauses causes_of_objects(const Attribution& attribution, std::size_t level) {
    const ObjectEvictions& evictions = attribution.evictions[level];
    NamedCauses named{attribution.caused[level], false, {}, {}, evictions.cycles};
    std::map<std::string, CauseCounts> sums;
    for (const Attribution::Row& row : attribution.rows) {
        CauseCounts& sum = sums[object_name(attribution, attribution.sites[row.site].object)];
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) sum[cause] += row.causes[level][cause];
    }
    for (const auto& [name, counts] : sums) named.misses.push_back({name, counts, {}});
    std::ranges::stable_sort(named.misses, std::greater<>(), &NamedCauses::Misses::all);
    named.used = !named.misses.empty() && named.misses.front().all() != 0;
    for (const Evictions& pair : eviction_totals(evictions.pairs))
        named.evictions.push_back(
            {object_name(attribution, pair.by), object_name(attribution, pair.victim), pair.count});
    return named;
}

std::vector<NamedCauses> causes_by_name(const RunView& view) {
    std::vector<NamedCauses> levels;
    for (std::size_t level = 0; level < view.attribution.caused.size(); ++level)
        levels.push_back(causes_of_objects(view.attribution, level));
    if (levels.empty())
        for (const LevelCauses& level : view.causes) levels.push_back(causes_of_regions(view, level));
    for (NamedCauses& level : levels) {
        const auto sharing = sharing_by_structure(view, level.level);
        for (NamedCauses::Misses& row : level.misses)
            if (const auto found = sharing.find(row.name); found != sharing.end()) row.sharing = found->second;
    }
    return levels;
}

bool is_wanted(const std::string& structure, const TextOptions& options) {
    return options.structure.empty() || structure == options.structure;
}

/// `limited`: to the worst; `shared`: with the columns of sharing. Whether some were left out.
bool add_misses(TextTable& table, const NamedCauses& level, bool limited, bool shared, const TextOptions& options) {
    std::size_t used = 0;
    for (const NamedCauses::Misses& row : level.misses) {
        if (row.all() == 0 || !is_wanted(row.name, options) || (++used > structures_shown && limited)) continue;
        std::vector<Cell> cells{level.level, name_cell(row.name, longest_structure), count_cell(row.all())};
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
            cells.push_back(count_cell(row.counts[cause]));
            if (shared && static_cast<MissCause>(cause) == MissCause::invalidated)
                cells.insert(cells.end(), {count_cell(row.sharing.first), count_cell(row.sharing.second)});
        }
        table.add(std::move(cells));
    }
    return limited && used > structures_shown;
}

/// Those that happened most. Whether others were left out.
bool add_evictions(TextTable& table, const NamedCauses& level, const TextOptions& options) {
    std::vector<NamedCauses::Pair> pairs = level.evictions;
    const std::uint64_t all =
        std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const NamedCauses::Pair& each) { return sum + each.count; });
    std::erase_if(pairs, [&](const NamedCauses::Pair& each) {
        return !is_wanted(each.by, options) && !is_wanted(each.victim, options);
    });
    std::ranges::stable_sort(pairs, std::greater<>(), &NamedCauses::Pair::count);
    for (std::size_t i = 0; i < std::min(pairs.size(), pairs_shown); ++i)
        table.add({level.level, name_cell(pairs[i].victim, longest_structure),
                   name_cell(pairs[i].by, longest_structure), count_cell(pairs[i].count),
                   percent_text(pairs[i].count, all)});
    return pairs.size() > pairs_shown;
}

/// "A > B > A": A evicts B, and B evicts A.
std::string cycle_text(const Attribution& attribution, const EvictionCycle& cycle) {
    const std::size_t room = longest_cycle / (cycle.structures.size() + 1);
    std::string text;
    for (std::size_t i = 0; i <= cycle.structures.size(); ++i)
        text += (i == 0 ? "" : " > ") +
                shortened_name(object_name(attribution, cycle.structures[i % cycle.structures.size()]), room);
    return text;
}

/// "5: 120, 6: 118, ...": the sets where it happens most.
Cell sets_cell(const EvictionCycle& cycle) {
    const auto text = [&](std::size_t most) {
        std::vector<std::string> sets;
        for (std::size_t i = 0; i < std::min(cycle.sets.size(), most); ++i)
            sets.push_back(fmt::format("{}: {}", cycle.sets[i].set, cycle.sets[i].count));
        return fmt::format("{}{}", fmt::join(sets, ", "), cycle.sets.size() > most ? ", ..." : "");
    };
    return {text(sets_shown), text(1)};
}

std::string cycles_text(const RunView& view, const std::vector<NamedCauses>& levels, const TextOptions& options) {
    TextTable table({{"level", to_the_left}, {"evicts in turn", to_the_left}, {"lines"}, {"sets: lines", to_the_left}},
                    2);
    bool any = false;
    for (const NamedCauses& level : levels)
        for (std::size_t i = 0; i < std::min(level.cycles.size(), cycles_shown); ++i) {
            const EvictionCycle& cycle = level.cycles[i];
            if (!wanted(level.level, options.level)) continue;
            table.add({level.level, cycle_text(view.attribution, cycle), count_cell(cycle.count), sets_cell(cycle)});
            any = true;
        }
    return any ? "\nwhat takes places in turn, and in which sets most\n" + table.text(options.width) : "";
}

}  // namespace

std::string causes_text(const RunView& view, const TextOptions& options) {
    std::vector<TextTable::Column> columns{
        {"level", to_the_left}, {"data structure", to_the_left}, {"misses"}, {"first use"}, {"invalidated"}};
    const bool shared = !view.sharing.rows.empty();
    if (shared) columns.insert(columns.end(), {{"true"}, {"false sharing"}});
    columns.insert(columns.end(), {{"capacity"}, {"conflict"}});
    TextTable misses(columns, 2);
    TextTable evictions({{"level", to_the_left}, {"evicted", to_the_left}, {"by", to_the_left}, {"lines"}, {"%"}}, 3);
    std::vector<NamedCauses> levels = causes_by_name(view);
    std::erase_if(levels, [&](const NamedCauses& level) { return !level.used || !wanted(level.level, options.level); });
    if (levels.empty()) return "";
    bool some_misses = false, some_evictions = false;
    for (const NamedCauses& level : levels) {
        some_misses |= add_misses(misses, level, !view.attribution.caused.empty(), shared, options);
        some_evictions |= add_evictions(evictions, level, options);
    }
    const auto titled = [&](const char* title, bool some, std::size_t shown, const TextTable& table) {
        if (table.empty()) return std::string();
        return fmt::format("\n{}{}\n", title, some ? fmt::format(": the {} worst of each level", shown) : "") +
               table.text(options.width);
    };
    return titled("why levels miss", some_misses, structures_shown, misses) +
           titled("what evicts what", some_evictions, pairs_shown, evictions) +
           (options.phases.all() && options.structure.empty() ? cycles_text(view, levels, options) : "");
}

}  // namespace cachetally
