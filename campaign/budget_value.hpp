// SPDX-License-Identifier: BSD-3-Clause
// The value of what a budget is of: in one run, and over layouts of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/budget.hpp"
#include "monitor/attribution/attribution.hpp"
#include "monitor/level_lines.hpp"
#include "monitor/result_file.hpp"
#include "sim/engine/result_file.hpp"

namespace cachetally {

/// What a run gave, or the file of its result.
struct MeasuredRun {
    const StoredRun& counts;
    const std::vector<MonitorSummary>& monitors;
    const StructureTable& structures;
    const Attribution& attribution;             ///< where there is one, data structures are those of its names
    std::optional<std::uint64_t> instructions;  ///< nothing: not known
};

/// The value, in the unit of the budget's limit. Throws std::invalid_argument, in words for the user, where the run has
/// no such level, structure, phase or monitor, or does not know its instructions.
double value_of(const CostBudget& budget, const MeasuredRun& run);

/// Values of one budget in several layouts.
struct LayoutSample {
    std::vector<double> values;  ///< in the order of the layouts
    double value = 0;            ///< their interquartile mean
    /// Percent of the value between the least and the largest; 0 where all are equal, nothing where the value is 0 and
    /// not all are.
    std::optional<double> spread;
};

/// The mean of the middle half, without the quarters that are least and largest (rounded down). One layout in which
/// arrays happen to meet in the same sets moves a mean, and not this; where values are of two kinds, the median jumps
/// from one to the other, and this does not (docs/ci.md has the figures). Throws std::invalid_argument where there are
/// no values.
LayoutSample sample_of(std::vector<double> values);

}  // namespace cachetally
