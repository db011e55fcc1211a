// SPDX-License-Identifier: BSD-3-Clause
// cachetally replay: traces through a machine.
#include <memory>

#include "app/commands.hpp"
#include "app/input.hpp"
#include "app/simulation.hpp"

namespace cachetally::app {
namespace {

struct ReplayOptions {
    std::string trace;
    TraceChoice choice;
    SimulationOptions simulation;
    OutputOptions output;
};

}  // namespace

void add_replay(CLI::App& app) {
    auto options = std::make_shared<ReplayOptions>();
    CLI::App* command = app.add_subcommand("replay", "Run a trace through a machine with monitors on its links");
    command
        ->add_option(
            "TRACE", options->trace,
            "A trace file, also compressed (.gz, .xz, .zst, .bz2, .lz4, .zip); - for standard input (docs/traces.md)")
        ->required();
    add_trace_options(*command, options->choice);
    add_source_options(*command, options->choice.part);
    add_name_options(*command, options->choice);
    add_simulation_options(*command, options->simulation);
    add_causes_option(*command, options->simulation);
    add_output_options(*command, options->output, "exact counts of every link");
    command->footer(
        "Examples:\n"
        "  valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null | cachetally replay -\n"
        "  cachetally replay gzip.ct.h5 --monitor link=core-L1D,counters=64,granularity=4\n"
        "  cachetally replay gzip.ct.h5 --machine my.yaml -o gzip.h5\n"
        "A trace that is used more than once is best packed first, see\n"
        "'cachetally trace convert --help'.");
    command->callback([options] {
        simulate_and_report(trace_input(options->trace, options->choice), options->simulation, options->output);
    });
}

}  // namespace cachetally::app
