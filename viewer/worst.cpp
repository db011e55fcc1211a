// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/worst.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "viewer/answer_words.hpp"
#include "viewer/attribution_text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/sharing_text.hpp"

namespace cachetally {
namespace {

/// Misses of a level by data structure and phase, and by cause where that is known.
struct LevelMisses {
    struct Row {
        std::uint32_t structure, phase;
        double accesses, misses;
        CauseCounts causes{};
    };
    std::vector<std::string> structures;
    std::vector<Row> rows;
    bool knows_accesses = false;
};

LevelMisses misses_of_regions(const RunView& view, const std::string& level) {
    LevelMisses found;
    for (const Region& region : view.structures.regions) found.structures.push_back(region.name);
    found.structures.emplace_back("(elsewhere)");
    const auto counted = std::ranges::find(view.structures.levels, level, &StructureTable::Level::name);
    const bool is_counted = counted != view.structures.levels.end();
    if (is_counted)
        for (const StructureTally& row : counted->tallies)
            found.rows.push_back({row.structure, row.phase, row.tally.accesses, row.tally.misses});
    found.knows_accesses = is_counted;
    const auto caused = std::ranges::find(view.causes, level, &LevelCauses::level);
    if (caused == view.causes.end()) return found;
    for (const StructureCauses& row : caused->misses) {
        const auto all = std::accumulate(row.misses.begin(), row.misses.end(), std::uint64_t{0});
        found.rows.push_back({row.structure, row.phase, 0, is_counted ? 0.0 : static_cast<double>(all), row.misses});
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
    const bool is_caused = static_cast<std::size_t>(caused) < attribution.caused.size();
    for (const Attribution::Row& row : attribution.rows) {
        const std::uint32_t object = attribution.sites[row.site].object;
        const auto structure = object == 0 ? static_cast<std::uint32_t>(found.structures.size() - 1)
                                           : numbers.at(object_name(attribution, object));
        found.rows.push_back({structure, row.phase, static_cast<double>(row.accesses),
                              static_cast<double>(row.misses[level]),
                              is_caused ? row.causes[static_cast<std::size_t>(caused)] : CauseCounts()});
    }
    return found;
}

LevelMisses misses_of(const RunView& view, const std::string& level) {
    const auto& levels = view.attribution.levels;
    const auto sited = std::ranges::find(levels, level);
    if (view.attribution.empty() || sited == levels.end()) return misses_of_regions(view, level);
    LevelMisses found = misses_of_sites(view.attribution, static_cast<std::size_t>(sited - levels.begin()), level);
    found.knows_accesses = std::ranges::find(view.first_levels, level) != view.first_levels.end();
    return found;
}

/// Lines of a structure that are evicted, by what evicts them; those with one name are one.
std::string evictor_of(const RunView& view, const std::string& level, const std::string& structure) {
    std::vector<std::string> names;
    std::vector<std::uint64_t> counts;
    const auto add = [&](const std::string& by, const std::string& victim, std::uint64_t count) {
        if (victim != structure) return;
        const auto place = static_cast<std::size_t>(std::ranges::find(names, by) - names.begin());
        if (place == names.size()) names.push_back(by), counts.push_back(0);
        counts[place] += count;
    };
    const auto region = [&](std::uint32_t index) {
        return index < view.structures.regions.size() ? view.structures.regions[index].name : "(elsewhere)";
    };
    const Attribution& attribution = view.attribution;
    for (const ObjectEvictions& each : attribution.evictions)
        if (each.level == level)
            for (const Evictions& row : each.pairs)
                add(object_name(attribution, row.by), object_name(attribution, row.victim), row.count);
    if (attribution.empty())
        for (const LevelCauses& each : view.causes)
            if (each.level == level)
                for (const Evictions& row : each.evictions) add(region(row.by), region(row.victim), row.count);
    const std::optional<Part> most = largest(counts);
    return most ? names[most->index] : "";
}

/// Of the structure's misses after stores of other cores.
std::optional<double> false_share_of(const RunView& view, const std::string& level, const std::string& structure) {
    const auto sharing = sharing_by_structure(view, level);
    const auto found = sharing.find(structure);
    if (found == sharing.end()) return std::nullopt;
    const auto right = static_cast<double>(found->second.first), wrong = static_cast<double>(found->second.second);
    return wrong + right > 0 ? std::optional(wrong / (wrong + right)) : std::nullopt;
}

/// Of one structure by its name; of none that misses: nothing.
std::optional<Part> part_of(const LevelMisses& level, const std::vector<double>& by_structure,
                            const std::string& structure) {
    if (structure.empty()) return largest(by_structure);
    const auto index =
        static_cast<std::size_t>(std::ranges::find(level.structures, structure) - level.structures.begin());
    if (index == level.structures.size() || by_structure[index] == 0) return std::nullopt;
    return Part{index, by_structure[index], std::accumulate(by_structure.begin(), by_structure.end(), 0.0)};
}

std::optional<double> accesses_of(const LevelMisses& level, const std::string& structure) {
    if (!level.knows_accesses) return std::nullopt;
    double accesses = 0;
    for (const LevelMisses::Row& row : level.rows)
        if (level.structures[row.structure] == structure) accesses += row.accesses;
    return accesses;
}

struct PhaseMisses {
    double accesses = 0, misses = 0;  ///< accesses: 0 where they are not known
    CauseCounts causes{};
};

/// Of one structure; nothing: of the whole level.
std::vector<PhaseMisses> misses_by_phase(const RunView& view, const LevelMisses& level, const std::string& name,
                                         const std::optional<Part>& structure) {
    const std::vector<PhaseResult>& run = view.counts.run.phases;
    std::vector<PhaseMisses> by_phase(std::max<std::size_t>(1, run.size()));
    for (const LevelMisses::Row& row : level.rows) {
        if (structure && row.structure != structure->index) continue;
        if (row.phase >= by_phase.size()) by_phase.resize(row.phase + std::size_t{1});
        PhaseMisses& phase = by_phase[row.phase];
        phase.accesses += row.accesses;
        phase.misses += row.misses;
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) phase.causes[cause] += row.causes[cause];
    }
    for (std::size_t phase = 0; phase < run.size() && !structure; ++phase) {
        const LevelTotals totals = totals_of(view.counts.names, run[phase].counts, name);
        by_phase[phase].accesses = static_cast<double>(totals.accesses);
        by_phase[phase].misses = static_cast<double>(totals.misses);
    }
    return by_phase;
}

CauseCounts causes_in(const std::vector<PhaseMisses>& by_phase, std::span<const std::uint32_t> phases) {
    CauseCounts causes{};
    for (const std::uint32_t phase : phases)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) causes[cause] += by_phase[phase].causes[cause];
    return causes;
}

/// The main cause of some misses, where it is not that of all together.
std::optional<Part> other_cause(const CauseCounts& causes, const std::optional<Part>& of_all) {
    const std::optional<Part> most = largest(causes);
    return most && most->count > static_cast<double>(causes[of_all->index]) ? most : std::nullopt;
}

/// Phases that the run does not name have numbers of their own.
std::vector<std::uint32_t> numbers_of_names(const std::vector<PhaseResult>& phases, std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::map<std::string, std::uint32_t> known;
    for (std::uint32_t phase = 0; phase < phases.size(); ++phase)
        if (!phases[phase].name.empty()) numbers[phase] = known.try_emplace(phases[phase].name, phase).first->second;
    return numbers;
}

/// `cause`: the main one of all phases.
std::optional<WorstTimes> worst_times(const std::vector<PhaseMisses>& by_phase, const RunView& view,
                                      const std::optional<Part>& cause) {
    std::vector<std::uint32_t> among(view.chosen_phases.begin(), view.chosen_phases.end());
    if (among.empty()) {
        among.resize(by_phase.size());
        std::iota(among.begin(), among.end(), 0U);
    }
    std::vector<double> misses, accesses;
    for (const PhaseMisses& phase : by_phase) misses.push_back(phase.misses), accesses.push_back(phase.accesses);
    const AnswerWords& words = words_of_answers();
    const std::vector<std::uint32_t> names = numbers_of_names(view.counts.run.phases, by_phase.size());
    WorstTimes found;
    found.in = worst_phases(among, {misses, accesses, names}, {words.alike, words.stands_out, words.majority});
    const auto misses_in = [&](const std::vector<std::uint32_t>& phases) {
        return std::accumulate(phases.begin(), phases.end(), 0.0,
                               [&](double sum, std::uint32_t phase) { return sum + misses[phase]; });
    };
    const double all = misses_in(among);
    if (all == 0 || !found.in.several) return std::nullopt;
    found.all = misses_in(found.in.phases) == all;
    found.in_others = misses_in(found.in.others) / all;
    found.cause = other_cause(causes_in(by_phase, found.in.phases), cause);
    found.others_cause = other_cause(causes_in(by_phase, found.in.others), cause);
    return found;
}

}  // namespace

