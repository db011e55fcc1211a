// SPDX-License-Identifier: BSD-3-Clause
// cachetally run and workload: kernels through a machine.
#include <fmt/format.h>

#include <filesystem>

#include "app/commands.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::app {
namespace {

struct RunArguments {
    std::string workload;
    std::vector<std::string> settings;
    SimulationOptions simulation;
    OutputOptions output;
    ProgramChoice program;
};

/// Throws UsageError where a kernel is expected, and a file was named.
void refuse_file(const std::string& name) {
    std::error_code error;
    if (is_kernel(name) || (name != "-" && !std::filesystem::is_regular_file(name, error))) return;
    throw UsageError(fmt::format("'{}' is {}, not a kernel; traces are run by 'cachetally replay {}'", shown(name),
                                 name == "-" ? "standard input" : "a file", shown(name)));
}

void run_program(RunArguments& options, const std::vector<std::string>& program) {
    if (!options.workload.empty())
        throw UsageError(fmt::format("'{}' and a program ('{}') cannot be run at once", shown(options.workload),
                                     shown(program.front())));
    options.program.command = program;
    options.program.attribution = options.simulation.attribution;
    const unsigned cores = topology_of(options.simulation).machine().cores;
    simulate_and_report(program_input(options.program, cores), options.simulation, options.output);
}

void list_workloads(bool json) {
    Json all = Json::array();
    for (const WorkloadInfo& info : workload_list()) {
        Json options = Json::array();
        if (!json) print("{}: {}\n", info.name, info.description);
        for (const WorkloadOption& option : info.options) {
            options.push_back({{"name", option.name},
                               {"default", option.initial},
                               {"range", option.range()},
                               {"meaning", option.meaning}});
            if (!json)
                print("    {:<24} {} ({})\n", option.name + "=" + option.initial, option.meaning, option.range());
        }
        all.push_back({{"name", info.name}, {"description", info.description}, {"options", options}});
    }
    if (json) print_json(all);
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<RunArguments>();
    CLI::App* command =
        app.add_subcommand("run", "Run a kernel or a program through a machine with monitors on its links");
    command->add_option("WORKLOAD", options->workload, "A kernel (cachetally workload list), or -- and a program")
        ->required(program.empty());
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    add_simulation_options(*command, options->simulation);
    add_causes_option(*command, options->simulation);
    add_output_options(*command, options->output, "exact counts of every link");
    command->add_flag("--data-only", options->program.data_only, "Leave out a program's instruction fetches");
    add_source_options(*command, options->program.part);
    add_program_options(*command, options->program);
    add_field_options(*command, options->program);
    command->footer(
        "Examples:\n"
        "  cachetally run lu n=128\n"
        "  cachetally run lu n=128 --machine schulz2002 \\\n"
        "      --monitor link=core-L1,counters=64,granularity=2\n"
        "  cachetally run radix keys=65536 processors=4 --cores 4 -o radix.h5\n"
        "  cachetally run --machine generic3 -- gzip -c text > text.gz");
    command->callback([options, &program] {
        if (!program.empty()) return run_program(*options, program);
        refuse_program_options(options->program);
        refuse_file(options->workload);
        Input input = kernel_input(options->workload, options->settings);
        choose_part(input, options->program.part);
        simulate_and_report(std::move(input), options->simulation, options->output);
    });
}

void add_workload(CLI::App& app) {
    CLI::App* workload = app.add_subcommand("workload", "Kernels that can be run");
    workload->require_subcommand(1);
    workload->footer("Example: cachetally workload list");
    auto json = std::make_shared<bool>(false);
    CLI::App* list_command = workload->add_subcommand("list", "All kernels with their options");
    list_command->add_flag("--json", *json, "Print JSON");
    list_command->footer(
        "Example: cachetally workload list\nA kernel is run by 'cachetally run KERNEL [NAME=VALUE ...]'.");
    list_command->callback([json] { list_workloads(*json); });
}

}  // namespace cachetally::app
