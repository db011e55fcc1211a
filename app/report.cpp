// SPDX-License-Identifier: BSD-3-Clause
// What a simulation gave, as reports show it and as result files hold what rooms do not write themselves.
#include "app/report.hpp"

#include <filesystem>

#include "monitor/attribution/attribution_file.hpp"
#include "monitor/causes/causes_file.hpp"
#include "monitor/histogram_file.hpp"
#include "storage/columns.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {
namespace {

/// Whether the trace was read to its end or to its damage. Where the run stopped before, readers are ahead of it by
/// what chance gives.
bool read_to_end(const RunResult& run, std::uint64_t most_references) {
    if (!run.complete) return !run.failure.empty();
    return most_references == 0 || run.counts.references < most_references;
}

}  // namespace

RunView view_of(const Topology& topology, const Input& input, const Outcome& outcome, const LevelsByLine& levels,
                std::optional<Check> check, std::uint64_t most_references) {
    RunView view;
    view.title = title_of(topology, input, outcome.run, most_references);
    const Tick period = topology.machine().period;
    view.counts = {component_names(topology.machine()), period, outcome.run};
    for (const MonitorOutcome& monitor : outcome.monitors)
        view.monitors.push_back(summary_of(monitor.spec, monitor.result, monitor.error, period));
    view.structures = structures_of(levels, outcome.regions);
    view.causes = outcome.causes;
    view.attribution = outcome.attribution;
    view.listeners = outcome.listeners;
    view.functions = outcome.functions;
    view.execution = outcome.execution;
    view.check = std::move(check);
    return view;
}

RunTitle title_of(const Topology& topology, const Input& input, const RunResult& run, std::uint64_t most_references) {
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
    if (input.notes && read_to_end(run, most_references))
        title.lines = TextLines{input.notes->lines, input.notes->skipped};
    return title;
}

void write_title(Group& root, const std::string& kind, const Topology& topology, const RunTitle& title) {
    set_nexus_class(root, "NXroot");
    root.set_attribute("format", result_format);
    root.set_attribute("format_version", result_format_version);
    root.set_attribute("kind", kind);
    Group input = root.create_group("input");
    set_nexus_class(input, "NXcollection");
    input.set_attribute("name", title.input);
    if (!title.settings.empty()) input.write_texts("settings", title.settings);
    if (!title.failure.empty()) input.set_attribute("failure", title.failure);
    if (title.lines) {
        input.set_attribute("text_lines", title.lines->lines);
        input.set_attribute("text_lines_skipped", title.lines->skipped);
    }
    Group machine = root.create_group("machine");
    set_nexus_class(machine, "NXcollection");
    machine.set_attribute("name", topology.machine().name);
    machine.set_attribute("cores", topology.machine().cores);
    machine.set_attribute("period", topology.machine().period);
    machine.write_texts("yaml", std::vector<std::string>{write_machine(topology.machine())});
}

void write_run_result(Group& root, const Topology& topology, const RunView& view, const Outcome& outcome,
                      const LevelsByLine& levels) {
    write_title(root, "run", topology, view.title);
    write_run(root, view.counts.names, view.counts.period, view.counts.run);
    std::vector<MonitorContents> monitors;
    for (std::size_t i = 0; i < outcome.monitors.size(); ++i) {
        const MonitorOutcome& monitor = outcome.monitors[i];
        const LinkInfo& link = topology.links()[topology.link(monitor.spec.link)];
        monitors.push_back({view.monitors[i], &monitor.result.histogram,
                            link.virtual_addresses ? AddressMap() : outcome.virtual_address});
    }
    write_structures(root, view.structures, view.functions);  // with names that others give their rows
    write_monitors(root, monitors);
    write_links(root, outcome.links, outcome.virtual_address);
    write_combined(root, levels.lines);
    write_causes(root, view.causes);
    write_attribution(root, view.attribution);
    if (!levels.lines.empty()) root.set_attribute("default", "combined");
    if (!view.check) return;
    Group check = root.create_group("check");
    set_nexus_class(check, "NXcollection");
    check.set_attribute("passed", view.check->passed);
    check.set_attribute("meaning", view.check->meaning);
    check.set_attribute("residual", view.check->residual);
    check.set_attribute("bound", view.check->bound);
}

void write_sweep_result(Group& root, const Topology& topology, const SweepView& view, const SweptEvents& events,
                        const std::vector<Region>& regions) {
    write_title(root, "sweep", topology, view.title);
    write_sweep(root, view);
    write_histogram(root, "exact", events.exact, events.program_addresses);
    StructureTable table;
    table.regions = regions;
    write_structures(root, table, {});
    root.set_attribute("default", "sweep");
}

void write_provenance_of(Group& root, const Topology& topology, const Input& input,
                         const std::vector<std::string>& execution) {
    Provenance provenance = make_provenance(command_line());
    provenance.seed = input.seed;
    provenance.execution = execution;
    provenance.machine_name = topology.machine().name;
    provenance.machine_text = topology.machine().text;
    provenance.trace_name = input.trace_file;
    if (!input.trace_file.empty()) provenance.trace_hash = hash_file(input.trace_file);
    write_provenance(root, provenance);
}

}  // namespace cachetally::app
