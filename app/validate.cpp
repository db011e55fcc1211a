// SPDX-License-Identifier: BSD-3-Clause
// cachetally validate: the tests on random machines, scored.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "app/campaign_work.hpp"
#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/noise.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "app/validate.hpp"
#include "base/processors.hpp"
#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "probes/validation/validation.hpp"
#include "storage/columns.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally::app {
namespace {

struct ValidateOptions {
    ValidationOptions campaign;
    std::string worst, population = "wide", machines_from;
    std::uint64_t most_worst = 10;
    bool published_only = false, robust_only = false, json = false;
    OutputOptions output;
    CampaignWork work;
};

/// Makes the directory of the worst machines; before any machine is run, so that nothing is lost where it cannot be
/// had.
void require_directory(const std::string& name) {
    std::error_code error;
    std::filesystem::create_directories(name, error);
    const bool made = std::filesystem::is_directory(name);
    if (made && ::access(name.c_str(), W_OK | X_OK) == 0) return;
    throw UsageError("--worst: no machine can be written into '{}' ({}); name a directory that can be written",
                     shown(name), !made && error ? error.message() : std::strerror(errno));
}

void save_worst(const ValidateOptions& options, const ValidationResult& result) {
    std::filesystem::create_directories(options.worst);
    for (std::size_t i = 0; i < std::min<std::size_t>(options.most_worst, result.failures.size()); ++i) {
        const Failure& failure = result.failures[i];
        const std::string path = machine_file(options.campaign, failure.machine);
        std::ofstream file(path);
        file << "# " << failure.replay << '\n' << write_machine(validation_machine(options.campaign, failure.machine));
        if (!file.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path));
    }
}

std::vector<std::string> validation_noise() {
    std::vector<std::string> names = noise_names();
    names.emplace_back("mixed");
    return names;
}

std::function<bool(std::uint64_t)> progress(std::uint64_t machines) {
    catch_interrupts();
    if (::isatty(STDERR_FILENO) == 0) return [](std::uint64_t) { return !interrupted(); };
    return [machines, begin = std::chrono::steady_clock::now()](std::uint64_t done) {
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        on_progress_line(fmt::format("{} of {} machines, {:.0f} s left", done, machines,
                                     seconds / static_cast<double>(done) * static_cast<double>(machines - done)));
        if (done == machines) to_stderr("\n");
        return !interrupted();
    };
}

/// Of this process so far, seconds.
double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What would be passed over is refused.
void check_use(const CLI::App& command, const ValidateOptions& options) {
    if (options.published_only && options.robust_only)
        throw UsageError("--as-published and --robust leave nothing to run; give one of them");
    if (!options.machines_from.empty())
        for (const char* option : {"--machines", "--population", "--worst"})
            if (command.count(option) != 0)
                throw UsageError(
                    "{} is for random machines; --machines-from takes all that are in its directory, and leaves them "
                    "there; give one of the two",
                    option);
    for (const char* option : {"--shard", "--slurm", "--dry-run"})
        if (command.count(option) != 0 && command.count("--worst") != 0)
            throw UsageError("--worst is of all machines: give the command without {} once more when they are done",
                             option);
    if (!options.work.folder.empty() && command.count("--most-worst") != 0 && options.worst.empty())
        throw UsageError("--most-worst is, beside --folder, for --worst; show names the worst machines");
    if (command.count("--costly-every") == 0) return;
    if (!options.campaign.suite.tests.empty())
        throw UsageError(
            "--costly-every is for all tests: those that --tests names are run on every machine; give one of the two");
    if (options.robust_only)
        throw UsageError("--costly-every is for published variants, of which --robust runs none; give one of the two");
}

/// The machine files of a directory, by name. All are checked before any is probed.
std::vector<GivenMachine> machines_from(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        const std::string ending = at->path().extension().string();
        if (ending == ".yaml" || ending == ".yml" || ending == ".json") files.push_back(at->path().string());
    }
    if (error)
        throw UsageError("--machines-from: '{}' cannot be read ({}); name a directory of machine files",
                         shown(directory), error.message());
    if (files.empty())
        throw UsageError("--machines-from: '{}' has no machine file (*.yaml, *.yml, *.json)", shown(directory));
    std::ranges::sort(files);
    std::vector<GivenMachine> machines;
    machines.reserve(files.size());
    for (const std::string& file : files) machines.push_back({file, Topology(load_machine(file)).machine()});
    return machines;
}

/// Throws where not all machines were done.
void report_end(const ResultFile* file, const ValidationResult& result, const ValidateOptions& options) {
    if (result.machines < options.campaign.machines)
        throw std::runtime_error(fmt::format(
            "interrupted after {} of {} machines: what is printed{} is of these", result.machines,
            options.campaign.machines, file ? fmt::format(" and kept in {} (marked partial)", file->path()) : ""));
}

void validate_in_folder(ValidateOptions options) {
    begin_campaign(validation_manifest(options.campaign), options.work);
    if (options.worst.empty()) return;
    options.campaign.directory = options.worst;
    const InputFile merged(CampaignFolder(options.work.folder).file("result.h5"), Trust::file);
    save_worst(options, read_validation_view(merged).result);
}

