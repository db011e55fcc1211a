// SPDX-License-Identifier: BSD-3-Clause
// What was measured from each processor to each, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>

#include "probes/result.hpp"

namespace cachetally {

/// A square table of medians, a row for the processor that wrote, a column for the one that loads; of more than 16
/// processors three lines on all values.
std::string to_text(const ProcessorMatrix& matrix, unsigned width);

/// [{"name", "unit", "processors": [...], "median": [[...], ...], "low", "high"}]; null where nothing was measured.
nlohmann::ordered_json to_json(std::span<const ProcessorMatrix> matrices);

}  // namespace cachetally
