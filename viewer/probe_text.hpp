// SPDX-License-Identifier: BSD-3-Clause
// What probes found, as text and JSON: on one machine, and, scored, on many, from a campaign that has just ended or
// from its file.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>

#include "probes/result.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"
#include "storage/file.hpp"

namespace cachetally {

/// {"complete": false, "incomplete": "interrupted ...", "results": [...], "tests": [...]}. `incomplete`: why not all
/// tests came to their end; empty where they did.
nlohmann::ordered_json to_json(std::span<const TestReport> reports, const std::string& incomplete);

/// A table of findings, then one of costs, in lines of at most `width` columns; of a machine whose ground truth is not
/// known a summary by level at the end, beside what it states of itself, if that is known.
std::string to_text(std::span<const TestReport> reports, unsigned width, const MachineDescription* stated = nullptr,
                    std::span<const Fact> sharing = {});

struct ShowOptions;

/// A probe's result file: what the probe printed, and its response curves.
std::string show_probe(const InputFile& file, const ShowOptions& options);

struct ValidationView {
    ValidationResult result;
    std::uint64_t seed = 0;
    std::string noise;       ///< its name
    std::string incomplete;  ///< why not all machines were done; empty where they were
    std::string left_out;    ///< tests that have no such variant, in words
    std::size_t worst = 10;  ///< how many of the worst machines are named
};

/// machines, complete, seed, noise, references, references_simulated, summary[].{test, variant, parameter, right,
/// wrong, not_identifiable}, worst[].{machine, wrong, not_identifiable, findings, replay}, left_out
nlohmann::ordered_json to_json(const ValidationView& view);

/// A line on the whole, with `took` ("12.3 s", or nothing) at its end, the scores, and the worst machines.
std::string to_text(const ValidationView& view, const std::string& took, unsigned width);

/// All of a result file: attributes of the root, /summary, /worst.
void write_validation_view(Group& root, const ValidationView& view);

/// Throws StorageError where the file is damaged.
ValidationView read_validation_view(const InputFile& file);

}  // namespace cachetally
