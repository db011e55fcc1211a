// SPDX-License-Identifier: BSD-3-Clause
// What campaigns of points are of: their file, and the machine files and traces that it names, as they were at the
// beginning.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/campaign_job.hpp"
#include "app/checks.hpp"
#include "app/input.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "campaign/point_file.hpp"
#include "sim/topology/yaml_document.hpp"
#include "storage/hash.hpp"

namespace cachetally::app {
namespace {

namespace fs = std::filesystem;

/// Relative to the campaign file.
std::string path_beside(const std::string& file, const std::string& name) {
    return fs::absolute(fs::path(file).parent_path() / name).lexically_normal().string();
}

CampaignInput machine_input(const std::string& file, const std::string& name) {
    std::error_code error;
    const std::string path = path_beside(file, name);
    const bool is_file = fs::is_regular_file(path, error);
    const std::string text = load_machine(is_file ? path : name).text;
    return {is_file ? path : "", text, hash_text(text)};
}

Json inputs_json(const std::map<std::string, CampaignInput>& inputs) {
    Json json = Json::object();
    for (const auto& [name, input] : inputs)
        json[name] = {{"path", input.path}, {"text", input.text}, {"hash", input.hash}};
    return json;
}

std::map<std::string, CampaignInput> inputs_in(const Json& json) {
    std::map<std::string, CampaignInput> inputs;
    for (const auto& [name, input] : json.items())
        inputs[name] = {input.at("path"), input.at("text"), input.at("hash")};
    return inputs;
}

/// Throws where a file is not what it was. Machine files may be gone: the folder has their text.
void require_unchanged(const CampaignInputs& inputs) {
    const auto changed = [](const std::string& path) {
        throw CampaignError("'{}' is not what it was when the campaign began; put it back, or begin another campaign",
                            shown(path));
    };
    for (const auto& [name, input] : inputs.machines) {
        if (input.path.empty()) continue;
        const auto text = read_yaml_file(input.path);
        if (text && hash_text(*text) != input.hash) changed(input.path);
    }
    for (const auto& [name, input] : inputs.traces) {
        std::error_code error;
        if (!fs::exists(input.path, error)) throw CampaignError("the trace '{}' is not there", shown(input.path));
        if (hash_file(input.path) != input.hash) changed(input.path);
    }
}

/// What points of a trace would say one by one.
void check_traces(const Grid& grid) {
    for (const CampaignEntry& workload : grid.file().workloads) {
        if (!workload.is_trace) continue;
        const Input input = open_input(grid.inputs().traces.at(workload.name).path, {}, {});
        const unsigned streams = input.source->cores();
        if (std::string error = grid.too_many_streams(workload.name, streams); !error.empty())
            throw FileError(grid.file().path, {{workload.mark, std::move(error)}});
        warn_of_one_stream(workload.name, streams, "machines here have up to", grid.most_cores());
    }
}

constexpr std::uint64_t usual_bundles = 400, largest_bundle = 1000;

}  // namespace

Manifest points_manifest(const std::string& path, std::uint64_t points_per_bundle) {
    require_present(path);
    const auto text = read_yaml_file(path);
    if (!text) throw UsageError("'{}' cannot be read", shown(path));
    const CampaignFile file = parse_campaign_file(*text, path);
    CampaignInputs inputs;
    for (const CampaignEntry& machine : file.machines) try {
            if (!inputs.machines.contains(machine.name))
                inputs.machines[machine.name] = machine_input(path, machine.name);
        } catch (const FileError& error) {
            throw FileError(path, {{machine.mark, error.what()}});
        }
    for (const CampaignEntry& workload : file.workloads) {
        if (!workload.is_trace || inputs.traces.contains(workload.name)) continue;
        const std::string trace = path_beside(path, workload.name);
        std::error_code error;
        if (!fs::is_regular_file(trace, error))
            throw FileError(
                path, {{workload.mark,
                        fmt::format("there is no trace '{}'; paths are relative to this file", shown(workload.name))}});
        inputs.traces[workload.name] = {trace, "", hash_file(trace)};
    }
    const Grid grid(file, inputs);
    for (const std::string& remark : grid.remarks()) to_stderr(fmt::format("cachetally: warning: {}\n", remark));
    check_traces(grid);
    if (points_per_bundle == 0)
        points_per_bundle = std::clamp<std::uint64_t>(grid.points() / usual_bundles, 1, largest_bundle);
    Manifest manifest;
    manifest.kind = "points";
    manifest.program = campaign_program();
    manifest.name = file.name;
    manifest.items = grid.points();
    manifest.bundles = bundles_of(grid, points_per_bundle);
    manifest.contents = {{"path", path},
                         {"text", *text},
                         {"machines", inputs_json(inputs.machines)},
                         {"traces", inputs_json(inputs.traces)}};
    return manifest;
}

std::shared_ptr<const Grid> grid_of(const Manifest& manifest, Inputs needed) {
    const Json& contents = manifest.contents;
    CampaignInputs inputs{inputs_in(contents.at("machines")), inputs_in(contents.at("traces"))};
    if (needed == Inputs::required) require_unchanged(inputs);
    return std::make_shared<Grid>(parse_campaign_file(contents.at("text"), contents.at("path")), std::move(inputs));
}

}  // namespace cachetally::app
