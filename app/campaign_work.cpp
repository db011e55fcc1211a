// SPDX-License-Identifier: BSD-3-Clause
#include "app/campaign_work.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "app/checks.hpp"
#include "app/terminal.hpp"
#include "base/processors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "campaign/status.hpp"
#include "viewer/run_view.hpp"

namespace cachetally::app {
namespace {

/// "2/10"
std::optional<std::pair<std::uint64_t, std::uint64_t>> shard_of(const std::string& text) {
    const auto slash = text.find('/');
    const auto shard = parse_whole(std::string_view(text).substr(0, slash)),
               shards =
                   slash == std::string::npos ? std::nullopt : parse_whole(std::string_view(text).substr(slash + 1));
    if (!shard || !shards || *shard == 0 || *shard > *shards) return std::nullopt;
    return std::pair(*shard, *shards);
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

}  // namespace

namespace {

/// What would be replaced must be a result of a campaign.
void require_own_result(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return;
    try {
        const InputFile file(path, Trust::file);
        const std::string kind = result_kind(file);
        if (kind == "campaign" || kind == "sweep" || kind == "validate") return;
    } catch (const StorageError&) {
    }
    throw CampaignError("'{}' is in the way, and no result of a campaign: move it, or merge into another file (-o)",
                        shown(path));
}

/// What the campaign is made of must not be written over.
void require_own_place(const CampaignFolder& folder, const std::string& output) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path place = fs::weakly_canonical(output, error);
    for (const char* own : {"bundles", "aside", "slurm", "campaign.json", "errors.log"}) {
        const fs::path part = place.lexically_relative(fs::weakly_canonical(folder.file(own), error));
        if (!part.empty() && *part.begin() != "..")
            throw UsageError("'-o {}' is among what the campaign is made of; give another name", shown(output));
    }
}

void write_merged(const CampaignFolder& folder, const CampaignJob& job, const OutputOptions& output, bool partial) {
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
    print("{}{}\n", output.file, incomplete.empty() ? "" : " is marked partial: " + incomplete);
}

}  // namespace

void merge_bundles(const CampaignFolder& folder, const CampaignJob& job, OutputOptions output, bool partial) {
    if (!output.file.empty()) {
        require_own_place(folder, output.file);
        return write_merged(folder, job, output, partial);
    }
    output = {folder.file("result.h5"), true};
    require_own_result(output.file);
    BundleLock lock = merge_lock(folder);
    try {
        write_merged(folder, job, output, partial);
    } catch (...) {
        lock.release();
        throw;
    }
    lock.release();
}

namespace {

/// Computes here what is not there, and merges where all of it is this call's.
void work_here(const CampaignFolder& folder, const CampaignWork& work) {
    WorkOptions options;
    options.jobs = work.jobs == 0 ? usable_processors() : work.jobs;
    options.retry = work.retry;
    if (!work.shard.empty()) std::tie(options.shard, options.shards) = shard_of(work.shard).value();
    const CampaignJob job = job_of(folder);
    catch_interrupts();
    options.interrupted = [] { return interrupted(); };
    options.progress = work_progress();
    const WorkResult result = run_bundles(folder, job.work, options);
    clear_progress_line();
    const CampaignStatus status = status_of(folder);
    print_lines(to_text(status));
    if (!result.error.empty()) throw CampaignError("{}; what is done is kept in {}", result.error, folder.path());
    if (result.interrupted)
        throw CampaignError("{}: 'cachetally campaign resume {}' goes on",
                            folder.is_cancelled() ? "cancelled" : "interrupted", shown(folder.path()));
    if (options.shards == 1) merge_bundles(folder, job, {}, true);
    if (status.failed != 0)
        throw CampaignError("{} failed: {}", numbered(status.failed, status.noun), folder.file("errors.log"));
}

std::string own_path() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

SlurmOptions scheduler_of(const CampaignWork& work) {
    SlurmOptions scheduler = work.scheduler;
    scheduler.jobs = std::max(1U, work.jobs);
    scheduler.retry = work.retry;
    scheduler.program = own_path();
    return scheduler;
}

void work_on_slurm(const CampaignFolder& folder, const CampaignWork& work) {
    job_of(folder);  // what is wrong is said here, not by each task
    if (folder.is_cancelled())
        throw CampaignError("cancelled: 'cachetally campaign resume {}' goes on", shown(folder.path()));
    const CampaignStatus status = status_of(folder);
    if (status.done + (work.retry ? 0 : status.failed) == status.items) return work_here(folder, work);
    const std::vector<std::string> jobs = submit(folder, scheduler_of(work));
    print("{}: submitted as jobs {} and {} (merge); 'cachetally campaign status {}' tells how far they are\n",
          folder.manifest().name, jobs[0], jobs[1], folder.path());
}

}  // namespace

void print_scripts(const std::string& folder, const Manifest& manifest, const CampaignWork& work) {
    const SlurmScripts scripts = slurm_scripts(folder, manifest, scheduler_of(work));
    print("{}\n", "# sbatch array.sh");
    print_lines(scripts.array);
    print("\n{}\n", "# sbatch --dependency=afterany:JOB merge.sh");
    print_lines(scripts.merge);
}

void work_on(const CampaignFolder& folder, const CampaignWork& work) {
    if (work.slurm) return work_on_slurm(folder, work);
    work_here(folder, work);
}

void begin_campaign(const Manifest& manifest, const CampaignWork& work) {
    if (work.dry_run && work.slurm) return print_scripts(work.folder, manifest, work);
    if (work.dry_run)
        return print("{}: {} in {}\n", manifest.name, numbered(manifest.items, manifest.noun()),
                     numbered(manifest.count(), "bundle"));
    work_on(CampaignFolder(work.folder, manifest), work);
}

void check_beside_folder(const CLI::App& command, const std::string& folder, std::initializer_list<const char*> needing,
                         std::initializer_list<const char*> contradicting) {
    for (const char* option : folder.empty() ? needing : contradicting) {
        if (command.count(option) == 0) continue;
        if (folder.empty())
            throw UsageError("{} needs --folder: the folder in which the results of a campaign gather", option);
        throw UsageError(
            "{} cannot stand beside --folder: a campaign takes traces as they are, and its result is FOLDER/result.h5, "
            "which 'cachetally show' prints",
            option);
    }
}

void add_work_options(CLI::App& command, CampaignWork& work) {
    command
        .add_option("-j,--jobs", work.jobs,
                    "Processes at a time; the result does not depend on it [default: all processors here, 1 with "
                    "--slurm]")
        ->transform(whole_number(1, 1024));
    add_text_option(command, "--shard", work.shard,
                    "Do this part of the work alone: part I of N, on whatever machine; 'merge' afterwards", "I/N",
                    "the part and the number of parts, as in 1/4")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return shard_of(text)
                           ? ""
                           : fmt::format("'{}': write I/N, the part and the number of parts, as in 1/4", shown(text));
            },
            ""));
}

