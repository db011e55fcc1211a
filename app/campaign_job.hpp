// SPDX-License-Identifier: BSD-3-Clause
// Campaigns of each kind: what their bundles are, and how these become one result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "campaign/grid.hpp"
#include "campaign/store.hpp"
#include "campaign/workers.hpp"
#include "storage/file.hpp"

namespace cachetally::app {

/// Whether machine files, traces and recordings must be as they were: all but a merge, which reads the folder alone.
enum class Inputs : std::uint8_t { required, not_needed };

struct CampaignJob {
    BundleWork work;
    /// Writes the merged result and what says of what; returns why it is not whole, or nothing.
    std::function<std::string(const CampaignFolder& folder, ResultFile& file)> merge;
};

/// From what the folder says. Throws CampaignError where the program, a machine file or a trace is not what it was when
/// the campaign began.
CampaignJob job_of(const CampaignFolder& folder, Inputs inputs = Inputs::required);

/// Of a campaign file: what is in the folder of a new campaign. Throws FileError and UsageError.
Manifest points_manifest(const std::string& path, std::uint64_t points_per_bundle);

/// The points of such a campaign. Throws CampaignError as job_of() does.
std::shared_ptr<const Grid> grid_of(const Manifest& manifest, Inputs inputs = Inputs::required);
CampaignJob points_job(const Manifest& manifest, Inputs inputs);

/// Of machines that are validated (validate.hpp).
CampaignJob validation_job(const Manifest& manifest, Inputs inputs);

/// Of workloads that are swept (sweep.hpp).
CampaignJob sweep_job(const Manifest& manifest, Inputs inputs);

}  // namespace cachetally::app
