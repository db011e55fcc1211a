// SPDX-License-Identifier: BSD-3-Clause
// Sweeps as campaigns: a bundle is the sweep of one workload, and their cells are put together when all are there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <new>

#include "app/campaign_job.hpp"
#include "app/input.hpp"
#include "app/report.hpp"
#include "app/sweep.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "storage/columns.hpp"
#include "storage/copy.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {
namespace {

namespace fs = std::filesystem;

struct StoredSweep {
    SweepOptions options;
    std::vector<SweepSource> sources;
    std::vector<std::string> traces, hashes;  ///< by source; empty: a kernel
    MachineDescription machine;
};

std::string trace_of(const SweepSource& source) {
    std::error_code error;
    return fs::is_regular_file(source.name, error) ? fs::absolute(source.name).lexically_normal().string() : "";
}

StoredSweep stored_in(const Manifest& manifest, Inputs inputs) {
    const Json& contents = manifest.contents;
    StoredSweep stored;
    SweepOptions& options = stored.options;
    options.counters = contents.at("counters");
    options.granularity = contents.at("granularity");
    options.eviction = contents.at("eviction");
    options.links = contents.at("links");
    options.monitor = contents.at("monitor");
    options.vary = contents.at("vary").get<std::vector<std::string>>();
    options.preset = contents.at("preset");
    options.slowdown = contents.at("slowdown");
    options.choice_of_cells = {contents.at("objectives"), contents.at("where"), contents.at("tolerance").get<double>()};
    options.choice.format = contents.at("format");
    options.choice.data_only = contents.at("data_only");
    options.choice.din_bytes = contents.at("din_bytes");
    options.simulation.warmup = contents.at("warmup");
    options.simulation.max_references = contents.at("count");
    stored.machine = read_machine(contents.at("machine"), contents.at("machine_name"));
    for (const Json& each : contents.at("sources")) {
        const std::string trace = each.at("path"), hash = each.at("hash");
        stored.sources.push_back({trace.empty() ? each.at("name").get<std::string>() : trace,
                                  each.at("settings").get<std::vector<std::string>>(), each.at("title")});
        stored.traces.push_back(trace);
        stored.hashes.push_back(hash);
        if (inputs == Inputs::not_needed || trace.empty()) continue;
        std::error_code error;
        if (!fs::exists(trace, error)) throw CampaignError("the trace '{}' is not there", shown(trace));
        if (hash_file(trace) != hash)
            throw CampaignError(
                "'{}' is not what it was when the campaign began; put it back, or begin another campaign",
                shown(trace));
    }
    return stored;
}

/// Of one workload. Throws where it does not come to its end.
void compute_workload(const StoredSweep& stored, std::uint64_t number, Group& root) {
    const Topology topology(stored.machine);
    const SweepSource& source = stored.sources.at(number);
    const SweepPlan plan = plan_of(stored.options, topology);
    const Input input = open_input(source.name, source.settings, stored.options.choice, Opening::again);
    const SweptWorkload swept = sweep_workload(source, input, plan, stored.options, topology);
    if (interrupted()) throw BundleInterrupted();
    if (!swept.title.complete) throw CampaignError("{}", swept.title.incomplete);
    SweepView view = begun_view(stored.options, plan);
    add_workload(view, view_of(swept), source.title);
    write_sweep_of(root, topology, view, stored.sources.size() == 1 ? &swept : nullptr, plan);
}

std::vector<PointFailure> compute_bundle(const StoredSweep& stored, Group& root, std::uint64_t bundle, Steps& steps) {
    if (steps.interrupted()) throw BundleInterrupted();
    std::string error = ended_twice;
    if (steps.enter(bundle)) try {
            compute_workload(stored, bundle, root);
            steps.end();
            return {};
        } catch (const std::bad_alloc&) {
            error = "there is not enough memory";
        } catch (const std::exception& failure) {
            error = failure.what();
        }
    steps.end();
    return {{bundle, error}};
}

void write_provenance_of_sweep(Group& root, const StoredSweep& stored) {
    Provenance provenance = make_provenance(command_line());
    provenance.machine_name = stored.machine.name;
    provenance.machine_text = stored.machine.text;
    for (std::size_t i = 0; i < stored.traces.size(); ++i)
        if (!stored.traces[i].empty()) provenance.add_trace(stored.traces[i], stored.hashes[i]);
    write_provenance(root, provenance);
}

std::string merge_workloads(const CampaignFolder& folder, const StoredSweep& stored,
                            const std::function<std::string(std::uint64_t)>& hash, ResultFile& file) {
    const Topology topology(stored.machine);
    const SweepPlan plan = plan_of(stored.options, topology);
    SweepView view = begun_view(stored.options, plan);
    std::vector<std::string> missing;
    for (std::uint64_t bundle = 0; bundle < folder.manifest().count(); ++bundle) {
        if (!folder.holds(bundle, hash(bundle)) || !folder.failures(bundle).empty()) {
            missing.push_back(stored.sources[bundle].title);
            continue;
        }
        add_workload(view, read_sweep_view(InputFile(folder.bundle(bundle))), stored.sources[bundle].title);
    }
    folder.require_there();
    if (missing.size() == stored.sources.size()) throw CampaignError("{}", "no workload is done");
    write_sweep_of(file.root(), topology, view, nullptr, plan);
    if (stored.sources.size() == 1) {  // a single workload has its exact histogram
        const InputFile bundle(folder.bundle(0));
        for (const char* name : {"exact", "structures"})
            if (bundle.root().has(name)) copy_group(bundle.root(), name, file.root());
    }
    write_provenance_of_sweep(file.root(), stored);
    return missing.empty() ? ""
                           : fmt::format("{} not done: {}", missing.size() == 1 ? "a workload is" : "workloads are",
                                         fmt::join(missing, ", "));
}

}  // namespace

