// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/budget_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "storage/hash.hpp"

namespace cachetally {
namespace {

using Known = std::vector<std::string_view>;

[[noreturn]] void refuse_name(const char* kind, const std::string& name, const Known& known) {
    constexpr std::size_t most_named = 12;  // a program has hundreds of variables; the first have most misses
    throw std::invalid_argument(
        fmt::format("there is no {} '{}'{}", kind, shown(name), advice(name, known, most_named)));
}

/// Those of a budget of phases; none: the run.
using Phases = std::vector<std::uint32_t>;

Phases phases_of(const CostBudget& budget, const std::vector<PhaseResult>& phases) {
    if (budget.phase.empty()) return {};
    const auto number = budget.phase_number();
    if (!number) {
        std::vector<std::string> names;
        for (const PhaseResult& phase : phases) names.push_back(phase.name);
        return phases_named(budget.phase, names);
    }
    if (*number >= phases.size())
        throw std::invalid_argument(
            fmt::format("there is no phase {}: the run has {}", *number,
                        phases.size() == 1 ? "one, 0" : fmt::format("0 to {}", phases.size() - 1)));
    return {*number};
}

Tally tally_of(const CacheCounts& counts) {
    return {static_cast<double>(counts.loads + counts.stores + counts.fetches),
            static_cast<double>(counts.load_misses + counts.store_misses + counts.fetch_misses)};
}

Tally of_level(const CostBudget& budget, const Phases& phases, const MeasuredRun& run) {
    const ComponentNames& names = run.counts.names;
    const auto sum_of = [&](const auto& tally) {
        if (phases.empty()) return tally(run.counts.run.counts);
        Tally sum;
        for (const std::uint32_t phase : phases) sum += tally(run.counts.run.phases[phase].counts);
        return sum;
    };
    for (std::size_t i = 0; i < names.levels.size(); ++i)
        if (names.levels[i] == budget.level)
            return sum_of([i](const HierarchyCounts& counts) { return tally_of(counts.caches.at(i)); });
    for (std::size_t i = 0; i < names.tlbs.size(); ++i)
        if (names.tlbs[i] == budget.level)
            return sum_of([i](const HierarchyCounts& counts) {
                const TlbCounts& tlb = counts.tlbs.at(i);
                return Tally{static_cast<double>(tlb.accesses), static_cast<double>(tlb.misses)};
            });
    Known known(names.levels.begin(), names.levels.end());
    known.insert(known.end(), names.tlbs.begin(), names.tlbs.end());
    refuse_name("level", budget.level, known);
}

/// A structure is known also where it has no misses in the phase.
Tally of_attributed(const CostBudget& budget, const Phases& phases, const Attribution& attribution) {
    const auto level = std::ranges::find(attribution.levels, budget.level);
    if (level == attribution.levels.end())
        throw std::invalid_argument(fmt::format("misses of {} by data structure are not known", budget.level));
    const auto number = static_cast<std::size_t>(level - attribution.levels.begin());
    const auto find = [&](const std::vector<AttributedGroup>& groups) -> const AttributedGroup* {
        const auto found = std::ranges::find(groups, budget.structure, &AttributedGroup::text);
        return found == groups.end() ? nullptr : &*found;
    };
    const std::vector<AttributedGroup> all = grouped(attribution, Grouping::structure);
    const auto tally = [&](const AttributedGroup* group) {
        if (group == nullptr) return Tally{};
        return Tally{static_cast<double>(group->accesses), static_cast<double>(group->misses[number])};
    };
    const AttributedGroup* group = find(all);
    if (group == nullptr) {
        std::vector<std::string> names;
        for (const AttributedGroup& each : all) names.push_back(each.text());
        refuse_name("data structure", budget.structure, Known(names.begin(), names.end()));
    }
    if (phases.empty()) return tally(group);
    Tally sum;
    for (const std::uint32_t phase : phases) {
        const std::vector<AttributedGroup> of_phase = grouped(attribution, Grouping::structure, &phase);
        sum += tally(find(of_phase));
    }
    return sum;
}

Tally of_regions(const CostBudget& budget, const Phases& phases, const StructureTable& table) {
    const auto level = std::ranges::find(table.levels, budget.level, &StructureTable::Level::name);
    if (level == table.levels.end())
        throw std::invalid_argument(fmt::format("misses of {} by data structure are not known", budget.level));
    if (std::ranges::find(table.regions, budget.structure, &Region::name) == table.regions.end()) {
        Known known;
        for (const Region& region : table.regions) known.push_back(region.name);
        refuse_name("data structure", budget.structure, known);
    }
    Tally sum;
    const auto add = [&](std::optional<std::uint32_t> phase) {
        const std::vector<Tally> totals = table.totals(static_cast<std::size_t>(level - table.levels.begin()), phase);
        for (std::size_t i = 0; i < table.regions.size(); ++i)
            if (table.regions[i].name == budget.structure) sum += totals[i];
    };
    if (phases.empty()) add(std::nullopt);
    for (const std::uint32_t phase : phases) add(phase);
    return sum;
}

Tally of_structure(const CostBudget& budget, const Phases& phases, const MeasuredRun& run) {
    if (!run.attribution.empty()) {
        if (budget.quantity == Quantity::miss_rate && run.attribution.levels.front() != budget.level)
            throw std::invalid_argument(fmt::format(
                "the accesses of {} by data structure are not known, only its misses; write misses", budget.level));
        return of_attributed(budget, phases, run.attribution);
    }
    return of_regions(budget, phases, run.structures);
}

double references_of(const Phases& phases, const RunResult& run) {
    if (phases.empty()) return static_cast<double>(run.counts.references);
    double sum = 0;
    for (const std::uint32_t phase : phases) sum += static_cast<double>(run.phases[phase].counts.references);
    return sum;
}

double cycles_of(const Phases& phases, const StoredRun& counts) {
    if (phases.empty()) return static_cast<double>(counts.run.end() / counts.period);
    double sum = 0;
    for (const std::uint32_t number : phases) {
        const PhaseResult& phase = counts.run.phases[number];
        sum += static_cast<double>((phase.end - phase.begin) / counts.period);
    }
    return sum;
}

double swapouts_of(const CostBudget& budget, const Phases& phases, const std::vector<MonitorSummary>& monitors) {
    const std::string wanted = budget.monitor.empty() ? "0" : budget.monitor;
    const MonitorSummary* found = nullptr;
    for (std::size_t i = 0; i < monitors.size() && found == nullptr; ++i)
        if (monitors[i].name == wanted || std::to_string(i) == wanted) found = &monitors[i];
    if (found == nullptr) {
        Known known;
        for (const MonitorSummary& each : monitors) known.push_back(each.name);
        refuse_name("monitor", wanted, known);
    }
    if (phases.empty()) return static_cast<double>(found->swapouts);
    double sum = 0;
    for (const std::uint32_t phase : phases)
        if (phase < found->swapouts_per_phase.size()) sum += static_cast<double>(found->swapouts_per_phase[phase]);
    return sum;
}

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

}  // namespace

double value_of(const CostBudget& budget, const MeasuredRun& run) {
    const Phases phases = phases_of(budget, run.counts.run.phases);
    if (budget.quantity == Quantity::cycles) return cycles_of(phases, run.counts);
    if (budget.quantity == Quantity::swapouts) return swapouts_of(budget, phases, run.monitors);
    const Tally tally = budget.structure.empty() ? of_level(budget, phases, run) : of_structure(budget, phases, run);
    switch (budget.quantity) {
        case Quantity::miss_rate: return 100 * ratio(tally.misses, tally.accesses);
        case Quantity::mpkr: return 1000 * ratio(tally.misses, references_of(phases, run.counts.run));
        case Quantity::mpki:
            if (!run.instructions)
                throw std::invalid_argument(
                    "mpki: the number of instructions is not known: fetches of this trace are not instructions; write "
                    "mpkr, misses per thousand references, instead");
            return 1000 * ratio(tally.misses, static_cast<double>(*run.instructions));
        default: return tally.misses;
    }
}

LayoutSample sample_of(std::vector<double> values) {
    if (values.empty()) throw std::invalid_argument("there are no values");
    LayoutSample sample;
    sample.values = values;
    std::ranges::sort(values);
    const std::size_t cut = values.size() / 4, kept = values.size() - 2 * cut;
    for (std::size_t i = cut; i < cut + kept; ++i) sample.value += values[i];
    sample.value /= static_cast<double>(kept);
    const double distance = values.back() - values.front();
    if (distance == 0)
        sample.spread = 0;
    else if (sample.value != 0)
        sample.spread = 100 * distance / sample.value;
    return sample;
}

std::string CostBudget::text() const {
    std::string text;
    switch (quantity) {
        case Quantity::misses: text = level + " misses"; break;
        case Quantity::miss_rate: text = level + " miss rate"; break;
        case Quantity::mpki: text = level + " mpki"; break;
        case Quantity::mpkr: text = level + " mpkr"; break;
        case Quantity::cycles: text = "cycles"; break;
        case Quantity::swapouts: text = "swap-outs" + (monitor.empty() ? "" : " of " + monitor); break;
    }
    if (!structure.empty()) text += " of " + structure;
    if (!phase.empty()) text += " in phase " + (phase_number() ? phase : "'" + phase + "'");
    return text;
}

std::optional<std::uint32_t> CostBudget::phase_number() const {
    if (phase.empty() || phase.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const auto number = parse_whole(phase);
    return number && *number <= std::numeric_limits<std::uint32_t>::max()
               ? std::optional(static_cast<std::uint32_t>(*number))
               : std::nullopt;
}

std::string BudgetCheck::conditions() const {
    MachineDescription description = load_machine(machine);
    if (cores != 0) description.cores = cores;
    const MachineDescription whole = Topology(std::move(description)).machine();
    constexpr std::size_t digits = 12;
    constexpr const char* fetches_names[] = {"by line", "by instruction", "left out"};
    return fmt::format("{} on {} ({}), warmup {}, count {}, fetches {}, monitors {}", source(), whole.name,
                       hash_text(write_machine(whole)).substr(0, digits), warmup, count,
                       fetches_names[static_cast<std::size_t>(fetches)],
                       monitors.empty() ? "of the machine" : fmt::format("{}", fmt::join(monitors, "; ")));
}

}  // namespace cachetally
