// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "viewer/attribution_text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// Misses of a level by data structure and phase, and by cause where that is known.
struct LevelMisses {
    struct Row {
        std::uint32_t structure, phase;
        double misses;
        CauseCounts causes{};
    };
    std::vector<std::string> structures;
    std::vector<Row> rows;
    bool knows_causes = false;
};

LevelMisses misses_of_regions(const RunView& view, const std::string& level) {
    LevelMisses found;
    for (const Region& region : view.structures.regions) found.structures.push_back(region.name);
    found.structures.emplace_back("(elsewhere)");
    const auto counted = std::ranges::find(view.structures.levels, level, &StructureTable::Level::name);
    const bool is_counted = counted != view.structures.levels.end();
    if (is_counted)
        for (const StructureTally& row : counted->tallies)
            found.rows.push_back({row.structure, row.phase, row.tally.misses});
    const auto caused = std::ranges::find(view.causes, level, &LevelCauses::level);
    if (caused == view.causes.end()) return found;
    found.knows_causes = true;
    for (const StructureCauses& row : caused->misses) {
        const auto all = std::accumulate(row.misses.begin(), row.misses.end(), std::uint64_t{0});
        found.rows.push_back({row.structure, row.phase, is_counted ? 0.0 : static_cast<double>(all), row.misses});
    }
    return found;
}

/// Structures in the order of their sites, fetches last.
LevelMisses misses_of_sites(const Attribution& attribution, std::size_t level, const std::string& name) {
    LevelMisses found;
    std::map<std::string, std::uint32_t> numbers;
    for (const Site& site : attribution.sites) {
        if (site.object == 0) continue;
        const std::string text = object_name(attribution, site.object);
        if (numbers.try_emplace(text, found.structures.size()).second) found.structures.push_back(text);
    }
    found.structures.push_back(object_name(attribution, 0));
    const auto caused = std::ranges::find(attribution.caused, name) - attribution.caused.begin();
    found.knows_causes = static_cast<std::size_t>(caused) < attribution.caused.size();
    for (const Attribution::Row& row : attribution.rows) {
        const std::uint32_t object = attribution.sites[row.site].object;
        const auto structure = object == 0 ? static_cast<std::uint32_t>(found.structures.size() - 1)
                                           : numbers.at(object_name(attribution, object));
        found.rows.push_back({structure, row.phase, static_cast<double>(row.misses[level]),
                              found.knows_causes ? row.causes[static_cast<std::size_t>(caused)] : CauseCounts()});
    }
    return found;
}

LevelMisses misses_of(const RunView& view, const std::string& level) {
    const auto& levels = view.attribution.levels;
    const auto sited = std::ranges::find(levels, level);
    if (view.attribution.empty() || sited == levels.end()) return misses_of_regions(view, level);
    return misses_of_sites(view.attribution, static_cast<std::size_t>(sited - levels.begin()), level);
}

/// The largest of several counts, the first of equal ones; and what it is a part of.
struct Part {
    std::size_t index = 0;
    double count = 0, of = 0;
};

template <class Counts>
std::optional<Part> largest(const Counts& counts) {
    Part part;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto count = static_cast<double>(counts[i]);
        part.of += count;
        if (count > part.count) part.index = i, part.count = count;
    }
    return part.count > 0 ? std::optional(part) : std::nullopt;
}

/// Two decimals, or two digits of what is less than 0.1; halves are rounded up.
std::string percentage(double fraction) {
    double value = fraction * 100;
    if (value == 0) return "0 %";
    if (std::fmod(value * 16, 1) == 0) value = std::nextafter(value, std::numeric_limits<double>::max());
    if (value >= 0.1) return fmt::format("{:.2f} %", value);
    const std::string digits = fmt::format("{:.1e}", value);
    const int exponent = std::stoi(digits.substr(digits.find('e') + 1));
    if (exponent < -6) return fmt::format("{}e{} %", digits.substr(0, digits.find('e')), exponent);
    return fmt::format("{:.{}f} %", value, 1 - exponent);
}

std::string share(const Part& part) { return percentage(part.count / part.of); }

const char* in_words(MissCause cause) {
    switch (cause) {
        case MissCause::first_use: return "are first uses";
        case MissCause::invalidated: return "come after invalidations";
        case MissCause::capacity: return "are capacity misses";
        case MissCause::conflict: return "are conflicts";
    }
    return "";
}

struct Totals {
    std::uint64_t accesses = 0, misses = 0;
};