void add_slurm_options(CLI::App& command, CampaignWork& work) {
    CLI::Option* slurm =
        command.add_flag("--slurm", work.slurm, "Submit an array of jobs and a merge that waits for it, by sbatch");
    slurm->excludes(command.get_option("--shard"));
    CLI::Option* tasks = command.add_option("--tasks", work.scheduler.tasks, "Of the array [default: at most 100]")
                             ->transform(whole_number(1, 1'000'000))
                             ->needs(slurm);
    command
        .add_option(
            "--points-per-task", work.scheduler.points_per_task,
            "In place of --tasks: as many tasks as give each so many points (validate: machines; sweep: workloads), "
            "in whole bundles")
        ->transform(whole_number(1, 10'000'000))
        ->needs(slurm)
        ->excludes(tasks);
    add_text_option(command, "--partition", work.scheduler.partition, "As sbatch takes it", "NAME",
                    "the name of a partition")
        ->needs(slurm);
    add_text_option(command, "--time", work.scheduler.time, "Of a task at most, as sbatch takes it", "TIME",
                    "a time, as in 2:00:00")
        ->needs(slurm);
    add_text_option(command, "--memory", work.scheduler.memory, "Of a task, as sbatch --mem takes it", "SIZE",
                    "a size, as in 4G")
        ->needs(slurm);
    add_text_option(command, "--sbatch", work.scheduler.extra, "Another option of sbatch, as it is; may be repeated",
                    "OPTION", "an option, as in --nice=100")
        ->allow_extra_args(false)
        ->needs(slurm);
    command.add_flag("--dry-run", work.dry_run,
                     "Submit and run nothing: print the scripts with --slurm, else what there is to do");
}

}  // namespace cachetally::app
