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

/// Phases by their names where these come again; else, and without a name, each alone. Of `chosen`; empty: all.
std::vector<std::vector<std::size_t>> groups_of_phases(const std::vector<PhaseResult>& phases, std::size_t count,
                                                       std::vector<std::size_t> chosen) {
    if (chosen.empty()) {
        chosen.resize(count);
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    }
    std::vector<std::vector<std::size_t>> groups, alone;
    std::map<std::string, std::size_t> named;
    for (const std::size_t phase : chosen) {
        alone.push_back({phase});
        const std::string name = phase < phases.size() ? phases[phase].name : std::string();
        const auto [group, is_new] = named.try_emplace(name, groups.size());
        if (is_new || name.empty())
            groups.push_back({phase});
        else
            groups[group->second].push_back(phase);
    }
    return groups.size() > 1 ? groups : alone;
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

PhaseMisses sum_of(const std::vector<PhaseMisses>& by_phase, const std::vector<std::size_t>& phases) {
    PhaseMisses sum;
    for (const std::size_t phase : phases) {
        sum.accesses += by_phase[phase].accesses;
        sum.misses += by_phase[phase].misses;
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) sum.causes[cause] += by_phase[phase].causes[cause];
    }
    return sum;
}

/// Groups with at least nine tenths (AnswerWords::alike) of the largest count.
std::vector<std::size_t> largest_of(const std::vector<double>& counts) {
    const double least = words_of_answers().alike * *std::ranges::max_element(counts);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] >= least) found.push_back(i);
    return found;
}

struct WorstGroups {
    std::vector<std::size_t> worst, more;  ///< more: that have more misses, at a lower rate
};

/// Groups with most of the misses: of those that miss about as often as all together, or oftener, if one of these
/// stands out; else of all, if one does.
WorstGroups worst_groups(const std::vector<PhaseMisses>& groups, const PhaseMisses& all) {
    const AnswerWords& words = words_of_answers();
    std::vector<double> counts, dense;
    for (const PhaseMisses& group : groups) {
        const bool is_dense = group.misses * all.accesses >= words.alike * all.misses * group.accesses;
        counts.push_back(group.misses);
        dense.push_back(is_dense ? group.misses : 0);
    }
    const auto most = [](const std::vector<double>& of) { return *std::ranges::max_element(of); };
    const auto stands_out = [&](const std::vector<double>& of) {
        return most(of) * static_cast<double>(groups.size()) >= words.stands_out * all.misses;
    };
    if (stands_out(dense))
        return {largest_of(dense), most(dense) < most(counts) ? largest_of(counts) : std::vector<std::size_t>()};
    return stands_out(counts) ? WorstGroups{largest_of(counts), {}} : WorstGroups();
}

/// Without those that have less than the mean of `count` phases with `misses`, unless all have.
void leave_out_small(std::vector<std::size_t>& phases, const std::vector<PhaseMisses>& by_phase, double misses,
                     std::size_t count) {
    const auto is_small = [&](std::size_t phase) {
        return by_phase[phase].misses * static_cast<double>(count) < misses;
    };
    if (!std::ranges::all_of(phases, is_small)) std::erase_if(phases, is_small);
}

/// Of several, those that stand out among them.
std::vector<std::size_t> peaks_of(const std::vector<std::size_t>& phases, const std::vector<PhaseMisses>& by_phase,
                                  double misses) {
    const AnswerWords& words = words_of_answers();
    double most = 0;
    for (const std::size_t phase : phases) most = std::max(most, by_phase[phase].misses);
    if (phases.size() < 2 || most * static_cast<double>(phases.size()) < words.stands_out * misses) return {};
    std::vector<std::size_t> peaks(phases);
    std::erase_if(peaks, [&](std::size_t phase) { return by_phase[phase].misses < words.alike * most; });
    return peaks;
}

/// The main cause of some misses, where it is not that of all together.
std::optional<Part> other_cause(const PhaseMisses& some, const std::optional<Part>& cause) {
    const std::optional<Part> most = largest(some.causes);
    return most && most->count > static_cast<double>(some.causes[cause->index]) ? most : std::nullopt;
}

/// `cause`: the main one of all phases.
std::optional<WorstPhases> worst_phases_of(const std::vector<PhaseMisses>& by_phase, const RunView& view,
                                           const std::optional<Part>& cause) {
    const std::vector<std::vector<std::size_t>> groups =
        groups_of_phases(view.counts.run.phases, by_phase.size(), view.chosen_phases);
    std::vector<PhaseMisses> sums;
    PhaseMisses all;
    std::size_t phases = 0;
    for (const std::vector<std::size_t>& group : groups) {
        sums.push_back(sum_of(by_phase, group));
        all.accesses += sums.back().accesses;
        all.misses += sums.back().misses;
        phases += group.size();
    }
    if (all.misses == 0 || groups.size() == 1) return std::nullopt;
    const auto phases_of = [&](const std::vector<std::size_t>& some) {
        std::vector<std::size_t> numbers;
        for (const std::size_t group : some) numbers.insert(numbers.end(), groups[group].begin(), groups[group].end());
        std::ranges::sort(numbers);
        leave_out_small(numbers, by_phase, all.misses, phases);
        return numbers;
    };
    const WorstGroups worst = worst_groups(sums, all);
    WorstPhases found;
    found.numbers = phases_of(worst.worst);
    if (found.numbers.empty()) return found;
    found.more = phases_of(worst.more);
    const PhaseMisses sum = sum_of(by_phase, found.numbers);
    found.all = sum.misses == all.misses;
    found.cause = other_cause(sum, cause);
    const PhaseMisses more = sum_of(by_phase, found.more);
    found.in_more = more.misses / all.misses;
    found.more_cause = other_cause(more, cause);
    found.most = peaks_of(found.numbers, by_phase, sum.misses);
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
    std::vector<std::size_t> all(by_phase.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    worst.cause = largest(sum_of(by_phase, all).causes);
    worst.phases = worst_phases_of(by_phase, view, worst.cause);
    if (!worst.part) return worst;
    worst.structure = level.structures[worst.part->index];
    worst.accesses = accesses_of(level, worst.structure);
    worst.evictor = evictor_of(view, name, worst.structure);
    worst.false_share = false_share_of(view, name, worst.structure);
    return worst;
}

}  // namespace cachetally
