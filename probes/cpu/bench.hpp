// SPDX-License-Identifier: BSD-3-Clause
// CpuBench: all that the tests of a processor see of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/cpu/configuration.hpp"
#include "probes/cpu/timing.hpp"
#include "probes/target.hpp"

namespace cachetally {

/// Runs configurations. Each call may throw ProbeError (what cannot be measured, with the reason), of which BudgetSpent
/// is one, and ProbingEnded.
class CpuBench {
public:
    virtual ~CpuBench() = default;

    /// From here on all is given up that would last longer than until then, in nanoseconds of now_ns().
    virtual void keep_until(std::uint64_t end_ns) = 0;

    /// Nanoseconds of a cycle by chains of instructions outside of configurations.
    virtual double cycle_ns() = 0;

    /// Why the type has no registers of its own; empty where it has.
    virtual std::string lacks(CpuType type) = 0;

    /// Makes these ready together, which is quicker than one by one.
    virtual void prepare(std::span<const Configuration> configurations) = 0;

    virtual Timing time(const Configuration& configuration) = 0;

    /// Whether a product and a sum of the type are rounded once.
    virtual bool rounds_once(CpuType type) = 0;

    /// Logical processors that may be used, ascending.
    virtual std::vector<unsigned> processors() = 0;

    /// Cycles of a statement by copy, where a copy runs on each of these processors at the same time; nothing where
    /// they were hardly ever undisturbed together.
    virtual std::optional<std::vector<double>> side_by_side(const Configuration& configuration,
                                                            std::span<const unsigned> processors) = 0;

    /// Runs of configurations so far.
    virtual std::uint64_t runs() const = 0;
};

}  // namespace cachetally
