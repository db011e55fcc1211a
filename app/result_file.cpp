// SPDX-License-Identifier: BSD-3-Clause
// Result files: what rooms do not write themselves.
#include "app/report.hpp"
#include "monitor/attribution/attribution_file.hpp"
#include "monitor/causes/causes_file.hpp"
#include "monitor/causes/sharing_file.hpp"
#include "monitor/histogram_file.hpp"
#include "monitor/listeners/listener_file.hpp"
#include "monitor/reuse/reuse_file.hpp"
#include "storage/columns.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {

void write_title(Group& root, const std::string& kind, const Topology& topology, const RunTitle& title) {
    set_nexus_class(root, "NXroot");
    root.set_attribute("format", result_format);
    root.set_attribute("format_version", result_format_version);
    root.set_attribute("kind", kind);
    Group input = root.create_group("input");
    set_nexus_class(input, "NXcollection");
    input.set_attribute("name", title.input);
    if (!title.settings.empty()) input.write_texts("settings", title.settings);
    input.set_attribute("count", title.count);
    input.set_attribute("warmup", title.warmup);
    if (title.cut) input.set_attribute("cut", title.cut);
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
    write_run(root, view.counts);
    Group all_levels = root.open_group("levels");
    all_levels.set_attribute("first", view.first_levels);
    if (!view.hidden_levels.empty()) all_levels.set_attribute("hidden", view.hidden_levels);
    std::vector<MonitorContents> monitors;
    for (std::size_t i = 0; i < outcome.monitors.size(); ++i) {
        const MonitorOutcome& monitor = outcome.monitors[i];
        const LinkInfo& link = topology.links()[topology.link(monitor.spec.link)];
        monitors.push_back({view.monitors[i], &monitor.result.histogram,
                            link.virtual_addresses ? AddressMap() : outcome.virtual_address});
    }
    write_structures(root, view.structures, view.functions);  // with names that others give their rows
    write_monitors(root, monitors);
    if (!monitors.empty()) root.open_group("monitors").set_attribute("asked", view.monitors_asked);
    write_links(root, outcome.links, outcome.virtual_address);
    write_combined(root, levels.lines, static_cast<std::uint32_t>(view.counts.run.phases.size()));
    write_causes(root, view.causes);
    write_attribution(root, view.attribution);
    write_sharing(root, view.sharing);
    write_level_cores(root, view.cores);
    write_reuse(root, view.reuse);
    write_listeners(root, view.listeners);
    if (!levels.lines.empty()) root.set_attribute("default", "combined");
    if (!view.check) return;
    Group check = root.create_group("check");
    set_nexus_class(check, "NXcollection");
    check.set_attribute("passed", view.check->passed);
    check.set_attribute("meaning", view.check->meaning);
    check.set_attribute("residual", view.check->residual);
    check.set_attribute("bound", view.check->bound);
}

void write_sweep_result(Group& root, const Topology& topology, const SweepView& view, const SweptEvents* events,
                        const std::vector<Region>& regions) {
    write_title(root, "sweep", topology, view.title);
    write_sweep(root, view);
    if (events != nullptr) write_histogram(root, "exact", events->exact, events->program_addresses);
    if (events != nullptr || !regions.empty()) {
        StructureTable table;
        table.regions = regions;
        write_structures(root, table, {});
    }
    root.set_attribute("default", "sweep");
}

void write_provenance_of(Group& root, const Topology& topology, std::span<const Input> inputs,
                         const std::vector<std::string>& execution) {
    Provenance provenance = make_provenance(command_line());
    provenance.seed = inputs.front().seed;
    provenance.execution = execution;
    provenance.machine_name = topology.machine().name;
    provenance.machine_text = topology.machine().text;
    for (const Input& input : inputs)
        if (!input.trace_file.empty()) provenance.add_trace(input.trace_file, hash_file(input.trace_file));
    write_provenance(root, provenance);
}

}  // namespace cachetally::app
