// SPDX-License-Identifier: BSD-3-Clause
// cachetally probe: the tests of the literature on a simulated machine, found beside true, or on this one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "probes/probe_file.hpp"
#include "probes/savings.hpp"
#include "probes/suite.hpp"
#include "probes/targets/native.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally::app {
namespace {

struct ProbeOptions {
    std::vector<std::string> tests;
    std::string machine = "generic3", noise = "none", no_events;
    bool published_only = false, robust_only = false, small_pages = false, json = false;
    OutputOptions output;
    unsigned savings = 0;
    std::uint64_t seed = 1, arena_mib = 256;
    std::optional<std::uint64_t> orders;
    std::optional<double> most_cycles;  ///< 1e12 of a simulated machine, native_seconds of this one
    bool no_knock_out = false, no_revival = false, exhaustive = false, cheap = false;
    unsigned stability = 25;
};

constexpr double native_seconds = 30;

/// Whether the machine under the program is probed.
bool is_native(const ProbeOptions& options) { return options.machine == "native"; }

SimulatedOptions simulated(const ProbeOptions& options) {
    SimulatedOptions chosen;
    chosen.noise = noise_named(options.noise);
    chosen.seed = options.seed;
    chosen.largest_arena = options.arena_mib << 20;
    chosen.no_events = options.no_events;
    if (options.small_pages) chosen.large_pages.clear();
    for (const PresetInfo& preset : machine_presets())
        if (preset.name == options.machine + "-fp") chosen.floating_point = load_machine(preset.name);
    return chosen;
}

const char incomplete[] = "interrupted before all tests were complete";

void write(ResultFile& file, const ProbeOptions& options, const Topology& topology,
           std::span<const TestReport> reports) {
    RunTitle title;
    title.input = "probe";
    title.complete = !interrupted();
    title.incomplete = incomplete;
    {
        write_title(file.root(), "probe", topology, title);
        write_probe(file.root(), reports);
        Provenance provenance = make_provenance(command_line());
        provenance.seed = options.seed;
        provenance.machine_name = topology.machine().name;
        provenance.machine_text = topology.machine().text;
        write_provenance(file.root(), provenance);
    }
    close_output(&file, title);
}

SuiteOptions suite_of(const ProbeOptions& options) {
    SuiteOptions suite;
    suite.tests = options.tests;
    suite.published = !options.robust_only;
    suite.robust = !options.published_only;
    suite.seed = options.orders.value_or(options.seed);
    suite.cheap = options.cheap;
    suite.budget.most_cycles = options.most_cycles.value_or(1e12);
    suite.budget.go_on = [] { return !interrupted(); };
    suite.sweep.sweep.knock_out = !options.no_knock_out;
    suite.sweep.sweep.revive = !options.no_revival;
    suite.sweep.sweep.stability = options.stability;
    suite.sweep.on_demand = !options.exhaustive;
    return suite;
}

/// What would be passed over is refused.
void check_use(const CLI::App& command, const ProbeOptions& options) {
    if (options.published_only && options.robust_only)
        throw UsageError("--as-published and --robust leave nothing to run; give one of them");
    if (command.count("--on") != 0 && command.count("--machine") != 0)
        throw UsageError("--on is the former name of --machine; give one of them");
    if (options.cheap && (!options.tests.empty() || options.robust_only))
        throw UsageError(
            "--cheap leaves out costly published variants where all tests are run; here it would change nothing");
    for (const char* option : {"--noise", "--no-events", "--savings"})
        if (is_native(options) && command.count(option) != 0)
            throw UsageError("{} is for simulated machines; 'native' is the one that this program runs on, as it is",
                             option);
    const auto runs = [&](const char* test) {
        return !options.robust_only && !options.cheap &&
               (options.tests.empty() || std::ranges::find(options.tests, test) != options.tests.end());
    };
    for (const char* option : {"--no-knock-out", "--no-revival", "--stability", "--savings"})
        if (command.count(option) != 0 && !runs("levels") && !runs("tlb"))
            throw UsageError(
                "{} is for the published levels and tlb, neither of which is run; name one, without --robust", option);
    if (options.exhaustive && !runs("tlb"))
        throw UsageError("--exhaustive is for the published tlb, which is not run; name it, without --robust");
    if (options.no_knock_out && options.no_revival)
        throw UsageError("--no-revival beside --no-knock-out changes nothing: no size is left out; give one of them");
    if (options.savings == 0) return;
    for (const char* option : {"--no-knock-out", "--no-revival", "--exhaustive", "--output"})
        if (command.count(option) != 0)
            throw UsageError(
                "{} cannot stand beside --savings, which runs the published tests both with "
                "and without what saves runs, and prints what they cost",
                option);
}

Json json_of(const MeasuredCost& cost) {
    return {{"runs", cost.cost.runs},
            {"references", cost.cost.references},
            {"cycles", cost.cost.cycles},
            {"host_seconds", cost.host_seconds}};
}

void print_savings(std::span<const Saving> savings, bool json) {
    Json rows = Json::array();
    std::string text = fmt::format("{:<8} {:<24} {:>14} {:>14} {:>6}   {:>8} {:>8} {:>6}\n", "test", "without",
                                   "references", "exhaustive", "ratio", "host s", "exhaust.", "ratio");
    for (const Saving& one : savings) {
        rows.push_back({{"test", one.test},
                        {"without", one.without},
                        {"as_published", json_of(one.saving)},
                        {"exhaustive", json_of(one.exhaustive)},
                        {"references_ratio", one.references_ratio()},
                        {"host_ratio", one.host_ratio()}});
        text += fmt::format("{:<8} {:<24} {:>14} {:>14} {:>6.2f}   {:>8.3f} {:>8.3f} {:>6.2f}\n", one.test, one.without,
                            one.saving.cost.references, one.exhaustive.cost.references, one.references_ratio(),
                            one.saving.host_seconds, one.exhaustive.host_seconds, one.host_ratio());
    }
    if (json) return print_json({{"savings", rows}});
    print_lines(text);
}

void show_savings(const ProbeOptions& options, const Topology& topology) {
    catch_interrupts();
    const auto target = [&] { return std::make_unique<SimulatedTarget>(topology.machine(), simulated(options)); };
    try {
        print_savings(measure_savings(target, suite_of(options), options.savings), options.json);
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

/// Where memory is full, what may be had of it is too much.
std::vector<TestReport> reports_of(SimulatedTarget& target, const SuiteOptions& suite, const ProbeOptions& options) {
    try {
        return run_suite(target, suite);
    } catch (const MemoryFull&) {
        throw UsageError(
            "--arena {}: the memory of the machine has no frames for so many MiB{}; write a smaller --arena{}, or give "
            "the machine more memory",
            options.arena_mib, options.noise == "none" ? "" : " and those of --noise " + options.noise,
            options.small_pages ? "" : ", or --small-pages");
    }
}

/// Prints what was found, under a line on the machine.
void show(std::span<const TestReport> reports, const ProbeOptions& options, const std::string& about,
          const std::string& left_out, const ResultFile* file) {
    if (options.json) {
        Json json = to_json(reports, !interrupted());
        if (!left_out.empty()) json["left_out"] = left_out;
        print_json(json);
    } else {
        print("{}\n", about);
        if (!left_out.empty()) print("{}\n", left_out);
        print_lines('\n' + to_text(reports, terminal_width()));
    }
    if (interrupted())
        throw std::runtime_error(
            fmt::format("{}: what is printed{} is of those that were", incomplete,
                        file != nullptr ? fmt::format(" and kept in {} (marked partial)", file->path()) : ""));
}

void probe(const ProbeOptions& options) {
    const SuiteOptions suite = suite_of(options);
    const std::string left_out = left_out_in_words(suite);
    const Topology topology(load_machine(options.machine));
    check_machine(topology.machine(), options);
    if (options.savings > 0) return show_savings(options, topology);
    SimulatedTarget target(topology.machine(), simulated(options));
    const std::unique_ptr<ResultFile> file = open_output(options.output, {options.machine});
    catch_interrupts();
    std::vector<TestReport> reports = reports_of(target, suite, options);
    std::vector<Fact> more;
    if (target.capabilities().floating_point) more.push_back({"L1", "fp_bypass", {0, "present"}, 0});
    const Evidence evidence = evidence_of(target.capabilities());
    for (TestReport& report : reports) judge(report, topology.machine(), more, evidence);
    if (file) write(*file, options, topology, reports);
    const MachineDescription& machine = topology.machine();
    show(reports, options, fmt::format("{}: {}", machine.name, folded(machine.description)), left_out, file.get());
}

/// The machine that the program runs on. Its file has what the machine says of itself, which is no truth to judge by.
void probe_native(const ProbeOptions& options) {
    SuiteOptions suite = suite_of(options);
    const std::string left_out = left_out_in_words(suite);
    NativeTarget target({options.arena_mib << 20, !options.small_pages});
    if (!options.most_cycles) suite.budget.most_cycles = native_seconds * target.frequency();
    const std::unique_ptr<ResultFile> file = open_output(options.output, {});
    std::optional<Topology> stated;
    if (file) stated.emplace(load_machine("host"));
    catch_interrupts();
    const std::vector<TestReport> reports = run_suite(target, suite);
    if (file) write(*file, options, *stated, reports);
    const auto about = fmt::format("native: this machine, measured by times; clock {:.2f} GHz, {} samples disturbed",
                                   target.frequency() / 1e9, target.dropped());
    show(reports, options, about, left_out, file.get());
}

std::string footer() {
    std::string text = "Tests:\n";
    for (const ProbeTest& test : probe_tests())
        text += fmt::format("  {:<13} {} ({})\n{:<16}{}{}\n", test.name, test.meaning, test.source, "",
                            variants_of(test), test.why.empty() ? "" : " (" + test.why + ")");
    return text +
           "\nExamples:\n"
           "  cachetally probe --machine generic3\n"
           "  cachetally probe l1 tlb --machine generic3 --noise realistic\n"
           "  cachetally probe levels --machine generic3 -o curves.h5\n"
           "  cachetally probe l1 --machine native          the machine that this runs on";
}

}  // namespace

void add_probe(CLI::App& app) {
    auto options = std::make_shared<ProbeOptions>();
    CLI::App* command =
        app.add_subcommand("probe", "Find the parameters of a machine by running chains of loads on it");
    command->add_option("TEST", options->tests, "Tests to run (default: all)");
    command
        ->add_option("-m,--machine", options->machine,
                     "A built-in machine, a machine file, or native: the machine that this runs on, by times")
        ->type_name("MACHINE")
        ->capture_default_str();
    command->add_option("--on", options->machine)->group("");  // its former name
    command->add_option("--noise", options->noise, "What disturbs times: none, quiet, realistic or heavy")
        ->check(one_of(noise_names()))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of orders, page placement and noise")
        ->transform(whole_number())
        ->capture_default_str();
    command->add_option("--orders", options->orders, "Seed of orders alone (default: that of --seed)")
        ->transform(whole_number())
        ->type_name("SEED");
    command->add_option("--arena", options->arena_mib, "Memory that probes may have, MiB")
        ->transform(whole_number(1, 1 << 20))
        ->capture_default_str();
    command
        ->add_option("--budget", options->most_cycles,
                     "Cycles of the machine that all tests may take (default: 1e12; native: 30 s); each may spend an "
                     "equal part of what is left, and then ends without an answer")
        ->check(positive_number())
        ->capture_default_str();
    command->add_flag("--small-pages", options->small_pages, "Offer no pages but the machine's own");
    add_text_option(*command, "--no-events", options->no_events, "Offer no event counts, for this reason", "REASON",
                    "a reason, which the answers repeat");
    command->add_flag("--as-published", options->published_only, "Run the original algorithms only");
    command->add_flag("--robust", options->robust_only, "Run the robust algorithms only");
    command->add_flag("--hardened", options->robust_only)->group("");  // its former name
    command->add_flag(
        "--cheap", options->cheap,
        "Of all tests: leave out published variants that take seconds, as 'validate' does on most machines");
    command->add_flag("--no-knock-out", options->no_knock_out, "Published levels and tlb: leave no size out");
    command->add_flag("--no-revival", options->no_revival, "Published levels and tlb: sizes left out stay out");
    command->add_flag("--exhaustive", options->exhaustive, "Published tlb: run T(2..4) at every size");
    command->add_option("--stability", options->stability, "Published levels and tlb: runs without a new minimum")
        ->transform(whole_number(1, 1000))
        ->capture_default_str();
    command
        ->add_option("--savings", options->savings,
                     "Run the published levels and tlb exhaustively, too, in turn, N times; report what knock-out and "
                     "confirmation on demand save in references and in time of the host (the least of N)")
        ->transform(whole_number(1, 1000))
        ->type_name("N");
    add_output_options(*command, options->output, "findings, curves and decisions");
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(footer());
    command->callback([options, command] {
        check_use(*command, *options);
        if (is_native(*options)) return probe_native(*options);
        probe(*options);
    });
}

}  // namespace cachetally::app
