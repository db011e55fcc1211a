// SPDX-License-Identifier: BSD-3-Clause
#include "app/swept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/checks.hpp"
#include "app/paper2002.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "monitor/hardware_cost.hpp"
#include "monitor/sweep.hpp"

namespace cachetally::app {
namespace {

constexpr std::size_t most_combinations = 1000;

/// The cells of a workload while they are counted.
class WorkloadSweep {
public:
    WorkloadSweep(const SweepPlan& plan, const Topology& topology, const std::string& workload)
        : plan_(plan), topology_(topology), workload_(workload) {}

    /// One pass over the source: all cells but those of variants that feed back, whose places are made.
    void pass(SweptWorkload& result, const Input& input, const SimulationOptions& options);

    /// A run for each cell that needs one.
    void own_runs(SweptWorkload& result, const Comparison& comparison);

    /// Leaves out variants of which not all cells are counted.
    void leave_out_uncounted(SweptWorkload& result) const;

    bool needs_runs(unsigned streams) const {
        return plan_.slowdown || std::ranges::any_of(plan_.variants, [&](const SweepVariant& variant) {
                   return feeds_back(variant.base, topology_.machine(), streams);
               });
    }

private:
    using Copies = std::vector<std::unique_ptr<Sweep>>;

    SweepSpec spec_of(const SweepVariant& variant) const {
        return {variant.base, variant.counters, variant.granularities, variant.evictions};
    }
    void add_cell(SweptWorkload& result, const SweepVariant& variant, const SweepRow& row, std::uint64_t events,
                  bool counted);
    void count(SweepCell& cell, const MonitorSpec& monitor, const ObservedRun& with) const;
    const SweepPlan& plan_;
    const Topology& topology_;
    const std::string& workload_;
    std::vector<MonitorSpec> monitors_;  ///< of the cells
    std::vector<bool> counted_;
};

SweepCost cost_of(const MonitorSpec& monitor, std::uint64_t events, std::uint64_t swapouts) {
    const HardwareCost cost = hardware_cost(monitor);
    return {cost.bits(), cost.comparators, cost.area, cost.energy_per_event(events, swapouts)};
}

std::vector<SweepRow> rows_without_counts(const SweepVariant& variant) {
    std::vector<SweepRow> rows;
    for (const Eviction eviction : variant.evictions)
        for (const Granularity& granularity : variant.granularities)
            for (const std::uint32_t counters : variant.counters) rows.push_back({counters, granularity, eviction});
    return rows;
}

void WorkloadSweep::add_cell(SweptWorkload& result, const SweepVariant& variant, const SweepRow& row,
                             std::uint64_t events, bool counted) {
    MonitorSpec& monitor = monitors_.emplace_back(variant.base);
    monitor.counters = row.counters;
    monitor.granularity = row.granularity;
    monitor.eviction = row.eviction;
    if (!counted) validate(monitor);
    counted_.push_back(counted);
    SweepCell cell{.eviction = std::string(to_string(row.eviction)),
                   .granularity = to_string(row.granularity),
                   .counters = row.counters,
                   .swapouts = row.swapouts,
                   .error = row.error,
                   .bytes_per_event = row.bytes_per_event,
                   .cost = cost_of(monitor, events, row.swapouts),
                   .published = {},
                   .workload = workload_,
                   .link = variant.base.link,
                   .settings = variant.settings,
                   .events = events};
    const bool lines = row.granularity.mode == Granularity::Mode::aligned;
    if (const auto figures = published(row.counters, row.granularity.amount); plan_.beside_paper && lines && figures)
        cell.published = PublishedFigures{figures->swapouts, figures->error / 100, figures->misprint};
    result.cells.push_back(std::move(cell));
}

void WorkloadSweep::pass(SweptWorkload& result, const Input& input, const SimulationOptions& options) {
    result.hierarchy = std::make_unique<Hierarchy>(topology_);
    Hierarchy& hierarchy = *result.hierarchy;
    std::vector<Copies> sweeps(plan_.variants.size());
    for (std::size_t v = 0; v < sweeps.size(); ++v) {
        const SweepVariant& variant = plan_.variants[v];
        const std::size_t link = topology_.link(variant.base.link);
        if (feeds_back(variant.base, topology_.machine(), input.source->cores())) continue;
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
            sweeps[v].push_back(std::make_unique<Sweep>(spec_of(variant), copy));
            hierarchy.listen(link, copy, *sweeps[v].back());
        }
    }
    result.run = run(hierarchy, *input.source, run_options(options, *input.source));
    clear_progress_line();
    result.regions = input.source->regions();
    const std::vector<AddressRange> data = ranges_of(data_of(result.regions));
    for (std::size_t v = 0; v < sweeps.size(); ++v) {
        const SweepVariant& variant = plan_.variants[v];
        if (sweeps[v].empty()) {
            for (const SweepRow& row : rows_without_counts(variant)) add_cell(result, variant, row, 0, false);
            continue;
        }
        const LinkInfo& link = topology_.links()[topology_.link(variant.base.link)];
        const AddressMap addresses = program_addresses(topology_, hierarchy, link);
        std::vector<const Sweep*> finished;
        std::vector<Histogram> exact;
        for (const auto& copy : sweeps[v]) {
            copy->finish();
            exact.push_back(copy->exact());
            finished.push_back(copy.get());
        }
        Histogram sum = merged(exact);
        for (const SweepRow& row : sweep_rows(finished, data, addresses))
            add_cell(result, variant, row, sum.total(), true);
        if (v == 0) {
            result.exact = std::move(sum);
            result.program_addresses = addresses;
        }
        sweeps[v].clear();
    }
}

void WorkloadSweep::count(SweepCell& cell, const MonitorSpec& monitor, const ObservedRun& with) const {
    const MonitorResult& found = *with.monitor;
    cell.swapouts = found.swapouts;
    cell.error = *with.error;
    cell.bytes_per_event = found.bytes_per_event();
    cell.events = found.events;
    cell.cost = cost_of(monitor, found.events, found.swapouts);
}

void WorkloadSweep::own_runs(SweptWorkload& result, const Comparison& comparison) {
    std::vector<std::size_t> places;
    std::vector<MonitorSpec> monitors;
    for (std::size_t i = 0; i < monitors_.size(); ++i)
        if (plan_.slowdown || !counted_[i]) {
            places.push_back(i);
            monitors.push_back(monitors_[i]);
        }
    const bool errors = std::ranges::find(counted_, false) != counted_.end();
    std::size_t done = 0;
    const auto take = [&](const MonitorSpec& monitor, const ObservedRun* with) {
        const std::size_t place = places[done++];
        SweepCell& cell = result.cells[place];
        if (with == nullptr) {
            ++result.unknown;
            return;
        }
        if (plan_.slowdown) cell.slowdown = slowdown_of(topology_, result.run, with->run);
        if (counted_[place]) return;
        count(cell, monitor, *with);
        counted_[place] = true;
    };
    result.missing = comparison.each(monitors, result.run, take, errors);
    result.runs += done;
    warn_of_unknown(result.unknown, monitors.size());
}

void WorkloadSweep::leave_out_uncounted(SweptWorkload& result) const {
    std::vector<SweepCell> kept;
    std::size_t place = 0;
    for (const auto& part : parts_of(result.cells)) {
        bool all = true;
        for (std::size_t i = 0; i < part.size(); ++i) all = counted_[place++] && all;
        if (all) kept.insert(kept.end(), part.begin(), part.end());
    }
    result.cells = std::move(kept);
}

/// The pass of a sweep takes as long as the program without monitor.
void check_slowdowns(const RunResult& run, const Topology& topology) {
    const bool takes_time = run.end() >= topology.machine().period;
    if (takes_time || run.counts.references == 0) return;
    throw UsageError(
        fmt::format("--slowdown: all that the program does takes no time on the machine '{}', so that nothing can be "
                    "compared with it; give caches and memory latencies, or leave --slowdown out",
                    topology.machine().name));
}

}  // namespace