Manifest sweep_manifest(const SweepOptions& options, const std::vector<SweepSource>& sources,
                        const Topology& topology) {
    Json stored = Json::array();
    for (const SweepSource& source : sources) {
        const std::string trace = trace_of(source);
        stored.push_back({{"name", source.name},
                          {"path", trace},
                          {"hash", trace.empty() ? "" : hash_file(trace)},
                          {"settings", source.settings},
                          {"title", source.title}});
    }
    Manifest manifest;
    manifest.kind = "sweep";
    manifest.name = fs::path(options.work.folder).filename().string();
    manifest.program = campaign_program();
    manifest.items = sources.size();
    for (std::uint64_t bundle = 0; bundle <= sources.size(); ++bundle) manifest.bundles.push_back(bundle);
    manifest.contents = {{"machine", write_machine(topology.machine())},
                         {"machine_name", topology.machine().name},
                         {"sources", stored},
                         {"counters", options.counters},
                         {"granularity", options.granularity},
                         {"eviction", options.eviction},
                         {"links", options.links},
                         {"monitor", options.monitor},
                         {"vary", options.vary},
                         {"preset", options.preset},
                         {"slowdown", options.slowdown},
                         {"objectives", options.choice_of_cells.objectives},
                         {"where", options.choice_of_cells.where},
                         {"tolerance", options.choice_of_cells.tolerance.value_or(5)},
                         {"format", options.choice.format},
                         {"data_only", options.choice.data_only},
                         {"din_bytes", options.choice.din_bytes},
                         {"warmup", options.simulation.warmup},
                         {"count", options.simulation.max_references}};
    return manifest;
}

CampaignJob sweep_job(const Manifest& manifest, Inputs inputs) {
    const auto stored = std::make_shared<const StoredSweep>(stored_in(manifest, inputs));
    const std::string all = manifest.program + manifest.contents.dump();
    CampaignJob job;
    job.work.hash = [all](std::uint64_t bundle) { return hash_text(fmt::format("{} {}", all, bundle)); };
    job.work.compute = [stored](Group& root, std::uint64_t bundle, Steps& steps, const InputFile*) {
        return compute_bundle(*stored, root, bundle, steps);
    };
    job.merge = [stored, hash = job.work.hash](const CampaignFolder& folder, ResultFile& file) {
        return merge_workloads(folder, *stored, hash, file);
    };
    return job;
}

}  // namespace cachetally::app