Totals totals_of(const RunView& view, const std::string& level) {
    const auto place = [&](const std::vector<std::string>& names) {
        return static_cast<std::size_t>(std::ranges::find(names, level) - names.begin());
    };
    const ComponentNames& names = view.counts.names;
    const HierarchyCounts& counts = view.counts.run.counts;
    if (const std::size_t i = place(names.levels); i < names.levels.size())
        return {Demand(counts.caches[i]).accesses, Demand(counts.caches[i]).misses};
    if (const std::size_t i = place(names.tlbs); i < names.tlbs.size())
        return {counts.tlbs[i].accesses, counts.tlbs[i].misses};
    return {};
}

constexpr double alike = 0.99;  ///< of the count of the worst phase: others are as bad
constexpr std::size_t most_named = 8;

/// "phase 4", "phases 6, 9 (solve), 12 (check)": names once for those in a row; of many the first, "and 29 more"
std::string phases_in_words(const std::vector<std::size_t>& numbers, const std::vector<PhaseResult>& phases) {
    const auto name = [&](std::size_t number) { return number < phases.size() ? phases[number].name : std::string(); };
    const std::span shown = std::span(numbers).first(std::min(numbers.size(), most_named));
    std::vector<std::string> words;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::string own = name(shown[i]);
        const bool again = i + 1 < shown.size() && own == name(shown[i + 1]);
        words.push_back(own.empty() || again ? std::to_string(shown[i]) : fmt::format("{} ({})", shown[i], own));
    }
    const std::size_t rest = numbers.size() - shown.size();
    return fmt::format("phase{} {}{}", numbers.size() == 1 ? "" : "s", fmt::join(words, ", "),
                       rest > 0 ? fmt::format(" and {} more", rest) : "");
}

/// ", worst in phase 4", ", all in phase 1"; empty where there is but one.
std::string worst_phases(const std::vector<double>& by_phase, const std::vector<PhaseResult>& run) {
    const std::optional<Part> worst = largest(by_phase);
    if (!worst || by_phase.size() == 1) return "";
    if (worst->of == worst->count) return ", all in " + phases_in_words({worst->index}, run);
    std::vector<std::size_t> phases;
    for (std::size_t phase = 0; phase < by_phase.size(); ++phase)
        if (by_phase[phase] >= alike * worst->count) phases.push_back(phase);
    return ", worst in " + phases_in_words(phases, run);
}

/// "; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase 4"
std::string worst_of(const LevelMisses& level, const std::vector<PhaseResult>& phases) {
    std::vector<double> by_structure(level.structures.size());
    for (const LevelMisses::Row& row : level.rows) by_structure[row.structure] += row.misses;
    const std::optional<Part> structure = largest(by_structure);
    CauseCounts causes{};
    for (const LevelMisses::Row& row : level.rows)
        for (unsigned cause = 0; cause < miss_cause_count && (!structure || row.structure == structure->index); ++cause)
            causes[cause] += row.causes[cause];
    const std::optional<Part> cause = level.knows_causes ? largest(causes) : std::nullopt;
    std::vector<double> by_phase(std::max<std::size_t>(1, phases.size()));
    for (const LevelMisses::Row& row : level.rows) {
        if (structure && row.structure != structure->index) continue;
        if (row.phase >= by_phase.size()) by_phase.resize(row.phase + std::size_t{1});
        by_phase[row.phase] += cause ? static_cast<double>(row.causes[cause->index]) : row.misses;
    }
    std::string text;
    if (structure) text += fmt::format("; {} causes {} of them", level.structures[structure->index], share(*structure));
    if (cause) text += fmt::format(", {} of those {}", share(*cause), in_words(static_cast<MissCause>(cause->index)));
    return text + worst_phases(by_phase, phases);
}

}  // namespace

std::string answered_level(const RunView& view) {
    if (view.first_levels.empty()) return "";
    return *std::ranges::max_element(view.first_levels, {},
                                     [&](const std::string& level) { return totals_of(view, level).misses; });
}

std::string answer(const RunView& view, const std::string& level) {
    const Totals totals = totals_of(view, level);
    if (totals.accesses == 0) return "";
    const std::string accesses = count_cell(totals.accesses).full;
    if (totals.misses == 0) return fmt::format("{} misses nothing: all {} accesses hit.", level, accesses);
    const double rate = static_cast<double>(totals.misses) / static_cast<double>(totals.accesses);
    return fmt::format("{} misses {} of {} accesses{}.", level, percentage(rate), accesses,
                       worst_of(misses_of(view, level), view.counts.run.phases));
}

}  // namespace cachetally
