// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: monitors of many kinds on some links and workloads, in as few runs as exactness allows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/swept.hpp"
#include "app/terminal.hpp"

namespace cachetally::app {
namespace {

struct Options : WorkloadOptions {
    OutputOptions output;
    std::vector<std::string> workloads;
    std::string counters = "16,32,64,128";
    std::string granularity = "1-6";
    std::string eviction = "fifo";
    std::string links;
    std::string monitor;
    std::vector<std::string> vary;
    std::string preset;
    bool slowdown = false;
    ChoiceTexts choice_of_cells;
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
    {"link", "write --link NAME,NAME"},
    {"name", "a sweep has no single monitors"},
    {"counters", "a sweep varies it: write --counters 16,32"},
    {"granularity", "a sweep varies it: write --granularity 1-4"},
    {"eviction", "a sweep varies it: write --eviction fifo,lru"},
};

SweepPlan plan_of(const Options& options, const Topology& topology) {
    SweepPlan plan;
    const std::vector<std::uint32_t> counters = parse_counters(options.counters);
    const std::vector<Granularity> granularities = parse_granularities(options.granularity);
    const std::vector<Eviction> evictions = parse_evictions(options.eviction);
    plan.slowdown = options.slowdown;
    plan.beside_paper = !options.preset.empty();
    MonitorSpec start;
    start.counters = counters.front();
    start.granularity = granularities.front();
    const std::vector<std::string> links =
        options.links.empty() ? std::vector<std::string>{topology.links()[topology.core_link(false)].name}
                              : parse_links(options.links);
    for (const std::string& link : links)
        for (const std::string& settings : combinations(options.vary)) {
            const std::string both =
                options.monitor + (options.monitor.empty() || settings.empty() ? "" : ",") + settings;
            MonitorSpec spec = parse_common(both, varied_by_sweeps, {}, start);
            spec.link = link;
            plan.variants.push_back(
                {completed(placed({spec}, topology).front(), topology), settings, counters, granularities, evictions});
        }
    return plan;
}

/// What is swept, each once.
std::vector<SweepSource> sources_of(const Options& options) {
    std::vector<SweepSource> sources;
    if (!options.source.empty()) sources.push_back({options.source, options.settings, {}});
    for (const std::string& text : options.workloads) {
        SweepSource source = parse_source(text);
        const auto same = [&](const SweepSource& each) {
            return each.name == source.name && each.settings == source.settings;
        };
        if (std::ranges::none_of(sources, same)) sources.push_back(std::move(source));
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

/// One workload more.
void add(SweepView& view, const SweptWorkload& swept, const std::string& name) {
    if (view.cells.empty() && view.references == 0) {
        view.title = swept.title;
        view.runs = 0;
    } else {
        view.title.input = fmt::format(
            "{}, {}",
            view.title.settings.empty() ? view.title.input
                                        : fmt::format("{} {}", view.title.input, fmt::join(view.title.settings, " ")),
            name);
        view.title.settings.clear();
        view.title.lines.reset();
        if (!swept.title.complete) add_missing(view.title, name + ": " + swept.title.incomplete);
        if (view.title.failure.empty()) view.title.failure = swept.title.failure;
    }
    view.references += swept.run.counts.references;
    view.runs += swept.runs;
    view.cells.insert(view.cells.end(), swept.cells.begin(), swept.cells.end());
}

void write_file(ResultFile& file, const Topology& topology, const SweepView& view, const SweptWorkload& first,
                const Input& input, const SweepPlan& plan, bool one_workload) {
    std::optional<SweptEvents> events;
    if (one_workload && plan.variants.size() == 1 && first.exact)
        events.emplace(SweptEvents{*first.exact, first.program_addresses});
    write_sweep_result(file.root(), topology, view, events ? &*events : nullptr,
                       one_workload ? first.regions : std::vector<Region>());
    write_provenance_of(file.root(), topology, input);
    close_output(&file, view.title);
}

void run_command(const Options& given) {
    Options options = given;
    apply_preset(options);
    const Topology topology = topology_of(options.simulation);
    const SweepPlan plan = plan_of(options, topology);
    SweepView view;
    view.choice = choice_of(options.choice_of_cells);
    view.timed = options.slowdown;
    view.link = fmt::format(
        "{}", fmt::join(parse_links(options.links.empty() ? plan.variants[0].base.link : options.links), ","));
    view.monitor = to_string(plan.variants[0].base);
    std::vector<SweepSource> sources = sources_of(options);
    std::vector<Input> inputs;
    InputNames names;
    for (SweepSource& source : sources) {
        if (options.slowdown) refuse_second_reading(source.name);
        inputs.push_back(open_input(source.name, source.settings, options.choice));
        const Input& input = inputs.back();
        check_cores(input, topology);
        warn_of_one_stream(input, topology);
        source.title = name_of(source, title_of(topology, input, {}, options.simulation), sources);
        for (const std::string& name : inputs_of(input, options.simulation)) names.push_back(name);
    }
    const std::unique_ptr<ResultFile> file = open_output(options.output, names);
    std::optional<SweptWorkload> first;
    std::string missing;
    RunResult last;
    for (std::size_t i = 0; i < sources.size() && missing.empty() && (i == 0 || last.complete); ++i) {
        SweptWorkload swept = sweep_workload(sources[i], inputs[i], plan, options, topology);
        add(view, swept, sources[i].title);
        missing = swept.missing;
        last = swept.run;
        if (swept.unknown != 0) view.slowdown_unknown = why_unknown(swept.unknown);
        if (!first) first = std::move(swept);
    }
    for (const auto& field : fields_of(view.cells)) view.events += field[0].events;
    if (options.simulation.json) {
        print_json(to_json(view));
    } else {
        print_lines(to_text(view, terminal_width()));
    }
    if (file) write_file(*file, topology, view, *first, inputs.front(), plan, sources.size() == 1);
    refuse_incomplete(last, view.title, file.get());
    if (!missing.empty())
        throw std::runtime_error(fmt::format("{}: the {} of the other cells is not known{}", missing,
                                             options.slowdown ? "slowdown" : "count",
                                             file ? fmt::format("; {} is marked partial", file->path()) : ""));
}

}  // namespace

void add_sweep(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Trade counters, granularity, eviction and all else of monitors against accuracy, traffic and time");
    add_text_option(*command, "--workload", options->workloads,
                    "A kernel with its options, as in lu,n=64, or a trace; may be repeated", "WORKLOAD[,OPTION...]",
                    "a kernel or a trace, as in lu,n=64")
        ->allow_extra_args(false);
    command->add_option("--counters", options->counters, "Numbers of counters")
        ->type_name("N,N-N...")
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
    add_text_option(*command, "--vary", options->vary,
                    "Any other key of monitors and its values, as in ways=0,4,8 or width=4-8 or "
                    "drain=full,watermark:64,periodic:10000; may be repeated: all combinations",
                    "KEY=VALUE,VALUE...", "a key and its values, as in ways=0,4")
        ->allow_extra_args(false);
    add_text_option(*command, "--link", options->links,
                    "The links, as in core-L1D,L1D-L2; default: the one that data references leave the core by",
                    "NAME,NAME...", "the name of a link");
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
                      "(docs/intrusion.md)");
    add_choice_options(*command, options->choice_of_cells);
    add_workload_options(*command, *options, true);  // where --workload names all, there is no other
    add_output_options(*command, options->output, "a row per cell");
    command->footer(
        "Examples:\n"
        "  cachetally sweep lu --preset paper-2002\n"
        "  cachetally sweep gzip.ct.h5 --counters 32,64,128 --granularity 1,2,dynamic:4 --eviction fifo,lru\n"
        "  cachetally sweep lu -m generic3-timed --slowdown --monitor drain_cost=20 -o lu.h5\n"
        "  cachetally sweep --workload lu,n=64 --workload radix,keys=4K --link core-L1D,L1D-L2 --vary ways=0,4 \\\n"
        "      --objectives error,bits --where \"error<5\"");
    command->callback([options, command, &program] {
        check_beside_preset(*command);
        with_recording(*options, program, [options] { run_command(*options); });
    });
}

}  // namespace cachetally::app
