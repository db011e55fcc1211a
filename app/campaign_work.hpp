// SPDX-License-Identifier: BSD-3-Clause
// How the work of a campaign is done: here by several processes, a shard by hand, or on Slurm. Options and what they
// do, for all commands that begin campaigns.
#pragma once

#include <string>

#include "app/campaign_job.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "campaign/slurm.hpp"

namespace cachetally::app {

struct CampaignWork {
    std::string folder, shard;
    unsigned jobs = 0;   ///< 0: all processors here, one per task of Slurm
    bool retry = false;  ///< failed items are computed again
    bool slurm = false, dry_run = false;
    SlurmOptions scheduler;
};

/// --jobs and --shard.
void add_work_options(CLI::App& command, CampaignWork& work);

/// --slurm and what belongs to it, and --dry-run.
void add_slurm_options(CLI::App& command, CampaignWork& work);

/// Of commands that may be campaigns: throws UsageError where one of `needing` stands without --folder, or one of
/// `contradicting` beside it.
void check_beside_folder(const CLI::App& command, const std::string& folder, std::initializer_list<const char*> needing,
                         std::initializer_list<const char*> contradicting);

/// Begins a campaign in its folder, or joins it, and does what the options say.
void begin_campaign(const Manifest& manifest, const CampaignWork& work);

/// The same with one that was begun. Throws CampaignError at its end where something failed.
void work_on(const CampaignFolder& folder, const CampaignWork& work);

/// Prints the scripts for Slurm.
void print_scripts(const std::string& folder, const Manifest& manifest, const CampaignWork& work);

/// Into FOLDER/result.h5 where no other file is named. `partial`: also where not all is there.
void merge_bundles(const CampaignFolder& folder, const CampaignJob& job, OutputOptions output, bool partial);

}  // namespace cachetally::app
