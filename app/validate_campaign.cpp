// SPDX-License-Identifier: BSD-3-Clause
// Validation as a campaign: bundles of machines, whose verdicts are scored when all are there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "app/campaign_job.hpp"
#include "app/noise.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "app/validate.hpp"
#include "base/text.hpp"
#include "probes/validation/validation.hpp"
#include "storage/columns.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {
namespace {

constexpr std::uint64_t usual_bundles = 400, largest_bundle = 200;

std::string hash_of_noise(const std::string& noise) { return noise_file(noise).empty() ? "" : hash_file(noise); }

Json contents_of(const ValidationOptions& options) {
    Json given = Json::array();
    for (const GivenMachine& machine : options.given)
        given.push_back({{"file", machine.file}, {"text", write_machine(machine.machine)}});
    const std::string noise = noise_file(options.noise).empty()
                                  ? options.noise
                                  : std::filesystem::absolute(options.noise).lexically_normal().string();
    return {{"population", population_names()[static_cast<std::size_t>(options.population)]},
            {"given", given},
            {"small_pages", options.small_pages},
            {"seed", options.seed},
            {"noise", noise},
            {"noise_hash", hash_of_noise(options.noise)},
            {"no_events", options.no_events},
            {"tests", options.suite.tests},
            {"published", options.suite.published},
            {"robust", options.suite.robust},
            {"costly_every", options.costly_every}};
}

ValidationOptions options_in(const Manifest& manifest, Inputs inputs) {
    const Json& contents = manifest.contents;
    ValidationOptions options;
    options.machines = manifest.items;
    options.population = population_named(contents.at("population"));
    for (const Json& machine : contents.at("given"))
        options.given.push_back(
            {machine.at("file"), Topology(read_machine(machine.at("text"), machine.at("file"))).machine()});
    options.small_pages = contents.at("small_pages");
    options.seed = contents.at("seed");
    options.noise = contents.at("noise");
    if (inputs == Inputs::required && hash_of_noise(options.noise) != contents.at("noise_hash"))
        throw CampaignError("'{}' is not what it was when the campaign began; put it back, or begin another campaign",
                            shown(options.noise));
    if (inputs == Inputs::required) options.recorded_noise = read_noise(options.noise);
    options.no_events = contents.at("no_events");
    options.suite.tests = contents.at("tests").get<std::vector<std::string>>();
    options.suite.published = contents.at("published");
    options.suite.robust = contents.at("robust");
    options.costly_every = contents.at("costly_every");
    return options;
}

std::vector<PointFailure> compute_machines(ValidationOptions options, const Manifest& manifest, Group& root,
                                           std::uint64_t bundle, Steps& steps, const InputFile* before) {
    options.suite.budget.go_on = [&] { return !steps.interrupted(); };
    std::vector<MachineVerdicts> machines;
    if (before != nullptr) machines = read_verdicts(before->root());
    machines.resize(manifest.end(bundle) - manifest.first(bundle));
    std::vector<PointFailure> failures;
    for (std::uint64_t number = manifest.first(bundle); number < manifest.end(bundle); ++number) {
        MachineVerdicts& machine = machines[number - manifest.first(bundle)];
        if (machine.is_done) continue;
        if (steps.interrupted()) throw BundleInterrupted();
        std::string error = ended_twice;
        if (steps.enter(number)) try {
                machine = verdicts_of(options, number);
                if (!machine.is_done) throw BundleInterrupted();
                continue;
            } catch (const std::bad_alloc&) {
                error = "there is not enough memory";
            } catch (const std::exception& failure) {
                error = failure.what();
            }
        machine.machine = number;
        failures.push_back({number, error});
    }
    steps.end();
    write_verdicts(root, machines);
    return failures;
}

/// Calls `use` with the verdicts of each bundle that is there; returns how many machines are not.
template <class Use>
std::uint64_t each_bundle(const CampaignFolder& folder, const std::function<std::string(std::uint64_t)>& hash,
                          Use use) {
    std::uint64_t missing = 0;
    for (std::uint64_t bundle = 0; bundle < folder.manifest().count(); ++bundle) {
        if (!folder.holds(bundle, hash(bundle))) {
            missing += folder.manifest().end(bundle) - folder.manifest().first(bundle);
            continue;
        }
        const InputFile file(folder.bundle(bundle));
        for (const MachineVerdicts& machine : read_verdicts(file.root())) use(machine);
    }
    return missing;
}

std::string merge_machines(const CampaignFolder& folder, const ValidationOptions& options,
                           const std::function<std::string(std::uint64_t)>& hash, ResultFile& file) {
    VerdictTally tally(options.suite.robust);
    each_bundle(folder, hash, [&](const MachineVerdicts& machine) { tally.see(machine); });
    const std::uint64_t missing =
        each_bundle(folder, hash, [&](const MachineVerdicts& machine) { tally.add(machine); });
    folder.require_there();
    ValidationView view = validation_view(tally.result(), options);
    for (Failure& each : view.result.failures) each.replay = replay_command(options, each.machine);
    write_validation_result(file.root(), view);
    if (missing != 0) return fmt::format("{} of {} machines are not done", missing, options.machines);
    const std::uint64_t failed = options.machines - view.result.machines;
    return failed == 0 ? "" : fmt::format("{} of {} machines failed", failed, options.machines);
}

}  // namespace

Manifest validation_manifest(const ValidationOptions& options) {
    Manifest manifest;
    manifest.kind = "validate";
    manifest.name = "validate";
    manifest.program = campaign_program();
    manifest.items = options.machines;
    const std::uint64_t step = std::clamp<std::uint64_t>(options.machines / usual_bundles, 1, largest_bundle);
    for (std::uint64_t first = 0; first < options.machines; first += step) manifest.bundles.push_back(first);
    manifest.bundles.push_back(options.machines);
    manifest.contents = contents_of(options);
    return manifest;
}

CampaignJob validation_job(const Manifest& manifest, Inputs inputs) {
    const ValidationOptions options = options_in(manifest, inputs);
    const std::string all = manifest.program + manifest.contents.dump();
    CampaignJob job;
    job.work.hash = [all, manifest](std::uint64_t bundle) {
        return hash_text(fmt::format("{} {} {}", all, manifest.first(bundle), manifest.end(bundle)));
    };
    job.work.compute = [options, manifest](Group& root, std::uint64_t bundle, Steps& steps, const InputFile* before) {
        return compute_machines(options, manifest, root, bundle, steps, before);
    };
    job.merge = [options, hash = job.work.hash](const CampaignFolder& folder, ResultFile& file) {
        return merge_machines(folder, options, hash, file);
    };
    return job;
}

}  // namespace cachetally::app
