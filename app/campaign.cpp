// SPDX-License-Identifier: BSD-3-Clause
// cachetally campaign: grids of points in a folder, by processes here, by hand on several machines, or on Slurm.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>

#include "app/campaign_job.hpp"
#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "app/terminal.hpp"
#include "base/processors.hpp"
#include "base/text.hpp"
#include "campaign/slurm.hpp"
#include "campaign/status.hpp"

namespace cachetally::app {
namespace {

struct CampaignArguments {
    std::string file, folder, shard;
    WorkOptions work;
    std::uint64_t points_per_bundle = 0;
    bool slurm = false, dry_run = false, json = false, partial = false;
    SlurmOptions scheduler;
    OutputOptions output;
};

/// "2/10"
void parse_shard(const std::string& text, WorkOptions& work) {
    if (text.empty()) return;
    const auto slash = text.find('/');
    const auto shard = parse_whole(std::string_view(text).substr(0, slash)),
               shards =
                   slash == std::string::npos ? std::nullopt : parse_whole(std::string_view(text).substr(slash + 1));
    if (!shard || !shards || *shard == 0 || *shard > *shards)
        throw UsageError("'--shard {}': write I/N, the part and the number of parts, as in 1/4", shown(text));
    work.shard = *shard;
    work.shards = *shards;
}

std::function<void(std::uint64_t, std::uint64_t)> work_progress() {
    if (::isatty(STDERR_FILENO) == 0) return {};
    return [begin = std::chrono::steady_clock::now(), first = ~std::uint64_t{0}](std::uint64_t done,
                                                                                 std::uint64_t all) mutable {
        if (first == ~std::uint64_t{0}) first = done;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::string left;
        if (done > first)
            left = fmt::format(", {:.0f} s left",
                               seconds / static_cast<double>(done - first) * static_cast<double>(all - done));
        on_progress_line(fmt::format("{} of {} done{}", done, all, left));
    };
}

/// One merge at a time into the folder's own result: several who end at once all have the same to write.
BundleLock merge_lock(const CampaignFolder& folder) {
    for (;;) {
        std::optional<BundleLock> lock = BundleLock::take(folder.file("result.running"));
        if (lock) return std::move(*lock);
        if (interrupted()) throw CampaignError("interrupted before the merge");
        ::usleep(100'000);
    }
}

void merge_bundles(const CampaignFolder& folder, const CampaignJob& job, OutputOptions output, bool partial) {
    const bool own = output.file.empty();
    std::optional<BundleLock> lock;
    if (own) {
        output = {folder.file("result.h5"), true};
        lock.emplace(merge_lock(folder));
    }
    const std::unique_ptr<ResultFile> file = open_output(output, {});
    const std::string incomplete = job.merge(folder, *file);
    if (incomplete.empty()) {
        file->finish();
    } else if (partial) {
        file->keep_partial(incomplete);
    } else {
        throw CampaignError("{}: 'cachetally campaign resume {}' goes on; --partial merges what is there", incomplete,
                            shown(folder.path()));
    }
    if (lock) lock->release();
    print("{}{}\n", output.file, incomplete.empty() ? "" : " is marked partial: " + incomplete);
}

/// A file that may not grow (ulimit -f) is an error that has words.
void take_limits_as_errors() { std::signal(SIGXFSZ, SIG_IGN); }

/// Computes here what is not there, and merges where all of it is this call's.
void work_here(const CampaignFolder& folder, CampaignArguments& options) {
    parse_shard(options.shard, options.work);
    const CampaignJob job = job_of(folder);
    catch_interrupts();
    take_limits_as_errors();
    options.work.interrupted = [] { return interrupted(); };
    options.work.progress = work_progress();
    const WorkResult result = run_bundles(folder, job.work, options.work);
    clear_progress_line();
    const CampaignStatus status = status_of(folder);
    print_lines(to_text(status));
    if (!result.error.empty()) throw CampaignError("{}; what is done is kept in {}", result.error, folder.path());
    if (result.interrupted)
        throw CampaignError("{}: 'cachetally campaign resume {}' goes on",
                            folder.is_cancelled() ? "cancelled" : "interrupted", shown(folder.path()));
    if (options.work.shards == 1 && options.work.shard == 1) merge_bundles(folder, job, {}, true);
    if (status.failed != 0)
        throw CampaignError("{} failed: {}", numbered(status.failed, status.kind == "points" ? "point" : "machine"),
                            folder.file("errors.log"));
}

std::string own_path() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

SlurmOptions scheduler_of(const CampaignArguments& options) {
    SlurmOptions scheduler = options.scheduler;
    scheduler.jobs = options.work.jobs;
    scheduler.retry = options.work.retry;
    scheduler.program = own_path();
    return scheduler;
}

void print_scripts(const std::string& folder, const Manifest& manifest, const CampaignArguments& options) {
    const SlurmScripts scripts = slurm_scripts(folder, manifest, scheduler_of(options));
    print("{}\n", "# sbatch array.sh");
    print_lines(scripts.array);
    print("\n{}\n", "# sbatch --dependency=afterany:JOB merge.sh");
    print_lines(scripts.merge);
}

void work_on_slurm(const CampaignFolder& folder, const CampaignArguments& options) {
    job_of(folder);  // what is wrong is said here, not by each task
    const std::vector<std::string> jobs = submit(folder, scheduler_of(options));
    print("{}: submitted as jobs {} and {} (merge); 'cachetally campaign status {}' tells how far they are\n",
          folder.manifest().name, jobs[0], jobs[1], folder.path());
}

void describe_points(const Manifest& manifest) {
    print("{}: {} in {}\n", manifest.name, numbered(manifest.items, "point"), numbered(manifest.count(), "bundle"));
    const std::shared_ptr<const Grid> grid = grid_of(manifest);
    constexpr std::uint64_t shown_points = 10;
    for (std::uint64_t point = 0; point < std::min(shown_points, grid->points()); ++point) {
        const Grid::Place place = grid->place(point);
        std::string line = fmt::format("  {}: {} on {}", point, grid->workload_name(place), grid->machine_name(place));
        const std::vector<std::string> values = grid->values(place);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!values[i].empty()) line += fmt::format(", {}={}", grid->parameters()[i].name, values[i]);
        if (!grid->file().seeds.empty()) line += fmt::format(", seed={}", grid->seed(place));
        print("{}\n", line);
    }
    if (grid->points() > shown_points) print("  ... and {} more\n", grid->points() - shown_points);
}

void begin_campaign(CampaignArguments& options) {
    const Manifest manifest = points_manifest(options.file, options.points_per_bundle);
    if (options.folder.empty()) options.folder = std::filesystem::path(options.file).stem().string() + ".campaign";
    if (options.dry_run)
        return options.slurm ? print_scripts(options.folder, manifest, options) : describe_points(manifest);
    const CampaignFolder folder(options.folder, manifest);
    if (options.slurm) return work_on_slurm(folder, options);
    work_here(folder, options);
}

void resume_campaign(CampaignArguments& options) {
    const CampaignFolder folder(options.folder);
    options.work.retry = true;
    if (options.dry_run && options.slurm) return print_scripts(folder.path(), folder.manifest(), options);
    if (options.dry_run) return print_lines(to_text(status_of(folder)));
    folder.go_on();
    if (options.slurm) return work_on_slurm(folder, options);
    work_here(folder, options);
}

void cancel_campaign(const CampaignArguments& options) {
    const CampaignFolder folder(options.folder);
    folder.cancel();
    cancel_jobs(folder);
    print("{}: cancelled; what is done is kept\n", folder.manifest().name);
}

CLI::Option* add_folder(CLI::App& command, CampaignArguments& options) {
    return command.add_option("FOLDER", options.folder, "The folder of a campaign")->required();
}

void add_work_options(CLI::App& command, CampaignArguments& options) {
    command.add_option("-j,--jobs", options.work.jobs, "Processes at a time; the result does not depend on it")
        ->transform(whole_number(1, 1024))
        ->capture_default_str();
    add_text_option(command, "--shard", options.shard,
                    "Do this part of the work alone: part I of N, on whatever machine; 'merge' afterwards", "I/N",
                    "the part and the number of parts, as in 1/4");
}

void add_slurm_options(CLI::App& command, CampaignArguments& options) {
    CLI::Option* slurm =
        command.add_flag("--slurm", options.slurm, "Submit an array of jobs and a merge that waits for it, by sbatch");
    command.add_option("--tasks", options.scheduler.tasks, "Of the array [default: at most 100]")
        ->transform(whole_number(1, 1'000'000))
        ->needs(slurm);
    add_text_option(command, "--partition", options.scheduler.partition, "As sbatch takes it", "NAME",
                    "the name of a partition")
        ->needs(slurm);
    add_text_option(command, "--time", options.scheduler.time, "Of a task at most, as sbatch takes it", "TIME",
                    "a time, as in 2:00:00")
        ->needs(slurm);
    add_text_option(command, "--memory", options.scheduler.memory, "Of a task, as sbatch --mem takes it", "SIZE",
                    "a size, as in 4G")
        ->needs(slurm);
    add_text_option(command, "--sbatch", options.scheduler.extra, "Another option of sbatch, as it is; may be repeated",
                    "OPTION", "an option, as in --nice=100")
        ->allow_extra_args(false)
        ->needs(slurm);
    command.add_flag("--dry-run", options.dry_run,
                     "Submit and run nothing: print the scripts with --slurm, else the points");
}

void add_campaign_run(CLI::App& campaign, const std::shared_ptr<CampaignArguments>& options) {
    CLI::App* command = campaign.add_subcommand("run", "Begin a campaign, or go on with it, and merge its results");
    command->add_option("FILE", options->file, "A campaign file (YAML; docs/campaigns.md)")->required();
    add_text_option(*command, "--folder", options->folder, "Where its results gather; default: FILE.campaign here",
                    "FOLDER", "the name of a folder");
    add_work_options(*command, *options);
    command
        ->add_option("--points-per-bundle", options->points_per_bundle,
                     "Points in one file, which are lost together where their process is killed [default: 1 to "
                     "1000, so that there are 400 files]")
        ->transform(whole_number(1, 1'000'000));
    add_slurm_options(*command, *options);
    command->footer(
        "Examples:\n"
        "  cachetally campaign run counters.yaml --jobs 8\n"
        "  cachetally campaign run counters.yaml --shard 1/4      on each of four machines\n"
        "  cachetally campaign run counters.yaml --slurm --tasks 50 --time 1:00:00 --memory 2G\n"
        "  cachetally campaign run counters.yaml --dry-run");
    command->callback([options] { begin_campaign(*options); });
}

}  // namespace

void add_campaign(CLI::App& app) {
    CLI::App* campaign = app.add_subcommand(
        "campaign", "Grids of machines, workloads and monitors, here or on Slurm, resumable to the last point");
    campaign->require_subcommand(1);
    campaign->footer("Example: cachetally campaign run counters.yaml --jobs 8");
    const auto options = std::make_shared<CampaignArguments>();
    options->work.jobs = usable_processors();
    add_campaign_run(*campaign, options);

    CLI::App* command = campaign->add_subcommand("resume", "Go on: what is done is kept, what failed is tried again");
    add_folder(*command, *options);
    add_work_options(*command, *options);
    add_slurm_options(*command, *options);
    command->footer("Example: cachetally campaign resume counters.campaign --jobs 8");
    command->callback([options] { resume_campaign(*options); });

    command = campaign->add_subcommand("status", "How far a campaign is, from its files alone");
    add_folder(*command, *options);
    command->add_flag("--json", options->json, "Print JSON");
    command->footer("Example: cachetally campaign status counters.campaign");
    command->callback([options] {
        const CampaignStatus status = status_of(CampaignFolder(options->folder));
        if (options->json) return print_json(to_json(status));
        print_lines(to_text(status));
    });

    command = campaign->add_subcommand("merge", "Put the results into one file");
    add_folder(*command, *options);
    add_output_options(*command, options->output, "a row per point; default: FOLDER/result.h5");
    command->add_flag("--partial", options->partial, "Also where not all is done; the file is marked partial");
    command->footer("Example: cachetally campaign merge counters.campaign -o counters.h5");
    command->callback([options] {
        take_limits_as_errors();
        const CampaignFolder folder(options->folder);
        merge_bundles(folder, job_of(folder), options->output, options->partial);
    });

    command = campaign->add_subcommand("cancel", "End all who work on a campaign, and its Slurm jobs");
    add_folder(*command, *options);
    command->footer("Example: cachetally campaign cancel counters.campaign");
    command->callback([options] { cancel_campaign(*options); });

    command = campaign->add_subcommand("work", "What the tasks of schedulers call: a shard, without merge");
    add_folder(*command, *options);
    add_work_options(*command, *options);
    command->add_flag("--retry", options->work.retry, "What failed is tried again");
    command->footer("Example: cachetally campaign work counters.campaign --shard 3/50 --jobs 1");
    command->callback([options] {
        if (options->shard.empty())
            throw UsageError("--shard is required: the part and the number of parts, as in 1/4");
        work_here(CampaignFolder(options->folder), *options);
    });
}

}  // namespace cachetally::app
