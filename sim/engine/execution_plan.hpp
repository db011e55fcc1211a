// SPDX-License-Identifier: BSD-3-Clause
// ExecutionPlan: how the engine carries out the references of each core, and why. Decided once, when all listeners are
// attached.
#pragma once

#include <string>
#include <vector>

#include "sim/model/redundancy_filter.hpp"

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

/// Texts, one per group of cores that are alike, for people.
std::vector<std::string> explain(const ExecutionPlan& plan);

}  // namespace cachetally
