// cachetally run and workload: kernels through a machine.
#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/source.hpp"
#include "workloads/kernels/source.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::app {
namespace {

struct Options {
    std::string workload;
    std::vector<std::string> settings;
    SimulationOptions simulation;
};

void run(const Options& options) {
    const Topology topology = topology_of(options.simulation);
    WorkloadSource source(make_workload(options.workload, options.settings));
    if (source.cores() > topology.machine().cores)
        throw UsageError(fmt::format("'{}' runs on {} processors, '{}' has {} cores; add --cores {}", options.workload,
                                     source.cores(), options.simulation.machine, topology.machine().cores,
                                     source.cores()));
    const Outcome outcome = simulate(topology, monitors_of(options.simulation, topology), source,
                                     run_options(options.simulation, source), options.simulation.errors);
    Json json = to_json(topology, outcome);
    if (source.ended()) {
        const Verdict verdict = source.workload().check();
        json["check"] = {{"passed", verdict.passed()},
                         {"meaning", verdict.meaning},
                         {"residual", verdict.residual},
                         {"bound", verdict.bound}};
    }
    if (options.simulation.json) {
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", to_table(topology, outcome));
        if (json.contains("check"))
            fmt::print("\nresult of {}: {} ({} {:.3g}, at most {:.3g})\n", options.workload,
                       source.workload().check().passed() ? "right" : "WRONG", source.workload().check().meaning,
                       source.workload().check().residual, source.workload().check().bound);
    }
    if (source.ended() && !source.workload().check().passed())
        throw std::runtime_error(options.workload + " computed a wrong result");
    if (!outcome.run.complete)
        throw std::runtime_error(outcome.run.failure.empty()
                                     ? "interrupted: what is printed covers the references made until then"
                                     : outcome.run.failure);
}

void list(bool json) {
    Json all = Json::array();
    for (const WorkloadInfo& info : workload_list()) {
        Json options = Json::array();
        if (!json) fmt::print("{}: {}\n", info.name, info.description);
        for (const WorkloadOption& option : info.options) {
            options.push_back({{"name", option.name},
                               {"default", option.initial},
                               {"range", option.range()},
                               {"meaning", option.meaning}});
            if (!json)
                fmt::print("    {:<24} {} ({})\n", option.name + "=" + option.initial, option.meaning, option.range());
        }
        all.push_back({{"name", info.name}, {"description", info.description}, {"options", options}});
    }
    if (json) fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_run(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("run", "Run a kernel through a machine with monitors on its links");
    command->add_option("WORKLOAD", options->workload, "A kernel (cachetally workload list)")->required();
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    add_simulation_options(*command, options->simulation);
    command->footer(
        "Example: cachetally run lu n=128 --machine schulz2002 --monitor link=core-L1,counters=64,granularity=2");
    command->callback([options] { run(*options); });
}

void add_workload(CLI::App& app) {
    CLI::App* workload = app.add_subcommand("workload", "Kernels that can be run");
    workload->require_subcommand(1);
    auto json = std::make_shared<bool>(false);
    CLI::App* list_command = workload->add_subcommand("list", "All kernels with their options");
    list_command->add_flag("--json", *json, "Print JSON");
    list_command->callback([json] { list(*json); });
}

}  // namespace cachetally::app