SweepSource parse_source(const std::string& text) {
    std::error_code absent;
    if (std::filesystem::exists(text, absent)) return {text, {}, {}};
    std::vector<std::string> parts = split_list(text);
    const std::string name = parts.front();
    parts.erase(parts.begin());
    return {name, std::move(parts), {}};
}

std::vector<std::string> combinations(const std::vector<std::string>& texts) {
    std::vector<std::string> all{""};
    for (const std::string& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
            throw UsageError("'--vary {}': write a key of monitors and its values, as in ways=0,4,8 or width=4-8",
                             text);
        const std::string key = text.substr(0, equals);
        std::vector<std::string> longer;
        for (const std::string& begun : all)
            for (const std::string& value : parse_values("--vary " + text, text.substr(equals + 1), key != "range"))
                longer.push_back((begun.empty() ? "" : begun + ',') + varied_setting(key, value));
        all = std::move(longer);
        if (all.size() > most_combinations)
            throw UsageError("'--vary {}': these are {} combinations; at most {} are possible", text, all.size(),
                             most_combinations);
    }
    return all;
}

SweptWorkload sweep_workload(const SweepSource& source, const Input& first, const SweepPlan& plan,
                             const WorkloadOptions& options, const Topology& topology) {
    const auto open = [&](Opening opening) {
        return open_input(source.name, source.settings, options.choice, opening);
    };
    SweptWorkload result;
    WorkloadSweep sweep(plan, topology, source.title);
    std::optional<Comparison> comparison;
    if (sweep.needs_runs(first.source->cores())) comparison.emplace(source.name, open, options.simulation, topology);
    sweep.pass(result, first, options.simulation);
    result.title = title_of(topology, first, result.run, options.simulation);
    if (comparison && (result.run.complete || (!result.run.failure.empty() && !result.run.time_over))) {
        if (plan.slowdown) check_slowdowns(result.run, topology);
        sweep.own_runs(result, *comparison);
        add_missing(result.title, result.missing);
    }
    sweep.leave_out_uncounted(result);
    return result;
}

}  // namespace cachetally::app
