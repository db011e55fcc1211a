// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: counters x granularity x eviction on one link, all from one pass over the references.
#include <fmt/format.h>

#include <algorithm>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/paper2002.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "monitor/hardware_cost.hpp"
#include "monitor/sweep.hpp"

namespace cachetally::app {
namespace {

struct Options : WorkloadOptions {
    OutputOptions output;
    std::string counters = "16,32,64,128";
    std::string granularity = "1-6";
    std::string eviction = "fifo";
    std::string link;
    std::string monitor;
    std::string preset;
    bool slowdown = false;
};

/// The experiment of Schulz et al. 2002, section 4.4; docs/reproduction.md says which of these choices are ours.
void apply_preset(Options& options) {
    if (options.preset.empty()) return;
    if (options.preset != "paper-2002")
        throw UsageError(fmt::format("there is no preset '{}'; known are: paper-2002", options.preset));
    if (options.source != "lu")
        throw UsageError("the preset paper-2002 is of the kernel lu: cachetally sweep lu --preset paper-2002");
    options.simulation.machine = "schulz2002";
    options.monitor = "barriers=off";
}

/// All but the cells is the preset's: whatever else was given would be ignored.
void check_beside_preset(const CLI::App& command) {
    constexpr std::string_view possible[] = {"WORKLOAD", "--preset", "--counters", "--granularity",
                                             "--output", "--force",  "--json"};
    if (command.count("--preset") == 0) return;
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_positional() ? option->get_name() : "--" + option->get_lnames().front();
        if (option->count() == 0 || std::ranges::find(possible, name) != std::end(possible)) continue;
        throw UsageError(
            fmt::format("{} cannot stand beside --preset, which sets the kernel's options, the machine, the link, the "
                        "eviction policy and the monitor; --counters, --granularity and the options of output can. To "
                        "vary the experiment, leave --preset out: cachetally sweep lu --machine schulz2002 --monitor "
                        "barriers=off ...",
                        name == "OPTION" ? "an option of the kernel" : name));
    }
}

constexpr RefusedKey varied_by_sweeps[] = {
    {"link", "write --link NAME"},
    {"name", "a sweep has no single monitors"},
    {"counters", "a sweep varies it: write --counters 16,32"},
    {"granularity", "a sweep varies it: write --granularity 1-4"},
    {"eviction", "a sweep varies it: write --eviction fifo,lru"},
    {"overflow", "the ring of a sweep loses nothing; try it with 'cachetally run' or 'cachetally intrusion'"},
};
constexpr std::string_view free_ring =
    "the ring of a sweep costs nothing and makes no traffic, but with --slowdown; or try it with 'cachetally run'";
constexpr RefusedKey only_with_slowdown[] = {
    {"capacity", free_ring},  {"base", free_ring},   {"path", free_ring},       {"drain", free_ring},
    {"watermark", free_ring}, {"period", free_ring}, {"drain_cost", free_ring}, {"write_cost", free_ring},
};

MonitorSpec base_of(const Options& options, const Topology& topology) {
    std::vector<RefusedKey> refused(std::begin(varied_by_sweeps), std::end(varied_by_sweeps));
    if (!options.slowdown) refused.insert(refused.end(), std::begin(only_with_slowdown), std::end(only_with_slowdown));
    MonitorSpec spec = options.monitor.empty() ? MonitorSpec{} : parse_common(options.monitor, refused);
    spec.link = options.link.empty() ? topology.links()[topology.core_link(false)].name : options.link;
    return completed(placed({spec}, topology).front(), topology);
}

MonitorSpec monitor_of(const SweepRow& row, MonitorSpec base) {
    base.counters = row.counters;
    base.granularity = row.granularity;
    base.eviction = row.eviction;
    return base;
}

SweepCost cost_of(const MonitorSpec& base, const SweepRow& row, std::uint64_t events) {
    const HardwareCost cost = hardware_cost(monitor_of(row, base));
    return {cost.bits(), cost.comparators, cost.area, cost.energy_per_event(events, row.swapouts)};
}

/// A cell with its cost, beside what the paper gives for it.
SweepCell cell_of(const SweepRow& row, const MonitorSpec& base, std::uint64_t events, bool beside_paper) {
    SweepCell cell{std::string(to_string(row.eviction)),
                   to_string(row.granularity),
                   row.counters,
                   row.swapouts,
                   row.error,
                   row.bytes_per_event,
                   cost_of(base, row, events),
                   {}};
    const bool lines = row.granularity.mode == Granularity::Mode::aligned;
    if (const auto figures = published(row.counters, row.granularity.amount); beside_paper && lines && figures)
        cell.published = PublishedFigures{figures->swapouts, figures->error / 100, figures->misprint};
    return cell;
}

struct Result {
    std::unique_ptr<Hierarchy> hierarchy;
    RunResult run;
    SweepView view;
    Histogram exact;
    AddressMap program_addresses;  ///< of the exact histogram
    std::vector<Region> regions;
    std::vector<MonitorSpec> monitors;  ///< of the cells
};

Result sweep(const Options& options, const Topology& topology, const Input& input) {
    SweepSpec spec{base_of(options, topology), parse_counters(options.counters),
                   parse_granularities(options.granularity), parse_evictions(options.eviction)};
    Result result;
    result.hierarchy = std::make_unique<Hierarchy>(topology);
    Hierarchy& hierarchy = *result.hierarchy;
    const std::size_t link = topology.link(spec.base.link);
    std::vector<std::unique_ptr<Sweep>> sweeps;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        sweeps.push_back(std::make_unique<Sweep>(spec, copy));
        hierarchy.listen(link, copy, *sweeps.back());
    }
    result.run = run(hierarchy, *input.source, run_options(options.simulation, *input.source));
    std::vector<const Sweep*> finished;
    std::vector<Histogram> exact;
    for (const auto& each : sweeps) {
        each->finish();
        exact.push_back(each->exact());
        finished.push_back(each.get());
    }
    result.exact = merged(exact);
    result.regions = input.source->regions();
    result.view.title = title_of(topology, input, result.run, options.simulation);
    result.view.timed = options.slowdown;
    result.view.link = spec.base.link;
    result.view.monitor = to_string(spec.base);
    result.view.references = result.run.counts.references;
    result.view.events = result.exact.total();
    result.program_addresses = program_addresses(topology, hierarchy, topology.links()[link]);
    for (const SweepRow& row : sweep_rows(finished, ranges_of(data_of(result.regions)), result.program_addresses)) {
        result.view.cells.push_back(cell_of(row, spec.base, result.view.events, !options.preset.empty()));
        result.monitors.push_back(monitor_of(row, spec.base));
    }
    return result;
}

