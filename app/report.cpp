// SPDX-License-Identifier: BSD-3-Clause
#include "app/report.hpp"

#include <algorithm>
#include <filesystem>

#include "monitor/attribution/lost_cycles.hpp"
#include "monitor/spec_placement.hpp"

namespace cachetally::app {
namespace {

/// Whether the trace was read to its end or to its damage. Where the run stopped before, readers are ahead of it by
/// what chance gives.
bool read_to_end(const RunResult& run, const SimulationOptions& options) {
    if (!run.complete) return !run.failure.empty();
    return options.max_references == 0 || run.counts.references < options.max_references;
}

/// Caches that cores ask, in the order of the machine.
std::vector<std::string> first_levels(const Topology& topology) {
    std::vector<std::string> first;
    for (const CacheConfig& cache : topology.machine().caches)
        if (std::ranges::any_of(topology.links(), [&](const LinkInfo& link) {
                return topology.components()[link.from].kind == Component::Kind::core &&
                       topology.components()[link.to].name == cache.name;
            }))
            first.push_back(cache.name);
    return first;
}

std::vector<std::string> hidden_levels(const Topology& topology, const ComponentNames& names) {
    std::vector<std::string> hidden = names.levels;
    hidden.insert(hidden.end(), names.tlbs.begin(), names.tlbs.end());
    for (const LevelLinks& shown : level_links(topology)) std::erase(hidden, shown.name);
    return hidden;
}

}  // namespace

RunView view_of(const Topology& topology, const Input& input, const Outcome& outcome, const LevelsByLine& levels,
                std::optional<Check> check, const SimulationOptions& options) {
    RunView view;
    view.title = title_of(topology, input, outcome.run, options);
    const Tick period = topology.machine().period;
    view.counts = {component_names(topology.machine()), period, outcome.run, times_of_hits(topology, outcome.run)};
    for (const MonitorOutcome& monitor : outcome.monitors)
        view.monitors.push_back(summary_of(monitor.spec, monitor.result, monitor.error, period));
    view.monitors_asked = !options.monitors.empty() || !monitors_of(topology).empty();
    view.first_levels = first_levels(topology);
    view.hidden_levels = hidden_levels(topology, view.counts.names);
    view.structures = structures_of(levels, outcome.regions);
    view.causes = outcome.causes;
    view.attribution = outcome.attribution;
    view.sharing = outcome.sharing;
    view.cores = outcome.cores;
    view.reuse = outcome.reuse;
    view.listeners = outcome.listeners;
    view.functions = outcome.functions;
    view.execution = outcome.execution;
    view.check = std::move(check);
    return view;
}

RunTitle title_of(const Topology& topology, const Input& input, const RunResult& run,
                  const SimulationOptions& options) {
    RunTitle title;
    title.input = input.trace_file.empty() ? input.name : std::filesystem::path(input.trace_file).filename().string();
    title.settings = input.settings;
    title.machine = topology.machine().name;
    title.complete = run.complete && input.incomplete.empty();
    title.failure = run.failure;
    title.count = options.max_references;
    title.warmup = options.warmup;
    title.cut = run.complete && title.count != 0 && run.counts.references >= title.count;
    if (!run.complete)
        title.incomplete = run.failure.empty() ? "interrupted before the end of the program" : run.failure;
    else if (!title.complete)
        title.incomplete = "the trace is marked partial: " + input.incomplete;
    if (input.notes && read_to_end(run, options)) title.lines = TextLines{input.notes->lines, input.notes->skipped};
    return title;
}

}  // namespace cachetally::app
