// SPDX-License-Identifier: BSD-3-Clause
// The scores of a campaign in HDF5.
#pragma once

#include "probes/validation/campaign.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes /summary (a column per member of Score) and /worst (machines on which tests failed, worst first, and how).
void write_campaign(Group& root, const CampaignResult& result);

/// The same again; costs are not among it. Throws StorageError where the file is damaged.
CampaignResult read_campaign(const Group& root);

}  // namespace cachetally
