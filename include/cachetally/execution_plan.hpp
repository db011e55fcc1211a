// SPDX-License-Identifier: BSD-3-Clause
// ExecutionPlan: how the engine carries out the references of each core, and why. Decided once, when all listeners are
// attached.
#pragma once

#include <string>
#include <vector>

#include "cachetally/filtered.hpp"

namespace cachetally {

/// The fastest first; all give the same.
enum class Execution : std::uint8_t {
    batched,     ///< blocks of references go through the levels one after the other
    filtered,    ///< references that cannot change the first levels are left out, the others made one by one
    one_by_one,  ///< each reference by itself
};

struct ExecutionPlan {
    struct Core {
        Execution execution = Execution::one_by_one;
        std::string reason;    ///< what stands against a faster way
        std::string in_steps;  ///< batched: which level takes requests one by one, as do those below, and why; or empty
        FilterPlan filter;     ///< unless one_by_one
        bool takes_blocks() const { return execution != Execution::one_by_one; }
    };
    std::vector<Core> cores;
};

class Hierarchy;

/// How a source of so many streams is carried out: cores in turn make one reference each. When all listeners are
/// attached.
ExecutionPlan execution_plan(Hierarchy& hierarchy, unsigned streams);

/// Texts, one per group of cores that are alike, for people: "in batches", "in batches, then per request: L3 has a
/// prefetcher (my.yaml:12)", "filtered, then per reference: L1D writes through (my.yaml:10)".
std::vector<std::string> explain(const ExecutionPlan& plan);

}  // namespace cachetally
