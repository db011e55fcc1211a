// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/slurm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/text.hpp"

namespace cachetally {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t usual_tasks = 100;

/// Names of jobs: what all tools print as it is.
std::string plain(const std::string& name) {
    std::string text;
    for (const unsigned char c : name)
        text += std::isalnum(c) != 0 || c == '-' || c == '_' ? static_cast<char>(c) : '_';
    return text;
}

/// Of the array.
std::string job_name(const Manifest& manifest) { return "cachetally-" + plain(manifest.name); }

/// A value with blanks would be read as several.
std::string one_word(const std::string& value, const char* option) {
    if (value.find_first_of(" \t\n\r") != std::string::npos)
        throw CampaignError("{} '{}': write one word, without blanks", option, shown(value));
    return value;
}

/// Options that the scripts set: others would contradict them.
constexpr std::string_view own_options[] = {"--array",  "-a", "--dependency",    "-d", "--job-name", "-J",
                                            "--output", "-o", "--cpus-per-task", "-c", "--signal",   "--open-mode",
                                            "--wrap"};

/// As a line of a script has it: values with blanks are quoted.
std::string extra_option(const std::string& option) {
    if (option.find_first_of("\n\r") != std::string::npos)
        throw CampaignError("--sbatch '{}': write an option in one line", shown(option));
    const auto end = option.find_first_of("= ");
    const std::string name = option.substr(0, end);
    if (std::ranges::find(own_options, name) != std::end(own_options))
        throw CampaignError("--sbatch '{}': {} is set by the scripts themselves (--dry-run prints them)", shown(option),
                            shown(name));
    if (end == std::string::npos || option[end] == ' ') return option;
    const std::string value = option.substr(end + 1);
    if (value.find(' ') == std::string::npos || value.find('"') != std::string::npos) return option;
    return name + "=\"" + value + "\"";
}

std::string header(const std::string& name, const SlurmOptions& options, const std::vector<std::string>& own) {
    std::string text = "#!/bin/sh\n#SBATCH --job-name=" + name + "\n";
    for (const std::string& option : own) text += "#SBATCH " + option + "\n";
    if (!options.partition.empty()) text += "#SBATCH --partition=" + one_word(options.partition, "--partition") + "\n";
    if (!options.time.empty()) text += "#SBATCH --time=" + one_word(options.time, "--time") + "\n";
    if (!options.memory.empty()) text += "#SBATCH --mem=" + one_word(options.memory, "--memory") + "\n";
    for (const std::string& option : options.extra) text += "#SBATCH " + extra_option(option) + "\n";
    return text;
}

struct Said {
    int status;
    std::string text;
};

Said run_command(const std::string& command) {
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "re");
    if (pipe == nullptr) throw CampaignError("no process can be begun: {}", std::strerror(errno));
    std::string text;
    char part[512];
    while (const std::size_t count = std::fread(part, 1, sizeof part, pipe)) text.append(part, count);
    const int status = ::pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::string(trimmed(text))};
}

constexpr int no_such_command = 127;

std::string submit_script(const CampaignFolder& folder, const std::string& name, const std::string& options) {
    const Said said = run_command("sbatch --parsable " + options + shell_word(folder.file("slurm/" + name)));
    if (said.status == no_such_command)
        throw CampaignError(
            "sbatch is not there: --slurm needs a machine from which jobs are submitted; --dry-run prints the scripts, "
            "and --shard i/n divides the work by hand");
    if (said.status != 0) throw CampaignError("sbatch refuses {}: {}", name, said.text);
    const std::string last(split(said.text, '\n').back());  // warnings may stand before it
    return last.substr(0, last.find(';'));                  // of a cluster among several
}

void keep_job(const CampaignFolder& folder, const std::string& job) {
    std::string all;
    for (const std::string& each : submitted_jobs(folder)) all += each + "\n";
    write_durably(folder.file("slurm/jobs"), all + job + "\n");
}

std::uint64_t tasks_of(const Manifest& manifest, const SlurmOptions& options) {
    std::uint64_t tasks = options.tasks == 0 ? usual_tasks : options.tasks;
    if (options.points_per_task != 0) tasks = (manifest.items + options.points_per_task - 1) / options.points_per_task;
    return std::min(tasks, manifest.count());
}

}  // namespace

void require_none_queued(const CampaignFolder& folder) {
    const std::vector<std::string> jobs = submitted_jobs(folder);
    if (jobs.empty()) return;
    const Said queued =
        run_command(fmt::format("squeue --noheader --format=%F --states=PENDING,RUNNING --name={} --jobs={}",
                                job_name(folder.manifest()), shell_word(fmt::format("{}", fmt::join(jobs, ",")))));
    if (queued.status != 0 || queued.text.empty()) return;  // jobs that ended long ago are unknown to squeue
    throw CampaignError("job {} of this campaign is in the queue: wait for it, or 'cachetally campaign cancel {}'",
                        split(queued.text, '\n').front(), shown(folder.path()));
}

SlurmScripts slurm_scripts(const std::string& folder, const Manifest& manifest, const SlurmOptions& options) {
    const std::string name = job_name(manifest);
    const std::uint64_t tasks = tasks_of(manifest, options);
    const std::string path = fs::absolute(folder).lexically_normal().string(), program = shell_word(options.program);
    SlurmScripts scripts;
    scripts.array =
        header(name, options,
               {fmt::format("--array=1-{}", tasks), fmt::format("--cpus-per-task={}", options.jobs), "--requeue",
                "--open-mode=append", "--signal=B:TERM@30", fmt::format("--output=\"{}/slurm/%A_%a.log\"", path)}) +
        fmt::format("exec {} campaign work {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {}{}\n", program,
                    shell_word(path), tasks, options.jobs, options.retry ? " --retry" : "");
    scripts.merge = header(name + "-merge", options,
                           {"--requeue", "--open-mode=append", fmt::format("--output=\"{}/slurm/%j.log\"", path)}) +
                    fmt::format("exec {} campaign merge {} --partial\n", program, shell_word(path));
    return scripts;
}

std::vector<std::string> submit(const CampaignFolder& folder, const SlurmOptions& options) {
    require_none_queued(folder);
    const SlurmScripts scripts = slurm_scripts(folder.path(), folder.manifest(), options);
    std::error_code error;
    fs::create_directories(folder.file("slurm"), error);
    write_durably(folder.file("slurm/array.sh"), scripts.array);
    write_durably(folder.file("slurm/merge.sh"), scripts.merge);
    const std::string array = submit_script(folder, "array.sh", "");
    keep_job(folder, array);
    const std::string merge = submit_script(folder, "merge.sh", fmt::format("--dependency=afterany:{} ", array));
    keep_job(folder, merge);
    return {array, merge};
}

std::vector<std::string> submitted_jobs(const CampaignFolder& folder) {
    std::vector<std::string> jobs;
    std::ifstream file(folder.file("slurm/jobs"));
    for (std::string job; std::getline(file, job);) jobs.push_back(job);
    return jobs;
}

void cancel_jobs(const CampaignFolder& folder) {
    std::string all;
    for (const std::string& job : submitted_jobs(folder)) all += " " + shell_word(job);
    if (all.empty()) return;
    const Said said = run_command("scancel" + all);
    if (said.status == no_such_command)
        throw CampaignError("scancel is not there: cancel the jobs{} where they were submitted", all);
}

}  // namespace cachetally
