// SPDX-License-Identifier: BSD-3-Clause
// A campaign on Slurm: an array of tasks, each with a shard of the bundles, and a merge that waits for them.
#pragma once

#include "campaign/store.hpp"

namespace cachetally {

struct SlurmOptions {
    std::uint64_t tasks = 0;              ///< of the array; 0: by points_per_task, or at most 100
    std::uint64_t points_per_task = 0;    ///< about so many, in whole bundles; 0: by tasks
    unsigned jobs = 1;                    ///< processes and processors per task
    bool retry = false;                   ///< failed items are computed again
    std::string partition, time, memory;  ///< as sbatch takes them; empty: the cluster's own
    std::vector<std::string> extra;       ///< options of sbatch, as they are
    std::string program;                  ///< path of this program
};

struct SlurmScripts {
    std::string array, merge;
};

/// The scripts that submit() hands to sbatch, for a campaign in the folder `path`. Other schedulers need the same two
/// command lines.
SlurmScripts slurm_scripts(const std::string& path, const Manifest& manifest, const SlurmOptions& options);

/// Writes the scripts into the folder (slurm/) and submits them; returns the numbers of both jobs, which are kept in
/// slurm/jobs. Throws CampaignError where sbatch is not there or refuses, with its words.
std::vector<std::string> submit(const CampaignFolder& folder, const SlurmOptions& options);

/// Throws CampaignError where jobs of the campaign are queued: a second array would find its bundles taken, or done.
void require_none_queued(const CampaignFolder& folder);

/// All jobs that were submitted for a campaign.
std::vector<std::string> submitted_jobs(const CampaignFolder& folder);

/// Ends those that are not over. Throws CampaignError where scancel is not there.
void cancel_jobs(const CampaignFolder& folder);

}  // namespace cachetally
