// SPDX-License-Identifier: BSD-3-Clause
// cachetally probe: the tests of the literature on a simulated machine, found beside true, or on this one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/fitted.hpp"
#include "app/noise.hpp"
#include "app/probe_options.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "probes/probe_file.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/recording/recorder.hpp"
#include "probes/suite.hpp"
#include "probes/targets/native.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/stated_sharing.hpp"
#include "probes/validation/truth.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "viewer/probe_text.hpp"
#include "viewer/savings_text.hpp"

namespace cachetally::app {
namespace {

constexpr double native_seconds = 30;

SimulatedOptions simulated(const ProbeOptions& options) {
    SimulatedOptions chosen;
    chosen.recorded = options.recorded_noise;
    if (!chosen.recorded) chosen.noise = noise_named(options.noise);
    chosen.seed = options.seed;
    chosen.largest_arena = options.arena_mib << 20;
    chosen.no_events = options.no_events;
    if (options.small_pages) chosen.large_pages.clear();
    for (const PresetInfo& preset : machine_presets())
        if (preset.name == options.machine + "-fp") chosen.floating_point = load_machine(preset.name);
    return chosen;
}

const char incomplete[] = "interrupted before all tests were complete";

/// What a result file keeps besides the reports.
struct Kept {
    const Recording* recording = nullptr;
    std::vector<Fact> sharing = {};  ///< as the machine states it
    std::string missing = {};        ///< why not all tests were complete; empty if they were
};

/// If no test was complete, what was there before stays.
void write(std::unique_ptr<ResultFile>& file, const ProbeOptions& options, const Topology& topology,
           std::span<const TestReport> reports, const Kept& kept) {
    const std::string& missing = kept.missing;
    if (!missing.empty() && reports.empty()) file.reset();
    if (!file) return;
    RunTitle title;
    title.input = "probe";
    title.complete = missing.empty();
    title.incomplete = missing;
    {
        write_title(file->root(), "probe", topology, title);
        write_probe(file->root(), reports);
        write_stated_sharing(file->root(), kept.sharing);
        if (kept.recording != nullptr) write_recording(file->root(), *kept.recording);
        Provenance provenance = make_provenance(command_line());
        provenance.seed = options.seed;
        provenance.machine_name = topology.machine().name;
        provenance.machine_text = topology.machine().text;
        write_provenance(file->root(), provenance);
    }
    close_output(file.get(), title);
}

SuiteOptions suite_of(const ProbeOptions& options) {
    SuiteOptions suite;
    suite.tests = options.tests;
    suite.published = !options.robust_only;
    suite.robust = !options.published_only;
    suite.seed = options.orders.value_or(options.seed);
    suite.curves = !options.record.empty() || !options.write_machine.empty();
    suite.cheap = options.cheap;
    suite.budget.most_cycles = options.most_cycles.value_or(1e12);
    suite.budget.go_on = [] { return !interrupted(); };
    suite.sweep.sweep.knock_out = !options.no_knock_out;
    suite.sweep.sweep.revive = !options.no_revival;
    suite.sweep.sweep.stability = options.stability;
    suite.sweep.on_demand = !options.exhaustive;
    return suite;
}

void show_savings(const ProbeOptions& options, const Topology& topology) {
    catch_interrupts();
    const auto target = [&] { return std::make_unique<SimulatedTarget>(topology.machine(), simulated(options)); };
    try {
        const auto savings = measure_savings(target, suite_of(options), options.savings);
        if (options.json) return print_json(to_json(savings));
        print_lines(to_text(savings));
    } catch (const ProbingEnded&) {
        throw std::runtime_error("interrupted before all tests were complete: their costs are not reported");
    }
}

/// Machines that probes, or their noise, make one that is not possible.
void check_machine(const MachineDescription& machine, const ProbeOptions& options) {
    const SimulatedOptions chosen = simulated(options);
    std::uint64_t memory = 0;
    for (const MemoryConfig& each : machine.memories) memory = std::max(memory, each.size);
    for (const std::uint64_t page : chosen.large_pages)
        if (memory < page)
            throw UsageError(
                "probes are offered pages of {} besides those of '{}', whose memory has {}; give "
                "--small-pages, or the machine a memory of at least {}",
                format_size(page), shown(machine.name), format_size(memory), format_size(page));
    const unsigned cores = machine.cores + 1;
    if (chosen.noise.hog_loads > 0 && machine.cores == 1 && machine.period <= cores)
        throw UsageError(
            "--noise {} adds a second core, for which the clock of '{}' is too quick; write clock: {} at most, or "
            "another --noise",
            options.noise, shown(machine.name), format_frequency(cores + 1));
}

/// What tests find on a target, and what is kept of it.
struct Probed {
    std::vector<TestReport> reports;
    std::optional<Recording> recording;
};

Recording read_recording_of(const ProbeOptions& options) {
    require_present(options.replay);
    const InputFile file(options.replay);
    if (!has_recording(file.root()))
        throw UsageError("--replay {}: it holds no recording; make one with probe --record FILE.h5", options.replay);
    Recording recording = read_recording(file.root());
    recording.sharing = read_stated_sharing(file.root());
    return recording;
}

/// The tests that were recorded, or those of them that are named.
SuiteOptions suite_of(const ProbeOptions& options, const Recording& recording) {
    SuiteOptions suite = recording.suite;
    if (!options.tests.empty()) suite.tests = options.tests;
    if (options.published_only || options.robust_only) {
        suite.published = !options.robust_only;
        suite.robust = !options.published_only;
    }
    suite.budget.go_on = [] { return !interrupted(); };
    return suite;
}

/// The recorded strings on another target; then tests, as if they had asked for them.
Probed replay_on(ProbeTarget& target, const std::string& name, const ProbeOptions& options) {
    const Recording recorded = read_recording_of(options);
    SuiteOptions suite = suite_of(options, recorded);
    // Other tests choose their strings by what they find, which is something else on another machine.
    const bool has_curves = suite.curves || std::ranges::count(suite.tests, "response") != 0;
    if (options.tests.empty() && has_curves && recorded.target != name) suite.tests = {"response"};
    target.keep_to({.most_cycles = 1e15, .go_on = suite.budget.go_on});
    Probed probed;
    RecordedTarget again(rerun(recorded, target, name), {options.replay, recorded.target});
    probed.recording = again.recording();
    probed.recording->suite = recorded.suite;
    probed.reports = run_suite(again, suite);
    return probed;
}

Probed probe_target(ProbeTarget& target, const std::string& name, const ProbeOptions& options,
                    const SuiteOptions& suite) {
    if (!options.replay.empty()) return replay_on(target, name, options);
    if (options.record.empty() && options.write_machine.empty()) return {run_suite(target, suite), std::nullopt};
    Recorder recorder(target, name);
    Probed probed{run_suite(recorder, suite), std::nullopt};
    probed.recording = recorder.recording();
    probed.recording->suite = suite;
    return probed;
}

/// Where memory is full, what may be had of it is too much.
Probed probe_simulated(SimulatedTarget& target, const std::string& name, const SuiteOptions& suite,
                       const ProbeOptions& options) {
    try {
        return probe_target(target, name, options, suite);
    } catch (const MemoryFull&) {
        throw UsageError(
            "--arena {}: the memory of the machine has no frames for so many MiB{}; write a smaller --arena{}, or give "
            "the machine more memory",
            options.arena_mib, options.noise == "none" ? "" : " and those of --noise " + options.noise,
            options.small_pages ? "" : ", or --small-pages");
    }
}

/// What is printed with the findings.
struct Surroundings {
    std::string about;  ///< a line on the machine
    std::string left_out = {};
    std::string no_events = {};                             ///< why these were not counted
    const MachineDescription* stated = nullptr;             ///< what a real machine says of itself
    std::vector<Fact> sharing = {};                         ///< and of who shares its caches
    std::string missing = interrupted() ? incomplete : "";  ///< why not all tests were complete
};

/// Prints what was found.
void show(std::span<const TestReport> reports, const ProbeOptions& options, const Surroundings& around,
          const ResultFile* file) {
    if (options.json) {
        Json json = to_json(reports, around.missing);
        if (!around.no_events.empty()) json["no_events"] = around.no_events;
        if (!around.left_out.empty()) json["left_out"] = around.left_out;
        print_json(json);
    } else {
        print("{}\n", around.about);
        if (!around.no_events.empty()) print("no event counts: {}\n", around.no_events);
        if (!around.left_out.empty()) print("{}\n", around.left_out);
        print_lines('\n' + to_text(reports, terminal_width(), around.stated, around.sharing));
    }
    if (!around.missing.empty() && reports.empty())
        throw std::runtime_error(around.missing + "; none was, and nothing is kept");
    if (!around.missing.empty())
        throw std::runtime_error(
            fmt::format("{}: what is printed{} is of those that were", around.missing,
                        file != nullptr ? fmt::format(" and kept in {} (marked partial)", file->path()) : ""));
}

void probe(const ProbeOptions& options) {
    const SuiteOptions suite = suite_of(options);
    const std::string left_out = left_out_in_words(suite);
    const Topology topology(load_machine(options.machine));
    check_machine(topology.machine(), options);
    if (options.savings > 0) return show_savings(options, topology);
    SimulatedTarget target(topology.machine(), simulated(options));
    std::unique_ptr<ResultFile> file =
        open_output(options.output, {options.machine, options.replay, noise_file(options.noise)});
    catch_interrupts();
    const MachineDescription& machine = topology.machine();
    Probed probed = probe_simulated(target, machine.name, suite, options);
    std::vector<Fact> more;
    if (target.capabilities().floating_point) more.push_back({"L1", "fp_bypass", {0, "present"}, 0});
    const Evidence evidence = evidence_of(target.capabilities());
    for (TestReport& report : probed.reports) judge(report, machine, more, evidence);
    if (probed.recording) probed.recording->machine_text = machine.text;
    write(file, options, topology, probed.reports,
          {.recording = probed.recording ? &*probed.recording : nullptr, .missing = interrupted() ? incomplete : ""});
    std::string about = machine.name;
    if (!machine.description.empty()) about += ": " + folded(machine.description);
    if (!options.replay.empty()) about += "; the strings of " + options.replay;
    show(probed.reports, options, {.about = about, .left_out = options.replay.empty() ? left_out : ""}, file.get());
}

std::string counted_in_words(const Capabilities& can) {
    std::string text;
    if (can.cache_events > 0) text += " and misses of " + numbered(can.cache_events, "cache");
    if (can.tlb_events > 0) text += " and misses of " + numbered(can.tlb_events, "TLB");
    return text;
}

/// Writes a machine file fitted to what was measured.
void fit_native(const OutputOptions& output, const MachineDescription& stated, const Probed& probed) {
    const FittedTitle title{"fitted", "fitted to this machine's response curves", "cachetally probe --write-machine"};
    try {
        const FitResult result = fitted_to(probed.reports, &*probed.recording, stated, title);
        write_text_output(output, write_machine(result.machine));
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(fmt::format("no machine was written: {}", error.what()));
    }
}

/// The machine that the program runs on. Its file has what the machine says of itself, which is no truth to judge by.
void probe_native(const ProbeOptions& options) {
    SuiteOptions suite = suite_of(options);
    const std::string left_out = left_out_in_words(suite);
    NativeOptions native{options.arena_mib << 20, !options.small_pages, options.no_events};
    for (const std::string& event : options.raw_events) native.raw_events.push_back(raw_event_named(event));
    NativeTarget target(native);
    if (!options.most_cycles) suite.budget.most_cycles = native_seconds * target.frequency();
    const OutputOptions machine_file{options.write_machine, options.output.force};
    if (!machine_file.file.empty()) check_text_output(machine_file, {options.replay}, "a machine");
    OutputOptions output = options.output;
    output.force = output.force && (!output.file.empty() || machine_file.file.empty());  // else of that file alone
    std::unique_ptr<ResultFile> file = open_output(output, {options.replay});
    const bool needed = file || !machine_file.file.empty();
    std::optional<Topology> stated;
    try {
        stated.emplace(load_machine("host"));
    } catch (const std::exception&) {  // it says nothing of itself: then there is nothing to lay beside
        if (needed) throw;
    }
    catch_interrupts();
    Probed probed = probe_target(target, "native", options, suite);
    if (probed.recording) {
        probed.recording->frequency = target.frequency();
        if (stated) probed.recording->machine_text = stated->machine().text;
    }
    const Capabilities& can = target.capabilities();
    const std::vector<Fact> sharing = stated_sharing(can.processors);
    const bool recorded = !options.record.empty() || !options.replay.empty();  // else it is for the fit alone
    if (file)
        write(file, options, *stated, probed.reports,
              {recorded ? &*probed.recording : nullptr, sharing, interrupted() ? incomplete : ""});
    const auto about = fmt::format(
        "native: this machine, measured by times{}; clock {:.2f} GHz, {} samples disturbed; took {:.1f} s of {:.1f} s",
        counted_in_words(can), target.frequency() / 1e9, target.dropped(), target.cost().cycles / target.frequency(),
        suite.budget.most_cycles / target.frequency());
    show(probed.reports, options,
         {.about = about,
          .left_out = left_out,
          .no_events = can.no_events,
          .stated = stated ? &stated->machine() : nullptr,
          .sharing = sharing},
         file.get());
    if (!machine_file.file.empty()) fit_native(machine_file, stated->machine(), probed);
}

/// Why not all tests are in a recording; empty if they are.
std::string missing_in(const Recording& recording, const std::string& name) {
    const bool ended =
        std::ranges::any_of(recording.runs, [](const RecordedRun& run) { return run.end == RecordedRun::End::ended; });
    return ended ? name + " was interrupted before all tests were complete" : "";
}

/// What tests find in a recording, without the machine.
void probe_recorded(const ProbeOptions& options) {
    const Recording recording = read_recording_of(options);
    const SuiteOptions suite = suite_of(options, recording);
    left_out_of(suite);  // throws where nothing can be run
    std::unique_ptr<ResultFile> file = open_output(options.output, {options.replay});
    catch_interrupts();
    RecordedTarget target(recording, {.file = options.replay});
    const std::vector<TestReport> reports = run_suite(target, suite);
    const Topology topology(read_machine(recording.machine_text, options.replay));
    const std::string missing = interrupted() ? incomplete : missing_in(recording, options.replay);
    write(file, options, topology, reports, {&recording, recording.sharing, missing});
    show(reports, options,
         {.about = fmt::format("{}: {}, as recorded", options.replay, recording.target),
          .stated = &topology.machine(),
          .sharing = recording.sharing,
          .missing = missing},
         file.get());
}

}  // namespace

void add_probe(CLI::App& app) {
    auto options = std::make_shared<ProbeOptions>();
    CLI::App* command =
        app.add_subcommand("probe", "Find the parameters of a machine by running chains of loads on it");
    add_probe_options(*command, *options);
    command->callback([options, command] {
        check_use(*command, *options);
        if (is_recorded(*options)) return probe_recorded(*options);
        if (is_native(*options)) return probe_native(*options);
        options->recorded_noise = read_noise(options->noise);
        probe(*options);
    });
}

}  // namespace cachetally::app
