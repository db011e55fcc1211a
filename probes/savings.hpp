// SPDX-License-Identifier: BSD-3-Clause
// What knock-out, revival and confirmation on demand save: the published sweeps beside exhaustive ones.
#pragma once

#include <functional>
#include <memory>

#include "probes/suite.hpp"

namespace cachetally {

/// What a test cost: the same each time but for the host's time, of which this is the least.
struct MeasuredCost {
    ProbeCost cost;
    double host_seconds = 0;
};

/// A published test of Cooper and Xu (3.3, 3.4) as it is, and without what saves runs.
struct Saving {
    std::string test;     ///< "levels" or "tlb"
    std::string without;  ///< "knock-out", "confirmation on demand" or "both"
    MeasuredCost saving, exhaustive;

    /// How many times as much the exhaustive test takes.
    double references_ratio() const;
    double host_ratio() const;
};

/// Runs both kinds of levels and tlb (as far as options.tests name them; all where it is empty) in turn, `rounds`
/// times, each on a target of its own. Throws std::invalid_argument where neither test is named, ProbeError where a
/// test gives no answer.
std::vector<Saving> measure_savings(const std::function<std::unique_ptr<ProbeTarget>()>& target,
                                    const SuiteOptions& options, unsigned rounds);

}  // namespace cachetally
