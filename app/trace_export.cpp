// SPDX-License-Identifier: BSD-3-Clause
// cachetally trace export: traces, or the requests on a link, in formats of other tools.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/input.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "workloads/traces/export.hpp"

namespace cachetally::app {
namespace {

struct ExportCommand {
    std::string input, output, format, link;
    std::vector<std::string> settings;
    TraceChoice choice;
    SimulationOptions simulation;
    std::uint64_t megahertz = 0;  ///< of the cycles of requests; 0: as the machine
    int core = -1;                ///< the stream alone that is written; -1: all
    bool force = false;
};

/// Lets one stream of several through.
class OneStream final : public TraceSink {
public:
    OneStream(TraceSink& sink, unsigned core) : sink_(sink), core_(core) {}
    using TraceSink::append;
    void append(unsigned core, std::span<const Reference> references) override {
        if (core != core_) return;
        sink_.append(0, references);
        written_ += references.size();
    }
    std::uint64_t written() const { return written_; }

private:
    TraceSink& sink_;
    unsigned core_;
    std::uint64_t written_ = 0;
};

template <class Format>
const Format* find_format(std::span<const Format> formats, const std::string& name) {
    const auto found = std::ranges::find(formats, name, &Format::name);
    return found == formats.end() ? nullptr : &*found;
}

std::vector<std::string> export_names() {
    std::vector<std::string> names;
    for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
    for (const RequestFormat& format : request_formats()) names.emplace_back(format.name);
    return names;
}

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// What was written, by name: on standard error where the file is standard output.
void print_written(const ExportCommand& command, const Counts& counts) {
    if (command.simulation.json) {
        Json json = {{"output", command.output}, {"format", command.format}};
        for (const auto& [name, count] : counts) json[name + "s"] = count;
        print_json(json);
        return;
    }
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(numbered(count, name));
    const bool piped = command.output == "-";
    const std::string line =
        fmt::format("{}: {}\n", piped ? "standard output" : shown(command.output), fmt::join(parts, " and "));
    piped ? to_stderr(line) : print_lines(line);
}

void export_trace(const ExportCommand& command, const ExportFormat& format, const Input& input) {
    const unsigned streams = input.source->cores();
    if (command.core >= 0 && static_cast<unsigned>(command.core) >= streams)
        throw UsageError("'--core {}': '{}' has {}, numbered from 0", command.core, input.name,
                         numbered(streams, "stream"));
    if (command.core < 0 && streams > 1 && !format.has_threads)
        throw UsageError("'{}' has {} streams, and {} files have one; name the stream: --core 0 to --core {}",
                         input.name, streams, format.name, streams - 1);
    ExportFile file(command.output, command.force ? Existing::overwrite : Existing::refuse);
    const std::unique_ptr<Exporter> exporter = format.make(file);
    ConvertOptions options;
    options.data_only = command.choice.data_only;
    options.max_references = command.simulation.max_references;
    options.progress = progress_line(*input.source, options.max_references);
    OneStream one(*exporter, static_cast<unsigned>(std::max(command.core, 0)));
    TraceSink& sink = command.core < 0 ? static_cast<TraceSink&>(*exporter) : one;
    const ConvertResult result = convert(*input.source, sink, options);
    clear_progress_line();
    if (result.interrupted) throw std::runtime_error("interrupted; nothing was written");
    exporter->finish();
    file.finish();
    print_written(command, {{"reference", command.core < 0 ? result.references : one.written()}});
}

void export_requests(const ExportCommand& command, const RequestFormat& format, const Input& input) {
    const Topology topology = topology_of(command.simulation);
    check_cores(input, topology);
    warn_of_one_stream(input, topology);
    const std::size_t link = topology.link(command.link);
    Hierarchy hierarchy(topology);
    ExportFile file(command.output, command.force ? Existing::overwrite : Existing::refuse);
    const Tick period = command.megahertz == 0 ? topology.machine().period : 1'000'000 / command.megahertz;
    RequestExporter exporter(file, format, period);
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) hierarchy.listen(link, copy, exporter);
    const RunResult result = run(hierarchy, *input.source, run_options(command.simulation, *input.source));
    clear_progress_line();
    if (!result.complete)
        throw std::runtime_error(
            fmt::format("{}; nothing was written", result.failure.empty() ? "interrupted" : result.failure));
    file.finish();
    print_written(command, {{"read", exporter.reads()}, {"write", exporter.writes()}});
}

void run_export(const ExportCommand& command) {
    const auto* const format = find_format(export_formats(), command.format);
    const auto* const requests = find_format(request_formats(), command.format);
    if (requests != nullptr && command.link.empty())
        throw UsageError("--to {} takes the requests on a link; name it, as in --link L3-memory", requests->name);
    if (format != nullptr && !command.link.empty())
        throw UsageError("--link is for requests to memory (--to ramulator2, dramsim3); {} is a format of whole traces",
                         format->name);
    if (requests == nullptr && command.simulation.warmup != 0)
        throw UsageError("--warmup is for requests to memory: nothing is simulated where a whole trace is written");
    if (requests != nullptr && command.core >= 0)
        throw UsageError("--core is for formats of whole traces; requests are those of all cores");
    if (command.simulation.json && command.output == "-")
        throw UsageError("--json prints to standard output, where the trace goes; give the trace a file");
    check_output(command.output, {command.input, command.simulation.machine}, "");
    catch_interrupts();
    const Input input = open_input(command.input, command.settings, command.choice);
    if (requests != nullptr) {
        export_requests(command, *requests, input);
    } else {
        export_trace(command, *format, input);
    }
    if (!input.incomplete.empty())
        to_stderr("cachetally: warning: what was written is the beginning of the program alone\n");
}

}  // namespace

void add_trace_export(CLI::App& trace) {
    auto options = std::make_shared<ExportCommand>();
    CLI::App* command = trace.add_subcommand("export", "Write a trace, or the requests on a link, for other tools");
    command->add_option("IN", options->input, "A trace of any format, - for standard input, or a kernel")->required();
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    command->add_option("-o,--output", options->output, "The file that is written; - for standard output")
        ->required()
        ->check(not_empty("the name of a file"));
    command
        ->add_option("--to", options->format,
                     "What is written: din (Dinero), champsim (ChampSim), drmemtrace (DynamoRIO); of a link: "
                     "ramulator2, dramsim3 (docs/formats-of-others.md)")
        ->required()
        ->check(one_of(export_names()));
    add_trace_options(*command, options->choice);
    add_source_options(*command, options->choice.part);
    command->add_option("--core", options->core, "This stream alone, numbered from 0")
        ->transform(whole_number(0, 65535));
    command->add_option("--link", options->link, "The link whose requests are written, as in L3-memory")
        ->check(not_empty("the name of a link, as in L3-memory"));
    add_machine_options(*command, options->simulation);
    command
        ->add_option("--mhz", options->megahertz,
                     "Clock of the cycles that dramsim3 counts, in MHz; default: that of the machine")
        ->transform(whole_number(1, 100000));
    command->add_flag("-f,--force,--overwrite", options->force, "Replace the file where it exists");
    command->footer(
        "Examples:\n"
        "  cachetally trace export prog.ct.h5 -o prog.champsim --to champsim\n"
        "  cachetally trace export prog.ct.h5 -o - --to din --data-only | head\n"
        "  cachetally trace export radix keys=65536 -o radix.trace --to dramsim3 \\\n"
        "      --link L3-memory --machine generic3 --mhz 1600");
    command->callback([options] { run_export(*options); });
}

}  // namespace cachetally::app
