// SPDX-License-Identifier: BSD-3-Clause
#include "app/source.hpp"

#include <fmt/format.h>

#include <charconv>

#include "app/checks.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"

namespace cachetally::app {
namespace {

constexpr Tick longest_quantum = 1'000'000'000'000'000;

/// "1us", "500ns", "0": picoseconds.
Tick parse_time(const std::string& text) {
    if (text.empty()) return 0;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& [name, picoseconds] :
         {std::pair<std::string_view, Tick>{"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}})
        if (error == std::errc() && unit == name) {
            if (number <= longest_quantum / picoseconds) return number * picoseconds;
            throw UsageError(fmt::format("'--quantum {}': a quantum is at most 1000 s", text));
        }
    if (error == std::errc() && number == 0 && unit.empty()) return 0;
    throw UsageError(fmt::format("'--quantum {}': write a whole number with ps, ns, us or ms, as in 1us", text));
}

}  // namespace

CLI::Option* add_count_option(CLI::App& command, std::uint64_t& count, const std::string& more) {
    return command
        .add_option("--count,--max-references", count,
                    "Stop after so many references, as in 1000000 or 1M (K, M, G: powers of 1024); 0: make all" + more)
        ->transform(whole_number());
}

CLI::Option* add_warmup_option(CLI::App& command, std::uint64_t& warmup, const std::string& more) {
    return command
        .add_option("--warmup", warmup,
                    "Simulate so many references first, which fill the caches and are not counted" + more)
        ->transform(whole_number());
}

void add_machine_options(CLI::App& command, SimulationOptions& options) {
    command
        .add_option("-m,--machine", options.machine, "A built-in machine (cachetally machine list) or a machine file")
        ->type_name("NAME|FILE")
        ->check(not_empty("the name of a machine or of a machine file"))
        ->capture_default_str();
    command.add_option("--cores", options.cores, "Cores (1 to 256), in place of what the machine says")
        ->transform(whole_number(1, 256));
    add_warmup_option(command, options.warmup);
    add_count_option(command, options.max_references);
    command.add_flag("--json", options.json, "Print JSON");
}

void add_simulation_options(CLI::App& command, SimulationOptions& options) {
    add_machine_options(command, options);
    command
        .add_option(
            "--monitor", options.monitors,
            "A monitor, as in link=core-L1D,counters=64,granularity=4 (docs/monitors.md); may be repeated; "
            "'all' for one on each link, 'none' for none. Addresses of range= are physical, but between core and TLBs. "
            "Default: those that the machine file states; where it states none, 'all', without their table")
        ->type_name("SPEC")
        ->check(not_empty("a monitor, as in link=core-L1D"))
        ->allow_extra_args(false);
    command
        .add_option("--listener", options.listeners,
                    fmt::format("A listener on a link, as in reuse,link=L1D-L2 (docs/listeners.md); may be repeated. "
                                "There are: {}",
                                listeners_in_words()))
        ->type_name("NAME[,KEY=VALUE...]")
        ->check(not_empty("the name of a listener, as in reuse"))
        ->allow_extra_args(false);
    command
        .add_option(
            "--phase-every", options.phase_every,
            "Also end a phase after each N references, as in 10M, so that programs without barriers have phases")
        ->transform(whole_number(1));
    command
        .add_option("--quantum", options.quantum,
                    "How far a core may go ahead of the others, e.g. 1us; default: not at all")
        ->type_name("TIME")
        ->check(not_empty("a time, as in 1us"));
    command
        .add_option("--host", options.host,
                    "What drives the machine: the engine, or SystemC, which gives the same and is slower "
                    "(docs/systemc.md)")
        ->check(one_of({"engine", "systemc"}))
        ->capture_default_str();
    command.add_flag("--explain", options.explain,
                     "Report how references are carried out, in batches or one by one, and why; nothing is run");
    const auto no_exact = [&options] { options.errors = false; };
    command.add_flag_callback("--no-exact", no_exact,
                              "Do not count exactly beside monitors, so that their error stays unknown: faster");
    command.add_flag_callback("--no-errors", no_exact)->group("");  // its former name
}

void add_causes_option(CLI::App& command, SimulationOptions& options) {
    command.add_flag(
        "--causes", options.causes,
        "Report why levels miss (first use, invalidated, capacity, conflict), and what evicts what; slower");
    command.add_flag_callback(
        "--no-attribution", [&options] { options.attribution = false; },
        "Do not find out which functions, lines and data structures of a program miss: faster");
    command.add_flag(
        "--cycles", options.cycles,
        "Report the cycles that functions, lines and data structures of a program lose to misses and waits");
    command.add_flag("--used-bytes", options.used_bytes,
                     "Report how many bytes a program uses of each line that comes into the first level; slower");
    command.add_flag(
        "--reuse", options.reuse,
        "Report reuse distances, and from them the misses of fully associative caches of any size; slower");
    command.add_flag("--per-core", options.per_core, "Report accesses and misses of each core");
}

Topology topology_of(const SimulationOptions& options) {
    MachineDescription machine = load_machine(options.machine);
    if (options.cores != 0) machine.cores = options.cores;
    return Topology(std::move(machine));
}

std::vector<MonitorSpec> monitors_of(const SimulationOptions& options, const Topology& topology) {
    std::vector<MonitorSpec> specs;
    for (const std::string& text : options.monitors) {
        if (text == "none") {
            if (options.monitors.size() > 1) throw UsageError("'--monitor none' cannot stand beside other monitors");
            return {};
        }
        const bool all = text == "all";
        for (MonitorSpec& spec : all ? default_monitors(topology) : std::vector{parse_monitor(text)})
            specs.push_back(std::move(spec));
    }
    if (!specs.empty()) return placed(std::move(specs), topology);
    specs = monitors_of(topology);
    return specs.empty() ? default_monitors(topology) : specs;
}

RunOptions run_options(const SimulationOptions& options, const ReferenceSource& source) {
    RunOptions run;
    run.quantum = parse_time(options.quantum);
    run.warmup = options.warmup;
    run.max_references = options.max_references;
    run.phase_every = options.phase_every;
    catch_interrupts();
    run.progress = progress_line(source, options.taken());
    return run;
}

}  // namespace cachetally::app
