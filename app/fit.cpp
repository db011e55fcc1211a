// SPDX-License-Identifier: BSD-3-Clause
// cachetally fit: a machine file whose response curves are those that were measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/fitted.hpp"
#include "app/output.hpp"
#include "app/terminal.hpp"
#include "probes/curve_comparison.hpp"
#include "probes/fit/measured.hpp"
#include "probes/probe_file.hpp"
#include "probes/recording/recording.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "viewer/probe_comparison_text.hpp"
#include "viewer/run_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally::app {
namespace {

struct FitArguments {
    std::string file, start;
    OutputOptions output;
    unsigned jobs = 0;
    std::string name = "fitted";
    bool json = false;
    Trust trust = Trust::digests;
};

/// Where the search begins: a machine that is named, or what the measured one says of itself.
MachineDescription start_of(const FitArguments& options, const InputFile& file) {
    if (!options.start.empty()) return load_machine(options.start);
    const bool is_told = file.root().open_group("provenance").has("machine_file");
    const std::string text = is_told ? read_provenance(file.root()).machine_text : "";
    if (text.empty())
        throw UsageError("{} does not say which machine it is of; name one to begin with: --start MACHINE",
                         options.file);
    return read_machine(text, options.file);
}

/// The fitted machine's own response, beside the measured one and no further than that; none where an interrupt comes
/// before its end.
std::optional<ProbeComparison> compared_with(const MachineDescription& machine, std::span<const TestReport> measured) {
    SimulatedOptions options;
    options.largest_arena = largest_arena_of(measured, machine.pages.size);
    SimulatedTarget target(machine, options);
    SuiteOptions suite;
    suite.tests = {"response"};
    suite.budget.go_on = [] { return !interrupted(); };
    const std::vector<TestReport> found = run_suite(target, suite);
    if (interrupted()) return std::nullopt;
    return compared(measured, found);
}

constexpr double far_off = 0.15;  ///< mean difference of curves, beyond which the machine is of another kind

std::string text_of(const FitResult& result, const std::optional<ProbeComparison>& comparison) {
    constexpr auto left = TextTable::Align::left;
    TextTable table({{"component", left}, {"key", left}, {"value", left}, {"as good", left}}, 3);
    for (const FittedKey& key : result.keys)
        table.add({key.component, key.key, key.value,
                   key.any_as_good ? "not determined" : fmt::format("{}", fmt::join(key.as_good, ", "))});
    const bool far = std::expm1(result.error) > far_off;
    return fmt::format("mean difference of the curves: {:.1f} % before, {:.1f} % after {} simulations\n{}\n",
                       100 * std::expm1(result.error_before), 100 * std::expm1(result.error), result.simulations,
                       far ? "still far apart: name a machine with other levels to begin with, if the measured one has "
                             "more or fewer (--start)\n"
                           : "") +
           table.text(terminal_width()) + (comparison ? '\n' + to_text(*comparison, terminal_width()) : "");
}

Json json_of(const FitResult& result, const std::optional<ProbeComparison>& comparison) {
    Json keys = Json::array();
    for (const FittedKey& key : result.keys)
        keys.push_back({{"component", key.component},
                        {"key", key.key},
                        {"value", key.value},
                        {"as_good", key.as_good},
                        {"any_as_good", key.any_as_good},
                        {"determined", key.determined()}});
    return {{"error_before", result.error_before},
            {"error", result.error},
            {"simulations", result.simulations},
            {"keys", keys},
            {"comparison", comparison ? to_json(*comparison) : Json()},
            {"machine", write_machine(result.machine)}};
}

void fit_file(FitArguments options) {
    require_present(options.file);
    if (!options.output.file.empty()) {
        check_text_output(options.output, {options.file, options.start}, "a machine");
    } else if (options.output.force) {
        throw UsageError("--force means something with --output only");
    }
    const InputFile file(options.file, options.trust);
    if (const std::string kind = result_kind(file); kind != "probe")
        throw UsageError("{} is a result of {}; machines are fitted to results of probe", options.file, kind);
    const std::vector<TestReport> measured = read_probe(file.root());
    catch_interrupts();
    const FitResult result = [&] {
        const MachineDescription start = start_of(options, file);
        std::optional<Recording> recording;
        if (has_recording(file.root())) recording = read_recording(file.root());
        try {
            return fitted_to(measured, recording ? &*recording : nullptr, start,
                             {options.name, "fitted to the response curves of " + options.file, "cachetally fit"},
                             options.jobs);
        } catch (const std::invalid_argument& error) {
            throw UsageError("{}: {}", options.file, error.what());
        }
    }();
    if (!options.output.file.empty()) write_text_output(options.output, write_machine(result.machine));
    const std::optional<ProbeComparison> comparison = compared_with(result.machine, measured);
    if (options.json)
        print_json(json_of(result, comparison));
    else
        print_lines(text_of(result, comparison));
    if (!comparison)
        throw std::runtime_error(
            fmt::format("interrupted after the machine was fitted{}, before it was compared with what was measured",
                        options.output.file.empty() ? "" : " and written to " + options.output.file));
}

}  // namespace

void add_fit(CLI::App& app) {
    auto options = std::make_shared<FitArguments>();
    CLI::App* command = app.add_subcommand(
        "fit", "Fit a machine file to measured response curves, and say how well each key is determined");
    command
        ->add_option("FILE", options->file, "A result of probe with response curves (--record, or the test response)")
        ->required();
    command
        ->add_option("--start", options->start,
                     "The machine to begin with, whose levels and lines stay (default: what the measured one says)")
        ->type_name("MACHINE");
    command->add_option("-o,--output", options->output.file, "Write the machine file here")
        ->type_name("FILE.yaml")
        ->check(not_empty("the name of a file"));
    command->add_flag("-f,--force,--overwrite", options->output.force, "Replace the output file where it exists");
    add_text_option(*command, "--name", options->name, "The name of the machine", "NAME", "a name");
    command->add_option("--jobs", options->jobs, "Threads (default: as many as there are processors)")
        ->transform(whole_number(1, 256));
    command->add_flag("--json", options->json, "Print JSON");
    add_trust_option(*command, options->trust);
    command->footer(
        "Example:\n"
        "  cachetally probe response --machine native --robust --budget 2.5e11 --record host.h5\n"
        "  cachetally fit host.h5 -o host.yaml\n"
        "  cachetally run lu n=256 -m host.yaml");
    command->callback([options] { fit_file(*options); });
}

}  // namespace cachetally::app
