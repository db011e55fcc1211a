// SPDX-License-Identifier: BSD-3-Clause
// ExecutionPlan: how the engine carries out the references of each core, and why. Decided once, when all listeners are
// attached.
#pragma once

#include <string>
#include <vector>

#include "cachetally/filtered.hpp"

namespace cachetally {

struct ExecutionPlan {
    struct Core {
        /// Blocks of references go through the levels one after the other; else each reference by itself.
        bool batched = false;
        std::string reason;  ///< if not batched: what stands against it
        FilterPlan filter;   ///< if batched
    };
    std::vector<Core> cores;
};

class Hierarchy;

/// How a source of so many streams is carried out: cores in turn make one reference each. When all listeners are
/// attached.
ExecutionPlan execution_plan(Hierarchy& hierarchy, unsigned streams);

/// Texts, one per group of cores that are alike, for people: "in batches", "per reference: L3 is inclusive
/// (my.yaml:12)".
std::vector<std::string> explain(const ExecutionPlan& plan);

}  // namespace cachetally
