// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/budget_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "storage/hash.hpp"

namespace cachetally {
namespace {

using Known = std::vector<std::string_view>;

[[noreturn]] void refuse_name(const char* kind, const std::string& name, const Known& known) {
    constexpr std::size_t most_named = 12;  // a program has hundreds of variables; the first have most misses
    std::string others = advice(name, known);
    if (known.size() > most_named) {
        const std::string_view near = nearest(name, known);
        others =
            fmt::format("{}; of {}, the first are: {}", near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                        known.size(), fmt::join(known.begin(), known.begin() + most_named, ", "));
    }
    throw std::invalid_argument(fmt::format("there is no {} '{}'{}", kind, shown(name), others));
}

void check_phase(const CostBudget& budget, std::size_t phases) {
    if (budget.phase && *budget.phase >= phases)
        throw std::invalid_argument(fmt::format("there is no phase {}: the run has {}", *budget.phase,
                                                phases == 1 ? "one, 0" : fmt::format("0 to {}", phases - 1)));
}

Tally tally_of(const CacheCounts& counts) {
    return {static_cast<double>(counts.loads + counts.stores + counts.fetches),
            static_cast<double>(counts.load_misses + counts.store_misses + counts.fetch_misses)};
}

Tally of_level(const CostBudget& budget, const MeasuredRun& run) {
    const RunResult& result = run.counts.run;
    check_phase(budget, result.phases.size());
    const HierarchyCounts& counts = budget.phase ? result.phases[*budget.phase].counts : result.counts;
    const ComponentNames& names = run.counts.names;
    for (std::size_t i = 0; i < names.levels.size(); ++i)
        if (names.levels[i] == budget.level) return tally_of(counts.caches.at(i));
    for (std::size_t i = 0; i < names.tlbs.size(); ++i)
        if (names.tlbs[i] == budget.level)
            return {static_cast<double>(counts.tlbs.at(i).accesses), static_cast<double>(counts.tlbs.at(i).misses)};
    Known known(names.levels.begin(), names.levels.end());
    known.insert(known.end(), names.tlbs.begin(), names.tlbs.end());
    refuse_name("level", budget.level, known);
}

/// A structure is known also where it has no misses in the phase.
Tally of_attributed(const CostBudget& budget, const Attribution& attribution) {
    const auto level = std::ranges::find(attribution.levels, budget.level);
    if (level == attribution.levels.end())
        throw std::invalid_argument(fmt::format("misses of {} by data structure are not known", budget.level));
    const auto number = static_cast<std::size_t>(level - attribution.levels.begin());
    const auto find = [&](const std::vector<AttributedGroup>& groups) -> const AttributedGroup* {
        const auto found = std::ranges::find(groups, budget.structure, &AttributedGroup::text);
        return found == groups.end() ? nullptr : &*found;
    };
    const std::vector<AttributedGroup> all = grouped(attribution, Grouping::structure);
    const AttributedGroup* group = find(all);
    std::vector<std::string> names;
    if (group == nullptr) {
        for (const AttributedGroup& each : all) names.push_back(each.text());
        refuse_name("data structure", budget.structure, Known(names.begin(), names.end()));
    }
    std::vector<AttributedGroup> of_phase;
    if (budget.phase) {
        of_phase = grouped(attribution, Grouping::structure, &*budget.phase);
        group = find(of_phase);
        if (group == nullptr) return {};
    }
    return {static_cast<double>(group->accesses), static_cast<double>(group->misses[number])};
}

Tally of_regions(const CostBudget& budget, const StructureTable& table) {
    const auto level = std::ranges::find(table.levels, budget.level, &StructureTable::Level::name);
    if (level == table.levels.end())
        throw std::invalid_argument(fmt::format("misses of {} by data structure are not known", budget.level));
    const std::vector<Tally> totals =
        table.totals(static_cast<std::size_t>(level - table.levels.begin()), budget.phase);
    Tally sum;
    bool found = false;
    for (std::size_t i = 0; i < table.regions.size(); ++i)
        if (table.regions[i].name == budget.structure) {
            sum += totals[i];
            found = true;
        }
    if (found) return sum;
    Known known;
    for (const Region& region : table.regions) known.push_back(region.name);
    refuse_name("data structure", budget.structure, known);
}

Tally of_structure(const CostBudget& budget, const MeasuredRun& run) {
    check_phase(budget, run.counts.run.phases.size());
    if (!run.attribution.empty()) {
        if (budget.quantity == Quantity::miss_rate && run.attribution.levels.front() != budget.level)
            throw std::invalid_argument(fmt::format(
                "the accesses of {} by data structure are not known, only its misses; write misses", budget.level));
        return of_attributed(budget, run.attribution);
    }
    return of_regions(budget, run.structures);
}

double references_of(const CostBudget& budget, const RunResult& run) {
    return static_cast<double>(budget.phase ? run.phases[*budget.phase].counts.references : run.counts.references);
}

double cycles_of(const CostBudget& budget, const StoredRun& counts) {
    check_phase(budget, counts.run.phases.size());
    if (!budget.phase) return static_cast<double>(counts.run.end() / counts.period);
    const PhaseResult& phase = counts.run.phases[*budget.phase];
    return static_cast<double>((phase.end - phase.begin) / counts.period);
}

double swapouts_of(const CostBudget& budget, const std::vector<MonitorSummary>& monitors) {
    const std::string wanted = budget.monitor.empty() ? "0" : budget.monitor;
    const MonitorSummary* found = nullptr;
    for (std::size_t i = 0; i < monitors.size() && found == nullptr; ++i)
        if (monitors[i].name == wanted || std::to_string(i) == wanted) found = &monitors[i];
    if (found == nullptr) {
        Known known;
        for (const MonitorSummary& each : monitors) known.push_back(each.name);
        refuse_name("monitor", wanted, known);
    }
    if (!budget.phase) return static_cast<double>(found->swapouts);
    check_phase(budget, found->swapouts_per_phase.size());
    return static_cast<double>(found->swapouts_per_phase[*budget.phase]);
}

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

}  // namespace

double value_of(const CostBudget& budget, const MeasuredRun& run) {
    if (budget.quantity == Quantity::cycles) return cycles_of(budget, run.counts);
    if (budget.quantity == Quantity::swapouts) return swapouts_of(budget, run.monitors);
    const Tally tally = budget.structure.empty() ? of_level(budget, run) : of_structure(budget, run);
    switch (budget.quantity) {
        case Quantity::miss_rate: return 100 * ratio(tally.misses, tally.accesses);
        case Quantity::mpkr: return 1000 * ratio(tally.misses, references_of(budget, run.counts.run));
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
