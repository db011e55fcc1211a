// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: monitors of many kinds on some links and workloads, in as few runs as exactness allows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/sweep.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::app {
namespace {

/// The experiment of Schulz et al. 2002, section 4.4; docs/reproduction.md says which of these choices are ours.
void apply_preset(SweepOptions& options) {
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
    constexpr std::string_view possible[] = {
        "WORKLOAD", "--preset",          "--counters",  "--granularity", "--output", "--force",
        "--json",   "--folder",          "--jobs",      "--shard",       "--slurm",  "--dry-run",
        "--tasks",  "--points-per-task", "--partition", "--time",        "--memory", "--sbatch"};
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

/// Equal texts are equal references.
std::string identity_of(const SweepSource& source) {
    std::error_code absent;
    const auto path = std::filesystem::canonical(source.name, absent);
    if (!absent) return path.string();
    return is_kernel(source.name) ? settled_options(source.name, source.settings) : source.name;
}

std::vector<SweepSource> sources_of(const SweepOptions& options) {
    std::vector<SweepSource> sources;
    if (!options.source.empty()) sources.push_back({options.source, options.settings, {}});
    for (const std::string& text : options.workloads) {
        SweepSource source = parse_source(text);
        for (const SweepSource& each : sources)
            if (identity_of(each) == identity_of(source))
                throw UsageError("--workload '{}' is swept already, as '{}'; keep one", shown(text),
                                 shown(fmt::format("{}{}{}", each.name, each.settings.empty() ? "" : ",",
                                                   fmt::join(each.settings, ","))));
        sources.push_back(std::move(source));
    }
    if (sources.empty())
        throw UsageError(
            "WORKLOAD is required: name a kernel or a trace, or several by --workload, as in --workload "
            "lu,n=64 --workload t.ct.h5");
    return sources;
}

/// "lu n=64"; traces by their file's name, or the whole path where there are two of that name.
std::string name_of(const SweepSource& source, const RunTitle& title, const std::vector<SweepSource>& sources) {
    std::string name =
        fmt::format("{}{}{}", title.input, title.settings.empty() ? "" : " ", fmt::join(title.settings, " "));
    return std::ranges::find(sources, name, &SweepSource::title) == sources.end() ? name : source.name;
}

/// Opens all, and names them as results do.
std::vector<Input> open_sources(std::vector<SweepSource>& sources, const SweepOptions& options,
                                const Topology& topology, const SweepPlan& plan) {
    std::vector<Input> inputs;
    std::vector<MonitorSpec> monitors;
    for (const SweepVariant& variant : plan.variants) monitors.push_back(variant.base);
    for (SweepSource& source : sources) {
        if (options.slowdown || !options.work.folder.empty()) refuse_second_reading(source.name);
        inputs.push_back(open_input(source.name, source.settings, options.choice));
        check_cores(inputs.back(), topology, monitors);
        warn_of_one_stream(inputs.back(), topology, options.simulation.cores);
        source.title = name_of(source, title_of(topology, inputs.back(), {}, options.simulation), sources);
    }
    return inputs;
}

void run_command(const SweepOptions& given) {
    SweepOptions options = given;
    apply_preset(options);
    const Topology topology = topology_of(options.simulation);
    const SweepPlan plan = plan_of(options, topology);
    for (const std::string& each : plan.left_out) to_stderr("cachetally: warning: " + each + '\n');
    SweepView view = begun_view(options, plan);
    std::vector<SweepSource> sources = sources_of(options);
    const std::vector<Input> inputs = open_sources(sources, options, topology, plan);
    if (!options.work.folder.empty()) return begin_campaign(sweep_manifest(options, sources, topology), options.work);
    InputNames names;
    for (const Input& input : inputs)
        for (const std::string& name : inputs_of(input, options.simulation)) names.push_back(name);
    const std::unique_ptr<ResultFile> file = open_output(options.output, names);
    std::optional<SweptWorkload> first;
    std::string missing;
    RunResult last;
    std::size_t begun = 0;
    const auto goes_on = [&] { return begun == 0 || (missing.empty() && last.complete && !interrupted()); };
    for (; begun < sources.size() && goes_on(); ++begun) {
        SweptWorkload swept = sweep_workload(sources[begun], inputs[begun], plan, options, topology);
        add_workload(view, view_of(swept), sources[begun].title);
        missing = swept.missing;
        last = swept.run;
        if (!first) first = std::move(swept);
    }
    std::vector<std::string> others;
    for (const SweepSource& source : std::span(sources).subspan(begun)) others.push_back(source.title);
    if (!others.empty()) add_missing(view.title, fmt::format("not begun: {}", fmt::join(others, ", ")));
    if (!others.empty() && missing.empty() && last.complete) missing = "interrupted between workloads";
    if (options.simulation.json)
        print_json(to_json(view));
    else
        print_lines(to_text(view, terminal_width()));
    if (file) {
        write_sweep_of(file->root(), topology, view, sources.size() == 1 ? &*first : nullptr, plan);
        write_provenance_of(file->root(), topology, inputs);
        close_output(file.get(), view.title);
    }
    refuse_incomplete(last, view.title, file.get());
    if (!missing.empty())
        throw std::runtime_error(fmt::format("{}: the {} of the other cells is not known{}", missing,
                                             options.slowdown ? "slowdown" : "count",
                                             file ? fmt::format("; {} is marked partial", file->path()) : ""));
}

/// The settings that cells are made of.
void add_cell_options(CLI::App& command, SweepOptions& options) {
    command.add_option("--counters", options.counters, "Numbers of counters")
        ->type_name("N,N-N...")
        ->capture_default_str();
    command
        .add_option("--granularity", options.granularity,
                    "Granularities: lines per counter, ranges, dynamic:N, mask:BITS")
        ->type_name("G,G-G...")
        ->capture_default_str();
    command
        .add_option("--eviction", options.eviction,
                    fmt::format("Eviction policies: {}", fmt::join(eviction_names(), ", ")))
        ->type_name("NAME,NAME...")
        ->capture_default_str();
    add_text_option(command, "--vary", options.vary,
                    "Any other key of monitors and its values, as in ways=0,4,8 or width=4-8 or "
                    "drain=full,watermark:64,periodic:10000; may be repeated: all combinations",
                    "KEY=VALUE,VALUE...", "a key and its values, as in ways=0,4")
        ->allow_extra_args(false);
    add_text_option(command, "--link", options.links,
                    "The links, as in core-L1D,L1D-L2; default: the one that data references leave the core by",
                    "NAME,NAME...", "the name of a link");
    command
        .add_option("--monitor", options.monitor,
                    "What all cells have in common, as in width=8,kinds=load (docs/monitors.md)")
        ->type_name("SPEC")
        ->check(not_empty("settings, as in width=8"));
}

}  // namespace

void add_sweep(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<SweepOptions>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Trade counters, granularity, eviction and all else of monitors against accuracy, traffic and time");
    add_text_option(*command, "--workload", options->workloads,
                    "A kernel with its options, as in lu,n=64, or a trace; may be repeated", "WORKLOAD[,OPTION...]",
                    "a kernel or a trace, as in lu,n=64")
        ->allow_extra_args(false);
    add_cell_options(*command, *options);
    command
        ->add_option("--preset", options->preset,
                     "paper-2002: the experiment of Schulz et al. 2002, Table 2, beside the published figures. Of "
                     "the other options, only --counters, --granularity and those of output can stand beside it")
        ->type_name("NAME")
        ->check(not_empty("the name of a preset: paper-2002"));
    command->add_flag("--slowdown", options->slowdown,
                      "Also run the program with the monitor of each cell, and report by how much that takes longer "
                      "(docs/intrusion.md)");
    add_choice_options(*command, options->choice_of_cells);
    add_workload_options(*command, *options, true);  // where --workload names all, there is no other
    add_output_options(*command, options->output, "a row per cell");
    add_work_options(*command, options->work);
    add_text_option(*command, "--folder", options->work.folder,
                    "Sweep as a campaign, whose bundles are the workloads: results gather in this folder, 'campaign "
                    "resume' goes on (docs/campaigns.md)",
                    "FOLDER", "the name of a folder");
    add_slurm_options(*command, options->work);
    for (const char* name : {"--jobs", "--shard", "--slurm", "--dry-run"}) {
        CLI::Option* option = command->get_option(name);
        option->description("With --folder: " + option->get_description());
    }
    command->footer(
        "Examples:\n"
        "  cachetally sweep lu --preset paper-2002\n"
        "  cachetally sweep gzip.ct.h5 --counters 32,64,128 --granularity 1,2,dynamic:4 --eviction fifo,lru\n"
        "  cachetally sweep lu -m generic3-timed --slowdown --monitor drain_cost=20 -o lu.h5\n"
        "  cachetally sweep --workload lu,n=64 --workload radix,keys=4K --link core-L1D,L1D-L2 --vary ways=0,4 \\\n"
        "      --objectives error,bits --where \"error<5\"");
    command->callback([options, command, &program] {
        check_beside_preset(*command);
        check_beside_folder(
            *command, options->work.folder, {"--jobs", "--shard", "--slurm", "--dry-run"},
            {"--output", "--force", "--json", "--trust", "--from", "--skip", "--map", "--structures", "--symbols"});
        if (!options->work.folder.empty() && !program.empty())
            throw UsageError(
                "a program cannot be swept as a campaign: record it (cachetally record), and name the trace");
        with_recording(*options, program, [options] { run_command(*options); });
    });
}

}  // namespace cachetally::app
