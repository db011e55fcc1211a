// SPDX-License-Identifier: BSD-3-Clause
// How far a campaign is, from its files alone.
#pragma once

#include "campaign/store.hpp"

namespace cachetally {

/// Points that failed for one reason.
struct FailureReason {
    std::uint64_t first = 0;  ///< of them
    std::uint64_t items = 0;
    std::string error;
};

struct CampaignStatus {
    std::string name, kind, noun, program;
    std::uint64_t items = 0;    ///< points, or machines
    std::uint64_t done = 0;     ///< with results
    std::uint64_t failed = 0;   ///< ended with an error
    std::uint64_t running = 0;  ///< in bundles that processes work on
    std::uint64_t bundles = 0, bundles_done = 0;
    std::vector<std::string> workers;     ///< "host HOST pid PID", one per bundle in work
    std::optional<double> seconds_left;   ///< at the pace of the last bundles; nothing where it is not known
    std::vector<FailureReason> failures;  ///< the first of these
    bool cancelled = false;
    std::vector<std::string> jobs;  ///< of Slurm, as submitted
};

CampaignStatus status_of(const CampaignFolder& folder);

nlohmann::ordered_json to_json(const CampaignStatus& status);
std::string to_text(const CampaignStatus& status);

}  // namespace cachetally
