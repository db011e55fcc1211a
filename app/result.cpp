// SPDX-License-Identifier: BSD-3-Clause
// From an input to what the user sees of it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "app/checks.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "storage/file.hpp"
#include "viewer/core/scale.hpp"
#include "workloads/kernels/source.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::app {
namespace {

std::uint64_t seed_of(const std::string& workload, const std::vector<std::string>& settings) {
    std::string seed;
    for (const WorkloadInfo& info : workload_list())
        for (const WorkloadOption& option : info.options)
            if (info.name == workload && option.name == "seed") seed = option.initial;
    for (const std::string& setting : settings)
        if (setting.starts_with("seed=")) seed = setting.substr(5);
    return seed.empty() ? 0 : std::stoull(seed);
}

/// Says on a terminal that a file is being written, as long as it is: large histograms take some seconds.
class WritingNote {
public:
    explicit WritingNote(const std::string& path) {
        if (isatty(STDERR_FILENO) == 0) return;
        std::fflush(stdout);
        on_progress_line(fmt::format("writing {} ...", path));
    }
    WritingNote(const WritingNote&) = delete;
    WritingNote& operator=(const WritingNote&) = delete;
    ~WritingNote() { clear_progress_line(); }
};

/// Pictures have at most 256 rows; counts of each of very many phases make files large, and readers slow.
void warn_of_many_phases(std::uint64_t phase_every, const RunResult& run) {
    constexpr std::size_t many = 4096, enough = most_heat_rows;
    if (phase_every == 0 || run.phases.size() <= many) return;
    std::uint64_t better = 1;
    while (run.counts.references / better > enough) better *= 10;
    to_stderr(
        fmt::format("cachetally: warning: {} phases make files large and pages slow, and pictures show {} rows; "
                    "with --phase-every {} there are about {}\n",
                    with_separators(run.phases.size()), enough, better,
                    with_separators((run.counts.references + better - 1) / better)));
}

}  // namespace

Input kernel_input(const std::string& name, const std::vector<std::string>& settings) {
    auto source = std::make_unique<WorkloadSource>(make_workload(name, settings));
    const auto check = [kernel = source.get()]() -> std::optional<Check> {
        if (!kernel->ended()) return std::nullopt;
        const KernelCheck verdict = kernel->workload().check();
        return Check{verdict.passed(), verdict.meaning, verdict.residual, verdict.bound};
    };
    Input input;
    input.name = name;
    input.settings = settings;
    input.seed = seed_of(name, settings);
    input.source = std::move(source);
    input.check = check;
    return input;
}

InputNames inputs_of(const Input& input, const SimulationOptions& options) {
    const bool from_pipe = input.trace_file.empty() && input.notes != nullptr;
    return {from_pipe ? "-" : input.trace_file, options.machine};
}

void close_output(ResultFile* file, const RunTitle& title) {
    if (file == nullptr) return;
    if (title.complete) {
        file->finish();
    } else {
        file->keep_partial(title.incomplete);
    }
}

void refuse_incomplete(const RunResult& run, const RunTitle& title, const ResultFile* file) {
    if (run.complete) return;
    throw std::runtime_error(
        fmt::format("{}: what is printed{} covers the references made until then", title.incomplete,
                    file == nullptr ? "" : fmt::format(" and kept in {} (marked partial)", file->path())));
}

void simulate_and_report(Input input, const SimulationOptions& options, const OutputOptions& output) {
    const Topology topology = topology_of(options);
    const std::vector<MonitorSpec> monitors = monitors_of(options, topology);
    check_cores(input, topology, options.monitors.empty() ? std::vector<MonitorSpec>() : monitors);
    warn_of_one_stream(input, topology, options.cores);
    std::vector<ListenerSpec> listeners;
    for (const std::string& text : options.listeners) listeners.push_back(parse_listener(text));
    const RunOptions run = run_options(options, *input.source);
    const bool attributes = options.attribution && input.source->sites() != nullptr;
    if (!attributes && (options.cycles || options.used_bytes))
        throw UsageError(fmt::format(
            "--cycles and --used-bytes are of programs and their recordings, and {} {}", shown(input.name),
            options.attribution ? "does not say which code makes its references" : "is run with --no-attribution"));
    const bool has_names = input.program != nullptr || input.source->sites() != nullptr;
    if (options.causes && has_names && !options.attribution)
        throw UsageError(
            "--causes of programs and their recordings are those of their code and data; leave --no-attribution out");
    const AttributionOptions attributed{options.cycles, options.used_bytes, options.per_core};
    ExactCounting counting{options.errors, options.errors && !output.file.empty(),
                           options.causes, attributes,
                           attributed,     std::move(listeners),
                           options.reuse};
    if (options.explain) {
        const Outcome planned = simulate(topology, monitors, *input.source, run, counting, {});
        if (options.json) return print_json({{"execution", planned.execution}});
        for (const std::string& text : planned.execution) print("{}\n", text);
        return;
    }
    const std::unique_ptr<ResultFile> file = open_output(output, inputs_of(input, options));
    const Outcome outcome =
        simulate(topology, monitors, *input.source, run, std::move(counting), host_of(options.host));
    clear_progress_line();
    if (options.causes && outcome.causes.empty() && outcome.attribution.caused.empty())
        to_stderr(
            "cachetally: --causes: nothing can be said of this machine and source (docs/causes.md, \"Limits\")\n");
    if (options.reuse && outcome.reuse.empty())
        to_stderr("cachetally: --reuse: the machine has no cache, so that there are no lines\n");
    const LevelsByLine levels = levels_by_line(topology, outcome);
    const RunView view = view_of(topology, input, outcome, levels, input.check ? input.check() : std::nullopt, options);
    if (options.json) {
        print_json(to_json(view));
    } else {
        TextOptions text;
        text.width = terminal_width();
        print_lines(to_text(view, text));
    }
    warn_of_many_phases(options.phase_every, outcome.run);
    if (file) {
        const WritingNote note(file->path());
        write_run_result(file->root(), topology, view, outcome, levels);
        write_provenance_of(file->root(), topology, std::span(&input, 1), outcome.execution);
        close_output(file.get(), view.title);
    }
    if (view.check && !view.check->passed) throw std::runtime_error(input.name + " computed a wrong result");
    report_end(input);
    refuse_incomplete(outcome.run, view.title, file.get());
}

}  // namespace cachetally::app