void validate(ValidateOptions options) {
    options.campaign.suite.published = !options.robust_only;
    options.campaign.suite.robust = !options.published_only;
    left_out_of(options.campaign.suite);  // throws where nothing can be run
    options.campaign.population = population_named(options.population);
    if (!options.machines_from.empty()) {
        options.campaign.given = machines_from(options.machines_from);
        options.campaign.machines = options.campaign.given.size();
    }
    if (!options.worst.empty()) require_directory(options.worst);
    if (!options.work.folder.empty()) return validate_in_folder(options);
    options.campaign.directory = options.worst;
    options.campaign.recorded_noise = read_noise(options.campaign.noise);
    options.campaign.progress = progress(options.campaign.machines);
    const auto begin = std::chrono::steady_clock::now();
    options.campaign.suite.budget.go_on = [] { return !interrupted(); };
    const std::unique_ptr<ResultFile> file = open_output(options.output, {noise_file(options.campaign.noise)});
    ValidationView view = validation_view(run_validation(options.campaign), options.campaign);
    view.worst = options.most_worst;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    clear_progress_line();
    if (options.json) {
        print_json(to_json(view));
    } else {
        print_lines(to_text(view, fmt::format("{:.1f} s, {:.1f} s of processor time", seconds, processor_time()),
                            terminal_width()));
    }
    std::fflush(stdout);  // whatever becomes of the files, the scores are printed
    if (file) {
        write_validation_result(file->root(), view);
        RunTitle title;
        title.complete = view.incomplete.empty();
        title.incomplete = view.incomplete;
        close_output(file.get(), title);
    }
    if (!options.worst.empty()) save_worst(options, view.result);
    report_end(file.get(), view.result, options);
}

}  // namespace

ValidationView validation_view(ValidationResult result, const ValidationOptions& options) {
    ValidationView view;
    if (result.machines < options.machines) view.incomplete = "interrupted before all machines were done";
    view.result = std::move(result);
    view.seed = options.seed;
    view.noise = options.noise;
    view.left_out = left_out_in_words(options.suite);
    return view;
}

void write_validation_result(Group& root, const ValidationView& view) {
    set_nexus_class(root, "NXroot");
    root.set_attribute("format", result_format);
    root.set_attribute("format_version", result_format_version);
    root.set_attribute("kind", std::string("validate"));
    write_validation_view(root, view);
    Provenance provenance = make_provenance(command_line());
    provenance.seed = view.seed;
    write_provenance(root, provenance);
}

void add_validate(CLI::App& app) {
    auto options = std::make_shared<ValidateOptions>();
    ValidationOptions& campaign = options->campaign;
    campaign.program = app.get_name();
    CLI::App* command = app.add_subcommand("validate", "Score the tests of 'probe' on random machines");
    command->add_option("--machines", campaign.machines, "Number of machines")
        ->transform(whole_number(1, 10'000'000))
        ->capture_default_str();
    command->add_option("--seed", campaign.seed, "Seed of the machines, orders and noise")
        ->transform(whole_number())
        ->capture_default_str();
    command
        ->add_option("--population", options->population,
                     "What machines are drawn from: usual; wide: with physically indexed and hashed L1s, bit-PLRU, "
                     "NRU, prefetchers, and small pages only, too; modern: wide, and with slices, sectors, coalesced "
                     "pages, page-walk caches, pairs of lines, QLRU, DRRIP, too")
        ->check(one_of(population_names()))
        ->type_name("NAME")
        ->capture_default_str();
    add_text_option(*command, "--machines-from", options->machines_from,
                    "Probe the machine files of this directory in place of random machines", "DIR",
                    "the name of a directory");
    command->add_flag("--small-pages", campaign.small_pages, "Offer no pages but the machines' own");
    command->add_option("--tests", campaign.suite.tests, "Tests, separated by commas (default: all)")
        ->delimiter(',')
        ->type_name("TEST,...");
    add_noise_option(*command, campaign.noise, validation_noise(),
                     "none, quiet, realistic, heavy, or mixed: one of the first three by machine");
    add_work_options(*command, options->work);
    add_text_option(*command, "--folder", options->work.folder,
                    "Validate as a campaign: results gather in this folder, 'campaign resume' goes on "
                    "(docs/campaigns.md)",
                    "FOLDER", "the name of a folder");
    add_slurm_options(*command, options->work);
    add_text_option(
        *command, "--worst", options->worst,
        "Write the worst machines into this directory, as machine files, with the commands that repeat them", "DIR",
        "the name of a directory");
    command->add_option("--most-worst", options->most_worst, "How many worst machines to name")
        ->transform(whole_number())
        ->capture_default_str();
    add_text_option(*command, "--no-events", campaign.no_events,
                    "Machines count no events, for this reason: times alone", "REASON",
                    "a reason, which the answers repeat");
    command->add_flag("--as-published", options->published_only, "Run the original algorithms only");
    command->add_flag("--robust", options->robust_only, "Run the robust algorithms only");
    command->add_flag("--hardened", options->robust_only)->group("");  // its former name
    command
        ->add_option("--costly-every", campaign.costly_every,
                     "Without --tests: published variants that take seconds are run on every N-th machine (0: on none)")
        ->transform(whole_number())
        ->type_name("N")
        ->capture_default_str();
    add_output_options(*command, options->output, "scores and worst machines");
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(
        "Examples:\n"
        "  cachetally validate --machines 100 --robust\n"
        "  cachetally validate --machines 1000 --tests l1,levels --noise realistic --worst worst\n"
        "  cachetally validate --machines 1000000 --robust --folder million --slurm --tasks 500\n"
        "  cachetally validate --machines-from mine --small-pages --tests l1\n"
        "The commands after the worst machines repeat their answers, from the files that --worst writes.");
    command->callback([options, command] {
        check_use(*command, *options);
        check_beside_folder(*command, options->work.folder, {"--shard", "--slurm", "--dry-run"},
                            {"--output", "--force", "--json"});
        options->campaign.jobs = options->work.jobs == 0 ? usable_processors() : options->work.jobs;
        validate(*options);
    });
}

}  // namespace cachetally::app
