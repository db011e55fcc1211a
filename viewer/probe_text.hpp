// SPDX-License-Identifier: BSD-3-Clause
// What probes found, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "probes/result.hpp"
#include "storage/file.hpp"

namespace cachetally {

/// {"complete": false where an end was asked for before all tests were run, "results": [...], "tests": [...]}
nlohmann::ordered_json to_json(std::span<const TestReport> reports, bool complete);

/// A table of findings, then one of costs, in lines of at most `width` columns.
std::string to_text(std::span<const TestReport> reports, unsigned width);

struct ShowOptions;

/// A probe's result file: what the probe printed, and its response curves.
std::string show_probe(const InputFile& file, const ShowOptions& options);

}  // namespace cachetally
