// From an input to what the user sees of it.
#include <fmt/format.h>

#include <algorithm>

#include "app/report.hpp"
#include "app/simulation.hpp"
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

Json to_json(const Check& check) {
    return {{"passed", check.passed}, {"meaning", check.meaning}, {"residual", check.residual}, {"bound", check.bound}};
}

}  // namespace

Input kernel_input(const std::string& name, const std::vector<std::string>& settings) {
    auto source = std::make_unique<WorkloadSource>(make_workload(name, settings));
    const auto check = [kernel = source.get()]() -> std::optional<Check> {
        if (!kernel->ended()) return std::nullopt;
        const Verdict verdict = kernel->workload().check();
        return Check{verdict.passed(), verdict.meaning, verdict.residual, verdict.bound};
    };
    return {name, settings, seed_of(name, settings), "", std::move(source), check};
}

void check_cores(const Input& input, const Topology& topology) {
    const unsigned streams = input.source->cores();
    if (streams > topology.machine().cores)
        throw UsageError(fmt::format("'{}' runs on {} processors, the machine '{}' has {} core{}; add --cores {}",
                                     input.name, streams, topology.machine().name, topology.machine().cores,
                                     topology.machine().cores == 1 ? "" : "s", streams));
}

void simulate_and_report(Input input, const SimulationOptions& options, const OutputOptions&) {
    const Topology topology = topology_of(options);
    check_cores(input, topology);
    const Outcome outcome = simulate(topology, monitors_of(options, topology), *input.source,
                                     run_options(options, *input.source), options.errors);
    const std::optional<Check> check = input.check ? input.check() : std::nullopt;
    if (options.json) {
        Json json = to_json(topology, outcome);
        if (check) json["check"] = to_json(*check);
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", to_table(topology, outcome));
        if (check)
            fmt::print("\nresult of {}: {} ({} {:.3g}, at most {:.3g})\n", input.name,
                       check->passed ? "right" : "WRONG", check->meaning, check->residual, check->bound);
    }
    if (check && !check->passed) throw std::runtime_error(input.name + " computed a wrong result");
    if (!outcome.run.complete)
        throw std::runtime_error(outcome.run.failure.empty()
                                     ? "interrupted: what is printed covers the references made until then"
                                     : outcome.run.failure);
}

}  // namespace cachetally::app
