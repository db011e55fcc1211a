// SPDX-License-Identifier: BSD-3-Clause
// What the command validate and validation as a campaign share.
#pragma once

#include "campaign/store.hpp"
#include "probes/validation/validation.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally::app {

ValidationView validation_view(ValidationResult result, const ValidationOptions& options);

/// All of a result file but whether it is complete.
void write_validation_result(Group& root, const ValidationView& view);

/// What is in the folder of such a campaign.
Manifest validation_manifest(const ValidationOptions& options);

}  // namespace cachetally::app
