// SPDX-License-Identifier: BSD-3-Clause
// Two runs beside each other: what changed, by level, data structure, function and source line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "viewer/run_view.hpp"

namespace cachetally {

struct Change {
    std::string name;
    double accesses[2] = {}, misses[2] = {};  ///< before and after
    double difference() const { return misses[1] - misses[0]; }
};

struct RunComparison {
    RunTitle titles[2];
    double references[2] = {}, cycles[2] = {};
    std::string level;  ///< whose misses the groups below have
    std::vector<Change> levels;
    /// Those whose misses changed most come first. Names that only one run has have zeros in the other.
    std::vector<Change> structures, fields, functions, lines;
};

/// `level`: of the groups; empty: the first that both have. Throws std::invalid_argument where it is not in both.
RunComparison compared(const RunView& before, const RunView& after, const std::string& level = "");

std::string to_text(const RunComparison& comparison, unsigned width);

/// {before, after, references, cycles, level, levels[], structures[], fields[], functions[], lines[]}; each with name,
/// accesses and misses as [before, after].
nlohmann::ordered_json to_json(const RunComparison& comparison);

}  // namespace cachetally
