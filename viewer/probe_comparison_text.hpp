// SPDX-License-Identifier: BSD-3-Clause
// Results of probes laid over one another, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "probes/curve_comparison.hpp"

namespace cachetally {

/// A table of segments for each curve, one of findings, and what is in one result only; lines of at most `width`.
std::string to_text(const ProbeComparison& comparison, unsigned width);

/// {"curves": [{test, variant, name, x_name, x_unit, unit, x, before, after, only_before, only_after,
/// median_difference, worst_difference, worst_at, segments}], "findings": [{test, variant, level, parameter, before,
/// after, same}], "only_before": [], "only_after": []}
nlohmann::ordered_json to_json(const ProbeComparison& comparison);

}  // namespace cachetally