/// The pass of a sweep takes as long as the program without monitor.
void check_slowdowns(const Result& result, const Topology& topology) {
    const bool takes_time = result.run.end() >= topology.machine().period;
    if (takes_time || result.run.counts.references == 0) return;
    throw UsageError(
        fmt::format("--slowdown: all that the program does takes no time on the machine '{}', so that nothing can be "
                    "compared with it; give caches and memory latencies, or leave --slowdown out",
                    topology.machine().name));
}

/// By what fraction the program takes longer with the monitor of each cell. Returns why not all are known, if so.
std::string add_slowdowns(Result& result, const Topology& topology, const Comparison& comparison) {
    const ObservedRun without = comparison.observed(comparison.opened(Opening::again), nullptr);
    if (!without.run.complete && without.run.failure.empty()) return "interrupted before the first slowdown";
    const std::uint64_t cycles = without.run.end() / topology.machine().period;
    std::size_t cell = 0;
    std::size_t unknown = 0;
    std::string missing =
        comparison.each(result.monitors, without, [&](const MonitorSpec&, const Intrusion* intrusion) {
            if (intrusion == nullptr)
                ++unknown;
            else
                result.view.cells[cell].slowdown = intrusion->slowdown(cycles);
            ++cell;
        });
    result.view.slowdown_unknown = why_unknown(unknown);
    warn_of_unknown(unknown, result.monitors.size());
    return missing;
}