std::string percentage(double fraction) {
    double value = fraction * 100;
    if (value == 0) return "0 %";
    if (value >= 99.995 && value < 100) return ">99.99 %";
    if (std::fmod(value * 16, 1) == 0) value = std::nextafter(value, std::numeric_limits<double>::max());
    if (value >= 0.1) return fmt::format("{:.2f} %", value);
    const std::string digits = fmt::format("{:.1e}", value);
    const int exponent = std::stoi(digits.substr(digits.find('e') + 1));
    if (exponent < -6) return fmt::format("{}e{} %", digits.substr(0, digits.find('e')), exponent);
    return fmt::format("{:.{}f} %", value, 1 - exponent);
}

LevelTotals totals_of(const ComponentNames& names, const HierarchyCounts& counts, const std::string& level) {
    const auto place = [&](const std::vector<std::string>& all) {
        return static_cast<std::size_t>(std::ranges::find(all, level) - all.begin());
    };
    if (const std::size_t i = place(names.levels); i < names.levels.size())
        return {Demand(counts.caches[i]).accesses, Demand(counts.caches[i]).misses};
    if (const std::size_t i = place(names.tlbs); i < names.tlbs.size())
        return {counts.tlbs[i].accesses, counts.tlbs[i].misses};
    return {};
}

Worst worst_of(const RunView& view, const std::string& name, const std::string& structure) {
    const LevelMisses level = misses_of(view, name);
    Worst worst;
    worst.structure = structure;
    worst.accesses = accesses_of(level, structure);
    std::vector<double> by_structure(level.structures.size());
    for (const LevelMisses::Row& row : level.rows) by_structure[row.structure] += row.misses;
    worst.part = part_of(level, by_structure, structure);
    if (!worst.part && !structure.empty()) return worst;
    const std::vector<PhaseMisses> by_phase = misses_by_phase(view, level, name, worst.part);
    std::vector<std::uint32_t> all(by_phase.size());
    std::iota(all.begin(), all.end(), 0U);
    worst.cause = largest(causes_in(by_phase, all));
    worst.times = worst_times(by_phase, view, worst.cause);
    if (!worst.part) return worst;
    worst.structure = level.structures[worst.part->index];
    worst.accesses = accesses_of(level, worst.structure);
    worst.evictor = evictor_of(view, name, worst.structure);
    worst.false_share = false_share_of(view, name, worst.structure);
    return worst;
}

}  // namespace cachetally
