// cachetally sweep: counters x granularity x eviction on one link, all from one pass over the references.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/commands.hpp"
#include "app/input.hpp"
#include "app/paper2002.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "monitor/sweep.hpp"

namespace cachetally::app {
namespace {

struct Options {
    std::string source;
    std::vector<std::string> settings;
    TraceChoice choice;
    SimulationOptions simulation;
    OutputOptions output;
    std::string counters = "16,32,64,128";
    std::string granularity = "1-6";
    std::string eviction = "fifo";
    std::string link;
    std::string monitor;
    std::string preset;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t comma; (comma = text.find(',', from)) != std::string::npos; from = comma + 1)
        parts.push_back(text.substr(from, comma - from));
    parts.push_back(text.substr(from));
    return parts;
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

std::vector<std::uint32_t> parse_counters(const std::string& text) {
    std::vector<std::uint32_t> counters;
    for (const std::string& part : split(text)) {
        const auto value = number(part);
        if (!value)
            throw UsageError(
                fmt::format("'--counters {}': '{}' is not a number of counters; write e.g. 16,32,64", text, part));
        counters.push_back(*value);
    }
    return counters;
}

/// "1-6", "1,2,dynamic:4".
std::vector<Granularity> parse_granularities(const std::string& text) {
    std::vector<Granularity> granularities;
    for (const std::string& part : split(text)) {
        const auto dash = part.find('-');
        const auto first = dash == std::string::npos ? std::nullopt : number(std::string_view(part).substr(0, dash));
        const auto last = dash == std::string::npos ? std::nullopt : number(std::string_view(part).substr(dash + 1));
        if (!first || !last) {
            granularities.push_back(parse_granularity(part));
            continue;
        }
        if (*first > *last || *last - *first > 1000)
            throw UsageError(fmt::format("'--granularity {}': '{}' is not an ascending range", text, part));
        for (std::uint32_t lines = *first; lines <= *last; ++lines)
            granularities.push_back({Granularity::Mode::aligned, lines});
    }
    return granularities;
}

/// The experiment of Schulz et al. 2002, section 4.4; docs/reproduction.md tells which of these choices are ours.
void apply_preset(Options& options) {
    if (options.preset.empty()) return;
    if (options.preset != "paper-2002")
        throw UsageError(fmt::format("there is no preset '{}'; known are: paper-2002", options.preset));
    if (options.source != "lu")
        throw UsageError("the preset paper-2002 is of the kernel lu: cachetally sweep lu --preset paper-2002");
    options.simulation.machine = "schulz2002";
    if (options.monitor.empty()) options.monitor = "barriers=off";
}

MonitorSpec base_of(const Options& options, const Topology& topology) {
    MonitorSpec spec = options.monitor.empty() ? MonitorSpec{} : parse_monitor(options.monitor + ",link=core");
    spec.link = options.link.empty() ? topology.links()[topology.core_link(false)].name : options.link;
    return completed(spec, topology);
}

/// A cell beside what the paper gives for it.
SweepCell cell_of(const SweepRow& row, bool beside_paper) {
    SweepCell cell{std::string(to_string(row.eviction)),
                   to_string(row.granularity),
                   row.counters,
                   row.swapouts,
                   row.error,
                   row.bytes_per_event,
                   {}};
    const bool lines = row.granularity.mode == Granularity::Mode::aligned;
    if (const auto figures = published(row.counters, row.granularity.amount); beside_paper && lines && figures)
        cell.published = PublishedFigures{figures->swapouts, figures->error / 100, figures->misprint};
    return cell;
}

struct Result {
    RunResult run;
    SweepView view;
    Histogram exact;
    std::vector<Region> regions;
};

Result sweep(const Options& options, const Topology& topology, const Input& input) {
    SweepSpec spec{
        base_of(options, topology), parse_counters(options.counters), parse_granularities(options.granularity), {}};
    for (const std::string& name : split(options.eviction)) spec.evictions.push_back(parse_eviction(name));
    Hierarchy hierarchy(topology);
    const std::size_t link = topology.link(spec.base.link);
    std::vector<std::unique_ptr<Sweep>> sweeps;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        sweeps.push_back(std::make_unique<Sweep>(spec, copy));
        hierarchy.listen(link, copy, *sweeps.back());
    }
    Result result;
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
    result.view.title = title_of(topology, input, result.run, options.simulation.max_references);
    result.view.link = spec.base.link;
    result.view.monitor = to_string(spec.base);
    result.view.references = result.run.counts.references;
    result.view.events = result.exact.total();
    const AddressMap map = [&](Address address) { return hierarchy.virtual_address(address); };
    for (const SweepRow& row : sweep_rows(finished, ranges_of(data_of(result.regions)),
                                          topology.machine().pages.mapping == Mapping::identity ? AddressMap() : map))
        result.view.cells.push_back(cell_of(row, !options.preset.empty()));
    return result;
}

void run_command(Options options) {
    apply_preset(options);
    const Topology topology = topology_of(options.simulation);
    const Input input = open_input(options.source, options.settings, options.choice);
    check_cores(input, topology);
    const std::unique_ptr<ResultFile> file = open_output(options.output, input);
    const Result result = sweep(options, topology, input);
    clear_progress_line();
    if (options.simulation.json) {
        fmt::print("{}\n", to_json(result.view).dump(2));
    } else {
        fmt::print("{}", to_text(result.view, terminal_width()));
    }
    if (file) {
        write_sweep_result(file->root(), topology, result.view, result.exact, result.regions);
        write_provenance_of(file->root(), topology, input);
        close_output(file.get(), result.view.title);
    }
    refuse_incomplete(result.run, result.view.title, file.get());
}

}  // namespace

void add_sweep(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Trade counters, granularity and eviction against accuracy and traffic, in one pass");
    command
        ->add_option("WORKLOAD", options->source,
                     "A kernel (cachetally workload list) or a trace file; - for a trace on standard input")
        ->required();
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    command->add_option("--counters", options->counters, "Numbers of counters")->capture_default_str();
    command
        ->add_option("--granularity", options->granularity,
                     "Granularities: lines per counter, ranges, dynamic:N, mask:BITS")
        ->capture_default_str();
    command->add_option("--eviction", options->eviction, "Eviction policies: fifo, lru, random, clock, lfu, clear_all")
        ->capture_default_str();
    command->add_option("--link", options->link, "The link; default: the one that data references leave the core by");
    command->add_option("--monitor", options->monitor,
                        "What all cells have in common, as in width=8,kinds=load (docs/monitors.md)");
    command->add_option("--preset", options->preset,
                        "paper-2002: the experiment of Schulz et al. 2002, Table 2, beside the published figures");
    command->add_option("-m,--machine", options->simulation.machine, "A built-in machine or a machine file")
        ->capture_default_str();
    command->add_option("--cores", options->simulation.cores, "Cores, in place of what the machine says")
        ->check(CLI::Range(1, 256));
    command->add_option("--max-references", options->simulation.max_references, "Stop after so many references")
        ->check(CLI::NonNegativeNumber);
    add_trace_options(*command, options->choice);
    add_output_options(*command, options->output);
    command->add_flag("--json", options->simulation.json, "Print JSON");
    command->footer(
        "Examples:\n"
        "  cachetally sweep lu --preset paper-2002\n"
        "  cachetally sweep gzip.ct.h5 --counters 32,64,128 --granularity 1,2,dynamic:4 --eviction fifo,lru");
    command->callback([options] { run_command(*options); });
}

}  // namespace cachetally::app
