#include "app/report.hpp"

#include <filesystem>

namespace cachetally::app {

RunView view_of(const Topology& topology, const Input& input, const Outcome& outcome, const LevelsByLine& levels,
                std::optional<Check> check) {
    RunView view;
    view.title = title_of(topology, input, outcome.run);
    const Tick period = topology.machine().period;
    view.counts = {component_names(topology.machine()), period, outcome.run};
    for (const MonitorOutcome& monitor : outcome.monitors)
        view.monitors.push_back(summary_of(monitor.spec, monitor.result, monitor.error, period));
    view.structures = structures_of(levels, outcome.regions);
    view.functions = outcome.functions;
    view.check = std::move(check);
    return view;
}

RunTitle title_of(const Topology& topology, const Input& input, const RunResult& run) {
    RunTitle title;
    title.input = input.trace_file.empty() ? input.name : std::filesystem::path(input.trace_file).filename().string();
    title.settings = input.settings;
    title.machine = topology.machine().name;
    title.complete = run.complete && input.incomplete.empty();
    title.failure = run.failure;
    if (!run.complete)
        title.incomplete = run.failure.empty() ? "interrupted before the end of the program" : run.failure;
    else if (!title.complete)
        title.incomplete = "the trace is marked partial: " + input.incomplete;
    return title;
}

}  // namespace cachetally::app
