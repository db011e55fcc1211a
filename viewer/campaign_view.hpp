// SPDX-License-Identifier: BSD-3-Clause
// The scores of probes on random machines, as a table and as JSON, from a campaign that has just ended or from its
// file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "probes/validation/campaign.hpp"
#include "storage/file.hpp"

namespace cachetally {

struct CampaignView {
    CampaignResult result;
    std::uint64_t seed = 0;
    std::string noise;       ///< its name
    std::string incomplete;  ///< why not all machines were done; empty where they were
    std::string left_out;    ///< tests that have no such variant, in words
    std::size_t worst = 10;  ///< how many of the worst machines are named
};

/// machines, complete, seed, noise, references, references_simulated, summary[].{test, variant, parameter, right,
/// wrong, not_identifiable}, worst[].{machine, wrong, not_identifiable, findings, replay}, left_out
nlohmann::ordered_json to_json(const CampaignView& view);

/// A line on the whole, with `took` ("12.3 s", or nothing) at its end, the scores, and the worst machines.
std::string to_text(const CampaignView& view, const std::string& took, unsigned width);

/// All of a result file: attributes of the root, /summary, /worst.
void write_campaign_view(Group& root, const CampaignView& view);

/// Throws StorageError where the file is damaged.
CampaignView read_campaign_view(const InputFile& file);

}  // namespace cachetally
