// cachetally probe: the tests of the literature on a simulated machine, found beside true.
#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "probes/probe_file.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally::app {
namespace {

struct ProbeOptions {
    std::vector<std::string> tests;
    std::string machine = "generic3", noise = "none", no_events;
    bool published_only = false, hardened_only = false, small_pages = false, json = false;
    OutputOptions output;
    std::uint64_t seed = 1, arena_mib = 256;
    double most_cycles = 1e12;
    bool no_knock_out = false, no_revival = false, exhaustive = false;
    unsigned stability = 25;
};

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

void probe(const ProbeOptions& options) {
    if (options.published_only && options.hardened_only)
        throw UsageError("--as-published and --hardened leave nothing to run; give one of them");
    const Topology topology(load_machine(options.machine));
    SimulatedTarget target(topology.machine(), simulated(options));
    SuiteOptions suite;
    suite.tests = options.tests;
    suite.published = !options.hardened_only;
    suite.hardened = !options.published_only;
    suite.seed = options.seed;
    suite.budget.most_cycles = options.most_cycles;
    suite.budget.go_on = [] { return !interrupted(); };
    suite.sweep.sweep.knock_out = !options.no_knock_out;
    suite.sweep.sweep.revive = !options.no_revival;
    suite.sweep.sweep.stability = options.stability;
    suite.sweep.on_demand = !options.exhaustive;
    const std::unique_ptr<ResultFile> file = open_output(options.output, Input());
    catch_interrupts();
    std::vector<TestReport> reports = run_suite(target, suite);
    std::vector<Fact> facts = facts_of(topology.machine());
    if (target.capabilities().floating_point) facts.push_back({"L1", "fp_bypass", {0, "present"}, 0});
    for (TestReport& report : reports) judge(report, facts);
    if (file) write(*file, options, topology, reports);
    if (options.json) {
        print_json(to_json(reports));
    } else {
        fmt::print("{}: {}\n\n{}", topology.machine().name, topology.machine().description, to_text(reports));
    }
    if (interrupted())
        throw std::runtime_error(
            fmt::format("{}: what is printed{} is of those that were", incomplete,
                        file ? fmt::format(" and kept in {} (marked partial)", file->path()) : ""));
}

std::string footer() {
    std::string text = "Tests:\n";
    for (const ProbeTest& test : probe_tests())
        text += fmt::format("  {:<13} {} ({})\n", test.name, test.meaning, test.source);
    return text +
           "\nExamples:\n"
           "  cachetally probe --on generic3\n"
           "  cachetally probe l1 tlb --on generic3 --noise realistic\n"
           "  cachetally probe levels --on generic3 -o curves.h5";
}

}  // namespace

void add_probe(CLI::App& app) {
    auto options = std::make_shared<ProbeOptions>();
    CLI::App* command =
        app.add_subcommand("probe", "Find the parameters of a machine by running chains of loads on it");
    command->add_option("TEST", options->tests, "Tests to run (default: all)");
    command->add_option("--on", options->machine, "A built-in machine, or a machine file")
        ->type_name("MACHINE")
        ->capture_default_str();
    command->add_option("--noise", options->noise, "What disturbs times: none, quiet, realistic or heavy")
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of orders, page placement and noise")->capture_default_str();
    command->add_option("--arena", options->arena_mib, "Memory that probes may have, MiB")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    command
        ->add_option("--budget", options->most_cycles, "Cycles of the machine after which tests end without an answer")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_flag("--small-pages", options->small_pages, "Offer no pages but the machine's own");
    command->add_option("--no-events", options->no_events, "Offer no event counts, for this reason")
        ->type_name("REASON");
    command->add_flag("--as-published", options->published_only, "Run the original algorithms only");
    command->add_flag("--hardened", options->hardened_only, "Run the hardened algorithms only");
    command->add_flag("--no-knock-out", options->no_knock_out, "Published levels and tlb: leave no size out");
    command->add_flag("--no-revival", options->no_revival, "Published levels and tlb: sizes left out stay out");
    command->add_flag("--exhaustive", options->exhaustive, "Published tlb: run T(2..4) at every size");
    command->add_option("--stability", options->stability, "Published levels and tlb: runs without a new minimum")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    add_output_options(*command, options->output, "findings, curves and decisions");
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(footer());
    command->callback([options] { probe(*options); });
}

}  // namespace cachetally::app
