// SPDX-License-Identifier: BSD-3-Clause
// What knock-out, revival and confirmation on demand save, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>

#include "probes/savings.hpp"

namespace cachetally {

std::string to_text(std::span<const Saving> savings);

/// {"savings": [{test, without, as_published, exhaustive, references_ratio, host_ratio}]}
nlohmann::ordered_json to_json(std::span<const Saving> savings);

}  // namespace cachetally