void run_command(Options options) {
    apply_preset(options);
    const Topology topology = topology_of(options.simulation);
    const auto open = [&](Opening opening) {
        return open_input(options.source, options.settings, options.choice, opening);
    };
    std::optional<Comparison> comparison;
    if (options.slowdown) comparison.emplace(options.source, open, options.simulation, topology);
    const Input input = open(Opening::first);
    check_cores(input, topology);
    warn_of_one_stream(input, topology);
    const std::unique_ptr<ResultFile> file = open_output(options.output, inputs_of(input, options.simulation));
    Result result = sweep(options, topology, input);
    clear_progress_line();
    std::string missing;
    if (comparison && (result.run.complete || (!result.run.failure.empty() && !result.run.time_over))) {
        check_slowdowns(result, topology);
        missing = add_slowdowns(result, topology, *comparison);
        add_missing(result.view.title, missing);
    }
    if (options.simulation.json) {
        print_json(to_json(result.view));
    } else {
        print_lines(to_text(result.view, terminal_width()));
    }
    if (file) {
        write_sweep_result(file->root(), topology, result.view, {result.exact, result.program_addresses},
                           result.regions);
        write_provenance_of(file->root(), topology, input);
        close_output(file.get(), result.view.title);
    }
    refuse_incomplete(result.run, result.view.title, file.get());
    if (!missing.empty())
        throw std::runtime_error(fmt::format("{}: the slowdown of the other cells is not known{}", missing,
                                             file ? fmt::format("; {} is marked partial", file->path()) : ""));
}

}  // namespace

void add_sweep(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Trade counters, granularity and eviction against accuracy and traffic, in one pass");
    command->add_option("--counters", options->counters, "Numbers of counters")
        ->type_name("N,N...")
        ->capture_default_str();
    command
        ->add_option("--granularity", options->granularity,
                     "Granularities: lines per counter, ranges, dynamic:N, mask:BITS")
        ->type_name("G,G-G...")
        ->capture_default_str();
    command
        ->add_option("--eviction", options->eviction,
                     fmt::format("Eviction policies: {}", fmt::join(eviction_names(), ", ")))
        ->type_name("NAME,NAME...")
        ->capture_default_str();
    command->add_option("--link", options->link, "The link; default: the one that data references leave the core by")
        ->type_name("NAME")
        ->check(not_empty("the name of a link"));
    command
        ->add_option("--monitor", options->monitor,
                     "What all cells have in common, as in width=8,kinds=load (docs/monitors.md)")
        ->type_name("SPEC")
        ->check(not_empty("settings, as in width=8"));
    command
        ->add_option("--preset", options->preset,
                     "paper-2002: the experiment of Schulz et al. 2002, Table 2, beside the published figures. Of "
                     "the other options, only --counters, --granularity and those of output can stand beside it")
        ->type_name("NAME")
        ->check(not_empty("the name of a preset: paper-2002"));
    command->add_flag("--slowdown", options->slowdown,
                      "Also run the program with the monitor of each cell, and report by how much that takes longer "
                      "(docs/intrusion.md); then --monitor takes the keys of the ring, too");
    add_workload_options(*command, *options, !program.empty());
    add_output_options(*command, options->output, "the exact histogram of the link");
    command->footer(
        "Examples:\n"
        "  cachetally sweep lu --preset paper-2002\n"
        "  cachetally sweep gzip.ct.h5 --counters 32,64,128 --granularity 1,2,dynamic:4 --eviction fifo,lru\n"
        "  cachetally sweep lu -m generic3-timed --slowdown --monitor drain_cost=20 -o lu.h5");
    command->callback([options, command, &program] {
        check_beside_preset(*command);
        with_recording(*options, program, [options] { run_command(*options); });
    });
}

}  // namespace cachetally::app
